"""The query language: names, words, phrases; the wrong part is pointed at."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.records import A_MOMENT

from relaybook.log.query.filters import NAMES, WORDS, BadFilter, Term
from relaybook.log.query.language import MAX_CHARACTERS, MAX_PARTS, parse_query


def read(text: str) -> tuple[Term, ...]:
    return parse_query(text, A_MOMENT)


def test_the_example_of_the_documentation_is_read() -> None:
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


def test_other_signs_are_words_as_ever() -> None:
    assert read('a=b x<y "duration>500ms"') == tuple(Term(WORDS, (text,)) for text in ("a=b", "x<y", "duration>500ms"))


def test_nothing_asks_for_nothing() -> None:
    assert read("") == read(" \t\n\u3000") == ()


def test_a_repeated_name_means_any_of_its_values() -> None:
    assert read("model:a model:b* model:c") == (Term("model", ("a", "c"), prefixes=("b",)),)


def test_words_and_phrases_must_all_be_there() -> None:
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
def test_values_are_quoted_or_begin(text: str, values: tuple[str, ...], prefixes: tuple[str, ...]) -> None:
    assert read(text) == (Term("namespace", values, prefixes=prefixes),)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("refund modell:gpt-4o", "'modell:gpt-4o' at character 8: 'modell' is no name here"),
        ("user-id:42", 'write "user-id:42". For a property, write property.user-id.'),
        ('namespace:""', "it takes the name of a namespace; leave it out for all"),
        ("refund OR return", "'OR' at character 8: there is no OR here: all parts must hold"),
        ("a -NOT b", "'-NOT' at character 3: there is no NOT here"),
        ("https://example.com", 'write "https://example.com"'),
        ('refund "where is', "at character 8: the quote is not closed"),
        ('model:"x', "at character 1: the quote is not closed"),
        ("model:", "nothing follows the colon: write model:value"),
        ("a duration:2s", "'duration:2s' at character 3: duration is '2s': it takes a bound"),
        ("status:6xx", "a status such as 200"),
        ("from:yesterday", "relative like -15m"),
        ("-to:-1h", "cannot be excluded"),
        ("!!!", "no letter and no digit"),
        ("duration>500ms", "'duration>500ms' at character 1: a name is followed by a colon: write duration:>500ms"),
        ("a -status>=500", "'-status>=500' at character 3: a name is followed by a colon: write -status:>=500"),
        ("model=gpt-4o", 'write model:gpt-4o. To look for this text, write "model=gpt-4o"'),
        ("- refund", "'-' at character 1"),
        ("a *ighthouse", "'*ighthouse' at character 3: a * stands at the end of a word alone"),
        ("light*se", "For a piece of text write contains:piece from:-1h"),
        (
            "namespace:*ios",
            'a * stands at the end of a value alone. For a value with a * in it, write namespace:"*ios"',
        ),
        ("-property.app:a*b*", 'write -property.app:"a*b*"'),
        ("id:chatcmpl-1", "an id of ours"),
        ("outcome:compl*", "one of open"),
        ("x" * (MAX_CHARACTERS + 1), f"at most {MAX_CHARACTERS}"),
        ("a " * (MAX_PARTS + 1), f"at most {MAX_PARTS}"),
    ],
)
def test_the_wrong_part_is_pointed_at(text: str, said: str) -> None:
    with pytest.raises(BadFilter) as refused:
        read(text)
    assert refused.value.parameter == "q"
    assert said in str(refused.value)


@given(
    st.text(max_size=40) | st.lists(st.sampled_from([*NAMES, ":", '"', "-", "*", " ", ">2s", "\\", "a"])).map("".join)
)
def test_any_text_is_read_or_refused_and_nothing_else(text: str) -> None:
    with suppress(BadFilter):
        assert isinstance(read(text), tuple)


def test_what_other_search_boxes_know_is_a_word_when_quoted() -> None:
    assert [term.values for term in read('"OR" or "and NOT" -"AND"')] == [("OR",), ("or",), ("and NOT",), ("AND",)]
