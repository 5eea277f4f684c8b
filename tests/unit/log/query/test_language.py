"""Test the query language: names, words, phrases, and messages that quote the invalid part."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.records import A_TIMESTAMP

from relaybook.log.query.filters import NAMES, WORDS, BadFilter, Term
from relaybook.log.query.language import (
    MAX_CHARACTERS,
    MAX_PARTS,
    parameters_of,
    parts_of,
    quoted_value,
    request_id_of,
    utf16_length,
    written_value,
)
from relaybook.log.query.parameters import parse_filter


def read(text: str) -> tuple[Term, ...]:
    return parse_filter([("q", text)], A_TIMESTAMP).terms


def params(text: str) -> list[tuple[str, str]]:
    return parameters_of(text, A_TIMESTAMP)


def test_the_documented_example_is_parsed() -> None:
    text = 'namespace:production -model:gpt-4o* status:error duration:>2s cost:>0.01 property.user:42 "free text"'
    assert read(text) == (
        Term("namespace", ("production",)),
        Term("model", (), negated=True, prefixes=("gpt-4o",)),
        Term("status", ("error",)),
        Term("duration", (">2000.0",)),
        Term("cost", (">0.01",)),
        Term("property.user", ("42",)),
        Term(WORDS, ("free text",)),
    )


def test_other_characters_are_part_of_words() -> None:
    assert read('a=b x<y "duration>500ms"') == tuple(Term(WORDS, (text,)) for text in ("a=b", "x<y", "duration>500ms"))


def test_a_blank_query_has_no_terms() -> None:
    assert read("") == read(" \t\n\u3000") == ()


def test_a_repeated_name_matches_any_of_its_values() -> None:
    assert read("model:a model:b* model:c") == (Term("model", ("a", "c"), prefixes=("b",)),)


def test_all_words_and_phrases_must_match() -> None:
    assert read('refund -late "where is" refun* "my ref"* words:tea') == (
        Term(WORDS, ("refund",)),
        Term(WORDS, ("late",), negated=True),
        Term(WORDS, ("where is",)),
        Term(WORDS, (), prefixes=("refun",)),
        Term(WORDS, (), prefixes=("my ref",)),
        Term(WORDS, ("tea",)),
    )


def test_a_star_inside_quotes_is_an_ordinary_character() -> None:
    assert read('"my ref*"') == (Term(WORDS, ("my ref*",)),)
    assert read('model:"gpt*" model:"gpt 4*"*') == (Term("model", ("gpt*",), prefixes=("gpt 4*",)),)
    assert read('contains:"a*" from:-1h')[0] == Term("contains", ("a*",))


def test_a_query_is_translated_into_parameters_in_the_order_of_its_parts() -> None:
    text = 'model:gpt-4o* -late "my ref"* -property.User_Id:7* duration:>2s from:-1h namespace_prefix:us'
    assert params(text) == [
        ("begins.model", "gpt-4o"),
        ("not.words", "late"),
        ("begins.words", "my ref"),
        ("not.begins.property.user-id", "7"),
        ("duration", ">2s"),
        ("from", "-1h"),
        ("begins.namespace", "us"),
    ]


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
        ('namespace:"my ch"*', (), ("my ch",)),
        ("namespace_prefix:us", (), ("us",)),
        ("namespace_prefix:us*", (), ("us",)),
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
        ('namespace:""', "expected the name of a namespace. Omit namespace to search all"),
        ("refund OR return", "'OR' at character 8: operator OR is not supported. All parts must match, but"),
        ("a -NOT b", "'-NOT' at character 3: operator NOT is not supported"),
        ("https://example.com", 'write "https://example.com"'),
        ('refund "where is', "at character 8: the closing quote is missing"),
        ('model:"x', "at character 1: the closing quote is missing"),
        ("model:", "the value is missing. Write model:value"),
        ("a duration:2s", "'duration:2s' at character 3: duration is '2s': expected a comparison"),
        ("status:6xx", "a status such as 200"),
        ("from:yesterday", "a relative time such as -15m"),
        ("-to:-1h", "cannot be excluded"),
        ("!!!", "the search term is '!!!': expected text with at least one letter or digit"),
        (
            "duration>500ms",
            "'duration>500ms' at character 1: the colon after the name is missing. Write duration:>500ms",
        ),
        (
            "a -input_tokens>=5",
            "'-input_tokens>=5' at character 3: the colon after the name is missing. Write -input_tokens:>=5",
        ),
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
        ("status:4*", "expected a status such as 200, a class such as 4xx"),
        (
            "contains:a* from:-1h",
            "contains matches any part of the text, so it needs no *. To search for a *, write cont",
        ),
        ('contains:"a"* from:-1h', 'write contains:"a*"'),
        ("from:-1h from:-2h", "'from:-2h' at character 10: from cannot be repeated"),
        ("*", "at least one letter or digit"),
        ("a\0b", "without NUL"),
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
        read("a -input_tokens>=5")
    assert (error.value.term, error.value.at) == ("-input_tokens>=5", 2)
    assert error.value.reason == "the colon after the name is missing."
    assert [correction.text for correction in error.value.corrections] == ["-input_tokens:>=5", '"input_tokens>=5"']


@pytest.mark.parametrize(
    ("text", "code", "replacement"),
    [
        ("modell:gpt-4o*", "unknown_name", "model:gpt-4o*"),
        ('-modell:"a b"', "unknown_name", '-model:"a b"'),
        ("12:30", "unknown_name", '"12:30"'),
        ("model=gpt*", "missing_colon", "model:gpt*"),
        ("model:", "missing_value", None),
        ("status:6xx", "bad_value", None),
        ("feedback:bad", "bad_value", "score:<0"),
        ("-feedback:Good", "bad_value", "-score:>0"),
        ("feedback:great", "bad_value", None),
        ("model:a*b", "misplaced_star", 'model:"a*b"'),
        ("contains:a*", "misplaced_star", 'contains:"a*"'),
        ("-OR", "unsupported_operator", '-"OR"'),
        ('"my ref', "open_quote", '"my ref"'),
        ('"', "open_quote", None),
        ('-"!!', "open_quote", None),
        ('"a\\', "open_quote", None),
        ('namespace:"', "open_quote", None),
        ("modell:", "unknown_name", None),
        ("status>abc", "missing_colon", None),
        ("to:-1h to:-2h", "repeated", None),
        ("a " * (MAX_PARTS + 1), "too_long", None),
    ],
)
def test_the_error_has_a_code_and_a_valid_replacement(text: str, code: str, replacement: str | None) -> None:
    with pytest.raises(BadFilter) as error:
        params(text)
    assert (error.value.code, error.value.replacement) == (code, replacement)
    assert replacement is None or params(replacement)


def test_the_message_has_no_correction_that_is_invalid() -> None:
    with pytest.raises(BadFilter) as error:
        params("status>abc")
    assert error.value.advice() == ('the colon after the name is missing. To search for this text, write "status>abc".')


def test_offsets_of_errors_are_in_utf_16_code_units() -> None:
    with pytest.raises(BadFilter) as error:
        params("a\U0001f600 a status:6xx")
    assert error.value.at == 6 == utf16_length("a\U0001f600 a ")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (" 0199a3b2-1111-7222-8333-444455556666 ", "0199a3b2-1111-7222-8333-444455556666"),
        ("chatcmpl-9xYz", "chatcmpl-9xYz"),
        ("req_7c1", "req_7c1"),
        ("req_7c1 late", None),
        ("refund", None),
        ("", None),
    ],
)
def test_a_query_that_is_only_an_id_is_recognized(text: str, found: str | None) -> None:
    assert request_id_of(text) == found


def test_a_place_where_corrections_are_quoted_gets_the_same_advice_without_a_position() -> None:
    with pytest.raises(BadFilter) as error:
        read("a 12:30")
    assert error.value.advice(lambda text: f"<{text}>").startswith(
        """'12' is not a known name. To search for this text, write <"12:30">. Known names: namespace, """
    )


QUERIES = st.text(max_size=40) | st.lists(
    st.sampled_from([*NAMES, "property.x", ":", ":", '"', "-", "*", " ", " ", ">2s", "\\", "a", "-1h", "200", "true"])
).map("".join)


def terms_or_error(pairs: list[tuple[str, str]]) -> tuple[Term, ...] | str:
    try:
        return parse_filter(pairs, A_TIMESTAMP).terms
    except BadFilter as error:
        return str(error)


@given(QUERIES)
def test_any_query_means_the_same_as_its_parameters_or_is_rejected(text: str) -> None:
    try:
        pairs = params(text)
    except BadFilter:
        with pytest.raises(BadFilter):
            read(text)
        return
    assert terms_or_error(pairs) == terms_or_error([("q", text)])


@given(QUERIES)
def test_the_parts_of_a_query_cover_all_but_its_white_space(text: str) -> None:
    parts = parts_of(text)
    assert [part.written for part in parts] == [text[part.start : part.end] for part in parts]
    bounds = [0, *(offset for part in parts for offset in (part.start, part.end)), len(text)]
    gaps = [text[bounds[at] : bounds[at + 1]] for at in range(0, len(bounds), 2)]
    assert "".join(gaps).strip() == ""


@given(st.text(max_size=20))
def test_any_value_is_written_so_that_it_is_read_again(value: str) -> None:
    (part,) = parts_of(f"model:{written_value(value)}")
    assert (part.value, part.has_star, part.is_open) == (value, False, False)
    assert parts_of(quoted_value(value))[0].value == value


def test_a_quoted_operator_is_a_word() -> None:
    assert [term.values for term in read('"OR" or "and NOT" -"AND"')] == [("OR",), ("or",), ("and NOT",), ("AND",)]
