"""The text of a response after each of its chunks."""

from itertools import pairwise

import pytest
from tests.golden.exchange import GoldenExchange
from tests.golden.exchanges import exchanges
from tests.golden.facts import entry_of

from relaybook.log.ask.progress import _text_of, progress
from relaybook.log.request_view import RequestView

STREAMS = {each.name: each for each in exchanges() if "/stream/" in each.name}


def view_of(exchange: GoldenExchange) -> RequestView:
    return RequestView.of_entry(entry_of(exchange))


def texts_of(view: RequestView) -> list[tuple[int, str]]:
    """Return the number of chunks and the text after each step, as a client of the API builds it."""
    texts, text = [], ""
    for chunk, kept, added in progress(view).steps:
        text = text[:kept] + added
        texts.append((chunk, text))
    return texts


def test_the_last_text_is_that_of_the_response() -> None:
    for name, exchange in STREAMS.items():
        view = view_of(exchange)
        response = view.response()
        if response is not None and view.record.stream:
            assert (texts_of(view) or [(0, "")])[-1][1] == _text_of(response), name


@pytest.mark.parametrize(
    ("name", "separator"),
    [
        ("chat/stream/text", b"\n\n"),
        ("chat/stream/crlf", b"\r\n\r\n"),
        ("message/stream/thinking", b"\n\n"),
        ("ollama/stream/text", b"\n"),
        ("generate/stream/sse", b"\r\n\r\n"),
    ],
)
def test_the_text_grows_with_the_chunks(name: str, separator: bytes) -> None:
    body = b"".join(STREAMS[name].response)
    events = [event + separator for event in body.split(separator)[:-1]]
    view = view_of(STREAMS[name]._replace(response=tuple(events)))
    texts = texts_of(view)
    assert len(texts) >= 2
    assert all(after.startswith(before) for (_, before), (_, after) in pairwise(texts))
    for chunk, text in texts[:-1]:
        so_far = view_of(STREAMS[name]._replace(response=tuple(events[:chunk]), outcome="upstream_failed"))
        response = so_far.response()
        assert response is not None
        assert _text_of(response) == text
