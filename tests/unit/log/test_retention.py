"""Test which requests are removed or expire, and when."""

import pytest
from tests.support.records import A_TIMESTAMP

from relaybook.log.retention import DAY_US, Cutoff, Cutoffs, Retention, Rule, raised
from relaybook.settings.definitions import NamespaceSettings, Settings

MIDNIGHT = A_TIMESTAMP - A_TIMESTAMP % DAY_US


def test_the_cutoffs_of_a_rule_change_at_midnight() -> None:
    rules = Retention(general=Rule(body_days=1, days=3), aggregate_days=5, by_pattern={"dev-*": Rule(days=1)})
    just_before, at_midnight = rules.cutoffs(MIDNIGHT - 1), rules.cutoffs(MIDNIGHT)
    assert at_midnight == Cutoffs(
        general=Cutoff(MIDNIGHT - DAY_US, MIDNIGHT - 3 * DAY_US),
        by_pattern={"dev-*": Cutoff(0, MIDNIGHT - DAY_US)},
        aggregates=MIDNIGHT - 5 * DAY_US,
    )
    assert just_before == rules.cutoffs(MIDNIGHT - DAY_US)


@pytest.mark.parametrize(
    ("namespace", "pattern"),
    [("production", None), ("dev-a", "dev-*"), ("dev-", "dev-*"), ("dev-ci-7", "dev-ci-*"), ("dev-x", "dev-x")],
)
def test_the_longest_pattern_that_matches_applies(namespace: str, pattern: str | None) -> None:
    patterns = {"dev-*": Cutoff(0, 1), "dev-ci-*": Cutoff(0, 2), "dev-x": Cutoff(0, 3), "dev-y*": Cutoff(0, 4)}
    cutoffs = Cutoffs(general=Cutoff(0, 5), by_pattern=patterns)
    latest = patterns[pattern].requests if pattern else 5
    assert cutoffs.fate(namespace, latest) == "kept"
    assert cutoffs.fate(namespace, latest - 1) == "removed"


def test_content_is_removed_before_the_request() -> None:
    cutoffs = Cutoffs(general=Cutoff(content=20, requests=10))
    assert [cutoffs.fate("any", ended_at) for ended_at in (9, 10, 19, 20)] == ["removed", "expired", "expired", "kept"]
    assert Cutoffs().fate("any", 0) == "kept"


def test_a_namespace_uses_the_general_days_unless_it_sets_its_own() -> None:
    settings = Settings(
        keep_days=40,
        keep_bodies_days=30,
        namespaces={"dev-*": NamespaceSettings(keep_bodies_days=0)},  # type: ignore[arg-type]
    )
    rules = Retention.of(settings)
    assert rules == Retention(general=Rule(body_days=30, days=40), by_pattern={"dev-*": Rule(body_days=0, days=40)})


def test_the_budget_moves_every_cutoff_that_is_earlier() -> None:
    by_age = Cutoffs(general=Cutoff(5, 1), by_pattern={"audit": Cutoff()}, aggregates=9)
    assert raised(by_age, Cutoff(4, 2)) == Cutoffs(
        general=Cutoff(5, 2), by_pattern={"audit": Cutoff(4, 2)}, aggregates=9, reason="disk_budget"
    )
