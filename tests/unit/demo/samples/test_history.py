"""Test the sample traffic of the first seconds: the order of namespaces, and each kind of log entry."""

import random

from relaybook_demo.samples.history import history, opening
from relaybook_demo.samples.scenario import (
    CLIENT_CANCELS,
    CONNECTION_RESET,
    RATE_LIMITED,
    RETRIED,
    UNKNOWN_MODEL,
    WRONG_KEY,
)


def test_the_opening_has_the_namespaces_in_order() -> None:
    namespaces = [scenario.namespace for scenario in opening(random.Random(7))]
    assert namespaces == ["production", "staging", "development", "iOS", "Android", "web", None]


def test_the_opening_has_no_faults() -> None:
    assert {scenario.fault for scenario in opening(random.Random(7))} == {None}


def test_the_history_has_about_thirty_requests() -> None:
    scenarios = history(random.Random(7))
    assert 30 <= sum(len(scenario.turns) for scenario in scenarios) <= 40


def test_the_history_has_each_kind_of_entry_once() -> None:
    scenarios = history(random.Random(7))
    faults = [scenario.fault for scenario in scenarios]
    for fault in (CONNECTION_RESET, CLIENT_CANCELS, RATE_LIMITED, RETRIED, UNKNOWN_MODEL, WRONG_KEY):
        assert faults.count(fault) == 1
    assert {scenario.kind for scenario in scenarios} == {"chat", "responses"}
    assert {scenario.tool for scenario in scenarios} == {None, "get_weather", "get_refund"}
    assert any(scenario.parameters.get("n") == 3 for scenario in scenarios)
    assert any("response_format" in scenario.parameters for scenario in scenarios)
    assert any(not isinstance(turn, str) for scenario in scenarios for turn in scenario.turns)
