"""The official SDK makes as many attempts at a call that fails through the relay as without it."""

import asyncio
from typing import Any

import openai
import pytest
from tests.conformance.sdk.calls import KEY, QUESTION, World, chat
from tests.conformance.sdk.failing_calls import (
    FAILURES,
    MOST_RETRIES,
    Attempts,
    Failure,
    count_attempts,
    count_with_patience,
)


async def ask(client: openai.AsyncOpenAI, failure: Failure, way: str) -> None:
    asked: dict[str, Any] = {"model": "gpt-4o-mini", "messages": QUESTION, "extra_headers": failure.headers(way)}
    if failure.timeout_ms:
        asked["timeout"] = failure.timeout_ms / 1000
    answer: Any = await client.chat.completions.create(stream=failure.streamed, **asked)
    if failure.streamed:
        async for _ in answer:
            pass


async def fail(client: openai.AsyncOpenAI, failure: Failure, way: str) -> None:
    """Makes one call, which must raise. Invalid JSON raises what the JSON library raises."""
    with pytest.raises((openai.APIError, ValueError)):
        await ask(client, failure, way)


def fail_both_ways(world: World, failures: list[Failure]) -> None:
    """Makes each call through the relay and without it, all at the same time: the SDK waits between attempts."""

    async def run() -> None:
        options: dict[str, Any] = {"base_url": world.provider.url, "api_key": KEY, "max_retries": MOST_RETRIES}
        async with world.async_client(max_retries=MOST_RETRIES) as relayed, openai.AsyncOpenAI(**options) as direct:
            ways = (relayed, "relayed"), (direct, "direct")
            await asyncio.gather(*(fail(client, each, way) for client, way in ways for each in failures))

    asyncio.run(run())


@pytest.fixture(scope="module")
def attempts(world: World) -> Attempts:
    fail_both_ways(world, FAILURES)
    return count_attempts(world)


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: failure.what)
def test_the_provider_sees_as_many_attempts_as_without_a_relay(attempts: Attempts, failure: Failure) -> None:
    relayed, direct = attempts.of(failure)
    assert relayed == direct == failure.python
    assert attempts.recorded[f"{failure.tag}-relayed"] == relayed, "each attempt is a record"


def test_a_caller_whose_timeout_passes_makes_as_many_attempts_as_without_a_relay(world: World) -> None:
    chat(world, "sync")  # the relay is up
    for failure, relayed, direct in count_with_patience(
        world, lambda failures: fail_both_ways(world, failures), lambda failure: failure.python
    ):
        assert relayed == direct == failure.python, failure.what
