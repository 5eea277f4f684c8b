"""Test the everyday traffic: every question has a prepared response, and some requests fail."""

import itertools
import random
from collections.abc import Iterator

import pytest
from tests.support.each import check_each

from relaybook_demo.samples import conversations, questions, scenarios
from relaybook_demo.samples.scenario import Scenario
from relaybook_demo.simulator import texts
from relaybook_demo.simulator.prepared.languages import ANYTHING_ELSE

ENDLESS = [scenarios.customers, scenarios.shop, scenarios.daybook, scenarios.experiments, scenarios.long_responses]


def first(endless: Iterator[Scenario], count: int = 200) -> list[Scenario]:
    return list(itertools.islice(endless, count))


def prompts() -> list[str]:
    all_questions = (*questions.FOR_THE_SHOP, *questions.FOR_DAYBOOK, *questions.FOR_DEVELOPERS, *questions.LONG)
    question_texts = [each.text if isinstance(each.text, str) else each.text[0]["text"] for each in all_questions]
    return [*question_texts, *(turn for conversation in conversations.ALL for turn in conversation.turns)]


def test_every_question_has_a_prepared_response() -> None:
    def check(question: str) -> None:
        question = question.replace("{order}", "4411")
        response = texts.response_text(question)
        assert question[:20] not in response  # the simulator quotes a prompt that has no prepared response
        assert (response,) not in [responses for _, responses in ANYTHING_ELSE]

    check_each(prompts(), check)


@pytest.mark.parametrize("make", ENDLESS)
def test_the_same_seed_gives_the_same_scenarios(make: object) -> None:
    assert callable(make)
    assert first(make(random.Random(5)), 50) == first(make(random.Random(5)), 50)


def test_customers_have_several_turns_and_their_own_namespaces() -> None:
    generated = first(scenarios.customers(random.Random(1)))
    assert {len(scenario.turns) for scenario in generated} >= {2, 3, 4, 6}
    assert len({scenario.namespace for scenario in generated}) > 30
    assert "{order}" not in str([scenario.turns for scenario in generated])


def test_the_shop_is_production_and_experiments_are_not() -> None:
    sent = [scenario.namespace for scenario in first(scenarios.shop(random.Random(1)), 60)]
    experiment_namespaces = [scenario.namespace for scenario in first(scenarios.experiments(random.Random(1)), 60)]
    assert set(sent) == {"production"}
    assert set(experiment_namespaces) == {"staging", "development"}


def test_the_shop_uses_two_apis_and_excludes_some_bodies_from_the_log() -> None:
    sent = first(scenarios.shop(random.Random(1)), 60)
    assert {scenario.kind for scenario in sent} == {"chat", "responses"}
    assert any(scenario.headers.get("Service-Log") == "no-bodies" for scenario in sent)
    assert any("traceparent" in scenario.headers for scenario in sent)


def test_scripts_send_no_namespace() -> None:
    assert {(scenario.namespace, scenario.kind) for scenario in first(scenarios.scripts(), 4)} == {
        (None, "embeddings"),
        (None, "models"),
    }


def test_long_responses_take_about_half_a_minute() -> None:
    for scenario in first(scenarios.long_responses(random.Random(1)), 20):
        text = scenario.turns[0]
        assert isinstance(text, str)
        tokens = len(texts.split_tokens(texts.response_text(text)))
        assert 25 < tokens / float(scenario.directives["Sim-Tokens-Per-Second"]) < 60
        assert scenario.streamed


def test_faults_are_rare_and_of_every_kind() -> None:
    generated = first(scenarios.with_faults(scenarios.daybook(random.Random(1)), random.Random(2)), 1000)
    failed = [scenario for scenario in generated if scenario.fault is not None]
    assert 100 < len(failed) < 200
    assert len({str(scenario.fault) for scenario in failed}) == 8
    assert all(scenario.fault_turn < len(scenario.turns) for scenario in failed)
