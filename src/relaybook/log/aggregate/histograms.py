"""Count durations in a histogram with fixed buckets, as in Prometheus."""

from bisect import bisect_left
from typing import Self

import msgspec


class Histogram(msgspec.Struct):
    """A histogram of durations.

    ``bounds`` are upper bounds in seconds, ascending. ``counts`` has one number per bound: the number of durations in
    the bucket that ends at this bound. One more number at the end of ``counts`` is the number of durations above the
    last bound. ``total`` is the sum of all durations in seconds.
    """

    bounds: tuple[float, ...]
    counts: list[int]
    total: float = 0.0

    @classmethod
    def with_bounds(cls, *bounds: float) -> Self:
        """Return an empty histogram with these upper bounds."""
        return cls(bounds, [0] * (len(bounds) + 1))

    def add(self, seconds: float) -> None:
        """Count one duration. A duration equal to a bound belongs to the bucket that ends at the bound."""
        self.counts[bisect_left(self.bounds, seconds)] += 1
        self.total += seconds

    def buckets(self) -> list[tuple[str, int]]:
        """Return each upper bound with the number of durations that do not exceed the bound.

        The last bound is ``+Inf``.
        """
        buckets, cumulative = [], 0
        for bound, count in zip((*map(str, self.bounds), "+Inf"), self.counts, strict=True):
            cumulative += count
            buckets.append((bound, cumulative))
        return buckets
