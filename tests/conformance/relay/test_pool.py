"""Upstream connections are reused. If an idle connection has ended, no request fails or is repeated."""

import asyncio

import pytest
from tests.conformance.relay.client import RawClient
from tests.conformance.relay.upstream import Received, UpstreamConnection
from tests.conformance.relay.world import World, ask, whole

CHAT = b"POST /v1/chat/completions HTTP/1.1"
ROUNDS = 100


def test_sequential_requests_share_one_connection(world: World) -> None:
    async def work() -> None:
        names = [world.responds(whole(b"%d" % number)) for number in range(10)]
        for name in names:
            async with world.client() as client:
                await client.exchange(ask(name))
        assert len({world.provider.received(name).connection for name in names}) == 1

    world.run(work())


@pytest.mark.parametrize("manner", ["fin", "rst"])
def test_an_idle_connection_that_the_upstream_closed_affects_no_request(world: World, manner: str) -> None:
    """The upstream connection ends right after the response, and the next request arrives immediately.

    Each request reaches the upstream exactly once.
    """

    async def ask_once(client: RawClient, body: bytes) -> None:
        responses, ended = asyncio.Event(), asyncio.Event()

        async def script(line: UpstreamConnection, seen: Received) -> None:
            await line.send(whole(seen.body))
            if manner == "rst":
                await responses.wait()  # a reset can discard the response
            await (line.reset() if manner == "rst" else line.close())
            ended.set()

        response = await client.exchange(ask(world.script(script), first=CHAT, body=body))
        assert (response.status, response.body) == (200, body), response
        responses.set()
        await ended.wait()

    async def work() -> None:
        before = world.provider.requests
        async with world.client() as client:
            for number in range(ROUNDS):
                await ask_once(client, b"%d" % number)
        assert world.provider.requests - before == ROUNDS

    world.run(work())


def test_a_request_whose_connection_ends_after_it_was_sent_is_not_repeated(world: World) -> None:
    async def work() -> None:
        async def drop(line: UpstreamConnection, _: Received) -> None:
            await line.reset()

        async with world.client() as client:
            assert (await client.exchange(ask(world.responds(whole(b""))))).status == 200
            name = world.script(drop)
            response = await client.exchange(ask(name, first=CHAT, body=b"{}"))
            assert (response.status, response.head.one(b"service-error")) == (502, b"upstream_reset")
        world.provider.received(name)

    world.run(work())


@pytest.mark.parametrize("announcement", [b"Connection: close", b"Connection: Close"])
def test_a_connection_that_the_upstream_announced_to_close_is_not_reused(world: World, announcement: bytes) -> None:
    async def work() -> None:
        first, second = world.responds(whole(b"1", announcement)), world.responds(whole(b"2"))
        async with world.client() as client:
            await client.exchange(ask(first))
            await client.exchange(ask(second))
        assert world.provider.received(first).connection != world.provider.received(second).connection

    world.run(work())


@pytest.mark.parametrize("framing", [b"Transfer-Encoding: chunked", b"Content-Length: 4"])
def test_a_connection_on_which_a_204_response_announced_a_body_is_not_reused(world: World, framing: bytes) -> None:
    async def work() -> None:
        first = world.responds(b"HTTP/1.1 204 No Content\r\n%b\r\n\r\n" % framing)
        second = world.responds(whole(b"2"))
        async with world.client() as client:
            assert (await client.exchange(ask(first))).status == 204
            await client.exchange(ask(second))
        assert world.provider.received(first).connection != world.provider.received(second).connection

    world.run(work())
