"""Write the events of a stream as server-sent events, as lines of JSON, or as one JSON array.

Directives set the line ends, comments and data lines of server-sent events.
"""

from collections.abc import Callable, Iterable, Iterator

from relaybook_demo.simulator.directives import Directives
from relaybook_demo.simulator.replies import Event, StreamFormat, stream_error

_BOM = b"\xef\xbb\xbf"


def select_events(events: list[Event], directives: Directives, error: Event | None = None) -> list[Event]:
    """Return the events to send. Directives may remove the end mark or end the stream with an error event.

    ``error`` is the error event. `None` means OpenAI's error event.
    """
    if directives.error_event is not None:
        count, is_named = directives.error_event
        return [*events[:count], error or Event(stream_error(), b"error" if is_named else b"")]
    if not directives.done:
        return [event for event in events if not event.is_end_mark]
    return events


def write(
    events: Iterable[Event], stream_format: StreamFormat, directives: Directives, now_ns: Callable[[], int]
) -> Iterator[bytes]:
    """Yield the bytes of each event. An event is encoded only when the iterator reaches it.

    With ``Sim-Timestamps``, each event contains the time from ``now_ns``.
    """
    match stream_format:
        case "sse":
            return _server_sent_events(events, directives, now_ns)
        case "ndjson":
            return _lines(events, directives, now_ns)
        case "json-array":
            return _array(events, directives, now_ns)


def _lines(events: Iterable[Event], directives: Directives, now_ns: Callable[[], int]) -> Iterator[bytes]:
    for event in events:
        yield (_stamp(event.data, now_ns()) if directives.timestamps else event.data) + b"\n"


def _array(events: Iterable[Event], directives: Directives, now_ns: Callable[[], int]) -> Iterator[bytes]:
    """Yield the elements of an array, and its end. As in Google's API, a comma starts the next part."""
    start = b"["
    for event in events:
        yield start + (_stamp(event.data, now_ns()) if directives.timestamps else event.data)
        start = b"\n,\r\n"
    if directives.done:
        yield b"[]" if start == b"[" else b"\n]\n"


def _server_sent_events(events: Iterable[Event], directives: Directives, now_ns: Callable[[], int]) -> Iterator[bytes]:
    if not directives.sse and not directives.timestamps:
        for data, name, _ in events:
            yield b"event: %b\ndata: %b\n\n" % (name, data) if name else b"data: %b\n\n" % data
        return
    for index, event in enumerate(events):
        stamped = _stamp(event.data, now_ns()) if directives.timestamps else event.data
        yield _event_block(index, Event(stamped, event.name), directives.sse)


def _stamp(data: bytes, now_ns: int) -> bytes:
    return b'{"sent_at_ns":%d,%b' % (now_ns, data[1:]) if data.startswith(b"{") else data


def _event_block(index: int, event: Event, style: frozenset[str]) -> bytes:
    colon = b":" if "nospace" in style else b": "
    lines: list[bytes] = []
    if "comments" in style:
        lines += [b": SIMULATED PROCESSING", b""]
    if event.name or "named" in style:
        lines.append(b"event" + colon + (event.name or b"message"))
    if "ids" in style:
        lines.append(b"id" + colon + b"%d" % index)
    lines += [b"data" + colon + line for line in (_json_lines(event.data) if "lines" in style else [event.data])]
    end = b"\r\n" if "crlf" in style else b"\r" if "cr" in style else b"\n"
    prefix = _BOM if index == 0 and "bom" in style else b""
    return prefix + end.join([*lines, b"", b""])


def _json_lines(data: bytes) -> list[bytes]:
    """Split an object over three lines. The lines joined by newlines are still the same JSON value."""
    return [data[:1], data[1:-1], data[-1:]] if data.startswith(b"{") else [data]
