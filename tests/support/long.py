"""Whether tests run in their long form: ``LONG_TESTS=1``, which ``make crash`` and ``make fuzz`` set.

``make test`` runs a sample of each claim; the long form tries every case. Where cases are drawn at random the seed is
printed, and ``TEST_SEED`` repeats it.
"""

import os
import random
from collections.abc import Iterable
from typing import Final, TypeVar

T = TypeVar("T")

LONG: Final = os.environ.get("LONG_TESTS") == "1"


def new_seed() -> int:
    """``TEST_SEED``, or a new seed. It is printed."""
    seed = int(os.environ.get("TEST_SEED", random.randrange(1 << 32)))
    print(f"TEST_SEED={seed}")
    return seed


def new_chance() -> random.Random:
    """Random choices from a new seed."""
    return random.Random(new_seed())


def sampled(cases: Iterable[T], count: int) -> list[T]:
    """So many of the cases, evenly spread and always the same ones; all of them in the long form."""
    every = list(cases)
    if LONG or len(every) <= count:
        return every
    return [every[len(every) * number // count] for number in range(count)]
