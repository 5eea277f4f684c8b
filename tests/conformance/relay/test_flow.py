"""Who waits for whom: a slow caller holds up its own provider alone, and a caller that leaves ends the request."""

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from tests.conformance.relay.provider import Line, Script, Seen
from tests.conformance.relay.wire import READ_LIMIT
from tests.conformance.relay.world import World, a_world, ask, whole
from tests.support.server import wait_until

CHAT = b"POST /v1/chat/completions HTTP/1.1"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
BLOCK = b"10000\r\n" + bytes(0x10000) + b"\r\n"
#: What the relay holds (64 KiB each way) and what the kernel takes for four sockets on the way.
MOST_ON_THE_WAY = 24 << 20
#: The provider of a caller that leaves must know by then.
SOON_S = 1.0
IDLE_S = 0.5


async def until(found: Callable[[], bool]) -> None:
    while not found():
        await asyncio.sleep(0.01)


async def standstill(count: Callable[[], int]) -> int:
    """What was sent once no more is: the sender is held up."""
    sent = -1
    while sent != count():
        sent = count()
        await asyncio.sleep(0.25)
    return sent


def endless_on(lines: list[Line]) -> Script:
    """An answer that goes on until its connection ends, which is put into the list."""

    async def endless(line: Line, _: Seen) -> None:
        lines.append(line)
        await line.send(CHUNKED)
        with suppress(ConnectionError):
            while not line.ended:
                await line.send(BLOCK)

    return endless


def test_a_caller_that_does_not_read_holds_up_its_provider_and_nobody_else(world: World) -> None:
    async def work() -> None:
        lines: list[Line] = []
        name = world.script(endless_on(lines))
        loop = asyncio.get_running_loop()
        with socket.socket() as slow:
            slow.setblocking(False)
            await loop.sock_connect(slow, ("127.0.0.1", world.server.port))
            await loop.sock_sendall(slow, ask(name, first=CHAT, body=b"{}"))
            await until(lambda: bool(lines) and lines[0].sent > len(BLOCK))
            sent = await standstill(lambda: lines[0].sent)
            assert sent < MOST_ON_THE_WAY
            async with world.caller() as other:
                for _ in range(20):
                    assert (await other.exchange(ask(world.answers(whole(b"quick"))))).body == b"quick"
            assert lines[0].sent == sent
            got = 0
            while got < sent + MOST_ON_THE_WAY:  # what was held up goes on once it is read
                got += len(await loop.sock_recv(slow, READ_LIMIT))
        await asyncio.wait_for(lines[0].peer_gone(), SOON_S)
        await lines[0].reset()

    world.run(work())


def test_a_provider_that_is_held_up_is_not_taken_for_a_silent_one(tmp_path: Path) -> None:
    """``idle_timeout`` is about providers: what a caller does not take, its provider cannot send."""

    async def work(world: World) -> None:
        lines: list[Line] = []
        loop = asyncio.get_running_loop()
        with socket.socket() as slow:
            slow.setblocking(False)
            await loop.sock_connect(slow, ("127.0.0.1", world.server.port))
            await loop.sock_sendall(slow, ask(world.script(endless_on(lines)), first=CHAT, body=b"{}"))
            await until(lambda: bool(lines) and lines[0].sent > len(BLOCK))
            await standstill(lambda: lines[0].sent)
            await asyncio.sleep(4 * IDLE_S)
            got, sent = 0, lines[0].sent
            while got < sent + MOST_ON_THE_WAY:
                piece = await loop.sock_recv(slow, READ_LIMIT)
                assert piece, f"the answer ended after {got} bytes"
                got += len(piece)
        await asyncio.wait_for(lines[0].peer_gone(), SOON_S)
        await lines[0].reset()

    with a_world(tmp_path, "--idle-timeout", f"{IDLE_S}s") as world:
        world.run(work(world))


def test_a_provider_that_does_not_read_holds_up_its_caller_and_nobody_else(world: World) -> None:
    async def work() -> None:
        waiting = asyncio.Event()

        async def deaf(line: Line, _: Seen) -> None:
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
                while sent < MOST_ON_THE_WAY:
                    await loop.sock_sendall(fast, BLOCK)
                    sent += len(BLOCK)

            sending = loop.create_task(send_on())
            await standstill(lambda: sent)
            assert sent < MOST_ON_THE_WAY
            async with world.caller() as other:
                for _ in range(20):
                    assert (await other.exchange(ask(world.answers(whole(b"quick"))))).body == b"quick"
            waiting.set()
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)

    world.run(work())


@pytest.mark.parametrize("timestamp", ["inside the request", "before the first token", "inside the answer"])
@pytest.mark.parametrize("manner", ["fin", "rst"])
def test_when_a_caller_leaves_the_provider_knows_within_a_second(world: World, timestamp: str, manner: str) -> None:
    async def work() -> bytes:
        begun, gone = asyncio.Event(), asyncio.Event()

        async def script(line: Line, _: Seen) -> None:
            if timestamp == "inside the answer":
                await line.send(CHUNKED, b"3\r\none\r\n")
            begun.set()
            await line.peer_gone()
            gone.set()

        inside = timestamp == "inside the request"
        length = b"Content-Length: %d" % (9 if inside else 2)
        name = world.script(script, at_head=inside)
        caller = world.caller()
        await caller.send(ask(name, length, b"Service-Namespace: left-" + name, first=CHAT) + b"{}")
        await begun.wait()
        if timestamp == "inside the answer":
            got = b""
            while b"one" not in got:
                got += await caller.read()
        await (caller.close() if manner == "fin" else caller.reset())
        await asyncio.wait_for(gone.wait(), SOON_S)
        return name

    name = world.run(work())
    records = wait_until(lambda: world.server.records(f"namespace=left-{name.decode()}"))
    assert [(record["outcome"], record["failed"], record["request_bytes"]) for record in records] == [
        ("client_closed", False, 2)
    ]
    kept = world.server.body(records[0]["id"], "response")
    assert kept == (b"one" if timestamp == "inside the answer" else b"")


def test_a_caller_that_takes_no_answers_of_the_relays_own_is_not_read_on(world: World) -> None:
    async def work() -> None:
        asked, sent = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" * 1000, 0
        loop = asyncio.get_running_loop()
        with socket.socket() as greedy:
            greedy.setblocking(False)
            await loop.sock_connect(greedy, ("127.0.0.1", world.server.port))
            with suppress(TimeoutError):
                while sent < MOST_ON_THE_WAY:
                    async with asyncio.timeout(2):
                        await loop.sock_sendall(greedy, asked)
                    sent += len(asked)
            assert sent < MOST_ON_THE_WAY
        async with world.caller() as other:
            await other.send(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" * 5000)
            for _ in range(5000):
                assert (await other.answer()).status == 200

    world.run(work())
