"""Measure the duration of requests with a blocking client and with a client that sends at fixed times."""

import asyncio
import socket
import time
from typing import Self, cast

from benchmarks.traffic.messages import FIVE, REQUEST_BODY


def _is_complete(data: bytes) -> bool:
    """Return whether a response with a Content-Length is complete."""
    head, separator, body = data.partition(b"\r\n\r\n")
    if not separator:
        return False
    return len(body) >= int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])


class BlockingClient:
    """A client with one connection and one request at a time."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._request = FIVE.request_head("127.0.0.1") + REQUEST_BODY

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def send(self) -> float:
        """Return the microseconds from the first byte of the request to the last byte of the response."""
        started = time.perf_counter_ns()
        self._socket.sendall(self._request)
        data = self._socket.recv(65536)
        while not _is_complete(data):
            data += self._socket.recv(65536)
        return (time.perf_counter_ns() - started) / 1e3


class _Connection(asyncio.Protocol):
    def __init__(self, done: "PacedClient") -> None:
        self._done = done
        self.due_ns = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self._data = b""

    def data_received(self, data: bytes) -> None:
        self._data += data
        if _is_complete(self._data):
            response, self._data = self._data, b""
            self._done.complete(self, response)

    def connection_lost(self, exc: Exception | None) -> None:
        self._done.lost(self)


class PacedClient:
    """Sends requests at a constant rate on as many connections as needed.

    The duration of each request is measured from its scheduled time.
    """

    def __init__(self, port: int) -> None:
        self._port = port
        self._idle: list[_Connection] = []
        self._all: list[_Connection] = []
        self._request = FIVE.request_head("127.0.0.1") + REQUEST_BODY
        #: For each request: its scheduled time, the time of the last byte (monotonic ns), and the response.
        self.responses: list[tuple[int, int, bytes]] = []

    async def run(self, per_second: float, seconds: float) -> list[float]:
        """Return the microseconds from each request's scheduled time to the last byte of its response."""
        loop = asyncio.get_running_loop()
        for _ in range(4):
            await self._connect()
        start = time.monotonic_ns() + 10_000_000
        for number in range(int(per_second * seconds)):
            due = start + int(number / per_second * 1e9)
            await asyncio.sleep(max(0, due - time.monotonic_ns() - 200_000) / 1e9)
            while time.monotonic_ns() < due:
                await asyncio.sleep(0)
            if not self._idle:
                await self._connect()
            connection = self._idle.pop()
            connection.due_ns = due
            connection.transport.write(self._request)
        until = loop.time() + 5
        while len(self._idle) < len(self._all) and loop.time() < until:
            await asyncio.sleep(0.01)
        for each in self._all:
            each.transport.abort()
        return [(came - due) / 1e3 for due, came, _ in self.responses]

    async def _connect(self) -> None:
        _, connection = await asyncio.get_running_loop().create_connection(
            lambda: _Connection(self), "127.0.0.1", self._port
        )
        self._all.append(connection)
        self._idle.append(connection)

    def complete(self, connection: _Connection, response: bytes) -> None:
        """Store a complete response."""
        self.responses.append((connection.due_ns, time.monotonic_ns(), response))
        self._idle.append(connection)

    def lost(self, connection: _Connection) -> None:
        """Remove a closed idle connection.

        A busy connection is kept, so that ``run`` waits for its response until the timeout.
        """
        if connection in self._idle:
            self._idle.remove(connection)
            self._all.remove(connection)
