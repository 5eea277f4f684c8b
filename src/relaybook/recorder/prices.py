"""Prices an answer in US dollars from its usage: the provider's own figure, else genai-prices, else unknown.

Unknown is None, never 0: an unknown upstream, model or usage must not look free. Prices are those bundled with the
installed genai-prices; nothing is fetched. The library takes 220 µs per answer, so what it says about a model is kept
as plain rates per token for the rest of the day, and answers those rates cannot express (context tiers, prices by the
hour, audio, searches) go through the library. Importing it takes 0.24 s and is put off until the first price.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from relaybook.log.formats.facts import Usage

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, Provider, UsageExtractor

#: The cost in US dollars and what it was computed from; both None when the cost is unknown.
Cost: TypeAlias = tuple[float | None, str | None]

FROM_PROVIDER: Final = "provider"

#: The dearest answers cost some hundred dollars; a provider's figure above this is a mistake, and would hide in every
#: sum what all other requests cost.
_MOST_STATED_USD: Final = 1e6
_UNKNOWN: Final[Cost] = (None, None)
_DAY_US: Final = 86_400_000_000
_DECIMALS: Final = 12
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
#: Model names come from callers: what is remembered about them is bounded.
_MOST_REMEMBERED: Final = 4096
#: Names of the library's extractors that read usage of a shape, and the counts such usage always has.
_FLAVORS: Final = {
    "chat": ("chat", "default"),
    "responses": ("responses", "default"),
    "embeddings": ("embeddings", "default"),
}
_HAS: Final = {
    "chat": frozenset({"prompt_tokens", "completion_tokens"}),
    "responses": frozenset({"input_tokens", "output_tokens"}),
    "embeddings": frozenset({"prompt_tokens"}),
}
#: What plain rates can price; reasoning is part of the output and priced with it.
_COUNTED_BY_RATES: Final = frozenset(
    {"input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens", "output_reasoning_tokens"}
)
_RATES: Final = ("input_mtok", "cache_read_mtok", "cache_write_mtok", "output_mtok")
#: Prices that cannot apply to usage made of those counts alone.
_HARMLESS: Final = frozenset(
    {
        "cache_write_1h_mtok",
        "web_searches_kcount",
        "storage_searches_kcount",
        "input_audio_mtok",
        "output_audio_mtok",
        "cache_audio_read_mtok",
        "input_image_mtok",
        "output_image_mtok",
        "cache_image_read_mtok",
        "input_video_mtok",
        "output_video_mtok",
    }
)


class _Path(NamedTuple):
    """Where in the usage a count is found: its group of details (or None), its name, and what it counts."""

    group: str | None
    name: str
    counts: str


#: For providers whose usage the library has no extractor for.
_OPENAI_PATHS: Final = (
    _Path(None, "prompt_tokens", "input_tokens"),
    _Path(None, "input_tokens", "input_tokens"),
    _Path("prompt_tokens_details", "cached_tokens", "cache_read_tokens"),
    _Path("input_tokens_details", "cached_tokens", "cache_read_tokens"),
    _Path(None, "completion_tokens", "output_tokens"),
    _Path(None, "output_tokens", "output_tokens"),
)


class _Rates(NamedTuple):
    """Dollars per token; input that was cached, or written to the cache, costs its own rate instead."""

    input: float
    cached: float
    cache_write: float
    output: float


class _Plan(NamedTuple):
    """How usage of one shape, by one model, on one day becomes a cost."""

    provider: "Provider"
    model: "ModelInfo"
    context: Mapping[str, str]
    paths: "tuple[_Path, ...]"
    rates: _Rates | None


class Prices:
    """Prices answers. ``price_as`` names the genai-prices provider whose prices hold for upstreams it does not know."""

    def __init__(self, price_as: str | None = None) -> None:
        self._price_as = price_as
        self._providers: dict[str, Provider | None] = {}
        self._plans: dict[tuple[object, ...], _Plan | None] = {}
        self._version: str | None = None

    def cost(
        self,
        upstream: str,
        model: str | None,
        response_model: str | None,
        usage: Usage | None,
        service_tier: str | None,
        at_us: int,
    ) -> Cost:
        """The cost and the version of the prices, for an answer at that moment (µs since the epoch).

        ``upstream`` is the base URL; the model that answered is looked up before the one asked for; ``service_tier``
        is the answer's. Never raises for what a caller or a provider sent.
        """
        if not usage:
            return _UNKNOWN
        stated = usage.get("cost")
        if isinstance(stated, int | float) and not isinstance(stated, bool) and 0 <= stated <= _MOST_STATED_USD:
            return float(stated), FROM_PROVIDER
        shape = _shape(usage)
        key = (upstream, model, response_model, service_tier, shape, at_us // _DAY_US)
        try:
            plan = self._plans[key]
        except KeyError:
            if len(self._plans) >= _MOST_REMEMBERED:
                self._plans.clear()
            plan = self._plans[key] = self._make_plan(
                upstream, (response_model, model), service_tier, shape, _timestamp(at_us)
            )
        if plan is None:
            return _UNKNOWN
        dollars = _dollars(plan, usage, at_us)
        return _UNKNOWN if dollars is None else (dollars, self._version)

    def _make_plan(
        self, upstream: str, models: tuple[str | None, ...], tier: str | None, shape: str | None, at: datetime
    ) -> _Plan | None:
        provider = self._provider(upstream)
        if provider is None or shape is None:
            return None
        from genai_prices.data_snapshot import get_snapshot

        everyone = get_snapshot().providers
        for name in models:
            found = provider.find_model(name, all_providers=everyone) if name else None
            if found is not None:
                # A model borrowed from another provider has that provider's plain prices only.
                is_own = any(found is one for one in provider.models)
                context = {"service_tier": tier} if tier and found.price_variants and is_own else {}
                rates = _rates(found, context, at)
                return _Plan(provider, found, context, _paths(provider, shape), rates)
        return None

    def _provider(self, upstream: str) -> "Provider | None":
        if upstream not in self._providers:
            from genai_prices import __version__
            from genai_prices.data_snapshot import find_provider_by_id, get_snapshot

            self._version = f"genai-prices {__version__}"
            snapshot = get_snapshot()
            try:
                found: Provider | None = snapshot.find_provider(None, None, upstream)
            except LookupError:
                found = find_provider_by_id(snapshot.providers, self._price_as) if self._price_as else None
            self._providers[upstream] = found
        return self._providers[upstream]


def _timestamp(at_us: int) -> datetime:
    return _EPOCH + timedelta(microseconds=at_us)


def _shape(usage: Usage) -> str | None:
    return next((shape for shape, names in _HAS.items() if names <= usage.keys()), None)


def _paths(provider: "Provider", shape: str) -> tuple[_Path, ...]:
    extractors = {one.api_flavor: one for one in provider.extractors or () if one.root in ("usage", ["usage"])}
    for flavor in _FLAVORS[shape]:
        if flavor in extractors:
            paths = _simple_paths(extractors[flavor], _HAS[shape])
            if paths is not None:
                return paths
    return _OPENAI_PATHS


def _simple_paths(extractor: "UsageExtractor", has: frozenset[str]) -> tuple[_Path, ...] | None:
    """The extractor's paths, or None when it wants a count this shape lacks or searches lists."""
    paths = []
    for mapping in extractor.mappings:
        steps = [mapping.path] if isinstance(mapping.path, str) else list(mapping.path)
        texts = [step for step in steps if isinstance(step, str)]
        if len(steps) > 2 or len(texts) < len(steps) or (mapping.required and texts[0] not in has):
            return None
        paths.append(_Path(texts[0] if len(texts) == 2 else None, texts[-1], mapping.dest))
    return tuple(paths)


