"""Test the bytes, the parts and the length of response bodies."""

import gzip
import itertools
import zlib
from collections.abc import Callable
from typing import Any

import brotli
import pytest
import zstandard

from relaybook_demo.simulator.contents import BLOCK_BYTES, Content, content_of, encode_parts, encode_whole
from relaybook_demo.simulator.directive_values import BodyDirectives
from relaybook_demo.simulator.directives import NO_DIRECTIVES, Directives
from relaybook_demo.simulator.replies import Event, Reply

STREAM = Reply(events=[Event(b"{}"), Event(b"[DONE]")])


def content(reply: Reply, directives: Directives) -> Content:
    return content_of(reply, directives, lambda: 0)


def test_a_single_body_is_one_part_of_known_length() -> None:
    actual = content(Reply(body=b"abc"), NO_DIRECTIVES)
    assert (list(actual.parts), actual.length, actual.is_stream) == ([b"abc"], 3, False)


def test_a_stream_has_one_part_per_event_and_no_length() -> None:
    actual = content(STREAM, NO_DIRECTIVES)
    assert (list(actual.parts), actual.length, actual.is_stream) == ([b"data: {}\n\n", b"data: [DONE]\n\n"], None, True)


def test_length_framing_sets_the_length_of_a_stream() -> None:
    assert content(STREAM, Directives(framing="length")).length == len(b"data: {}\n\ndata: [DONE]\n\n")


@pytest.mark.parametrize("size", [0, 1, BLOCK_BYTES, 3 * BLOCK_BYTES + 1])
def test_a_body_of_a_given_size_has_that_size(size: int) -> None:
    actual = content(Reply(), Directives(body=BodyDirectives("bytes", size=size)))
    assert actual.length == size == sum(map(len, actual.parts))


def test_ten_gigabytes_are_generated_lazily() -> None:
    actual = content(Reply(), Directives(body=BodyDirectives("bytes", size=10 * 2**30)))
    assert actual.length == 10 * 2**30
    assert len(list(itertools.islice(actual.parts, 3))) == 3


def test_an_endless_body_has_no_length() -> None:
    assert content(Reply(), Directives(body=BodyDirectives("endless"))).length is None


def test_the_length_is_that_of_the_encoded_body() -> None:
    actual = content(Reply(body=b"abc" * 100), Directives(encoding="gzip"))
    (part,) = actual.parts
    assert (gzip.decompress(part), actual.length) == (b"abc" * 100, len(part))


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (BodyDirectives("html"), b"text/html; charset=utf-8"),
        (BodyDirectives("text"), b"text/plain; charset=utf-8"),
        (BodyDirectives("invalid-json"), b"application/json"),
        (BodyDirectives("empty"), b"application/json"),
        (BodyDirectives("exact", data=b"x"), b"application/json"),
    ],
)
def test_replaced_bodies_have_their_content_type(body: BodyDirectives, content_type: bytes) -> None:
    assert content(Reply(body=b"{}"), Directives(body=body)).content_type == content_type
    assert content(Reply(body=b"{}"), Directives(body=body, content_type=b"a/b")).content_type == b"a/b"


PARTS = [b"data: one\n\n", b"data: two\n\n", b"x" * 100_000]


def brotli_reader() -> Callable[[bytes], bytes]:
    decoder = brotli.Decompressor()

    def read(data: bytes) -> bytes:
        actual = out = decoder.process(data)
        while out:  # each call returns at most 32 KiB
            out = decoder.process(b"")
            actual += out
        return bytes(actual)

    return read


def decompress_zstd(data: bytes) -> bytes:
    return zstandard.ZstdDecompressor().decompressobj().decompress(data)


@pytest.mark.parametrize(
    ("encoding", "decode"),
    [("gzip", gzip.decompress), ("deflate", zlib.decompress), ("br", brotli.decompress), ("zstd", decompress_zstd)],
)
def test_body_and_parts_decode_to_the_same_bytes(encoding: str, decode: Callable[[bytes], bytes]) -> None:
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
def test_each_part_can_be_decoded_on_arrival(encoding: str, reader: Callable[[], Any]) -> None:
    read = reader()
    encoded = list(encode_parts(PARTS, encoding))
    assert [read(part) for part in encoded[:-1]] == PARTS
