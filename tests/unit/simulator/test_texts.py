"""Texts are deterministic, and tokens lose nothing."""

from hypothesis import given
from hypothesis import strategies as st

from relaybook.simulator import texts


@given(st.text())
def test_tokens_joined_are_the_text(text: str) -> None:
    assert "".join(texts.split_tokens(text)) == text


@given(st.text())
def test_same_prompt_gets_the_same_text(prompt: str) -> None:
    texts.answer_text.cache_clear()
    first = texts.answer_text(prompt)
    texts.answer_text.cache_clear()
    assert texts.answer_text(prompt) == first != ""


def test_topics_are_recognised() -> None:
    assert "refund" in texts.answer_text("I want my money back")
    assert texts.answer_text("Write a haiku about logs").count("\n") == 2
    assert "Zebras" in texts.answer_text("Zebras?")
    assert texts.answer_text("") != ""


def test_variants_of_one_prompt_differ() -> None:
    assert len({texts.answer_text("Tell me a joke", variant) for variant in range(5)}) == 5


def test_filler_has_exactly_as_many_tokens() -> None:
    for count in (0, 1, 2, 100):
        assert len(texts.filler_tokens(count)) == count
