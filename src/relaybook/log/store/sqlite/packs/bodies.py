"""Encode a record's detail and bodies for a pack, and the location of this data for the record's row.

Large bodies have separate body frames. Body bytes that are stored before the request is finished also have separate
body frames. A record's detail and the remaining bytes of its bodies are compressed together as one body frame, the
shared frame. Compressing one shared frame takes about half the time of compressing three frames (for detail, request
and response), and the shared frame has 13 % fewer bytes. A shared frame can have a base (see bases.py).
"""

from collections.abc import Callable
from typing import Final

import msgspec
import zstandard

from relaybook.log.record import Detail
from relaybook.log.store.entry import Body, BodyRef, Entry

#: Maximum number of bytes of a body in the shared frame. If more bytes remain to be stored when the request is
#: finished, they are stored in separate frames.
MAX_SHARED_REST: Final = 256 * 1024
#: Maximum size of the content of a separate frame.
CHUNK: Final = 1024 * 1024

#: A body frame: pack, offset, length.
Frame = tuple[int, int, int]


class BodyLocation(msgspec.Struct, array_like=True):
    """The location of one body: the frames in ``refs``, followed by ``rest`` bytes in the shared frame."""

    refs: list[BodyRef]
    rest: int


class RecordLocation(msgspec.Struct, array_like=True):
    """The location of a record's data.

    ``pack``, ``offset`` and ``length`` locate the shared frame. The shared frame contains the detail, which has
    ``detail`` bytes, and then the remaining bytes of the request and the response.
    """

    pack: int
    offset: int
    length: int
    detail: int
    request: BodyLocation | None
    response: BodyLocation | None
    #: The base of the shared frame (see bases.py).
    base: BodyRef | None = None

    def shared(self) -> BodyRef:
        size = self.detail + rest(self.request) + rest(self.response)
        return BodyRef((self.pack, self.offset, self.length), size)

    def refs(self) -> list[BodyRef]:
        """Return the record's body frames, without the shared frame."""
        return _refs(self.request, self.response)

    def frames(self) -> list[Frame]:
        """Return all body frames with data of the record, starting with the shared frame."""
        separate = [(pack, offset, length) for pack, offset, length in (ref.location for ref in self.refs())]
        return [(self.pack, self.offset, self.length), *separate]


class SharedContent(msgspec.Struct, array_like=True):
    """The content of a record's shared frame, before it is compressed.

    ``data`` has the detail, which has ``detail`` bytes, and then the remaining bytes of the request and the response.
    """

    data: bytes
    detail: int
    request: BodyLocation | None
    response: BodyLocation | None

    def request_body(self) -> bytes:
        """Return the request body, or empty bytes if part of the body is in other frames."""
        body = self.request
        return b"" if body is None or body.refs else self.data[self.detail : self.detail + body.rest]

    def refs(self) -> list[BodyRef]:
        """Return the record's body frames, without the shared frame."""
        return _refs(self.request, self.response)

    def locate(self, frame: Frame, base: BodyRef | None) -> bytes:
        """Return the row's ``bodies`` value. The shared frame is at ``frame``, and was compressed with ``base``."""
        return encode_location(RecordLocation(*frame, self.detail, self.request, self.response, base))


def _refs(*sides: BodyLocation | None) -> list[BodyRef]:
    return [ref for side in sides if side is not None for ref in side.refs]


#: Stores a chunk of a body as a separate frame.
StoreChunk = Callable[[bytes], BodyRef]

_encode_detail: Final = msgspec.msgpack.Encoder().encode
encode_location: Final = msgspec.msgpack.Encoder().encode
_decode_stored: Final = msgspec.msgpack.Decoder(RecordLocation).decode
decode_detail: Final = msgspec.msgpack.Decoder(Detail | None).decode


def new_compressor() -> zstandard.ZstdCompressor:
    """Return a compressor with level 1 and checksums.

    Higher levels take three times as long as level 1 and save only a tenth of the size. With checksums, damage causes
    an error instead of wrong text.
    """
    return zstandard.ZstdCompressor(level=1, write_checksum=True)


def shared_content(entry: Entry, store_chunk: StoreChunk) -> SharedContent:
    """Return the content of an entry's shared frame, which holds the detail and the bodies.

    A body that is too large for the shared frame is stored with ``store_chunk``.
    """
    detail = _encode_detail(entry.detail)
    parts = [detail]
    request = _locate_body(entry.request, parts, store_chunk)
    response = _locate_body(entry.response, parts, store_chunk)
    return SharedContent(b"".join(parts), len(detail), request, response)


def _locate_body(body: Body | None, parts: list[bytes], store_chunk: StoreChunk) -> BodyLocation | None:
    if body is None:
        return None
    remaining = sum(map(len, body.rest))
    if remaining > MAX_SHARED_REST:
        data = b"".join(body.rest)
        chunks = (data[start : start + CHUNK] for start in range(0, remaining, CHUNK))
        return BodyLocation([*body.refs, *map(store_chunk, chunks)], 0)
    parts += body.rest
    return BodyLocation(body.refs, remaining)


def decode_location(bodies: bytes | None) -> RecordLocation | None:
    """Return the location from a row's ``bodies`` value. `None` if the record's data has expired."""
    return None if bodies is None else _decode_stored(bodies)


def size(body: BodyLocation | None) -> int | None:
    """Return the size of a body as transferred, or `None` if the body is not stored."""
    return None if body is None else body.rest + sum(ref.size for ref in body.refs)


def rest(body: BodyLocation | None) -> int:
    """Return the number of the body's bytes that are in the shared frame."""
    return 0 if body is None else body.rest
