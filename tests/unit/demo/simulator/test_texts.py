"""Test that texts are deterministic, and that the tokens of a text can be joined to the same text."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaybook_demo.simulator import texts
from relaybook_demo.simulator.prepared import TOPICS


@given(st.text())
def test_tokens_joined_are_the_text(text: str) -> None:
    assert "".join(texts.split_tokens(text)) == text


@given(st.text())
def test_the_same_prompt_gets_the_same_text(prompt: str) -> None:
    texts.response_text.cache_clear()
    first = texts.response_text(prompt)
    texts.response_text.cache_clear()
    assert texts.response_text(prompt) == first != ""


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("I want my money back", "refund"),
        ("Where is my refund for order 4411?", "order 4411"),
        ("I sent the teapot from order 4411 back. Where is my refund?", "order 4411"),
        ("My voucher code is refused", "minimum order"),
        ("What is the weather in Rome?", "Rome has a mild day"),
        ("Will it rain tomorrow?", "°C"),
        ("Translate to German: The contract begins in May.", "Der Vertrag beginnt im Mai."),
        ("Summarise this contract in two sentences: …", "three months' notice"),
        ("Plan my week around two deadlines.", "**Monday**"),
        ("Compare our three green teas in a table.", "| tea | origin |"),
        ("Write a SQL query for the best-selling teas.", "```sql"),
        ("What is in this picture?", "yellow sun"),
        ("Is the translation due on Friday?", "train"),
        ("أين طلبي رقم 4411؟", "4411"),
        ("שלום, מה שלומך?", "תודה"),
        ("你好，我想退货，订单号是 4411。", "订单 4411"),
        ("Danke, das passt!", "Sehr gern"),
        ("Hello", "H"),
        ("Zebras?", "Zebras"),
        ("", "nothing at all"),
    ],
)
def test_topics_are_recognized(prompt: str, expected: str) -> None:
    assert expected in texts.response_text(prompt)


def test_a_haiku_about_rain_is_not_a_weather_report() -> None:
    for variant in range(2):
        haiku = texts.response_text("Write a haiku about rain.", variant)
        assert haiku.count("\n") == 2
        assert "°C" not in haiku
    assert texts.response_text("Write a haiku about logs").count("\n") == 2


def test_topics_are_searched_only_at_the_start_of_a_prompt() -> None:
    assert "refund" not in texts.response_text("zebra " * 200 + "refund")


def test_long_tasks_get_long_responses() -> None:
    for prompt in ("Tell me a bedtime story", "A guide to brewing tea", "Plan three days in Lisbon"):
        assert len(texts.split_tokens(texts.response_text(prompt))) > 500


@pytest.mark.parametrize("prompt", ["Tell me a joke", "A name for my bakery", "Zebras?"])
def test_variants_of_one_prompt_differ(prompt: str) -> None:
    assert len({texts.response_text(prompt, variant) for variant in range(5)}) == 5


def test_all_placeholders_of_responses_are_filled() -> None:
    for pattern, responses in TOPICS:
        names = set(re.compile(pattern).groupindex)
        for response in responses:
            assert set(re.findall(r"\{([a-z]\w*)\}", response)) <= names, pattern


def test_results_with_known_fields_become_a_sentence() -> None:
    weather = {"city": "Oslo", "sky": "clear", "celsius": 6, "wind": "no wind", "more": True}
    assert (texts.result_text(weather) or "").startswith("In Oslo it is clear at 6 °C, with no wind.")
    for other in ({"city": "Oslo"}, ["city"], 7, None):
        assert texts.result_text(other) is None


def test_filler_has_exactly_the_given_number_of_tokens() -> None:
    for count in (0, 1, 2, 100):
        assert len(texts.filler_tokens(count)) == count
