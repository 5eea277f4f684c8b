"""Which of all instants a test tries, and the table of what came of it.

One of them in a sample, all in the long form (``tests/support/long.py``).
"""

import random
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar, get_args

import pytest
from tests.crash.judge import Fault, Violation
from tests.support.long import LONG

T = TypeVar("T")

#: So many instants are tried in a sample until one comes to pass; no two runs make the very same system calls.
MOST_MISSES: Final = 4


def chosen(every: Sequence[T], tally: "Tally", chance: random.Random) -> Iterator[T]:
    """The instants to try: all of them in the long form, otherwise random ones until the tally counts a hit."""
    tally.every = len(every)
    if LONG:
        yield from every
        return
    for instant in chance.sample(every, min(len(every), MOST_MISSES)):
        if not tally.hit:
            yield instant


@dataclass
class Tally:
    """What the line of one campaign says. ``hit``: in how many tries the injection came to pass."""

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
