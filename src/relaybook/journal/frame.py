"""Frames: their bytes, and finding them again among damaged ones. Pure: bytes in, facts out."""

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
#: The largest payload a writer makes: a read from a socket, or a head with all its limits reached.
MAX_PAYLOAD: Final = 512 << 10
NO_EXCHANGE: Final = bytes(16)


class Kind(IntEnum):
    """What a frame tells. All but SEALED and NOTED belong to an exchange."""

    OPENED = 1  #: A request was admitted; payload: its head, and the body bytes that came with it.
    SENT = 2  #: Bytes of its body, on their way to the provider.
    ASKED = 3  #: The request is complete; left out where OPENED says so.
    ANSWERED = 4  #: The head of the provider's answer, and the body bytes that came with it.
    RECEIVED = 5  #: Bytes of the answer's body, on their way to the caller.
    MADE = 6  #: Bytes of our own that the caller gets in place of, or after, the provider's.
    CLOSED = 7  #: How it ended.
    SEALED = 8  #: End of the segment.
    NOTED = 9  #: What was refused since the last one; payload: msgpack.


class Frame(msgspec.Struct, frozen=True, gc=False):
    """One frame as read: where it stood, and what it says."""

    kind: int
    exchange: bytes
    time_ns: int
    payload: bytes
    number: int
    segment: int
    offset: int


def encode(secret: int, number: int, kind: int, exchange: bytes, time_ns: int, payload: bytes) -> bytes:
    """The 41 bytes that go before the payload."""
    checked = _pack_checked(number, kind, exchange, time_ns)
    return _pack_start(_CHECKED_BYTES + len(payload), crc32(payload, crc32(checked, secret))) + checked


class Span(msgspec.Struct):
    """How far ``decode`` came: the offset after the last whole frame, and whether what follows is damaged."""

    end: int
    damaged: bool = False


def decode(data: bytes, secret: int, segment: int, base: int, span: Span) -> Iterator[Frame]:
    """Frames from the start of ``data``, whose first byte stands at ``base`` of the segment.

    Stops at an incomplete frame, or at one that does not hold (then ``span.damaged``); ``span.end`` counts bytes of
    ``data``.
    """
    size = len(data)
    at = 0
    unpack = HEAD.unpack_from
    while at + HEAD_BYTES <= size:
        length, check, number, kind, exchange, time_ns = unpack(data, at)
        end = at + 8 + length
        if length < _CHECKED_BYTES or length > _CHECKED_BYTES + MAX_PAYLOAD:
            span.damaged = True
            return
        if end > size:
            return
        payload = data[at + HEAD_BYTES : end]
        if crc32(payload, crc32(data[at + 8 : at + HEAD_BYTES], secret)) != check:
            span.damaged = True
            return
        span.end = end
        yield Frame(kind, exchange, time_ns, payload, number, segment, base + at)
        at = end


def find_next(data: bytes, start: int, secret: int, last_number: int, skipped: int) -> int | None:
    """Where, at or after ``start``, the next frame begins that may follow ``last_number``; None: nowhere in ``data``.

    ``skipped`` bytes were passed over before ``data[0]``. A frame is accepted only if its seeded check holds and its
    number is at most ``bytes skipped / 41 + 1`` ahead, so that nothing a caller sends can pass for one.
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
