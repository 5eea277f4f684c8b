"""Parse event streams (server-sent events) of stored bodies.

The module follows https://html.spec.whatwg.org/multipage/server-sent-events.html. Lines end in CR, LF or CRLF. A
leading byte order mark, comments and unknown fields are ignored. Several ``data`` lines form one event. Events without
data are dropped. ``id`` and ``retry`` are for reconnecting clients and are ignored. Data is returned as bytes, so
invalid or incomplete UTF-8 does no harm.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

#: The prefix of nearly every line of a chat stream.
DATA: Final = b"data: "
#: An integer, because ``LF in data`` is seven times faster with an integer than with bytes.
LF: Final = 10
_CR: Final = 13
_BOM: Final = b"\xef\xbb\xbf"
_BLANK_LINE: Final = re.compile(rb"(?:\r\n|\n|\r(?!\n)){2}")


class Event(NamedTuple):
    """One event. ``event`` is the name of the event, or empty if the event has no name."""

    event: str
    data: bytes


class _Lines:
    """The fields of one event, which are collected until a blank line ends the event."""

    __slots__ = ("data", "name")

    def __init__(self) -> None:
        self.name = ""
        self.data: list[bytes] = []

    def add(self, line: bytes) -> None:
        field, _, value = line.partition(b":")
        if field == b"data":
            self.data.append(value.removeprefix(b" "))
        elif field == b"event":
            self.name = value.removeprefix(b" ").decode("utf-8", "replace")

    def dispatch(self) -> Event | None:
        event = Event(self.name, b"\n".join(self.data)) if self.data else None
        self.name = ""
        self.data = []
        return event


def split_stream(data: bytes) -> tuple[bytes, list[bytes]]:
    """Split a whole stream quickly, before every ``data: `` that follows a blank line.

    The result is the text before the first such ``data: ``, and the list of parts. A part without LF is the data of one
    event. A part with LF must be parsed by ``events_of(DATA + part)``. The last event may be incomplete. A stream
    with CR is not split: the result is the whole stream and an empty list.
    """
    data = data.removeprefix(_BOM)
    if _CR in data:
        return data, []
    head, *parts = (b"\n\n" + data).split(b"\n\n" + DATA)
    return head, parts


def events_of(lines: bytes, *, unfinished: bool = False) -> Iterator[Event]:
    """Yield the events in lines of a stream.

    With ``unfinished``, also yield a last event that does not end with a blank line.
    """
    *blocks, rest = _BLANK_LINE.split(lines)
    if unfinished:
        blocks.append(rest)
    for block in blocks:
        event = _block_event(block) if block else None
        if event is not None:
            yield event


def _block_event(block: bytes) -> Event | None:
    if block.startswith(DATA) and LF not in block and _CR not in block:
        return Event("", block[6:])
    lines = _Lines()
    for line in block.splitlines():
        lines.add(line)
    return lines.dispatch()


def read_events(data: bytes) -> Iterator[bytes]:
    """Yield the data of every complete event of a whole stream.

    The function is fast for events with one ``data: `` line.
    """
    head, parts = split_stream(data)
    last = len(parts) - 1
    for event in events_of(head + b"\n\n" if parts else head):
        yield event.data
    for number, part in enumerate(parts):
        if number < last and LF not in part:
            yield part
        else:
            for event in events_of(DATA + part + (b"\n\n" if number < last else b"")):
                yield event.data


def event_ends(data: bytes) -> Iterator[tuple[bytes, int]]:
    """Yield the data of every complete event and the offset after its blank line.

    Events are parsed one at a time, so the caller can stop before the end of a long stream.
    """
    start = len(_BOM) if data.startswith(_BOM) else 0
    for end, after in _blank_lines(data, start):
        event = _block_event(data[start:end]) if end > start else None
        start = after
        if event is not None:
            yield event.data, after


def _blank_lines(data: bytes, start: int) -> Iterator[tuple[int, int]]:
    if _CR in data:
        yield from (blank.span() for blank in _BLANK_LINE.finditer(data, start))
    else:
        while (end := data.find(b"\n\n", start)) >= 0:
            start = end + 2
            yield end, start
