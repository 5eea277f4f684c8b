"""Find the model in the price list of genai-prices whose prices apply to a response.

The price list has the prices of providers. A provider that the settings or the URL of the upstream name is asked first.
If it does not have the model, or if no provider is named, the name of the model decides: its maker's prices apply,
because a gateway or a proxy of unknown URL most likely passes the model on. But many providers run open models, each at
its own price, and a local model costs nothing. So the maker's prices apply only if the price list shows that the model
is not open (see ``_of_maker``). The module has no list of names of its own.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, Provider, TieredPrices

#: Why no model was found: no price list has it, the provider has no price per token for it, or its price depends on the
#: provider, which is unknown.
NotFound: TypeAlias = Literal["unknown_model", "no_price", "ambiguous_model"]


class Priced(NamedTuple):
    """A model in the price list. ``is_own`` tells whether the prices are those of the provider that was asked.

    Otherwise, they are those of another provider, so special prices of this provider do not apply.
    """

    model: "ModelInfo"
    is_own: bool


#: Dollars per million input and output tokens.
_Price: TypeAlias = tuple[Decimal, Decimal | None]

#: The tag of a local model, such as ``7b`` in ``mistral:7b``, or of a variant at a gateway, such as ``free``. Neither
#: costs what the model costs. A number is a version of Amazon Bedrock.
_TAG: Final = re.compile(r":(?!\d+$)")


class PriceList:
    """The price list of genai-prices."""

    def __init__(self) -> None:
        from genai_prices import __version__
        from genai_prices.data_snapshot import get_snapshot

        self.version = f"genai-prices {__version__}"
        self._snapshot = get_snapshot()
        self._by_name: dict[str, list[tuple[Provider, ModelInfo]]] = {}
        for provider in self._snapshot.providers:
            for model in provider.models:
                self._by_name.setdefault(_plain_name(model.id), []).append((provider, model))
        self._resellers = set(_resellers(self._snapshot.providers))

    def find(self, upstream: str, names: Iterable[str], at: datetime, price_as: str | None = None) -> Priced | NotFound:
        """Return the model whose prices apply. ``upstream`` is the base URL, and ``names`` are the model's names.

        The first name that has a price is used. ``price_as`` is the id of the provider that is asked first.
        """
        from genai_prices.data_snapshot import find_provider_by_id

        names = list(names)
        first = find_provider_by_id(self._snapshot.providers, price_as) if price_as else None
        named = [each for each in (first, self._provider(upstream)) if each is not None]
        for provider in named:
            for name in names:
                model = provider.find_model(name, all_providers=self._snapshot.providers)
                if model is not None:
                    is_own = any(model is own for own in provider.models)
                    return "no_price" if _price(model, at) is None else Priced(model, is_own)
        reason: NotFound = "no_price" if named else "unknown_model"
        for name in names:
            found = self._by_model(name.lower(), at)
            if isinstance(found, Priced):
                return found
            if found == "ambiguous_model":
                reason = found
        return reason

    def _provider(self, upstream: str) -> "Provider | None":
        try:
            return self._snapshot.find_provider(None, None, upstream)
        except LookupError:
            return None

    def _by_model(self, name: str, at: datetime) -> Priced | NotFound:
        """Find a model by its name alone, such as ``gpt-4o``, ``anthropic/claude-sonnet-4.5`` or ``groq/llama-3.1-8b``.

        Before a slash is the provider that runs the model, or its maker.
        """
        from genai_prices.data_snapshot import find_provider_by_id

        base = name.rpartition("/")[2]
        first, slash, rest = name.partition("/")
        provider = find_provider_by_id(self._snapshot.providers, first) if slash else None
        if provider is not None and not _is_maker(provider, base):
            model = provider.find_model(rest, all_providers=self._snapshot.providers)
            if model is not None and _price(model, at) is not None:
                return Priced(model, is_own=True)
        return "unknown_model" if _TAG.search(base) else self._of_maker(base, at)

    def _of_maker(self, name: str, at: datetime) -> Priced | NotFound:
        """Find a model at its maker, or at the only providers that have it, if they ask the same price.

        Other providers may ask other prices only if all of them are resellers, and one of them asks the maker's price.
        """
        offers = {each.id: offer for each, offer in self._offers(name) if _price(offer, at) is not None}
        maker = next((each for each in self._snapshot.providers if _is_maker(each, name)), None)
        if maker is not None:
            own = offers.get(maker.id)
        else:
            own = next((offer for offer in offers.values() if "/" not in offer.id), None)
        if own is None:
            return "ambiguous_model" if offers and maker is None else "unknown_model"
        price = _price(own, at)
        others = {provider: _price(offer, at) for provider, offer in offers.items() if offer is not own}
        if price is not None and price[1] is not None:  # a provider without a price for output sells something else
            others = {provider: other for provider, other in others.items() if other is not None and other[1]}
        is_same = all(other == price for other in others.values())
        is_resold = maker is not None and others.keys() <= self._resellers and price in others.values()
        return Priced(own, is_own=maker is not None) if is_same or is_resold else "ambiguous_model"

    def _offers(self, name: str) -> "Iterator[tuple[Provider, ModelInfo]]":
        """Yield the providers that have the model, also those that have it as ``maker/name``."""
        yield from self._by_name.get(_plain_name(name), ())
        for provider in self._snapshot.providers:
            model = provider.find_model(name)
            if model is not None:
                yield provider, model


def _plain_name(model_id: str) -> str:
    """Return the name of a model without its maker. Some providers write dots in versions, others dashes."""
    return model_id.rpartition("/")[2].lower().replace(".", "-")


def _is_maker(provider: "Provider", name: str) -> bool:
    return provider.model_match is not None and provider.model_match.is_match(name)


def _resellers(providers: "Iterable[Provider]") -> Iterator[str]:
    """Yield the providers that sell models that nobody else can run.

    These are the providers that take over the models of other providers, or have models of Anthropic, which are not
    open.
    """
    from genai_prices.data_snapshot import find_provider_by_id

    providers = list(providers)
    closed = find_provider_by_id(providers, "anthropic")
    for provider in providers:
        if provider.fallback_model_providers or (
            closed is not None and any(_is_maker(closed, model.id.lower()) for model in provider.models)
        ):
            yield provider.id


def _price(model: "ModelInfo", at: datetime) -> _Price | None:
    """Return the prices of input and output for the smallest requests. `None` if the input has no price per token."""
    prices = model.get_prices(at)
    input_ = _base(prices.input_mtok)
    return None if input_ is None else (input_, _base(prices.output_mtok))


def _base(price: "Decimal | TieredPrices | None") -> Decimal | None:
    return price if price is None or isinstance(price, Decimal) else price.base
