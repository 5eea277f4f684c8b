"""The daily business: every question has an answer of its own, and things go wrong now and then."""

import itertools
import random
from collections.abc import Iterator

import pytest

from relaybook_demo.samples import conversations, questions, scenarios
from relaybook_demo.samples.scenario import Scenario
from relaybook_demo.simulator import texts
from relaybook_demo.simulator.prepared.languages import ANYTHING_ELSE

ENDLESS = [scenarios.customers, scenarios.shop, scenarios.daybook, scenarios.trials, scenarios.long_answers]


def first(endless: Iterator[Scenario], count: int = 200) -> list[Scenario]:
    return list(itertools.islice(endless, count))


def asked() -> list[str]:
    single = (*questions.FOR_THE_SHOP, *questions.FOR_DAYBOOK, *questions.FOR_DEVELOPERS, *questions.LONG)
    said = [each.text if isinstance(each.text, str) else each.text[0]["text"] for each in single]
    return [*said, *(turn for conversation in conversations.ALL for turn in conversation.turns)]


@pytest.mark.parametrize("question", asked())
def test_every_question_has_an_answer_of_its_own(question: str) -> None:
    question = question.replace("{order}", "4411")
    answer = texts.answer_text(question)
    assert question[:20] not in answer  # quoted where nothing else fits
    assert (answer,) not in [answers for _, answers in ANYTHING_ELSE]


@pytest.mark.parametrize("make", ENDLESS)
def test_the_same_chance_makes_the_same_scenes(make: object) -> None:
    assert callable(make)
    assert first(make(random.Random(5)), 50) == first(make(random.Random(5)), 50)


def test_customers_talk_over_several_turns_under_names_of_their_own() -> None:
    visits = first(scenarios.customers(random.Random(1)))
    assert {len(visit.turns) for visit in visits} >= {2, 3, 4, 6}
    assert len({visit.namespace for visit in visits}) > 30
    assert "{order}" not in str([visit.turns for visit in visits])


def test_most_of_what_programs_send_is_production() -> None:
    sent = [scenario.namespace for scenario in first(scenarios.shop(random.Random(1)), 60)]
    tried = [scenario.namespace for scenario in first(scenarios.trials(random.Random(1)), 60)]
    assert set(sent) == {"production"}
    assert set(tried) == {"staging", "development"}


def test_the_shop_asks_by_two_interfaces_and_keeps_some_bodies_to_itself() -> None:
    sent = first(scenarios.shop(random.Random(1)), 60)
    assert {scenario.kind for scenario in sent} == {"chat", "responses"}
    assert any(scenario.headers.get("Service-Log") == "no-bodies" for scenario in sent)
    assert any("traceparent" in scenario.headers for scenario in sent)


def test_scripts_name_no_namespace() -> None:
    assert {(scenario.namespace, scenario.kind) for scenario in first(scenarios.scripts(), 4)} == {
        (None, "embeddings"),
        (None, "models"),
    }


def test_long_answers_run_for_half_a_minute() -> None:
    for scenario in first(scenarios.long_answers(random.Random(1)), 20):
        text = scenario.turns[0]
        assert isinstance(text, str)
        tokens = len(texts.split_tokens(texts.answer_text(text)))
        assert 25 < tokens / float(scenario.directives["Sim-Tokens-Per-Second"]) < 60
        assert scenario.streamed


def test_mishaps_are_the_exception_and_of_every_kind() -> None:
    played = first(scenarios.with_mishaps(scenarios.daybook(random.Random(1)), random.Random(2)), 1000)
    spoilt = [scenario for scenario in played if scenario.accident is not None]
    assert 100 < len(spoilt) < 200
    assert len({str(scenario.accident) for scenario in spoilt}) == 8
    assert all(scenario.accident_at < len(scenario.turns) for scenario in spoilt)
