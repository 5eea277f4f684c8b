"""Compute the cost of a response in US dollars. The provider states the cost, or it is tokens × rates.

If the upstream, the model, a count or a rate is unknown, the cost is `None`, and a code says why. A cost of 0 would
mean that the request was free.

The rates are in the settings or in the installed library genai-prices. They are not downloaded. Only rates come from
the library: ``log.formats.usage`` reads the counts, so that tokens and cost of a record agree, whatever the shape of
the usage and whoever's prices are used. The rates of a model are looked up once for each day on which requests started,
and for each request if they depend on the time of day. The library is imported by ``Prices.warm``, because the import
takes 0.24 s.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from relaybook.log.formats.usage import MAX_USD, Counts, counts_of, stated_usd
from relaybook.log.price_list import PriceList
from relaybook.log.record import CostReason, Record
from relaybook.settings import BadSetting
from relaybook.settings.definitions import PriceSettings, Settings
from relaybook.settings.routes import DEFAULT
from relaybook.settings.suggestions import suggest
from relaybook.tags import NamePatterns

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, ModelPrice


class Cost(NamedTuple):
    """The cost in US dollars and the source of the prices, or the reason why the cost is unknown."""

    usd: float | None
    source: str | None
    reason: CostReason | None


FROM_PROVIDER: Final = "provider"
FROM_SETTINGS: Final = "settings"

_DAY_US: Final = 86_400_000_000
_DECIMALS: Final = 12
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
#: Model names come from clients, so the cache is bounded.
_MAX_CACHED_PLANS: Final = 4096
#: Dollars of the library's prices are per this many units. The end of a price's name says the units.
_UNITS: Final = {"mtok": 10**6, "kcount": 10**3, "hours": 3600}
#: Parts of the input tokens, and the name of those of them that were read from the cache.
_INPUT_MEDIA: Final = {f"input_{medium}": f"cache_{medium}_read" for medium in ("audio", "image", "video")}
_CACHED_MEDIA: Final = frozenset(_INPUT_MEDIA.values())
_OUTPUT_MEDIA: Final = frozenset({"output_audio", "output_image", "output_video"})
#: Counts that cost extra, and the reason of an unknown cost if they have no price. All other counts of
#: ``Counts.others`` are parts of the input or output that cost the same as other tokens if they have no price.
_SURCHARGED: Final[Mapping[str, CostReason]] = {
    "input_audio": "no_rate_for_audio",
    "output_audio": "no_rate_for_audio",
    "input_audio_seconds": "no_rate_for_audio",
    "cache_write_1h": "no_rate_for_cache_writes",
    "web_searches": "no_rate_for_web_searches",
}


class InputRates(NamedTuple):
    """Dollars per input token: fresh, read from the cache, and written to it. `None` if there is no such price."""

    input: float
    cached: float | None
    cache_write: float | None
    cache_write_1h: float | None


class _Rates(NamedTuple):
    """Dollars per token. `None` if the library has no price.

    ``above`` is the number of input tokens above which these rates apply. ``request`` is for each request. ``others``
    has the rates of ``Counts.others``.
    """

    above: int
    input: float
    cached: float | None
    cache_write: float | None
    output: float | None
    reasoning: float | None
    request: float
    others: Mapping[str, float]


class _Plan(NamedTuple):
    """The prices of one model on one day, or the reason why there are none. ``model`` is from genai-prices.

    ``source`` names the price list. ``rates`` are ordered by ``above``. They are `None` if they depend on the time of
    day.
    """

    reason: CostReason | None = None
    model: "ModelInfo | None" = None
    context: Mapping[str, str] = {}
    rates: tuple[_Rates, ...] | None = None
    source: str | None = None


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
    """Computes costs.

    ``price_as`` and ``own`` are the settings ``price_as`` and ``prices``. ``price_as_of`` has the ``price_as`` of each
    route. For other routes, which the settings no longer have, the setting applies.
    """

    def __init__(
        self,
        price_as: str | None = None,
        own: Mapping[str, PriceSettings] | None = None,
        price_as_of: Mapping[str, str | None] | None = None,
    ) -> None:
        self._price_as = price_as
        self._price_as_of = price_as_of or {}
        self._own: NamePatterns[PriceSettings | None] = NamePatterns(own or {})
        self._list: PriceList | None = None
        self._plans: dict[tuple[object, ...], _Plan] = {}

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return the prices of the settings."""
        routes = {route.name: route.price_as for route in settings.resolved_routes()}
        return cls(settings.price_as, settings.prices, routes)

    def warm(self) -> None:
        """Load the library and its data, so that the first cost takes no longer than later ones."""
        counts = counts_of({"prompt_tokens": 1, "completion_tokens": 1})
        self.cost("https://api.openai.com/v1", "gpt-4.1", None, {}, counts, None, 0)

    def cost(
        self,
        upstream: str,
        model: str | None,
        response_model: str | None,
        usage: dict[str, Any],
        counts: Counts,
        service_tier: str | None,
        at_us: int,
        route: str = DEFAULT,
    ) -> Cost:
        """Return the cost of a response, and the source of the prices.

        The prices are those at ``at_us`` (µs since the epoch). ``upstream`` is the base URL, and ``route`` the name of
        the route. If the model of the response has no prices, the requested model is used. ``usage`` may hold any JSON,
        and ``counts`` are what it counts. ``service_tier`` is from the response. This method raises no error, even if a
        client or provider sent invalid values.
        """
        stated = stated_usd(usage)
        if stated is not None:
            return Cost(stated, FROM_PROVIDER, None)
        plan = self._plan(upstream, (response_model, model), usage, service_tier, at_us, route)
        rates = _rates_at(plan, at_us)
        if not rates:
            return _unknown(plan.reason or "no_price")
        usd = _usd(rates, counts)
        return _unknown(usd) if isinstance(usd, str) else Cost(usd, plan.source, None)

    def input_rates(self, record: Record, usage: dict[str, Any], service_tier: str | None) -> InputRates | None:
        """Return the rates of the input tokens of a request. `None` if they are unknown.

        ``usage`` and ``service_tier`` are from the response.
        """
        models = (record.response_model, record.model)
        plan = self._plan(record.upstream, models, usage, service_tier, record.started_at, record.route)
        steps = _rates_at(plan, record.started_at)
        if not steps:
            return None
        rates = _step(steps, record.input_tokens or 0)
        return InputRates(rates.input, rates.cached, rates.cache_write, rates.others.get("cache_write_1h"))

    def _plan(
        self,
        upstream: str,
        models: tuple[str | None, str | None],
        usage: dict[str, Any],
        service_tier: str | None,
        at_us: int,
        route: str,
    ) -> _Plan:
        """Return the prices of the first of the models that has prices."""
        is_fast = usage.get("speed") == "fast"
        price_as = self._price_as_of.get(route, self._price_as)
        key = (price_as, upstream, models, service_tier, is_fast, at_us // _DAY_US)
        plan = self._plans.get(key)
        if plan is None:
            if len(self._plans) >= _MAX_CACHED_PLANS:
                self._plans.clear()
            context = {"service_tier": service_tier} if service_tier else {}
            if is_fast:
                context["speed"] = "fast"
            plan = self._plans[key] = self._make_plan(price_as, upstream, models, context, _timestamp(at_us))
        return plan

    def _make_plan(
        self,
        price_as: str | None,
        upstream: str,
        models: tuple[str | None, ...],
        context: Mapping[str, str],
        at: datetime,
    ) -> _Plan:
        names = [name for name in models if name]
        if not names:
            return _Plan("no_model")
        own = next((prices for name in names if (prices := self._own.find(name, None)) is not None), None)
        if own is not None:
            return _Plan(rates=_own_rates(own), source=FROM_SETTINGS)
        if self._list is None:
            self._list = PriceList()
        found = self._list.find(upstream, names, at, price_as)
        if isinstance(found, str):
            return _Plan(found)
        model = found.model
        used = context if model.price_variants and found.is_own else {}
        rates = _rates_of(model.get_prices(at, used))
        if not rates:
            return _Plan("no_price")
        return _Plan(None, model, used, None if _depends_on_time_of_day(model) else rates, self._list.version)


def _rates_at(plan: _Plan, at_us: int) -> tuple[_Rates, ...]:
    """Return the rates of a plan at a time. They are empty if there are none."""
    if plan.rates is not None:
        return plan.rates
    return () if plan.model is None else _rates_of(plan.model.get_prices(_timestamp(at_us), plan.context))


def _step(steps: tuple[_Rates, ...], input_tokens: int) -> _Rates:
    """Return the rates that apply to a number of input tokens."""
    rates = steps[0]
    for step in steps[1:]:
        if input_tokens > step.above:
            rates = step
    return rates


def _unknown(reason: CostReason | None) -> Cost:
    return Cost(None, None, reason)


def _timestamp(at_us: int) -> datetime:
    return _EPOCH + timedelta(microseconds=at_us)


def _depends_on_time_of_day(model: "ModelInfo") -> bool:
    from genai_prices.types import ModelPrice, TimeOfDateConstraint

    conditions = [] if isinstance(model.prices, ModelPrice) else [one.constraint for one in model.prices]
    conditions += [variant.constraint for variant in model.price_variants or ()]
    return any(isinstance(condition, TimeOfDateConstraint) for condition in conditions)


def _rates_of(prices: "ModelPrice") -> tuple[_Rates, ...]:
    """Return the rates for each range of input tokens. There are none if the input has no price per token."""
    from genai_prices.types import TieredPrices

    known = {name: price for name, price in vars(prices).items() if price is not None}
    if "input_mtok" not in known:
        return ()
    starts = {tier.start for price in known.values() if isinstance(price, TieredPrices) for tier in price.tiers}
    steps = []
    for start in (-1, *sorted(starts)):
        rates = {}
        for name, price in known.items():
            kind, _, unit = name.rpartition("_")
            if isinstance(price, TieredPrices):
                price = next((tier.price for tier in reversed(price.tiers) if start >= tier.start), price.base)
            if unit in _UNITS and isinstance(price, Decimal):
                rates["input_audio_seconds" if name == "input_audio_hours" else kind] = float(price) / _UNITS[unit]
        steps.append(
            _Rates(
                start,
                rates.pop("input"),
                rates.pop("cache_read", None),
                rates.pop("cache_write", None),
                rates.pop("output", None),
                rates.pop("output_reasoning", None),
                rates.pop("requests", 0.0),
                rates,
            )
        )
    return tuple(steps)


def _own_rates(prices: PriceSettings) -> tuple[_Rates, ...]:
    from genai_prices.types import ModelPrice

    known = {name: Decimal(str(price)) for name, price in vars(prices).items() if price is not None}
    return _rates_of(ModelPrice(**known))


def _usd(steps: tuple[_Rates, ...], counts: Counts) -> float | CostReason:
    """Return the cost of the counts, or the reason why it is unknown."""
    (tokens, cache_writes, others) = counts
    (input_, output, cached, reasoning) = tokens
    if input_ is None:
        return "no_usage"
    rates = _step(steps, input_)
    cached = cached or 0
    rest = input_ - cached - cache_writes
    if rest < 0:
        return "inconsistent_usage"
    usd = rates.request
    if cache_writes:
        if rates.cache_write is None:
            return "no_rate_for_cache_writes"
        usd += cache_writes * rates.cache_write
    if rates.cached is None:
        rest += cached
        cached = 0
    else:
        usd += cached * rates.cached
    if output is None:
        if rates.output:
            return "no_usage"
        output = 0
    if others:
        more = _usd_of_others(rates, others, rest, cached, output)
        if isinstance(more, str):
            return more
        usd += more
    if reasoning and rates.reasoning is not None:
        usd += min(reasoning, output) * (rates.reasoning - (rates.output or 0.0))
    usd += rest * rates.input
    if rates.output is not None:
        usd += output * rates.output
    return round(usd, _DECIMALS) if usd <= MAX_USD else "implausible"


def _usd_of_others(rates: _Rates, others: Mapping[str, int], rest: int, cached: int, output: int) -> float | CostReason:
    """Return what the other counts add to the cost of the tokens, or the reason why this is unknown.

    ``rest`` is the number of input tokens that were neither read from the cache nor written to it.
    """
    usd = 0.0
    for name, count in others.items():
        rate = rates.others.get(name)
        if rate is None:
            if name in _SURCHARGED and not (name == "web_searches" and rates.request):
                return _SURCHARGED[name]
        elif name == "cache_write_1h":
            usd += count * (rate - (rates.cache_write or 0.0))
        elif name in _INPUT_MEDIA:
            cached_name = _INPUT_MEDIA[name]
            if cached and cached_name not in others:
                return "no_usage"
            from_cache = others[cached_name] if cached else 0
            fresh = count - from_cache
            usd += fresh * (rate - rates.input)
            usd += from_cache * (rates.others.get(cached_name, rate) - (rates.cached or 0.0))
            rest, cached = rest - fresh, cached - from_cache
            if min(fresh, rest, cached) < 0:
                return "inconsistent_usage"
        elif name in _OUTPUT_MEDIA:
            usd += count * (rate - (rates.output or 0.0))
            output -= count
            if output < 0:
                return "inconsistent_usage"
        elif name not in _CACHED_MEDIA:
            usd += count * rate
    return usd
