"""Parse event streams (server-sent events) of stored bodies.

The module follows https://html.spec.whatwg.org/multipage/server-sent-events.html. Lines end in CR, LF or CRLF. A
leading byte order mark, comments and unknown fields are ignored. Several ``data`` lines form one event. Events without
data are dropped. ``id`` and ``retry`` are for reconnecting clients and are ignored. Data is returned as bytes, so
invalid or incomplete UTF-8 does no harm.

Two things that are no part of the specification are read, because servers report errors with them: a field ``error``
is an event of this name, and a line that is a JSON object without a field name is an event with the name ``JSON_LINE``.
Such an object may take several lines if its first line has only the opening bracket (Google).
"""

import re
from collections.abc import Iterator
from typing import Final, TypeAlias

#: The name of an event that is a line with a JSON object, without ``data:``. Clients ignore such lines.
JSON_LINE: Final = "\0"
_DATA: Final = b"data: "
_EVENT: Final = b"event: "
#: An integer, because ``_LF in data`` is seven times faster with an integer than with bytes.
_LF: Final = 10
_CR: Final = 13
_BOM: Final = b"\xef\xbb\xbf"
_BLANK_LINE: Final = re.compile(rb"(?:\r\n|\n|\r(?!\n)){2}")
_FIELD_LINE: Final = re.compile(rb"(?<=[\r\n])(?:data|event):")
_STARTS: Final = (b"data:", b"event:", b":", b"id:", b"retry:")


#: One event: its name, which is empty if it has none, its data, and the index of the block that has the event. Blocks
#: are the parts of a stream between blank lines.
Event: TypeAlias = tuple[str, bytes, int]


def starts_as_stream(data: bytes) -> bool:
    """Return whether a body begins like an event stream, whatever its content type says."""
    return data[:1024].removeprefix(_BOM).lstrip(b"\r\n").startswith(_STARTS)


def split_object(data: bytes) -> tuple[bytes, bytes]:
    """Split a body that begins with a JSON object and goes on as an event stream into these two.

    The second is empty if no line of the body begins with a field of an event stream.
    """
    found = _FIELD_LINE.search(data)
    return (data, b"") if found is None else (data[: found.start()], data[found.start() :])


def normalized(data: bytes) -> bytes:
    """Return a stream without byte order mark, in which all lines end with LF."""
    data = data.removeprefix(_BOM)
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if _CR in data else data


def unfinished_block(data: bytes) -> int:
    """Return the index of the block of a normalized stream that no blank line ends. It is the last one."""
    return data.count(b"\n\n")


def events(data: bytes) -> Iterator[Event]:
    """Yield the events of a normalized stream, including a last event that does not end with a blank line."""
    for number, block in enumerate(data.split(b"\n\n")):
        if block.startswith(_DATA):
            if _LF not in block:
                yield "", block[6:], number
                continue
        elif block.startswith(_EVENT):
            name, _, payload = block.partition(b"\ndata: ")
            if payload and _LF not in payload and _LF not in name:
                yield name[7:].decode("utf-8", "replace"), payload, number
                continue
        elif not block:
            continue
        yield from _block_events(block, number)


def events_with_ends(data: bytes) -> Iterator[tuple[str, bytes, int]]:
    """Yield the events of a stream as ``events`` does, but with the offset in the stream after the event's blank line.

    The stream does not need to be normalized. An event that no blank line ends is left out.
    """
    start = 0
    for blank in _BLANK_LINE.finditer(data):
        for name, payload, _ in events(normalized(data[start : blank.end()])):
            yield name, payload, blank.end()
        start = blank.end()


def _block_events(block: bytes, number: int) -> Iterator[Event]:
    name = ""
    lines: list[bytes] = []
    if (stripped := block.strip(b"\n")).startswith(b"{\n"):
        yield JSON_LINE, stripped, number
        return
    for line in block.split(b"\n"):
        field, _, value = line.partition(b":")
        if field == b"data":
            lines.append(value.removeprefix(b" "))
        elif field == b"event":
            name = value.removeprefix(b" ").decode("utf-8", "replace")
        elif field == b"error":
            yield "error", value.strip(), number
        elif line.startswith(b"{"):
            yield JSON_LINE, line, number
    if lines:
        yield name, b"\n".join(lines), number


def end_of_block(data: bytes, number: int) -> int:
    """Return the offset in a stream after the blank line that ends a block; the end of the data if there is none."""
    start = len(_BOM) if data.startswith(_BOM) else 0
    if _CR in data:
        for at, blank in enumerate(_BLANK_LINE.finditer(data, start)):
            if at == number:
                return blank.end()
        return len(data)
    for _ in range(number + 1):
        found = data.find(b"\n\n", start)
        if found < 0:
            return len(data)
        start = found + 2
    return start
