"""Callers that time whole requests: one blocking, one that sends at given moments whatever the answers do."""

import asyncio
import socket
import time
from typing import Self, cast

from benchmarks.messages import FIVE, REQUEST_BODY


def _whole(data: bytes) -> bool:
    """Whether an answer with a Content-Length is complete."""
    head, mark, body = data.partition(b"\r\n\r\n")
    if not mark:
        return False
    return len(body) >= int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])


class BlockingCaller:
    """One connection, one request at a time."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._request = FIVE.request_head("127.0.0.1") + REQUEST_BODY

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def ask(self) -> float:
        """Microseconds from the request's first byte to the answer's last."""
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
    """Sends requests at even moments, on as many connections as it takes; each is timed from its moment."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._idle: list[_Asking] = []
        self._all: list[_Asking] = []
        self._request = FIVE.request_head("127.0.0.1") + REQUEST_BODY
        #: Of each request: when it was due, when its last byte came (monotonic ns), and the answer.
        self.answers: list[tuple[int, int, bytes]] = []

    async def run(self, per_second: float, seconds: float) -> list[float]:
        """Microseconds from each request's moment to its answer's last byte."""
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
        """An answer is complete."""
        self.answers.append((asking.due_ns, time.monotonic_ns(), answer))
        self._idle.append(asking)

    def lost(self, asking: _Asking) -> None:
        """A connection ended. An idle one may; one that waits for its answer goes on to be waited for."""
        if asking in self._idle:
            self._idle.remove(asking)
            self._all.remove(asking)
