"""Test which provider's prices apply to a model, with the names that real providers and gateways use."""

import re
from collections import defaultdict
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from genai_prices.data_snapshot import find_provider_by_id, get_snapshot
from genai_prices.types import ModelInfo, Provider

from relaybook.log.price_list import Priced, PriceList, _price

AT = datetime(2026, 11, 20, 12, tzinfo=UTC)
LOCAL = "http://127.0.0.1:4199/v1"
GATEWAY = "https://llm.example.com/v1"
PROVIDERS = get_snapshot().providers
PRICE_LIST = PriceList()
#: Providers that run models themselves, and sell no model that only its maker can run.
HOSTS = [
    each
    for each in PROVIDERS
    if each.id in ("fireworks", "together", "groq", "novita", "baseten", "cerebras", "cloudflare", "ovhcloud")
    or each.id.startswith("huggingface")
]


def provider(provider_id: str) -> Provider:
    found = find_provider_by_id(PROVIDERS, provider_id)
    assert found is not None
    return found


def found(name: str, upstream: str = LOCAL, price_as: str | None = None) -> str:
    """Return the provider and the model whose prices apply, or the reason why there are none."""
    priced = PRICE_LIST.find(upstream, [name], AT, price_as)
    if isinstance(priced, str):
        return priced
    return next(
        f"{each.id}: {priced.model.id}" for each in PROVIDERS if any(priced.model is own for own in each.models)
    )


@pytest.mark.parametrize("upstream", [LOCAL, GATEWAY, "http://10.1.2.3:8080", "not a url"])
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # The names of the providers themselves.
        ("gpt-4o-mini", "openai: gpt-4o-mini"),
        ("gpt-4.1-nano-2025-04-14", "openai: gpt-4.1-nano"),
        ("o3-mini", "openai: o3-mini"),
        ("claude-sonnet-4-5", "anthropic: claude-sonnet-4-5"),
        ("claude-sonnet-4-5-20250929", "anthropic: claude-sonnet-4-5"),
        ("Claude-Haiku-4-5", "anthropic: claude-haiku-4-5"),
        ("gemini-2.5-flash", "google: gemini-2.5-flash"),
        ("models/gemini-2.5-flash", "google: gemini-2.5-flash"),
        ("grok-4", "x-ai: grok-4-0709"),
        ("mistral-large-latest", "mistral: mistral-large"),
        ("voyage-3.5", "voyageai: voyage-3.5"),
        ("sonar-pro", "perplexity: sonar-pro"),
        # OpenRouter and other gateways: the maker and the model.
        ("anthropic/claude-sonnet-4.5", "anthropic: claude-sonnet-4-5"),
        ("google/gemini-2.5-flash", "google: gemini-2.5-flash"),
        ("openai/gpt-4o-mini", "openai: gpt-4o-mini"),
        ("x-ai/grok-4", "x-ai: grok-4-0709"),
        # LiteLLM: the provider that runs the model, and its name for the model.
        ("vertex_ai/claude-sonnet-4-5@20250929", "google: claude-sonnet-4-5"),
        ("gemini/gemini-2.5-pro", "google: gemini-2.5-pro"),
        ("azure/gpt-4o", "openai: gpt-4o"),
        ("groq/llama-3.3-70b-versatile", "groq: llama-3.3-70b-versatile"),
        ("perplexity/sonar", "perplexity: sonar"),
        ("together_ai/meta-llama/Llama-3.3-70B-Instruct-Turbo", "together: meta-llama/Llama-3.3-70B-Instruct-Turbo"),
        ("openrouter/anthropic/claude-sonnet-4.5", "openrouter: anthropic/claude-sonnet-4.5"),
        # Open models, as local servers, Hugging Face and gateways name them.
        ("llama3.2", "unknown_model"),
        ("qwen3:8b", "unknown_model"),
        ("mistral:7b", "unknown_model"),
        ("mistral-small", "unknown_model"),
        ("mistral-small:24b", "unknown_model"),
        ("deepseek-r1:8b", "unknown_model"),
        ("gpt-oss:20b", "unknown_model"),
        ("command-r:35b", "unknown_model"),
        ("google/gemma-3-12b", "unknown_model"),
        ("my-finetuned-claude", "unknown_model"),
        ("gpt-4o-mini:free", "unknown_model"),
        ("command-r", "ambiguous_model"),
        ("devstral-small", "ambiguous_model"),
        ("gpt-oss-120b", "ambiguous_model"),
        ("openai/gpt-oss-20b", "ambiguous_model"),
        ("deepseek-r1", "ambiguous_model"),
        ("deepseek-ai/DeepSeek-R1", "ambiguous_model"),
        ("kimi-k2.6", "ambiguous_model"),
        ("Qwen/Qwen2.5-7B-Instruct", "ambiguous_model"),
        ("meta-llama/Llama-3.1-8B-Instruct", "ambiguous_model"),
        ("meta-llama/llama-3.3-70b-instruct", "ambiguous_model"),
    ],
)  # fmt: skip
def test_at_an_unknown_upstream_the_name_decides_unless_many_providers_run_the_model(
    name: str, expected: str, upstream: str
) -> None:
    assert found(name, upstream) == expected


