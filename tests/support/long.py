"""Choose whether tests run a sample of their cases or all cases.

``LONG_TESTS=1`` selects all cases, and new random examples for properties. ``make crash`` and ``make long`` set it.
``make test`` runs a sample of the cases. Tests with random cases print their seed. Set ``TEST_SEED`` to repeat these
cases.
"""

import os
import random
from collections.abc import Iterable
from typing import Final, TypeVar

T = TypeVar("T")

LONG: Final = os.environ.get("LONG_TESTS") == "1"


def new_seed() -> int:
    """Return ``TEST_SEED`` or a new seed, and print it."""
    seed = int(os.environ.get("TEST_SEED", random.randrange(1 << 32)))
    print(f"TEST_SEED={seed}")
    return seed


def new_rng() -> random.Random:
    """Return a random generator with a new seed."""
    return random.Random(new_seed())


def sampled(cases: Iterable[T], count: int) -> list[T]:
    """Return ``count`` of the cases, or all of them with ``LONG_TESTS=1``.

    The selected cases are evenly spaced and always the same.
    """
    all_cases = list(cases)
    if LONG or len(all_cases) <= count:
        return all_cases
    return [all_cases[len(all_cases) * number // count] for number in range(count)]
