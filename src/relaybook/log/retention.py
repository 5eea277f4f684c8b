"""Decide by age and namespace which requests are removed and which only lose their content.

A request that ended before the content cutoff loses its content (see docs/reference/glossary.md). A request that ended
before the request cutoff is removed. A namespace can have its own cutoffs.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Final, Literal, Self

import msgspec

from relaybook.settings.definitions import Settings
from relaybook.tags import NamePatterns

DAY_US: Final = 86_400_000_000

#: A ``kept`` request stays unchanged, an ``expired`` request loses only its content, and a ``removed`` request is
#: removed.
Fate = Literal["kept", "expired", "removed"]


#: A pattern of namespaces, or `None` for those that match no pattern → the start times of the first and of the last
#: request in the namespaces with this pattern's rule. Patterns without requests are omitted.
RequestTimes = Mapping[str | None, tuple[int, int]]

#: The reason for a removal: the age of the requests, or that the log exceeds ``disk_budget``.
RemovalReason = Literal["age", "disk_budget"]


class Removal(msgspec.Struct, frozen=True, kw_only=True):
    """A removal of requests and content, because of their age or because of the disk budget.

    ``at`` is in microseconds since the epoch. ``requests`` is the number of removed requests. ``contents`` is the
    number of other requests that lost their content.
    """

    at: int
    reason: RemovalReason
    requests: int
    contents: int


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """How long content (``body_days``) and requests (``days``) are kept.

    The times are in whole UTC days after the day on which a request ended. 0 means no age limit.
    """

    body_days: int = 0
    days: int = 0


class Cutoff(msgspec.Struct, frozen=True):
    """A content cutoff and a request cutoff, in microseconds since the epoch. 0 disables a cutoff.

    Requests that ended before ``content`` lose their content. Requests that ended before ``requests`` are removed.
    """

    content: int = 0
    requests: int = 0


class Cutoffs(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The general cutoffs, and the cutoffs of namespaces that match a pattern.

    ``aggregates`` is a time in microseconds since the epoch: aggregates of earlier times are removed. ``reason`` is the
    reason for all removals.
    """

    general: Cutoff = Cutoff()
    by_pattern: dict[str, Cutoff] = {}
    aggregates: int = 0
    reason: RemovalReason = "age"

    @cached_property
    def latest(self) -> Cutoff:
        """The latest content cutoff and the latest request cutoff, of all namespaces."""
        cutoffs = [self.general, *self.by_pattern.values()]
        return Cutoff(max(cutoff.content for cutoff in cutoffs), max(cutoff.requests for cutoff in cutoffs))

    @cached_property
    def _patterns(self) -> NamePatterns[Cutoff]:
        return NamePatterns(self.by_pattern)

    def fate(self, namespace: str, ended_at: int) -> Fate:
        """Return whether a request is kept, expired or removed. ``ended_at`` is in microseconds since the epoch."""
        cutoff = self._patterns.find(namespace, self.general)
        if ended_at < cutoff.requests:
            return "removed"
        return "expired" if ended_at < cutoff.content else "kept"


class Retention(msgspec.Struct, frozen=True, kw_only=True):
    """The rules by which requests, their content and aggregates are removed."""

    general: Rule = Rule()
    by_pattern: dict[str, Rule] = {}
    aggregate_days: int = 0

    def cutoffs(self, now_us: int) -> Cutoffs:
        """Return the cutoffs at ``now_us``. Cutoffs change once a day, at midnight UTC."""
        midnight = now_us - now_us % DAY_US
        return Cutoffs(
            general=_cutoff(self.general, midnight),
            by_pattern={pattern: _cutoff(rule, midnight) for pattern, rule in self.by_pattern.items()},
            aggregates=_before(midnight, self.aggregate_days),
        )

    def next_removal(self, times: RequestTimes) -> int | None:
        """Return when requests become old enough to be removed. A time that has passed means that they are removed now.

        `None` if no rule removes any of the requests.
        """
        removals = [
            removed_at(first, days) for pattern, (first, _) in times.items() if (days := self._rule(pattern).days)
        ]
        return min(removals, default=None)

    def next_content_removal(self, times: RequestTimes, oldest_content_at: int | None, now_us: int) -> int | None:
        """Return when content becomes old enough to be removed, like ``next_removal``.

        ``oldest_content_at`` is the start time of the oldest request with content. If another rule keeps this content,
        all content before the cutoff of a rule is assumed to be removed.
        """
        if oldest_content_at is None:
            return None
        cutoffs = self.cutoffs(now_us)
        ages = {None: cutoffs.general.content} | {each: cutoff.content for each, cutoff in cutoffs.by_pattern.items()}
        removals: list[int] = []
        for pattern, (first, last) in times.items():
            days, cutoff = self._rule(pattern).body_days, ages[pattern]
            oldest = max(first, oldest_content_at)
            if oldest < cutoff and any(
                times[other][0] <= oldest_content_at and ages[other] <= oldest_content_at for other in times
            ):
                oldest = cutoff
            if days and oldest <= last:
                removals.append(removed_at(oldest, days))
        return min(removals, default=None)

    def _rule(self, pattern: str | None) -> Rule:
        return self.general if pattern is None else self.by_pattern[pattern]

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return the rules that the settings define.

        If the settings of a namespace do not contain a value, the general value is used.
        """
        general = Rule(body_days=settings.keep_bodies_days, days=settings.keep_days)
        by_pattern = {
            pattern: Rule(
                body_days=general.body_days if each.keep_bodies_days is None else each.keep_bodies_days,
                days=general.days if each.keep_days is None else each.keep_days,
            )
            for pattern, each in settings.namespaces.items()
        }
        return cls(general=general, by_pattern=by_pattern, aggregate_days=settings.keep_aggregates_days)


def removed_at(started_at: int, days: int) -> int:
    """Return the midnight after which a rule removes a request that ended on the day on which it started."""
    return started_at - started_at % DAY_US + (days + 1) * DAY_US


def _cutoff(rule: Rule, midnight: int) -> Cutoff:
    return Cutoff(_before(midnight, rule.body_days), _before(midnight, rule.days))


def _before(midnight: int, days: int) -> int:
    return midnight - days * DAY_US if days else 0


def raised(cutoffs: Cutoffs, least: Cutoff) -> Cutoffs:
    """Return cutoffs in which no content cutoff and no request cutoff is earlier than the one in ``least``.

    Later cutoffs remove more requests and content. The cutoff for aggregates stays the same. Used if the log exceeds
    its disk budget.
    """
    return Cutoffs(
        general=_later(cutoffs.general, least),
        by_pattern={pattern: _later(cutoff, least) for pattern, cutoff in cutoffs.by_pattern.items()},
        aggregates=cutoffs.aggregates,
        reason="disk_budget",
    )


def _later(one: Cutoff, other: Cutoff) -> Cutoff:
    return Cutoff(max(one.content, other.content), max(one.requests, other.requests))
