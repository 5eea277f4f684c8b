"""Fuzz the parser of event streams: the events are those of a parser that reads one line after the other."""

import random
import re
from typing import Final

from tests.fuzz.fuzzing import fuzz

from relaybook.log.formats.sse import JSON_LINE, end_of_block, events, normalized

_MARK: Final = b"\xef\xbb\xbf"
SEEDS: Final = [
    b'data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n' * 3 + b"data: [DONE]\n\n",
    b"\xef\xbb\xbfevent: error\r\nid: 7\r\ndata: one\r\ndata: two\r\n\r\n: comment\r\n\r\ndata\r\n\r\n",
    b"data: a\rdata: b\r\rdata: " + b"x" * 100 + b"\r\r",
    b"data: cut off in the mid",
    b"retry: 5\n\n\n\ndata:\n\ndata: \xe6\xbc\xa2\n\n",
    b'event: x\ndata: {}\n\nerror: no\n\n{"error": 1}\n',
    b'data: a\n\n{\n  "error": {\n    "code": 503\n  }\n}\n',
]
WORDS: Final = [
    *(b"\n", b"\r", b"\r\n", b"\n\n", b"data: ", b"data:", b"data", b":", b"event: ", b"\0", b"\xef\xbb\xbf"),
    *(b"x" * 70, b"error: ", b"{"),
]


def simple_events(data: bytes) -> list[tuple[str, bytes]]:
    """Return the events as https://html.spec.whatwg.org/multipage/server-sent-events.html describes it."""
    found: list[tuple[str, bytes]] = []
    name, payload = b"", []
    lines: list[bytes] = []  # of a block that is an object
    is_start = True
    for line in [*re.split(rb"\r\n|\n|\r", data.removeprefix(_MARK)), b""]:
        field, _, value = line.partition(b":")
        if lines or (line == b"{" and is_start):
            if not line:
                found.append((JSON_LINE, b"\n".join(lines)))
                lines, is_start = [], True
            else:
                lines.append(line)
            continue
        is_start = not line
        if field == b"data":
            payload.append(value.removeprefix(b" "))
        elif field == b"event":
            name = value.removeprefix(b" ")
        elif field == b"error":
            found.append(("error", value.strip()))
        elif line.startswith(b"{"):
            found.append((JSON_LINE, line))
        elif not line:
            if payload:
                found.append((name.decode("utf-8", "replace"), b"\n".join(payload)))
            name, payload = b"", []
    return found


def parsers_agree(data: bytes, choices: random.Random) -> None:
    found = list(events(normalized(data)))
    assert [(name, payload) for name, payload, _ in found] == simple_events(data)
    for number, (name, _, block) in enumerate(found, 1):
        end = end_of_block(data, block)
        assert 0 < end <= len(data)
        if name not in (JSON_LINE, "error"):  # these may stand before another event of the same block
            assert len(list(events(normalized(data[:end])))) == number


def test_both_parsers_of_event_streams_agree() -> None:
    fuzz(parsers_agree, SEEDS, WORDS, 8_000)
