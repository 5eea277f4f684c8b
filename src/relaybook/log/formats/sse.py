"""Reads event streams (server-sent events): incrementally from network reads, or whole from stored bytes.

Follows https://html.spec.whatwg.org/multipage/server-sent-events.html: lines end in CR, LF or CRLF, a byte order mark
at the start is passed over, comments and unknown fields are ignored, several ``data`` lines are one event, and an
event without data is none. ``id`` and ``retry`` are for reconnecting clients and are passed over. Data stays bytes: a
log must not fail on a split or broken character.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

LINE_LIMIT_BYTES: Final = 1 << 20

#: How nearly every line of a chat stream begins.
DATA: Final = b"data: "
#: ``LF in data`` with a number is seven times faster than with bytes.
LF: Final = 10
_CR: Final = 13
_BOM: Final = b"\xef\xbb\xbf"
_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
_BLANK_LINE: Final = re.compile(rb"(?:\r\n|\n|\r(?!\n)){2}")


class Event(NamedTuple):
    """``event`` is the event's name, empty when the stream gave none."""

    event: str
    data: bytes


class _Lines:
    """The lines of one event, until a blank line dispatches them."""

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


class SseReader:
    """Takes network reads, split anywhere, and gives the events each read completed.

    Memory is bounded by ``line_limit`` per line and 16 times that per event: an event beyond it is passed over and
    counted in ``overlong``. That concerns parsing only, never what is relayed or stored.
    """

    def __init__(self, line_limit: int = LINE_LIMIT_BYTES) -> None:
        #: Events passed over because a line of theirs was too long.
        self.overlong = 0
        self._line_limit = line_limit
        self._event_bytes = 0
        self._line = bytearray()
        self._lines = _Lines()
        self._is_overlong = False
        self._is_first_line = True
        self._after_cr = False

    def feed(self, data: bytes) -> list[Event]:
        """Events completed by these bytes, in order."""
        if self._after_cr and data:
            data = data.removeprefix(b"\n")
            self._after_cr = False
        events = []
        start = 0
        for end in _LINE_END.finditer(data):
            self._append(data[start : end.start()])
            start = end.end()
            event = self._end_line()
            if event is not None:
                events.append(event)
        self._append(data[start:])
        if data:
            self._after_cr = data.endswith(b"\r")
        return events

    def end(self) -> Event | None:
        """The event the stream broke off in, if it had data. A client never gets to see it."""
        if self._line:
            self._end_line()
        event = self._lines.dispatch()
        return None if self._is_overlong else event

    def _append(self, piece: bytes) -> None:
        self._event_bytes += len(piece)
        if len(self._line) + len(piece) > self._line_limit or self._event_bytes > 16 * self._line_limit:
            self._is_overlong = True
        if self._is_overlong:
            # One byte stays to tell a line with text from a blank one.
            self._line[:] = b":" if self._line or piece else b""
        else:
            self._line += piece

    def _end_line(self) -> Event | None:
        line = bytes(self._line)
        self._line.clear()
        if self._is_first_line:
            line = line.removeprefix(_BOM)
            self._is_first_line = False
        if line:
            self._lines.add(line)
            return None
        event = self._lines.dispatch()
        self._event_bytes = 0
        if self._is_overlong:
            self._is_overlong = False
            self.overlong += 1
            return None
        return event


def cut(data: bytes) -> tuple[bytes, list[bytes]]:
    """A whole stream cut before every ``data: `` that follows a blank line, for speed.

    The first part is what came before the first such line. A further part that holds no LF is the data of one event,
    or of the one the stream broke off in; one that holds LF is to be read by ``events_of(DATA + part)``.
    """
    data = data.removeprefix(_BOM)
    if _CR in data:
        return data, []
    head, *parts = (b"\n\n" + data).split(b"\n\n" + DATA)
    return head, parts


def events_of(lines: bytes, *, unfinished: bool = False) -> Iterator[Event]:
    """The events in lines of any kind; on request also the one that no blank line ends."""
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
    """The data of every complete event of a whole stream, fast where events are one ``data: `` line."""
    head, parts = cut(data)
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
    """The data of every complete event with the offset just behind its blank line; stopping early costs nothing."""
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
