"""Query parameters: what is read, what is refused and how it is named."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.records import A_MOMENT, a_record

from relaybook.clock import format_timestamp
from relaybook.log.query.filters import NAMES, BadFilter, Filter, Term, matches
from relaybook.log.query.parameters import MAX_VALUES, parse_filter


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
        ("modell", "x", "is not a parameter here. Did you mean model?"),
        ("q", "modell:x", "is no name here. Did you mean model? To look"),
        ("property.", "x", "is not a parameter"),
        ("not.", "x", "is not a parameter"),
        ("Q", "refund", "Known: namespace"),
        ("not.q", "refund", "Known: namespace"),
        ("duration", "2s", "a bound with its unit"),
        ("duration", ">2", "a bound with its unit"),
        ("cost", ">1e9", "a bound in US dollars"),
        ("input_tokens", ">1s", "a whole number"),
        ("failed", "yes", "one of true, false"),
        ("outcome", "done", "one of open, complete"),
        ("kind", "audio", "one of chat"),
        ("status", "6xx", "a status such as 200"),
        ("status", "0200", "a status such as 200"),
        ("namespace", "a\0b", "without NUL"),
        ("namespace", "\ud800", "without NUL and lone surrogates"),
        ("not.from", "-1h", "given once and not be negated"),
        ("from", "", "a moment"),
        ("contains", "", "0 characters: it takes a piece of text of 1 to 1000"),
        ("contains", "x" * 1001, "1001 characters"),
        ("from", "yesterday", "relative like -15m"),
        ("from", "-1y", "in s, m, h, d, w"),
        ("from", "2026-11-21T15:02:31 01:00", "write it as %2B: 2026-11-21T15:02:31%2B01:00"),
        ("warning", "value-cut", "one of namespace_cut, value_cut"),
        ("not.advice", "temperature", "one of temperature_and_top_p"),
        ("id", "chatcmpl-1", "an id of ours"),
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


def test_a_span_without_time_in_it_is_refused() -> None:
    with pytest.raises(
        BadFilter, match=r"from is 2026-11-21T13:02:31\.000000Z and to is 2026-11-21T12:02:31"
    ) as refused:
        read(("from", "-1h"), ("to", "-2h"))
    assert refused.value.parameter == "from"
    with pytest.raises(BadFilter, match="no time between them"):
        read(("from", "2026-11-21"), ("q", "to:2026-11-21"))
    assert len(read(("from", "-2h"), ("to", "-1h"))) == 2
    with pytest.raises(BadFilter, match="no time between them"):
        read(("from", "9999-12-31T23:59:59Z"), ("to", "0001-01-01"))


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("-999999w", "0001-01-01T00:00:00.000000Z"),
        ("0001-01-01T00:00:00+23:59", "0001-01-01T00:00:00.000000Z"),
        ("9999-12-31T23:59:59-23:59", "9999-12-31T23:59:59.999999Z"),
    ],
)
def test_moments_that_cannot_be_written_are_the_nearest_that_can(asked: str, meant: str) -> None:
    (term,) = read(("from", asked))
    assert format_timestamp(int(term.values[0])) == meant
    with pytest.raises(BadFilter, match="no time between them"):
        read(("from", "9999-12-31T23:59:59.999999"), ("to", asked))


def test_too_many_values_are_refused() -> None:
    assert len(read(*(("model", str(n)) for n in range(MAX_VALUES)))[0].values) == MAX_VALUES
    with pytest.raises(BadFilter, match="more than 100 values"):
        read(*(("model", str(n)) for n in range(MAX_VALUES + 1)))


@given(st.text(max_size=12), st.text(max_size=12))
def test_any_other_text_is_read_or_refused_and_nothing_else(name: str, value: str) -> None:
    for given_name in (name, f"property.{name}", f"not.{name}", "q", *NAMES):
        with suppress(BadFilter):
            read((given_name, value))


def test_the_beginning_of_a_namespace_is_a_term_of_it() -> None:
    assert read(("namespace_prefix", "a"), ("namespace_prefix", "b"), ("namespace", "x")) == (
        Term("namespace", (), prefixes=("a", "b")),
        Term("namespace", ("x",)),
    )


def test_several_bounds_of_a_number_must_all_hold() -> None:
    assert read(("duration", ">2s"), ("duration", "<=1m"), ("input_tokens", "7")) == (
        Term("duration", (">2000.0",)),
        Term("duration", ("<=60000.0",)),
        Term("input_tokens", ("=7.0",)),
    )


def test_a_query_adds_its_terms_and_is_given_once() -> None:
    assert read(("model", "a"), ("q", "refund model:b")) == (
        Term("model", ("a",)),
        Term("model", ("b",)),
        Term("words", ("refund",)),
    )
    assert read(("q", "  ")) == ()
    with pytest.raises(BadFilter, match="given once"):
        read(("q", "a"), ("q", "b"))


def test_a_piece_of_text_is_looked_for_since_a_moment() -> None:
    wanted = parse_filter([("q", 'contains:"a \\"b" from:-1h'), ("not.contains", "c")], 7_200_000_000)
    assert Term("contains", ("c",), negated=True) in wanted.terms
    assert Term("contains", ('a "b',)) in wanted.terms


@pytest.mark.parametrize(("name", "value"), [("contains", "efun"), ("not.contains", "efun"), ("q", "contains:efun")])
def test_a_piece_of_text_without_a_moment_is_refused(name: str, value: str) -> None:
    with pytest.raises(BadFilter, match="add from, such as from=-1h") as refused:
        read((name, value))
    assert refused.value.parameter == "contains"
