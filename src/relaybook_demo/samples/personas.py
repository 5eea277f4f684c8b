"""Who sends the sample traffic: programs with their keys and system prompts, and people whose names look like ids."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class App:
    """A program that uses the provider."""

    key: str
    system: str | None = None


SHOP: Final = App(
    "sk-demo-blue-kettle-live-5f20",
    "You are the assistant of Blue Kettle, a small tea shop. Be short and friendly. Prices are in euros.",
)
TRIAL: Final = App("sk-demo-blue-kettle-trial-91c4", SHOP.system)
PLANNER: Final = App(
    "sk-demo-daybook-app-c7e1", "You are Daybook, an assistant for everyday plans. Use Markdown where it helps."
)
WORKSHOP: Final = App("sk-demo-workshop-0d3b", "You help developers. Answer with code first, then one sentence.")
SCRIPT: Final = App("sk-demo-nightly-script-77aa")

CHANNELS: Final = ("iOS", "Android", "web")
#: A beta of the app is among the versions; staging runs nothing else.
VERSIONS: Final = ("4.12.0", "4.12.1", "4.12.1")
BETA: Final = "4.13.0-beta.2"

#: People as different shops would name them in a header: account ids, e-mail addresses, numbers, UUIDs. The numbers are
#: among those kept free for films.
KNOWN_PEOPLE: Final = (
    "user-8f3a41c9",
    "maria@example.com",
    "+4915228817386",
    "3f1b8c52-6d0e-4a7b-9c1f-52e8a0d4b7c3",
    "user-5c1e7f20",
    "jürgen@example.com",
)
_PEOPLE: Final = 36


def people(chance: random.Random) -> tuple[str, ...]:
    """Everybody whose conversations are in the log, the known ones first."""
    made = [f"user-{chance.getrandbits(32):08x}" for _ in range(_PEOPLE - len(KNOWN_PEOPLE))]
    return (*KNOWN_PEOPLE, *made)


def dealt_forever(items: Sequence[T], chance: random.Random) -> Iterator[T]:
    """All items in an order of chance, then all of them again in another."""
    while True:
        yield from chance.sample(items, len(items))


def pace(model: str, chance: random.Random, hurry: float = 1.0) -> dict[str, str]:
    """How quickly the simulated provider answers this time; ``hurry`` 3 is three times as quick."""
    first_ms, per_second = {"gpt-4o-mini": (260, 85), "o4-mini": (700, 95)}.get(model, (420, 60))
    return {
        "Sim-First-Token-Ms": f"{first_ms * chance.uniform(0.6, 1.9) / hurry:.0f}",
        "Sim-Tokens-Per-Second": f"{per_second * chance.uniform(0.7, 1.2) * hurry:.0f}",
    }


def properties(chance: random.Random, feature: str, version: str | None = None) -> dict[str, str]:
    """The tags that the shop's programs send with every request."""
    return {
        "Service-Property-Channel": chance.choice(CHANNELS),
        "Service-Property-Feature": feature,
        "Service-Property-Version": version or chance.choice(VERSIONS),
    }


def traced(chance: random.Random) -> dict[str, str]:
    """What a program with tracing sends."""
    return {"traceparent": f"00-{chance.getrandbits(128):032x}-{chance.getrandbits(64):016x}-01"}


def order_number(chance: random.Random) -> str:
    """The number of an order."""
    return str(chance.randrange(3100, 5200))


def account_of(person: str) -> dict[str, Any]:
    """What the shop says about a person in the body: the provider learns no address."""
    return {"user": f"account-{sum(person.encode()) % 9000 + 1000}"}
