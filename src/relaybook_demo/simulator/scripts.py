"""Build responses that a test defines byte by byte, including the size of each write."""

from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from relaybook_demo.simulator.directive_values import After
from relaybook_demo.simulator.plans import CLOSE, KEEP, Plan


class Raw(msgspec.Struct, forbid_unknown_fields=True):
    """Bytes in base64: ``{"base64": "…"}``."""

    base64: bytes


Text = str | Raw


class Script(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """One response. Only the framing header is added to it. Text is encoded as Latin-1. In JSON, ``body`` is base64."""

    status_line: Text = "HTTP/1.1 200 OK"
    headers: list[tuple[Text, Text]] = []
    body: bytes = b""
    #: ``length`` and ``chunked`` add the framing header after the other headers. ``close`` closes the connection after
    #: the body. ``raw`` adds no header and keeps the connection open.
    framing: Literal["length", "chunked", "close", "raw"] = "length"
    #: The sizes of chunks. The remaining body bytes are sent as one more chunk.
    chunk_sizes: list[int] = []
    trailers: list[tuple[Text, Text]] = []
    #: Bytes before the status line, such as interim responses or garbage.
    prelude: Text = ""
    #: The sizes of the writes that send the head and the body. The remaining bytes are sent with one more write.
    piece_sizes: list[int] = []
    pause_ms: float = 0.0
    after: Literal["keep", "close", "rst"] | None = None


def read_script(data: bytes) -> Script:
    """Parse a script from JSON. Raises msgspec.DecodeError, whose message names the invalid field."""
    return msgspec.json.decode(data, type=Script)


def wire_bytes(script: Script, has_body: bool = True) -> bytes:
    """Return all bytes of the response. If ``has_body`` is false, as for HEAD, the body is omitted."""
    lines = [_raw(script.status_line), *_lines(script.headers)]
    if script.framing == "length":
        lines.append(b"content-length: %d" % len(script.body))
    elif script.framing == "chunked":
        lines.append(b"transfer-encoding: chunked")
    head = _raw(script.prelude) + b"\r\n".join([*lines, b"", b""])
    if not has_body:
        return head
    return head + (_chunked(script) if script.framing == "chunked" else script.body)


def split_bytes(data: bytes, sizes: Iterable[int]) -> Iterator[bytes]:
    """Yield the data in chunks of these sizes, then the remaining data. Sizes of zero are skipped."""
    start = 0
    for size in sizes:
        if size > 0 and start < len(data):
            yield data[start : start + size]
            start += size
    if start < len(data):
        yield data[start:]


def plan_script(script: Script, method: str) -> Plan:
    """Return the plan for the response that a script defines."""
    default = CLOSE if script.framing == "close" else KEEP
    return Plan(
        head=b"",
        parts=split_bytes(wire_bytes(script, has_body=method != "HEAD"), script.piece_sizes),
        interval_ms=script.pause_ms,
        after=default if script.after is None else After(script.after, 0.0),
    )


def _chunked(script: Script) -> bytes:
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in split_bytes(script.body, script.chunk_sizes))
    return chunks + b"".join([b"0\r\n", *(line + b"\r\n" for line in _lines(script.trailers)), b"\r\n"])


def _lines(pairs: list[tuple[Text, Text]]) -> list[bytes]:
    return [b"%b: %b" % (_raw(name), _raw(value)) for name, value in pairs]


def _raw(text: Text) -> bytes:
    return text.encode("latin-1") if isinstance(text, str) else text.base64
