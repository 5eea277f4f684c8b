"""Test the query language: names, words, phrases, and messages that quote the invalid part."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.records import A_TIMESTAMP

from relaybook.log.query.filters import NAMES, WORDS, BadFilter, Term
from relaybook.log.query.language import MAX_CHARACTERS, MAX_PARTS, parse_query


def read(text: str) -> tuple[Term, ...]:
    return parse_query(text, A_TIMESTAMP)


def test_the_documented_example_is_parsed() -> None:
    text = 'namespace:production -model:gpt-4o* status:error duration:>2s cost:>0.01 property.user:42 "free text"'
    assert read(text) == (
        Term("namespace", ("production",)),
        Term("model", (), negated=True, prefixes=("gpt-4o",)),
        Term("status", ("error",)),
        Term("property.user", ("42",)),
        Term("duration", (">2000.0",)),
        Term("cost", (">0.01",)),
        Term(WORDS, ("free text",)),
    )


def test_other_characters_are_part_of_words() -> None:
    assert read('a=b x<y "duration>500ms"') == tuple(Term(WORDS, (text,)) for text in ("a=b", "x<y", "duration>500ms"))


def test_a_blank_query_has_no_terms() -> None:
    assert read("") == read(" \t\n\u3000") == ()


def test_a_repeated_name_matches_any_of_its_values() -> None:
    assert read("model:a model:b* model:c") == (Term("model", ("a", "c"), prefixes=("b",)),)


def test_all_words_and_phrases_must_match() -> None:
    assert read('refund -late "where is" refun* "my ref"*') == (
        Term(WORDS, ("refund",)),
        Term(WORDS, ("late",), negated=True),
        Term(WORDS, ("where is",)),
        Term(WORDS, ("refun*",)),
        Term(WORDS, ("my ref*",)),
    )


@pytest.mark.parametrize(
    ("text", "values", "prefixes"),
    [
        ('namespace:"my channel"', ("my channel",), ()),
        ('namespace:"a*"', ("a*",), ()),
        ("namespace:a*", (), ("a",)),
        ("namespace:*", (), ("",)),
        ('namespace:"*a*b"', ("*a*b",), ()),
        ('namespace:"say \\"hi\\" \\\\"', ('say "hi" \\',), ()),
        ("namespace:a:b", ("a:b",), ()),
        ("namespace:'x", ("'x",), ()),
        ("namespace_prefix:us", (), ("us",)),
        ("namespace:日本", ("日本",), ()),
    ],
)
def test_values_are_quoted_or_prefixes(text: str, values: tuple[str, ...], prefixes: tuple[str, ...]) -> None:
    assert read(text) == (Term("namespace", values, prefixes=prefixes),)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("refund modell:gpt-4o", "'modell:gpt-4o' at character 8: 'modell' is not a known name"),
        ("user-id:42", 'write "user-id:42". To filter by a property, write property.user-id.'),
        ('namespace:""', "expected the name of a namespace. Omit it to search all"),
        ("refund OR return", "'OR' at character 8: operator OR is not supported. All parts must match"),
        ("a -NOT b", "'-NOT' at character 3: operator NOT is not supported"),
        ("https://example.com", 'write "https://example.com"'),
        ('refund "where is', "at character 8: the closing quote is missing"),
        ('model:"x', "at character 1: the closing quote is missing"),
        ("model:", "the value is missing. Write model:value"),
        ("a duration:2s", "'duration:2s' at character 3: duration is '2s': expected a bound"),
        ("status:6xx", "a status such as 200"),
        ("from:yesterday", "a relative time such as -15m"),
        ("-to:-1h", "cannot be excluded"),
        ("!!!", "at least one letter or digit"),
        (
            "duration>500ms",
            "'duration>500ms' at character 1: the colon after the name is missing. Write duration:>500ms",
        ),
        ("a -status>=500", "'-status>=500' at character 3: the colon after the name is missing. Write -status:>=500"),
        ("model=gpt-4o", 'Write model:gpt-4o. To search for this text, write "model=gpt-4o"'),
        ("- refund", "'-' at character 1"),
        ("a *ighthouse", "'*ighthouse' at character 3: a * is only allowed at the end of a word"),
        ("light*se", "To search for a substring, write contains:text from:-1h"),
        (
            "namespace:*ios",
            'a * is only allowed at the end of a value. For a value that contains a *, write namespace:"*ios"',
        ),
        ("-property.app:a*b*", 'write -property.app:"a*b*"'),
        ("id:chatcmpl-1", "(Service-Request-Id)"),
        ("outcome:compl*", "one of open"),
        ("x" * (MAX_CHARACTERS + 1), f"The maximum is {MAX_CHARACTERS}"),
        ("a " * (MAX_PARTS + 1), f"The maximum is {MAX_PARTS}"),
    ],
)
def test_the_message_quotes_the_invalid_part(text: str, expected: str) -> None:
    with pytest.raises(BadFilter) as error:
        read(text)
    assert error.value.parameter == "q"
    assert expected in str(error.value)


def test_the_error_has_the_invalid_term_and_its_corrections_as_fields() -> None:
    with pytest.raises(BadFilter) as error:
        read("a -status>=500")
    assert (error.value.term, error.value.at) == ("-status>=500", 2)
    assert error.value.reason == "the colon after the name is missing."
    assert [correction.text for correction in error.value.corrections] == ["-status:>=500", '"status>=500"']


def test_a_place_where_corrections_are_quoted_gets_the_same_advice_without_a_position() -> None:
    with pytest.raises(BadFilter) as error:
        read("a 12:30")
    assert error.value.advice(lambda text: f"<{text}>").startswith(
        """'12' is not a known name. To search for this text, write <"12:30">. Known names: namespace, """
    )


@given(
    st.text(max_size=40) | st.lists(st.sampled_from([*NAMES, ":", '"', "-", "*", " ", ">2s", "\\", "a"])).map("".join)
)
def test_any_query_is_parsed_or_rejected(text: str) -> None:
    with suppress(BadFilter):
        assert isinstance(read(text), tuple)


def test_a_quoted_operator_is_a_word() -> None:
    assert [term.values for term in read('"OR" or "and NOT" -"AND"')] == [("OR",), ("or",), ("and NOT",), ("AND",)]
