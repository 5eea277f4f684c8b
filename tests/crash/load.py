"""Callers that keep asking: tagged requests of all shapes over kept connections, and what each caller got.

A caller whose connection breaks goes on with a new request under a new tag; nothing is ever sent twice.
"""

import asyncio
import random
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final, cast

import httptools
from tests.crash.judge import Call
from tests.crash.plans import PIECE_BYTES, Plan, Shape, plan_of, request_of, tag_of

KEY: Final = "sk-crash-0123456789abcdef"
#: No request here takes longer, crash or not.
STUCK_SECONDS: Final = 60.0
_REFUSED_PAUSE_SECONDS: Final = 0.05
_UPLOAD_PAUSE_SECONDS: Final = 0.01

#: Makes the shape, the size and (or None) the bytes of the answer after which the caller hangs up.
Choice = tuple[Shape, int, int | None]


class Asked(Call, kw_only=True):
    """A call while it runs. Moments are of ``time.monotonic``."""

    plan: Plan
    leave_after: int | None = None
    asked_at: float = 0.0
    first_at: float | None = None
    is_open: bool = False

    @property
    def is_mid_stream(self) -> bool:
        """Whether the caller has a part of a streamed answer."""
        return self.is_open and self.plan.streamed and bool(self.received)


def mixed(chance: random.Random) -> Choice:
    """Everyday traffic: mostly streams of 20 to 200 events, some of them left; small answers, large ones, uploads."""
    draw = chance.random()
    if draw < 0.55:
        return "stream", chance.randint(20, 200), chance.randint(1, 20_000) if chance.random() < 0.08 else None
    if draw < 0.85:
        return "whole", chance.randint(100, 4000), None
    if draw < 0.95:
        return "upload", chance.randint(100, 1000), None
    return "large", chance.randint(50_000, 500_000), None


class Load:
    """So many callers on one relay. All methods on one event loop."""

    def __init__(
        self, port: int, callers: int, chance: random.Random, choose: Callable[[random.Random], Choice]
    ) -> None:
        self.port = port
        self.calls: list[Asked] = []
        #: When a connection was refused.
        self.refused_at: list[float] = []
        self._callers = callers
        self._chance = chance
        self._choose = choose
        self._prefix = ""
        self._issued = 0
        self._issuing = False
        self._tasks: list[asyncio.Task[None]] = []

    def start(self, prefix: str) -> None:
        """Sets the callers going. ``prefix`` begins all tags; calls of before are forgotten."""
        self.calls = []
        self.refused_at = []
        self._prefix = prefix
        self._issued = 0
        self._issuing = True
        loop = asyncio.get_running_loop()
        self._tasks = [loop.create_task(self._call_on()) for _ in range(self._callers)]

    async def finish(self) -> None:
        """Asks nothing more and returns when every call is over. Raises TimeoutError for one that is stuck."""
        self._issuing = False
        await asyncio.gather(*self._tasks)

    async def abandon(self) -> None:
        """Hangs up wherever a call is. Idempotent."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def open(self) -> list[Asked]:
        """Calls that wait for something."""
        return [call for call in self.calls if call.is_open]

    @property
    def mid_stream(self) -> list[Asked]:
        """Open calls that have a part of a streamed answer."""
        return [call for call in self.calls if call.is_mid_stream]

    def recovered_after(self, timestamp: float) -> float | None:
        """Seconds until the first byte of an answer to something asked after a moment; None: none yet."""
        first = [call.first_at for call in self.calls if call.asked_at > timestamp and call.first_at is not None]
        return min(first) - timestamp if first else None

    async def _call_on(self) -> None:
        connection: _Connection | None = None
        try:
            while self._issuing:
                if connection is None or connection.lost:
                    connection = await self._connect()
                else:
                    await connection.ask(self._next_call())
        finally:
            if connection is not None:
                connection.hang_up()

    async def _connect(self) -> "_Connection | None":
        try:
            _, made = await asyncio.get_running_loop().create_connection(_Connection, "127.0.0.1", self.port)
        except ConnectionRefusedError:
            self.refused_at.append(time.monotonic())
            await asyncio.sleep(_REFUSED_PAUSE_SECONDS)
            return None
        except OSError:
            return None  # reset while it was made: the listener has just died
        return made

    def _next_call(self) -> Asked:
        self._issued += 1
        shape, size, leave_after = self._choose(self._chance)
        plan = plan_of(tag_of(f"{self._prefix}-{self._issued}", shape, size))
        call = Asked(tag=plan.tag, plan=plan, request=request_of(plan), leave_after=leave_after)
        self.calls.append(call)
        return call


class _Connection(asyncio.Protocol):
    """A caller's connection, for one call at a time."""

    def __init__(self) -> None:
        self.lost = False
        self._transport: asyncio.Transport | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._call: Asked | None = None
        self._over: asyncio.Future[None] | None = None

    async def ask(self, call: Asked) -> None:
        """Sends the call's request; returns when it is over, in whatever way."""
        assert self._transport is not None
        self._over = asyncio.get_running_loop().create_future()
        self._call = call
        self._parser = httptools.HttpResponseParser(self)
        call.asked_at = time.monotonic()
        call.is_open = True
        before = _head(call)
        for at in range(0, len(call.request), PIECE_BYTES):
            if self.lost or self._over.done():
                break
            if at:
                await asyncio.sleep(_UPLOAD_PAUSE_SECONDS)
            with suppress(RuntimeError):  # closed a moment ago: connection_lost follows
                self._transport.write(before + call.request[at : at + PIECE_BYTES])
            before = b""
        async with asyncio.timeout(STUCK_SECONDS):
            await self._over

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is none by inheritance

    def data_received(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
            self.hang_up()

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
                self.hang_up()

    def on_message_complete(self) -> None:
        if self._call is not None:
            self._call.complete = not self._call.left
            if not self._parser.should_keep_alive():
                self.hang_up()
            self._end()

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost = True
        self._end()

    def hang_up(self) -> None:
        """Resets the connection."""
        self.lost = True
        if self._transport is not None:
            self._transport.abort()

    def _end(self) -> None:
        call, self._call = self._call, None
        if call is not None:
            call.is_open = False
        if self._over is not None and not self._over.done():
            self._over.set_result(None)


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
