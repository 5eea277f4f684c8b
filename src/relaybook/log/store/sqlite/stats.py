"""Answers questions about sums over time: from the rollups where they know, else from the records themselves."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import apsw
import msgspec

from relaybook.log.aggregate.aggregates import MOST_TOKENS, Aggregates, PackedAggregates, Share, bin_of
from relaybook.log.aggregate.stats import (
    MINUTE_US,
    Group,
    Points,
    Question,
    Span,
    Stats,
    build,
    grouped,
    span_of,
    together,
    total_of,
)
from relaybook.log.namespaces import looks_like_id
from relaybook.log.query.filters import Filter, Term
from relaybook.log.store.sqlite.filter_sql import bounded, places
from relaybook.log.store.sqlite.pages import last_seq
from relaybook.log.store.sqlite.plan import make_plan
from relaybook.log.store.sqlite.rollups import ALL, LEVELS, MOST_PROPERTIES, MOST_PROPERTY_VALUES, MOST_VALUES
from relaybook.log.store.sqlite.search import Deadline, Windows

_CELLS: Final = "SELECT at, series, sums FROM rollups WHERE level = ? AND field = ? AND at >= ? AND at < ?"
_ROWS_BETWEEN_LOOKS: Final = 512
_DAY_US: Final = 1440 * MINUTE_US
_SHARE: Final = ", r.started_at, r.failed, r.input_tokens, r.output_tokens, r.cost_usd, r.duration_ms, r.first_token_ms"
_properties: Final = msgspec.json.Decoder(dict[str, str]).decode
_decode: Final = msgspec.msgpack.Decoder(PackedAggregates).decode


def stats(connection: apsw.Connection, question: Question, deadline: Deadline) -> Stats:
    """Raises apsw.InterruptError at the deadline."""
    span = span_of(question, connection.execute("SELECT min(first_at) FROM spans").get)
    known = _known(connection, question)
    if known is None:
        return build(span, grouped(_from_log(connection, question, span, deadline)), "log")
    return _from_rollups(connection, known, question, span, deadline)


# -- rollups ---------------------------------------------------------------------------------------------------------


class _Known(NamedTuple):
    """What the rollups are asked: series of a field by number, all of them or those of a term; None: no such field."""

    field: int | None
    values: dict[int, str | None]
    is_whole: bool


def _known(connection: apsw.Connection, question: Question) -> _Known | None:
    """None: the rollups cannot tell."""
    terms = question.wanted.terms
    term = terms[0] if len(terms) == 1 else None
    if len(terms) > 1 or (term is not None and (term.negated or term.prefixes or question.by not in (None, term.name))):
        return None
    name = term.name if term is not None else question.by or ALL
    if name not in (ALL, *MOST_VALUES) and not name.startswith("property."):
        return None
    field, is_open = connection.execute("SELECT id, is_open FROM rollup_fields WHERE field = ?", (name,)).get or (
        None,
        False,
    )
    if field is None and name.startswith("property."):
        properties = "SELECT count(*) FROM rollup_fields WHERE field GLOB 'property.*'"
        is_open = connection.execute(properties).get >= MOST_PROPERTIES
    if is_open:
        return None
    values = dict(connection.execute("SELECT id, value FROM series WHERE field = ?", (field,)))
    if term is None:
        return _Known(field, values, is_whole=True)
    missing = set(term.values) - set(values.values())
    if missing and (len(values) >= MOST_VALUES.get(name, MOST_PROPERTY_VALUES) or any(map(looks_like_id, missing))):
        return None
    return _Known(field, {number: value for number, value in values.items() if value in term.values}, is_whole=False)


def _from_rollups(
    connection: apsw.Connection, known: _Known, question: Question, span: Span, deadline: Deadline
) -> Stats:
    by_series = _points(connection, known.field, known.values, span, deadline)
    groups: list[Group] = []
    rest: list[Group] = []
    days = _days(connection, known, span, deadline)
    for number, points in by_series.items():
        group = Group(value=known.values[number], points=points, total=_total(points, number, days))
        (rest if group.value is None else groups).append(group)
    if question.by is None:
        whole = together(groups + rest)
        return build(span, [whole] if whole else [], "rollups")
    if known.is_whole and question.by not in ("namespace", "outcome"):
        everything = _points(connection, *_all(connection), span, deadline).popitem()[1]
        groups += grouped({None: _left(everything, list(by_series.values()))})
    return build(span, groups, "rollups", rest)


def _days(
    connection: apsw.Connection, known: _Known, span: Span, deadline: Deadline
) -> tuple[Span, dict[int, Aggregates]] | None:
    """The whole days of a span and their sums by series: cheaper to add up than many buckets. None: not worth it."""
    first, last = -(-span.from_us // _DAY_US) * _DAY_US, span.to_us // _DAY_US * _DAY_US
    if span.bucket_us >= _DAY_US or last - first < 2 * _DAY_US:
        return None
    days = Span(from_us=first, to_us=last, bucket_us=_DAY_US)
    by_series = _points(connection, known.field, known.values, days, deadline)
    return days, {number: total_of(points) for number, points in by_series.items()}


def _total(points: Points, number: int, days: tuple[Span, dict[int, Aggregates]] | None) -> Aggregates:
    """Of a series: the whole days' sums and the points outside them."""
    if days is None:
        return total_of(points)
    within, sums = days
    total = total_of({at: one for at, one in points.items() if not within.from_us <= at < within.to_us})
    total.add(sums[number])
    return total


