"""Test that costs are equal to the costs that genai-prices computes.

An unknown cost is `None`. If the provider states a cost, that cost takes precedence.
"""

import json
import random
import subprocess
import sys
from datetime import UTC, datetime
from functools import cache
from typing import Any

import pytest
from genai_prices import extract_usage
from genai_prices.data_snapshot import get_snapshot
from genai_prices.types import ModelInfo, Provider
from hypothesis import example, given, settings
from hypothesis import strategies as st

from relaybook.log.formats import responses
from relaybook.log.formats.chat import read_whole
from relaybook.log.formats.facts import Usage
from relaybook.recorder.prices import FROM_PROVIDER, Prices

OPENAI = "https://api.openai.com/v1"
AZURE = "https://example.openai.azure.com/openai/v1"
DEEPSEEK = "https://api.deepseek.com/v1"
OPENROUTER = "https://openrouter.ai/api/v1"
GOOGLE = "https://generativelanguage.googleapis.com/v1beta/openai"
XAI = "https://api.x.ai/v1"
LOCAL = "http://127.0.0.1:4199/v1"
AT = datetime(2026, 11, 20, 12, tzinfo=UTC)
AT_US = int(AT.timestamp()) * 1_000_000
COUNTS = st.integers(0, 400_000)


def chat(prompt: int, completion: int, cached: int = 0, reasoning: int = 0, audio: int = 0) -> Usage:
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": cached, "audio_tokens": audio},
        "completion_tokens_details": {"reasoning_tokens": reasoning, "audio_tokens": 0},
    }


def cost(usage: Usage | None, model: str | None = "gpt-4.1", upstream: str = OPENAI, **more: Any) -> float | None:
    prices = more.pop("prices", None) or Prices()
    arguments = {"response_model": None, "service_tier": None, "at_us": AT_US} | more
    return prices.cost(
        upstream, model, arguments["response_model"], usage, arguments["service_tier"], arguments["at_us"]
    )[0]


def by_the_library(provider_id: str, model: str, usage: Usage, tier: str | None, at: datetime) -> float | None:
    context = {"service_tier": tier} if tier else None
    try:
        counted = extract_usage({"model": model, "usage": usage}, provider_id=provider_id, api_flavor="chat")
        price = counted.calc_price(genai_request_timestamp=at, price_context=context)
    except (ValueError, LookupError):
        return None
    return float(price.total_price)


@cache
def chat_models() -> list[tuple[str, str]]:
    """Return pairs of a provider id and a model id.

    Every provider has an extractor for chat, and every model is found by its id.
    """
    return [
        (provider.id, model.id)
        for provider in get_snapshot().providers
        if any(one.api_flavor == "chat" and one.root == "usage" for one in provider.extractors or ())
        for model in provider.models
        if is_found(provider, model)
    ]


def is_found(provider: Provider, model: ModelInfo) -> bool:
    prices = [model.get_prices(AT)]
    return provider.find_model(model.id) is model and any(vars(one) for one in prices)


