"""The first seconds: namespaces in their order, and everything that the log can show."""

import random

from relaybook_demo.samples.history import history, opening
from relaybook_demo.samples.scenario import BROKEN_OFF, HANGS_UP, RATE_LIMITED, RETRIED, UNKNOWN_MODEL, WRONG_KEY


def test_the_opening_introduces_the_namespaces_in_order() -> None:
    named = [scenario.namespace for scenario in opening(random.Random(7))]
    assert named == ["production", "staging", "development", "iOS", "Android", "web", None]


def test_nothing_goes_wrong_in_the_opening() -> None:
    assert {scenario.accident for scenario in opening(random.Random(7))} == {None}


def test_the_history_has_about_thirty_requests() -> None:
    scenes = history(random.Random(7))
    assert 30 <= sum(len(scenario.turns) for scenario in scenes) <= 40


def test_the_history_shows_everything_once() -> None:
    scenes = history(random.Random(7))
    accidents = [scenario.accident for scenario in scenes]
    for accident in (BROKEN_OFF, HANGS_UP, RATE_LIMITED, RETRIED, UNKNOWN_MODEL, WRONG_KEY):
        assert accidents.count(accident) == 1
    assert {scenario.kind for scenario in scenes} == {"chat", "responses"}
    assert {scenario.tool for scenario in scenes} == {None, "get_weather", "get_refund"}
    assert any(scenario.parameters.get("n") == 3 for scenario in scenes)
    assert any("response_format" in scenario.parameters for scenario in scenes)
    assert any(not isinstance(turn, str) for scenario in scenes for turn in scenario.turns)
