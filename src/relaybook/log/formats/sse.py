"""Parse event streams (server-sent events), incrementally from network reads or as a whole from stored bytes.

Follows https://html.spec.whatwg.org/multipage/server-sent-events.html: lines end in CR, LF or CRLF; a leading byte
order mark, comments and unknown fields are ignored; several ``data`` lines form one event; events without data are
dropped. ``id`` and ``retry`` are for reconnecting clients and are ignored. Data stays bytes, so split or invalid
characters do no harm.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

LINE_LIMIT_BYTES: Final = 1 << 20

#: The prefix of nearly every line of a chat stream.
DATA: Final = b"data: "
#: An integer, because ``LF in data`` is seven times faster with an integer than with bytes.
LF: Final = 10
_CR: Final = 13
_BOM: Final = b"\xef\xbb\xbf"
_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
_BLANK_LINE: Final = re.compile(rb"(?:\r\n|\n|\r(?!\n)){2}")


class Event(NamedTuple):
    """One event. ``event`` is its name, empty if the stream has none."""

    event: str
    data: bytes


class _Lines:
    """The fields of one event, collected until a blank line dispatches it."""

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
    """Parses network reads, split anywhere, and returns the events that each read completes.

    Memory is limited to ``line_limit`` bytes per line and 16 times as many bytes per event. Larger events are skipped
    and counted in ``overlong``. This affects parsing only, never the bytes that are relayed or stored.
    """

    def __init__(self, line_limit: int = LINE_LIMIT_BYTES) -> None:
        #: Number of events skipped because they or one of their lines were too long.
        self.overlong = 0
        self._line_limit = line_limit
        self._event_bytes = 0
        self._line = bytearray()
        self._lines = _Lines()
        self._is_overlong = False
        self._is_first_line = True
        self._after_cr = False

    def feed(self, data: bytes) -> list[Event]:
        """Return the events that these bytes complete, in order."""
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
        """Return the incomplete last event if it has data, else `None`. Clients discard such an event."""
        if self._line:
            self._end_line()
        event = self._lines.dispatch()
        return None if self._is_overlong else event

    def _append(self, chunk: bytes) -> None:
        self._event_bytes += len(chunk)
        if len(self._line) + len(chunk) > self._line_limit or self._event_bytes > 16 * self._line_limit:
            self._is_overlong = True
        if self._is_overlong:
            # Keep one byte, so that a line with text is not mistaken for a blank line.
            self._line[:] = b":" if self._line or chunk else b""
        else:
            self._line += chunk

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


def split_stream(data: bytes) -> tuple[bytes, list[bytes]]:
    """Split a whole stream before every ``data: `` that follows a blank line. This is fast.

    The first part is the text before the first such line. Any other part without LF is the data of one event, which may
    be the incomplete last one. Parts with LF must be parsed by ``events_of(DATA + part)``. Streams with CR are not
    split.
    """
    data = data.removeprefix(_BOM)
    if _CR in data:
        return data, []
    head, *parts = (b"\n\n" + data).split(b"\n\n" + DATA)
    return head, parts


def events_of(lines: bytes, *, unfinished: bool = False) -> Iterator[Event]:
    """Yield the events in any lines. With ``unfinished``, include a last event that does not end with a blank line."""
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
    """Yield the data of every complete event of a whole stream. This is fast for events with one ``data: `` line."""
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
    """Yield the data of every complete event and the offset behind its blank line, without reading ahead."""
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
