"""If an upstream closes idle connections just when the next request arrives, no request is executed twice.

The test sends 1,000 requests, or 10,000 in the long form. With a single client it sends an eighth of them.
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
from tests.conformance.relay.client import RawClient
from tests.support.long import LONG, new_rng
from tests.support.server import Server, wait_until

REQUESTS: Final = 10_000 if LONG else 1_000
MAX_IDLE_MS: Final = 50
#: The maximum time between the end of a connection and the next request, before or after that end.
AIM_MS: Final = 1.5
TIMEOUT_SECONDS: Final = 60.0
NUMBER: Final = b"x-number"
REQUEST: Final = b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Number: %d\r\nContent-Length: 2\r\n\r\n{}"
_LINGER_ZERO: Final = pack("ii", 1, 0)
Manner = Literal["fin", "rst"]


@dataclass
class Sent:
    """The times of one request and of its response, and the status of the response."""

    sent_at: float = 0.0
    responded_at: float = 0.0
    status: int = 0


class Upstream:
    """Responds to each request with its number, and closes the connection after a random time."""

    def __init__(self, rng: random.Random) -> None:
        self.executed: Counter[int] = Counter()
        #: Requests that were received on a connection after its end.
        self.too_late: Counter[int] = Counter()
        #: The times at which connections were closed, each taken after the system call had returned.
        self.ended_at: list[float] = []
        #: How long the connection stays idle after a response, by number of the request.
        self.idle_ms: dict[int, float] = {}
        self.port = 0
        self._chance = rng
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Connection(self), "127.0.0.1", 0, backlog=512)
        self.port = self._server.sockets[0].getsockname()[1]

    def stop(self) -> None:
        if self._server is not None:
            self._server.close()

    def execute(self, number: int) -> tuple[float, Manner]:
        """Execute a request. Returns the milliseconds until the connection is closed, and how it is closed."""
        self.executed[number] += 1
        self.idle_ms[number] = idle_ms = self._chance.choice((0.0, 1.0, self._chance.uniform(0, MAX_IDLE_MS)))
        return idle_ms, self._chance.choice(("fin", "rst"))


class _Connection(asyncio.Protocol):
    """One connection from the relay.

    As in a real server, the next request cancels the planned end of the connection.
    """

    def __init__(self, upstream: Upstream) -> None:
        self._provider = upstream
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
        with suppress(OSError):  # the relay has already closed the connection
            if manner == "fin":
                found.shutdown(socket.SHUT_WR)  # reading continues, to detect requests that come too late
                self._note_end()
            else:
                found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_ZERO)
                self._transport.abort()
                asyncio.get_running_loop().call_soon(self._note_end)  # called after the socket was closed

    def _note_end(self) -> None:
        self._provider.ended_at.append(time.monotonic())

    def connection_lost(self, exc: Exception | None) -> None:
        if self._end is not None:
            self._end.cancel()


async def send_on(
    port: int, numbers: Iterator[int], upstream: Upstream, rng: random.Random, sent: dict[int, Sent]
) -> None:
    """Run one client. It sends each request about when the connection of its previous request is closed."""
    async with RawClient(port) as client:
        for number in numbers:
            request = sent[number] = Sent(time.monotonic())
            response = await client.exchange(REQUEST % number)
            request.responded_at = time.monotonic()
            request.status = response.status
            assert response.body == b"%d" % number or request.status == 502
            aim_ms = upstream.idle_ms.get(number, 0.0) + rng.uniform(-AIM_MS, AIM_MS)
            await asyncio.sleep(max(0.0, aim_ms) / 1000)


@pytest.mark.parametrize(("clients", "requests"), [(1, REQUESTS // 8), (8, REQUESTS)])
def test_no_request_is_executed_twice_and_an_end_before_it_has_no_effect(
    tmp_path: Path, clients: int, requests: int
) -> None:
    rng = new_rng()
    upstream = Upstream(rng)
    sent: dict[int, Sent] = {}
    with asyncio.Runner() as runner:
        runner.run(upstream.start())
        with Server(tmp_path, f"http://127.0.0.1:{upstream.port}/v1") as server:

            async def ask_all() -> None:
                numbers = iter(range(requests))
                await asyncio.gather(*(send_on(server.port, numbers, upstream, rng, sent) for _ in range(clients)))

            runner.run(ask_all())
            outcomes = recorded(server, requests)
        upstream.stop()
    failed = [number for number, request in sent.items() if request.status == 502]
    print(
        f"{len(upstream.ended_at)} ends, {len(failed)} requests met one, {len(upstream.too_late)} were heard too late"
    )
    assert sorted(sent) == list(range(requests))
    assert {request.status for request in sent.values()} <= {200, 502}
    assert max(upstream.executed.values()) == 1
    assert [number for number, request in sent.items() if request.status == 200 and not upstream.executed[number]] == []
    assert upstream.too_late.keys() <= set(failed)
    assert [number for number in failed if not met_an_end(sent[number], upstream.ended_at)] == []
    assert outcomes == Counter(complete=requests - len(failed), upstream_failed=len(failed))


def met_an_end(request: Sent, ended_at: list[float]) -> bool:
    """Return whether any connection was closed between a request and its response."""
    return any(request.sent_at <= timestamp <= request.responded_at for timestamp in ended_at)


def recorded(server: Server, requests: int) -> Counter[str]:
    """Wait until all requests are recorded, and return the number of records with each outcome."""
    rows = wait_until(lambda: [] if len(rows := server.records()) < requests else rows, TIMEOUT_SECONDS, "all records")
    return Counter(row["outcome"] for row in rows)
