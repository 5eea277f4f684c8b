"""Test how a connection handles requests and how it ends, without a socket."""

import asyncio
from collections.abc import Callable

from relaybook_demo.simulator.connection import Connection
from relaybook_demo.simulator.responder import Responder
from relaybook_demo.simulator.settings import SimulatorSettings


class FakeTransport(asyncio.Transport):
    """Records the written bytes, and how the connection ended."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.ended: str | None = None

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += data

    def close(self) -> None:
        self.ended = self.ended or "closed"

    def abort(self) -> None:
        self.ended = self.ended or "aborted"

    def is_closing(self) -> bool:
        return self.ended is not None

    def get_write_buffer_size(self) -> int:
        return 0


def run_connected(test: Callable[[Connection, FakeTransport, Responder], None]) -> None:
    async def main() -> None:
        responder = Responder(SimulatorSettings())
        connection, transport = Connection(responder, set()), FakeTransport()
        connection.connection_made(transport)
        test(connection, transport, responder)
        connection.connection_lost(None)

    asyncio.run(main())


def echo(body: bytes, *lines: bytes) -> bytes:
    head = [b"POST /v1/echo HTTP/1.1", b"Host: x", b"Content-Length: %d" % len(body), *lines]
    return b"\r\n".join([*head, b"", b""]) + body


def events(responder: Responder) -> list[tuple[int, str]]:
    return [(entry.exchange, entry.event) for entry in responder.ledger.entries]


def test_the_first_byte_is_logged_before_the_request_is_parsed() -> None:
    def test(connection: Connection, transport: FakeTransport, responder: Responder) -> None:
        connection.data_received(b"P")
        assert events(responder) == [(1, "first_byte")]
        connection.data_received(echo(b"abc", b"Sim-Tag: t")[1:-1])
        assert events(responder)[1:] == [(1, "head")]
        assert responder.ledger.entries[-1].tag == "t"
        connection.data_received(b"c")
        assert events(responder)[2:] == [(1, "request"), (1, "sent")]
        assert transport.written.endswith(b"\r\n\r\nabc")

    run_connected(test)


def test_responses_to_pipelined_requests_are_in_order() -> None:
    def test(connection: Connection, transport: FakeTransport, responder: Responder) -> None:
        connection.data_received(echo(b"one") + echo(b"two") + b"PO")
        assert transport.written.index(b"one") < transport.written.index(b"two")
        assert events(responder)[-1] == (3, "first_byte")

    run_connected(test)


def test_a_fin_from_the_peer_ends_an_incomplete_request() -> None:
    def test(connection: Connection, transport: FakeTransport, responder: Responder) -> None:
        connection.data_received(echo(b"abc")[:-1])
        connection.eof_received()
        assert events(responder)[-2:] == [(1, "gone"), (1, "sent")]
        assert (responder.ledger.entries[-1].outcome, responder.ledger.entries[-2].how) == ("client_gone", "fin")

    run_connected(test)


def test_a_reset_and_a_fin_are_logged_differently() -> None:
    def test(connection: Connection, transport: FakeTransport, responder: Responder) -> None:
        connection.connection_lost(ConnectionResetError())
        assert (events(responder), responder.ledger.entries[-1].how) == ([(0, "gone")], "rst")

    run_connected(test)


def test_connection_close_closes_the_connection() -> None:
    def test(connection: Connection, transport: FakeTransport, responder: Responder) -> None:
        connection.data_received(echo(b"a", b"Connection: close"))
        assert transport.ended == "closed"
        assert b"Connection: close\r\n" in transport.written

    run_connected(test)


def test_a_malformed_request_gets_400_and_closes_the_connection() -> None:
    def test(connection: Connection, transport: FakeTransport, responder: Responder) -> None:
        connection.data_received(b"no http\r\n\r\n")
        connection.data_received(b"more")
        assert transport.written.startswith(b"HTTP/1.1 400 ")
        assert transport.ended == "closed"
        assert [event for _, event in events(responder)] == ["first_byte", "malformed", "sent"]

    run_connected(test)
