"""Plays the sample traffic: a history in the first seconds, then the daily business until it is cancelled.

The number of tasks is fixed, and each has at most one request under way: memory stays flat however long it runs.
"""

import asyncio
import random
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import quote

from openai import AsyncOpenAI

from relaybook_demo.samples import personas, scenarios, tools
from relaybook_demo.samples.calls import Asked, Said, opened, send
from relaybook_demo.samples.history import history, opening
from relaybook_demo.samples.scenario import Accident, Scenario

Seconds = tuple[float, float]

#: One whose first scenes are others than those of the history.
_SEED: Final = 1923
#: The history is answered and read more quickly than people would read it.
_HURRY: Final = 2.5
_AT_ONCE: Final = 10
_BETWEEN_TURNS: Final[Seconds] = (4.0, 9.0)
_BETWEEN_LONG: Final[Seconds] = (14.0, 24.0)
_LONG_AT_ONCE: Final = 3


async def send_samples(base_url: str) -> None:
    """Plays until it is cancelled. What runs then is hung up on."""
    async with opened(base_url) as client:
        stage = Stage(client, random.Random(_SEED))  # noqa: S311 - the same demo for everybody
        for scenario in opening(stage.chance):
            await stage.play(scenario, hurry=2 * _HURRY)
        async with asyncio.TaskGroup() as group:
            group.create_task(stage.tell_at_length(scenarios.long_answers(_dice(1))))
            group.create_task(stage.catch_up())
            visits = scenarios.with_mishaps(scenarios.customers(_dice(2)), _dice(3))
            for _ in range(2):
                group.create_task(stage.repeat(visits, (3.0, 8.0)))
            group.create_task(stage.repeat(scenarios.with_mishaps(scenarios.shop(_dice(4)), _dice(5)), (3.0, 7.0)))
            group.create_task(stage.repeat(scenarios.with_mishaps(scenarios.daybook(_dice(6)), _dice(7)), (6.0, 13.0)))
            group.create_task(stage.repeat(scenarios.trials(_dice(8)), (10.0, 20.0)))
            group.create_task(stage.repeat(scenarios.scripts(), (30.0, 50.0)))


def _dice(number: int) -> random.Random:
    return random.Random(_SEED + number)  # noqa: S311 - the same demo for everybody


class Stage:
    """Where scenes are played."""

    def __init__(self, client: AsyncOpenAI, chance: random.Random) -> None:
        self.chance = chance
        self._client = client

    async def catch_up(self) -> None:
        """Plays the history, several scenes at a time."""
        free = asyncio.Semaphore(_AT_ONCE)

        async def play(scenario: Scenario) -> None:
            async with free:
                await self.play(scenario, hurry=_HURRY, between_turns=(0.1, 0.4))

        async with asyncio.TaskGroup() as group:
            for scenario in history(self.chance):
                group.create_task(play(scenario))

    async def repeat(self, endless: Iterator[Scenario], between: Seconds) -> None:
        """Plays one scene after the other. The first waits are of any length, so that callers do not come in groups."""
        await self._wait((1.0, between[1]))
        for scenario in endless:
            await self.play(scenario)
            await self._wait(between)

    async def tell_at_length(self, endless: Iterator[Scenario]) -> None:
        """Begins a long answer every now and then, so that one at least is always running."""
        free = asyncio.Semaphore(_LONG_AT_ONCE)

        async def play(scenario: Scenario) -> None:
            try:
                await self.play(scenario)
            finally:
                free.release()

        async with asyncio.TaskGroup() as group:
            for scenario in endless:
                await free.acquire()
                group.create_task(play(scenario))
                await self._wait(_BETWEEN_LONG)

    async def play(self, scenario: Scenario, *, hurry: float = 1.0, between_turns: Seconds = _BETWEEN_TURNS) -> None:
        """Plays one scene to its end, or to the first answer that does not come."""
        if scenario.kind != "chat":
            await send(self._client, self._asked(scenario, _other_body(scenario), scenario.accident, hurry))
            return
        messages: list[dict[str, Any]] = []
        if scenario.app.system is not None:
            messages.append({"role": "system", "content": scenario.app.system})
        for at, turn in enumerate(scenario.turns):
            if at:
                await self._wait(between_turns)
            messages.append({"role": "user", "content": turn})
            accident = scenario.accident if at == scenario.accident_at else None
            said = await self._say(scenario, messages, accident, hurry)
            if said is None and accident is not None and len(scenario.turns) > 1:
                await self._wait(between_turns)
                said = await self._say(scenario, messages, None, hurry)  # people ask again
            if said is None:
                return
            messages.append(said.message())

    async def _say(
        self, scenario: Scenario, messages: list[dict[str, Any]], accident: Accident | None, hurry: float
    ) -> Said | None:
        """The answer to the messages so far. Tools that the model calls are run; they stay among the messages."""
        while True:
            said = await send(self._client, self._asked(scenario, _chat_body(scenario, messages), accident, hurry))
            if said is None or not said.calls:
                return said
            messages.append(said.message())
            for call in said.calls:
                result = tools.run(call.name, call.arguments)
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
            accident = None

    def _asked(self, scenario: Scenario, body: dict[str, Any], accident: Accident | None, hurry: float) -> Asked:
        accident = accident or Accident()
        named = {} if scenario.namespace is None else {"Service-Namespace": quote(scenario.namespace, safe="@+")}
        directives = (scenario.directives or personas.pace(scenario.model, self.chance, hurry)) | accident.directives
        if accident.model is not None:
            body["model"] = accident.model
        streamed = scenario.streamed if accident.streamed is None else accident.streamed
        if streamed and scenario.kind == "chat" and self.chance.random() < 0.8:
            body["stream_options"] = {"include_usage": True}
        return Asked(
            kind=scenario.kind,
            key=accident.key or scenario.app.key,
            body=body,
            headers={**named, **scenario.headers, **directives},
            streamed=streamed,
            leaves_after_chunks=accident.leaves_after_chunks,
            timeout_s=accident.timeout_s,
            retries=accident.retries,
        )

    async def _wait(self, between: Seconds) -> None:
        await asyncio.sleep(self.chance.uniform(*between))


def _chat_body(scenario: Scenario, messages: list[dict[str, Any]]) -> dict[str, Any]:
    body: dict[str, Any] = {"model": scenario.model, "messages": messages, **scenario.parameters}
    if scenario.tool is not None:
        body["tools"] = [tools.OFFERED[scenario.tool]]
    return body


def _other_body(scenario: Scenario) -> dict[str, Any]:
    match scenario.kind:
        case "responses":
            return {"model": scenario.model, "input": scenario.turns[0], "instructions": scenario.app.system}
        case "embeddings":
            return {"model": scenario.model, "input": list(scenario.turns)}
        case _:
            return {}
