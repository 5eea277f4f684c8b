"""Test that costs are those of genai-prices, computed from our own counts, and that an unknown cost has a reason.

If the provider states a cost, that cost takes precedence.
"""

import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from datetime import UTC, datetime
from functools import cache
from typing import Any

import pytest
from genai_prices import Usage as CountedUsage
from genai_prices import extract_usage
from genai_prices.data_snapshot import get_snapshot
from genai_prices.types import ConditionalPrice, ModelInfo, ModelPrice, Provider
from hypothesis import example, given, settings
from hypothesis import strategies as st

from relaybook.log.formats.usage import counts_of
from relaybook.log.prices import FROM_PROVIDER, Cost, Prices
from relaybook.settings.definitions import PriceSettings, Settings
from relaybook.settings.routes import RouteSettings

OPENAI = "https://api.openai.com/v1"
ANTHROPIC = "https://api.anthropic.com/v1"
AZURE = "https://example.openai.azure.com/openai/v1"
DEEPSEEK = "https://api.deepseek.com/v1"
OPENROUTER = "https://openrouter.ai/api/v1"
GOOGLE = "https://generativelanguage.googleapis.com/v1beta/openai"
XAI = "https://api.x.ai/v1"
LOCAL = "http://127.0.0.1:4199/v1"
AT = datetime(2026, 11, 20, 12, tzinfo=UTC)
AT_US = int(AT.timestamp()) * 1_000_000
TIMES = [AT, AT.replace(hour=2), AT.replace(hour=20), datetime(2025, 12, 1, 8, tzinfo=UTC)]
COUNTS = st.integers(0, 400_000)
#: The prices that a cost is unknown without, if the count is above 0.
NEEDED = {
    "cache_write_tokens": "cache_write_mtok",
    "cache_write_1h_tokens": "cache_write_1h_mtok",
    "input_audio_tokens": "input_audio_mtok",
    "output_audio_tokens": "output_audio_mtok",
    "web_searches": "web_searches_kcount",
}


#: Any JSON at the places where providers state counts and costs.
VALUES = (
    st.none()
    | st.booleans()
    | st.integers(0, 3000)
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=3)
    | st.lists(st.integers(), max_size=2)
)
DETAILS = st.dictionaries(
    st.sampled_from(
        ["cached_tokens", "cache_write_tokens", "audio_tokens", "reasoning_tokens", "total_cost", "image_tokens"]
    ),
    VALUES,
)
USAGES = st.dictionaries(
    st.sampled_from(
        [
            *("prompt_tokens", "completion_tokens", "cost", "input_tokens", "output_tokens", "total_tokens", "speed"),
            *("prompt_tokens_details", "completion_tokens_details", "cache_read_input_tokens", "citation_tokens"),
            *("cache_creation_input_tokens", "cache_creation", "web_search_requests", "is_byok", "cost_details"),
        ]
    ),
    VALUES | DETAILS,
)
PRICES = {name: Prices(name) for name in ("openai", "anthropic", "perplexity")}


def chat(prompt: int, completion: int, cached: int = 0, reasoning: int = 0, audio: int = 0) -> dict[str, Any]:
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": cached, "audio_tokens": audio},
        "completion_tokens_details": {"reasoning_tokens": reasoning, "audio_tokens": 0},
    }


def full_cost(usage: dict[str, Any] | None, model: str | None = "gpt-4.1", upstream: str = OPENAI, **more: Any) -> Cost:
    prices = more.pop("prices", None) or Prices()
    arguments = {"response_model": None, "service_tier": None, "at_us": AT_US} | more
    counts = counts_of(usage or {}, arguments.pop("kind", None), arguments["response_model"])
    return prices.cost(upstream, model, usage=usage or {}, counts=counts, **arguments)


def cost(
    usage: dict[str, Any] | None, model: str | None = "gpt-4.1", upstream: str = OPENAI, **more: Any
) -> float | None:
    return full_cost(usage, model, upstream, **more).usd


def by_the_library(
    provider: Provider, model: ModelInfo, tier: str | None = None, at: datetime = AT, **counts: int
) -> float | None:
    """Return the cost that the library computes, or `None` if it is unknown by our rules."""
    context = {"service_tier": tier} if tier else None
    prices = model.get_prices(at, context)
    if counts["input_tokens"] < counts.get("cache_read_tokens", 0) + counts.get("cache_write_tokens", 0):
        return None
    has_fee = prices.requests_kcount is not None
    for name, price in NEEDED.items():
        if counts.get(name) and getattr(prices, price) is None and not (name == "web_searches" and has_fee):
            return None
    try:
        price = model.calc_price(CountedUsage(**counts), provider, genai_request_timestamp=at, price_context=context)
    except ValueError:
        return None
    return float(price.total_price)


