"""Which of all instants a test tries, and the table of what came of it.

A sample by default; every one with RELAYBOOK_CRASH=long. The seed is printed; RELAYBOOK_CRASH_SEED repeats it.
"""

import os
import random
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, TypeVar, get_args

import pytest
from tests.crash.judge import Fault, Violation

T = TypeVar("T")

LONG: Final = os.environ.get("RELAYBOOK_CRASH") == "long"


def new_chance() -> random.Random:
    """Chance from the seed of the environment, or from a new one, which is printed."""
    seed = int(os.environ.get("RELAYBOOK_CRASH_SEED", random.randrange(1 << 32)))
    print(f"RELAYBOOK_CRASH_SEED={seed}")
    return random.Random(seed)


def chosen(every: Sequence[T], wanted: int, chance: random.Random) -> list[T]:
    """So many of all, evenly spread: the first, the last, one of each equal part between. All in the long form."""
    if LONG or len(every) <= wanted:
        return list(every)
    inner = len(every) - 2
    edges = [1 + inner * part // max(wanted - 2, 1) for part in range(wanted - 1)]
    places = [chance.randrange(start, end) for start, end in pairwise(edges)]
    return [every[place] for place in (0, *places, len(every) - 1)]


@dataclass
class Tally:
    """What the line of one campaign says. ``hit``: where the injection came to pass."""

    name: str
    every: int = 0
    tried: int = 0
    hit: int = 0
    cut: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)

    def add(self, what: object, violations: Iterable[Violation], *others: str) -> None:
        """Notes what is wrong after one try; nothing given: all is well."""
        violations = list(violations)
        self.tried += 1
        self.faults.update(violation.fault for violation in violations)
        self.failures += [f"{self.name}, {what}: {each}" for each in (*map(str, violations), *others)]

    def show(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Prints the line to standard error, past pytest."""
        counts = ", ".join(f"{self.faults[name]} {name}" for name in get_args(Fault))
        seconds = time.monotonic() - self.began
        with capsys.disabled():
            print(
                f"\n{self.name}: {self.tried} of {self.every} instants in {seconds:.0f} s, {self.hit} hit, "
                f"{self.cut} callers cut; {counts}",
                file=sys.stderr,
                flush=True,
            )
