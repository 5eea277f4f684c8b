"""Decode content codings (gzip, deflate, br, zstd) of a stored body, within limits.

Bodies are stored as they were transferred. If a body is truncated, its decodable beginning is returned. Limits protect
against decompression bombs. Decoding stops when the result has 64 MiB. Decoding also stops when the result has 100
times the compressed length and at least 1 MiB. Sources: RFC 9110 §8.4 (order of codings), RFC 9659 (zstd windows over
HTTP are at most 8 MiB).
"""

import re
import zlib
from collections.abc import Callable, Iterator
from typing import Final, Literal, NamedTuple, TypeAlias

import brotli
import zstandard

LIMIT_BYTES: Final = 64 << 20
RATIO: Final = 100

State: TypeAlias = Literal["plain", "decoded", "cut", "mislabeled", "too_large", "undecodable"]

_RATIO_APPLIES_BYTES: Final = 1 << 20
_MAX_CODINGS: Final = 4
_CHUNK_BYTES: Final = 4096
#: Number of bytes that zstd gets in one call. The input is limited, because the output of a call cannot be limited. 256
#: bytes hold at most 64 compressed blocks, and each block becomes at most 128 KiB of output.
_ZSTD_CHUNK_BYTES: Final = 256
_ZSTD_WINDOW_BYTES: Final = 8 << 20
_ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"
_GZIP_MAGIC: Final = b"\x1f\x8b"
#: Maximum number of concatenated gzip members or zstd frames. The number is limited because decoding takes microseconds
#: even for an empty member or frame.
_MAX_MEMBERS: Final = 100_000
_MAGICS: Final = ((_GZIP_MAGIC, "gzip"), (_ZSTD_MAGIC, "zstd"))
_MAGIC_BYTES: Final = (_GZIP_MAGIC[0], _ZSTD_MAGIC[0])
_PLAIN_STARTS: Final = (b"{", b"[", b"data:", b"event:", b": ", b"id:")
_CONTROL: Final = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_GZIP: Final = 31
_ZLIB: Final = 15
_RAW_DEFLATE: Final = -15


class Decoded(NamedTuple):
    """A body, and how much of the body was decoded.

    ``state`` is ``plain`` if the body has no content coding. With ``decoded``, the data is the whole body. With
    ``cut``, the data is the decodable beginning. With ``mislabeled``, the bytes do not fit the coding, and the data is
    what the bytes say. With ``too_large``, there is no data. With ``undecodable``, the data is the body as it was
    given: a coding is unknown, there are too many codings, or no byte could be decoded.
    """

    data: bytes
    state: State

    @property
    def is_readable(self) -> bool:
        """Whether the data is the body, or the beginning of a body that broke off."""
        return self.state not in ("too_large", "undecodable")


_Chunks: TypeAlias = Iterator[bytes]


class _Truncated(Exception):
    """The compressed data ends before its end mark, or has more than ``_MAX_MEMBERS`` members."""


def decode(data: bytes, content_encoding: str | None, *, limit: int = LIMIT_BYTES, ratio: int = RATIO) -> Decoded:
    """Decode all codings of a ``Content-Encoding`` value, starting with the coding that was applied last. Never raises.

    ``limit`` is the maximum size of the result in bytes. A result of more than 1 MiB is also limited to ``ratio`` times
    the compressed size.
    """
    if not data or (content_encoding is None and data[0] not in _MAGIC_BYTES):
        return Decoded(data, "plain")
    codings = codings_of(content_encoding)[::-1]
    if not codings:
        magic = next((name for start, name in _MAGICS if data.startswith(start)), None)
        if magic is None:
            return Decoded(data, "plain")
        decoded = _decode_all(data, [magic], limit, ratio)
        return Decoded(decoded.data, "mislabeled") if decoded.is_readable else Decoded(data, "plain")
    decoded = _decode_all(data, codings, limit, ratio)
    # Some plain texts begin like raw deflate or brotli, and a few bytes of nonsense can be decoded.
    is_doubtful = decoded.state == "undecodable" or (decoded.state == "cut" and not _is_plain(decoded.data))
    return Decoded(data, "mislabeled") if is_doubtful and _is_plain(data) else decoded


