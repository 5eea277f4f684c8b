"""Find the cost of a response in US dollars. The provider states the cost, or genai-prices computes it.

If the upstream, the model or the usage is unknown, the cost is `None`. A cost of 0 would mean that the request was
free.

The prices are part of the installed library genai-prices and are not downloaded. The library takes 220 µs per response.
So the prices of a model are cached as plain rates per token, for each day on which requests started. Plain rates are
not enough for audio, for searches, and for prices that depend on the length of the context or on the time of day. In
these cases, the library computes the cost. The library is imported when the first cost is computed, because the import
takes 0.24 s.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from relaybook.log.formats.facts import Usage
from relaybook.log.formats.usage import CACHED, OUTPUT, WEB_SEARCHES, count_of, output_of
from relaybook.settings import BadSetting
from relaybook.settings.suggestions import suggest

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, Provider, UsageExtractor

#: The cost in US dollars and the source of the prices. The cost and the source are `None` if the cost is unknown.
Cost: TypeAlias = tuple[float | None, str | None]

FROM_PROVIDER: Final = "provider"

#: The most expensive responses cost a few hundred dollars. A cost above this limit comes from a wrong stated cost or
#: from wrong token counts. Such a cost counts as unknown, because it would make every sum useless.
_MAX_USD: Final = 1e6
#: Source: https://docs.x.ai/developers/cost-tracking
_TICKS_PER_USD: Final = 10**10
_UNKNOWN: Final[Cost] = (None, None)
_DAY_US: Final = 86_400_000_000
_DECIMALS: Final = 12
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
#: Model names come from clients, so the cache is bounded.
_MAX_CACHED_PLANS: Final = 4096
#: APIs report usage in different shapes. For each shape, these are the names of the library's extractors.
_FLAVORS: Final = {
    "chat": ("chat", "default"),
    "messages": ("default",),
    "responses": ("responses", "default"),
    "embeddings": ("embeddings", "default"),
}
#: For each shape of usage, the counts that are always present. A shape is recognized by these counts.
_SHAPE_COUNTS: Final = {
    "chat": frozenset({"prompt_tokens", "completion_tokens"}),
    "messages": frozenset({"input_tokens", "output_tokens", "cache_read_input_tokens"}),
    "responses": frozenset({"input_tokens", "output_tokens"}),
    "embeddings": frozenset({"prompt_tokens"}),
}
#: For some shapes, the provider whose extractor is always used. The extractors of other providers ignore some fields of
#: the shape.
_EXTRACTED_AS: Final = {"messages": "anthropic"}
#: Counts for which plain rates (``_Rates``) are enough. Reasoning is part of the output and has the same rate.
_COUNTED_BY_RATES: Final = frozenset(
    {"input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens", "output_reasoning_tokens"}
)
_RATES: Final = ("input_mtok", "cache_read_mtok", "cache_write_mtok", "output_mtok")
#: Prices that do not apply if the usage has only the counts in ``_COUNTED_BY_RATES``.
_IRRELEVANT_PRICES: Final = frozenset(
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
    """The location of a count in the usage.

    ``group`` is the object that contains the count, or `None` if the count is at the top level. ``counts`` is the
    library's name for the count.
    """

    group: str | None
    name: str
    counts: str
    #: Whether the path is used only if no earlier path with the same ``counts`` has a count above 0.
    is_alternative: bool = False


#: Paths for providers that have no suitable extractor in the library.
_OPENAI_PATHS: Final = (
    _Path(None, "prompt_tokens", "input_tokens"),
    _Path(None, "input_tokens", "input_tokens", is_alternative=True),
    _Path("prompt_tokens_details", "cached_tokens", "cache_read_tokens"),
    _Path("input_tokens_details", "cached_tokens", "cache_read_tokens", is_alternative=True),
    _Path(None, "completion_tokens", "output_tokens"),
    _Path(None, "output_tokens", "output_tokens", is_alternative=True),
)
#: Paths of counts that are read in addition to the paths of the provider.
_MORE_PATHS: Final = {"responses": (_Path(None, WEB_SEARCHES, "web_searches"),)}


class _Rates(NamedTuple):
    """Dollars per token. Input tokens that are read from or written to the provider's cache have their own rates."""

    input: float
    cached: float
    cache_write: float
    output: float


class _Plan(NamedTuple):
    """The prices of one model on one day, for usage of one shape (see ``_SHAPE_COUNTS``)."""

    provider: "Provider"
    model: "ModelInfo"
    context: Mapping[str, str]
    paths: "tuple[_Path, ...]"
    rates: _Rates | None


