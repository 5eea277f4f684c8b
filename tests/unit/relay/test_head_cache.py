"""Test that a head from the head cache equals the parsed head."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.fake_peers import FINGERPRINTS, TAGS

from relaybook.relay.head_cache import HeadCache
from relaybook.relay.request_head import RequestHead, RequestHeadReader
from relaybook.relay.routes import Destination

READER = RequestHeadReader(TAGS.is_tag, FINGERPRINTS)
ROUTE: Any = None
DESTINATION = Destination(ROUTE, TAGS.read(()), b"/v1/x", b"/x", "other")
LINES = (b"Host: here", b"Authorization: Bearer sk-secret-1", b"Service-Namespace: ios", b"X-a: 1")


def raw(length: bytes = b"10", *lines: bytes, name: bytes = b"Content-Length", version: bytes = b"1.1") -> bytes:
    first = b"POST /v1/x HTTP/" + version
    return b"\r\n".join([first, *(lines or LINES), name + b": " + length, b"X-z: 9", b"", b""])


def wire_of(head: RequestHead) -> bytes:
    return b"\r\n".join([b"POST /there HTTP/1.1", *head.lines, b"", b""])


def store(cache: HeadCache, data: bytes) -> None:
    head = READER.read(data)
    cache.store(data, head, DESTINATION, wire_of(head))


def attributes_of(head: RequestHead) -> dict[str, object]:
    """Return all attributes of a head except ``lines``, which a cached head shares with the parsed head."""
    names = [name for name, value in vars(RequestHead).items() if not (name.startswith("_") or callable(value))]
    return {name: getattr(head, name) for name in names}


def cache_of(data: bytes) -> HeadCache:
    cache = HeadCache()
    store(cache, data)
    return cache


@given(st.integers(1, 10**12 - 1), st.binary(max_size=40))
def test_a_cached_head_equals_the_parsed_head(length: int, body: bytes) -> None:
    data = raw(b"%d" % length)
    result = cache_of(raw()).lookup(data + body)
    assert result is not None
    parsed = READER.read(data)
    assert (result.destination, result.end, result.wire) == (DESTINATION, len(data), wire_of(parsed))
    assert attributes_of(result.head) == attributes_of(parsed)


def test_two_cached_heads_do_not_share_their_lengths() -> None:
    cache = cache_of(raw())
    one, two = cache.lookup(raw(b"5")), cache.lookup(raw(b"77"))
    assert one is not None
    assert two is not None
    assert (one.head.length, two.head.length) == (5, 77)


@pytest.mark.parametrize(
    "other",
    [
        raw(b"0"),
        raw(b"05"),
        raw(b"+5"),
        raw(b"5 "),
        raw(b"5,5"),
        raw(b"5\n"),
        raw(b""),
        raw(b"1234567890123"),
        raw(b"\xb2"),
        raw(b"5", *LINES[:-1], b"X-a: 2"),
        raw(b"5", *LINES, b"X-b: 1"),
        raw(b"5", name=b"content-length"),
        raw(b"5", version=b"1.0"),
        raw(b"5").replace(b"X-z: 9", b"X-z: 8"),
        raw(b"5").replace(b"X-z: 9\r\n", b"X-z: 9\r\nTransfer-Encoding: chunked\r\n"),
        raw(b"5")[:-1],
        raw(b"5")[:40],
        b"",
    ],
)
def test_other_heads_are_not_found(other: bytes) -> None:
    assert cache_of(raw()).lookup(other) is None


@pytest.mark.parametrize(
    "unusual",
    [
        raw(b"007"),
        raw(version=b"1.0"),
        raw(b"10", *LINES, b"Connection: close"),
        raw(b"10", *LINES, b"Expect: 100-continue"),
        raw(b"10", *LINES, b"X-big: " + b"x" * 5000),
        b"GET /v1/x HTTP/1.1\r\nHost: here\r\n\r\n",
        b"POST /v1/x HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n",
    ],
)
def test_unusual_heads_are_not_stored(unusual: bytes) -> None:
    assert cache_of(unusual).lookup(unusual) is None


def test_if_heads_always_differ_they_are_stored_less_and_less_often() -> None:
    cache, hits = HeadCache(), 0
    for number in range(500):
        data = raw(b"10", *LINES, b"traceparent: %d" % number)
        assert cache.lookup(data) is None
        store(cache, data)
        hits += cache.lookup(data) is not None
    assert 5 < hits < 20


def test_secrets_are_replaced_in_the_logged_lines_of_a_cached_head() -> None:
    result = cache_of(raw()).lookup(raw(b"5"))
    assert result is not None
    assert b"sk-secret-1" not in result.head.logged
    assert result.head.logged.endswith(b"Content-Length: 5\r\nX-z: 9")
