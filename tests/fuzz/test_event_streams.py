"""Arbitrary input for the parser of event streams: chunk boundaries do not change the events, and it buffers little."""

import random
from typing import Final

from tests.fuzz.fuzzing import chunks, fuzz

from relaybook.log.formats.sse import Event, SseReader, event_ends, read_events

#: Small, so that short inputs reach the limit.
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


def chunks_do_not_matter(data: bytes, choices: random.Random) -> None:
    unsplit, limited, split = SseReader(), SseReader(_LINE_LIMIT), SseReader(_LINE_LIMIT)
    events = unsplit.feed(data)
    assert list(read_events(data)) == [event.data for event in events]
    assert [found for found, _ in event_ends(data)] == [event.data for event in events]
    few = limited.feed(data)
    received: list[Event] = []
    for chunk in chunks(choices, data):
        received += split.feed(chunk)
        assert _buffered(split) <= 17 * _LINE_LIMIT
    assert (received, split.overlong) == (few, limited.overlong)
    assert split.end() == limited.end()
    assert len(few) + limited.overlong >= len(events)


def _buffered(reader: SseReader) -> int:
    """Return the number of bytes that the parser buffers for the incomplete event."""
    return len(reader._line) + sum(map(len, reader._lines.data))


def test_no_stream_is_parsed_differently_because_of_its_chunks() -> None:
    fuzz(chunks_do_not_matter, SEEDS, WORDS, 8_000)
