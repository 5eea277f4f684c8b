"""Decide what leaves the log: by age, and by namespace.

A request loses its content (bodies, headers, previews, error message, searchable text) when it ended before one time,
and is removed when it ended before another. A namespace can have times of its own. Pure.
"""

from functools import cached_property
from typing import Final, Literal

import msgspec

DAY_US: Final = 86_400_000_000

#: What happens to a request: it stays, only its content is removed, or it is removed.
Fate = Literal["kept", "expired", "removed"]


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """For how many UTC days content and requests are kept after the day on which the request ended. 0: forever."""

    body_days: int = 0
    days: int = 0


class Cutoff(msgspec.Struct, frozen=True):
    """Times in microseconds since the epoch. What ended before them leaves the log; 0 keeps everything."""

    content: int = 0
    requests: int = 0


class Cutoffs(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The times for all requests, and for namespaces with times of their own.

    A pattern is a name, or the beginning of names followed by ``*``. The longest pattern that matches applies; a name
    takes precedence over a pattern with ``*``. Aggregates over time that end before ``aggregates`` are removed.
    """

    general: Cutoff = Cutoff()
    by_pattern: dict[str, Cutoff] = {}
    aggregates: int = 0

    @cached_property
    def latest(self) -> Cutoff:
        """The latest time of each kind in any namespace."""
        cutoffs = [self.general, *self.by_pattern.values()]
        return Cutoff(max(cutoff.content for cutoff in cutoffs), max(cutoff.requests for cutoff in cutoffs))

    @cached_property
    def _beginnings(self) -> list[tuple[str, Cutoff]]:
        """The patterns with ``*``, without it, longest first."""
        found = [(pattern[:-1], cutoff) for pattern, cutoff in self.by_pattern.items() if pattern.endswith("*")]
        return sorted(found, key=lambda pair: len(pair[0]), reverse=True)

    def of(self, namespace: str) -> Cutoff:
        """Return the times that apply to a namespace."""
        exact = self.by_pattern.get(namespace)
        if exact is not None:
            return exact
        return next((cutoff for start, cutoff in self._beginnings if namespace.startswith(start)), self.general)

    def fate(self, namespace: str, ended_at: int) -> Fate:
        """Return what happens to a request that ended at a time (microseconds since the epoch)."""
        cutoff = self.of(namespace)
        if ended_at < cutoff.requests:
            return "removed"
        return "expired" if ended_at < cutoff.content else "kept"


class Retention(msgspec.Struct, frozen=True, kw_only=True):
    """The rules by which requests leave the log."""

    general: Rule = Rule()
    by_pattern: dict[str, Rule] = {}
    aggregate_days: int = 0

    def cutoffs(self, now_us: int) -> Cutoffs:
        """Return the times that apply at ``now_us``. They change once a day, at midnight UTC."""
        midnight = now_us - now_us % DAY_US
        return Cutoffs(
            general=_cutoff(self.general, midnight),
            by_pattern={pattern: _cutoff(rule, midnight) for pattern, rule in self.by_pattern.items()},
            aggregates=_before(midnight, self.aggregate_days),
        )


def _cutoff(rule: Rule, midnight: int) -> Cutoff:
    return Cutoff(_before(midnight, rule.body_days), _before(midnight, rule.days))


def _before(midnight: int, days: int) -> int:
    return midnight - days * DAY_US if days else 0
