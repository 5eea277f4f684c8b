"""Test that every field, value and code that is shown to people is described."""

import re
from typing import get_args, get_type_hints

import pytest
from tests.support.tree import ROOT

from relaybook.errors import RelayError
from relaybook.log.descriptions import FIELDS, GAP_REASONS, REFUSALS
from relaybook.log.query.filters import NAMES, NUMBERS, SCORE
from relaybook.log.query.term_values import CHOICES, checked_value
from relaybook.log.record import Gap


def test_every_filter_is_described() -> None:
    assert sorted(FIELDS) == sorted(NAMES)


@pytest.mark.parametrize("name", FIELDS)
def test_suggested_values_are_valid(name: str) -> None:
    for value in (*FIELDS[name].bounds, *FIELDS[name].choices):
        assert checked_value(name, value, 0, name)
    assert bool(FIELDS[name].bounds) == (name in (*NUMBERS, SCORE))


@pytest.mark.parametrize("name", ["outcome", "kind", "failed", "feedback", "note", "stream_ended", "cost_reason"])
def test_all_values_of_a_field_with_few_values_are_described(name: str) -> None:
    assert sorted(FIELDS[name].choices) == sorted(CHOICES[name])


def test_every_reason_of_a_gap_is_described() -> None:
    assert sorted(GAP_REASONS) == sorted(get_args(get_type_hints(Gap)["reason"]))


def test_refusals_are_described_as_in_the_documentation() -> None:
    codes = {error.code for error in RelayError}
    assert set(REFUSALS) <= codes
    page = (ROOT / "docs" / "reference" / "errors.md").read_text("utf-8").replace("`", "")
    meanings = dict(re.findall(r"^\| (\w+) \| [^|]+ \| ([^|]+) \|", page, re.MULTILINE))
    for code, text in REFUSALS.items():
        assert text.partition(".")[0].split(",")[0] in meanings[code]