def _all(connection: apsw.Connection) -> tuple[int | None, dict[int, str | None]]:
    row = connection.execute(
        "SELECT field, id FROM series WHERE field = (SELECT id FROM rollup_fields WHERE field = '')"
    )
    field, number = row.get or (None, 0)
    return field, {number: ""}


def _points(
    connection: apsw.Connection, field: int | None, values: dict[int, str | None], span: Span, deadline: Deadline
) -> dict[int, Points]:
    """Sums of these series in whole buckets; packed where a bucket is a row."""
    found: dict[int, Points] = {number: {} for number in values}
    minutes = span.bucket_us // MINUTE_US
    level = max(level for level in LEVELS if minutes % level == 0)
    sql = _CELLS + (f" AND series IN ({places(values)})" if len(values) <= 8 else "")
    bindings = (level, field, bounded(str(span.from_us // MINUTE_US)), bounded(str(span.to_us // MINUTE_US)))
    rows = connection.execute(sql, (*bindings, *(values if len(values) <= 8 else ())))
    for at, series, sums in _until(rows, deadline):
        points = found.get(series)
        if points is None:
            continue
        bucket = at * MINUTE_US // span.bucket_us * span.bucket_us
        if (point := points.get(bucket)) is None:
            points[bucket] = _decode(sums)
        else:
            points[bucket] = point = point.unpacked()
            point.add(_decode(sums).unpacked())
    return found


def _left(everything: Points, parts: list[Points]) -> Points:
    """What the parts leave of it: the requests that have none of the values."""
    left: Points = {}
    for at, sums in everything.items():
        told = [points[at] for points in parts if at in points]
        if (
            sum(part.requests for part in told) < sums.requests
            and (others := sums.unpacked().without(part.unpacked() for part in told)) is not None
        ):
            left[at] = others
    return left


# -- the log ---------------------------------------------------------------------------------------------------------


def _from_log(
    connection: apsw.Connection, question: Question, span: Span, deadline: Deadline
) -> dict[str | None, Points]:
    times = Term("from", (str(span.from_us),)), Term("to", (str(span.to_us),))
    plan = make_plan(connection, Filter((*question.wanted.terms, *times)), (1, last_seq(connection) + 1))
    deadline.watch_closely(connection, plan)
    sql = plan.rows_sql(f"{_SHARE}, {_column(question.by)}")
    shares: defaultdict[tuple[str | None, int], list[Share]] = defaultdict(list)
    name = (question.by or "").removeprefix("property.")
    is_property = name != (question.by or "")
    for window in Windows(plan.spans, newest_first=True):
        for _, at, *figures, by in _until(connection.execute(sql, plan.bindings(window)), deadline):
            value = (_properties(by).get(name) if by else None) if is_property else by
            shares[value, at // span.bucket_us * span.bucket_us].append(_share(*figures))
    parts: defaultdict[str | None, Points] = defaultdict(dict)
    for (value, at), some in sorted(shares.items(), key=lambda item: item[0][1]):
        parts[value][at] = Aggregates.of(some)
    return parts


def _column(by: str | None) -> str:
    if by is None:
        return "NULL AS part"
    return f"r.{'properties' if by.startswith('property.') else by} AS part"


def _share(
    failed: int, asked: int | None, answered: int | None, cost: float | None, ms: float | None, first_ms: float | None
) -> Share:
    """What ``sums.share`` says of the record."""
    asked, answered = min(asked or 0, MOST_TOKENS), min(answered or 0, MOST_TOKENS)
    return bool(failed), asked, answered, cost or 0.0, cost is not None, bin_of(ms), bin_of(first_ms)


def _until(rows: Iterator[Any], deadline: Deadline) -> Iterator[Any]:
    """The rows, as long as there is time."""
    for number, row in enumerate(rows, 1):
        if number % _ROWS_BETWEEN_LOOKS == 0 and deadline.has_passed():
            raise apsw.InterruptError
        yield row
