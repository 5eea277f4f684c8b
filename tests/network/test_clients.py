"""If clients disconnect, half-close or stop reading, the upstream notices, and all received bytes are stored."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest
from tests.conformance.relay.upstream import Received, UpstreamConnection
from tests.conformance.relay.world import World, ask, new_world
from tests.support.server import Server, wait_until

CHAT: Final = b"POST /v1/chat/completions HTTP/1.1"
CHUNKED: Final = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
EVENTS: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
FIRST_EVENT: Final = b'data: {"choices": [{"index": 0, "delta": {"content": "one"}}]}\n\n'
LAST_EVENT: Final = b"data: [DONE]\n\n"
BLOCK: Final = b"10000\r\n" + bytes(0x10000) + b"\r\n"
TIMEOUT_SECONDS: Final = 60.0
CHUNKS: Final = 12


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with new_world(tmp_path_factory.mktemp("callers")) as made:
        yield made


def request(name: bytes) -> bytes:
    """Return a request with a namespace that no other request has."""
    return ask(name, b"Service-Namespace: " + namespace(name).encode(), first=CHAT, body=b"{}")


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def namespace(name: bytes) -> str:
    return f"caller-{name.decode()}"


def the_record(server: Server, name: bytes) -> dict[str, Any]:
    (record,) = wait_until(lambda: server.records(f"namespace={namespace(name)}"), TIMEOUT_SECONDS)
    return dict(record)


def test_a_client_that_half_closes_after_its_request_is_treated_as_disconnected(world: World) -> None:
    async def work() -> bytes:
        started, disconnected = asyncio.Event(), asyncio.Event()

        async def script(line: UpstreamConnection, _: Received) -> None:
            started.set()
            await line.peer_gone()
            disconnected.set()

        name = world.script(script)
        async with world.client() as client:
            await client.send(request(name))
            await started.wait()
            _, writer = await client.open()
            writer.write_eof()
            assert await client.rest() == (b"", "fin")
            await disconnected.wait()
        return name

    record = the_record(world.server, world.run(work()))
    assert (record["outcome"], record["failed"], record["status"]) == ("client_closed", False, None)


@pytest.mark.parametrize("manner", ["fin", "rst"])
def test_a_client_that_disconnects_after_any_chunk_ends_the_stream_and_everything_it_got_is_stored(
    world: World, manner: str
) -> None:
    async def leave_after(count: int) -> tuple[bytes, int]:
        disconnected = asyncio.Event()
        go_on: asyncio.Queue[None] = asyncio.Queue()

        async def script(line: UpstreamConnection, _: Received) -> None:
            await line.send(CHUNKED)
            for number in range(count):
                await line.send(b"3\r\n%03d\r\n" % number)
                await go_on.get()
            await line.peer_gone()
            disconnected.set()

        name = world.script(script)
        async with world.client() as client:
            await client.send(request(name))
            await client.head()
            for number in range(count):
                assert await client.read_exactly(8) == b"3\r\n%03d\r\n" % number
                go_on.put_nowait(None)
            await (client.close() if manner == "fin" else client.reset())
            await disconnected.wait()
        return name, count

    async def disconnect_everywhere() -> list[tuple[bytes, int]]:
        return await asyncio.gather(*map(leave_after, range(CHUNKS)))

    for name, count in world.run(disconnect_everywhere()):
        record = the_record(world.server, name)
        assert (record["outcome"], record["failed"], record["stream_ended"]) == ("client_closed", False, None)
        assert world.server.body(record["id"], "response") == b"".join(b"%03d" % number for number in range(count))


def test_a_response_is_read_to_its_end_for_the_log_if_configured(tmp_path: Path) -> None:
    with new_world(tmp_path, "--on-client-gone", "finish") as world:

        async def work() -> bytes:
            disconnected = asyncio.Event()

            async def script(line: UpstreamConnection, _: Received) -> None:
                await line.send(EVENTS, chunk(FIRST_EVENT))
                await disconnected.wait()
                await line.send(chunk(LAST_EVENT), b"0\r\n\r\n")

            name = world.script(script)
            async with world.client() as client:
                await client.send(request(name))
                await client.head()
                await client.read()
            wait_until(lambda: world.server.get("/api/status")["running"] == 1, TIMEOUT_SECONDS)
            disconnected.set()
            return name

        record = the_record(world.server, world.run(work()))
        assert (record["outcome"], record["failed"], record["stream_ended"]) == ("client_closed", False, "done")
        assert world.server.body(record["id"], "response") == FIRST_EVENT + LAST_EVENT


def test_a_client_that_does_not_read_is_disconnected_after_the_write_timeout(tmp_path: Path) -> None:
    with new_world(tmp_path, "--write-timeout", "1") as world:

        async def work() -> bytes:
            disconnected = asyncio.Event()

            async def endless(line: UpstreamConnection, _: Received) -> None:
                await line.send(CHUNKED)
                with suppress(ConnectionError):
                    while True:
                        await line.send(BLOCK)
                line.ended = True
                disconnected.set()

            name = world.script(endless)
            with socket.socket() as not_reading:
                not_reading.setblocking(False)
                loop = asyncio.get_running_loop()
                await loop.sock_connect(not_reading, ("127.0.0.1", world.server.port))
                await loop.sock_sendall(not_reading, request(name))
                await disconnected.wait()
            return name

        record = the_record(world.server, world.run(work()))
        assert (record["outcome"], record["failed"], record["status"]) == ("client_closed", False, 200)


# -- before the upstream is connected ----------------------------------------------------------------------------------


@pytest.fixture
def full(tmp_path: Path) -> Iterator[socket.socket]:
    """Return the listener of an upstream with a full backlog, for which the kernel accepts no more connections."""
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


def test_an_upstream_that_does_not_accept_is_unreachable_after_the_connect_timeout(
    tmp_path: Path, full: socket.socket
) -> None:
    with Server(tmp_path, upstream_of(full), "--connect-timeout", "1") as server:
        with socket.create_connection(("127.0.0.1", server.port), timeout=TIMEOUT_SECONDS) as client:
            client.sendall(request(b"1"))
            response = client.recv(65536)
        assert response.startswith(b"HTTP/1.1 502 ")
        record = the_record(server, b"1")
        assert (record["outcome"], record["error_code"]) == ("upstream_failed", "upstream_unreachable")


def test_a_client_that_disconnects_before_the_upstream_is_connected_is_recorded_and_nothing_is_sent(
    tmp_path: Path, full: socket.socket
) -> None:
    with Server(tmp_path, upstream_of(full), "--connect-timeout", "600") as server:
        with socket.create_connection(("127.0.0.1", server.port), timeout=TIMEOUT_SECONDS) as client:
            client.sendall(request(b"1"))
            wait_until(lambda: server.get("/api/status")["running"] == 1, TIMEOUT_SECONDS)
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
