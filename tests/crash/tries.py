"""Choose the instants that a test tries, and count the results.

By default a test tries random instants until one fault has occurred. In the long form (``tests/support/long.py``) it
tries all instants.
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

#: The maximum number of instants that a test tries by default. A try can miss its instant, because no two runs make
#: exactly the same system calls. If the chosen call is not made, no fault occurs.
MAX_SAMPLE_TRIES: Final = 12


def chosen(every: Sequence[T], tally: "Tally", rng: random.Random) -> Iterator[T]:
    """Yield the instants to try: all in the long form, otherwise random instants until the tally counts a hit."""
    tally.candidates = len(every)
    if LONG:
        yield from every
        return
    for instant in rng.sample(every, min(len(every), MAX_SAMPLE_TRIES)):
        if not tally.hit:
            yield instant


@dataclass
class Tally:
    """The figures of one campaign. ``hit`` is the number of tries in which the fault occurred."""

    name: str
    candidates: int = 0
    tried: int = 0
    hit: int = 0
    interrupted: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)

    def add(self, instant: object, violations: Iterable[Violation], *others: str) -> None:
        """Add the result of one try. A try is successful if it has no violations and no other failures."""
        violations = list(violations)
        self.tried += 1
        self.faults.update(violation.fault for violation in violations)
        self.failures += [f"{self.name}, {instant}: {failure}" for failure in (*map(str, violations), *others)]

    def show(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Print the figures to standard error, bypassing pytest."""
        counts = ", ".join(f"{self.faults[name]} {name}" for name in get_args(Fault))
        seconds = time.monotonic() - self.started
        with capsys.disabled():
            print(
                f"\n{self.name}: {self.tried} of {self.candidates} instants in {seconds:.0f} s, {self.hit} hit, "
                f"{self.interrupted} clients interrupted; {counts}",
                file=sys.stderr,
                flush=True,
            )
