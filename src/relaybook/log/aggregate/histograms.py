"""Counts durations by their size: what Prometheus calls a histogram. Pure."""

from bisect import bisect_left
from typing import Self

import msgspec


class Histogram(msgspec.Struct):
    """``counts`` has one more than ``bounds`` (seconds, rising): what is over the last. ``total`` is in seconds."""

    bounds: tuple[float, ...]
    counts: list[int]
    total: float = 0.0

    @classmethod
    def over(cls, *bounds: float) -> Self:
        """An empty one."""
        return cls(bounds, [0] * (len(bounds) + 1))

    def add(self, seconds: float) -> None:
        """Counts one. A duration equal to a bound is below it."""
        self.counts[bisect_left(self.bounds, seconds)] += 1
        self.total += seconds

    def buckets(self) -> list[tuple[str, int]]:
        """How many were at most as long, by upper bound, and ``+Inf`` for all."""
        found, so_far = [], 0
        for bound, count in zip((*map(str, self.bounds), "+Inf"), self.counts, strict=True):
            so_far += count
            found.append((bound, so_far))
        return found
