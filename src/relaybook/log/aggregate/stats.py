"""Parse statistics queries, and combine aggregates into groups over time.

Time is divided into buckets that start at multiples of the bucket length, in UTC. The queried time range is extended to
whole buckets. ``by`` groups the requests by the value of a field. The groups with the most requests are returned
separately, and all other groups are merged into one group.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

import msgspec

from relaybook.log.aggregate.aggregates import Aggregates, PackedAggregates
from relaybook.log.query.filters import BadFilter, Filter
from relaybook.log.query.term_values import canonical_name

MINUTE_US: Final = 60_000_000
_DAY_S: Final = 86_400
#: Allowed bucket lengths in seconds. Each length divides a day.
BUCKETS: Final = (60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 14_400, 21_600, 43_200, _DAY_S)
#: The target number of buckets. If a query has no bucket length, the shortest length is chosen that results in at most
#: this many buckets.
_TARGET_BUCKETS: Final = 120
MAX_BUCKETS: Final = 3000
MAX_GROUPS: Final = 20
FIELDS: Final = ("namespace", "model", "outcome", "route", "label")
#: A field that records do not have. Its value is "" for every request, so its aggregates cover all requests.
ALL: Final = ""
#: Fields whose aggregates over time are kept when requests are removed. Aggregates by property are also kept.
KEPT_FIELDS: Final = ("namespace", "model", "outcome")
_NUMBER: Final = re.compile(r"\d{1,6}", re.ASCII)

#: Start of a bucket (microseconds) → its aggregates. Buckets without requests are omitted.
Points = dict[int, Aggregates | PackedAggregates]


class StatsQuery(msgspec.Struct, frozen=True, kw_only=True):
    """A query for statistics.

    ``filter_`` has no ``from`` and ``to``, because ``from_us`` and ``to_us`` replace them. If ``from_us`` is `None`,
    the time range begins at the start of the log. If ``bucket_s`` is `None`, the bucket length is chosen to fit the
    time range. ``by`` is one of FIELDS, ``property.<name>``, or `None` for a single group of all requests. If ``by`` is
    ``label``, the requests are grouped by the latest label in their feedback.
    """

    filter_: Filter
    from_us: int | None
    to_us: int
    bucket_s: int | None = None
    by: str | None = None


class TimeRange(msgspec.Struct, frozen=True, kw_only=True):
    """A time range of whole buckets: from ``from_us``, inclusive, to ``to_us``, exclusive."""

    from_us: int
    to_us: int
    bucket_us: int


class Group(msgspec.Struct, kw_only=True):
    """The aggregates of the requests with the same value of the field ``StatsQuery.by``.

    ``value`` is `None` for requests without a value, for ``Stats.other``, and if requests are not grouped.
    """

    value: str | None
    points: Points
    total: Aggregates


class Stats(msgspec.Struct, kw_only=True):
    """The result of a statistics query.

    ``groups`` has the groups with the most requests, at most MAX_GROUPS. ``other`` combines all other groups, or is
    `None` if there are no other groups. ``source`` is ``rollups`` if precomputed aggregates were used, and ``log`` if
    the aggregates were computed from the records.
    """

    span: TimeRange
    groups: list[Group]
    other: Group | None
    total: Aggregates
    source: Literal["rollups", "log"]


def parse_stats_query(filter_: Filter, bucket: str | None, by: str | None, now_us: int) -> StatsQuery:
    """Build a query from a filter and from the parameters ``bucket`` and ``by``.

    The filter may have the terms ``from`` and ``to``. Raises BadFilter if a parameter is invalid or the time range
    is empty.
    """
    from_us = max((int(term.values[0]) for term in filter_.terms if term.name == "from"), default=None)
    to_us = min((int(term.values[0]) for term in filter_.terms if term.name == "to"), default=now_us)
    if from_us is not None and from_us >= to_us:
        raise BadFilter("from", "The start (from) must be before the end (to).")
    field = canonical_name(by or "")
    if by is not None and field not in FIELDS and not (field and _is_property(field)):
        raise BadFilter("by", f"by is {by[:80]!r}: expected one of {', '.join(FIELDS)}, property.<name>.")
    return StatsQuery(
        filter_=Filter(tuple(term for term in filter_.terms if term.name not in ("from", "to"))),
        from_us=from_us,
        to_us=to_us,
        bucket_s=None if bucket is None else _bucket(bucket),
        by=field,
    )


def _is_property(by: str) -> bool:
    return by.startswith("property.")


def _bucket(text: str) -> int:
    if not (_NUMBER.fullmatch(text) and int(text) in BUCKETS):
        raise BadFilter("bucket", f"bucket is {text[:80]!r}: expected seconds, one of {', '.join(map(str, BUCKETS))}.")
    return int(text)


def kept_field(query: StatsQuery) -> str | None:
    """Return the field from whose aggregates the result of a query can be computed.

    These aggregates are kept when requests are removed (see KEPT_FIELDS). `None` if the result must be computed from
    the requests.
    """
    terms = query.filter_.terms
    if len(terms) > 1 or any(term.negated or term.prefixes for term in terms):
        return None
    names = {term.name for term in terms} | ({query.by} if query.by else set())
    name = names.pop() if names else ALL
    return name if not names and (name in (ALL, *KEPT_FIELDS) or _is_property(name)) else None


def span_of(query: StatsQuery, began_us: int | None) -> TimeRange:
    """Return the time range of a query, extended to whole buckets.

    ``began_us`` is the start time of the log's first request, or `None` if the log is empty. Raises BadFilter if the
    time range has more than MAX_BUCKETS buckets of the given length. If the length is one day, the number of buckets is
    not limited, because one day is the greatest length.
    """
    start = query.from_us
    if start is None:
        start = query.to_us - 1 if began_us is None else min(began_us, query.to_us - 1)
    length_s = query.bucket_s or _DAY_S
    if length_s < _DAY_S and (query.to_us - start) // (length_s * 1_000_000) > MAX_BUCKETS:
        raise BadFilter(
            "bucket",
            f"bucket is {length_s}: the time range has more than {MAX_BUCKETS} buckets of this size. Use longer "
            "buckets.",
        )
    bucket_us = (query.bucket_s or _fitting(start, query.to_us)) * 1_000_000
    return TimeRange(
        from_us=start // bucket_us * bucket_us, to_us=-(-query.to_us // bucket_us) * bucket_us, bucket_us=bucket_us
    )


def _fitting(from_us: int, to_us: int) -> int:
    seconds = (to_us - from_us) / 1_000_000
    return next((bucket for bucket in BUCKETS if seconds / bucket <= _TARGET_BUCKETS), _DAY_S)


def groups_of(points_by_value: Mapping[str | None, Points]) -> list[Group]:
    """Return a group for each value of the field ``StatsQuery.by``."""
    return [Group(value=value, points=points, total=total_of(points)) for value, points in points_by_value.items()]


def build(
    span: TimeRange, groups: Iterable[Group], source: Literal["rollups", "log"], rest: Iterable[Group] = ()
) -> Stats:
    """Return statistics with the groups in descending order of their number of requests.

    Groups after the first MAX_GROUPS are merged into ``other``. So are the groups in ``rest``: each of them already
    combines the requests of several values.
    """
    largest = sorted(
        (group for group in groups if group.points),
        key=lambda group: (-group.total.requests, group.value is None, group.value or ""),
    )
    other = merge_groups([*largest[MAX_GROUPS:], *(group for group in rest if group.points)])
    del largest[MAX_GROUPS:]
    total = Aggregates()
    for group in (*largest, *([other] if other else [])):
        total.add(group.total)
    return Stats(span=span, groups=largest, other=other, total=total, source=source)


def total_of(points: Points) -> Aggregates:
    """Return the sum of the aggregates of all points."""
    total = Aggregates()
    for aggregates in points.values():
        total.add(aggregates.unpacked())
    return total


def merge_groups(groups: Sequence[Group]) -> Group | None:
    """Merge groups into one group, whose ``value`` is `None`. Return `None` if there are no groups."""
    if len(groups) == 1:
        return Group(value=None, points=groups[0].points, total=groups[0].total)
    points: dict[int, Aggregates] = {}
    total = Aggregates()
    for group in groups:
        total.add(group.total)
        for at, aggregates in group.points.items():
            points.setdefault(at, Aggregates()).add(aggregates.unpacked())
    return Group(value=None, points={at: points[at] for at in sorted(points)}, total=total) if groups else None
