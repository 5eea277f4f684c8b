"""Compresses bodies: whole, or part by part so that each can be read as soon as it came."""

import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import brotli
import zstandard


class _Coder(NamedTuple):
    add: Callable[[bytes], bytes]
    flush: Callable[[], bytes]
    finish: Callable[[], bytes]


def encode_parts(parts: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """Each part compressed and flushed; one more at the end that closes the format."""
    coder = _coder(encoding)
    for part in parts:
        yield coder.add(part) + coder.flush()
    yield coder.finish()


def encode_whole(body: bytes, encoding: str) -> bytes:
    """The body compressed at once."""
    coder = _coder(encoding)
    return coder.add(body) + coder.finish()


def _coder(encoding: str) -> _Coder:
    if encoding == "br":
        brotli_coder = brotli.Compressor(quality=4)
        return _Coder(brotli_coder.process, brotli_coder.flush, brotli_coder.finish)
    if encoding == "zstd":
        zstd = zstandard.ZstdCompressor(level=3).compressobj()
        return _Coder(zstd.compress, lambda: zstd.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK), zstd.flush)
    deflate = zlib.compressobj(6, zlib.DEFLATED, 31 if encoding == "gzip" else 15)
    return _Coder(deflate.compress, lambda: deflate.flush(zlib.Z_SYNC_FLUSH), deflate.flush)
