"""Test that the end of a message body is found, however the bytes are split."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relaybook.relay.framing import ChunkedBody, FramingError, LengthBody, NoBody, UntilClose


def split_at(data: bytes, sizes: list[int]) -> list[bytes]:
    out, at = [], 0
    for size in sizes:
        out.append(data[at : at + size])
        at += size
    return [chunk for chunk in [*out, data[at:]] if chunk]


def chunked(parts: list[bytes], extension: bytes = b"", trailers: bytes = b"") -> bytes:
    body = b"".join(b"%x%b\r\n%b\r\n" % (len(part), extension, part) for part in parts if part)
    return body + b"0\r\n" + trailers + b"\r\n"


@given(st.binary(max_size=300), st.binary(max_size=30), st.lists(st.integers(1, 50)))
def test_a_body_with_a_length_ends_after_that_many_bytes(body: bytes, after: bytes, sizes: list[int]) -> None:
    reader = LengthBody(len(body))
    got, surplus = b"", b""
    for chunk in split_at(body + after, sizes):
        if reader.complete:
            surplus += chunk
            continue
        got += reader.feed(chunk)
        surplus += reader.surplus
    assert (got, reader.complete) == (body, True)
    assert surplus == after


@given(st.lists(st.binary(max_size=100), max_size=6), st.lists(st.integers(1, 9)))
@settings(max_examples=300)
def test_chunks_are_decoded_however_they_are_split(parts: list[bytes], sizes: list[int]) -> None:
    wire = chunked(parts)
    reader = ChunkedBody()
    got = b""
    for chunk in split_at(wire, sizes):
        assert not reader.complete
        got += reader.feed(chunk)
    assert (got, reader.complete, reader.surplus) == (b"".join(parts), True, b"")


@given(st.lists(st.binary(max_size=50), max_size=3), st.integers(0, 200))
def test_a_truncated_chunked_body_is_never_complete(parts: list[bytes], cut: int) -> None:
    wire = chunked(parts)
    reader = ChunkedBody()
    if cut < len(wire):
        reader.feed(wire[:cut])
        assert not reader.complete


@pytest.mark.parametrize("after", [b"x", b"HTTP/1.1 200 OK\r\n\r\n", b"\r\n\r\nGET"])
def test_bytes_after_the_last_chunk_are_surplus(after: bytes) -> None:
    reader = ChunkedBody()
    assert reader.feed(chunked([b"hello"]) + after) == b"hello"
    assert reader.complete
    assert reader.surplus


@pytest.mark.parametrize(
    "wire",
    [
        b"x\r\n",
        b"5\nhello\r\n0\r\n\r\n",
        b"5\r\nhelloXX0\r\n\r\n",
        b"-5\r\nhello\r\n",
        b"0x5\r\nhello\r\n",
        b"5 \r\nhello\r\n0\r\n\r\n",
        b"ffffffffffffffffff\r\n",
        b"5;a\rb\r\nhello\r\n0\r\n\r\n",
    ],
)
def test_a_malformed_chunk_is_rejected(wire: bytes) -> None:
    with pytest.raises(FramingError):
        ChunkedBody().feed(wire)


def test_valid_bytes_before_a_malformed_chunk_are_kept() -> None:
    with pytest.raises(FramingError) as caught:
        ChunkedBody().feed(b"5\r\nshort\r\nno chunk")
    assert caught.value.chunk == b"short"


def test_a_second_message_after_the_body_is_surplus() -> None:
    reader = ChunkedBody()
    evil = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
    assert reader.feed(chunked([b"good"]) + evil) == b"good"
    assert reader.complete
    assert reader.surplus


def test_trailers_and_extensions_are_dropped() -> None:
    reader = ChunkedBody()
    assert reader.feed(chunked([b"a", b"b"], b";x=y", b"X-Sum: 1\r\n")) == b"ab"
    assert reader.complete


def feed_all(reader: ChunkedBody, *wires: bytes) -> None:
    for wire in wires:
        reader.feed(wire)


def test_endless_trailers_are_rejected() -> None:
    trailers = [b"A: " + b"b" * 1000 + b"\r\n"] * 20
    with pytest.raises(FramingError, match="trailers"):
        feed_all(ChunkedBody(), b"1\r\nx\r\n0\r\n", *trailers)


def test_too_many_chunk_extensions_are_rejected() -> None:
    with pytest.raises(FramingError, match="extensions"):
        feed_all(ChunkedBody(), *[b"1;" + b"e" * 1000 + b"\r\nx\r\n"] * 100)


def test_many_small_chunks_are_accepted() -> None:
    reader = ChunkedBody()
    for _ in range(50_000):
        reader.feed(b"1\r\nx\r\n")
    reader.feed(b"0\r\n\r\n")
    assert reader.complete


def test_without_a_body_everything_is_surplus() -> None:
    reader = NoBody()
    assert reader.complete
    assert reader.feed(b"x") == b""
    assert reader.surplus == b"x"


def test_until_close_never_completes_by_itself() -> None:
    reader = UntilClose()
    assert reader.feed(b"x") == b"x"
    assert not reader.complete
