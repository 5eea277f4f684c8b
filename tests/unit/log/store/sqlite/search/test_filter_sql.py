"""Test that SQL conditions use fixed column names, bound values, and ranges for prefixes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaybook.log.query.filters import FEEDBACK, NAMES, NUMBERS, SCORE, SECTIONS, BadFilter, Filter, Term
from relaybook.log.store.sqlite.search.filter_sql import after_prefix, clamped_int, conditions, fts_phrase

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=4) | st.lists(
    st.sampled_from(["a", "\ud7ff", "\ue000", "\U0010ffff", "\x7f", "\x80"]), max_size=3
).map("".join)
HOSTILE = "'; DROP TABLE requests; --"
#: Names of terms that accept any text as a value.
FREE = sorted(set(NAMES) - {"status", "failed", "from", "to", "namespace_prefix", *SECTIONS, *NUMBERS, SCORE, FEEDBACK})


@given(texts, texts)
def test_a_prefix_is_a_range_in_utf_8_byte_order(prefix: str, text: str) -> None:
    after = after_prefix(prefix)
    in_range = text.encode() >= prefix.encode() and (after is None or text.encode() < after.encode())
    assert in_range == text.startswith(prefix)


@pytest.mark.parametrize(
    ("prefix", "after"), [("", None), ("a", "b"), ("a\U0010ffff", "b"), ("\U0010ffff", None), ("\ud7ff", "\ue000")]
)
def test_after_prefix_is_the_end_of_the_range(prefix: str, after: str | None) -> None:
    assert after_prefix(prefix) == after


@pytest.mark.parametrize("name", [*FREE, f"property.{HOSTILE}"])
@pytest.mark.parametrize("negated", [False, True])
def test_values_and_property_names_are_never_part_of_the_sql(name: str, negated: bool) -> None:
    (condition,) = conditions(Filter((Term(name, (HOSTILE, "other"), negated),)))
    assert "DROP" not in condition.sql
    assert HOSTILE in condition.bindings or name == "id"  # an id is bound as its bytes
    assert condition.sql.count("?") == len(condition.bindings)


@pytest.mark.parametrize("prefix", [HOSTILE, "x%"])
def test_prefixes_are_never_part_of_the_sql(prefix: str) -> None:
    (condition,) = conditions(Filter((Term("model", ("a",), prefixes=(prefix,)),)))
    assert prefix not in condition.sql
    assert prefix in condition.bindings


@pytest.mark.parametrize(
    ("phrase", "query"),
    [
        ("refund", '"refund"'),
        ("a AND b OR NOT c", '"a and b or not c"'),
        ('say "hi"', '"say hi"'),
        ("said : x", '"said x"'),
        ("refun*", '"refun"'),
        ("退款", '"退 款"'),
        ("Straße", '"strasse"'),
        ("NEAR(a b)", '"near a b"'),
    ],
)
def test_a_phrase_is_one_string_without_operators(phrase: str, query: str) -> None:
    assert fts_phrase(phrase) == query


def test_an_unknown_name_is_rejected() -> None:
    with pytest.raises(BadFilter):
        conditions(Filter((Term("seq; --", ("1",)),)))


@pytest.mark.parametrize(("text", "number"), [("5", 5), ("-7", -7), ("9" * 30, 2**63 - 1), ("-" + "9" * 30, 1 - 2**63)])
def test_numbers_are_clamped_to_64_bits(text: str, number: int) -> None:
    assert clamped_int(text) == number
