"""Test page sizes, cursors, and which requests match a term."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.records import a_record

from relaybook.log.query.filters import (
    CONTAINS,
    MAX_LIMIT,
    WORDS,
    BadFilter,
    Cursor,
    Filter,
    Term,
    comparison,
    matches,
    needs_text,
    parse_cursor,
    parse_limit,
)
from relaybook.log.query.words import SearchText
from relaybook.log.record import Note


@pytest.mark.parametrize(("text", "expected"), [("", 50), ("1", 1), ("500", MAX_LIMIT), ("007", 7)])
def test_limits_are_parsed(text: str, expected: int) -> None:
    assert parse_limit(text) == expected


@pytest.mark.parametrize("text", ["0", "501", "-1", "1.0", "x", "٣", "9" * 5000])
def test_invalid_limits_are_rejected(text: str) -> None:
    with pytest.raises(BadFilter, match="from 1 to 500"):
        parse_limit(text)


@given(st.sampled_from(("older", "newer")), st.integers(0, 10**18 - 1))
def test_cursors_survive_encoding(direction: str, seq: int) -> None:
    cursor = Cursor("older" if direction == "older" else "newer", seq)
    assert parse_cursor(str(cursor)) == cursor


@pytest.mark.parametrize("text", ["", "o", "x1", "o-1", "o1 ", "1", "o" + "9" * 19])
def test_invalid_cursors_are_rejected(text: str) -> None:
    with pytest.raises(BadFilter) as error:
        parse_cursor(text)
    assert error.value.parameter == "cursor"


def test_newer_cursors_are_rejected_where_only_older_are_allowed() -> None:
    assert parse_cursor("o5", only_older=True) == Cursor("older", 5)
    with pytest.raises(BadFilter, match="cursor is 'n5': expected the next_cursor of an earlier response"):
        parse_cursor("n5", only_older=True)


SAID = SearchText("The Whole", "thing.", "Earlier thing.")
RECORD = a_record(
    id="01a1fc49-f842-7000-ba81-d9e8ed513cc3",
    namespace="user-42",
    model="gpt-5",
    status=429,
    failed=True,
    started_at=1000,
    properties={"channel": "ios"},
    warnings=[Note("value_cut", "…")],
    notes=[Note("not_json", "…")],
    advice=[Note("doubled_path", "…")],
    stream_ended="cut",
    cost_reason="no_price",
    user=None,
)


@pytest.mark.parametrize("name", ["warning", "note", "advice", "cost_reason"])
def test_any_matches_only_records_with_a_code(name: str) -> None:
    term = Filter((Term(name, ("any",)),))
    assert matches(term, RECORD, SAID)
    assert not matches(term, a_record(), SAID)


@pytest.mark.parametrize(
    ("name", "yes", "no"),
    [
        ("namespace", "user-42", "user-4"),
        ("duration", ">812.0", ">812.5"),
        ("duration", "<=812.5", "<812.5"),
        ("input_tokens", "=48.0", "=47.0"),
        ("output_tokens", ">=37.0", ">37.0"),
        (WORDS, "the whole", "whole thing"),
        (WORDS, "earlier thing", "whole earlier"),
        ("response", "whole", "thing"),
        ("prompt", "thing", "whole"),
        ("said_here", "thing", "earlier"),
        ("model", "gpt-5", "GPT-5"),
        ("outcome", "complete", "error"),
        ("status", "429", "42"),
        ("status", "4xx", "5xx"),
        ("status", "error", "200"),
        ("failed", "true", "false"),
        ("warning", "value_cut", "doubled_path"),
        ("note", "not_json", "doubled_path"),
        ("advice", "doubled_path", "value_cut"),
        ("stream_ended", "cut", "no_done"),
        ("cost_reason", "no_price", "no_usage"),
        ("cost_reason", "any", "no_usage"),
        ("note", "any", "doubled_path"),
        ("from", "1000", "1001"),
        ("to", "1001", "1000"),
        ("property.channel", "ios", "web"),
        ("id", RECORD.id, ""),
    ],
)
def test_a_term_matches_its_field(name: str, yes: str, no: str) -> None:
    assert matches(Filter((Term(name, (yes,)),)), RECORD, SAID)
    assert not matches(Filter((Term(name, (no,)),)), RECORD, SAID)
    assert matches(Filter((Term(name, (no, yes)),)), RECORD, SAID)
    assert not matches(Filter((Term(name, (yes,), negated=True),)), RECORD, SAID)
    assert matches(Filter((Term(name, (no,), negated=True),)), RECORD, SAID)


def test_a_value_or_a_prefix_is_enough() -> None:
    for term in (Term("namespace", (), prefixes=("user-4",)), Term("model", ("o1",), prefixes=("o3", "gpt"))):
        assert matches(Filter((term,)), RECORD)
    assert matches(Filter((Term("property.channel", (), prefixes=("i",)),)), RECORD)
    assert not matches(Filter((Term("namespace", (), prefixes=("User", "user-43")),)), RECORD)
    assert not matches(Filter((Term("user", (), prefixes=("",)),)), RECORD)
    assert matches(Filter((Term("namespace", (), prefixes=("",)),)), RECORD)


@pytest.mark.parametrize("value", [">0.0", "<1.0", "=0.0"])
def test_unknown_numbers_satisfy_no_comparison(value: str) -> None:
    assert not matches(Filter((Term("cost", (value,)),)), RECORD)
    assert matches(Filter((Term("cost", (value,), negated=True),)), RECORD)


@pytest.mark.parametrize(("value", "parts"), [(">2.5", (">", 2.5)), ("<=1.0", ("<=", 1.0)), ("=7.0", ("=", 7.0))])
def test_a_comparison_is_split_into_operator_and_number(value: str, parts: tuple[str, float]) -> None:
    assert comparison(value) == parts


@pytest.mark.parametrize("name", [WORDS, CONTAINS])
def test_a_filter_tells_whether_it_searches_text(name: str) -> None:
    assert needs_text(Filter((Term("model", ("m",)), Term(name, ("refund",), negated=True))))
    assert not needs_text(Filter((Term("model", (name,)),)))


@pytest.mark.parametrize("term", [("user", "None"), ("user", ""), ("property.tier", "")])
def test_missing_fields_have_no_value(term: tuple[str, str]) -> None:
    assert not matches(Filter((Term(term[0], (term[1],)),)), RECORD)
    assert matches(Filter((Term(term[0], (term[1],), negated=True),)), RECORD)


def test_a_record_without_status_has_no_status_class() -> None:
    record = a_record(status=None, failed=True)
    assert not matches(Filter((Term("status", ("200", "5xx")),)), record)
    assert matches(Filter((Term("status", ("error",)),)), record)


def test_terms_of_different_names_must_all_hold() -> None:
    both = (Term("model", ("gpt-5",)), Term("failed", ("false",)))
    assert not matches(Filter(both), RECORD)
