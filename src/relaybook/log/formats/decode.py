"""Undoes content codings (gzip, deflate, br, zstd) of a stored body, within limits.

Bodies are stored as they crossed the wire; this is how they become readable. An answer that broke off gives what can
be read of it. A bomb stops at the limit: 16 MiB, and 100 times the compressed length once beyond 1 MiB.
Sources: RFC 9110 §8.4 (order of codings), RFC 9659 (zstd windows over HTTP are at most 8 MiB).
"""

import zlib
from collections.abc import Callable, Iterator
from typing import Final, Literal, NamedTuple, TypeAlias

import brotli
import zstandard

LIMIT_BYTES: Final = 16 << 20
RATIO: Final = 100

State: TypeAlias = Literal["plain", "decoded", "cut", "too_large", "undecodable"]

_RATIO_APPLIES_BYTES: Final = 1 << 20
_MOST_CODINGS: Final = 4
_PIECE_BYTES: Final = 4096
#: zstd cannot stop within one call: 256 bytes hold at most 64 blocks of 128 KiB.
_ZSTD_PIECE_BYTES: Final = 256
_ZSTD_WINDOW_BYTES: Final = 8 << 20
_ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"
_GZIP_MAGIC: Final = b"\x1f\x8b"
#: Concatenated gzip members or zstd frames; each costs microseconds however short it is.
_MOST_MEMBERS: Final = 100_000
_GZIP: Final = 31
_ZLIB: Final = 15
_RAW_DEFLATE: Final = -15


class Decoded(NamedTuple):
    """``decoded`` is whole, ``cut`` the readable beginning, ``too_large`` the part up to the limit.

    ``undecodable`` (unknown coding, or not a byte of it readable) carries the data as it was given.
    """

    data: bytes
    state: State


_Pieces: TypeAlias = Iterator[bytes]


class _Cut(Exception):
    """The compressed data ends, or stops making sense, before its end mark."""


def decode(data: bytes, content_encoding: str | None, *, limit: int = LIMIT_BYTES, ratio: int = RATIO) -> Decoded:
    """The body with every coding of ``Content-Encoding`` undone, last applied first. Never raises."""
    names = [name for part in (content_encoding or "").lower().split(",") if (name := part.strip())]
    codings = [name for name in reversed(names) if name != "identity"]
    if not codings or not data:
        return Decoded(data, "plain")
    if len(codings) > _MOST_CODINGS or any(name not in _CODINGS for name in codings):
        return Decoded(data, "undecodable")
    most = min(limit, max(_RATIO_APPLIES_BYTES, ratio * len(data)))
    done = Decoded(data, "decoded")
    for name in codings:
        step = _undo(_CODINGS[name](done.data, most), most)
        if step.state == "undecodable":
            return Decoded(data, "undecodable")
        done = Decoded(step.data, done.state if step.state == "decoded" else step.state)
    return done


def _undo(pieces: _Pieces, most: int) -> Decoded:
    out = bytearray()
    state: State = "decoded"
    try:
        for piece in pieces:
            out += piece
            if len(out) > most:
                return Decoded(bytes(out[:most]), "too_large")
    except _Cut:
        state = "cut"
    except (zlib.error, brotli.error, zstandard.ZstdError):
        state = "cut" if out else "undecodable"
    return Decoded(bytes(out), state)


def _inflate(data: bytes, most: int, bits: int, magic: bytes | None) -> _Pieces:
    """One deflate stream, or as many members as begin with ``magic``; other bytes after the end are passed over."""
    at = 0
    for _ in range(_MOST_MEMBERS):
        inflater = zlib.decompressobj(bits)
        while at < len(data) and not inflater.eof:
            feed = data[at : at + _PIECE_BYTES]
            at += len(feed)
            while feed and not inflater.eof:
                yield inflater.decompress(feed, most + 1)
                feed = inflater.unconsumed_tail
        if not inflater.eof:
            break
        at -= len(inflater.unused_data)
        if magic is None or not data.startswith(magic, at):
            return
    raise _Cut


def _gzip(data: bytes, most: int) -> _Pieces:
    return _inflate(data, most, _GZIP, _GZIP_MAGIC)


def _deflate(data: bytes, most: int) -> _Pieces:
    # RFC 9110 means the zlib format; old servers send bare deflate. The zlib header is its own check.
    has_header = len(data) < 2 or (data[0] & 15 == 8 and not (data[0] << 8 | data[1]) % 31)
    return _inflate(data, most, _ZLIB if has_header else _RAW_DEFLATE, None)


def _brotli(data: bytes, most: int) -> _Pieces:
    decompressor = brotli.Decompressor()
    for at in range(0, len(data), _PIECE_BYTES):
        feed = data[at : at + _PIECE_BYTES]
        yield decompressor.process(feed, output_buffer_limit=most + 1)
        while not decompressor.can_accept_more_data():
            yield decompressor.process(b"", output_buffer_limit=most + 1)
        if decompressor.is_finished():
            return
    raise _Cut


def _zstd(data: bytes, most: int) -> _Pieces:
    at = 0
    for _ in range(_MOST_MEMBERS):
        decompressor = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW_BYTES).decompressobj()
        while at < len(data) and not decompressor.eof:
            yield decompressor.decompress(data[at : at + _ZSTD_PIECE_BYTES])
            at = min(at + _ZSTD_PIECE_BYTES, len(data))
        if not decompressor.eof:
            break
        at -= len(decompressor.unused_data)
        if not data.startswith(_ZSTD_MAGIC, at):
            return
    raise _Cut


_CODINGS: Final[dict[str, Callable[[bytes, int], _Pieces]]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}
