"""What follows from a record's number alone: its ids, when it began, how it ended.

So the benchmark knows ids, and which of them belong to complete requests, without having read the log.
"""

import json
import random
from bisect import bisect
from collections.abc import Callable
from dataclasses import asdict, dataclass
from hashlib import blake2b
from itertools import accumulate
from math import cos, exp, pi
from pathlib import Path
from statistics import NormalDist
from typing import Final, NamedTuple, Self

from relaybook.log.record import Outcome

DAYS: Final = 60
_DAY_US: Final = 86_400_000_000
_QUARTERS: Final = 96
#: Turns of the one long conversation.
LONG_THREAD: Final = 500
LONG_THREAD_NAMESPACE: Final = "thread-of-500"
_DURATIONS: Final = 4096
#: Records are told apart by 16 bits of their hash: below these numbers they ended otherwise than well.
_LIMITED, _BROKEN, _REFUSED, _LEFT, _UNREACHABLE = (
    round(65536 * share) for share in (0.017, 0.024, 0.029, 0.033, 0.034)
)


class Ending(NamedTuple):
    """How a request ended."""

    outcome: Outcome
    status: int | None
    error: str | None = None

    @property
    def is_well(self) -> bool:
        """Whether there is an answer of the model."""
        return self.outcome == "complete" and self.status == 200


_WELL: Final = Ending("complete", 200)
_ENDINGS: Final = (
    (_LIMITED, Ending("complete", 429, "rate_limit_exceeded")),
    (_BROKEN, Ending("complete", 500, "server_error")),
    (_REFUSED, Ending("complete", 400, "context_length_exceeded")),
    (_LEFT, Ending("client_closed", None)),
    (_UNREACHABLE, Ending("upstream_failed", 502, "upstream_unreachable")),
)
#: By the hash's 16 bits divided by 16.
_ENDING_OF: Final = [
    next((ending for below, ending in _ENDINGS if step * 16 < below), _WELL) for step in range(65536 // 16)
]


class Facts(NamedTuple):
    """One record's: moments in microseconds, ``bits`` to draw the rest from."""

    id: str
    provider_request_id: str
    completion_id: str
    client_request_id: str
    started_at: int
    duration_us: int
    ending: Ending
    bits: int


@dataclass(frozen=True)
class Recipe:
    """All that a big log follows from; kept beside it."""

    records: int
    ends_at: int
    seed: int = 1

    def keep(self, directory: Path) -> None:
        """Says that the log in the directory is whole."""
        (directory / "recipe.json").write_text(json.dumps(asdict(self)) + "\n", "utf-8")

    @classmethod
    def kept(cls, directory: Path) -> Self | None:
        """Of the log in the directory; None: there is none, or not a whole one."""
        try:
            return cls(**json.loads((directory / "recipe.json").read_text("utf-8")))
        except FileNotFoundError:
            return None

    @property
    def long_thread(self) -> range:
        """Numbers of the one long conversation's turns: spread over the middle half of the log."""
        step = max(1, self.records // (2 * LONG_THREAD))
        first = self.records // 4
        return range(first, first + step * LONG_THREAD, step)

    def facts(self) -> Callable[[int], Facts]:
        """Tells the facts of a record by its number, from 0."""
        key = self.seed.to_bytes(8, "big")
        recorded_at, durations, long_thread = _recorded_at(self), _durations(self.seed), self.long_thread

        def of(number: int) -> Facts:
            h = blake2b(number.to_bytes(8, "big"), digest_size=40, key=key).hexdigest()
            bits = int(h[64:], 16)
            duration = durations[bits & 0xFFF]
            started = recorded_at(number) - duration
            ms = f"{started // 1000:012x}"
            return Facts(
                f"{ms[:8]}-{ms[8:]}-7{h[:3]}-a{h[3:6]}-{h[6:18]}",
                f"req_{h[18:50]}",
                f"chatcmpl-{h[30:59]}",
                f"{h[:8]}-{h[40:44]}-4{h[44:47]}-8{h[47:50]}-{h[52:64]}",
                started,
                duration,
                _WELL if number in long_thread else _ENDING_OF[bits >> 12 & 0xFFF],
                bits >> 24,
            )

        return of


def _recorded_at(recipe: Recipe) -> Callable[[int], int]:
    """When each record was recorded: in order of their numbers, most of them at noon, fewer on two days in seven."""
    quarters = range(DAYS * _QUARTERS)
    rhythm = [1.15 - cos(2 * pi * at / _QUARTERS) for at in range(_QUARTERS)]
    rates = [rhythm[at % _QUARTERS] * (0.5 if at // _QUARTERS % 7 > 4 else 1) for at in quarters]
    sums = [0.0, *accumulate(rates)]
    share, quarter_us = sums[-1] / recipe.records, _DAY_US // _QUARTERS
    first_at = recipe.ends_at - DAYS * _DAY_US

    def at(number: int) -> int:
        place = (number + 0.5) * share
        quarter = bisect(sums, place) - 1
        return first_at + int((quarter + (place - sums[quarter]) / rates[quarter]) * quarter_us)

    return at


def _durations(seed: int) -> list[int]:
    """Microseconds, lognormal around 1.2 s, in a random order."""
    normal = NormalDist()
    durations = [int(1.2e6 * exp(0.6 * normal.inv_cdf((step + 0.5) / _DURATIONS))) for step in range(_DURATIONS)]
    random.Random(seed).shuffle(durations)
    return durations
