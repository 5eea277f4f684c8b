"""Send the sample traffic: first a history for some seconds, then everyday traffic until canceled.

Memory use does not grow over time, because the number of concurrent scenarios is limited. The limits are ten scenarios
of the history, three long responses, two customers, and one scenario for each other kind of client. Each scenario has
one running request.
"""

import asyncio
import random
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote

from openai import AsyncOpenAI

from relaybook_demo.samples import personas, scenarios, tools
from relaybook_demo.samples.calls import Request, Response, open_client, send
from relaybook_demo.samples.history import history, opening
from relaybook_demo.samples.providers import send_provider_samples
from relaybook_demo.samples.scenario import Fault, Scenario

Seconds = tuple[float, float]

#: With this seed, the first scenarios of everyday traffic differ from the scenarios of the history.
_SEED: Final = 1923
#: In the history, responses are this many times as fast as in everyday traffic.
_HISTORY_SPEEDUP: Final = 2.5
_HISTORY_CONCURRENCY: Final = 10
_TURN_PAUSE: Final[Seconds] = (4.0, 9.0)
_LONG_RESPONSE_PAUSE: Final[Seconds] = (14.0, 24.0)
_LONG_RESPONSE_CONCURRENCY: Final = 3


async def send_samples(base_urls: Mapping[str, str]) -> None:
    """Send sample traffic until canceled. On cancellation, running requests are also canceled.

    ``base_urls`` has the base URL of each route of the demo, by its name.
    """
    others = {name: url for name, url in base_urls.items() if name != "default"}
    async with open_client(base_urls["default"]) as client:
        generator = TrafficGenerator(client, random.Random(_SEED))  # noqa: S311 - the same demo for everybody
        for scenario in opening(generator.rng):
            await generator.run_scenario(scenario, speedup=2 * _HISTORY_SPEEDUP)
        async with asyncio.TaskGroup() as group:
            group.create_task(generator.run_long_responses(scenarios.long_responses(_rng(1))))
            group.create_task(generator.run_history())
            group.create_task(send_provider_samples(others))
            customer_traffic = scenarios.with_faults(scenarios.customers(_rng(2)), _rng(3))
            for _ in range(2):
                group.create_task(generator.repeat(customer_traffic, (3.0, 8.0)))
            group.create_task(generator.repeat(scenarios.with_faults(scenarios.shop(_rng(4)), _rng(5)), (3.0, 7.0)))
            group.create_task(generator.repeat(scenarios.with_faults(scenarios.daybook(_rng(6)), _rng(7)), (6.0, 13.0)))
            group.create_task(generator.repeat(scenarios.experiments(_rng(8)), (10.0, 20.0)))
            group.create_task(generator.repeat(scenarios.scripts(), (30.0, 50.0)))


def _rng(number: int) -> random.Random:
    return random.Random(_SEED + number)  # noqa: S311 - the same demo for everybody


