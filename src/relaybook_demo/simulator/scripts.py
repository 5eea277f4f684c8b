"""Answers written out by a test: exact on every byte, cut into exactly the writes it wants."""

from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from relaybook_demo.simulator.directive_values import After
from relaybook_demo.simulator.plans import CLOSE, KEEP, Plan


class Raw(msgspec.Struct, forbid_unknown_fields=True):
    """Bytes that are no text: ``{"base64": "…"}``."""

    base64: bytes


Text = str | Raw


class Script(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """One answer; nothing is added but what ``framing`` says. Text is Latin-1, ``body`` is base64 in JSON."""

    status_line: Text = "HTTP/1.1 200 OK"
    headers: list[tuple[Text, Text]] = []
    body: bytes = b""
    #: ``length`` and ``chunked`` add their header after the others; ``close`` ends with the connection; ``raw`` adds
    #: nothing and keeps the connection.
    framing: Literal["length", "chunked", "close", "raw"] = "length"
    #: How the body is cut into chunks; what is left after the last size is one chunk more.
    chunk_sizes: list[int] = []
    trailers: list[tuple[Text, Text]] = []
    #: Written before the status line: interim responses, or nonsense.
    prelude: Text = ""
    #: How all bytes are cut into writes; what is left after the last size is one write more.
    piece_sizes: list[int] = []
    pause_ms: float = 0.0
    after: Literal["keep", "close", "rst"] | None = None


def read_script(data: bytes) -> Script:
    """A script from its JSON. Raises msgspec.DecodeError with the place of what is wrong."""
    return msgspec.json.decode(data, type=Script)


def wire_bytes(script: Script, has_body: bool = True) -> bytes:
    """Everything that is written; without the body in answer to HEAD."""
    lines = [_raw(script.status_line), *_lines(script.headers)]
    if script.framing == "length":
        lines.append(b"content-length: %d" % len(script.body))
    elif script.framing == "chunked":
        lines.append(b"transfer-encoding: chunked")
    head = _raw(script.prelude) + b"\r\n".join([*lines, b"", b""])
    if not has_body:
        return head
    return head + (_chunked(script) if script.framing == "chunked" else script.body)


def cut(data: bytes, sizes: Iterable[int]) -> Iterator[bytes]:
    """The data in pieces of these sizes, zero skipped; then what is left."""
    start = 0
    for size in sizes:
        if size > 0 and start < len(data):
            yield data[start : start + size]
            start += size
    if start < len(data):
        yield data[start:]


def plan_script(script: Script, method: str) -> Plan:
    """The plan that writes a script."""
    natural = CLOSE if script.framing == "close" else KEEP
    return Plan(
        head=b"",
        parts=cut(wire_bytes(script, has_body=method != "HEAD"), script.piece_sizes),
        interval_ms=script.pause_ms,
        after=natural if script.after is None else After(script.after, 0.0),
    )


def _chunked(script: Script) -> bytes:
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in cut(script.body, script.chunk_sizes))
    return chunks + b"".join([b"0\r\n", *(line + b"\r\n" for line in _lines(script.trailers)), b"\r\n"])


def _lines(pairs: list[tuple[Text, Text]]) -> list[bytes]:
    return [b"%b: %b" % (_raw(name), _raw(value)) for name, value in pairs]


def _raw(text: Text) -> bytes:
    return text.encode("latin-1") if isinstance(text, str) else text.base64
