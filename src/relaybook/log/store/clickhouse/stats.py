"""Compute aggregates over time from the table ``requests``."""

from typing import Final

from relaybook.log.aggregate.aggregates import Aggregates
from relaybook.log.aggregate.stats import MAX_GROUPS, Points, Stats, StatsQuery, build, groups_of, kept_field, span_of
from relaybook.log.store.clickhouse.connection import Database, Parameters
from relaybook.log.store.clickhouse.matching import matching_of
from relaybook.log.store.clickhouse.retention import kept_from
from relaybook.log.store.clickhouse.schema import AGGREGATES, HOUR_US, STARTED_HOUR
from relaybook.log.store.clickhouse.state import State
from relaybook.log.store.errors import DeadlinePassed

_COST: Final = Aggregates.__struct_fields__.index("cost_usd")
_BEGAN: Final = "SELECT count(), min(started_at) FROM requests"
#: Joins the latest label of each request, by id.
_LABELS: Final = """
LEFT JOIN (
  SELECT id, argMax(label, (at, source)) AS latest_label FROM feedback FINAL WHERE label IS NOT NULL GROUP BY id
) AS f ON f.id = r.id
"""


def stats(database: Database, state: State, question: StatsQuery, last: int, deadline_ns: int) -> Stats:
    """Return aggregates of requests over time, in groups. Raises DeadlinePassed.

    Requests are grouped by the field ``question.by``. The values with the most requests have one group each, and all
    other values form one group.
    """
    began_us = None
    if question.from_us is None:
        ((requests, began_us),) = database.query(_BEGAN, deadline_ns=deadline_ns)
        began_us = began_us if requests else None
    span = span_of(question, began_us)
    is_kept = kept_field(question) is not None
    matching = matching_of(database, question.filter_, last, deadline_ns, with_removed=is_kept)
    if not matching.is_complete:
        raise DeadlinePassed
    parameters = Parameters(matching.values)
    # If buckets are whole hours, the query uses only the hour in which a request started. ClickHouse can then read the
    # sums that it stores for each hour, unless the filter needs a field for which no sums are stored.
    unit_us, started = (1, "started_at") if span.bucket_us % HOUR_US else (HOUR_US, STARTED_HOUR)
    from_us = max(span.from_us, kept_from(state, deadline_ns)) if is_kept else span.from_us
    source = (
        f"FROM requests AS r {_LABELS if question.by == 'label' else ''} WHERE {started} >= {from_us // unit_us} "
        f"AND {started} < {span.to_us // unit_us} AND {matching.sql}"
    )
    values: list[str | None] = [None]
    slot = "1"
    if question.by is not None:
        value = _value(question.by, parameters)
        largest = (
            f"SELECT {value} AS value {source} GROUP BY value "
            f"ORDER BY count() DESC, value IS NULL, value LIMIT {MAX_GROUPS}"
        )
        values = [row[0] for row in database.query(largest, parameters.values, deadline_ns=deadline_ns)]
        slot = _slot(value, values, parameters)
    sql = (
        f"SELECT {slot} AS slot, intDiv({started}, {span.bucket_us // unit_us}) * {span.bucket_us} AS at, "
        f"{', '.join(AGGREGATES)} {source} GROUP BY slot, at ORDER BY at"
    )
    slots: dict[int, Points] = {}
    for number, at, *aggregates in database.query(sql, parameters.values, deadline_ns=deadline_ns):
        aggregates[_COST] = float(aggregates[_COST])
        slots.setdefault(number, {})[at] = Aggregates(*aggregates)
    other = groups_of({None: slots.pop(0)}) if 0 in slots else []
    return build(span, groups_of({values[number - 1]: points for number, points in slots.items()}), "log", other)


def _slot(value: str, values: list[str | None], parameters: Parameters) -> str:
    """Return the SQL expression for the position of a value in a list.

    Positions start at 1. Values that are not in the list have the position 0. `None` in the list stands for requests
    without a value. Such requests have the position of `None`, so they are not merged with requests that have an
    unlisted value.
    """
    names = [name for name in values if name is not None]
    numbers = [number for number, name in enumerate(values, 1) if name is not None]
    known = "0"
    if names:
        chosen, places = parameters.add(names, "Array(String)"), parameters.add(numbers, "Array(UInt8)")
        known = f"transform(toString(ifNull({value}, '')), {chosen}, {places}, 0)"
    return f"if(isNull({value}), {values.index(None) + 1 if None in values else 0}, {known})"


def _value(by: str, parameters: Parameters) -> str:
    """Return the SQL expression for the value by which requests are grouped."""
    if by == "label":
        return "f.latest_label"
    if by.startswith("property."):
        name = parameters.add(by.removeprefix("property."))
        return f"if(mapContains(r.properties, {name}), r.properties[{name}], NULL)"
    return f"r.`{by}`"
