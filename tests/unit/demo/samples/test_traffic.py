"""Test how a scenario runs: its turns, tool calls and retries."""

import asyncio
import copy
import random
from typing import Any

import pytest

from relaybook_demo.samples import personas, traffic
from relaybook_demo.samples.calls import Call, Request, Response
from relaybook_demo.samples.scenario import RATE_LIMITED, UNKNOWN_MODEL, WRONG_KEY, Fault, Scenario
from relaybook_demo.samples.traffic import TrafficGenerator

CALL = Response(calls=[Call("call_1", "get_weather", '{"city": "Rome"}')])


def run_traffic(monkeypatch: pytest.MonkeyPatch, scenario: Scenario, *responses: Response | None) -> list[Request]:
    """Run a scenario with these responses, and return the requests that were sent."""
    sent: list[Request] = []
    remaining = list(responses)

    async def send(_client: Any, request: Request) -> Response | None:
        sent.append(copy.deepcopy(request))
        return remaining.pop(0)

    monkeypatch.setattr(traffic, "send", send)
    generator = TrafficGenerator(None, random.Random(1))  # type: ignore[arg-type]  # no client is needed
    asyncio.run(generator.run_scenario(scenario, turn_pause=(0.0, 0.0)))
    assert remaining == []
    return sent


def conversation(*turns: str, **more: Any) -> Scenario:
    return Scenario(app=personas.SHOP, namespace="jürgen@example.com", turns=turns, **more)


def contents(request: Request) -> list[str]:
    return [message["content"] for message in request.body["messages"]]


def test_every_turn_includes_the_previous_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = run_traffic(monkeypatch, conversation("One?", "Two?"), Response("1"), Response("2"))
    assert [contents(request)[1:] for request in sent] == [["One?"], ["One?", "1", "Two?"]]
    assert contents(sent[0])[0] == personas.SHOP.system
    assert {request.headers["Service-Namespace"] for request in sent} == {"j%C3%BCrgen@example.com"}


def test_tools_run_and_their_results_are_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = run_traffic(monkeypatch, conversation("Rome?", tool="get_weather"), CALL, Response("Sunny"))
    assert [message["role"] for message in sent[1].body["messages"]] == ["system", "user", "assistant", "tool"]
    assert '"city": "Rome"' in contents(sent[1])[-1]
    assert sent[0].body["tools"][0]["function"]["name"] == "get_weather"


def test_a_customer_retries_a_failed_request(monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = conversation("One?", "Two?", fault=RATE_LIMITED, fault_turn=1)
    sent = run_traffic(monkeypatch, scenario, Response("1"), None, Response("2"))
    assert contents(sent[1]) == contents(sent[2])
    assert ["Sim-Status" in request.headers for request in sent] == [False, True, False]


def test_a_program_does_not_retry(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(run_traffic(monkeypatch, conversation("One?", fault=WRONG_KEY), None)) == 1


def test_a_conversation_ends_after_a_failed_request(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(run_traffic(monkeypatch, conversation("One?", "Two?"), None)) == 1


@pytest.mark.parametrize(
    ("fault", "key", "model"),
    [(UNKNOWN_MODEL, personas.SHOP.key, "gtp-4o-mini"), (WRONG_KEY, "sk-invalid-key-of-last-year-41d0", "gpt-4o-mini")],
)
def test_faults_change_key_or_model(monkeypatch: pytest.MonkeyPatch, fault: Fault, key: str, model: str) -> None:
    (request,) = run_traffic(monkeypatch, conversation("One?", fault=fault), None)
    assert (request.key, request.body["model"]) == (key, model)


def test_other_kinds_are_sent_in_the_format_of_their_api(monkeypatch: pytest.MonkeyPatch) -> None:
    (embeddings_request,) = run_traffic(monkeypatch, conversation("a", "b", kind="embeddings"), Response())
    assert embeddings_request.body == {"model": "gpt-4o-mini", "input": ["a", "b"]}
    (models_request,) = run_traffic(monkeypatch, conversation(kind="models"), Response())
    assert models_request.body == {}
    (response,) = run_traffic(monkeypatch, conversation("a", kind="responses"), Response())
    assert (response.body["input"], response.body["instructions"]) == ("a", personas.SHOP.system)


def test_a_program_without_a_namespace_sends_no_header(monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = Scenario(app=personas.SCRIPT, namespace=None, turns=("One?",))
    (request,) = run_traffic(monkeypatch, scenario, Response("1"))
    assert "Service-Namespace" not in request.headers
    assert [message["role"] for message in request.body["messages"]] == ["user"]
