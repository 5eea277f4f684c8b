"""Compressed bodies can be read part by part."""

import gzip
import zlib
from collections.abc import Callable
from typing import Any

import brotli
import pytest
import zstandard

from relaybook.simulator.encodings import encode_parts, encode_whole

PARTS = [b"data: one\n\n", b"data: two\n\n", b"x" * 100_000]


def brotli_reader() -> Callable[[bytes], bytes]:
    decoder = brotli.Decompressor()

    def read(data: bytes) -> bytes:
        found = out = decoder.process(data)
        while out:  # one call gives at most 32 KiB
            out = decoder.process(b"")
            found += out
        return bytes(found)

    return read


def zstd_whole(data: bytes) -> bytes:
    return zstandard.ZstdDecompressor().decompressobj().decompress(data)


@pytest.mark.parametrize(
    ("encoding", "decode"),
    [("gzip", gzip.decompress), ("deflate", zlib.decompress), ("br", brotli.decompress), ("zstd", zstd_whole)],
)
def test_whole_and_parts_decode_to_the_same(encoding: str, decode: Callable[[bytes], bytes]) -> None:
    assert decode(encode_whole(b"".join(PARTS), encoding)) == b"".join(PARTS)
    assert decode(b"".join(encode_parts(PARTS, encoding))) == b"".join(PARTS)


@pytest.mark.parametrize(
    ("encoding", "reader"),
    [
        ("gzip", lambda: zlib.decompressobj(31).decompress),
        ("deflate", lambda: zlib.decompressobj().decompress),
        ("br", brotli_reader),
        ("zstd", lambda: zstandard.ZstdDecompressor().decompressobj().decompress),
    ],
)
def test_each_part_can_be_read_when_it_came(encoding: str, reader: Callable[[], Any]) -> None:
    read = reader()
    encoded = list(encode_parts(PARTS, encoding))
    assert [read(part) for part in encoded[:-1]] == PARTS
