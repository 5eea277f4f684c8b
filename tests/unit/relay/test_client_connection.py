"""Test how a client's connection measures slow uploads, and when it counts a response as sent."""

import fcntl
import socket
import sys
import termios
from collections.abc import Iterator
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest
from tests.support.needs import PREFIX
from tests.support.server import wait_until

from relaybook.relay.client_connection import ClientConnection
from relaybook.relay.exchange import RequestState
from relaybook.relay.framing import LengthBody
from relaybook.settings.definitions import Settings


class FakeTransport:
    """A transport whose peer may be gone before the event loop says so."""

    def __init__(self, own_socket: socket.socket | None = None) -> None:
        self.closing = False
        self.is_aborted = False
        self.own_socket = own_socket

    def get_extra_info(self, name: str) -> socket.socket | None:
        return self.own_socket if name == "socket" else None

    def set_write_buffer_limits(self, high: int, low: int) -> None: ...

    def get_write_buffer_size(self) -> int:
        return 0

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    def abort(self) -> None:
        self.is_aborted = True

    def is_closing(self) -> bool:
        return self.closing


class FakeExchange:
    """An exchange that records how it ends."""

    def __init__(self) -> None:
        self.request_state = RequestState.READING
        self.ended: list[str] = []

    def response_sent(self) -> None:
        self.ended.append("sent")

    def client_ready(self, is_ready: bool) -> None: ...

    def client_gone(self) -> None:
        self.ended.append("client gone")

    def refuse(self, error: object, message: str) -> None:
        self.ended.append(message)


@pytest.fixture
def relay() -> Any:
    return SimpleNamespace(settings=Settings(), now=0.0, connections=set(), draining=False, retiring=False)


@pytest.fixture
def client(relay: Any) -> Any:
    connection: Any = ClientConnection(relay)
    connection.connection_made(FakeTransport())
    connection.exchange = FakeExchange()
    return connection


@pytest.fixture
def full_connection() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Yield both ends of a TCP connection. The kernel accepts no more bytes from the first end."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as reader:
        writer, _ = server.accept()
        with writer:
            writer.setblocking(False)
            with suppress(BlockingIOError):
                while True:
                    writer.send(bytes(1 << 20))
            yield writer, reader


def test_a_response_whose_last_write_failed_is_not_sent(client: Any) -> None:
    exchange = client.exchange
    client.transport.closing = True
    client.response_sent(b"")
    client.connection_lost(None)
    assert exchange.ended == ["client gone"]


def test_a_broken_response_of_a_client_that_has_just_left_is_dropped(client: Any) -> None:
    """An exception here would end the relay."""
    with socket.socket() as closed:
        client.transport.own_socket = closed
    client.reset_on_cut = True
    client.connection_lost(None)
    client.cut(b"")
    assert (client.transport.is_aborted, client.bytes_in_kernel()) == (False, 0)


def test_a_client_does_not_time_out_while_the_upstream_does_not_read(client: Any, relay: Any) -> None:
    exchange, seconds = client.exchange, relay.settings.body_timeout
    client.body, client.body_bytes = LengthBody(1 << 20), 300 * 1024
    client.deadline = seconds
    client.set_reading(False)
    for now in range(1000):
        client.sweep(float(now))
    client.set_reading(True)
    client.sweep(1000.0)
    assert exchange.ended == []
    client.sweep(1000.0 + seconds)
    assert len(exchange.ended) == 1


def test_a_client_that_becomes_slow_after_a_pause_is_disconnected(client: Any, relay: Any) -> None:
    exchange, seconds = client.exchange, relay.settings.body_timeout
    client.body, client.body_bytes = LengthBody(1 << 30), 100 << 20
    client.set_reading(False)
    client.sweep(0.0)
    client.set_reading(True)
    for now in range(1, 200):
        client.body_bytes += 1
        client.deadline = now + seconds  # bytes arrive every second
        client.sweep(float(now))
    assert len(exchange.ended) > 0


def unconfirmed(writer: socket.socket) -> int:
    """Return the number of sent bytes that the remote end has not confirmed."""
    return int.from_bytes(fcntl.ioctl(writer, termios.TIOCOUTQ, bytes(4)), sys.byteorder)


@pytest.mark.skipif(sys.platform != "linux", reason=f"{PREFIX}TIOCOUTQ")
def test_a_client_that_reads_slowly_is_not_disconnected(
    client: Any, relay: Any, full_connection: tuple[socket.socket, socket.socket]
) -> None:
    """The kernel takes bytes from the write buffer only when much of its own buffer is free."""
    writer, reader = full_connection
    transport, seconds = client.transport, relay.settings.write_timeout
    transport.own_socket = writer
    client.pause_writing()
    client.sweep(0.0)
    for number in range(1, 4):
        before = unconfirmed(writer)
        reader.recv(1 << 20)
        wait_until(lambda before=before: unconfirmed(writer) < before)  # type: ignore[misc]
        client.sweep(number * (seconds - 1))
        assert not transport.is_aborted
    client.sweep(4 * seconds)
    assert transport.is_aborted


def cut_close_delimited(client: Any, *, write_paused: bool) -> None:
    """Cut a response that ends with its connection, while written bytes wait or not."""
    client.write_paused = write_paused
    client.reset_on_cut = True
    client.cut(b"")


def test_a_cut_response_without_a_length_is_reset_at_once_if_all_bytes_are_sent(client: Any) -> None:
    cut_close_delimited(client, write_paused=False)
    assert client.transport.is_aborted


def test_a_cut_response_without_a_length_is_reset_after_its_bytes_are_sent(client: Any, relay: Any) -> None:
    cut_close_delimited(client, write_paused=True)
    client.drain()
    client.sweep(relay.now)
    assert not client.transport.is_aborted
    client.resume_writing()
    client.sweep(relay.now)
    assert client.transport.is_aborted


@pytest.mark.parametrize("end", ["sweep", "close"])
def test_a_cut_response_without_a_length_never_ends_cleanly(client: Any, relay: Any, end: str) -> None:
    """Not even if the client does not receive its bytes in time, or if the relay stops."""
    cut_close_delimited(client, write_paused=True)
    if end == "sweep":
        client.sweep(relay.now + relay.settings.write_timeout + 1)
    else:
        client.close()
    assert client.transport.is_aborted