def usage_of(counts: dict[str, int]) -> dict[str, Any]:
    """Return usage of chat completions with the counts, which have the library's names."""
    return {
        "prompt_tokens": counts["input_tokens"],
        "completion_tokens": counts["output_tokens"],
        "total_tokens": counts["input_tokens"] + counts["output_tokens"],
        "prompt_tokens_details": {
            "cached_tokens": counts.get("cache_read_tokens", 0),
            "cache_write_tokens": counts.get("cache_write_tokens", 0),
            "cache_creation": {"ephemeral_1h_input_tokens": counts.get("cache_write_1h_tokens", 0)},
            "audio_tokens": counts.get("input_audio_tokens", 0),
        },
        "completion_tokens_details": {
            "reasoning_tokens": counts.get("output_reasoning_tokens", 0),
            "audio_tokens": counts.get("output_audio_tokens", 0),
        },
        "server_tool_use": {"web_search_requests": counts.get("web_searches", 0)},
    }


@cache
def models() -> list[tuple[Provider, ModelInfo]]:
    """Return every model with prices per token, with its provider. Each is found by its id."""
    return [
        (provider, model)
        for provider in get_snapshot().providers
        for model in provider.models
        if provider.find_model(model.id) is model and model.get_prices(AT).input_mtok is not None
    ]


@cache
def prices_of(provider: str) -> Prices:
    return Prices(provider)


def all_prices() -> Iterator[ModelPrice]:
    for provider in get_snapshot().providers:
        for model in provider.models:
            conditions: list[Any] = list(model.price_variants or ())
            if isinstance(model.prices, ModelPrice):
                yield model.prices
            else:
                conditions += model.prices
            for one in conditions:
                assert isinstance(one, ConditionalPrice) or one.when
                yield one.prices


@settings(deadline=None, max_examples=300)
@given(
    st.randoms(use_true_random=False),
    st.tuples(COUNTS, COUNTS, COUNTS, COUNTS, COUNTS, COUNTS, COUNTS),
    st.sets(st.sampled_from(["cached", "written", "hour", "audio", "spoken", "searches"])),
    st.sampled_from([None, "default", "flex", "priority"]),
    st.sampled_from(TIMES),
)
@example(random.Random(1), (300_000, 10, 5, 0, 0, 0, 0), {"cached"}, None, AT)
@example(random.Random(0), (0, 0, 1, 0, 0, 0, 0), {"cached"}, None, AT)
def test_costs_are_those_of_the_library(
    pick: random.Random, numbers: tuple[int, ...], parts: set[str], tier: str | None, at: datetime
) -> None:
    provider, model = pick.choice(models())
    input_, output, cached, written, hour, audio, spoken = numbers
    written = written if "written" in parts else 0
    counts = {
        "input_tokens": input_,
        "output_tokens": output,
        "output_reasoning_tokens": output // 2,
        "cache_read_tokens": cached if "cached" in parts else 0,
        "cache_write_tokens": written,
        "cache_write_1h_tokens": min(hour, written) if "hour" in parts else 0,
        "input_audio_tokens": audio if "audio" in parts else 0,
        "output_audio_tokens": spoken if "spoken" in parts else 0,
        "web_searches": pick.randrange(4) if "searches" in parts else 0,
    }
    counts = {name: count for name, count in counts.items() if count or name in ("input_tokens", "output_tokens")}
    found = full_cost(
        usage_of(counts),
        model.id,
        LOCAL,
        service_tier=tier,
        at_us=int(at.timestamp()) * 1_000_000,
        prices=prices_of(provider.id),
    )
    expected = by_the_library(provider, model, tier, at, **counts)
    assert found.usd == (None if expected is None else pytest.approx(expected, rel=1e-9, abs=1e-12))
    assert (found.usd is None) == (found.source is None) == (found.reason is not None)


@pytest.mark.parametrize(
    "counts",
    [
        {"input_tokens": 1000, "output_tokens": 500},
        {"input_tokens": 1000, "output_tokens": 500, "cache_read_tokens": 200, "output_reasoning_tokens": 100},
        {"input_tokens": 600_000, "output_tokens": 500, "cache_read_tokens": 200_000},
        {"input_tokens": 1000, "output_tokens": 500, "cache_read_tokens": 200, "cache_write_tokens": 300},
        {"input_tokens": 1000, "output_tokens": 0, "cache_write_tokens": 300, "cache_write_1h_tokens": 100},
        {"input_tokens": 1000, "output_tokens": 500, "input_audio_tokens": 300, "output_audio_tokens": 200},
        {"input_tokens": 1000, "output_tokens": 500, "cache_read_tokens": 100, "input_audio_tokens": 300},
        {"input_tokens": 1000, "output_tokens": 500, "web_searches": 3},
    ],
)
def test_every_model_costs_what_the_library_says(counts: dict[str, int]) -> None:
    usage, known = usage_of(counts), 0
    for provider, model in models():
        expected = by_the_library(provider, model, **counts)
        found = cost(usage, model.id, LOCAL, prices=prices_of(provider.id))
        assert found == (None if expected is None else pytest.approx(expected, rel=1e-9)), (provider.id, model.id)
        known += expected is not None
    assert known >= 10


