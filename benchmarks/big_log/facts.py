"""Derive the ids, start time and outcome of a record from the number of the record.

With these facts, the benchmark knows the ids of complete requests without reading the log.
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
#: Number of turns of the only long conversation.
LONG_THREAD: Final = 500
LONG_THREAD_NAMESPACE: Final = "thread-of-500"
_DURATIONS: Final = 4096
#: Upper bounds on 16 bits of a record's hash. A record below the last bound did not succeed.
_LIMITED, _BROKEN, _REFUSED, _LEFT, _UNREACHABLE = (
    round(65536 * share) for share in (0.017, 0.024, 0.029, 0.033, 0.034)
)


class Ending(NamedTuple):
    """The outcome of a request."""

    outcome: Outcome
    status: int | None
    error: str | None = None

    @property
    def is_well(self) -> bool:
        """Whether the model responded."""
        return self.outcome == "complete" and self.status == 200


_WELL: Final = Ending("complete", 200)
_ENDINGS: Final = (
    (_LIMITED, Ending("complete", 429, "rate_limit_exceeded")),
    (_BROKEN, Ending("complete", 500, "server_error")),
    (_REFUSED, Ending("complete", 400, "context_length_exceeded")),
    (_LEFT, Ending("client_closed", None)),
    (_UNREACHABLE, Ending("upstream_failed", 502, "upstream_unreachable")),
)
#: The ending of a record, indexed by 12 bits of its hash.
_ENDING_OF: Final = [
    next((ending for below, ending in _ENDINGS if step * 16 < below), _WELL) for step in range(65536 // 16)
]


class Facts(NamedTuple):
    """Facts of one record. Times are in microseconds. All other properties of the record are derived from ``bits``."""

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
    """The parameters that determine a big log. The parameters are stored next to the log."""

    records: int
    ends_at: int
    seed: int = 1

    def keep(self, directory: Path) -> None:
        """Mark the log in a directory as complete."""
        (directory / "recipe.json").write_text(json.dumps(asdict(self)) + "\n", "utf-8")

    @classmethod
    def kept(cls, directory: Path) -> Self | None:
        """Return the recipe of the log in a directory, or `None` if there is no complete log."""
        try:
            return cls(**json.loads((directory / "recipe.json").read_text("utf-8")))
        except FileNotFoundError:
            return None

    @property
    def long_thread(self) -> range:
        """Return the record numbers of the long conversation, which is spread over the middle half of the log."""
        step = max(1, self.records // (2 * LONG_THREAD))
        first = self.records // 4
        return range(first, first + step * LONG_THREAD, step)

    def facts(self) -> Callable[[int], Facts]:
        """Return a function that returns the facts of a record by its number, from 0."""
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
    """Return a function from a record's number to the time of recording.

    Most records are at noon, and there are fewer records on two days in seven.
    """
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
    """Return durations in microseconds: lognormal around 1.2 s, in random order."""
    normal = NormalDist()
    durations = [int(1.2e6 * exp(0.6 * normal.inv_cdf((step + 0.5) / _DURATIONS))) for step in range(_DURATIONS)]
    random.Random(seed).shuffle(durations)
    return durations
