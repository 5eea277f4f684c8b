"""If a stream is truncated at any byte, the official SDK raises an error and never returns a short response."""

import asyncio
from collections.abc import Callable
from typing import Any, Final, Literal

import openai
import pytest
from tests.conformance.sdk.calls import World, in_loop, unique
from tests.conformance.sdk.cut_streams import WORDS, Asked, Framing, cut_everywhere, last_event_ends

AT_A_TIME: Final = 16

#: The result of a call. ``short`` means that the SDK raised no error but returned less than the upstream's text.
Told = Literal["error", "whole", "short"]


def result_of(texts: list[str]) -> Told:
    return "whole" if tuple(texts) == WORDS else "short"


def read_stream(client: openai.OpenAI, call: Asked) -> Told:
    try:
        stream: Any = client.chat.completions.create(**call)
        return result_of([chunk.choices[0].delta.content or "" for chunk in stream])
    except openai.APIError:
        return "error"


async def read_stream_async(client: openai.AsyncOpenAI, call: Asked) -> Told:
    try:
        stream: Any = await client.chat.completions.create(**call)
        return result_of([chunk.choices[0].delta.content or "" async for chunk in stream])
    except openai.APIError:
        return "error"


def with_the_blocking_client(world: World, namespace: str, calls: list[Asked]) -> list[Told]:
    with world.client(namespace) as client:
        return [read_stream(client, call) for call in calls]


def with_the_async_client(world: World, namespace: str, calls: list[Asked]) -> list[Told]:
    async def run(client: openai.AsyncOpenAI) -> list[Told]:
        semaphore = asyncio.Semaphore(AT_A_TIME)

        async def one(call: Asked) -> Told:
            async with semaphore:
                return await read_stream_async(client, call)

        return await asyncio.gather(*map(one, calls))

    found: list[Told] = in_loop(world.async_client(namespace), run)
    return found


@pytest.mark.parametrize("manner", ["close", "rst"])
@pytest.mark.parametrize(
    ("framing", "listen_to_all"),
    [("chunked", with_the_blocking_client), ("chunked", with_the_async_client), ("length", with_the_async_client)],
    ids=["chunked, blocking client", "chunked, async client", "length, async client"],
)
def test_a_stream_truncated_at_any_byte_raises_and_is_recorded_as_broken(
    world: World, framing: Framing, manner: str, listen_to_all: Callable[[World, str, list[Asked]], list[Told]]
) -> None:
    namespace = unique("offsets")
    calls = list(cut_everywhere(framing, manner))
    found = listen_to_all(world, namespace, calls)
    ends = last_event_ends(framing)
    assert set(found[:ends]) == {"error"}, [size for size in range(ends) if found[size] != "error"]
    assert "short" not in found
    if manner == "close":  # a reset can discard bytes that were sent earlier
        assert found[-1] == "whole"
    outcomes = {int(each["properties"]["cut-at"]): each["outcome"] for each in world.recorded(namespace, len(calls))}
    assert sorted(outcomes) == list(range(len(calls)))
    has_mark = ends - len("\n\n")  # from this offset on, the log has the end mark, so the response is complete
    assert {outcomes[size] for size in range(has_mark)} == {"upstream_failed"}
    assert {outcomes[size] for size in range(has_mark, len(calls))} <= {"complete", "upstream_failed"}