def test_every_price_of_the_library_is_used_or_is_not_for_tokens() -> None:
    used = {
        *("input_mtok", "cache_read_mtok", "cache_write_mtok", "output_mtok", "output_reasoning_mtok"),
        *("requests_kcount", "cache_write_1h_mtok", "web_searches_kcount", "input_audio_hours", "output_citation_mtok"),
        *("input_audio_mtok", "input_image_mtok", "input_video_mtok"),
        *("output_audio_mtok", "output_image_mtok", "output_video_mtok"),
        *("cache_audio_read_mtok", "cache_image_read_mtok", "cache_video_read_mtok"),
    }
    # Usage does not state these. The total duration is the same as that of the input.
    not_in_usage = {
        *("audio_hours", "input_mchars", "input_document_kpages", "input_annotated_document_kpages"),
        *("input_text_messages_kcount", "storage_searches_kcount"),
    }
    names = {name for prices in all_prices() for name, price in vars(prices).items() if price is not None}
    assert names - used - not_in_usage == set()


@settings(deadline=None)
@given(st.sampled_from(["openai", "anthropic", "google", "aws", "openrouter", "deepseek"]),
       st.sampled_from(["claude-3-5-sonnet", "claude-sonnet-4-5", "gpt-5.5", "gemini-2.5-pro", "deepseek-chat"]),
       COUNTS, COUNTS, COUNTS, COUNTS)  # fmt: skip
def test_the_shape_of_the_usage_changes_neither_cost_nor_tokens(
    price_as: str, model: str, fresh: int, cached: int, written: int, output: int
) -> None:
    prices, total = Prices(price_as), fresh + cached + written
    details = {"cached_tokens": cached, "cache_write_tokens": written}
    shapes: list[tuple[Any, dict[str, Any]]] = [
        ("chat", {"prompt_tokens": total, "completion_tokens": output, "prompt_tokens_details": details}),
        ("response", {"input_tokens": total, "output_tokens": output, "input_tokens_details": details}),
        (
            "message",
            {
                "input_tokens": fresh,
                "output_tokens": output,
                "cache_read_input_tokens": cached,
                "cache_creation_input_tokens": written,
            },
        ),
    ]
    costs = {full_cost(usage, model, LOCAL, prices=prices, kind=kind) for kind, usage in shapes}
    assert len(costs) == 1
    assert {counts_of(usage, kind).tokens for kind, usage in shapes} == {(total, output, cached, None)}


def test_cached_input_costs_the_cached_rate_whoevers_prices_are_used() -> None:
    usage = {"prompt_tokens": 8270, "completion_tokens": 52, "prompt_tokens_details": {"cached_tokens": 3511}}
    expected = ((8270 - 3511) * 3 + 3511 * 0.3 + 52 * 15) / 1e6
    for price_as in ("anthropic", "google"):
        assert cost(usage, "claude-3-5-sonnet", LOCAL, prices=Prices(price_as)) == pytest.approx(expected)


def test_a_known_price_is_in_dollars() -> None:
    assert cost(chat(1_000_000, 0)) == pytest.approx(2.0)
    assert cost(chat(1_000_000, 0, cached=1_000_000)) == pytest.approx(0.5)
    assert cost(chat(0, 1_000_000)) == pytest.approx(8.0)


def test_rates_for_long_prompts_apply_to_all_tokens() -> None:
    usage = chat(272_000, 1_000, cached=72_000)
    assert cost(usage, "gpt-5.5") == pytest.approx((200_000 * 5 + 72_000 * 0.5 + 1_000 * 30) / 1e6)
    usage = chat(272_001, 1_000, cached=72_001)
    assert cost(usage, "gpt-5.5") == pytest.approx((200_000 * 10 + 72_001 * 1 + 1_000 * 45) / 1e6)


def test_prices_are_those_of_the_day() -> None:
    prices = Prices()
    for day, dollars in ((9, 10), (10, 2), (9, 10)):
        at_us = int(datetime(2025, 6, day, 23, 59, tzinfo=UTC).timestamp()) * 1_000_000
        assert cost(chat(1_000_000, 0), "o3", at_us=at_us, prices=prices) == pytest.approx(dollars)


def test_the_service_tier_changes_the_price() -> None:
    usage = chat(100_000, 1_000)
    plain, flex = cost(usage, "gpt-5.5"), cost(usage, "gpt-5.5", service_tier="flex")
    assert plain is not None
    assert flex is not None
    assert flex < plain


def test_cache_writes_have_their_own_price_and_are_not_counted_twice() -> None:
    usage = chat(10_000, 0) | {"prompt_tokens_details": {"cached_tokens": 2_000, "cache_write_tokens": 3_000}}
    found = cost(usage, "anthropic/claude-sonnet-4", OPENROUTER)
    assert found == pytest.approx((5_000 * 3 + 2_000 * 0.3 + 3_000 * 3.75) / 1e6)


@pytest.mark.parametrize(
    "more",
    [
        {"prompt_tokens_details": {"cache_creation_tokens": 9000}},
        {"prompt_tokens_details": {"cache_write_tokens": 9000}},
        {"prompt_tokens_details": {"cache_creation_input_tokens": 9000}},
        {"prompt_tokens_details": {"cached_creation_tokens": 9000}},
        {"cache_creation_input_tokens": 9000, "cache_read_input_tokens": 0},
        {"cache_write_tokens": 9000},
        {"prompt_tokens": 1000, "cache_creation_input_tokens": 9000},
    ],
)
def test_cache_writes_are_priced_in_every_spelling(more: dict[str, Any]) -> None:
    assert cost(chat(10_000, 0) | more, "claude-sonnet-4-5", ANTHROPIC) == pytest.approx(0.03675)