def _is_plain(data: bytes) -> bool:
    """Return whether a body begins like JSON or like an event stream, so that it has no coding, whatever is said."""
    start = data[:64]
    return start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(_PLAIN_STARTS) and _CONTROL.search(start) is None


def _decode_all(data: bytes, codings: list[str], limit: int, ratio: int) -> Decoded:
    if len(codings) > _MAX_CODINGS or any(name not in _CODINGS for name in codings):
        return Decoded(data, "undecodable")
    max_bytes = min(limit, max(_RATIO_APPLIES_BYTES, ratio * len(data)))
    result = Decoded(data, "decoded")
    for name in codings:
        decoded = _decode_one(_CODINGS[name](result.data, max_bytes), max_bytes)
        if not decoded.is_readable:
            return decoded if decoded.state == "too_large" else Decoded(data, "undecodable")
        result = Decoded(decoded.data, result.state if decoded.state == "decoded" else decoded.state)
    return result


def codings_of(content_encoding: str | None) -> list[str]:
    """Return the content codings in lower case, in the order in which they were applied, without ``identity``."""
    names = (name.strip() for name in (content_encoding or "").lower().split(","))
    return [name for name in names if name not in ("", "identity")]


def _decode_one(chunks: _Chunks, max_bytes: int) -> Decoded:
    out = bytearray()
    state: State = "decoded"
    try:
        for chunk in chunks:
            out += chunk
            if len(out) > max_bytes:
                return Decoded(b"", "too_large")
    except _Truncated:
        state = "cut"
    except (zlib.error, brotli.error, zstandard.ZstdError):
        state = "cut" if out else "undecodable"
    return Decoded(bytes(out), state)


def _inflate(data: bytes, max_bytes: int, bits: int, magic: bytes | None) -> _Chunks:
    """Decompress one deflate stream, or several streams that each start with ``magic``. Trailing bytes are ignored."""
    at = 0
    for _ in range(_MAX_MEMBERS):
        inflater = zlib.decompressobj(bits)
        while at < len(data) and not inflater.eof:
            feed = data[at : at + _CHUNK_BYTES]
            at += len(feed)
            while feed and not inflater.eof:
                yield inflater.decompress(feed, max_bytes + 1)
                feed = inflater.unconsumed_tail
        if not inflater.eof:
            break
        at -= len(inflater.unused_data)
        if magic is None or not data.startswith(magic, at):
            return
    raise _Truncated


def _gzip(data: bytes, max_bytes: int) -> _Chunks:
    return _inflate(data, max_bytes, _GZIP, _GZIP_MAGIC)


def _deflate(data: bytes, max_bytes: int) -> _Chunks:
    # RFC 9110 specifies the zlib format, but old servers send raw deflate. A zlib header can be recognized, because it
    # includes a checksum.
    has_header = len(data) < 2 or (data[0] & 15 == 8 and not (data[0] << 8 | data[1]) % 31)
    return _inflate(data, max_bytes, _ZLIB if has_header else _RAW_DEFLATE, None)


def _brotli(data: bytes, max_bytes: int) -> _Chunks:
    decompressor = brotli.Decompressor()
    for at in range(0, len(data), _CHUNK_BYTES):
        feed = data[at : at + _CHUNK_BYTES]
        yield decompressor.process(feed, output_buffer_limit=max_bytes + 1)
        while not decompressor.can_accept_more_data():
            yield decompressor.process(b"", output_buffer_limit=max_bytes + 1)
        if decompressor.is_finished():
            return
    raise _Truncated


def _zstd(data: bytes, max_bytes: int) -> _Chunks:
    at = 0
    for _ in range(_MAX_MEMBERS):
        decompressor = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW_BYTES).decompressobj()
        while at < len(data) and not decompressor.eof:
            yield decompressor.decompress(data[at : at + _ZSTD_CHUNK_BYTES])
            at = min(at + _ZSTD_CHUNK_BYTES, len(data))
        if not decompressor.eof:
            break
        at -= len(decompressor.unused_data)
        if not data.startswith(_ZSTD_MAGIC, at):
            return
    raise _Truncated


_CODINGS: Final[dict[str, Callable[[bytes, int], _Chunks]]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}