def check_price_as(provider: str | None) -> None:
    """Raise BadSetting if genai-prices has no provider with this id. The check imports genai-prices."""
    if provider is None:
        return
    from genai_prices.data_snapshot import get_snapshot

    known = [each.id for each in get_snapshot().providers]
    if provider not in known:
        raise BadSetting(
            "price_as",
            f"price_as is {provider!r}, but no provider has this name.{suggest(provider, known)} "
            f"Known: {', '.join(sorted(known))}.",
        )


class Prices:
    """Computes costs. ``price_as`` is the genai-prices provider whose prices are used for unknown upstreams."""

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
        """Return the cost of a response, and the source of the prices.

        The prices are those at ``at_us`` (µs since the epoch). ``upstream`` is the base URL. If the model of the
        response is unknown, the requested model is used. ``service_tier`` is from the response. This method raises no
        error, even if a client or provider sent invalid values.
        """
        if not usage:
            return _UNKNOWN
        stated = _stated(usage)
        if stated is not None:
            return stated, FROM_PROVIDER
        shape = _shape(usage)
        context = {"service_tier": service_tier} if service_tier else {}
        if usage.get("speed") == "fast":
            context["speed"] = "fast"
        key = (upstream, model, response_model, *context.items(), shape, at_us // _DAY_US)
        try:
            plan = self._plans[key]
        except KeyError:
            if len(self._plans) >= _MAX_CACHED_PLANS:
                self._plans.clear()
            plan = self._plans[key] = self._make_plan(
                upstream, (response_model, model), context, shape, _timestamp(at_us)
            )
        if plan is None:
            return _UNKNOWN
        dollars = _dollars(plan, usage, at_us)
        return _UNKNOWN if dollars is None or dollars > _MAX_USD else (dollars, self._version)

    def _make_plan(
        self, upstream: str, models: tuple[str | None, ...], context: Mapping[str, str], shape: str | None, at: datetime
    ) -> _Plan | None:
        provider = self._provider(upstream)
        if provider is None or shape is None:
            return None
        from genai_prices.data_snapshot import find_provider_by_id, get_snapshot

        known_providers = get_snapshot().providers
        for name in models:
            model = provider.find_model(name, all_providers=known_providers) if name else None
            if model is not None:
                # If the model was found at another provider, that provider's special prices do not apply.
                is_own = any(model is own for own in provider.models)
                used = context if model.price_variants and is_own else {}
                rates = _rates(model, used, at)
                extractor = find_provider_by_id(known_providers, _EXTRACTED_AS.get(shape, "")) or provider
                paths = (*_paths(extractor, shape), *_MORE_PATHS.get(shape, ()))
                return _Plan(provider, model, used, paths, rates)
        return None

    def _provider(self, upstream: str) -> "Provider | None":
        if upstream not in self._providers:
            from genai_prices import __version__
            from genai_prices.data_snapshot import find_provider_by_id, get_snapshot

            self._version = f"genai-prices {__version__}"
            snapshot = get_snapshot()
            try:
                provider: Provider | None = snapshot.find_provider(None, None, upstream)
            except LookupError:
                provider = find_provider_by_id(snapshot.providers, self._price_as) if self._price_as else None
            self._providers[upstream] = provider
        return self._providers[upstream]


def _stated(usage: Usage) -> float | None:
    """Return the cost that the provider states, or `None`.

    The cost is a number (OpenRouter), an object with a total (Perplexity), or a number of ticks (xAI). If OpenRouter
    uses the customer's own key, ``cost`` is only OpenRouter's fee, and ``upstream_inference_cost`` is the cost at the
    provider behind OpenRouter. The result is the sum of the two.
    """
    ticks = count_of(usage, ("cost_in_usd_ticks",))
    if ticks is not None:
        return _dollars_or_none(ticks / _TICKS_PER_USD)
    cost = usage.get("cost")
    stated = _dollars_or_none(cost.get("total_cost") if isinstance(cost, dict) else cost)
    if stated is None or usage.get("is_byok") is not True:
        return stated
    details = usage.get("cost_details")
    upstream = _dollars_or_none(details.get("upstream_inference_cost")) if isinstance(details, dict) else None
    return None if upstream is None else stated + upstream


def _dollars_or_none(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= _MAX_USD else None


def _timestamp(at_us: int) -> datetime:
    return _EPOCH + timedelta(microseconds=at_us)


def _shape(usage: Usage) -> str | None:
    return next((shape for shape, names in _SHAPE_COUNTS.items() if names <= usage.keys()), None)


def _paths(provider: "Provider", shape: str) -> tuple[_Path, ...]:
    extractors = {one.api_flavor: one for one in provider.extractors or () if one.root in ("usage", ["usage"])}
    for flavor in _FLAVORS[shape]:
        if flavor in extractors:
            paths = _simple_paths(extractors[flavor], _SHAPE_COUNTS[shape])
            if paths is not None:
                return paths
    return _OPENAI_PATHS


def _simple_paths(extractor: "UsageExtractor", available: frozenset[str]) -> tuple[_Path, ...] | None:
    """Return the paths of the counts that a library extractor reads.

    `None` if a count is in a list or is nested more than one object deep, or if the extractor requires a count that is
    not in ``available``.
    """
    paths = []
    for mapping in extractor.mappings:
        steps = [mapping.path] if isinstance(mapping.path, str) else list(mapping.path)
        texts = [step for step in steps if isinstance(step, str)]
        if len(steps) > 2 or len(texts) < len(steps) or (mapping.required and texts[0] not in available):
            return None
        paths.append(_Path(texts[0] if len(texts) == 2 else None, texts[-1], mapping.dest))
    return tuple(paths)


def _rates(model: "ModelInfo", context: Mapping[str, str], at: datetime) -> _Rates | None:
    """Return the plain rates for the day of ``at``. `None` if the model's prices cannot be expressed as plain rates."""
    from genai_prices.types import ModelPrice, TimeOfDateConstraint

    conditions = [] if isinstance(model.prices, ModelPrice) else [one.constraint for one in model.prices]
    conditions += [variant.constraint for variant in model.price_variants or ()]
    if any(isinstance(condition, TimeOfDateConstraint) for condition in conditions):
        return None
    prices = {name: price for name, price in vars(model.get_prices(at, context)).items() if price is not None}
    rated = {name: float(price) / 1e6 for name in _RATES if isinstance(price := prices.get(name), Decimal)}
    if "input_mtok" not in rated or len(rated) < len(prices.keys() - _IRRELEVANT_PRICES):
        return None
    full = rated["input_mtok"]
    return _Rates(
        full, rated.get("cache_read_mtok", full), rated.get("cache_write_mtok", full), rated.get("output_mtok", 0.0)
    )


def _count(paths: tuple[_Path, ...], usage: Usage) -> dict[str, int | float]:
    counts: dict[str, int | float] = {}
    for group, name, counted, is_alternative in paths:
        if is_alternative and counts.get(counted):
            continue
        within = usage.get(group) if group is not None else usage
        number = within.get(name) if isinstance(within, dict) else None
        if isinstance(number, bool) or not isinstance(number, int | float):
            continue
        # Token counts of 0 are kept, because the library checks whether counts and details contradict each other. Other
        # counts of 0 cost nothing.
        if number > 0 or (number == 0 and counted in _COUNTED_BY_RATES):
            counts[counted] = counts.get(counted, 0) + number
    if "cache_read_tokens" not in counts and (cached := count_of(usage, CACHED)):
        counts["cache_read_tokens"] = cached
    # xAI does not count reasoning as output. The library's extractors for xAI add the reasoning. Other extractors
    # return the provider's count, and output_of adds the reasoning if necessary.
    if "output_tokens" in counts and counts["output_tokens"] == count_of(usage, OUTPUT):
        counts["output_tokens"] = output_of(usage) or 0
    return counts


def _dollars(plan: _Plan, usage: Usage, at_us: int) -> float | None:
    counts = _count(plan.paths, usage)
    if plan.rates is None or not _COUNTED_BY_RATES.issuperset(counts):
        return _by_library(plan, counts, at_us)
    cached = counts.get("cache_read_tokens", 0)
    written = counts.get("cache_write_tokens", 0)
    uncached = counts.get("input_tokens", 0) - cached - written
    if uncached < 0:
        return _by_library(plan, counts, at_us)
    rates = plan.rates
    output = counts.get("output_tokens", 0) * rates.output
    return round(uncached * rates.input + cached * rates.cached + written * rates.cache_write + output, _DECIMALS)


def _by_library(plan: _Plan, counts: Mapping[str, int | float], at_us: int) -> float | None:
    """Return the cost from the library, which is exact but slow.

    `None` if the model has no prices or the counts contradict each other.
    """
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