def test_cache_writes_for_an_hour_have_their_own_price() -> None:
    lifetimes = {"ephemeral_5m_input_tokens": 8000, "ephemeral_1h_input_tokens": 1000}
    usage = chat(10_000, 0) | {
        "prompt_tokens_details": {"cache_creation_tokens": 9000, "cache_creation_token_details": lifetimes}
    }
    found = cost(usage, "claude-sonnet-4-5", ANTHROPIC)
    assert found == pytest.approx((1000 * 3 + 8000 * 3.75 + 1000 * 6) / 1e6)


def test_prices_by_the_hour_follow_the_hour() -> None:
    prices, usage = Prices(), chat(1_000_000, 0)
    for hour, dollars in ((20, 0.135), (8, 0.27), (20, 0.135)):
        at_us = int(AT.replace(hour=hour).timestamp()) * 1_000_000
        assert cost(usage, "deepseek-chat", DEEPSEEK, at_us=at_us, prices=prices) == pytest.approx(dollars)


def test_a_model_of_another_provider_has_plain_prices_only() -> None:
    usage = chat(100_000, 1_000)
    assert cost(usage, "gpt-4.1", service_tier="priority") != cost(usage, "gpt-4.1")
    assert cost(usage, "gpt-4.1", AZURE, service_tier="priority") == cost(usage, "gpt-4.1", AZURE) is not None


def test_responses_and_embeddings_are_priced() -> None:
    response = {"input_tokens": 1000, "output_tokens": 500, "input_tokens_details": {"cached_tokens": 0}}
    assert cost(response) == cost(chat(1000, 500))
    assert cost({"prompt_tokens": 1_000_000, "total_tokens": 1_000_000}, "text-embedding-3-small") == pytest.approx(
        0.02
    )
    voyage = cost({"total_tokens": 1_000_000}, "voyage-3.5", LOCAL, prices=Prices("voyageai"), kind="embedding")
    assert voyage == pytest.approx(0.06)


def test_a_cost_that_would_make_sums_useless_is_unknown() -> None:
    assert cost({"prompt_tokens": 1e300, "completion_tokens": 1}) is None
    assert cost(chat(10**15, 1)) is None


def test_providers_without_an_extractor_are_priced() -> None:
    usage = {"prompt_tokens": 1000, "completion_tokens": 1000}
    model = next(model for provider, model in models() if provider.id == "together")
    once = cost(usage, model.id, "https://api.together.xyz/v1")
    assert once
    both_names = usage | {"input_tokens": 1000, "output_tokens": 1000}
    assert cost(both_names, model.id, "https://api.together.xyz/v1") == once


def test_reasoning_that_is_not_part_of_the_output_is_priced_once() -> None:
    details = {"completion_tokens_details": {"reasoning_tokens": 94}}
    apart = {"prompt_tokens": 32, "completion_tokens": 9, "total_tokens": 135} | details
    inside = {"prompt_tokens": 32, "completion_tokens": 103, "total_tokens": 135} | details
    assert cost(apart) == cost(inside) is not None
    no_reasoning = {"prompt_tokens": 32, "completion_tokens": 103, "total_tokens": 135}
    assert cost(apart, "grok-4.3", XAI) == cost(no_reasoning, "grok-4.3", XAI) is not None


def test_the_thinking_of_gemini_is_priced_as_output() -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 103}
    found = cost(usage, None, GOOGLE, response_model="gemini-2.5-flash")
    assert found == cost(chat(9, 94), "gemini-2.5-flash", GOOGLE) is not None


@pytest.mark.parametrize("name", ["prompt_cache_hit_tokens", "cached_tokens"])
def test_every_name_of_cached_tokens_is_priced(name: str) -> None:
    plain = {"prompt_tokens": 1000, "completion_tokens": 500}
    assert cost(plain | {name: 800}) == cost(chat(1000, 500, cached=800)) != cost(plain)
    at = int(AT.replace(hour=20).timestamp()) * 1_000_000
    found = cost(plain | {name: 800}, "deepseek-chat", DEEPSEEK, at_us=at)
    assert found == cost(chat(1000, 500, cached=800), "deepseek-chat", DEEPSEEK, at_us=at) is not None
    assert cost(chat(1000, 500, cached=0) | {name: 800}) == cost(plain | {name: 800})
    assert cost(plain | {name: 1001}) is None


def test_web_searches_are_priced() -> None:
    plain = cost(chat(1000, 500), "gpt-5-mini")
    assert plain is not None
    for more in ({"web_search_requests": 3}, {"server_tool_use": {"web_search_requests": 3}}):
        assert cost(chat(1000, 500) | more, "gpt-5-mini") == pytest.approx(plain + 0.03)
        assert cost(chat(1000, 500) | more, "gpt-3.5-turbo") is None
    assert cost(chat(1000, 500) | {"web_search_requests": 0}, "gpt-3.5-turbo") is not None


