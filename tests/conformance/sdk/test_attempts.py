"""The official SDK makes as many attempts at a failing call through the relay as it makes directly."""

import asyncio
from typing import Any

import openai
import pytest
from tests.conformance.sdk.calls import KEY, QUESTION, World, chat
from tests.conformance.sdk.failing_calls import (
    FAILURES,
    MAX_RETRIES,
    Attempts,
    Failure,
    count_attempts,
    count_with_longer_timeouts,
)


async def send(client: openai.AsyncOpenAI, failure: Failure, route: str) -> None:
    calls: dict[str, Any] = {"model": "gpt-4o-mini", "messages": QUESTION, "extra_headers": failure.headers(route)}
    if failure.timeout_ms:
        calls["timeout"] = failure.timeout_ms / 1000
    response: Any = await client.chat.completions.create(stream=failure.streamed, **calls)
    if failure.streamed:
        async for _ in response:
            pass


async def fail(client: openai.AsyncOpenAI, failure: Failure, route: str) -> None:
    """Make one call, which must raise an error. For invalid JSON, this is an error of the JSON library."""
    with pytest.raises((openai.APIError, ValueError)):
        await send(client, failure, route)


def fail_both_ways(world: World, failures: list[Failure]) -> None:
    """Make each call through the relay and directly. Calls run concurrently, because the SDK waits between attempts."""

    async def run() -> None:
        options: dict[str, Any] = {"base_url": world.provider.url, "api_key": KEY, "max_retries": MAX_RETRIES}
        async with world.async_client(max_retries=MAX_RETRIES) as relayed, openai.AsyncOpenAI(**options) as direct:
            routes = (relayed, "relayed"), (direct, "direct")
            await asyncio.gather(*(fail(client, each, route) for client, route in routes for each in failures))

    asyncio.run(run())


@pytest.fixture(scope="module")
def attempts(world: World) -> Attempts:
    fail_both_ways(world, FAILURES)
    return count_attempts(world)


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: failure.what)
def test_the_upstream_gets_as_many_attempts_as_without_a_relay(attempts: Attempts, failure: Failure) -> None:
    relayed, direct = attempts.of(failure)
    assert relayed == direct == failure.python
    assert attempts.recorded[f"{failure.tag}-relayed"] == relayed, "each attempt is a record"


def test_a_client_that_times_out_makes_as_many_attempts_as_without_a_relay(world: World) -> None:
    chat(world, "sync")  # ensures that the relay is running
    for failure, relayed, direct in count_with_longer_timeouts(
        world, lambda failures: fail_both_ways(world, failures), lambda failure: failure.python
    ):
        assert relayed == direct == failure.python, failure.what
