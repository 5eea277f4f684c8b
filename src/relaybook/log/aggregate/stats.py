"""What may be asked of a log's statistics, and how sums become groups over time. Pure.

Time is cut into buckets that begin at whole multiples of their length, UTC. A question's span is widened to whole
buckets. ``by`` parts the requests by the value of a field; the largest groups are told apart, the others added up.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

import msgspec

from relaybook.log.aggregate.aggregates import Aggregates, PackedAggregates
from relaybook.log.query.filters import BadFilter, Filter

MINUTE_US: Final = 60_000_000
_DAY_S: Final = 86_400
#: The lengths a bucket may have, in seconds: each divides a day.
BUCKETS: Final = (60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 14_400, 21_600, 43_200, _DAY_S)
#: A span without a length of its own is cut into about this many.
_WANTED_BUCKETS: Final = 120
MOST_BUCKETS: Final = 3000
MOST_GROUPS: Final = 20
FIELDS: Final = ("namespace", "model", "outcome")
_NUMBER: Final = re.compile(r"\d{1,6}", re.ASCII)

#: Bucket's beginning (microseconds) → its sums. A bucket without a request is left out.
Points = dict[int, Aggregates | PackedAggregates]


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """``wanted`` without terms of time. ``from_us`` None: since the log began. ``bucket_s`` None: as fits the span.

    ``by`` is one of FIELDS, ``property.<name>``, or None for all requests as one group.
    """

    wanted: Filter
    from_us: int | None
    to_us: int
    bucket_s: int | None = None
    by: str | None = None


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """Whole buckets: from the first moment to below the second."""

    from_us: int
    to_us: int
    bucket_us: int


class Group(msgspec.Struct, kw_only=True):
    """Requests with one value; ``value`` None: those that have none (or all, when nothing parts them)."""

    value: str | None
    points: Points
    total: Aggregates


class Stats(msgspec.Struct, kw_only=True):
    """``other`` adds up the groups that are not told apart; None when all are."""

    span: Span
    groups: list[Group]
    other: Group | None
    total: Aggregates
    source: Literal["rollups", "log"]


def parse_question(wanted: Filter, bucket: str | None, by: str | None, now_us: int) -> Question:
    """Reads a filter that may have ``from`` and ``to``, and the two parameters. Raises BadFilter."""
    from_us = max((int(term.values[0]) for term in wanted.terms if term.name == "from"), default=None)
    to_us = min((int(term.values[0]) for term in wanted.terms if term.name == "to"), default=now_us)
    if from_us is not None and from_us >= to_us:
        raise BadFilter("from", "from is not before to: there is no time between them.")
    if by is not None and by not in FIELDS and not _is_property(by):
        raise BadFilter("by", f"by is {by[:80]!r}: it takes one of {', '.join(FIELDS)}, property.<name>.")
    return Question(
        wanted=Filter(tuple(term for term in wanted.terms if term.name not in ("from", "to"))),
        from_us=from_us,
        to_us=to_us,
        bucket_s=None if bucket is None else _bucket(bucket, from_us, to_us),
        by=by.lower().replace("_", "-") if by is not None and _is_property(by) else by,
    )


def _is_property(by: str) -> bool:
    return by.startswith("property.") and len(by) > len("property.")


def _bucket(text: str, from_us: int | None, to_us: int) -> int:
    if not (_NUMBER.fullmatch(text) and int(text) in BUCKETS):
        raise BadFilter("bucket", f"bucket is {text[:80]!r}: it takes seconds, one of {', '.join(map(str, BUCKETS))}.")
    seconds = int(text)
    if from_us is not None and (to_us - from_us) // (seconds * 1_000_000) > MOST_BUCKETS:
        raise BadFilter(
            "bucket", f"bucket is {text}: that makes more than {MOST_BUCKETS} buckets; ask for longer ones."
        )
    return seconds


def span_of(question: Question, began_us: int | None) -> Span:
    """The whole buckets a question asks for. ``began_us``: when the log's first request started; None: it is empty."""
    start = question.from_us
    if start is None:
        start = question.to_us - 1 if began_us is None else min(began_us, question.to_us - 1)
    bucket_us = (question.bucket_s or _fitting(start, question.to_us)) * 1_000_000
    return Span(
        from_us=start // bucket_us * bucket_us, to_us=-(-question.to_us // bucket_us) * bucket_us, bucket_us=bucket_us
    )


def _fitting(from_us: int, to_us: int) -> int:
    seconds = (to_us - from_us) / 1_000_000
    return next((bucket for bucket in BUCKETS if seconds / bucket <= _WANTED_BUCKETS), _DAY_S)


def grouped(parts: Mapping[str | None, Points]) -> list[Group]:
    """A group of each value's points."""
    return [Group(value=value, points=points, total=total_of(points)) for value, points in parts.items()]


def build(span: Span, groups: Iterable[Group], source: Literal["rollups", "log"], rest: Iterable[Group] = ()) -> Stats:
    """The largest groups first. ``rest`` are those nobody can tell apart any more."""
    told = sorted(
        (group for group in groups if group.points),
        key=lambda group: (-group.total.requests, group.value is None, group.value or ""),
    )
    other = together([*told[MOST_GROUPS:], *(group for group in rest if group.points)])
    del told[MOST_GROUPS:]
    total = Aggregates()
    for group in (*told, *([other] if other else [])):
        total.add(group.total)
    return Stats(span=span, groups=told, other=other, total=total, source=source)


def total_of(points: Points) -> Aggregates:
    """All of them in one."""
    total = Aggregates()
    for sums in points.values():
        total.add(sums.unpacked())
    return total


def together(groups: Sequence[Group]) -> Group | None:
    """All of them as one without a value; None when there are none."""
    if len(groups) == 1:
        return Group(value=None, points=groups[0].points, total=groups[0].total)
    points: dict[int, Aggregates] = {}
    total = Aggregates()
    for group in groups:
        total.add(group.total)
        for at, sums in group.points.items():
            points.setdefault(at, Aggregates()).add(sums.unpacked())
    return Group(value=None, points={at: points[at] for at in sorted(points)}, total=total) if groups else None
