"""Adds requests up: counts, tokens, cost, and two distributions of time that can be merged. Pure.

A distribution counts values in bins, eight to the octave of a microsecond, so merging is adding and a percentile is
right within 4.5 % (half a bin); a few dozen small numbers describe any number of requests.
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

#: Bin → how many values lie in it. Bin ``i`` goes from ``2 ** (i / 8)`` microseconds to that of the next.
Distribution = dict[int, int]

_distribution: Final = msgspec.msgpack.Decoder(Distribution).decode
#: Of so many distributions the percentiles are remembered, 13 MB. What is over does not change: whoever looks at 30
#: days by the hour again asks for the same 13,000.
_REMEMBERED: Final = 32_768
_PER_OCTAVE: Final = 8
#: Where in a bin a percentile lies is told in steps of 0.3 %: there are few of them, so each is reckoned once.
_STEPS: Final = 32
#: More tokens than a request can have: a provider's nonsense must not overflow a sum.
MOST_TOKENS: Final = 10**12
#: What one request adds: failed, input tokens, output tokens, cost, whether that is known, bins or None.
Share = tuple[bool, int, int, float, bool, int | None, int | None]


class Aggregates(msgspec.Struct, array_like=True):
    """``cost_usd`` is the sum over the ``costed`` requests whose cost is known."""

    requests: int = 0
    failed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    costed: int = 0
    duration: Distribution = {}
    first_token: Distribution = {}

    @classmethod
    def of(cls, shares: Sequence[Share]) -> Self:
        """Those of at least one request."""
        failed, asked, answered, cost, is_known, durations, first_tokens = zip(*shares, strict=True)
        return cls(
            len(shares),
            sum(failed),
            sum(asked),
            sum(answered),
            sum(cost),
            sum(is_known),
            _bins(durations),
            _bins(first_tokens),
        )

    def add(self, other: "Aggregates") -> None:
        """Takes the other's requests in."""
        self.requests += other.requests
        self.failed += other.failed
        self.input_tokens += other.input_tokens
        self.output_tokens += other.output_tokens
        self.cost_usd += other.cost_usd
        self.costed += other.costed
        _add(self.duration, other.duration)
        _add(self.first_token, other.first_token)

    def unpacked(self) -> "Aggregates":
        """These: they can be added to others as they are."""
        return self

    def without(self, others: Iterable["Aggregates"]) -> "Aggregates | None":
        """What is left when the others, which are parts of these, are taken out; None when nothing is."""
        left = Aggregates()
        left.add(self)
        for other in others:
            left.requests -= other.requests
            left.failed -= other.failed
            left.input_tokens -= other.input_tokens
            left.output_tokens -= other.output_tokens
            left.cost_usd -= other.cost_usd
            left.costed -= other.costed
            _take(left.duration, other.duration)
            _take(left.first_token, other.first_token)
        if left.costed == 0 or left.cost_usd < 0:  # what floating point leaves over
            left.cost_usd = 0.0
        return left if left.requests else None


class PackedAggregates(msgspec.Struct, array_like=True, frozen=True):
    """Sums as a store keeps them, to be shown: a chart of 6,000 points takes no distribution apart."""

    requests: int
    failed: int
    input_tokens: int
    output_tokens: int
    cost_usd: float
    costed: int
    duration: msgspec.Raw
    first_token: msgspec.Raw

    def unpacked(self) -> Aggregates:
        """The same, to be added to others."""
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


def share(record: Record) -> Share:
    """What a finished request adds."""
    cost = record.cost_usd
    return (
        record.failed,
        min(record.input_tokens or 0, MOST_TOKENS),
        min(record.output_tokens or 0, MOST_TOKENS),
        cost or 0.0,
        cost is not None,
        bin_of(record.duration_ms),
        bin_of(record.first_token_ms),
    )


def bin_of(milliseconds: float | None) -> int | None:
    """The bin of a duration; None for none."""
    if milliseconds is None:
        return None
    return int(log2(milliseconds * 1000) * _PER_OCTAVE) if milliseconds > 0.001 else 0


def percentiles(found: Distribution | msgspec.Raw, *parts: float) -> tuple[float | None, ...]:
    """The durations, in milliseconds, below which these parts of them lie; None when there are none."""
    return _percentiles(bytes(found) if isinstance(found, msgspec.Raw) else msgspec.msgpack.encode(found), parts)


@lru_cache(_REMEMBERED)
def _percentiles(distribution: bytes, parts: tuple[float, ...]) -> tuple[float | None, ...]:
    found = _distribution(distribution)
    if not found:
        return (None,) * len(parts)
    places = sorted(found)
    up_to = list(accumulate(map(found.__getitem__, places)))
    told: list[float] = []
    for part in parts:
        rank = ceil(part * up_to[-1]) or 1
        at = bisect_left(up_to, rank)
        place, count = places[at], found[places[at]]
        told.append(_milliseconds(place * _STEPS + int((rank - up_to[at] + count - 0.5) * _STEPS / count)))
    return tuple(told)


@cache
def _milliseconds(step: int) -> float:
    """The middle of a step, of which a bin has ``_STEPS``; three digits, more would pretend."""
    return float(f"{2 ** ((step + 0.5) / _STEPS / _PER_OCTAVE) / 1000:.3g}")


def _bins(places: Iterable[Any]) -> Distribution:
    found = dict(Counter(places))
    found.pop(None, None)
    return found


def _add(into: Distribution, other: Distribution) -> None:
    for place, count in other.items():
        into[place] = into.get(place, 0) + count


def _take(out_of: Distribution, other: Distribution) -> None:
    for place, count in other.items():
        left = out_of.get(place, 0) - count
        if left > 0:
            out_of[place] = left
        else:
            out_of.pop(place, None)