def test_searches_are_in_the_fee_of_a_request() -> None:
    usage = chat(1000, 500) | {"num_search_queries": 1}
    found = cost(usage, "sonar", LOCAL, prices=Prices("perplexity"))
    assert found == pytest.approx(1500 / 1e6 + 0.012)


def test_perplexitys_reasoning_and_citations_have_their_own_prices() -> None:
    usage = {
        "prompt_tokens": 33,
        "completion_tokens": 7163,
        "total_tokens": 7196,
        "citation_tokens": 19028,
        "reasoning_tokens": 95305,
        "num_search_queries": 21,
    }
    found = cost(usage, "sonar-deep-research", LOCAL, prices=Prices("perplexity"))
    assert found == pytest.approx((33 * 2 + 7163 * 8 + 19028 * 2 + 95305 * 3) / 1e6 + 21 * 0.005)


def test_more_reasoning_than_output_costs_no_less_than_nothing() -> None:
    found = cost(chat(0, 10, reasoning=100), "perplexity/sonar-deep-research", OPENROUTER)
    assert found == pytest.approx(10 * 3 / 1e6)


def test_audio_has_its_own_price_also_if_it_is_cached() -> None:
    usage = chat(1000, 500, audio=600) | {"completion_tokens_details": {"audio_tokens": 400}}
    expected = 400 * 2.5 + 600 * 32 + 100 * 10 + 400 * 64
    assert cost(usage, "gpt-audio") == pytest.approx(expected / 1e6)
    details = {"audio_tokens": 600, "cached_tokens": 500, "cached_tokens_details": {"audio_tokens": 200}}
    cached = chat(1000, 0) | {"prompt_tokens_details": details}
    assert cost(cached, "gpt-realtime") == pytest.approx((100 * 4 + 300 * 0.4 + 400 * 32 + 200 * 0.4) / 1e6)
    text = details | {"cached_tokens_details": {"audio_tokens": 0}}
    found = cost(cached | {"prompt_tokens_details": text}, "gpt-realtime")
    assert found is None  # 500 cached and 600 audio tokens are more than the input
    text["cached_tokens"] = 300
    found = cost(cached | {"prompt_tokens_details": text}, "gpt-realtime")
    assert found == pytest.approx((100 * 4 + 300 * 0.4 + 600 * 32) / 1e6)


def test_seconds_of_audio_are_priced_by_the_hour() -> None:
    usage = chat(1000, 500) | {"prompt_audio_seconds": 1800}
    plain = cost(chat(1000, 500), "voxtral-small-24b-2507", LOCAL, prices=Prices("mistral"))
    assert plain is not None
    found = cost(usage, "voxtral-small-24b-2507", LOCAL, prices=Prices("mistral"))
    assert found == pytest.approx(plain + 0.12)
    assert cost(usage, "mistral-large-latest", LOCAL, prices=Prices("mistral")) is None


def test_images_have_their_own_price_or_cost_the_same_as_text() -> None:
    usage = chat(1000, 1400) | {"completion_tokens_details": {"image_tokens": 1290}}
    found = cost(usage, "gemini-2.5-flash-image", GOOGLE)
    assert found == pytest.approx((1000 * 0.3 + 110 * 2.5 + 1290 * 30) / 1e6)
    image = chat(1000, 500) | {"prompt_tokens_details": {"image_tokens": 700}}
    assert cost(image, "gpt-4.1") == cost(chat(1000, 500), "gpt-4.1")


def test_the_response_model_is_priced_before_the_requested_one() -> None:
    usage = chat(1000, 500)
    assert cost(usage, "gpt-4.1", response_model="gpt-4.1-nano-2025-04-14") == cost(usage, "gpt-4.1-nano")
    assert cost(usage, "gpt-4.1", response_model="my-deployment") == cost(usage, "gpt-4.1")


