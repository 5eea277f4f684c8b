"""Test which names, values, choices and bounds are suggested to complete a query."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaybook.log.query.completion import Item, KnownValues, complete
from relaybook.log.query.found_values import FoundValue
from relaybook.log.query.language import parameters_of

VALUES = {
    "property": [("channel", 12), ("tenant id", 3), ("a:b", 2), ("größe", 1)],
    "namespace": [("production", 40), ("iOS app", 7), ("preview*", 1)],
    "model": [("gpt-4o", 9), ("gpt-5", 8), ("o1", 1)],
    "property.channel": [("iOS", 4)],
    "property.tenant id": [("a b", 3)],
}


def list_values(field: str, prefix: str) -> Sequence[tuple[str, int]]:
    return [(value, requests) for value, requests in VALUES.get(field, []) if value.startswith(prefix)]


FOUND = [FoundValue("user", "anna@example.com", 5), FoundValue("property.tenant id", "Anna b", 2)]
KNOWN = KnownValues(list_values, lambda text: [each for each in FOUND if text in each.value.lower()])


def labels(text: str) -> list[str]:
    return [item.label for item in complete(text, len(text), KNOWN).items]


def completed(text: str, caret: int, label: str) -> tuple[str, int]:
    """Insert a suggestion, and return the new text and the new position of the caret."""
    start, end, items = complete(text, caret, KNOWN)
    insert = next(item.insert for item in items if item.label == label)
    return text[:start] + insert + text[end:], start + len(insert)


def test_names_are_suggested_by_prefix_with_a_hint_and_properties_with_their_count() -> None:
    assert complete("refund mod", 10, KNOWN).items == [Item("model:", "model:", "model in the request")]
    assert complete("chan", 4, KNOWN).items == [Item("property.channel:", "property.channel:", "property", requests=12)]
    assert labels("-chan") == ["-property.channel:"]
    assert "namespace:" in labels("")
    assert labels("fro") == ["from:"]
    assert labels("-fro") == []


def test_names_of_properties_are_quoted_if_necessary() -> None:
    assert labels("property.") == [
        *("property.channel:", 'property."tenant id":', 'property."a:b":', "property.größe:")
    ]
    assert labels("ten") == labels('property."ten') == labels('property."tenant id') == ['property."tenant id":']
    assert labels('-property."a') == ['-property."a:b":']
    assert complete('property."tenant id":a', 22, KNOWN).items == [
        Item('property."tenant id":"a b" ', "a b", requests=3)
    ]


def test_nothing_is_suggested_in_a_phrase_or_for_other_words() -> None:
    assert labels('"mod') == labels("refund") == labels("nothing:x") == []


def test_values_are_suggested_with_counts_and_quoted_if_necessary() -> None:
    assert complete("-namespace:i", 12, KNOWN).items == [
        Item('-namespace:"iOS app" ', "iOS app", requests=7),
    ]
    assert [item.insert for item in complete('namespace:"pre', 14, KNOWN).items] == ['namespace:"preview*" ']
    assert labels("model:gpt") == ["gpt-4o", "gpt-5", "gpt*"]
    assert labels('model:"gpt') == ["gpt-4o", "gpt-5"]
    assert labels("property.Channel:") == ["iOS"]


def test_choices_are_suggested_with_their_meaning() -> None:
    assert labels("status:4") == ["4xx", "400", "401", "404", "429"]
    assert labels("note:not") == ["not_json", "not_understood"]
    assert labels("stream_ended:") == ["done", "no_done", "cut"]
    assert labels("advice:temp") == ["temperature_and_top_p", "temperature_above_1"]
    assert complete("failed:t", 8, KNOWN).items == [Item("failed:true ", "true", "failed requests")]


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("duration:>3", [">3s", ">3ms", ">3m"]),
        ("duration:3", [">3s", ">3ms", ">3m", "<3s", "<3ms", "<3m"]),
        ("cost:0.5", [">0.5", "<0.5"]),
        ("retry_count:", [">=1", ">=2"]),
        # only what the parser accepts
        ("-from:", []),
        ("duration:-5", []),
        ("request_bytes:1.5", [">1.5kB", ">1.5MB", "<1.5kB", "<1.5MB"]),
        ("input_tokens:>1.5", []),
    ],
)
def test_bounds_are_suggested_with_units(text: str, bounds: list[str]) -> None:
    assert labels(text) == bounds


@pytest.mark.parametrize(
    ("text", "caret", "label", "expected"),
    [
        ("refund mo", 9, "model:", ("refund model:", 13)),
        ("refund modxx late", 10, "model:", ("refund model: late", 13)),
        ("model: late", 6, "o1", ("model:o1 late", 9)),
        ("late ", 5, "model:", ("late model:", 11)),
        ("status:42", 8, "429", ("status:429 ", 11)),
        ('model:"o1 mini" late', 8, "o1", ("model:o1 late", 9)),
        ('model:"o late', 8, "o1", ("model:o1 late", 9)),
        ('model:"o contains:"a b"', 8, "o1", ('model:o1 contains:"a b"', 9)),
    ],
)
def test_a_suggestion_replaces_the_part_at_the_caret(
    text: str, caret: int, label: str, expected: tuple[str, int]
) -> None:
    assert completed(text, caret, label) == expected


@given(
    st.sampled_from(
        [
            "",
            "mod",
            "-mo",
            "model:",
            "-status:",
            "duration:>2",
            'namespace:"',
            "from:",
            "refund na",
            'property."tenant id":',
        ]
    )
)
def test_completed_values_are_valid(text: str) -> None:
    start, _, items = complete(text, len(text), KNOWN)
    for item in items:
        if not item.insert.endswith(":"):
            assert parameters_of(text[:start] + item.insert, 0)


def test_for_a_word_filters_by_the_values_that_contain_it_are_suggested() -> None:
    assert complete("refund -ann", 11, KNOWN).items == [
        Item("-user:anna@example.com ", "anna@example.com", "user", requests=5, is_filter=True),
        Item('-property."tenant id":"Anna b" ', "Anna b", "tenant id", requests=2, is_filter=True),
    ]
    assert complete('"anna b', 7, KNOWN).items[0].insert == 'property."tenant id":"Anna b" '
    assert not any(item.is_filter for item in complete("a", 1, KNOWN).items)
    assert labels("anna*") == []


def test_words_for_feedback_and_failures_suggest_their_filters() -> None:
    assert (
        Item("score:<0 ", "score:<0", "requests with bad feedback", is_filter=True) in complete("bad", 3, KNOWN).items
    )
    assert "failed:true" in labels("fail")
