"""Write requests as JSON Lines, from which records, details and bodies can be restored without loss.

docs/reference/export-format.md describes the lines. Increase VERSION if a change can break programs that read the
lines.
"""

import binascii
import codecs
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final, get_args

import msgspec

from relaybook.log.record import Detail, Record, Side
from relaybook.log.request_view import RequestView, decode_body
from relaybook.log.row import to_json
from relaybook.log.store.errors import BodyDamaged

VERSION: Final = 1
#: Maximum size of a body that is read into memory. A larger body is read twice in chunks, first to find out whether it
#: is text, and then to write it.
MAX_IN_MEMORY: Final = 1 << 20
_encode: Final = msgspec.json.Encoder().encode


class JsonLines:
    """Writes one JSON object per request. With bodies, the object also has the ``Detail`` and both bodies."""

    def __init__(self) -> None:
        self.count = 0
        self.omitted: Counter[str] = Counter()

    def begin(self) -> bytes:
        return b""

    def add(self, record: Record, view: RequestView | None) -> Iterable[bytes]:
        self.count += 1
        if view is None:
            return (_encode({"export": VERSION, **to_json(record)}), b"\n")
        return _with_bodies(record, view)

    def end(self) -> bytes:
        return b""


def _with_bodies(record: Record, view: RequestView) -> Iterable[bytes]:
    try:
        # Both bodies are read before the record is written. So if a body cannot be read, the record is written with the
        # ``body_state`` "expired".
        request, response = (_body(view, side) for side in get_args(Side))
    except BodyDamaged:
        record = msgspec.structs.replace(record, body_state="expired")
        request = response = (b"null",)
    detail = detail_json(view.detail) if view.has_headers else None
    line = _encode({"export": VERSION, **to_json(record), "detail": detail})
    yield line[:-1] + b',"request":'
    yield from request
    yield b',"response":'
    yield from response
    yield b"}\n"


def detail_json(detail: Detail) -> dict[str, Any]:
    """Return all fields of a detail by name. Bytes become Latin-1 text, in which every byte is one character."""
    fields = {
        name: value.decode("latin-1") if isinstance(value, bytes) else value
        for name, value in msgspec.structs.asdict(detail).items()
    }
    return fields | {"exchange": msgspec.to_builtins(detail.exchange)}


def _body(view: RequestView, side: Side) -> Iterable[bytes]:
    """Return a body as JSON. Raises BodyDamaged if the body cannot be read."""
    chunks = view.transferred(side)
    if chunks is None:
        if view.size(side) is not None:
            raise BodyDamaged(f"The body of {view.record.id} was removed while it was being read.")
        return (b"null",)
    coding = view.content_encoding(side)
    if (view.size(side) or 0) > MAX_IN_MEMORY:
        is_text = _is_text(chunks) and coding is None
        return _large_body(view, side, is_text=is_text)
    data = b"".join(chunks)
    return (_encode(_small_body(data, coding)),)


def _small_body(data: bytes, coding: str | None) -> dict[str, str]:
    """Return the body as ``{"text": …}`` if the decoded body is text, and otherwise as ``{"base64": …}``.

    ``base64`` has the bytes as they were transferred. If decoding changed the bytes of a text, the object has both
    fields.
    """
    decoded = decode_body(data, coding)
    try:
        text = decoded.data.decode() if decoded.is_readable else None
    except UnicodeDecodeError:
        text = None
    if text is None:
        return {"base64": _base64(data)}
    return {"text": text} if decoded.data == data else {"text": text, "base64": _base64(data)}


def _base64(data: bytes) -> str:
    return binascii.b2a_base64(data, newline=False).decode()


def _is_text(chunks: Iterator[bytes]) -> bool:
    """Return whether the chunks are UTF-8. All chunks are read, even after an invalid chunk."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    is_text = True
    for chunk in chunks:
        try:
            if is_text:
                decoder.decode(chunk)
        except UnicodeDecodeError:
            is_text = False
    try:
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        is_text = False
    return is_text


def _large_body(view: RequestView, side: Side, *, is_text: bool) -> Iterator[bytes]:
    chunks = view.transferred(side)
    if chunks is None:
        raise BodyDamaged(f"The body of {view.record.id} was removed while it was being read.")
    if is_text:
        decoder = codecs.getincrementaldecoder("utf-8")()
        yield b'{"text":"'
        for chunk in chunks:
            yield _encode(decoder.decode(chunk))[1:-1]
    else:
        yield b'{"base64":"'
        carry = b""
        for chunk in chunks:
            data = carry + chunk
            whole = len(data) - len(data) % 3
            carry = data[whole:]
            yield binascii.b2a_base64(data[:whole], newline=False)
        yield binascii.b2a_base64(carry, newline=False)
    yield b'"}'