@pytest.mark.parametrize(
    ("usage", "model", "upstream", "reason"),
    [
        (chat(10, 5), "no-such-model", LOCAL, "unknown_model"),
        (chat(10, 5), "no-such-model", "not a url", "unknown_model"),
        (chat(10, 5), "gpt-oss-120b", LOCAL, "ambiguous_model"),
        (chat(10, 5), "no-such-model", OPENAI, "no_price"),
        (chat(10, 5), None, OPENAI, "no_model"),
        (chat(10, 5), "", LOCAL, "no_model"),
        (chat(10, 5), "whisper-1", OPENAI, "no_price"),
        (chat(10, 5), "gpt-3.5-turbo", "https://api.githubcopilot.com", "no_price"),
        ({"total_tokens": 9}, "gpt-4.1", OPENAI, "no_usage"),
        ({"completion_tokens": 9}, "gpt-4.1", OPENAI, "no_usage"),
        ({"prompt_tokens": 9}, "gpt-4.1", OPENAI, "no_usage"),
        ({"prompt_tokens": [9], "completion_tokens": {}}, "gpt-4.1", OPENAI, "no_usage"),
        (chat(10, 5, cached=11), "gpt-4.1", OPENAI, "inconsistent_usage"),
        (chat(10, 5, cached=6) | {"prompt_tokens_details": {"cached_tokens": 6, "cache_write_tokens": 5}},
         "claude-sonnet-4-5", ANTHROPIC, "inconsistent_usage"),
        (chat(10, 5, audio=9), "gpt-4.1", OPENAI, "no_rate_for_audio"),
        (chat(10, 5) | {"completion_tokens_details": {"audio_tokens": 1}}, "gpt-4.1", OPENAI,
         "no_rate_for_audio"),
        (chat(10, 5) | {"cache_write_tokens": 9}, "gpt-4.1", OPENAI,
         "no_rate_for_cache_writes"),
        (chat(10, 5) | {"cache_creation": {"ephemeral_1h_input_tokens": 9}}, "claude-3-5-sonnet", GOOGLE,
         "no_rate_for_cache_writes"),
        (chat(10, 5) | {"web_search_requests": 1}, "gpt-3.5-turbo", OPENAI,
         "no_rate_for_web_searches"),
        (chat(10, 5, cached=3, audio=5), "gpt-realtime", OPENAI,
         "no_usage"),
        (chat(10, 5, audio=11), "gpt-audio", OPENAI,
         "inconsistent_usage"),
        (chat(10, 5) | {"completion_tokens_details": {"audio_tokens": 6}}, "gpt-audio", OPENAI,
         "inconsistent_usage"),
        (chat(10**15, 1), "gpt-4.1", OPENAI, "implausible"),
    ],
)  # fmt: skip
def test_an_unknown_cost_is_none_with_a_reason_and_never_zero(
    usage: dict[str, Any] | None, model: str | None, upstream: str, reason: str
) -> None:
    found = full_cost(usage, model, upstream)
    assert found == (None, None, reason)


def own(**prices: float) -> PriceSettings:
    return PriceSettings(**({"input_mtok": 2.0, "output_mtok": 8.0} | prices))


def test_a_route_has_the_prices_of_its_provider_and_other_routes_those_of_the_setting() -> None:
    routes = {"fast": RouteSettings(upstream=LOCAL, price_as="cerebras"), "local": RouteSettings(upstream=LOCAL)}
    prices, usage = Prices.of(Settings(price_as="groq", routes=routes)), chat(1_000_000, 0)
    found = {
        route: cost(usage, "openai/gpt-oss-120b", LOCAL, prices=prices, route=route) for route in ("local", "gone")
    }
    assert found == {"local": 0.15, "gone": 0.15}
    assert cost(usage, "gpt-oss-120b", LOCAL, prices=prices, route="fast") == 0.35


def test_own_prices_apply_before_all_others_except_a_stated_cost() -> None:
    prices, usage = Prices("openai", {"gpt-4.1": own(), "my-*": own(input_mtok=1.0)}), chat(1_000_000, 500_000)
    for upstream in (OPENAI, LOCAL):
        assert full_cost(usage, "gpt-4.1", upstream, prices=prices) == (6.0, "settings", None)
        assert full_cost(usage, "my-model", upstream, prices=prices) == (5.0, "settings", None)
    assert full_cost(usage | {"cost": 0.25}, "my-model", prices=prices) == (0.25, FROM_PROVIDER, None)
    assert full_cost(usage, "gpt-4.1-nano", prices=prices) == full_cost(usage, "gpt-4.1-nano")
    assert full_cost(usage, "my", prices=prices).reason == "no_price"


def test_the_longest_pattern_of_own_prices_applies_to_the_model_of_the_response_or_of_the_request() -> None:
    prices = Prices(None, {"*": own(), "local-*": own(input_mtok=0, output_mtok=0), "local-big": own(input_mtok=7.0)})
    usage = chat(1_000_000, 0)
    found = {model: cost(usage, model, LOCAL, prices=prices) for model in ("x", "local-small", "local-big")}
    assert found == {"x": 2.0, "local-small": 0.0, "local-big": 7.0}
    named = Prices(None, {"local-big": own()})
    assert cost(usage, "local-big", LOCAL, response_model="q4.gguf", prices=named) == 2.0
    assert cost(usage, "x", LOCAL, response_model="local-big", prices=named) == 2.0


def test_own_prices_of_parts_apply_and_missing_ones_follow_the_same_rules() -> None:
    usage = chat(1000, 500, cached=400, reasoning=100)
    every = own(cache_read_mtok=0.5, output_reasoning_mtok=10.0)
    found = cost(usage, "m", LOCAL, prices=Prices(None, {"m": every}))
    assert found == pytest.approx((600 * 2 + 400 * 0.5 + 400 * 8 + 100 * 10) / 1e6)
    assert cost(usage, "m", LOCAL, prices=Prices(None, {"m": own()})) == pytest.approx((1000 * 2 + 500 * 8) / 1e6)
    written, prices = usage | {"cache_write_tokens": 9}, Prices(None, {"m": own()})
    assert full_cost(written, "m", LOCAL, prices=prices).reason == "no_rate_for_cache_writes"
    assert cost(written, "m", LOCAL, prices=Prices(None, {"m": own(cache_write_mtok=2.0)})) is not None


