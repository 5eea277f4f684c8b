"""Test how content codings are decoded, including truncated data, compression bombs and invalid data."""

import gzip
import os
import zlib
from collections.abc import Callable
from functools import partial

import brotli
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from relaybook.log.formats.decode import Decoded, decode

TEXT = b'{"model":"gpt-4.1","text":"' + bytes(range(32, 127)) * 40 + b'"}'


def raw_deflate(data: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-15)
    return compressor.compress(data) + compressor.flush()


ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": partial(brotli.compress, quality=5),
    "zstd": zstandard.ZstdCompressor().compress,
}


@pytest.mark.parametrize("encoding", [None, "", "identity", " Identity , "])
def test_a_body_without_coding_is_unchanged(encoding: str | None) -> None:
    assert decode(TEXT, encoding) == Decoded(TEXT, "plain")


@pytest.mark.parametrize("name", ENCODERS)
def test_every_coding_is_decoded(name: str) -> None:
    assert decode(ENCODERS[name](TEXT), name.upper()) == Decoded(TEXT, "decoded")


def test_deflate_without_zlib_header_is_decoded() -> None:
    assert decode(raw_deflate(TEXT), "deflate") == Decoded(TEXT, "decoded")


@settings(deadline=None)
@given(st.binary(max_size=3000), st.lists(st.sampled_from(sorted(ENCODERS)), min_size=1, max_size=4))
def test_several_codings_are_decoded_last_first(data: bytes, names: list[str]) -> None:
    wire = data
    for name in names:
        wire = ENCODERS[name](wire)
    assert decode(wire, ", ".join(names)) == Decoded(data, "decoded")


@pytest.mark.parametrize("name", ENCODERS)
def test_a_body_truncated_anywhere_gives_a_prefix(name: str) -> None:
    wire = ENCODERS[name](TEXT)
    for length in range(1, len(wire)):
        data, state = decode(wire[:length], name)
        assert state in ("cut", "decoded")
        assert TEXT.startswith(data)


def test_a_stream_flushed_per_event_is_decoded_up_to_its_end() -> None:
    compressor = zlib.compressobj(wbits=31)
    wire = b"".join(
        compressor.compress(b"data: %d\n\n" % number) + compressor.flush(zlib.Z_SYNC_FLUSH) for number in range(20)
    )
    assert decode(wire, "gzip") == Decoded(b"".join(b"data: %d\n\n" % number for number in range(20)), "cut")


@pytest.mark.parametrize("name", ["gzip", "zstd"])
def test_concatenated_members_are_one_body(name: str) -> None:
    wire = b"".join(ENCODERS[name](b"part %d " % number) for number in range(5))
    assert decode(wire, name) == Decoded(b"part 0 part 1 part 2 part 3 part 4 ", "decoded")


@pytest.mark.parametrize("name", ["gzip", "deflate", "zstd"])
def test_trailing_bytes_are_ignored(name: str) -> None:
    assert decode(ENCODERS[name](TEXT) + b"\0\0\0garbage", name) == Decoded(TEXT, "decoded")


@pytest.mark.parametrize("name", ENCODERS)
def test_a_bomb_stops_at_the_ratio(name: str) -> None:
    wire = ENCODERS[name](b"\0" * (64 << 20))
    assert decode(wire, name) == Decoded(b"", "too_large")


def test_a_body_that_is_too_large_after_the_first_of_two_codings_is_too_large() -> None:
    wire = ENCODERS["gzip"](ENCODERS["gzip"](os.urandom(2 << 20)))
    assert decode(wire, "gzip, gzip", limit=1 << 20).state == "too_large"


@pytest.mark.parametrize("name", ENCODERS)
def test_up_to_one_mebibyte_any_ratio_is_accepted(name: str) -> None:
    assert decode(ENCODERS[name](b"\0" * (1 << 20)), name) == Decoded(b"\0" * (1 << 20), "decoded")


@pytest.mark.parametrize("name", ENCODERS)
@pytest.mark.parametrize("over", [1, 1000])
def test_the_size_limit_is_enforced(name: str, over: int) -> None:
    limit = len(TEXT) - over
    assert decode(ENCODERS[name](TEXT), name, limit=limit) == Decoded(b"", "too_large")
    assert decode(ENCODERS[name](TEXT), name, limit=len(TEXT)) == Decoded(TEXT, "decoded")


def test_a_bomb_within_a_bomb_stops() -> None:
    wire = gzip.compress(gzip.compress(b"\0" * (64 << 20)))
    assert decode(wire, "gzip, gzip") == Decoded(b"", "too_large")


@pytest.mark.parametrize("encoding", ["aws-chunked", "gzip, compress", "gzip, " * 5 + "gzip"])
def test_a_body_with_unknown_coding_is_unchanged(encoding: str) -> None:
    wire = gzip.compress(TEXT)
    assert decode(wire, encoding) == Decoded(wire, "undecodable")


@pytest.mark.parametrize("name", ENCODERS)
def test_a_body_that_is_not_compressed_is_unchanged(name: str) -> None:
    for text in (TEXT, b" \n[1]", b"\xef\xbb\xbf{}", b"data: x\n\n", b": x\n\n"):
        assert decode(text, name) == Decoded(text, "mislabeled")
    assert decode(b"plain text", name).state in ("undecodable", "cut")


@pytest.mark.parametrize("name", ["gzip", "zstd"])
def test_a_compressed_body_without_coding_is_decoded(name: str) -> None:
    assert decode(ENCODERS[name](TEXT), None) == Decoded(TEXT, "mislabeled")
    damaged = ENCODERS[name](TEXT)[:4] + b"\xff" * 20
    assert decode(damaged, None) == Decoded(damaged, "plain")


@pytest.mark.parametrize("name", ENCODERS)
def test_an_empty_body_needs_no_decoding(name: str) -> None:
    assert decode(b"", name).data == b""


@settings(deadline=None)
@given(st.binary(max_size=300), st.sampled_from(sorted(ENCODERS)), st.integers(0, 400), st.integers(0, 255))
def test_no_damage_raises(data: bytes, name: str, at: int, byte: int) -> None:
    wire = bytearray(ENCODERS[name](data))
    if wire:
        wire[at % len(wire)] = byte
    for body, coding in ((bytes(wire), name), (bytes(wire), None), (data, name)):
        decode(body, coding)