def test_embeddings_of_openai_cost_the_same_at_an_unknown_upstream() -> None:
    priced = PRICE_LIST.find(LOCAL, ["text-embedding-3-small"], AT)
    assert isinstance(priced, Priced)
    assert _price(priced.model, AT) == (Decimal("0.02"), None)


@pytest.mark.parametrize(
    ("maker", "closed"), [("anthropic", "claude"), ("openai", "gpt-[345]"), ("google", "gemini-[23]")]
)
def test_a_gateways_name_of_a_closed_model_has_a_price_and_it_is_that_of_its_maker(maker: str, closed: str) -> None:
    listed = [model.id for model in provider("openrouter").models]
    names = [name for name in listed if re.fullmatch(f"{maker}/{closed}[^:]*", name)]
    prices = {name: priced for name in names if isinstance(priced := PRICE_LIST.find(GATEWAY, [name], AT), Priced)}
    assert len(prices) > max(15, 0.9 * len(names))
    own = provider(maker)
    assert all(any(priced.model is each for each in own.models) for priced in prices.values())


def test_a_model_that_hosts_run_at_different_prices_has_no_price_at_an_unknown_upstream() -> None:
    offers: dict[str, list[tuple[str, ModelInfo]]] = defaultdict(list)
    for host in HOSTS:
        for model in host.models:
            offers[model.id.rpartition("/")[2].lower()].append((model.id, model))
    open_models = {
        name
        for base, models in offers.items()
        if len({_price(model, AT) for _, model in models} - {None}) > 1
        for name in (base, *(name for name, _ in models))
    }
    assert len(open_models) > 100
    assert not {
        name: found(name)
        for name in open_models
        if found(name) not in ("unknown_model", "ambiguous_model")
        and find_provider_by_id(PROVIDERS, name.partition("/")[0].lower()) not in HOSTS
    }


@pytest.mark.parametrize(
    ("upstream", "name", "expected"),
    [
        ("https://api.openai.com/v1", "gpt-4o", "openai: gpt-4o"),
        ("https://openrouter.ai/api/v1", "anthropic/claude-sonnet-4.5", "openrouter: anthropic/claude-sonnet-4.5"),
        ("https://api.groq.com/openai/v1", "openai/gpt-oss-20b", "groq: openai/gpt-oss-20b"),
        ("https://example.openai.azure.com/openai/v1", "claude-sonnet-4-5", "anthropic: claude-sonnet-4-5"),
        # A provider that does not have the model
        ("https://api.openai.com/v1", "claude-sonnet-4-5", "anthropic: claude-sonnet-4-5"),
        ("https://api.openai.com/v1", "no-such-model", "no_price"),
        ("https://api.openai.com/v1", "kimi-k2.6", "ambiguous_model"),
        # A provider that has the model, but no price per token for it
        ("https://api.githubcopilot.com", "gpt-3.5-turbo", "no_price"),
        ("https://api.openai.com/v1", "whisper-1", "no_price"),
    ],
)
def test_the_provider_of_the_upstream_is_asked_before_the_maker(upstream: str, name: str, expected: str) -> None:
    assert found(name, upstream) == expected


def test_the_setting_comes_before_the_upstream_if_its_provider_has_the_model() -> None:
    openrouter, model = "https://openrouter.ai/api/v1", "anthropic/claude-sonnet-4.5"
    assert found("gpt-oss-120b", LOCAL, price_as="cerebras") == "cerebras: gpt-oss-120b"
    assert found("claude-sonnet-4-5", "https://api.anthropic.com", price_as="google") == "google: claude-sonnet-4-5"
    assert found(model, openrouter, price_as="openai") == f"openrouter: {model}"
    assert found("claude-sonnet-4-5", LOCAL, price_as="openai") == "anthropic: claude-sonnet-4-5"
    assert found("no-such-model", LOCAL, price_as="openai") == "no_price"
    assert found("gpt-4o", LOCAL, price_as="no-such-provider") == "openai: gpt-4o"


def test_the_first_name_with_a_price_is_used() -> None:
    priced = PRICE_LIST.find(LOCAL, ["gpt-oss-120b", "groq/openai/gpt-oss-120b"], AT)
    assert isinstance(priced, Priced)
    assert priced.model is provider("groq").find_model("openai/gpt-oss-120b")
    assert PRICE_LIST.find(LOCAL, ["gpt-oss-120b", "no-such-model"], AT) == "ambiguous_model"
    assert PRICE_LIST.find(LOCAL, ["no-such-model", "gpt-oss-120b"], AT) == "ambiguous_model"


@pytest.mark.parametrize("name", ["/", "//", "a/", "/a", ":", "anthropic/", "openai//gpt-4o", "\0", "é/ß", "x" * 5000])
def test_any_name_gives_a_price_or_a_reason(name: str) -> None:
    assert found(name)