@settings(deadline=None)
@given(
    st.randoms(use_true_random=False),
    COUNTS,
    COUNTS,
    COUNTS,
    COUNTS,
    st.sampled_from([None, "default", "flex", "priority"]),
)
@example(random.Random(1), 300_000, 10, 5, 0, None)
@example(random.Random(0), 0, 0, 1, 0, None)
def test_costs_are_those_of_the_library(
    pick: random.Random, prompt: int, completion: int, cached: int, audio: int, tier: str | None
) -> None:
    provider_id, model = pick.choice(chat_models())
    usage = chat(prompt, completion, cached, completion // 2, audio if audio % 3 == 0 else 0)
    found = cost(usage, model, LOCAL, service_tier=tier, prices=Prices(provider_id))
    expected = by_the_library(provider_id, model, usage, tier, AT)
    assert found == (None if expected is None else pytest.approx(expected, rel=1e-9, abs=1e-12))


def test_every_model_costs_what_the_library_says() -> None:
    usage = chat(1000, 500, 200, 100)
    by_provider: dict[str, Prices] = {}
    for provider_id, model in chat_models():
        prices = by_provider.setdefault(provider_id, Prices(provider_id))
        expected = by_the_library(provider_id, model, usage, None, AT)
        found = cost(usage, model, LOCAL, prices=prices)
        assert found == (None if expected is None else pytest.approx(expected, rel=1e-9)), (provider_id, model)


def test_a_known_price_is_in_dollars() -> None:
    assert cost(chat(1_000_000, 0)) == pytest.approx(2.0)
    assert cost(chat(1_000_000, 0, cached=1_000_000)) == pytest.approx(0.5)
    assert cost(chat(0, 1_000_000)) == pytest.approx(8.0)


@pytest.mark.parametrize("model", ["gpt-5.5"])
def test_context_tiers_apply_to_long_prompts(model: str) -> None:
    short, long = cost(chat(100_000, 0), model), cost(chat(300_000, 0), model)
    assert short is not None
    assert long is not None
    assert long > 3.1 * short


def test_the_service_tier_changes_the_price() -> None:
    usage = chat(100_000, 1_000)
    plain, flex = cost(usage, "gpt-5.5"), cost(usage, "gpt-5.5", service_tier="flex")
    assert plain is not None
    assert flex is not None
    assert flex < plain


def test_cache_writes_have_their_own_price_and_are_not_counted_twice() -> None:
    usage: Usage = chat(10_000, 0) | {"prompt_tokens_details": {"cached_tokens": 2_000, "cache_write_tokens": 3_000}}
    model = "anthropic/claude-sonnet-4"
    found = cost(usage, model, OPENROUTER)
    assert found == pytest.approx(by_the_library("openrouter", model, usage, None, AT))
    assert found == pytest.approx((5_000 * 3 + 2_000 * 0.3 + 3_000 * 3.75) / 1e6)


def test_prices_by_the_hour_follow_the_hour() -> None:
    prices, usage = Prices(), chat(1_000_000, 0)
    night, day = (AT.replace(hour=hour) for hour in (20, 8))
    for at in (night, day, night):
        found = cost(usage, "deepseek-chat", DEEPSEEK, at_us=int(at.timestamp()) * 1_000_000, prices=prices)
        assert found == pytest.approx(by_the_library("deepseek", "deepseek-chat", usage, None, at))
    assert by_the_library("deepseek", "deepseek-chat", usage, None, night) != by_the_library(
        "deepseek", "deepseek-chat", usage, None, day
    )


def test_a_model_of_another_provider_has_plain_prices_only() -> None:
    usage = chat(100_000, 1_000)
    assert cost(usage, "gpt-4.1", service_tier="priority") != cost(usage, "gpt-4.1")
    assert cost(usage, "gpt-4.1", AZURE, service_tier="priority") == cost(usage, "gpt-4.1", AZURE) is not None


def test_a_model_the_library_lists_without_prices_is_unknown() -> None:
    copilot = next(one for one in get_snapshot().providers if one.id == "github-copilot")
    model = next(one for one in copilot.models if one.id == "gpt-3.5-turbo")
    assert not any(vars(model.get_prices(AT)).values())
    assert cost(chat(1000, 500), model.id, "https://api.githubcopilot.com") is None


def test_responses_and_embeddings_are_priced() -> None:
    response: Usage = {"input_tokens": 1000, "output_tokens": 500, "input_tokens_details": {"cached_tokens": 0}}
    assert cost(response) == cost(chat(1000, 500))
    assert cost({"prompt_tokens": 1_000_000, "total_tokens": 1_000_000}, "text-embedding-3-small") == pytest.approx(
        0.02
    )


def test_a_cost_that_would_make_sums_useless_is_unknown() -> None:
    assert cost({"prompt_tokens": 1e300, "completion_tokens": 1}) is None
    assert cost(chat(10**15, 1)) is None


def test_providers_without_an_extractor_are_priced() -> None:
    usage: Usage = {"prompt_tokens": 1000, "completion_tokens": 1000}
    together = next(one for one in get_snapshot().providers if one.id == "together")
    model = next(one for one in together.models if is_found(together, one))
    once = cost(usage, model.id, "https://api.together.xyz/v1")
    assert once
    both_names = usage | {"input_tokens": 1000, "output_tokens": 1000}
    assert cost(both_names, model.id, "https://api.together.xyz/v1") == once


def test_reasoning_that_is_not_part_of_the_output_is_priced_once() -> None:
    details = {"completion_tokens_details": {"reasoning_tokens": 94}}
    apart: Usage = {"prompt_tokens": 32, "completion_tokens": 9, "total_tokens": 135} | details
    inside: Usage = {"prompt_tokens": 32, "completion_tokens": 103, "total_tokens": 135} | details
    assert cost(apart) == cost(inside) is not None
    assert cost(apart, "grok-4.3", XAI) == pytest.approx(by_the_library("x-ai", "grok-4.3", apart, None, AT))
    no_reasoning: Usage = {"prompt_tokens": 32, "completion_tokens": 103, "total_tokens": 135}
    assert cost(apart, "grok-4.3", XAI) == cost(no_reasoning, "grok-4.3", XAI) is not None


def test_the_thinking_of_gemini_is_priced_as_output() -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 103}
    facts = read_whole(json.dumps({"model": "gemini-2.5-flash", "usage": usage}).encode())
    assert facts is not None
    assert cost(facts.usage, facts.response_model, GOOGLE) == cost(chat(9, 94), "gemini-2.5-flash", GOOGLE) is not None


