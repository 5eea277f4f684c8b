"""Test which query parameters are parsed, and how invalid parameters are rejected."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.records import A_TIMESTAMP, a_record

from relaybook.clock import format_timestamp
from relaybook.log.query.filters import NAMES, BadFilter, Filter, Term, matches
from relaybook.log.query.parameters import MAX_IDS, MAX_VALUES, parameters_of_filter, parse_filter


def read(*pairs: tuple[str, str]) -> tuple[Term, ...]:
    return parse_filter(pairs, A_TIMESTAMP).terms


def test_no_parameters_mean_the_whole_log() -> None:
    assert read() == ()
    assert matches(Filter(), a_record())


def test_repeated_names_become_one_term_and_negated_ones_another() -> None:
    assert read(("model", "a"), ("namespace", "x"), ("model", "b"), ("not.model", "c")) == (
        Term("model", ("a", "b")),
        Term("namespace", ("x",)),
        Term("model", ("c",), negated=True),
    )


def test_property_names_in_parameters_are_normalized_like_tags() -> None:
    assert read(("property.User_Id", "7"), ("not.property.User-Id", "8")) == (
        Term("property.user-id", ("7",)),
        Term("property.user-id", ("8",), negated=True),
    )


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("modell", "x", "is not a known parameter. Did you mean model?"),
        ("propery.user-id", "x", "is not a known parameter. Did you mean property.user-id?"),
        ("user-id", "42", "Did you mean user? To filter by a property, write property.user-id=42."),
        ("not.team", "a", "To filter by a property, write not.property.team=a."),
        ("team", "a" * 81, "To filter by a property, write property.team=…."),
        ("q", "modell:x", "is not a known name. Did you mean model? To search"),
        ("property.", "x", "is not a known parameter"),
        ("not.", "x", "is not a known parameter"),
        ("Q", "refund", "Known: namespace"),
        ("not.q", "refund", "Known: namespace"),
        ("duration", "2s", "a comparison with a unit"),
        ("duration", ">2", "a comparison with a unit"),
        ("cost", ">1e9", "a comparison in US dollars"),
        ("input_tokens", ">1s", "an integer"),
        ("failed", "yes", "one of true, false"),
        ("outcome", "done", "one of open, complete"),
        ("result", "failed", "To find all failed requests, filter by failed (true or false)."),
        ("kind", "video", "one of chat"),
        ("status", "6xx", "a status such as 200"),
        ("status", "0200", "a status such as 200"),
        ("namespace", "a\0b", "without NUL"),
        ("namespace", "\ud800", "without NUL or lone surrogates"),
        ("not.from", "-1h", "cannot be repeated or negated"),
        ("from", "", "a timestamp"),
        ("begins.modell", "x", "is not a known parameter. Did you mean model?"),
        ("begins.", "x", "is not a known parameter"),
        ("begins.not.model", "x", "is not a known parameter"),
        ("words", "!!", "words is '!!': expected text with at least one letter or digit"),
        ("begins.words", "*", "begins.words is '*': expected text with at least one letter or digit"),
        ("contains", "", "0 characters: expected 1 to 1000"),
        ("contains", "x" * 1001, "1001 characters"),
        ("from", "yesterday", "a relative time such as -15m"),
        ("from", "2d", "a relative time begins with a minus sign. Write -2d."),
        ("from", "-1y", "units: s, m, h, d, w"),
        ("from", "2026-11-21T15:02:31 01:00", "Write the + as %2B: 2026-11-21T15:02:31%2B01:00"),
        ("warning", "value-cut", "one of namespace_cut, value_cut"),
        ("not.advice", "temperature", "one of temperature_and_top_p"),
        ("advice", "not_understood", "one of temperature_and_top_p"),
        ("note", "html", "one of too_large_to_read, unknown_encoding"),
        ("stream_ended", "complete", "one of done, no_done, cut"),
        ("id", "chatcmpl-1", "(Service-Request-Id)"),
        ("from", "2026-13-01", "such as 2026-11-21T14:02:31.000000Z"),
    ],
)
def test_invalid_parameters_are_rejected_by_name(name: str, value: str, expected: str) -> None:
    with pytest.raises(BadFilter) as error:
        read((name, value))
    assert error.value.parameter == name
    assert expected in str(error.value)


def test_from_and_to_cannot_be_repeated() -> None:
    with pytest.raises(BadFilter, match="cannot be repeated"):
        read(("to", "-1h"), ("to", "-2h"))


def test_an_empty_time_range_is_rejected() -> None:
    with pytest.raises(BadFilter, match=r"from is 2026-11-21T13:02:31\.000000Z and to is 2026-11-21T12:02:31") as error:
        read(("from", "-1h"), ("to", "-2h"))
    assert error.value.parameter == "from"
    with pytest.raises(BadFilter, match=r"start \(from\) must be before"):
        read(("from", "2026-11-21"), ("q", "to:2026-11-21"))
    assert len(read(("from", "-2h"), ("to", "-1h"))) == 2
    with pytest.raises(BadFilter, match=r"start \(from\) must be before"):
        read(("from", "9999-12-31T23:59:59Z"), ("to", "0001-01-01"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-999999w", "0001-01-01T00:00:00.000000Z"),
        ("0001-01-01T00:00:00+23:59", "0001-01-01T00:00:00.000000Z"),
        ("9999-12-31T23:59:59-23:59", "9999-12-31T23:59:59.999999Z"),
    ],
)
def test_times_outside_the_years_1_to_9999_are_clamped(text: str, expected: str) -> None:
    (term,) = read(("from", text))
    assert format_timestamp(int(term.values[0])) == expected
    with pytest.raises(BadFilter, match=r"start \(from\) must be before"):
        read(("from", "9999-12-31T23:59:59.999999"), ("to", text))


def test_too_many_values_are_rejected() -> None:
    assert len(read(*(("model", str(n)) for n in range(MAX_VALUES)))[0].values) == MAX_VALUES
    with pytest.raises(BadFilter, match="more than 100 values"):
        read(*(("model", str(n)) for n in range(MAX_VALUES + 1)))


def test_a_thousand_requests_can_be_selected_by_their_ids() -> None:
    ids = [f"0199a3e2-f1d4-7c3a-9c1e-{n:012x}" for n in range(MAX_IDS + 1)]
    assert len(read(*(("id", each) for each in ids[:MAX_IDS]))[0].values) == MAX_IDS
    with pytest.raises(BadFilter, match="more than 1,000 values"):
        read(*(("id", each) for each in ids))


@given(st.text(max_size=12), st.text(max_size=12))
def test_any_parameter_is_parsed_or_rejected(name: str, value: str) -> None:
    for given_name in (name, f"property.{name}", f"not.{name}", f"begins.{name}", "q", "begins.words", *NAMES):
        with suppress(BadFilter):
            read((given_name, value))


def test_values_and_prefixes_of_a_field_are_one_term() -> None:
    assert read(("namespace_prefix", "a"), ("begins.namespace", "b"), ("namespace", "x")) == (
        Term("namespace", ("x",), prefixes=("a", "b")),
    )
    assert read(("not.begins.property.Tier", "g"), ("not.property.tier", "free")) == (
        Term("property.tier", ("free",), negated=True, prefixes=("g",)),
    )
    assert read(("begins.key", "3F")) == (Term("key", (), prefixes=("3f",)),)


@pytest.mark.parametrize("name", ["status", "outcome", "contains", "duration", "from", "failed"])
def test_fields_without_free_text_have_no_prefixes(name: str) -> None:
    with pytest.raises(BadFilter, match=f"{name} cannot be searched by prefix. Write not.{name}=value.") as error:
        read((f"not.begins.{name}", "x"))
    assert error.value.parameter == f"not.begins.{name}"


def test_all_words_must_match() -> None:
    assert read(("words", "refund"), ("words", "where is"), ("begins.words", "lat"), ("not.words", "refun*")) == (
        Term("words", ("refund",)),
        Term("words", ("where is",)),
        Term("words", (), prefixes=("lat",)),
        Term("words", ("refun*",), negated=True),
    )


def test_several_bounds_of_a_number_must_all_hold() -> None:
    assert read(("duration", ">2s"), ("duration", "<=1m"), ("input_tokens", "7")) == (
        Term("duration", (">2000.0",)),
        Term("duration", ("<=60000.0",)),
        Term("input_tokens", ("=7.0",)),
    )


def test_a_query_adds_its_terms_and_cannot_be_repeated() -> None:
    assert read(("model", "a"), ("q", "refund model:b")) == (
        Term("model", ("a",)),
        Term("words", ("refund",)),
        Term("model", ("b",)),
    )
    assert read(("q", "  ")) == ()
    with pytest.raises(BadFilter, match="q is repeated"):
        read(("q", "a"), ("q", "b"))


def test_a_substring_search_needs_a_start_time() -> None:
    filter_ = parse_filter([("q", 'contains:"a \\"b" from:-1h'), ("not.contains", "c")], 7_200_000_000)
    assert Term("contains", ("c",), negated=True) in filter_.terms
    assert Term("contains", ('a "b',)) in filter_.terms


@pytest.mark.parametrize(("name", "value"), [("contains", "efun"), ("not.contains", "efun"), ("q", "contains:efun")])
def test_a_substring_search_without_start_time_is_rejected(name: str, value: str) -> None:
    with pytest.raises(BadFilter, match="Set from to a start time, such as -1h") as error:
        read((name, value))
    assert error.value.parameter == "contains"


@pytest.mark.parametrize(
    "pairs",
    [
        [],
        [("namespace", "ios"), ("namespace", "web"), ("not.model", "gpt-4o"), ("begins.user", "ada")],
        [("not.begins.property.user-id", "7"), ("status", "4xx"), ("failed", "true"), ("words", "my refund")],
        [("from", "0001-01-01"), ("to", "2026-01-01T00:00:00.000042Z")],
        [("duration", ">2.5s"), ("duration", "<=300.1ms"), ("first_token", "<999999999999999h")],
        [("score", "<-0.5"), ("not.label", "good"), ("feedback", "any")],
        [("cost", ">0.000000000000001"), ("input_tokens", "12"), ("output_tokens", ">=999999999999999")],
    ],
)
def test_a_filter_is_written_as_parameters_with_the_same_meaning(pairs: list[tuple[str, str]]) -> None:
    filter_ = parse_filter(pairs, A_TIMESTAMP)
    written = [(name, value) for name, value in parameters_of_filter(filter_) if value is not None]
    assert parse_filter(written, A_TIMESTAMP) == filter_


def test_a_term_without_values_is_written_without_a_value() -> None:
    assert parameters_of_filter(Filter((Term("property", (), negated=True),))) == [("not.property", None)]
