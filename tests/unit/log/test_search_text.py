"""What a request says: its answer, then its messages from the newest on, as far as 16 KiB go."""

import gzip
import json
from typing import Any

import pytest
from tests.support.records import an_entry

from relaybook.log.formats import detail
from relaybook.log.record import Detail
from relaybook.log.search_text import MAX_CHARACTERS, text_of
from relaybook.log.store.port import Entry


def entry(
    asked: Any, answered: Any = None, *, stream: bool = False, detail: Detail | None = None, **fields: Any
) -> Entry:
    request = asked if isinstance(asked, bytes) else json.dumps(asked).encode()
    response = answered if isinstance(answered, bytes) else json.dumps(answered or {}).encode()
    return an_entry(request, response, detail, stream=stream, **fields)


def chat(*texts: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text} for text in texts]}


def answer(text: str | None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": {"role": "assistant", "content": text} | more}]}


def test_the_answer_comes_first_and_the_newest_message_next() -> None:
    assert text_of(entry(chat("first", "second"), answer("said"))) == "said\nsecond\nfirst"


def test_streams_are_put_together() -> None:
    pieces = ("So", "ft rain")
    stream = "".join(
        f"data: {json.dumps({'choices': [{'index': 0, 'delta': {'content': piece}}]})}\n\n" for piece in pieces
    )
    assert text_of(entry(chat("haiku"), f"{stream}data: [DONE]\n\n".encode(), stream=True)) == "Soft rain\nhaiku"


def test_tools_are_found_by_name_and_arguments() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "get_refund", "arguments": '{"order": 4411}'}}
    asked = {"messages": [{"role": "assistant", "tool_calls": [call]}, {"role": "tool", "content": "sent"}]}
    assert text_of(entry(asked, answer(None, tool_calls=[call]))).splitlines() == [
        'get_refund {"order": 4411}',
        "sent",
        'get_refund {"order": 4411}',
    ]


def test_parts_and_other_kinds_have_their_text() -> None:
    parts = [
        {"type": "text", "text": "what is"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
    ]
    assert text_of(entry({"messages": [{"role": "user", "content": parts}]})) == "what is"
    assert text_of(entry({"input": ["one", "two"]}, kind="embedding")) == "two\none"
    assert (
        text_of(entry({"prompt": "once"}, {"choices": [{"index": 0, "text": "upon"}]}, kind="completion"))
        == "upon\nonce"
    )
    assert (
        text_of(entry({"input": "hi"}, {"output": [{"type": "message", "content": [{"text": "ho"}]}]}, kind="response"))
        == "ho\nhi"
    )


def test_an_error_is_found_by_its_message() -> None:
    failed = entry(chat("hi"), {"error": {"message": "x"}}, status=429, error_message="Rate limit reached")
    assert text_of(failed) == "Rate limit reached\nhi"


def test_compressed_bodies_are_read() -> None:
    head = Detail(request_head=b"Content-Encoding: gzip", response_head=b"")
    assert text_of(entry(gzip.compress(json.dumps(chat("packed")).encode()), detail=head)) == "packed"


@pytest.mark.parametrize(
    "asked",
    [b"", b"not json", b"[" * 100_000, b'{"messages": 5}', b'{"messages": [5, null, {"content": {}}]}', b"\xff\xfe"],
)
def test_whatever_the_bytes_there_is_a_text(asked: bytes) -> None:
    assert isinstance(text_of(entry(asked, b"\x00\xff")), str)


def test_what_cannot_be_decoded_says_nothing() -> None:
    head = Detail(request_head=b"Content-Encoding: gzip", response_head=b"Content-Encoding: zstd, gzip")
    assert text_of(entry(b"not gzip", b"neither", detail=head)) == ""


def test_without_bodies_or_understanding_nothing_is_said() -> None:
    assert text_of(an_entry(None, None, body_state="no_bodies")) == ""
    assert text_of(entry(chat("hi"), kind="other")) == ""


def test_of_a_long_conversation_the_newest_is_kept() -> None:
    said = text_of(entry(chat("oldest", "x" * MAX_CHARACTERS, "newest"), answer("answer")))
    assert len(said) <= MAX_CHARACTERS
    assert said.startswith("answer\nnewest\nxxx")
    assert "oldest" not in said


def test_what_is_not_read_is_not_laid_out(monkeypatch: pytest.MonkeyPatch) -> None:
    laid_out = []
    lay_out = detail._message
    monkeypatch.setattr(detail, "_message", lambda item: laid_out.append(item) or lay_out(item))
    assert text_of(entry(chat(*["older"] * 100, "x" * MAX_CHARACTERS))) == "x" * MAX_CHARACTERS
    assert len(laid_out) == 1


def test_the_wrong_content_is_found_too() -> None:
    delta = json.dumps({"choices": [{"index": 0, "delta": {"content": "needle"}}]})
    assert text_of(entry({}, answer("needle"), stream=True)) == "needle"
    assert text_of(entry({}, f"data: {delta}\n\ndata: [DONE]\n\n".encode())) == "needle"