def test_every_own_price_is_a_price_of_the_library_and_changes_the_cost() -> None:
    usage = {
        "prompt_tokens": 1000,
        "completion_tokens": 900,
        "prompt_tokens_details": {"cached_tokens": 300, "cache_write_tokens": 200, "audio_tokens": 150,
                                  "cached_tokens_details": {"audio_tokens": 50, "image_tokens": 0}, "image_tokens": 40},
        "completion_tokens_details": {"audio_tokens": 50, "image_tokens": 60, "reasoning_tokens": 70},
        "cache_creation": {"ephemeral_1h_input_tokens": 30},
        "web_search_requests": 2,
    }  # fmt: skip
    names = [each.name for each in fields(PriceSettings)]
    every = dict.fromkeys(names, 4.0)
    base = cost(usage, "m", LOCAL, prices=Prices(None, {"m": own(**every)}))
    assert base is not None
    for name in names:
        assert cost(usage, "m", LOCAL, prices=Prices(None, {"m": own(**every | {name: 5.0})})) != base, name


def test_an_unknown_upstream_may_be_priced_as_another() -> None:
    usage = chat(1000, 500)
    assert cost(usage, "gpt-oss-120b", upstream=LOCAL) is None
    assert cost(usage, "gpt-oss-120b", upstream=LOCAL, prices=Prices("cerebras")) == 0.000725
    assert cost(usage, upstream=LOCAL) == cost(usage, upstream=LOCAL, prices=Prices("openai")) == cost(usage)
    assert cost(usage, "openai/gpt-4.1", OPENROUTER, prices=Prices("openai")) is not None


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        (0.00123, 0.00123),
        (0, 0.0),
        (1, 1.0),
        (1e6, 1e6),
        (
            {"input_tokens_cost": 9e-6, "output_tokens_cost": 1e-5, "request_cost": 0.005, "total_cost": 0.005019},
            0.005019,
        ),
        ("0.00123", 0.00123),
        ("1.5e-05", 1.5e-05),
        ({"total_cost": "0.005019"}, 0.005019),
    ],
)
def test_the_cost_stated_by_the_provider_takes_precedence(stated: Any, expected: float) -> None:
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "cost": stated}
    assert full_cost(usage, "any", LOCAL) == (expected, FROM_PROVIDER, None)


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        # DeepInfra, for the tier priority
        ({"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16, "estimated_cost": 8.775e-06}, 8.775e-06),
        # LLM Gateway
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 15,
                "cost_usd_total": 0.000125,
                "cost_usd_input": 0.000025,
                "cost_usd_output": 0.0001,
            },
            0.000125,
        ),
        # Vercel
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 15,
                "cost": 0.00574811,
                "is_byok": False,
                "cost_details": {"upstream_inference_cost": None, "upstream_inference_prompt_cost": 0},
                "market_cost": 0.00574811,
                "gateway_cost": 0.00574811,
            },
            0.00574811,
        ),
        # Other services that name no cost at first
        ({"prompt_tokens": 1, "cost": None, "estimated_cost": "0.5"}, 0.5),
    ],
)
def test_costs_are_read_in_the_spellings_of_gateways(usage: dict[str, Any], expected: float) -> None:
    assert full_cost(usage, "any", LOCAL) == (expected, FROM_PROVIDER, None)


def test_the_cost_stated_by_xai_is_in_ticks() -> None:
    usage = chat(1000, 500) | {"cost_in_usd_ticks": 37_756_000}
    assert full_cost(usage, "grok-4", XAI) == (0.0037756, FROM_PROVIDER, None)
    for invalid in (None, True, "x", 2**63 - 1, 10**400, [1]):
        assert cost(chat(1000, 500) | {"cost_in_usd_ticks": invalid}, "grok-4", XAI) == cost(
            chat(1000, 500), "grok-4", XAI
        )


@pytest.mark.parametrize(
    ("stated", "is_byok", "upstream_cost", "expected"),
    [
        (0, True, 0.002, 0.002),
        (0.0001, True, 0.002, 0.0021),
        (0.003, False, 0.002, 0.003),
        (0.003, None, 0.002, 0.003),
        (0.003, True, 0, 0.003),
    ],
)
def test_a_stated_cost_includes_the_cost_of_the_customers_own_key(
    stated: float, is_byok: bool | None, upstream_cost: float, expected: float
) -> None:
    details = {"cost_details": {"upstream_inference_cost": upstream_cost}}
    usage = chat(1000, 500) | {"cost": stated, "is_byok": is_byok} | details
    assert full_cost(usage, "openai/gpt-4.1", OPENROUTER) == (
        pytest.approx(expected),
        FROM_PROVIDER,
        None,
    )


@pytest.mark.parametrize("details", [None, {}, {"upstream_inference_cost": None}, {"upstream_inference_cost": -1}])
def test_an_unknown_cost_of_the_customers_own_key_is_not_zero(details: Any) -> None:
    usage = chat(1000, 500) | {"cost": 0, "is_byok": True, "cost_details": details}
    found = cost(usage, "openai/gpt-4.1", OPENROUTER)
    assert found == cost(chat(1000, 500), "openai/gpt-4.1", OPENROUTER) is not None