@pytest.mark.parametrize("name", ["prompt_cache_hit_tokens", "cached_tokens"])
def test_every_name_of_cached_tokens_is_priced(name: str) -> None:
    plain: Usage = {"prompt_tokens": 1000, "completion_tokens": 500}
    assert cost(plain | {name: 800}) == cost(chat(1000, 500, cached=800)) != cost(plain)
    at = int(AT.replace(hour=20).timestamp()) * 1_000_000
    found = cost(plain | {name: 800}, "deepseek-chat", DEEPSEEK, at_us=at)
    assert found == cost(chat(1000, 500, cached=800), "deepseek-chat", DEEPSEEK, at_us=at) is not None
    assert cost(chat(1000, 500, cached=0) | {name: 800}) == cost(plain)
    assert cost(plain | {name: 1001}) is None


def test_web_searches_of_the_responses_api_are_priced() -> None:
    usage = {"input_tokens": 1000, "output_tokens": 500}
    for model, dollars in (("gpt-5-mini", 0.01), ("gpt-3.5-turbo", 0)):  # the library has no price for the second
        for searches in (0, 3):
            body = {"model": model, "usage": usage, "tool_usage": {"web_search": {"num_requests": searches}}}
            facts = responses.read_whole(json.dumps(body).encode())
            assert facts is not None
            plain = cost(chat(1000, 500), model)
            assert plain is not None
            assert cost(facts.usage, facts.response_model) == pytest.approx(plain + searches * dollars)


@pytest.mark.parametrize("tools", [None, [], {"web_search": 3}, {"web_search": {"num_requests": "3"}}])
def test_unreadable_tool_usage_is_ignored(tools: Any) -> None:
    usage = {"input_tokens": 1000, "output_tokens": 500}
    facts = responses.read_whole(json.dumps({"usage": usage, "tool_usage": tools}).encode())
    assert facts is not None
    assert facts.usage == usage


def test_the_response_model_is_priced_before_the_requested_one() -> None:
    usage = chat(1000, 500)
    assert cost(usage, "gpt-4.1", response_model="gpt-4.1-nano-2025-04-14") == cost(usage, "gpt-4.1-nano")
    assert cost(usage, "gpt-4.1", response_model="my-deployment") == cost(usage, "gpt-4.1")


@pytest.mark.parametrize(
    ("usage", "model", "upstream"),
    [
        (chat(10, 5), "gpt-4.1", LOCAL),
        (chat(10, 5), "gpt-4.1", "not a url"),
        (chat(10, 5), "no-such-model", OPENAI),
        (chat(10, 5), None, OPENAI),
        (chat(10, 5), "", OPENAI),
        (None, "gpt-4.1", OPENAI),
        ({}, "gpt-4.1", OPENAI),
        ({"total_tokens": 9}, "gpt-4.1", OPENAI),
        (chat(10, 5, cached=11), "gpt-4.1", OPENAI),
    ],
)
def test_unknown_is_none_and_never_zero(usage: Usage | None, model: str | None, upstream: str) -> None:
    assert Prices().cost(upstream, model, None, usage, None, AT_US) == (None, None)


