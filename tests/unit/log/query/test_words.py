"""Test how text in any script is split into words, and how phrases are matched."""

import pytest

from relaybook.log.query import words
from relaybook.log.query.words import SEPARATOR, contains, has_substring, has_words, indexed, words_of


@pytest.mark.parametrize(
    ("text", "phrase", "is_there"),
    [
        ("Where is my refund?", "refund", True),
        ("Where is my REFUND?", "Refund", True),
        ("Where is my refund?", "where is", True),
        ("Where is my refund?", "is where", False),
        ("Where is my refund?", "refun", False),
        ("Where is my refund?", "refun*", False),
        ("Where is my refund?", "refund*", True),
        ("Where is my refund?", "m* refund", False),
        ("Überweisung nach Zürich", "zurich", True),
        ("order-4411 was sent", "order-4411", True),
        ("order 4411 was sent", "order-4411", True),
        ("我的退款在哪里", "退款", True),
        ("我的退款在哪里", "款退", False),
        ("東京タワー", "タワー", True),
        ("เงินคืน", "คืน", True),
        ("вернуть деньги", "Деньги", True),
        ("أين استرداد أموالي", "استرداد", True),
        # vowel signs of Indic scripts belong to the word
        ("दान", "दिन", False),
        ("काम", "को", False),
        ("मेरा काम", "काम", True),
        ("দিন", "দান", False),
        ("தமிழ்", "தமிழ்", True),
        ("", "a", False),
        ("a", "", False),
        ("a", "*", False),
        ("a_b", "b", True),
    ],
)
def test_a_phrase_matches_consecutive_words(text: str, phrase: str, is_there: bool) -> None:
    assert contains(text, phrase) is is_there


@pytest.mark.parametrize(
    ("phrase", "is_there"), [("refun", True), ("refund", True), ("my ref", True), ("m refund", False), ("*", False)]
)
def test_the_last_word_of_a_phrase_can_be_a_prefix(phrase: str, is_there: bool) -> None:
    assert contains("Where is my refund?", phrase, is_prefix=True) is is_there


def test_characters_without_spaces_are_words() -> None:
    assert words_of("tea 退款") == ["tea", "退", "款"]


def test_words_of_ascii_texts_are_those_of_other_texts() -> None:
    ascii_ = "".join(f"a{chr(code)}B " for code in range(128))
    assert words_of(ascii_) == words_of(f"{ascii_}退")[:-1]


def test_text_is_indexed_as_its_words() -> None:
    assert indexed("Straße, 退款!") == "strasse 退 款"
    assert indexed("Plain text\x00.") == "Plain text ."


@pytest.mark.parametrize(("phrase", "is_there"), [("a b", True), ("b a", False), ("b c", False), ("c d", True)])
def test_a_phrase_or_substring_lies_within_one_text(phrase: str, is_there: bool) -> None:
    search_text = SEPARATOR.join(["a b", "a", "c d"])
    assert contains(search_text, phrase) is contains(search_text, phrase, is_prefix=True) is is_there
    assert has_substring(search_text, phrase) is is_there
    assert not has_substring(search_text, SEPARATOR.join(phrase.split()))


def test_a_separator_is_indexed_as_a_word_that_no_phrase_has() -> None:
    assert indexed(SEPARATOR.join(["Plain text.", "Straße", ""])).split(" ") == [
        *("Plain", "text.", SEPARATOR, "strasse", SEPARATOR, "")
    ]
    assert words_of(f"a{SEPARATOR}b {SEPARATOR}") == ["a", "b"]
    assert not has_words(SEPARATOR)


def test_characters_that_cannot_be_stored_separate_words() -> None:
    assert words_of("a\x00b\ud800c") == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("phrase", "has"), [("a", True), ("4", True), ("款", True), ("*", False), ("--", False), ("", False)]
)
def test_whether_a_phrase_has_words(phrase: str, has: bool) -> None:
    assert has_words(phrase) is has


def test_a_text_with_every_character_does_not_fill_the_memory() -> None:
    words_of("".join(map(chr, range(0x110000))))
    assert len(words._word_characters) <= 0x3000
    assert words_of("Ünïcödé, привет, ἀρχή") == ["unicode", "привет", "αρχη"]


def test_a_long_run_of_combining_marks_is_split_in_linear_time() -> None:
    """In quadratic time, as for one normalization of the whole text, this test would take an hour."""
    assert words_of("a" + "\u0300" * 500_000 + "\u0316" * 500_000 + "b \u1e69") == ["ab", "s"]
