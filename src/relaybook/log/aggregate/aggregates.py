"""Aggregate the counts, tokens, cost and durations of requests.

A distribution counts durations in logarithmic bins that start at 1 µs. Each bin ends 9 % above its start (eight bins
per doubling), so a percentile is accurate to 4.5 % (half a bin). A distribution needs only a few dozen small numbers
for any number of requests. Two distributions are merged by adding their counts. Pure, without I/O.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from itertools import accumulate
from math import ceil, log2
from typing import Any, Final, Self

import msgspec

from relaybook.log.record import Record

#: Bin → number of values in the bin. Bin ``i`` covers ``2 ** (i / 8)`` to ``2 ** ((i + 1) / 8)`` microseconds.
Distribution = dict[int, int]

_distribution: Final = msgspec.msgpack.Decoder(Distribution).decode
#: Maximum number of distributions whose percentiles are cached. A full cache takes 13 MB. An hourly chart of 30 days
#: has 13,000 distributions. The distributions of past hours do not change, so the same distributions are needed each
#: time the chart is loaded.
_CACHED_DISTRIBUTIONS: Final = 32_768
_PER_OCTAVE: Final = 8
#: Number of steps into which a bin is divided. A percentile is rounded to the middle of a step (0.3 %). So there are
#: few different percentiles, and each of them is computed once and then cached.
_STEPS: Final = 32
#: Token counts are capped at this value, so that a wrong count cannot overflow a sum. The cap is far above any real
#: count.
MAX_TOKENS: Final = 10**12
#: The amounts that one request adds to aggregates: whether the request failed, input tokens, output tokens, cost,
#: whether the cost is known, and the bins of duration and time to first token (`None` if unknown).
Contribution = tuple[bool, int, int, float, bool, int | None, int | None]


class Aggregates(msgspec.Struct, array_like=True):
    """Aggregates of any number of requests.

    ``costed`` is the number of requests with a known cost, and ``cost_usd`` is the sum of the known costs.
    """

    requests: int = 0
    failed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    costed: int = 0
    duration: Distribution = {}
    first_token: Distribution = {}

    @classmethod
    def of(cls, contributions: Sequence[Contribution]) -> Self:
        """Sum the contributions of requests. ``contributions`` must not be empty."""
        failed, input_tokens, output_tokens, cost, is_known, durations, first_tokens = zip(*contributions, strict=True)
        return cls(
            len(contributions),
            sum(failed),
            sum(input_tokens),
            sum(output_tokens),
            sum(cost),
            sum(is_known),
            _bins(durations),
            _bins(first_tokens),
        )

    def add(self, other: "Aggregates") -> None:
        """Add the other aggregates to these aggregates."""
        self.requests += other.requests
        self.failed += other.failed
        self.input_tokens += other.input_tokens
        self.output_tokens += other.output_tokens
        self.cost_usd += other.cost_usd
        self.costed += other.costed
        _add(self.duration, other.duration)
        _add(self.first_token, other.first_token)

    def unpacked(self) -> "Aggregates":
        """Return ``self``. Only ``PackedAggregates`` must be decoded."""
        return self

    def without(self, others: Iterable["Aggregates"]) -> "Aggregates | None":
        """Return these aggregates minus ``others``, or `None` if no request is left.

        Every request in an item of ``others`` must also be in these aggregates. No request may be in two items of
        ``others``.
        """
        rest = Aggregates()
        rest.add(self)
        for other in others:
            rest.requests -= other.requests
            rest.failed -= other.failed
            rest.input_tokens -= other.input_tokens
            rest.output_tokens -= other.output_tokens
            rest.cost_usd -= other.cost_usd
            rest.costed -= other.costed
            _subtract(rest.duration, other.duration)
            _subtract(rest.first_token, other.first_token)
        if rest.costed == 0 or rest.cost_usd < 0:  # floating-point rounding
            rest.cost_usd = 0.0
        return rest if rest.requests else None


class PackedAggregates(msgspec.Struct, array_like=True, frozen=True):
    """Aggregates whose distributions are still encoded as in the store.

    A chart can have 6,000 points. When the chart is loaded again, most of its percentiles are found in a cache, whose
    key is the encoded distribution. So most distributions need not be decoded.
    """

    requests: int
    failed: int
    input_tokens: int
    output_tokens: int
    cost_usd: float
    costed: int
    duration: msgspec.Raw
    first_token: msgspec.Raw

    def unpacked(self) -> Aggregates:
        """Return the same aggregates with decoded distributions, as ``Aggregates.add`` requires."""
        return Aggregates(
            self.requests,
            self.failed,
            self.input_tokens,
            self.output_tokens,
            self.cost_usd,
            self.costed,
            _distribution(self.duration),
            _distribution(self.first_token),
        )


def contribution_of(record: Record) -> Contribution:
    """Return the amounts that a finished request adds to aggregates."""
    cost = record.cost_usd
    return (
        record.failed,
        min(record.input_tokens or 0, MAX_TOKENS),
        min(record.output_tokens or 0, MAX_TOKENS),
        cost or 0.0,
        cost is not None,
        bin_of(record.duration_ms),
        bin_of(record.first_token_ms),
    )


def bin_of(milliseconds: float | None) -> int | None:
    """Return the bin in which a ``Distribution`` counts this duration. `None` if the duration is unknown."""
    if milliseconds is None:
        return None
    return int(log2(milliseconds * 1000) * _PER_OCTAVE) if milliseconds > 0.001 else 0


def percentiles(distribution: Distribution | msgspec.Raw, *fractions: float) -> tuple[float | None, ...]:
    """Return percentiles in milliseconds, one per fraction (0 to 1). All are `None` if the distribution is empty."""
    return _percentiles(
        bytes(distribution) if isinstance(distribution, msgspec.Raw) else msgspec.msgpack.encode(distribution),
        fractions,
    )


@lru_cache(_CACHED_DISTRIBUTIONS)
def _percentiles(encoded: bytes, fractions: tuple[float, ...]) -> tuple[float | None, ...]:
    distribution = _distribution(encoded)
    if not distribution:
        return (None,) * len(fractions)
    bins = sorted(distribution)
    cumulative = list(accumulate(map(distribution.__getitem__, bins)))
    values: list[float] = []
    for fraction in fractions:
        rank = ceil(fraction * cumulative[-1]) or 1
        at = bisect_left(cumulative, rank)
        bin_, count = bins[at], distribution[bins[at]]
        values.append(_milliseconds(bin_ * _STEPS + int((rank - cumulative[at] + count - 0.5) * _STEPS / count)))
    return tuple(values)


@cache
def _milliseconds(step: int) -> float:
    """Return the middle of a step (see ``_STEPS``) in milliseconds, with three significant digits."""
    return float(f"{2 ** ((step + 0.5) / _STEPS / _PER_OCTAVE) / 1000:.3g}")


def _bins(bins: Iterable[Any]) -> Distribution:
    distribution = dict(Counter(bins))
    distribution.pop(None, None)
    return distribution


def _add(target: Distribution, other: Distribution) -> None:
    for bin_, count in other.items():
        target[bin_] = target.get(bin_, 0) + count


def _subtract(out_of: Distribution, other: Distribution) -> None:
    for bin_, count in other.items():
        rest = out_of.get(bin_, 0) - count
        if rest > 0:
            out_of[bin_] = rest
        else:
            out_of.pop(bin_, None)
