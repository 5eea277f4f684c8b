"""Aggregate the counts, tokens, cost and durations of requests.

A distribution has the number and the sum of the durations in each of its logarithmic bins. A bin ends 4.4 % above its
start (16 bins per doubling). A percentile is the mean of a bin. So it is accurate to 4.4 %, and it is never below the
shortest or above the longest duration. A distribution needs only a few dozen numbers for any number of requests.
Two distributions are merged by adding their numbers, and subtracted in the same way.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate
from math import ceil, log2
from typing import Final, Self

import msgspec

from relaybook.log.numbers import tokens_per_second_of
from relaybook.log.record import Record

#: Bin → number of durations in the bin, and ``~bin`` → sum of these durations in nanoseconds. Sums of 0 are omitted.
#: Bin 0 has durations of 0. Bin ``i`` covers ``2 ** ((i - 1) / 16)`` to ``2 ** (i / 16)`` nanoseconds.
Distribution = dict[int, int]
#: A duration in nanoseconds, with its bin.
Duration = tuple[int, int]

_distribution: Final = msgspec.msgpack.Decoder(Distribution).decode
#: Maximum number of distributions whose percentiles are cached. A full cache takes 16 MB. An hourly chart of 30 days
#: has 13,000 distributions. The distributions of past hours do not change, so the same distributions are needed each
#: time the chart is loaded.
_CACHED_DISTRIBUTIONS: Final = 16_384
_PER_OCTAVE: Final = 16
#: Durations are capped at 11 days, so that their sums do not overflow.
MAX_DURATION_MS: Final = 10**9
#: Token counts are capped at this value, so that a wrong count cannot overflow a sum. The cap is far above any real
#: count.
MAX_TOKENS: Final = 10**12
#: The amounts that one request adds to aggregates: whether the request failed, input tokens, output tokens, cost,
#: whether the cost is known, cached tokens, input tokens if the cached tokens are known, duration, time to first token,
#: and tokens per second (`None` if unknown).
Contribution = tuple[bool, int, int, float, bool, int, int, Duration | None, Duration | None, Duration | None]


class Aggregates(msgspec.Struct, array_like=True):
    """Aggregates of any number of requests.

    ``costed`` is the number of requests with a known cost, and ``cost_usd`` is the sum of the known costs.
    ``cacheable_tokens`` is the number of input tokens of the requests whose number of cached tokens is known.
    ``tokens_per_second`` is a distribution of rates, which are written like milliseconds.
    """

    requests: int = 0
    failed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    costed: int = 0
    cached_tokens: int = 0
    cacheable_tokens: int = 0
    duration: Distribution = {}
    first_token: Distribution = {}
    tokens_per_second: Distribution = {}

    @classmethod
    def of(cls, contributions: Sequence[Contribution]) -> Self:
        """Sum the contributions of requests. ``contributions`` must not be empty."""
        failed, input_tokens, output_tokens, cost, is_known, cached, cacheable, durations, first_tokens, rates = zip(
            *contributions, strict=True
        )
        return cls(
            len(contributions),
            sum(failed),
            sum(input_tokens),
            sum(output_tokens),
            sum(cost),
            sum(is_known),
            sum(cached),
            sum(cacheable),
            _distribution_of(durations),
            _distribution_of(first_tokens),
            _distribution_of(rates),
        )

    def add(self, other: "Aggregates") -> None:
        """Add the other aggregates to these aggregates."""
        self.requests += other.requests
        self.failed += other.failed
        self.input_tokens += other.input_tokens
        self.output_tokens += other.output_tokens
        self.cost_usd += other.cost_usd
        self.costed += other.costed
        self.cached_tokens += other.cached_tokens
        self.cacheable_tokens += other.cacheable_tokens
        _add(self.duration, other.duration)
        _add(self.first_token, other.first_token)
        _add(self.tokens_per_second, other.tokens_per_second)

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
            rest.cached_tokens -= other.cached_tokens
            rest.cacheable_tokens -= other.cacheable_tokens
            _subtract(rest.duration, other.duration)
            _subtract(rest.first_token, other.first_token)
            _subtract(rest.tokens_per_second, other.tokens_per_second)
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
    cached_tokens: int
    cacheable_tokens: int
    duration: msgspec.Raw
    first_token: msgspec.Raw
    tokens_per_second: msgspec.Raw

    def unpacked(self) -> Aggregates:
        """Return the same aggregates with decoded distributions, as ``Aggregates.add`` requires."""
        return Aggregates(
            self.requests,
            self.failed,
            self.input_tokens,
            self.output_tokens,
            self.cost_usd,
            self.costed,
            self.cached_tokens,
            self.cacheable_tokens,
            _distribution(self.duration),
            _distribution(self.first_token),
            _distribution(self.tokens_per_second),
        )


def contribution_of(record: Record) -> Contribution:
    """Return the amounts that a finished request adds to aggregates."""
    cost, cached = record.cost_usd, record.cached_tokens
    input_tokens = min(record.input_tokens or 0, MAX_TOKENS)
    return (
        record.failed,
        input_tokens,
        min(record.output_tokens or 0, MAX_TOKENS),
        cost or 0.0,
        cost is not None,
        min(cached or 0, MAX_TOKENS),
        0 if cached is None else input_tokens,
        duration_of(record.duration_ms),
        duration_of(record.first_token_ms),
        duration_of(tokens_per_second_of(record)),
    )


def duration_of(milliseconds: float | None) -> Duration | None:
    """Return a duration with its bin in a ``Distribution``. `None` if the duration is unknown."""
    if milliseconds is None:
        return None
    nanoseconds = round(min(max(milliseconds, 0.0), MAX_DURATION_MS) * 1_000_000)
    return nanoseconds, 1 + int(log2(nanoseconds) * _PER_OCTAVE) if nanoseconds else 0


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
    bins = sorted(bin_ for bin_ in distribution if bin_ >= 0)
    cumulative = list(accumulate(map(distribution.__getitem__, bins)))
    values: list[float] = []
    for fraction in fractions:
        bin_ = bins[bisect_left(cumulative, ceil(fraction * cumulative[-1]) or 1)]
        values.append(round(distribution.get(~bin_, 0) / distribution[bin_]) / 1_000_000)
    return tuple(values)


def _distribution_of(durations: Iterable[Duration | None]) -> Distribution:
    distribution: Distribution = {}
    for duration in durations:
        if duration is not None:
            nanoseconds, bin_ = duration
            distribution[bin_] = distribution.get(bin_, 0) + 1
            if nanoseconds:
                distribution[~bin_] = distribution.get(~bin_, 0) + nanoseconds
    return distribution


def _add(target: Distribution, other: Distribution) -> None:
    for key, number in other.items():
        target[key] = target.get(key, 0) + number


def _subtract(out_of: Distribution, other: Distribution) -> None:
    for key, number in other.items():
        rest = out_of.get(key, 0) - number
        if rest > 0:
            out_of[key] = rest
        else:
            out_of.pop(key, None)
