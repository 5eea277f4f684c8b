"""Fuzz the parsers of event streams: the fast parsers return the same events as the simple one."""

import random
from typing import Final

from tests.fuzz.fuzzing import fuzz

from relaybook.log.formats.sse import event_ends, events_of, read_events

_MARK: Final = b"\xef\xbb\xbf"
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


def parsers_agree(data: bytes, choices: random.Random) -> None:
    expected = [event.data for event in events_of(data.removeprefix(_MARK))]
    assert list(read_events(data)) == expected
    assert [found for found, _ in event_ends(data)] == expected


def test_all_parsers_of_event_streams_agree() -> None:
    fuzz(parsers_agree, SEEDS, WORDS, 8_000)
