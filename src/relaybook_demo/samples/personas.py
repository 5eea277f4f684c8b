"""Define the programs and customers that send the sample traffic.

A program has an API key and a system prompt, and a customer has an id.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class App:
    """A program that sends requests. ``key`` is its API key, and ``system`` is its system prompt."""

    key: str
    system: str | None = None


SHOP: Final = App(
    "sk-demo-blue-kettle-live-5f20",
    "You are the assistant of Blue Kettle, a small tea shop. Be short and friendly. Prices are in euros.",
)
STAGING_SHOP: Final = App("sk-demo-blue-kettle-trial-91c4", SHOP.system)
PLANNER: Final = App(
    "sk-demo-daybook-app-c7e1", "You are Daybook, an assistant for everyday plans. Use Markdown where it helps."
)
WORKSHOP: Final = App("sk-demo-workshop-0d3b", "You help developers. Answer with code first, then one sentence.")
SCRIPT: Final = App("sk-demo-nightly-script-77aa")

CHANNELS: Final = ("iOS", "Android", "web")
#: The versions of the shop's programs in production, for a random choice, so 4.12.1 is chosen twice as often as 4.12.0.
#: Staging runs only the beta version.
VERSIONS: Final = ("4.12.0", "4.12.1", "4.12.1")
BETA: Final = "4.13.0-beta.2"

#: Customer ids as shops put them in a header: account ids, e-mail addresses, phone numbers and UUIDs. The phone numbers
#: are reserved for use in films.
KNOWN_PEOPLE: Final = (
    "user-8f3a41c9",
    "maria@example.com",
    "+4915228817386",
    "3f1b8c52-6d0e-4a7b-9c1f-52e8a0d4b7c3",
    "user-5c1e7f20",
    "jürgen@example.com",
)
_PEOPLE: Final = 36


def people(rng: random.Random) -> tuple[str, ...]:
    """Return the ids of ``_PEOPLE`` customers. The ids in ``KNOWN_PEOPLE`` come first."""
    generated = [f"user-{rng.getrandbits(32):08x}" for _ in range(_PEOPLE - len(KNOWN_PEOPLE))]
    return (*KNOWN_PEOPLE, *generated)


def shuffled_forever(items: Sequence[T], rng: random.Random) -> Iterator[T]:
    """Yield all items in random order, and repeat forever with a new order each time."""
    while True:
        yield from rng.sample(items, len(items))


def pace(model: str, rng: random.Random, speedup: float = 1.0) -> dict[str, str]:
    """Return headers that set the speed of one simulated response. If ``speedup`` is 3, it is three times as fast."""
    first_ms, per_second = {"gpt-4o-mini": (260, 85), "o4-mini": (700, 95)}.get(model, (420, 60))
    return {
        "Sim-First-Token-Ms": f"{first_ms * rng.uniform(0.6, 1.9) / speedup:.0f}",
        "Sim-Tokens-Per-Second": f"{per_second * rng.uniform(0.7, 1.2) * speedup:.0f}",
    }


def properties(rng: random.Random, feature: str, version: str | None = None) -> dict[str, str]:
    """Return the property headers that the shop's programs send with every request."""
    return {
        "Service-Property-Channel": rng.choice(CHANNELS),
        "Service-Property-Feature": feature,
        "Service-Property-Version": version or rng.choice(VERSIONS),
    }


def trace_headers(rng: random.Random) -> dict[str, str]:
    """Return the headers that a program with tracing sends."""
    return {"traceparent": f"00-{rng.getrandbits(128):032x}-{rng.getrandbits(64):016x}-01"}


def order_number(rng: random.Random) -> str:
    """Return a random order number."""
    return str(rng.randrange(3100, 5200))


def account_parameters(person: str) -> dict[str, Any]:
    """Return the body parameters that identify a customer to the provider without revealing an address."""
    return {"user": f"account-{sum(person.encode()) % 9000 + 1000}"}
