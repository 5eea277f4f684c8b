"""Encode and decode frames, and find the next valid frame after damage. This module does no I/O."""

from collections.abc import Iterator
from enum import IntEnum
from struct import Struct
from typing import Final
from zlib import crc32

import msgspec

HEAD: Final = Struct("<IIQB16sQ")
HEAD_BYTES: Final = HEAD.size
_LENGTH_AND_CHECK: Final = Struct("<II")
_CHECKED: Final = Struct("<QB16sQ")
_CHECKED_BYTES: Final = _CHECKED.size
_pack_start: Final = _LENGTH_AND_CHECK.pack
_pack_checked: Final = _CHECKED.pack
#: The largest payload that a reader accepts, in bytes. The relay writes smaller payloads. A payload has at most the
#: head of a message and the bytes of one read from a socket. ``relay.limits`` limits the size of both.
MAX_PAYLOAD: Final = 512 << 10
NO_EXCHANGE: Final = bytes(16)


class FrameKind(IntEnum):
    """The kind of a frame. All frames except SEALED and COUNTED belong to an exchange."""

    OPENED = 1  #: A request was admitted. The payload has the request's head and the body bytes that arrived with it.
    SENT = 2  #: Bytes of the request body, sent to the upstream.
    REQUEST_END = 3  #: The request is complete. The frame is omitted if OPENED contains the whole request.
    RESPONSE_BEGIN = 4  #: The head of the response, and the body bytes that arrived with the head.
    RECEIVED = 5  #: Bytes of the response body, sent to the client.
    MADE = 6  #: Bytes that the relay itself made and sent to the client, instead of a response of the upstream.
    CLOSED = 7  #: The exchange ended. The payload has the outcome.
    SEALED = 8  #: The end of the segment.
    COUNTED = 9  #: Counts of refused and unlogged requests since the last COUNTED frame, as msgpack.


class Frame(msgspec.Struct, frozen=True, gc=False):
    """A decoded frame and its position."""

    kind: int
    exchange: bytes
    time_ns: int
    payload: bytes
    number: int
    segment: int
    offset: int


def encode(secret: int, number: int, kind: int, exchange: bytes, time_ns: int, payload: bytes) -> bytes:
    """Return the first 41 bytes of a frame, which precede the payload.

    ``secret`` is the secret of the run. The checksum of the frame is seeded with this secret.
    """
    checked = _pack_checked(number, kind, exchange, time_ns)
    return _pack_start(_CHECKED_BYTES + len(payload), crc32(payload, crc32(checked, secret))) + checked


class Span(msgspec.Struct):
    """The end of the last valid frame that ``decode`` read, as an offset in the ``data`` passed to ``decode``."""

    end: int


def decode(data: bytes, secret: int, segment: int, base: int, span: Span) -> Iterator[Frame]:
    """Yield the frames at the start of ``data``. ``data`` begins at offset ``base`` of the segment.

    Decoding stops at an incomplete or invalid frame. Before a frame is yielded, ``span.end`` is set to the offset in
    ``data`` at which the frame ends. ``secret`` is the secret of the run, with which the checksums are seeded.
    """
    size = len(data)
    at = 0
    unpack = HEAD.unpack_from
    while at + HEAD_BYTES <= size:
        length, check, number, kind, exchange, time_ns = unpack(data, at)
        end = at + 8 + length
        if length < _CHECKED_BYTES or length > _CHECKED_BYTES + MAX_PAYLOAD:
            return
        if end > size:
            return
        payload = data[at + HEAD_BYTES : end]
        if crc32(payload, crc32(data[at + 8 : at + HEAD_BYTES], secret)) != check:
            return
        span.end = end
        yield Frame(kind, exchange, time_ns, payload, number, segment, base + at)
        at = end


def find_next(data: bytes, start: int, secret: int, last_number: int, skipped: int) -> int | None:
    """Return the offset in ``data`` of the next frame that can follow frame ``last_number``. `None` if there is none.

    The search begins at ``start``. ``skipped`` is the number of bytes that were skipped before ``data[0]``. A frame is
    accepted only if its checksum (seeded with the secret of the run) is correct and its number exceeds ``last_number``
    by at most ``(skipped + offset) / 41 + 1``. So bytes from a client cannot be read as a frame.
    """
    unpack = HEAD.unpack_from
    for at in range(start, len(data) - HEAD_BYTES + 1):
        length, check, number, _, _, _ = unpack(data, at)
        if not 0 < number - last_number <= (skipped + at) // HEAD_BYTES + 1:
            continue
        end = at + 8 + length
        if length < _CHECKED_BYTES or length > _CHECKED_BYTES + MAX_PAYLOAD or end > len(data):
            continue
        if crc32(data[at + 8 : end], secret) == check:
            return at
    return None
