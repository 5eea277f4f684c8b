"""Measure the duration of requests, with a blocking client and with one that sends at fixed times."""

import asyncio
import socket
import time
from typing import Self, cast

from benchmarks.messages import FIVE, REQUEST_BODY


def _whole(data: bytes) -> bool:
    """Return whether a response with a Content-Length is complete."""
    head, mark, body = data.partition(b"\r\n\r\n")
    if not mark:
        return False
    return len(body) >= int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])


class BlockingCaller:
    """A client with one connection and one request at a time."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._request = FIVE.request_head("127.0.0.1") + REQUEST_BODY

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def ask(self) -> float:
        """Return the microseconds from the first byte of the request to the last of the response."""
        began = time.perf_counter_ns()
        self._socket.sendall(self._request)
        data = self._socket.recv(65536)
        while not _whole(data):
            data += self._socket.recv(65536)
        return (time.perf_counter_ns() - began) / 1e3


class _Asking(asyncio.Protocol):
    def __init__(self, done: "PacedCaller") -> None:
        self._done = done
        self.due_ns = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self._data = b""

    def data_received(self, data: bytes) -> None:
        self._data += data
        if _whole(self._data):
            answer, self._data = self._data, b""
            self._done.answered(self, answer)

    def connection_lost(self, exc: Exception | None) -> None:
        self._done.lost(self)


class PacedCaller:
    """Sends requests at a constant rate on as many connections as needed. Each is measured from its scheduled time."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._idle: list[_Asking] = []
        self._all: list[_Asking] = []
        self._request = FIVE.request_head("127.0.0.1") + REQUEST_BODY
        #: For each request: its scheduled time, the time of the last byte (monotonic ns), and the response.
        self.answers: list[tuple[int, int, bytes]] = []

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
            asking = self._idle.pop()
            asking.due_ns = due
            asking.transport.write(self._request)
        until = loop.time() + 5
        while len(self._idle) < len(self._all) and loop.time() < until:
            await asyncio.sleep(0.01)
        for each in self._all:
            each.transport.abort()
        return [(came - due) / 1e3 for due, came, _ in self.answers]

    async def _connect(self) -> None:
        _, asking = await asyncio.get_running_loop().create_connection(lambda: _Asking(self), "127.0.0.1", self._port)
        self._all.append(asking)
        self._idle.append(asking)

    def answered(self, asking: _Asking, answer: bytes) -> None:
        """Store a complete response."""
        self.answers.append((asking.due_ns, time.monotonic_ns(), answer))
        self._idle.append(asking)

    def lost(self, asking: _Asking) -> None:
        """Remove a closed idle connection. A busy one stays, so that ``run`` waits for it until the timeout."""
        if asking in self._idle:
            self._idle.remove(asking)
            self._all.remove(asking)