@pytest.mark.parametrize(
    "stated",
    [True, "$1", "", "nan", "9" * 5000, -1, "-1", None, float("inf"), float("nan"), 1e19, 10**400, {}, [1],
     {"total_cost": {}}],
)  # fmt: skip
def test_an_invalid_stated_cost_is_ignored(stated: Any) -> None:
    usage = chat(1000, 500) | {"cost": stated}
    assert cost(usage) == cost(chat(1000, 500))


def test_the_version_of_the_prices_is_returned() -> None:
    assert (full_cost(chat(1, 1), "gpt-4.1", OPENAI).source or "").startswith("genai-prices ")


def test_the_cache_of_plans_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relaybook.log.prices._MAX_CACHED_PLANS", 10)
    prices = Prices()
    for number in range(25):
        assert full_cost(chat(1, 1), f"no-such-model-{number}", prices=prices).usd is None
    assert len(prices._plans) <= 10
    assert cost(chat(1000, 500), prices=prices) == cost(chat(1000, 500))


def messages_usage(fresh: int, output: int, read: int, short: int, long: int, searches: int) -> dict[str, Any]:
    """Return usage in Anthropic's structure, with cache writes for five minutes and for one hour."""
    return {
        "input_tokens": fresh,
        "cache_creation_input_tokens": short + long,
        "cache_read_input_tokens": read,
        "cache_creation": {"ephemeral_5m_input_tokens": short, "ephemeral_1h_input_tokens": long},
        "output_tokens": output,
        "server_tool_use": {"web_search_requests": searches},
        "service_tier": "standard",
    }


@settings(deadline=None)
@given(st.sampled_from(["claude-sonnet-4-5", "claude-opus-5", "claude-haiku-4-5-20251001"]), COUNTS, COUNTS, COUNTS,
       st.sampled_from([0, 3000]), st.sampled_from([0, 2000]), st.sampled_from([0, 0, 3]))  # fmt: skip
def test_messages_cost_what_the_librarys_extractor_for_anthropic_says(
    model: str, fresh: int, output: int, read: int, short: int, long: int, searches: int
) -> None:
    usage = messages_usage(fresh, output, read, short, long, searches)
    counted = extract_usage({"model": model, "usage": usage}, provider_id="anthropic", api_flavor="default")
    expected = float(counted.calc_price(genai_request_timestamp=AT).total_price)
    for upstream, prices in (("https://api.anthropic.com/v1", Prices()), (LOCAL, Prices("anthropic"))):
        found = cost(usage, model, upstream, service_tier="standard", prices=prices)
        assert found == pytest.approx(expected, rel=1e-9)


def test_anthropics_fast_mode_has_its_own_prices() -> None:
    usage, model, prices = messages_usage(1000, 500, 2000, 0, 0, 0), "claude-opus-5", Prices("anthropic")
    found = cost(usage | {"speed": "fast"}, model, LOCAL, service_tier="standard", prices=prices)
    assert found == pytest.approx((1000 * 10 + 500 * 50 + 2000 * 1.0) / 1e6)
    for plain in (usage, usage | {"speed": "standard"}, usage | {"speed": None}, usage | {"speed": {"fast": 1}}):
        assert cost(plain, model, LOCAL, service_tier="standard", prices=prices) == pytest.approx(found / 2)


def test_messages_usage_is_counted_as_anthropics_at_any_provider() -> None:
    usage = messages_usage(1000, 0, 100_000, 0, 0, 0)
    found = cost(usage, "claude-haiku-4-5-20251001", LOCAL, prices=Prices("google"))
    assert found == pytest.approx((1000 * 1.0 + 100_000 * 0.1) / 1e6)


@settings(deadline=None)
@given(USAGES, st.sampled_from(["gpt-4.1", "claude-sonnet-4-5", "gpt-realtime", "sonar-deep-research"]))
def test_no_usage_raises(usage: dict[str, Any], model: str) -> None:
    for price_as in ("openai", "anthropic", "perplexity"):
        found = full_cost(usage, model, LOCAL, prices=PRICES[price_as])
        assert found.usd is None or found.usd >= 0
        assert (found.usd is None) == (found.source is None) == (found.reason is not None)


def test_the_library_is_imported_only_for_the_first_price() -> None:
    program = (
        "import sys; from relaybook.log.prices import Prices; prices = Prices('openai');"
        "from relaybook.log.formats.usage import counts_of; usage = {'cost': 1};"
        "prices.cost('x', 'm', None, usage, counts_of(usage), None, 0);"
        "assert 'genai_prices' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_after_warming_a_price_imports_nothing() -> None:
    program = (
        "import sys; from relaybook.log.prices import Prices; prices = Prices('anthropic'); prices.warm();"
        "assert 'genai_prices.data' in sys.modules; before = set(sys.modules);"
        "usage = {'prompt_tokens': 9, 'completion_tokens': 1, 'web_search_requests': 1};"
        "from relaybook.log.formats.usage import counts_of; counts = counts_of(usage);"
        "assert prices.cost('http://x', 'claude-sonnet-4-5', None, usage, counts, 'priority', 10**15).usd;"
        "assert set(sys.modules) == before, set(sys.modules) - before"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
