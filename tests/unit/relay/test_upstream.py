"""Test how an upstream connection ends."""

import ssl
from types import SimpleNamespace
from typing import Any

from tests.support.fake_peers import FINGERPRINTS, World

from relaybook.relay.response_head import ResponseHeadReader
from relaybook.relay.upstream import UpstreamConnection


class FakeTls:
    """A TLS buffer with the last bytes of a response."""

    def __init__(self, rest: bytes) -> None:
        self.rest = rest

    def read(self, size: int) -> bytes:
        if not self.rest:
            raise ssl.SSLWantReadError
        rest, self.rest = self.rest, b""
        return rest


def test_a_response_in_the_tls_buffer_is_complete_although_the_connection_is_reset() -> None:
    world: Any = World(connected=False).request()
    world.response_heads = ResponseHeadReader(["Service"], FINGERPRINTS)
    connection = UpstreamConnection(world, world.route.pool)
    tls = FakeTls(b"rest")
    transport: Any = SimpleNamespace(get_extra_info={"ssl_object": tls}.get, write=lambda data: None)
    connection.transport = transport
    connection.assign(world.exchange)
    connection.received(b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf")
    connection.connection_lost(ConnectionResetError())
    assert world.client.sent.endswith(b"\r\n\r\nhalfrest")
    assert world.client.calls == ["handed over"]
