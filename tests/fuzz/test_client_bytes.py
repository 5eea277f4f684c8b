"""Fuzz the relay with arbitrary bytes from a client: the relay never fails, and sends only what was requested.

A separate parser (``strict_http``) parses the client's bytes and the bytes that the relay sends. Every request that the
relay sends must be a request of the client, in the client's order, with the same method, target and body. The relay may
reject all other requests.
"""

import random
import re
from collections.abc import Iterator
from typing import Final

from tests.fuzz.fuzzing import chunks, fuzz
from tests.support.hostile.cases import CASES, SLOW_CASES
from tests.support.hostile.more_cases import MORE_CASES
from tests.support.raw_http import CHUNKED, FIRST, HIDDEN, LENGTH, QUESTION, at, framed, request
from tests.support.relay_world import RelayWorld
from tests.support.strict_http import Reading, Request, read_requests

from relaybook.relay.limits import LINGER_BYTES, MAX_HEAD, READ_BYTES

_ORDINARY: Final = request(LENGTH, b"Service-Namespace: a%20b", body=QUESTION)
SEEDS: Final = [
    _ORDINARY * 3,
    request(CHUNKED, body=FIRST + b"5;a=b\r\nhello\r\n0\r\nX: y\r\n\r\n"),
    at(b"/v1/models?key=secret") * 4 + at(b"/healthz") * 4 + at(b"/"),
    request(b"Expect: 100-continue", LENGTH, body=QUESTION) + HIDDEN,
    request(LENGTH, b"Connection: close", first=b"POST /v1/x HTTP/1.0", body=QUESTION),
    at(b"http://127.0.0.1/v1/models", b"HEAD") + at(b"/v1/a%2Fb", b"OPTIONS"),
    framed(LENGTH, b"Upgrade: h2c", b"Connection: Upgrade"),
    *(case.sent for case in [*CASES, *SLOW_CASES, *MORE_CASES] if len(case.sent) < 16 << 10),
]
WORDS: Final = [
    *(b"0" * 5000, b"Content-Length: " + b"0" * 5000),
    *(
        b"\r\n",
        b"\n",
        b"\r",
        b"\r\n\r\n",
        b"\0",
        b" ",
        b"\t",
        b":",
        b",",
        b";",
        b"0\r\n\r\n",
        b"5\r\nhello\r\n",
        b"\xff",
    ),
    *(LENGTH, CHUNKED, b"Content-Length: 0", b"Content-Length: 5", b"Transfer-Encoding: identity", b"Host: 127.0.0.1"),
    *(b"Connection: close", b"Connection: keep-alive", b"Expect: 100-continue", b"Upgrade: websocket", b"X-A: b"),
    *(
        b"HTTP/1.0",
        b"HTTP/1.1",
        b"HTTP/2.0",
        b"TRACE ",
        b"CONNECT ",
        b"HEAD ",
        b"GET /v1/x HTTP/1.1",
        HIDDEN,
        _ORDINARY,
    ),
    *(b"/v1/", b"/../", b"%2e%2e", b"%2F", b"\\", b"?", b"#", b"http://127.0.0.1", b"Service-Namespace: \xe9%0d%0a"),
]
#: Paths that the relay serves itself.
_LOCAL: Final = frozenset({b"/", b"/healthz", b"/readyz"})
#: The relay buffers at most one head, two reads, and the bytes that it discards at the end of a connection.
_MAX_BUFFERED: Final = MAX_HEAD + 2 * READ_BYTES + LINGER_BYTES

#: A response may follow the body of the previous one directly, so a status line does not always begin a line.
_STATUS_LINE: Final = re.compile(rb"HTTP/1\.1 ([0-9]{3}) ")


def is_correct(data: bytes, choices: random.Random) -> None:
    """Send these bytes to a relay, and compare the forwarded requests with the parsed requests."""
    requested = read_requests(data)
    world = RelayWorld().feed(*chunks(choices, data))
    sent = [_only_request(reading) for reading in world.sent]
    expected = iter(_may_be_forwarded(requested))
    for request_sent in sent:
        assert _is_among(request_sent, expected), f"{request_sent} was sent; asked was {requested}"
    assert world.max_buffered <= _MAX_BUFFERED
    assert world.unclosed == [], "an exchange has not exactly one beginning and one end"
    assert len(_responses(world.transport.said)) <= len(requested.requests) + 1


def _only_request(reading: Reading) -> Request:
    """Return the only request on a connection to the upstream. The request is truncated, or no bytes follow it."""
    assert not reading.broken
    assert len(reading.requests) == 1, reading
    assert reading.rest == b"" or not reading.requests[0].complete, reading
    return reading.requests[0]


def _may_be_forwarded(requested: Reading) -> list[Request]:
    return [each for each in requested.requests if _path(each) not in _LOCAL]


def _path(requested: Request) -> bytes:
    return _origin_form(requested.target).partition(b"?")[0]


def _origin_form(target: bytes) -> bytes:
    if target.startswith(b"/"):
        return target
    parts = target.partition(b"://")[2].partition(b"/")
    return parts[1] + parts[2]


def _is_among(sent: Request, expected: Iterator[Request]) -> bool:
    """Return whether the sent request is one of the remaining expected requests."""
    for requested in expected:  # ``expected`` is an iterator, so skipped requests are not examined again
        if (sent.method, sent.target) != (requested.method, _origin_form(requested.target)):
            continue
        if sent.complete:
            return bool(requested.complete and sent.body == requested.body)
        return bool(requested.body.startswith(sent.body))
    return False


def _responses(received: bytes) -> list[bytes]:
    """Return the status codes of final responses. No body in these tests contains a status line."""
    return [status for status in _STATUS_LINE.findall(received) if status != b"100"]


def test_no_bytes_make_the_relay_fail_or_send_what_was_not_requested() -> None:
    fuzz(is_correct, SEEDS, WORDS, 6_000)


def test_ordinary_requests_are_forwarded() -> None:
    """Without this control, a relay that rejects everything would pass the fuzz test."""
    world = RelayWorld().feed(_ORDINARY * 3)
    sent = [_only_request(reading) for reading in world.sent]
    assert [(each.complete, each.body) for each in sent] == [(True, QUESTION)] * 3
    assert _responses(world.transport.said) == [b"200"] * 3