class TrafficGenerator:
    """Sends the requests of the scenarios."""

    def __init__(self, client: AsyncOpenAI, rng: random.Random) -> None:
        self.rng = rng
        self._client = client

    async def run_history(self) -> None:
        """Run all scenarios of the history, several at a time."""
        slots = asyncio.Semaphore(_HISTORY_CONCURRENCY)

        async def run_scenario(scenario: Scenario) -> None:
            async with slots:
                await self.run_scenario(scenario, speedup=_HISTORY_SPEEDUP, turn_pause=(0.1, 0.4))

        async with asyncio.TaskGroup() as group:
            for scenario in history(self.rng):
                group.create_task(run_scenario(scenario))

    async def repeat(self, endless: Iterator[Scenario], pause: Seconds) -> None:
        """Run one scenario after another, with pauses.

        The initial pause is random, so that clients do not start at the same time.
        """
        await self._sleep((1.0, pause[1]))
        for scenario in endless:
            await self.run_scenario(scenario)
            await self._sleep(pause)

    async def run_long_responses(self, endless: Iterator[Scenario]) -> None:
        """Start a long response at intervals, so that a long response is always running."""
        slots = asyncio.Semaphore(_LONG_RESPONSE_CONCURRENCY)

        async def run_scenario(scenario: Scenario) -> None:
            try:
                await self.run_scenario(scenario)
            finally:
                slots.release()

        async with asyncio.TaskGroup() as group:
            for scenario in endless:
                await slots.acquire()
                group.create_task(run_scenario(scenario))
                await self._sleep(_LONG_RESPONSE_PAUSE)

    async def run_scenario(
        self, scenario: Scenario, *, speedup: float = 1.0, turn_pause: Seconds = _TURN_PAUSE
    ) -> None:
        """Run one scenario. Stop early if a request fails and is not retried, or if its retry fails."""
        if scenario.kind != "chat":
            await send(self._client, self._request(scenario, _other_body(scenario), scenario.fault, speedup))
            return
        messages: list[dict[str, Any]] = []
        if scenario.app.system is not None:
            messages.append({"role": "system", "content": scenario.app.system})
        for turn_index, turn in enumerate(scenario.turns):
            if turn_index:
                await self._sleep(turn_pause)
            messages.append({"role": "user", "content": turn})
            fault = scenario.fault if turn_index == scenario.fault_turn else None
            response = await self._complete(scenario, messages, fault, speedup)
            if response is None and fault is not None and len(scenario.turns) > 1:
                await self._sleep(turn_pause)
                response = await self._complete(scenario, messages, None, speedup)  # customers repeat a failed message
            if response is None:
                return
            messages.append(response.message())

    async def _complete(
        self, scenario: Scenario, messages: list[dict[str, Any]], fault: Fault | None, speedup: float
    ) -> Response | None:
        """Return the response to the messages. Tool calls are executed and added to the messages with their results."""
        while True:
            response = await send(self._client, self._request(scenario, _chat_body(scenario, messages), fault, speedup))
            if response is None or not response.calls:
                return response
            messages.append(response.message())
            for call in response.calls:
                result = tools.run(call.name, call.arguments)
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
            fault = None

    def _request(self, scenario: Scenario, body: dict[str, Any], fault: Fault | None, speedup: float) -> Request:
        fault = fault or Fault()
        namespace_header = (
            {} if scenario.namespace is None else {"Service-Namespace": quote(scenario.namespace, safe="@+")}
        )
        directives = (scenario.directives or personas.pace(scenario.model, self.rng, speedup)) | fault.directives
        if fault.model is not None:
            body["model"] = fault.model
        streamed = scenario.streamed if fault.streamed is None else fault.streamed
        if streamed and scenario.kind == "chat" and self.rng.random() < 0.8:
            body["stream_options"] = {"include_usage": True}
        return Request(
            kind=scenario.kind,
            key=fault.key or scenario.app.key,
            body=body,
            headers={**namespace_header, **scenario.headers, **directives},
            streamed=streamed,
            cancel_after_chunks=fault.cancel_after_chunks,
            timeout_s=fault.timeout_s,
            retries=fault.retries,
        )

    async def _sleep(self, pause: Seconds) -> None:
        await asyncio.sleep(self.rng.uniform(*pause))


def _chat_body(scenario: Scenario, messages: list[dict[str, Any]]) -> dict[str, Any]:
    body: dict[str, Any] = {"model": scenario.model, "messages": messages, **scenario.parameters}
    if scenario.tool is not None:
        body["tools"] = [tools.TOOLS[scenario.tool]]
    return body


def _other_body(scenario: Scenario) -> dict[str, Any]:
    match scenario.kind:
        case "responses":
            return {"model": scenario.model, "input": scenario.turns[0], "instructions": scenario.app.system}
        case "embeddings":
            return {"model": scenario.model, "input": list(scenario.turns)}
        case _:
            return {}