def _rates(model: "ModelInfo", context: Mapping[str, str], at: datetime) -> _Rates | None:
    """Plain rates for that day, or None when the model's prices are more than that."""
    from genai_prices.types import ModelPrice, TimeOfDateConstraint

    conditions = [] if isinstance(model.prices, ModelPrice) else [one.constraint for one in model.prices]
    conditions += [variant.constraint for variant in model.price_variants or ()]
    if any(isinstance(condition, TimeOfDateConstraint) for condition in conditions):
        return None
    prices = {name: price for name, price in vars(model.get_prices(at, context)).items() if price is not None}
    rated = {name: float(price) / 1e6 for name in _RATES if isinstance(price := prices.get(name), Decimal)}
    if "input_mtok" not in rated or len(rated) < len(prices.keys() - _HARMLESS):
        return None
    full = rated["input_mtok"]
    return _Rates(
        full, rated.get("cache_read_mtok", full), rated.get("cache_write_mtok", full), rated.get("output_mtok", 0.0)
    )


def _count(paths: tuple[_Path, ...], usage: Usage) -> dict[str, int | float]:
    counts: dict[str, int | float] = {}
    for group, name, counted in paths:
        within = usage.get(group) if group is not None else usage
        number = within.get(name) if isinstance(within, dict) else None
        if isinstance(number, bool) or not isinstance(number, int | float):
            continue
        # A stated 0 matters to the library where it contradicts a part of it; elsewhere it is nothing to price.
        if number > 0 or (number == 0 and counted in _COUNTED_BY_RATES):
            counts[counted] = counts.get(counted, 0) + number
    return counts


def _dollars(plan: _Plan, usage: Usage, at_us: int) -> float | None:
    counts = _count(plan.paths, usage)
    if plan.rates is None or not _COUNTED_BY_RATES.issuperset(counts):
        return _by_library(plan, counts, at_us)
    cached = counts.get("cache_read_tokens", 0)
    written = counts.get("cache_write_tokens", 0)
    fresh = counts.get("input_tokens", 0) - cached - written
    if fresh < 0:
        return _by_library(plan, counts, at_us)
    rates = plan.rates
    output = counts.get("output_tokens", 0) * rates.output
    return round(fresh * rates.input + cached * rates.cached + written * rates.cache_write + output, _DECIMALS)


def _by_library(plan: _Plan, counts: Mapping[str, int | float], at_us: int) -> float | None:
    """Exact and slow. None for a model without prices, and for counts that contradict each other."""
    from genai_prices import Usage as CountedUsage

    try:
        price = plan.model.calc_price(
            CountedUsage(**counts),
            plan.provider,
            genai_request_timestamp=_timestamp(at_us),
            price_context=plan.context or None,
        )
    except (ValueError, LookupError, ArithmeticError):
        return None
    is_priced = any(rate is not None for rate in vars(price.model_price).values())
    return round(float(price.total_price), _DECIMALS) if is_priced else None
