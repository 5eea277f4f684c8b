"""Test how text is cleaned, truncated and collapsed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relaybook.log.formats.text import clean, clean_or_none, estimate_tokens, preview

ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()), max_size=600)


@settings(deadline=None)
@given(ANY_TEXT, st.integers(0, 50))
def test_cleaned_text_can_be_stored_and_is_otherwise_unchanged(text: str, limit: int) -> None:
    cleaned = clean(text, limit)
    cleaned.encode()
    assert "\0" not in cleaned
    assert len(cleaned) == min(limit, len(text))
    assert all(a == b or b == "\ufffd" for a, b in zip(text, cleaned, strict=False))


def test_nul_and_lone_surrogates_become_replacement_characters() -> None:
    assert clean("a\0b\ud800c😀") == "a\ufffdb\ufffdc😀"


def test_an_empty_text_becomes_none() -> None:
    assert clean_or_none("") is None
    assert clean_or_none(None) is None
    assert preview(" \n\t ") is None


@settings(deadline=None)
@given(ANY_TEXT)
def test_a_preview_is_a_prefix_of_the_collapsed_text(text: str) -> None:
    assert preview(text) == (clean(" ".join(text.split()), 200) or None)


@pytest.mark.parametrize("space", [390, 5_000, 100_000])
def test_long_white_space_does_not_hide_the_text(space: int) -> None:
    assert preview(" " * space + "a" + "\n" * space + "b") == "a b"


def test_a_preview_counts_code_points() -> None:
    assert preview("😀" * 300) == "😀" * 200


@pytest.mark.parametrize(("characters", "tokens"), [(0, 0), (1, 1), (4, 1), (5, 2), (4000, 1000)])
def test_four_characters_are_estimated_as_one_token(characters: int, tokens: int) -> None:
    assert estimate_tokens(characters) == tokens
