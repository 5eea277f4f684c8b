"""Callers that leave, half-leave or stop reading: the provider is told, and the record has what had come."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest
from tests.conformance.relay.provider import Line, Seen
from tests.conformance.relay.world import World, a_world, ask
from tests.support.server import Server, wait_until

CHAT: Final = b"POST /v1/chat/completions HTTP/1.1"
CHUNKED: Final = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
BLOCK: Final = b"10000\r\n" + bytes(0x10000) + b"\r\n"
PATIENCE_SECONDS: Final = 60.0
PIECES: Final = 12


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with a_world(tmp_path_factory.mktemp("callers")) as made:
        yield made


def request(name: bytes) -> bytes:
    """A call under a namespace of its own."""
    return ask(name, b"Service-Namespace: " + namespace(name).encode(), first=CHAT, body=b"{}")


def namespace(name: bytes) -> str:
    return f"caller-{name.decode()}"


def the_record(server: Server, name: bytes) -> dict[str, Any]:
    (record,) = wait_until(lambda: server.records(f"namespace={namespace(name)}"), PATIENCE_SECONDS)
    return dict(record)


def test_a_caller_that_half_closes_after_its_request_is_gone(world: World) -> None:
    async def work() -> bytes:
        begun, gone = asyncio.Event(), asyncio.Event()

        async def script(line: Line, _: Seen) -> None:
            begun.set()
            await line.peer_gone()
            gone.set()

        name = world.script(script)
        async with world.caller() as caller:
            await caller.send(request(name))
            await begun.wait()
            _, writer = await caller.open()
            writer.write_eof()
            assert await caller.rest() == (b"", "fin")
            await gone.wait()
        return name

    record = the_record(world.server, world.run(work()))
    assert (record["outcome"], record["failed"], record["status"]) == ("client_closed", False, None)


@pytest.mark.parametrize("manner", ["fin", "rst"])
def test_a_caller_that_leaves_after_any_piece_ends_the_stream_and_all_it_got_is_stored(
    world: World, manner: str
) -> None:
    async def leave_after(count: int) -> tuple[bytes, int]:
        gone = asyncio.Event()
        go_on: asyncio.Queue[None] = asyncio.Queue()

        async def script(line: Line, _: Seen) -> None:
            await line.send(CHUNKED)
            for number in range(count):
                await line.send(b"3\r\n%03d\r\n" % number)
                await go_on.get()
            await line.peer_gone()
            gone.set()

        name = world.script(script)
        async with world.caller() as caller:
            await caller.send(request(name))
            await caller.head()
            for number in range(count):
                assert await caller.read_exactly(8) == b"3\r\n%03d\r\n" % number
                go_on.put_nowait(None)
            await (caller.close() if manner == "fin" else caller.reset())
            await gone.wait()
        return name, count

    async def leave_everywhere() -> list[tuple[bytes, int]]:
        return await asyncio.gather(*map(leave_after, range(PIECES)))

    for name, count in world.run(leave_everywhere()):
        record = the_record(world.server, name)
        assert (record["outcome"], record["failed"], record["stream_ended"]) == ("client_closed", False, None)
        assert world.server.body(record["id"], "response") == b"".join(b"%03d" % number for number in range(count))


def test_by_choice_an_answer_is_read_to_its_end_for_the_log(tmp_path: Path) -> None:
    with a_world(tmp_path, "--on-client-gone", "finish") as world:

        async def work() -> bytes:
            gone = asyncio.Event()

            async def script(line: Line, _: Seen) -> None:
                await line.send(CHUNKED, b"3\r\none\r\n")
                await gone.wait()
                await line.send(b"3\r\ntwo\r\n", b"0\r\n\r\n")

            name = world.script(script)
            async with world.caller() as caller:
                await caller.send(request(name))
                await caller.head()
                await caller.read()
            wait_until(lambda: world.server.get("/api/status")["running"] == 1, PATIENCE_SECONDS)
            gone.set()
            return name

        record = the_record(world.server, world.run(work()))
        assert (record["outcome"], record["failed"]) == ("client_closed", False)
        assert world.server.body(record["id"], "response") == b"onetwo"


def test_a_caller_that_takes_nothing_is_left_when_the_write_timeout_is_over(tmp_path: Path) -> None:
    with a_world(tmp_path, "--write-timeout", "1") as world:

        async def work() -> bytes:
            gone = asyncio.Event()

            async def endless(line: Line, _: Seen) -> None:
                await line.send(CHUNKED)
                with suppress(ConnectionError):
                    while True:
                        await line.send(BLOCK)
                line.ended = True
                gone.set()

            name = world.script(endless)
            with socket.socket() as deaf:
                deaf.setblocking(False)
                loop = asyncio.get_running_loop()
                await loop.sock_connect(deaf, ("127.0.0.1", world.server.port))
                await loop.sock_sendall(deaf, request(name))
                await gone.wait()
            return name

        record = the_record(world.server, world.run(work()))
        assert (record["outcome"], record["failed"], record["status"]) == ("client_closed", False, 200)


# -- before the provider is reached ----------------------------------------------------------------------------------


@pytest.fixture
def full(tmp_path: Path) -> Iterator[socket.socket]:
    """A provider whose backlog is full: the system does not answer one more connection."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
        waiting = []
        for _ in range(4):
            waiting.append(socket.socket())
            waiting[-1].setblocking(False)
            waiting[-1].connect_ex(listener.getsockname())
        yield listener
        for each in waiting:
            each.close()


def upstream_of(listener: socket.socket) -> str:
    return f"http://127.0.0.1:{listener.getsockname()[1]}/v1"


def test_a_provider_that_does_not_accept_is_unreachable_after_the_connect_timeout(
    tmp_path: Path, full: socket.socket
) -> None:
    with Server(tmp_path, upstream_of(full), "--connect-timeout", "1") as server:
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_SECONDS) as caller:
            caller.sendall(request(b"1"))
            answer = caller.recv(65536)
        assert answer.startswith(b"HTTP/1.1 502 ")
        record = the_record(server, b"1")
        assert (record["outcome"], record["error_code"]) == ("upstream_failed", "upstream_unreachable")


def test_a_caller_that_leaves_before_the_provider_is_reached_is_recorded_and_nothing_is_sent(
    tmp_path: Path, full: socket.socket
) -> None:
    with Server(tmp_path, upstream_of(full), "--connect-timeout", "600") as server:
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_SECONDS) as caller:
            caller.sendall(request(b"1"))
            wait_until(lambda: server.get("/api/status")["running"] == 1, PATIENCE_SECONDS)
        record = the_record(server, b"1")
        assert (record["outcome"], record["failed"], record["status"]) == ("client_closed", False, None)
        full.setblocking(False)
        taken = []
        with suppress(BlockingIOError):
            while True:
                taken.append(full.accept()[0])
        for each in taken:
            each.setblocking(False)
            with each, suppress(BlockingIOError):
                assert each.recv(1) == b"", "a byte of the request reached the provider"
