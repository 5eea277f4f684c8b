"""If a client sends requests without waiting, each gets its own response and record, in order."""

import asyncio
import random
import socket
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest
from tests.conformance.relay.upstream import Received, UpstreamConnection
from tests.conformance.relay.world import World, ask, new_world, whole
from tests.support.server import wait_until

REQUESTS: Final = 100
#: More than the relay reads before it pauses, and less than it discards before it closes a connection.
PIPELINED_BYTES: Final = 300 << 10
CHAT: Final = b"POST /v1/chat/completions HTTP/1.1"


def in_one_write(wire: bytes) -> list[bytes]:
    return [wire]


def in_random_chunks(wire: bytes) -> list[bytes]:
    """Split the bytes at random positions in heads and bodies.

    The positions are the same in every run.
    """
    rng = random.Random(100)
    cuts = sorted(rng.sample(range(1, len(wire)), 400))
    return [wire[start:end] for start, end in zip([0, *cuts], [*cuts, len(wire)], strict=True)]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with new_world(tmp_path_factory.mktemp("pipelining")) as made:
        yield made


@pytest.mark.parametrize("cut", [in_one_write, in_random_chunks])
def test_pipelined_posts_get_responses_in_order_and_are_never_merged(
    world: World, cut: Callable[[bytes], list[bytes]]
) -> None:
    bodies = [b'{"messages": "%b"}' % (b"%d " % number * number * 7) for number in range(REQUESTS)]
    tag = b"Service-Namespace: " + cut.__name__.encode()

    async def echo(line: UpstreamConnection, seen: Received) -> None:
        await line.send(whole(seen.body))

    async def work() -> list[str]:
        names = [world.script(echo) for _ in bodies]
        wire = b"".join(ask(name, tag, first=CHAT, body=body) for name, body in zip(names, bodies, strict=True))
        ids = []
        async with world.client() as client:
            await client.send(*cut(wire))
            for body in bodies:
                response = await client.response()
                assert response.body == body
                ids.append(response.request_id)
        assert [world.provider.received(name).body for name in names] == bodies
        return ids

    def all_records() -> list[dict[str, Any]] | None:
        rows = world.server.records(f"namespace={cut.__name__}")
        return rows if len(rows) >= REQUESTS else None

    ids = world.run(work())
    records = wait_until(all_records, 60.0, "all records")
    assert [record["id"] for record in sorted(records, key=lambda record: str(record["started_at"]))] == ids
    assert {record["outcome"] for record in records} == {"complete"}
    for request_id, body in zip(ids, bodies, strict=True):
        assert world.server.body(request_id, "request") == body


def test_a_response_that_ends_the_connection_is_complete_if_more_requests_were_sent(world: World) -> None:
    """If the relay closed the socket with unread bytes, a reset would destroy the response (RFC 9112 §9.6)."""
    tag = b"Service-Namespace: last-response"
    body = bytes(100 << 10)

    async def work() -> None:
        are_sent = asyncio.Event()

        async def respond_when_all_is_sent(line: UpstreamConnection, _: Received) -> None:
            await are_sent.wait()
            await line.send(whole(body))

        last = ask(world.script(respond_when_all_is_sent), tag, b"Connection: close", first=CHAT, body=b"{}")
        ignored = ask(world.name(), first=CHAT, body=bytes(PIPELINED_BYTES))
        loop = asyncio.get_running_loop()
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.setblocking(False)
            await loop.sock_connect(client, ("127.0.0.1", world.server.port))
            await loop.sock_sendall(client, last + ignored)
            are_sent.set()
            await loop.run_in_executor(
                None, wait_until, lambda: world.server.records("namespace=last-response"), 20.0, "the record"
            )
            received = b""
            while chunk := await loop.sock_recv(client, 1 << 16):
                received += chunk
        assert received.endswith(b"\r\n\r\n" + body)

    world.run(work())


def test_requests_behind_many_others_are_recorded_and_few_bytes_are_held(world: World) -> None:
    """The relay reads no more from the client while many bytes wait, so that each request fits into journal frames."""
    tag = b"Service-Namespace: behind-others"
    body = b"x" * (2 << 20)

    async def work() -> None:
        small = [world.script(answer) for _ in range(30)]
        large = world.script(answer)
        wire = b"".join(ask(name, tag, first=b"GET /v1/models HTTP/1.1") for name in small)
        wire += ask(large, tag, first=CHAT, body=body)
        async with world.client() as client:
            await client.open()
            sending = asyncio.create_task(client.send(wire))
            for _ in range(31):
                assert (await client.response()).status == 200
            await sending
        assert world.provider.received(large).body == body

    async def answer(line: UpstreamConnection, seen: Received) -> None:
        await asyncio.sleep(0.02)  # in the meantime, the relay reads
        await line.send(whole(b"{}"))

    def recorded() -> list[dict[str, Any]] | None:
        rows = world.server.records("namespace=behind-others")
        return rows if len(rows) == 31 else None

    world.run(work())
    records = wait_until(recorded, 60.0, "all records")
    (large,) = (record for record in records if record["request_bytes"] > 0)
    assert (large["request_bytes"], large["outcome"]) == (len(body), "complete")
    assert world.server.body(large["id"], "request") == body
