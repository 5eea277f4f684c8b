"""Test that usage is read in every spelling, and that the usages of a stream are merged without losing a count."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaybook.apis import Kind
from relaybook.log.formats.usage import (
    Tokens,
    counts_of,
    merge_usage,
    stated_usd,
)


def tokens_of(usage: dict[str, Any], kind: Kind, model: str | None = None) -> Tokens:
    return counts_of(usage, kind, model).tokens


def is_empty(usage: dict[str, Any]) -> bool:
    return counts_of(usage).is_empty and not stated_usd(usage)


NAMES = [
    *("prompt_tokens", "input_tokens", "completion_tokens", "output_tokens", "total_tokens", "cached_tokens"),
    *("prompt_tokens_details", "input_tokens_details", "completion_tokens_details", "output_tokens_details"),
    *("cache_read_input_tokens", "cache_creation_input_tokens", "cache_creation", "ephemeral_1h_input_tokens"),
    *("cached_tokens_details", "audio_tokens", "reasoning_tokens", "citation_tokens", "iterations", "type"),
    *("server_tool_use", "web_search_requests", "cost", "cost_details", "upstream_inference_cost", "total_cost"),
    *("cost_in_usd_ticks", "is_byok", "service_tier"),
]
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(0, 50)
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.sampled_from(["12", "compaction", "1e5", "-1", "NaN", "9" * 5000, "²", "0.001"])
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5),
    max_leaves=12,
)
USAGES = st.dictionaries(st.sampled_from(NAMES), JSON, max_size=9)
KINDS: list[Kind] = ["chat", "completion", "response", "message", "embedding"]
ITERATIONS = [
    {
        "type": "compaction",
        "input_tokens": 100_000,
        "output_tokens": 3000,
        "cache_creation_input_tokens": 10,
        "cache_creation": {"ephemeral_5m_input_tokens": 4, "ephemeral_1h_input_tokens": 6},
    },
    {"type": "message", "input_tokens": 9, "output_tokens": 5},
    {"type": "advisor_message", "input_tokens": 700, "output_tokens": 70},
    "nonsense",
]


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 5,
                "prompt_tokens_details": {"cached_tokens": 4},
                "completion_tokens_details": {"reasoning_tokens": 3},
            },
            (9, 5, 4, 3),
        ),
        (
            {
                "input_tokens": 9,
                "output_tokens": 5,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens_details": {"reasoning_tokens": 0},
            },
            (9, 5, 0, 0),
        ),
        ({"prompt_tokens": 9, "total_tokens": 9}, (9, None, None, None)),
        ({"prompt_tokens": 9, "completion_tokens": 1, "prompt_cache_hit_tokens": 8}, (9, 1, 8, None)),
        ({"prompt_tokens": 9, "completion_tokens": 1, "cached_tokens": 8}, (9, 1, 8, None)),
        ({"prompt_tokens": 9.0, "completion_tokens": 1.5, "prompt_tokens_details": None}, (9, None, None, None)),
        ({"prompt_tokens": True, "completion_tokens": "5", "prompt_tokens_details": 4}, (None, 5, None, None)),
        ({"prompt_tokens": -1, "completion_tokens": "-1", "reasoning_tokens": "1.0"}, (None, None, None, None)),
        ({"prompt_tokens": 1e300, "completion_tokens": 2**63}, (None, None, None, None)),
        ({"prompt_tokens": "²", "completion_tokens": 1, "cached_tokens": "9" * 20}, (None, 1, None, None)),
        ({"prompt_tokens": "9" * 5000, "completion_tokens": ""}, (None, None, None, None)),
        ({"prompt_tokens": 2**63 - 1, "completion_tokens": str(2**63 - 1)}, (2**63 - 1, 2**63 - 1, None, None)),
        ({}, (None, None, None, None)),
    ],
)
def test_counts_are_read_under_every_name(usage: dict[str, Any], expected: tuple[int | None, ...]) -> None:
    assert tokens_of(usage, "chat") == expected


def test_a_spelling_that_a_gateway_fills_in_with_zero_hides_no_count() -> None:
    usage = {
        "prompt_tokens": 11,
        "completion_tokens": 7,
        "total_tokens": 18,
        "prompt_tokens_details": {"cached_tokens": 0},
        "prompt_cache_hit_tokens": 8,
        "input_tokens": 0,
        "output_tokens": 0,
        "input_tokens_details": None,
        "claude_cache_creation_5_m_tokens": 0,
        "claude_cache_creation_1_h_tokens": 0,
    }
    assert tokens_of(usage, "chat") == (11, 7, 8, None)
    assert tokens_of({"prompt_tokens": 0, "completion_tokens": 0, "input_tokens": 11, "output_tokens": 7}, "chat") == (
        11,
        7,
        None,
        None,
    )


def test_input_tokens_of_messages_include_the_cache() -> None:
    usage = {
        "input_tokens": 9,
        "output_tokens": 5,
        "cache_read_input_tokens": 100,
        "cache_creation_input_tokens": 30,
        "output_tokens_details": {"thinking_tokens": 3},
    }
    assert tokens_of(usage, "message") == (139, 5, 100, 3)
    assert tokens_of(usage | {"total_tokens": 14}, "message") == (139, 5, 100, 3)
    assert tokens_of({"input_tokens": 9, "cache_read_input_tokens": 100}, "message") == (109, None, 100, None)
    large = {"input_tokens": 500, "output_tokens": 5, "total_tokens": 505, "cache_read_input_tokens": 100}
    assert (tokens_of(large, "message").input, tokens_of(large, "response").input) == (600, 500)
    only_lifetimes = {"input_tokens": 9, "cache_creation": {"ephemeral_5m_input_tokens": 1}}
    assert tokens_of(only_lifetimes, "message") == (10, None, None, None)
    assert tokens_of({"input_tokens": 9, "cache_read_input_tokens": 0}, "message") == (9, None, 0, None)
    assert tokens_of({"input_tokens": 9, "cache_read_input_tokens": None}, "message") == (9, None, None, None)
    assert tokens_of({"cache_read_input_tokens": 5}, "message") == (None, None, 5, None)
    assert tokens_of({"input_tokens": 2**63 - 1, "cache_read_input_tokens": 1}, "message").input is None


def test_compactions_are_added() -> None:
    usage = {
        "input_tokens": 9,
        "output_tokens": 5,
        "cache_read_input_tokens": 100,
        "cache_creation_input_tokens": 20,
        "cache_creation": {"ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 0},
        "iterations": ITERATIONS,
    }
    counts = counts_of(usage, "message")
    assert counts.tokens == (100_139, 3005, 100, None)
    assert (counts.cache_writes, counts.others) == (30, {"cache_write_1h": 6})


@pytest.mark.parametrize("model", ["grok-4", "gemini-2.5-pro", None])
def test_reasoning_that_the_output_does_not_include_is_added(model: str | None) -> None:
    apart = {"prompt_tokens": 32, "completion_tokens": 9, "total_tokens": 135}
    details = {"completion_tokens_details": {"reasoning_tokens": 94}}
    assert tokens_of(apart | details, "chat", model) == (32, 103, None, 94)
    assert tokens_of(apart | {"reasoning_tokens": 94}, "chat", model) == (32, 103, None, 94)
    assert tokens_of(apart | details | {"completion_tokens": 103}, "chat", model) == (32, 103, None, 94)
    huge = {"prompt_tokens": 0, "completion_tokens": 2**62, "total_tokens": 2**63 - 1, "reasoning_tokens": 2**62 - 1}
    assert tokens_of(huge, "chat") == (0, 2**63 - 1, None, 2**62 - 1)


def test_thinking_that_google_counts_only_in_the_total_is_reasoning() -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 103}
    for model in ("gemini-2.5-flash", "google/Gemini-3-pro"):
        assert tokens_of(usage, "chat", model) == (9, 94, None, 93)
    assert tokens_of(usage, "chat", "gpt-4.1") == (9, 1, None, None)
    assert tokens_of(usage | {"total_tokens": 9}, "chat", "gemini-2.5-flash") == (9, 1, None, None)
    assert tokens_of({"prompt_tokens": 9, "total_tokens": 10}, "embedding", "gemini-embedding") == (9, None, None, None)


def test_perplexitys_reasoning_is_added_to_the_output() -> None:
    usage = {
        "prompt_tokens": 33,
        "completion_tokens": 7163,
        "total_tokens": 7196,
        "citation_tokens": 19028,
        "reasoning_tokens": 95305,
        "num_search_queries": 21,
    }
    counts = counts_of(usage)
    assert counts.tokens == (33, 7163 + 95305, None, 95305)
    assert counts.others == {"output_citation": 19028, "web_searches": 21}


def test_an_embedding_may_state_only_the_total() -> None:
    assert tokens_of({"total_tokens": 10}, "embedding") == (10, None, None, None)
    assert tokens_of({"total_tokens": 10}, "chat") == (None, None, None, None)


@pytest.mark.parametrize(
    "more",
    [
        {"prompt_tokens_details": {"cache_creation_tokens": 9000}},
        {"prompt_tokens_details": {"cache_write_tokens": 9000}},
        {"prompt_tokens_details": {"cache_creation_input_tokens": 9000, "cache_type": "ephemeral"}},
        {"prompt_tokens_details": {"cached_creation_tokens": 9000}},
        {"prompt_tokens_details": {"cache_creation": {"ephemeral_5m_input_tokens": 9000}}},
        {"prompt_tokens_details": {"cache_creation_token_details": {"ephemeral_5m_input_tokens": 9000}}},
        {"prompt_tokens_details": {"cache_write_tokens": 0}, "cache_creation_input_tokens": 9000},
        {"cache_creation_input_tokens": 9000},
        {"cache_creation_tokens": 9000},
        {"cache_write_tokens": 9000},
        {"claude_cache_creation_5_m_tokens": 9000},
        {"cache_creation": {"ephemeral_5m_input_tokens": 9000, "ephemeral_1h_input_tokens": 0}},
    ],
)
def test_cache_writes_are_read_in_every_spelling(more: dict[str, Any]) -> None:
    chat = {"prompt_tokens": 10_000, "completion_tokens": 5, "total_tokens": 10_005}
    response = {"input_tokens": 10_000, "output_tokens": 5, "total_tokens": 10_005}
    renamed = {name.replace("prompt_", "input_"): value for name, value in more.items()}
    for usage in (chat | more, response | renamed):
        counts = counts_of(usage)
        assert counts.tokens[:2] == (10_000, 5)
        assert counts.cache_writes == 9000
        assert not counts.others


def test_cache_writes_for_an_hour_are_counted_apart() -> None:
    for name in ("cache_creation", "cache_creation_token_details"):
        lifetimes = {"ephemeral_5m_input_tokens": 3, "ephemeral_1h_input_tokens": 4}
        counts = counts_of({"prompt_tokens": 9, "prompt_tokens_details": {"cache_creation_tokens": 7, name: lifetimes}})
        assert (counts.cache_writes, counts.others) == (7, {"cache_write_1h": 4})


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        # Portkey, for Anthropic's models at Bedrock: the total includes the cache, and the input does not.
        (
            {"prompt_tokens": 368, "completion_tokens": 19, "total_tokens": 10923, "cache_read_input_tokens": 10536},
            10904,
        ),
        # LiteLLM: the input includes the cache.
        (
            {
                "prompt_tokens": 10904,
                "completion_tokens": 19,
                "total_tokens": 10923,
                "cache_read_input_tokens": 10500,
                "cache_creation_input_tokens": 36,
            },
            10904,
        ),
        # LiteLLM, for Bedrock: the input includes only the tokens read from the cache.
        (
            {
                "prompt_tokens": 700,
                "completion_tokens": 19,
                "total_tokens": 1119,
                "cache_read_input_tokens": 300,
                "cache_creation_input_tokens": 400,
            },
            1100,
        ),
        # The total is the sum of two numbers that do not include the cache.
        ({"prompt_tokens": 368, "completion_tokens": 19, "total_tokens": 387, "cache_read_input_tokens": 10536}, 10904),
        ({"input_tokens": 368, "output_tokens": 19, "total_tokens": 387, "cache_read_input_tokens": 10536}, 10904),
        ({"prompt_tokens": 368, "completion_tokens": 19, "cache_read_input_tokens": 10536}, 10904),
        # Both structures in one.
        (
            {
                "prompt_tokens": 10904,
                "input_tokens": 368,
                "completion_tokens": 19,
                "output_tokens": 19,
                "cache_read_input_tokens": 10536,
            },
            10904,
        ),
        # Anthropic's structure from another API, without a total.
        ({"input_tokens": 20_000, "output_tokens": 19, "cache_read_input_tokens": 10536}, 30536),
        ({"input_tokens": 20_000, "output_tokens": 1, "total_tokens": 20_001, "cache_read_input_tokens": 9}, 20_000),
    ],
)
def test_input_that_excludes_the_cache_is_recognized_by_the_numbers(usage: dict[str, Any], expected: int) -> None:
    assert tokens_of(usage, "chat").input == expected


def test_audio_images_and_searches_are_counted_apart() -> None:
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 50,
        "prompt_tokens_details": {
            "audio_tokens": 30,
            "image_tokens": 20,
            "cached_tokens": 10,
            "cached_tokens_details": {"text_tokens": 10, "audio_tokens": 0},
        },
        "completion_tokens_details": {"audio_tokens": 40, "image_tokens": 0},
        "server_tool_use": {"web_search_requests": 2},
        "prompt_audio_seconds": {},
    }
    counts = counts_of(usage)
    assert counts.tokens == (100, 50, 10, None)
    assert counts.others == {
        "input_audio": 30,
        "input_image": 20,
        "cache_audio_read": 0,
        "output_audio": 40,
        "web_searches": 2,
    }


@given(USAGES, st.sampled_from(KINDS), st.sampled_from([None, "gemini-2.5-pro"]))
def test_no_usage_raises_and_counts_fit_in_64_bits(usage: dict[str, Any], kind: Kind, model: str | None) -> None:
    counts = counts_of(usage, kind, model)
    assert all(number is None or 0 <= number < 2**63 for number in counts.tokens)
    assert counts.cache_writes >= 0
    assert min(counts.others.values(), default=0) >= 0
    assert tokens_of(usage, kind, model) == counts.tokens == Tokens(*counts.tokens)
    stated = stated_usd(usage)
    assert stated is None or 0 <= stated <= 2e6
    is_empty(usage)


@given(USAGES, USAGES)
def test_merging_raises_nothing_and_is_the_same_when_repeated(one: dict[str, Any], two: dict[str, Any]) -> None:
    into = copy.deepcopy(one)
    merge_usage(into, copy.deepcopy(two))
    assert into.keys() == one.keys() | two.keys()
    again = copy.deepcopy(into)
    merge_usage(into, copy.deepcopy(two))
    assert repr(into) == repr(again)


def test_a_later_usage_replaces_counts_but_null_and_zero_replace_none() -> None:
    usage = {"input_tokens": 25, "output_tokens": 1, "cache_read_input_tokens": None, "service_tier": "standard"}
    merge_usage(usage, {"output_tokens": 15, "input_tokens": 0, "cache_read_input_tokens": 7, "service_tier": None})
    assert usage == {"input_tokens": 25, "output_tokens": 15, "cache_read_input_tokens": 7, "service_tier": "standard"}
    merge_usage(usage, {"output_tokens": 12, "input_tokens": "0", "cost": 0.002})
    merge_usage(usage, {"output_tokens": 0.0, "cost": 0, "is_byok": True})
    merge_usage(usage, {"is_byok": False})
    assert usage | {"service_tier": ""} == {
        "input_tokens": 25,
        "output_tokens": 12,
        "cache_read_input_tokens": 7,
        "service_tier": "",
        "cost": 0.002,
        "is_byok": False,
    }


def test_details_are_merged_count_by_count() -> None:
    usage: dict[str, Any] = {}
    first = {"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 4, "cache_creation": {"a": 1}}}
    merge_usage(usage, first)
    merge_usage(usage, {"prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 2, "cache_creation": {"a": 0}}})
    merge_usage(usage, {"prompt_tokens_details": None})
    merge_usage(usage, {"prompt_tokens_details": 0})
    assert usage == {
        "prompt_tokens": 9,
        "prompt_tokens_details": {"cached_tokens": 4, "audio_tokens": 2, "cache_creation": {"a": 1}},
    }


def test_deeply_nested_usage_is_merged() -> None:
    def nested() -> dict[str, Any]:
        usage: dict[str, Any] = {"input_tokens": 1}
        for _ in range(5000):
            usage = {"prompt_tokens_details": usage, "total_tokens": 1}
        return usage

    usage = nested()
    merge_usage(usage, nested())
    assert tokens_of(usage, "chat") == (None, None, None, None)


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({}, True),
        ({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}, True),
        ({"prompt_tokens": 0, "prompt_tokens_details": {"cached_tokens": 0}, "iterations": None}, True),
        ({"input_tokens": None, "output_tokens": "0", "cost": 0, "service_tier": "standard"}, True),
        ({"prompt_tokens": 0, "completion_tokens": 1}, False),
        ({"total_tokens": 10}, True),
        ({"input_tokens": 0, "cache_read_input_tokens": 5}, False),
        ({"prompt_tokens": 0, "completion_tokens_details": {"reasoning_tokens": 5}}, False),
        ({"prompt_tokens": 0, "completion_tokens": 0, "cost": "0.001"}, False),
        ({"cost_in_usd_ticks": 5}, False),
        ({"prompt_tokens": 0, "server_tool_use": {"web_search_requests": 1}}, False),
    ],
)
def test_usage_without_a_count_above_zero_is_empty(usage: dict[str, Any], expected: bool) -> None:
    assert is_empty(usage) is expected
