"""A stream cut at any byte of the provider's answer is an error for the official SDK, and never a short answer."""

import asyncio
from collections.abc import Callable
from typing import Any, Final, Literal

import openai
import pytest
from tests.conformance.sdk.calls import World, in_loop, unique
from tests.conformance.sdk.cut_streams import WORDS, Asked, Framing, cut_everywhere, last_event_ends

AT_A_TIME: Final = 16

#: ``short``: the SDK said nothing and gave less than the provider had to say.
Told = Literal["error", "whole", "short"]


def told(texts: list[str]) -> Told:
    return "whole" if tuple(texts) == WORDS else "short"


def listen(client: openai.OpenAI, asked: Asked) -> Told:
    try:
        stream: Any = client.chat.completions.create(**asked)
        return told([chunk.choices[0].delta.content or "" for chunk in stream])
    except openai.APIError:
        return "error"


async def listen_async(client: openai.AsyncOpenAI, asked: Asked) -> Told:
    try:
        stream: Any = await client.chat.completions.create(**asked)
        return told([chunk.choices[0].delta.content or "" async for chunk in stream])
    except openai.APIError:
        return "error"


def by_the_blocking_client(world: World, namespace: str, calls: list[Asked]) -> list[Told]:
    with world.client(namespace) as client:
        return [listen(client, asked) for asked in calls]


def by_the_async_client(world: World, namespace: str, calls: list[Asked]) -> list[Told]:
    async def run(client: openai.AsyncOpenAI) -> list[Told]:
        room = asyncio.Semaphore(AT_A_TIME)

        async def one(asked: Asked) -> Told:
            async with room:
                return await listen_async(client, asked)

        return await asyncio.gather(*map(one, calls))

    found: list[Told] = in_loop(world.async_client(namespace), run)
    return found


@pytest.mark.parametrize("manner", ["close", "rst"])
@pytest.mark.parametrize(
    ("framing", "listen_to_all"),
    [("chunked", by_the_blocking_client), ("chunked", by_the_async_client), ("length", by_the_async_client)],
    ids=["chunked, blocking client", "chunked, async client", "length, async client"],
)
def test_a_stream_cut_at_any_byte_raises_and_is_recorded_as_broken(
    world: World, framing: Framing, manner: str, listen_to_all: Callable[[World, str, list[Asked]], list[Told]]
) -> None:
    namespace = unique("offsets")
    calls = list(cut_everywhere(framing, manner))
    found = listen_to_all(world, namespace, calls)
    ends = last_event_ends(framing)
    assert set(found[:ends]) == {"error"}, [size for size in range(ends) if found[size] != "error"]
    assert "short" not in found
    if manner == "close":  # a reset may overtake what was sent before it
        assert found[-1] == "whole"
    outcomes = {int(each["properties"]["cut-at"]): each["outcome"] for each in world.recorded(namespace, len(calls))}
    assert sorted(outcomes) == list(range(len(calls)))
    assert {outcomes[size] for size in range(ends)} == {"upstream_failed"}
    # from there on the SDK may have left before the provider did: it had all it wanted
    assert {outcomes[size] for size in range(ends, len(calls))} <= {"complete", "upstream_failed"}


def test_the_sdk_raises_through_the_relay_wherever_it_raises_without_it(world: World) -> None:
    calls = list(cut_everywhere("chunked", "close"))
    with world.direct_client() as direct, world.client(unique("offsets")) as relayed:
        lost = [size for size, asked in enumerate(calls) if listen(direct, asked) == "error" != listen(relayed, asked)]
    # once the last event has come, an error of either is no loss: the answer is there
    assert [size for size in lost if size < last_event_ends("chunked")] == []
