"""Backpressure: a slow client delays only its own upstream. A client that disconnects ends its request."""

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from tests.conformance.relay.upstream import Received, Script, UpstreamConnection
from tests.conformance.relay.wire import READ_LIMIT
from tests.conformance.relay.world import World, ask, new_world, whole
from tests.support.server import wait_until

CHAT = b"POST /v1/chat/completions HTTP/1.1"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
BLOCK = b"10000\r\n" + bytes(0x10000) + b"\r\n"
#: The relay's buffers (64 KiB in each direction) plus the kernel's buffers for four sockets.
MAX_IN_TRANSIT = 24 << 20
#: The upstream must notice within this time that a client disconnected.
SOON_S = 1.0
IDLE_S = 0.5


async def wait_for(found: Callable[[], bool]) -> None:
    while not found():
        await asyncio.sleep(0.01)


async def standstill(count: Callable[[], int]) -> int:
    """Wait until the sender is blocked, so that the number of sent bytes no longer grows. Returns that number."""
    readings = [count()]
    while len(readings) < 4 or len(set(readings[-4:])) > 1:
        await asyncio.sleep(0.25)
        readings.append(count())
    return readings[-1]


def endless_into(lines: list[UpstreamConnection]) -> Script:
    """Return a script that adds its connection to the list, then sends bytes until the connection ends."""

    async def endless(line: UpstreamConnection, _: Received) -> None:
        lines.append(line)
        await line.send(CHUNKED)
        with suppress(ConnectionError):
            while not line.ended:
                await line.send(BLOCK)

    return endless


def test_a_client_that_does_not_read_delays_its_upstream_and_nothing_else(world: World) -> None:
    async def work() -> None:
        lines: list[UpstreamConnection] = []
        name = world.script(endless_into(lines))
        loop = asyncio.get_running_loop()
        with socket.socket() as slow:
            slow.setblocking(False)
            await loop.sock_connect(slow, ("127.0.0.1", world.server.port))
            await loop.sock_sendall(slow, ask(name, first=CHAT, body=b"{}"))
            await wait_for(lambda: bool(lines) and lines[0].sent > len(BLOCK))
            sent = await standstill(lambda: lines[0].sent)
            assert sent < MAX_IN_TRANSIT
            async with world.client() as other:
                for _ in range(20):
                    assert (await other.exchange(ask(world.responds(whole(b"quick"))))).body == b"quick"
            assert lines[0].sent == sent
            received = 0
            while received < sent + MAX_IN_TRANSIT:  # the upstream continues once the client reads
                chunk = await loop.sock_recv(slow, READ_LIMIT)
                assert chunk, f"the response ended after {received} bytes"
                received += len(chunk)
        await asyncio.wait_for(lines[0].peer_gone(), SOON_S)
        await lines[0].reset()

    world.run(work())


def test_an_upstream_that_is_delayed_by_its_client_does_not_time_out(tmp_path: Path) -> None:
    """``idle_timeout`` must not apply while the client does not read, because the upstream cannot send then."""

    async def work(world: World) -> None:
        lines: list[UpstreamConnection] = []
        loop = asyncio.get_running_loop()
        with socket.socket() as slow:
            slow.setblocking(False)
            await loop.sock_connect(slow, ("127.0.0.1", world.server.port))
            await loop.sock_sendall(slow, ask(world.script(endless_into(lines)), first=CHAT, body=b"{}"))
            await wait_for(lambda: bool(lines) and lines[0].sent > len(BLOCK))
            await standstill(lambda: lines[0].sent)
            await asyncio.sleep(4 * IDLE_S)
            received, sent = 0, lines[0].sent
            while received < sent + MAX_IN_TRANSIT:
                chunk = await loop.sock_recv(slow, READ_LIMIT)
                assert chunk, f"the response ended after {received} bytes"
                received += len(chunk)
        await asyncio.wait_for(lines[0].peer_gone(), SOON_S)
        await lines[0].reset()

    with new_world(tmp_path, "--idle-timeout", f"{IDLE_S}s") as world:
        world.run(work(world))


def test_an_upstream_that_does_not_read_delays_its_client_and_nothing_else(world: World) -> None:
    async def work() -> None:
        waiting = asyncio.Event()

        async def deaf(line: UpstreamConnection, _: Received) -> None:
            line.writer.transport.pause_reading()  # type: ignore[attr-defined]
            await waiting.wait()
            await line.reset()

        name = world.script(deaf, at_head=True)
        loop = asyncio.get_running_loop()
        with socket.socket() as fast:
            fast.setblocking(False)
            await loop.sock_connect(fast, ("127.0.0.1", world.server.port))
            await loop.sock_sendall(fast, ask(name, b"Transfer-Encoding: chunked", first=CHAT))
            sent = 0

            async def send_on() -> None:
                nonlocal sent
                while sent < MAX_IN_TRANSIT:
                    await loop.sock_sendall(fast, BLOCK)
                    sent += len(BLOCK)

            sending = loop.create_task(send_on())
            await wait_for(lambda: sent > len(BLOCK) or sending.done())
            await standstill(lambda: sent)
            assert len(BLOCK) < sent < MAX_IN_TRANSIT
            assert not sending.done(), "the relay disconnected the client"
            async with world.client() as other:
                for _ in range(20):
                    assert (await other.exchange(ask(world.responds(whole(b"quick"))))).body == b"quick"
            waiting.set()
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)

    world.run(work())


@pytest.mark.parametrize("stage", ["inside the request", "before the first token", "inside the response"])
@pytest.mark.parametrize("manner", ["fin", "rst"])
def test_when_a_client_disconnects_the_upstream_notices_within_a_second(world: World, stage: str, manner: str) -> None:
    async def work() -> bytes:
        started, disconnected = asyncio.Event(), asyncio.Event()

        async def script(line: UpstreamConnection, _: Received) -> None:
            if stage == "inside the response":
                await line.send(CHUNKED, b"3\r\none\r\n")
            started.set()
            await line.peer_gone()
            disconnected.set()

        inside = stage == "inside the request"
        length = b"Content-Length: %d" % (9 if inside else 2)
        name = world.script(script, at_head=inside)
        client = world.client()
        await client.send(ask(name, length, b"Service-Namespace: left-" + name, first=CHAT) + b"{}")
        await started.wait()
        if stage == "inside the response":
            received = b""
            while b"one" not in received:
                received += await client.read()
        await (client.close() if manner == "fin" else client.reset())
        await asyncio.wait_for(disconnected.wait(), SOON_S)
        return name

    name = world.run(work())
    records = wait_until(lambda: world.server.records(f"namespace=left-{name.decode()}"))
    assert [(record["outcome"], record["failed"], record["request_bytes"]) for record in records] == [
        ("client_closed", False, 2)
    ]
    kept = world.server.body(records[0]["id"], "response")
    assert kept == (b"one" if stage == "inside the response" else b"")


def test_no_more_requests_are_read_from_a_client_that_reads_no_responses(world: World) -> None:
    async def work() -> None:
        request_bytes, sent = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" * 1000, 0
        loop = asyncio.get_running_loop()
        with socket.socket() as unread:
            unread.setblocking(False)
            await loop.sock_connect(unread, ("127.0.0.1", world.server.port))
            with suppress(TimeoutError):
                while sent < MAX_IN_TRANSIT:
                    async with asyncio.timeout(2):
                        await loop.sock_sendall(unread, request_bytes)
                    sent += len(request_bytes)
            assert sent < MAX_IN_TRANSIT
        async with world.client() as other:
            await other.send(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" * 5000)
            for _ in range(5000):
                assert (await other.response()).status == 200

    world.run(work())
