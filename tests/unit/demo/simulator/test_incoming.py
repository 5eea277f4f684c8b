"""Test that requests are parsed correctly, however their bytes are split."""

import hashlib
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaybook_demo.simulator.incoming import MalformedRequest, Request, RequestReader

CHUNKED = (
    b"POST /v1/echo?a=b%20c HTTP/1.1\r\nHost: x\r\nX-A:  1 \r\nx-a: \xff\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"3\r\nabc\r\n2;ext\r\nde\r\n0\r\nx-trailer: 1\r\n\r\n"
)


def read(*chunks: bytes) -> list[Request]:
    requests: list[Request] = []
    reader = RequestReader(lambda _: None, requests.append)
    for chunk in chunks:
        reader.feed(chunk)
    return requests


@given(st.sets(st.integers(1, 2 * len(CHUNKED) - 1)))
def test_splitting_the_bytes_does_not_matter(positions: set[int]) -> None:
    data = CHUNKED * 2
    edges = [0, *sorted(positions), len(data)]
    requests = read(*(data[start:end] for start, end in itertools.pairwise(edges)))
    assert [request.body for request in requests] == [b"abcde"] * 2
    assert requests[0].headers == [
        (b"Host", b"x"),
        (b"X-A", b"1"),
        (b"x-a", b"\xff"),
        (b"Transfer-Encoding", b"chunked"),
    ]


def test_a_request_has_its_parts() -> None:
    (request,) = read(CHUNKED)
    assert (request.method, request.path, request.query) == ("POST", "/v1/echo", "a=b%20c")
    assert request.header(b"x-a") == b"1"
    assert request.header(b"x-b") is None
    assert request.body_sha256 == hashlib.sha256(b"abcde").hexdigest()
    assert request.keep_alive


@pytest.mark.parametrize(("target", "path"), [(b"http://h/v1/x?y", "/v1/x"), (b"http://h", "/"), (b"/%2F", "/%2F")])
def test_the_target_may_be_absolute(target: bytes, path: str) -> None:
    assert Request(target=target).path == path


def test_the_body_of_an_unknown_path_is_only_hashed() -> None:
    size = 200_000
    (request,) = read(b"PUT /v1/files HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % size, b"x" * size)
    assert request.body_bytes == size
    assert len(request.body) < size
    assert request.body_sha256 == hashlib.sha256(b"x" * size).hexdigest()


@pytest.mark.parametrize(
    "target",
    [
        b"/v1/chat/completions",
        b"http://host/v1/messages?beta=true",
        b"/v1/models/gemini-2.5-flash:generateContent",
        b"/v1beta/models/gemini-2.5-flash:generateContent",
        b"/v1beta/openai/chat/completions",
        b"/api/chat",
    ],
)
def test_the_body_of_a_known_path_is_stored(target: bytes) -> None:
    size = 200_000
    (request,) = read(b"POST %b HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (target, size), b"x" * size)
    assert len(request.body) == size


def test_upgrades_are_ignored() -> None:
    upgrade = b"GET /v1/models HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
    assert [request.path for request in read(upgrade, upgrade)] == ["/v1/models"] * 2


def test_garbage_is_malformed() -> None:
    with pytest.raises(MalformedRequest):
        read(b"\x16\x03\x01 nonsense\r\n\r\n")


def test_http_1_0_closes_unless_keep_alive_is_sent() -> None:
    assert not read(b"GET / HTTP/1.0\r\n\r\n")[0].keep_alive
    assert read(b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")[0].keep_alive
