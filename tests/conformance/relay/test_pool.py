"""Connections to the provider are kept, and one that ended meanwhile costs no request and repeats none."""

import asyncio

import pytest
from tests.conformance.relay.caller import Caller
from tests.conformance.relay.provider import Line, Seen
from tests.conformance.relay.world import World, ask, whole

CHAT = b"POST /v1/chat/completions HTTP/1.1"
ROUNDS = 100


def test_requests_one_after_the_other_share_one_connection(world: World) -> None:
    async def work() -> None:
        names = [world.answers(whole(b"%d" % number)) for number in range(10)]
        for name in names:
            async with world.caller() as caller:
                await caller.exchange(ask(name))
        assert len({world.provider.got(name).connection for name in names}) == 1

    world.run(work())


@pytest.mark.parametrize("manner", ["fin", "rst"])
def test_an_idle_connection_that_the_provider_ended_costs_no_request(world: World, manner: str) -> None:
    """It ends right after the answer, and the next request comes at once: each reaches the provider exactly once.

    One caller alone, so that nothing can be sent between an answer and the end of its connection.
    """

    async def ask_once(caller: Caller, body: bytes) -> None:
        answered, ended = asyncio.Event(), asyncio.Event()

        async def script(line: Line, seen: Seen) -> None:
            await line.send(whole(seen.body))
            if manner == "rst":
                await answered.wait()  # a reset may overtake the answer itself
            await (line.reset() if manner == "rst" else line.close())
            ended.set()

        answer = await caller.exchange(ask(world.script(script), first=CHAT, body=body))
        assert (answer.status, answer.body) == (200, body), answer
        answered.set()
        await ended.wait()

    async def work() -> None:
        before = world.provider.requests
        async with world.caller() as caller:
            for number in range(ROUNDS):
                await ask_once(caller, b"%d" % number)
        assert world.provider.requests - before == ROUNDS

    world.run(work())


def test_a_request_whose_connection_ends_after_it_was_sent_is_not_repeated(world: World) -> None:
    async def work() -> None:
        async def drop(line: Line, _: Seen) -> None:
            await line.reset()

        async with world.caller() as caller:
            assert (await caller.exchange(ask(world.answers(whole(b""))))).status == 200
            name = world.script(drop)
            answer = await caller.exchange(ask(name, first=CHAT, body=b"{}"))
            assert (answer.status, answer.head.one(b"service-error")) == (502, b"upstream_reset")
        world.provider.got(name)

    world.run(work())


@pytest.mark.parametrize("sign", [b"Connection: close", b"Connection: Close"])
def test_a_connection_that_the_provider_announced_to_end_is_not_used_again(world: World, sign: bytes) -> None:
    async def work() -> None:
        first, second = world.answers(whole(b"1", sign)), world.answers(whole(b"2"))
        async with world.caller() as caller:
            await caller.exchange(ask(first))
            await caller.exchange(ask(second))
        assert world.provider.got(first).connection != world.provider.got(second).connection

    world.run(work())