def test_an_unknown_upstream_may_be_priced_as_another() -> None:
    usage = chat(1000, 500)
    assert cost(usage, upstream=LOCAL, prices=Prices("openai")) == cost(usage)
    assert cost(usage, upstream=LOCAL, prices=Prices("no-such-provider")) is None
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
    ],
)
def test_the_cost_stated_by_the_provider_takes_precedence(stated: Any, expected: float) -> None:
    usage: Usage = {"prompt_tokens": 1, "completion_tokens": 1, "cost": stated}
    assert Prices().cost(LOCAL, "any", None, usage, None, AT_US) == (expected, FROM_PROVIDER)


def test_the_cost_stated_by_xai_is_in_ticks() -> None:
    usage: Usage = chat(1000, 500) | {"cost_in_usd_ticks": 37_756_000}
    assert Prices().cost(XAI, "grok-4", None, usage, None, AT_US) == (0.0037756, FROM_PROVIDER)
    for invalid in (None, True, "1", 2**63 - 1):
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
    usage: Usage = chat(1000, 500) | {"cost": stated, "is_byok": is_byok} | details
    assert Prices().cost(OPENROUTER, "openai/gpt-4.1", None, usage, None, AT_US) == (
        pytest.approx(expected),
        FROM_PROVIDER,
    )


@pytest.mark.parametrize("details", [None, {}, {"upstream_inference_cost": None}, {"upstream_inference_cost": -1}])
def test_an_unknown_cost_of_the_customers_own_key_is_not_zero(details: Any) -> None:
    usage: Usage = chat(1000, 500) | {"cost": 0, "is_byok": True, "cost_details": details}
    found = cost(usage, "openai/gpt-4.1", OPENROUTER)
    assert found == cost(chat(1000, 500), "openai/gpt-4.1", OPENROUTER) is not None


@pytest.mark.parametrize(
    "stated",
    [True, "0.1", -1, None, float("inf"), float("nan"), 1e19, 10**30, {}, {"total_cost": "1"}],
)
def test_an_invalid_stated_cost_is_ignored(stated: Any) -> None:
    usage: Usage = chat(1000, 500) | {"cost": stated}
    assert cost(usage) == cost(chat(1000, 500))


def test_the_version_of_the_prices_is_returned() -> None:
    assert (Prices().cost(OPENAI, "gpt-4.1", None, chat(1, 1), None, AT_US)[1] or "").startswith("genai-prices ")


def test_the_cache_of_plans_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relaybook.recorder.prices._MAX_CACHED_PLANS", 10)
    prices = Prices()
    for number in range(25):
        assert prices.cost(OPENAI, f"no-such-model-{number}", None, chat(1, 1), None, AT_US) == (None, None)
    assert len(prices._plans) <= 10
    assert cost(chat(1000, 500), prices=prices) == cost(chat(1000, 500))


def messages_usage(fresh: int, output: int, read: int, short: int, long: int, searches: int) -> Usage:
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
@given(st.dictionaries(st.sampled_from(["prompt_tokens", "completion_tokens", "cost", "input_tokens", "output_tokens"]),
       st.none() | st.booleans() | st.integers(0, 2**63 - 1) | st.floats() | st.text(max_size=3)))  # fmt: skip
def test_no_usage_raises(usage: Usage) -> None:
    dollars = cost(usage)
    assert dollars is None or dollars >= 0


def test_the_library_is_imported_only_for_the_first_price() -> None:
    program = (
        "import sys; from relaybook.recorder.prices import Prices; prices = Prices('openai');"
        "prices.cost('x', 'm', None, None, None, 0); prices.cost('x', 'm', None, {'cost': 1}, None, 0);"
        "assert 'genai_prices' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
