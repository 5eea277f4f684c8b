"""The reader of event streams, fed with anything: cut anywhere it gives the same events, and it holds little."""

import random
from typing import Final

from tests.fuzz.fuzzing import fuzz, pieces

from relaybook.log.formats.sse import Event, SseReader, event_ends, read_events

#: Small, so that short inputs reach it.
_LINE_LIMIT: Final = 64
SEEDS: Final = [
    b'data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n' * 3 + b"data: [DONE]\n\n",
    b"\xef\xbb\xbfevent: error\r\nid: 7\r\ndata: one\r\ndata: two\r\n\r\n: comment\r\n\r\ndata\r\n\r\n",
    b"data: a\rdata: b\r\rdata: " + b"x" * 100 + b"\r\r",
    b"data: cut off in the mid",
    b"retry: 5\n\n\n\ndata:\n\ndata: \xe6\xbc\xa2\n\n",
]
WORDS: Final = [
    b"\n",
    b"\r",
    b"\r\n",
    b"\n\n",
    b"data: ",
    b"data:",
    b"data",
    b":",
    b"event: ",
    b"\0",
    b"\xef\xbb\xbf",
    b"x" * 70,
]


def is_read_the_same_however_it_is_cut(data: bytes, choices: random.Random) -> None:
    whole, limited, cut = SseReader(), SseReader(_LINE_LIMIT), SseReader(_LINE_LIMIT)
    events = whole.feed(data)
    assert list(read_events(data)) == [event.data for event in events]
    assert [found for found, _ in event_ends(data)] == [event.data for event in events]
    few = limited.feed(data)
    got: list[Event] = []
    for piece in pieces(choices, data):
        got += cut.feed(piece)
        assert _held(cut) <= 17 * _LINE_LIMIT
    assert (got, cut.overlong) == (few, limited.overlong)
    assert cut.end() == limited.end()
    assert len(few) + limited.overlong >= len(events)


def _held(reader: SseReader) -> int:
    """Bytes the reader keeps for the event that is not over."""
    return len(reader._line) + sum(map(len, reader._lines.data))


def test_no_stream_is_read_differently_for_how_it_is_cut() -> None:
    fuzz(is_read_the_same_however_it_is_cut, SEEDS, WORDS, 8_000)
