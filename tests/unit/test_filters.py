"""Filters: what is read, what is refused and how it is named, and what a term means."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.records import A_MOMENT, a_record

from relaybook.filters import (
    MAX_LIMIT,
    MAX_VALUES,
    NAMES,
    BadFilter,
    Cursor,
    Filter,
    Term,
    matches,
    parse_cursor,
    parse_filter,
    parse_limit,
    parse_moment,
)
from relaybook.records import Note


def read(*pairs: tuple[str, str]) -> tuple[Term, ...]:
    return parse_filter(pairs, A_MOMENT).terms


def test_no_parameters_mean_the_whole_log() -> None:
    assert read() == ()
    assert matches(Filter(), a_record())


def test_repeated_names_become_one_term_and_negation_one_of_its_own() -> None:
    assert read(("model", "a"), ("namespace", "x"), ("model", "b"), ("not.model", "c")) == (
        Term("model", ("a", "b")),
        Term("namespace", ("x",)),
        Term("model", ("c",), negated=True),
    )


def test_names_of_properties_are_read_as_tags_are() -> None:
    assert read(("property.User_Id", "7"), ("not.property.User-Id", "8")) == (
        Term("property.user-id", ("7",)),
        Term("property.user-id", ("8",), negated=True),
    )


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("modell", "x", "Known: namespace"),
        ("property.", "x", "is not a parameter"),
        ("not.", "x", "is not a parameter"),
        ("q", "refund", "not built yet"),
        ("failed", "yes", "one of true, false"),
        ("outcome", "done", "one of open, complete"),
        ("kind", "audio", "one of chat"),
        ("status", "6xx", "a status such as 200"),
        ("status", "0200", "a status such as 200"),
        ("namespace", "a\0b", "without NUL"),
        ("namespace", "\ud800", "without NUL and lone surrogates"),
        ("not.from", "-1h", "given once and not be negated"),
        ("from", "", "a moment"),
        ("from", "yesterday", "relative like -15m"),
        ("from", "2026-13-01", "write one like 2026-11-21T14:02:31.000000Z"),
    ],
)
def test_what_cannot_be_understood_is_refused_by_name(name: str, value: str, said: str) -> None:
    with pytest.raises(BadFilter) as refused:
        read((name, value))
    assert refused.value.parameter == name
    assert said in str(refused.value)


def test_a_span_is_given_once() -> None:
    with pytest.raises(BadFilter, match="given once"):
        read(("to", "-1h"), ("to", "-2h"))


def test_too_many_values_are_refused() -> None:
    assert len(read(*(("model", str(n)) for n in range(MAX_VALUES)))[0].values) == MAX_VALUES
    with pytest.raises(BadFilter, match="more than 100 values"):
        read(*(("model", str(n)) for n in range(MAX_VALUES + 1)))


@given(st.text(max_size=12), st.text(max_size=12))
def test_any_other_text_is_read_or_refused_and_nothing_else(name: str, value: str) -> None:
    for given_name in (name, f"property.{name}", f"not.{name}", *NAMES):
        with suppress(BadFilter):
            read((given_name, value))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-15m", A_MOMENT - 900_000_000),
        ("-7d", A_MOMENT - 7 * 86_400_000_000),
        ("-0s", A_MOMENT),
        ("2026-11-21T14:02:31Z", A_MOMENT),
        ("2026-11-21T15:02:31.000042+01:00", A_MOMENT + 42),
        ("2026-11-21T14:02:31", A_MOMENT),
        ("1969-12-31T23:59:59.999999Z", -1),
    ],
)
def test_moments_are_absolute_or_relative(text: str, expected: int) -> None:
    assert parse_moment(text, A_MOMENT) == expected


@pytest.mark.parametrize(("text", "expected"), [("", 50), ("1", 1), ("500", MAX_LIMIT), ("007", 7)])
def test_limits_are_read(text: str, expected: int) -> None:
    assert parse_limit(text) == expected


@pytest.mark.parametrize("text", ["0", "501", "-1", "1.0", "x", "٣", "9" * 5000])
def test_other_limits_are_refused(text: str) -> None:
    with pytest.raises(BadFilter, match="from 1 to 500"):
        parse_limit(text)


@given(st.sampled_from(("older", "newer")), st.integers(0, 10**18 - 1))
def test_cursors_come_back(direction: str, seq: int) -> None:
    cursor = Cursor("older" if direction == "older" else "newer", seq)
    assert parse_cursor(str(cursor)) == cursor


@pytest.mark.parametrize("text", ["", "o", "x1", "o-1", "o1 ", "1", "o" + "9" * 19])
def test_other_cursors_are_refused(text: str) -> None:
    with pytest.raises(BadFilter) as refused:
        parse_cursor(text)
    assert refused.value.parameter == "cursor"


RECORD = a_record(
    id="01a1fc49-f842-7000-ba81-d9e8ed513cc3",
    namespace="user-42",
    model="gpt-5",
    status=429,
    failed=True,
    started_at=1000,
    properties={"channel": "ios"},
    warnings=[Note("value_cut", "…")],
    advice=[Note("doubled_path", "…")],
    user=None,
)


@pytest.mark.parametrize(
    ("name", "yes", "no"),
    [
        ("namespace", "user-42", "user-4"),
        ("namespace_prefix", "user-4", "user-43"),
        ("namespace_prefix", "", "User"),
        ("model", "gpt-5", "GPT-5"),
        ("outcome", "complete", "refused"),
        ("status", "429", "42"),
        ("status", "4xx", "5xx"),
        ("status", "error", "200"),
        ("failed", "true", "false"),
        ("warning", "value_cut", "doubled_path"),
        ("advice", "doubled_path", "value_cut"),
        ("from", "1000", "1001"),
        ("to", "1001", "1000"),
        ("property.channel", "ios", "web"),
        ("id", RECORD.id, ""),
    ],
)
def test_a_term_selects_what_it_names(name: str, yes: str, no: str) -> None:
    assert matches(Filter((Term(name, (yes,)),)), RECORD)
    assert not matches(Filter((Term(name, (no,)),)), RECORD)
    assert matches(Filter((Term(name, (no, yes)),)), RECORD)
    assert not matches(Filter((Term(name, (yes,), negated=True),)), RECORD)
    assert matches(Filter((Term(name, (no,), negated=True),)), RECORD)


@pytest.mark.parametrize("term", [("user", "None"), ("user", ""), ("property.tier", "")])
def test_what_is_not_there_has_no_value(term: tuple[str, str]) -> None:
    assert not matches(Filter((Term(term[0], (term[1],)),)), RECORD)
    assert matches(Filter((Term(term[0], (term[1],), negated=True),)), RECORD)


def test_a_record_without_status_has_none_of_any_class() -> None:
    record = a_record(status=None, failed=True)
    assert not matches(Filter((Term("status", ("200", "5xx")),)), record)
    assert matches(Filter((Term("status", ("error",)),)), record)


def test_terms_of_different_names_must_all_hold() -> None:
    both = (Term("model", ("gpt-5",)), Term("failed", ("false",)))
    assert not matches(Filter(both), RECORD)
