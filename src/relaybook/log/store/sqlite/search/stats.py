"""Compute aggregates over time.

If the rollups (rollups.py) cover the query, the aggregates come from the rollups. Otherwise, the aggregates are
computed from the records.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import apsw
import msgspec

from relaybook.log.aggregate.aggregates import MAX_TOKENS, Aggregates, Contribution, PackedAggregates, duration_of
from relaybook.log.aggregate.stats import (
    ALL,
    MINUTE_US,
    Group,
    Points,
    Stats,
    StatsQuery,
    TimeRange,
    build,
    groups_of,
    kept_field,
    merge_groups,
    span_of,
    total_of,
)
from relaybook.log.namespaces import looks_like_id
from relaybook.log.query.filters import Filter, Term
from relaybook.log.store.number_sql import NUMBER_SQL
from relaybook.log.store.sqlite.index.rollups import LEVELS, MAX_PROPERTIES, MAX_PROPERTY_VALUES, MAX_VALUES
from relaybook.log.store.sqlite.search.filter_sql import clamped_int, placeholders
from relaybook.log.store.sqlite.search.pages import last_seq
from relaybook.log.store.sqlite.search.plan import make_plan
from relaybook.log.store.sqlite.search.scan import Deadline, Windows

_CELLS: Final = "SELECT at, series, aggregates FROM rollups WHERE level = ? AND field = ? AND at >= ? AND at < ?"
_FIRST_MINUTE: Final = """
SELECT min(at) FROM rollups WHERE level = 1 AND field = (SELECT id FROM rollup_fields WHERE field = ?)
"""
_ROWS_PER_CHECK: Final = 512
_DAY_US: Final = 1440 * MINUTE_US
_SHARE: Final = (
    ", r.started_at, r.failed, r.input_tokens, r.output_tokens, r.cost_usd, r.cached_tokens, r.duration_ms, "
    "r.first_token_ms, "
    f"{NUMBER_SQL['tokens_per_second']}"
)
_LATEST_LABEL: Final = (
    "(SELECT f.label FROM feedback AS f WHERE f.seq = r.seq AND f.label IS NOT NULL"
    " ORDER BY f.at DESC, f.source DESC LIMIT 1)"
)
_properties: Final = msgspec.json.Decoder(dict[str, str]).decode
_decode: Final = msgspec.msgpack.Decoder(PackedAggregates).decode


def stats(connection: apsw.Connection, question: StatsQuery, deadline: Deadline) -> Stats:
    """Return aggregates over time, from the rollups or from the log. Raises apsw.InterruptError at the deadline."""
    span = span_of(question, _began_at(connection))
    covered = _covered_series(connection, question)
    if covered is None:
        return build(span, groups_of(_from_log(connection, question, span, deadline)), "log")
    return _from_rollups(connection, covered, question, span, deadline)


def _began_at(connection: apsw.Connection) -> int | None:
    """Return the earliest time for which the log has requests or aggregates.

    If retention removed requests but not their aggregates, the result is the minute of the oldest aggregates.
    Otherwise, the result is the earliest start time of a request.
    """
    minute: int | None = connection.execute(_FIRST_MINUTE, (ALL,)).get
    first_at: int | None = connection.execute("SELECT min(first_at) FROM block_ranges").get
    if minute is None or (first_at is not None and first_at // MINUTE_US <= minute):
        return first_at
    return minute * MINUTE_US


# -- rollups ---------------------------------------------------------------------------------------------------------


class _CoveredSeries(NamedTuple):
    """The series to read from the rollups. A series has the aggregates of the requests with one value of a field.

    If the query has a filter, these are the series of the values in the filter. Otherwise, these are all series of the
    field by which the query groups, or the series of all requests.

    ``field`` is `None` if the rollups do not have the field, because no record has the field. ``values`` has the value
    of each series, by the number of the series.
    """

    field: int | None
    values: dict[int, str | None]
    is_whole_field: bool


def _covered_series(connection: apsw.Connection, question: StatsQuery) -> _CoveredSeries | None:
    """Return the series that have all requests of the query, or `None` if the rollups do not have all of them."""
    name = kept_field(question)
    if name is None:
        return None
    term = next(iter(question.filter_.terms), None)
    field, is_open = connection.execute("SELECT id, is_open FROM rollup_fields WHERE field = ?", (name,)).get or (
        None,
        False,
    )
    if field is None and name.startswith("property."):
        properties = "SELECT count(*) FROM rollup_fields WHERE field GLOB 'property.*'"
        is_open = connection.execute(properties).get >= MAX_PROPERTIES
    if is_open:
        return None
    values = dict(connection.execute("SELECT id, value FROM series WHERE field = ?", (field,)))
    if term is None:
        return _CoveredSeries(field, values, is_whole_field=True)
    missing = set(term.values) - set(values.values())
    if missing and (len(values) >= MAX_VALUES.get(name, MAX_PROPERTY_VALUES) or any(map(looks_like_id, missing))):
        return None
    return _CoveredSeries(
        field, {number: value for number, value in values.items() if value in term.values}, is_whole_field=False
    )


def _from_rollups(
    connection: apsw.Connection, covered: _CoveredSeries, question: StatsQuery, span: TimeRange, deadline: Deadline
) -> Stats:
    by_series = _points(connection, covered.field, covered.values, span, deadline)
    groups: list[Group] = []
    rest: list[Group] = []
    days = _days(connection, covered, span, deadline)
    for number, points in by_series.items():
        group = Group(value=covered.values[number], points=points, total=_total(points, number, days))
        (rest if group.value is None else groups).append(group)
    if question.by is None:
        whole = merge_groups(groups + rest)
        return build(span, [whole] if whole else [], "rollups")
    if covered.is_whole_field and question.by not in ("namespace", "outcome"):
        all_points = _points(connection, *_series_of_all(connection), span, deadline).popitem()[1]
        groups += groups_of({None: _remainder(all_points, list(by_series.values()))})
    return build(span, groups, "rollups", rest)


def _days(
    connection: apsw.Connection, covered: _CoveredSeries, span: TimeRange, deadline: Deadline
) -> tuple[TimeRange, dict[int, Aggregates]] | None:
    """Return the full days within a range, and the total of each series over these days.

    Adding up days is cheaper than adding up many shorter buckets. `None` if the range has fewer than two full days, or
    if the buckets are a day or longer.
    """
    first, last = -(-span.from_us // _DAY_US) * _DAY_US, span.to_us // _DAY_US * _DAY_US
    if span.bucket_us >= _DAY_US or last - first < 2 * _DAY_US:
        return None
    days = TimeRange(from_us=first, to_us=last, bucket_us=_DAY_US)
    by_series = _points(connection, covered.field, covered.values, days, deadline)
    return days, {number: total_of(points) for number, points in by_series.items()}


def _total(points: Points, number: int, days: tuple[TimeRange, dict[int, Aggregates]] | None) -> Aggregates:
    """Return the total of a series: the sum of the full days and of the points outside of these days."""
    if days is None:
        return total_of(points)
    within, aggregates = days
    total = total_of({at: one for at, one in points.items() if not within.from_us <= at < within.to_us})
    total.add(aggregates[number])
    return total


def _series_of_all(connection: apsw.Connection) -> tuple[int | None, dict[int, str | None]]:
    row = connection.execute(
        "SELECT field, id FROM series WHERE field = (SELECT id FROM rollup_fields WHERE field = '')"
    )
    field, number = row.get or (None, 0)
    return field, {number: ""}


def _points(
    connection: apsw.Connection, field: int | None, values: dict[int, str | None], span: TimeRange, deadline: Deadline
) -> dict[int, Points]:
    """Return the aggregates of these series per bucket.

    If a bucket has a single row, the distributions in its aggregates stay encoded (``PackedAggregates``).
    """
    found: dict[int, Points] = {number: {} for number in values}
    minutes = span.bucket_us // MINUTE_US
    level = max(level for level in LEVELS if minutes % level == 0)
    sql = _CELLS + (f" AND series IN ({placeholders(values)})" if len(values) <= 8 else "")
    bindings = (level, field, clamped_int(str(span.from_us // MINUTE_US)), clamped_int(str(span.to_us // MINUTE_US)))
    rows = connection.execute(sql, (*bindings, *(values if len(values) <= 8 else ())))
    for at, series, aggregates in _until_deadline(rows, deadline):
        points = found.get(series)
        if points is None:
            continue
        bucket = at * MINUTE_US // span.bucket_us * span.bucket_us
        if (point := points.get(bucket)) is None:
            points[bucket] = _decode(aggregates)
        else:
            points[bucket] = point = point.unpacked()
            point.add(_decode(aggregates).unpacked())
    return found


def _remainder(all_points: Points, parts: list[Points]) -> Points:
    """Return the aggregates of the requests in ``all_points`` that are in none of ``parts``."""
    remainder: Points = {}
    for at, aggregates in all_points.items():
        matching = [points[at] for points in parts if at in points]
        if (
            sum(part.requests for part in matching) < aggregates.requests
            and (others := aggregates.unpacked().without(part.unpacked() for part in matching)) is not None
        ):
            remainder[at] = others
    return remainder


# -- the log ---------------------------------------------------------------------------------------------------------


def _from_log(
    connection: apsw.Connection, question: StatsQuery, span: TimeRange, deadline: Deadline
) -> dict[str | None, Points]:
    times = Term("from", (str(span.from_us),)), Term("to", (str(span.to_us),))
    plan = make_plan(connection, Filter((*question.filter_.terms, *times)), (1, last_seq(connection) + 1))
    deadline.watch_closely(connection, plan)
    sql = plan.rows_sql(f"{_SHARE}, {_column(question.by)}")
    contributions: defaultdict[tuple[str | None, int], list[Contribution]] = defaultdict(list)
    name = (question.by or "").removeprefix("property.")
    is_property = name != (question.by or "")
    for window in Windows(plan.ranges, newest_first=True):
        for _, at, *columns, by in _until_deadline(connection.execute(sql, plan.bindings(window)), deadline):
            value = (_properties(by).get(name) if by else None) if is_property else by
            contributions[value, at // span.bucket_us * span.bucket_us].append(_share(*columns))
    parts: defaultdict[str | None, Points] = defaultdict(dict)
    for (value, at), bucket_shares in sorted(contributions.items(), key=lambda item: item[0][1]):
        parts[value][at] = Aggregates.of(bucket_shares)
    return parts


def _column(by: str | None) -> str:
    if by is None:
        return "NULL AS part"
    if by == "label":
        return f"{_LATEST_LABEL} AS part"
    return f"r.{'properties' if by.startswith('property.') else by} AS part"


def _share(
    failed: int,
    input_tokens: int | None,
    output_tokens: int | None,
    cost_usd: float | None,
    cached_tokens: int | None,
    duration_ms: float | None,
    first_token_ms: float | None,
    tokens_per_second: float | None,
) -> Contribution:
    """Return the contribution of a finished request with these values, as ``aggregates.contribution_of`` does."""
    input_tokens, output_tokens = min(input_tokens or 0, MAX_TOKENS), min(output_tokens or 0, MAX_TOKENS)
    return (
        bool(failed),
        input_tokens,
        output_tokens,
        cost_usd or 0.0,
        cost_usd is not None,
        min(cached_tokens or 0, MAX_TOKENS),
        0 if cached_tokens is None else input_tokens,
        duration_of(duration_ms),
        duration_of(first_token_ms),
        duration_of(tokens_per_second),
    )


def _until_deadline(rows: Iterator[Any], deadline: Deadline) -> Iterator[Any]:
    """Yield the rows. Raises apsw.InterruptError when the deadline passes."""
    for number, row in enumerate(rows, 1):
        if number % _ROWS_PER_CHECK == 0 and deadline.has_passed():
            raise apsw.InterruptError
        yield row
