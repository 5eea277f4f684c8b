"""Clients that send tagged requests of all shapes over persistent connections, and record the responses.

If the connection of a client breaks, the client continues with a new request under a new tag. No request is sent twice.
"""

import asyncio
import random
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final, cast

import httptools
from tests.crash.judge import Call
from tests.crash.plans import CHUNK_BYTES, Plan, Shape, plan_of, request_of, tag_of

KEY: Final = "sk-crash-0123456789abcdef"
#: The maximum duration of a request, with or without a crash.
STUCK_SECONDS: Final = 60.0
_REFUSED_PAUSE_SECONDS: Final = 0.05
_UPLOAD_PAUSE_SECONDS: Final = 0.01

#: Shape, size, and the number of response bytes after which the client disconnects (`None`: the client stays).
Choice = tuple[Shape, int, int | None]


class RunningCall(Call, kw_only=True):
    """A call and its progress. Timestamps are from ``time.monotonic``."""

    plan: Plan
    leave_after: int | None = None
    sent_at: float = 0.0
    first_at: float | None = None
    is_open: bool = False

    @property
    def is_mid_stream(self) -> bool:
        """Whether the call is open and its client has received a part of a streamed response."""
        return self.is_open and self.plan.streamed and bool(self.received)


def mixed(rng: random.Random) -> Choice:
    """Choose a request of typical traffic.

    Most requests are streams of 20 to 200 events, and clients abandon some of these streams. The other requests are
    uploads or have small or large responses.
    """
    draw = rng.random()
    if draw < 0.55:
        return "stream", rng.randint(20, 200), rng.randint(1, 20_000) if rng.random() < 0.08 else None
    if draw < 0.85:
        return "whole", rng.randint(100, 4000), None
    if draw < 0.95:
        return "upload", rng.randint(100, 1000), None
    return "large", rng.randint(50_000, 500_000), None


class Load:
    """The clients of one relay. All methods must be called on one event loop."""

    def __init__(self, port: int, clients: int, rng: random.Random, choose: Callable[[random.Random], Choice]) -> None:
        self.port = port
        self.calls: list[RunningCall] = []
        #: Times at which a connection was refused.
        self.refused_at: list[float] = []
        self._clients = clients
        self._rng = rng
        self._choose = choose
        self._prefix = ""
        self._issued = 0
        self._is_sending = False
        self._tasks: list[asyncio.Task[None]] = []

    def start(self, prefix: str) -> None:
        """Start the clients, and forget all earlier calls. The tags of the new calls start with ``prefix``."""
        self.calls = []
        self.refused_at = []
        self._prefix = prefix
        self._issued = 0
        self._is_sending = True
        loop = asyncio.get_running_loop()
        self._tasks = [loop.create_task(self._send_calls()) for _ in range(self._clients)]

    async def finish(self) -> None:
        """Send no more requests, and return when all calls have ended. Raises TimeoutError if a call hangs."""
        self._is_sending = False
        await asyncio.gather(*self._tasks)

    async def abandon(self) -> None:
        """Disconnect all clients. Idempotent."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def open(self) -> list[RunningCall]:
        """The calls that have not ended."""
        return [call for call in self.calls if call.is_open]

    @property
    def mid_stream(self) -> list[RunningCall]:
        """Open calls that have received a part of a streamed response."""
        return [call for call in self.calls if call.is_mid_stream]

    def recovered_after(self, timestamp: float) -> float | None:
        """Return the seconds from a timestamp to the first response to a call that was sent after the timestamp.

        A response counts once its headers are complete. Returns `None` if there is no such response yet.
        """
        first = [call.first_at for call in self.calls if call.sent_at > timestamp and call.first_at is not None]
        return min(first) - timestamp if first else None

    async def _send_calls(self) -> None:
        connection: _Connection | None = None
        try:
            while self._is_sending:
                if connection is None or connection.lost:
                    connection = await self._connect()
                else:
                    await connection.send(self._next_call())
        finally:
            if connection is not None:
                connection.disconnect()

    async def _connect(self) -> "_Connection | None":
        try:
            _, connection = await asyncio.get_running_loop().create_connection(_Connection, "127.0.0.1", self.port)
        except ConnectionRefusedError:
            self.refused_at.append(time.monotonic())
            await asyncio.sleep(_REFUSED_PAUSE_SECONDS)
            return None
        except OSError:
            return None  # reset while connecting, because the listener has just died
        return connection

    def _next_call(self) -> RunningCall:
        self._issued += 1
        shape, size, leave_after = self._choose(self._rng)
        plan = plan_of(tag_of(f"{self._prefix}-{self._issued}", shape, size))
        call = RunningCall(tag=plan.tag, plan=plan, request=request_of(plan), leave_after=leave_after)
        self.calls.append(call)
        return call


class _Connection(asyncio.Protocol):
    """A client's connection, for one call at a time."""

    def __init__(self) -> None:
        self.lost = False
        self._transport: asyncio.Transport | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._call: RunningCall | None = None
        self._finished: asyncio.Future[None] | None = None

    async def send(self, call: RunningCall) -> None:
        """Send the request of a call, and return when the call has succeeded or failed."""
        assert self._transport is not None
        self._finished = asyncio.get_running_loop().create_future()
        self._call = call
        self._parser = httptools.HttpResponseParser(self)
        call.sent_at = time.monotonic()
        call.is_open = True
        before = _head(call)
        for at in range(0, len(call.request), CHUNK_BYTES):
            if self.lost or self._finished.done():
                break
            if at:
                await asyncio.sleep(_UPLOAD_PAUSE_SECONDS)
            with suppress(RuntimeError):  # just closed, so connection_lost follows
                self._transport.write(before + call.request[at : at + CHUNK_BYTES])
            before = b""
        async with asyncio.timeout(STUCK_SECONDS):
            await self._finished

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's transport is not a subclass of Transport

    def data_received(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
            self.disconnect()

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._call is not None and name.lower() == b"service-request-id":
            self._call.request_id = value.decode()

    def on_headers_complete(self) -> None:
        if self._call is not None:
            self._call.first_at = time.monotonic()
            self._call.status = self._parser.get_status_code()

    def on_body(self, data: bytes) -> None:
        call = self._call
        if call is not None:
            call.received += data
            if call.leave_after is not None and len(call.received) >= call.leave_after:
                call.left = True
                self.disconnect()

    def on_message_complete(self) -> None:
        if self._call is not None:
            self._call.complete = not self._call.left
            if not self._parser.should_keep_alive():
                self.disconnect()
            self._end()

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost = True
        self._end()

    def disconnect(self) -> None:
        """Reset the connection."""
        self.lost = True
        if self._transport is not None:
            self._transport.abort()

    def _end(self) -> None:
        call, self._call = self._call, None
        if call is not None:
            call.is_open = False
        if self._finished is not None and not self._finished.done():
            self._finished.set_result(None)


def _head(call: Call) -> bytes:
    lines = (
        "POST /v1/chat/completions HTTP/1.1",
        "Host: 127.0.0.1",
        f"Crash-Tag: {call.tag}",
        f"Service-Namespace: {call.tag}",
        f"Service-Property-Tag: {call.tag}",
        f"Authorization: Bearer {KEY}",
        "Content-Type: application/json",
        f"Content-Length: {len(call.request)}",
    )
    return "\r\n".join((*lines, "", "")).encode()
