"""How a scene is played: turn after turn, tools run, a failed question asked again."""

import asyncio
import copy
import random
from typing import Any

import pytest

from relaybook_demo.samples import personas, traffic
from relaybook_demo.samples.calls import Asked, Call, Said
from relaybook_demo.samples.scenario import RATE_LIMITED, UNKNOWN_MODEL, WRONG_KEY, Accident, Scenario
from relaybook_demo.samples.traffic import Stage

CALL = Said(calls=[Call("call_1", "get_weather", '{"city": "Rome"}')])


def played(monkeypatch: pytest.MonkeyPatch, scenario: Scenario, *answers: Said | None) -> list[Asked]:
    """What is sent, when the answers are these."""
    sent: list[Asked] = []
    left = list(answers)

    async def send(_client: Any, asked: Asked) -> Said | None:
        sent.append(copy.deepcopy(asked))
        return left.pop(0)

    monkeypatch.setattr(traffic, "send", send)
    stage = Stage(None, random.Random(1))  # type: ignore[arg-type]  # nothing is sent by it
    asyncio.run(stage.play(scenario, between_turns=(0.0, 0.0)))
    assert left == []
    return sent


def talk(*turns: str, **more: Any) -> Scenario:
    return Scenario(app=personas.SHOP, namespace="jürgen@example.com", turns=turns, **more)


def contents(asked: Asked) -> list[str]:
    return [message["content"] for message in asked.body["messages"]]


def test_every_turn_carries_what_was_said_before(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = played(monkeypatch, talk("One?", "Two?"), Said("1"), Said("2"))
    assert [contents(asked)[1:] for asked in sent] == [["One?"], ["One?", "1", "Two?"]]
    assert contents(sent[0])[0] == personas.SHOP.system
    assert {asked.headers["Service-Namespace"] for asked in sent} == {"j%C3%BCrgen@example.com"}


def test_tools_are_run_and_their_results_sent_back(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = played(monkeypatch, talk("Rome?", tool="get_weather"), CALL, Said("Sunny"))
    assert [message["role"] for message in sent[1].body["messages"]] == ["system", "user", "assistant", "tool"]
    assert '"city": "Rome"' in contents(sent[1])[-1]
    assert sent[0].body["tools"][0]["function"]["name"] == "get_weather"


def test_a_person_asks_again_what_went_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = talk("One?", "Two?", accident=RATE_LIMITED, accident_at=1)
    sent = played(monkeypatch, scenario, Said("1"), None, Said("2"))
    assert contents(sent[1]) == contents(sent[2])
    assert ["Sim-Status" in asked.headers for asked in sent] == [False, True, False]


def test_a_program_does_not_ask_again(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(played(monkeypatch, talk("One?", accident=WRONG_KEY), None)) == 1


def test_a_conversation_ends_where_no_answer_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(played(monkeypatch, talk("One?", "Two?"), None)) == 1


@pytest.mark.parametrize(
    ("accident", "key", "model"),
    [(UNKNOWN_MODEL, personas.SHOP.key, "gtp-4o-mini"), (WRONG_KEY, "sk-invalid-key-of-last-year-41d0", "gpt-4o-mini")],
)
def test_accidents_change_key_or_model(
    monkeypatch: pytest.MonkeyPatch, accident: Accident, key: str, model: str
) -> None:
    (asked,) = played(monkeypatch, talk("One?", accident=accident), None)
    assert (asked.key, asked.body["model"]) == (key, model)


def test_other_kinds_are_sent_as_their_interface_wants(monkeypatch: pytest.MonkeyPatch) -> None:
    (vectors,) = played(monkeypatch, talk("a", "b", kind="embeddings"), Said())
    assert vectors.body == {"model": "gpt-4o-mini", "input": ["a", "b"]}
    (listed,) = played(monkeypatch, talk(kind="models"), Said())
    assert listed.body == {}
    (response,) = played(monkeypatch, talk("a", kind="responses"), Said())
    assert (response.body["input"], response.body["instructions"]) == ("a", personas.SHOP.system)


def test_a_program_without_a_namespace_sends_no_header(monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = Scenario(app=personas.SCRIPT, namespace=None, turns=("One?",))
    (asked,) = played(monkeypatch, scenario, Said("1"))
    assert "Service-Namespace" not in asked.headers
    assert [message["role"] for message in asked.body["messages"]] == ["user"]
