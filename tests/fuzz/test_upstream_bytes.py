"""Fuzz the relay with arbitrary bytes from an upstream: the relay never fails, and never misleads the client.

A separate parser (``strict_response``) parses the upstream's bytes and the bytes that the client receives. The client
gets one well-formed response, which is the upstream's response or an error from the relay. The upstream's response
never becomes longer, and ends cleanly for the client only if the upstream ended it cleanly.
"""

import asyncio
import random
from typing import Any, Final, cast

from tests.fuzz.fuzzing import chunks, fuzz
from tests.fuzz.strict_response import StrictResponse, read_response
from tests.support.raw_http import LENGTH, QUESTION, at, request
from tests.support.relay_world import RelayWorld, Transport

from relaybook.relay.exchange import Exchange
from relaybook.relay.limits import MAX_HEADERS_BYTES, READ_BYTES
from relaybook.relay.pool import Pool
from relaybook.relay.upstream import UpstreamConnection

_OK: Final = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
_STREAM: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
_EVENT: Final = b'e\r\ndata: {"a":1}\n\r\n1\r\n\n\r\n'
SEEDS: Final = [
    _OK + b"Content-Length: 5\r\n\r\nhello",
    _OK + b"Content-Length: 5\r\nConnection: close, X-Own\r\nX-Own: 1\r\nSet-Cookie: a=b\r\n\r\nhello",
    _OK + b"Transfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nX-Trailer: 1\r\n\r\n",
    _OK + b"\r\nuntil the end",
    _STREAM + _EVENT * 3 + b"0\r\n\r\n",
    _STREAM + _EVENT + b"7\r\ndata: {",
    b"HTTP/1.1 100 Continue\r\n\r\n" * 3
    + b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
    + _OK
    + b"Content-Length: 0\r\n\r\n",
    b"HTTP/1.1 204 No Content\r\n\r\n" + _OK + b"Content-Length: 7\r\n\r\nsurplus",
    b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n",
    b"HTTP/1.0 200 OK\r\n\r\nold",
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\nframes",
    b"HTTP/1.1 302 Found\r\nLocation: http://evil.example/\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 429 \r\nRetry-After: 1\r\nContent-Length: 2\r\n\r\n{}",
    b"HTTP/1.1 200 OK\r\nService-Request-Id: forged\r\nService-Error: forged\r\nContent-Length: 2\r\n\r\n{}",
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
        b":",
        b",",
        b";",
        b"0\r\n\r\n",
        b"5\r\nhello\r\n",
        b"\xff",
        _EVENT,
    ),
    *(b"Content-Length: 5", b"Content-Length: 0", b"Transfer-Encoding: chunked", b"Transfer-Encoding: gzip, chunked"),
    *(b"Connection: close", b"Connection: Content-Length, Transfer-Encoding, Content-Type", b"Trailer: x", b"X-A: b"),
    *(b"HTTP/1.0", b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 204 ", b"HTTP/1.1 999 ", b"Keep-Alive: timeout=99999"),
    *(_OK, b"X-Long: " + b"a" * 40_000, b"Set-Cookie: a=1", b"Content-Encoding: gzip", b"x\r\n" * 120),
]
#: The relay buffers at most an incomplete head, a read after the head, and bytes in transit to the client.
_MAX_BUFFERED: Final = MAX_HEADERS_BYTES + 3 * READ_BYTES


class _World(RelayWorld):
    """A relay with an upstream socket. The test sends bytes as the upstream."""

    def dial(self, pool: Pool, exchange: Exchange) -> None:
        socket = Transport(self.loop)
        socket.protocol = self.upstream = UpstreamConnection(cast(Any, self), pool)
        self.provider_socket = socket
        self.upstream.connection_made(cast(asyncio.Transport, socket))
        self.upstream.assign(exchange)

    def respond(self, *reads: bytes, reset: bool) -> None:
        """Send these bytes as the upstream, then close or reset the upstream's connection."""
        for read in reads:
            for start in range(0, len(read), READ_BYTES):
                if not self.provider_socket.closed:
                    self.upstream.received(read[start : start + READ_BYTES])
                    self.max_buffered = max(self.max_buffered, len(self.upstream.partial) + self.client.queued_bytes)
                    self.turn()
        if not self.upstream.lost:
            self.upstream.connection_lost(ConnectionResetError() if reset else None)
        self.turn()


def is_correct(data: bytes, choices: random.Random) -> None:
    """Let an upstream respond with these bytes, and compare them with the response that the client receives."""
    method = choices.choice((b"POST", b"POST", b"HEAD"))
    world = _World()
    world.receive(request(LENGTH, body=QUESTION) if method == b"POST" else at(b"/v1/models", b"HEAD"))
    reset = choices.random() < 0.3
    world.respond(*chunks(choices, data), reset=reset)
    sent = read_response(data, method)
    received = read_response(world.transport.said, method)
    _is_well_formed(received, world.transport.closed)
    if received.all(b"service-error"):
        assert received.status in (502, 504)
        assert b"forged" not in world.transport.said
    else:
        _is_the_upstreams(received, sent, is_clean_end=not reset)
    world.feed()
    assert world.max_buffered <= _MAX_BUFFERED
    assert world.unclosed == [], "an exchange has not exactly one beginning and one end"


def _is_well_formed(received: StrictResponse, closed: bool) -> None:
    assert not received.broken, received
    assert received.status >= 200, "the caller was left without an answer"
    assert received.rest == b"", "something follows the answer"
    assert len(received.all(b"service-request-id")) == 1
    assert received.complete or closed, "an answer that is cut short must end with its connection"


def _is_the_upstreams(received: StrictResponse, sent: StrictResponse, *, is_clean_end: bool) -> None:
    """Assert that the client received the upstream's response or the beginning of that response."""
    assert (received.status, received.reason) == (sent.status, sent.reason)
    assert sent.body.startswith(received.body)
    if received.complete:
        assert (sent.complete and not sent.broken) or (sent.endless and is_clean_end)
        assert received.body == sent.body


def test_no_response_makes_the_relay_fail_or_mislead_the_client() -> None:
    fuzz(is_correct, SEEDS, WORDS, 6_000)


def test_an_intact_response_is_forwarded() -> None:
    """Without this control, a relay that answers every request with an error would pass the fuzz test."""
    for data, body in ((SEEDS[0], b"hello"), (_STREAM + _EVENT * 3 + b"0\r\n\r\n", b'data: {"a":1}\n\n' * 3)):
        world = _World()
        world.receive(request(LENGTH, body=QUESTION))
        world.respond(data, reset=False)
        received = read_response(world.transport.said)
        assert (received.status, received.body, received.complete) == (200, body, True)
        assert received.all(b"service-error") == []
