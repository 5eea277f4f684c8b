"""A provider that ends its idle connections just when the next request comes: nothing is ever executed twice.

1,000 requests, or 10,000 in the long form.
"""

import asyncio
import random
import socket
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from struct import pack
from typing import Final, Literal, cast

import httptools
import pytest
from tests.conformance.relay.caller import Caller
from tests.support.long import LONG, new_rng
from tests.support.server import Server, wait_until

REQUESTS: Final = 10_000 if LONG else 1_000
MOST_IDLE_MS: Final = 50
#: How far before or after the end of a connection the next request is aimed.
AIM_MS: Final = 1.5
PATIENCE_SECONDS: Final = 60.0
NUMBER: Final = b"x-number"
REQUEST: Final = b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Number: %d\r\nContent-Length: 2\r\n\r\n{}"
_LINGER_ZERO: Final = pack("ii", 1, 0)
Manner = Literal["fin", "rst"]


@dataclass
class Asked:
    """One request: when it was sent, when its answer came and which."""

    sent_at: float = 0.0
    answered_at: float = 0.0
    status: int = 0


class Provider:
    """Answers each request with its number, and ends the connection so many milliseconds after it."""

    def __init__(self, chance: random.Random) -> None:
        self.executed: Counter[int] = Counter()
        #: Requests that came on a connection after its end.
        self.too_late: Counter[int] = Counter()
        #: When connections were ended: moments at which the system call had returned.
        self.ended_at: list[float] = []
        #: How long the connection of a request's answer stays idle.
        self.idle_ms: dict[int, float] = {}
        self.port = 0
        self._chance = chance
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Connection(self), "127.0.0.1", 0, backlog=512)
        self.port = self._server.sockets[0].getsockname()[1]

    def stop(self) -> None:
        if self._server is not None:
            self._server.close()

    def execute(self, number: int) -> tuple[float, Manner]:
        """After how many milliseconds the connection ends, and how."""
        self.executed[number] += 1
        self.idle_ms[number] = idle_ms = self._chance.choice((0.0, 1.0, self._chance.uniform(0, MOST_IDLE_MS)))
        return idle_ms, self._chance.choice(("fin", "rst"))


class _Connection(asyncio.Protocol):
    """One connection of the relay. Like a real server, it is not ended once a request was read from it."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider
        self._parser = httptools.HttpRequestParser(self)
        self._number = -1
        self._end: asyncio.TimerHandle | None = None
        self._has_ended = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        if self._end is not None:
            self._end.cancel()
        self._parser.feed_data(data)

    def on_header(self, name: bytes, value: bytes) -> None:
        if name.lower() == NUMBER:
            self._number = int(value)

    def on_message_complete(self) -> None:
        if self._has_ended:
            self._provider.too_late[self._number] += 1
            return
        idle_ms, manner = self._provider.execute(self._number)
        body = b"%d" % self._number
        self._transport.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
        loop = asyncio.get_running_loop()
        self._end = loop.call_later(idle_ms / 1000, self._end_it, manner)

    def _end_it(self, manner: Manner) -> None:
        self._has_ended = True
        found: socket.socket = self._transport.get_extra_info("socket")
        with suppress(OSError):  # the relay was first
            if manner == "fin":
                found.shutdown(socket.SHUT_WR)  # and still listens, to hear what comes too late
                self._note_end()
            else:
                found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_ZERO)
                self._transport.abort()
                asyncio.get_running_loop().call_soon(self._note_end)  # after the socket itself was closed

    def _note_end(self) -> None:
        self._provider.ended_at.append(time.monotonic())

    def connection_lost(self, exc: Exception | None) -> None:
        if self._end is not None:
            self._end.cancel()


async def ask_on(
    port: int, numbers: Iterator[int], provider: Provider, chance: random.Random, asked: dict[int, Asked]
) -> None:
    """One caller: asks about when the connection that served it last is ended."""
    async with Caller(port) as caller:
        for number in numbers:
            each = asked[number] = Asked(time.monotonic())
            answer = await caller.exchange(REQUEST % number)
            each.answered_at = time.monotonic()
            each.status = answer.status
            assert answer.body == b"%d" % number or each.status == 502
            aim_ms = provider.idle_ms.get(number, 0.0) + chance.uniform(-AIM_MS, AIM_MS)
            await asyncio.sleep(max(0.0, aim_ms) / 1000)


@pytest.mark.parametrize(("callers", "requests"), [(1, REQUESTS // 8), (8, REQUESTS)])
def test_no_request_is_executed_twice_and_an_end_before_it_costs_nothing(
    tmp_path: Path, callers: int, requests: int
) -> None:
    chance = new_rng()
    provider = Provider(chance)
    asked: dict[int, Asked] = {}
    with asyncio.Runner() as runner:
        runner.run(provider.start())
        with Server(tmp_path, f"http://127.0.0.1:{provider.port}/v1") as server:

            async def ask_all() -> None:
                numbers = iter(range(requests))
                await asyncio.gather(*(ask_on(server.port, numbers, provider, chance, asked) for _ in range(callers)))

            runner.run(ask_all())
            outcomes = recorded(server, requests)
        provider.stop()
    failed = [number for number, each in asked.items() if each.status == 502]
    print(
        f"{len(provider.ended_at)} ends, {len(failed)} requests met one, {len(provider.too_late)} were heard too late"
    )
    assert sorted(asked) == list(range(requests))
    assert {each.status for each in asked.values()} <= {200, 502}
    assert max(provider.executed.values()) == 1
    assert [number for number, each in asked.items() if each.status == 200 and not provider.executed[number]] == []
    assert provider.too_late.keys() <= set(failed)
    assert [number for number in failed if not met_an_end(asked[number], provider.ended_at)] == []
    assert outcomes == Counter(complete=requests - len(failed), upstream_failed=len(failed))


def met_an_end(each: Asked, ended_at: list[float]) -> bool:
    """Whether any connection was ended between a request and its answer."""
    return any(each.sent_at <= timestamp <= each.answered_at for timestamp in ended_at)


def recorded(server: Server, requests: int) -> Counter[str]:
    """How many records of each outcome there are, once there are all."""
    rows = wait_until(lambda: [] if len(rows := server.records()) < requests else rows, PATIENCE_SECONDS, "all records")
    return Counter(row["outcome"] for row in rows)
