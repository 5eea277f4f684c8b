"""Count requests, and list namespaces, values of fields, and the requests with the highest values of a field."""

from collections.abc import Iterator
from typing import Final

from relaybook.log.namespaces import Label, NamespaceQuery, NamespaceRow, cursor_after, order_after
from relaybook.log.query.filters import LABEL, Filter, Sort
from relaybook.log.query.found_values import FOUND_FIELDS, FoundValue, FoundValues, best
from relaybook.log.query.term_values import check_listed
from relaybook.log.store.clickhouse.connection import Database, Parameters
from relaybook.log.store.clickhouse.feedback import load_feedback
from relaybook.log.store.clickhouse.filter_sql import condition
from relaybook.log.store.clickhouse.matching import matching_of
from relaybook.log.store.clickhouse.pages import windows
from relaybook.log.store.clickhouse.rows import RECORD, records_of
from relaybook.log.store.clickhouse.schema import NAMESPACE_SUMS
from relaybook.log.store.errors import DeadlinePassed
from relaybook.log.store.number_sql import NUMBER_SQL
from relaybook.log.store.port import Count, FeedbackTotals, Page, ValueCount

#: At most this number of values is read for a field, the most frequent ones.
_MAX_FOUND: Final = 1000
_SUMS: Final = ("requests", "failures", "input_sum", "output_sum", "cost_sum", "costed", "first_at", "last_at")
#: Selects all namespaces with their sums, including pinned namespaces without requests.
_NAMESPACES: Final = f"""
SELECT s.namespace AS namespace, sum(s.requests) AS requests, sum(s.failures) AS failed, sum(s.input_sum),
  sum(s.output_sum), if(sum(s.costed) > 0, toFloat64(sum(s.cost_sum)), NULL) AS cost_usd,
  ifNull(min(s.first_at), 0) AS first_at, ifNull(max(s.last_at), 0) AS last_at
FROM (
  SELECT namespace, {", ".join(f"{NAMESPACE_SUMS[name]} AS {name}" for name in _SUMS)} FROM requests
  WHERE NOT removed GROUP BY namespace
  UNION ALL SELECT arrayJoin({{pinned:Array(String)}}), 0, 0, 0, 0, 0, 0, NULL, NULL
) AS s
"""
#: The share of failed requests of a namespace, from 0 to 1.
_FAILED_SHARE: Final = "if(requests > 0, failed / requests, NULL)"


def count(database: Database, filter_: Filter, last: int, deadline_ns: int) -> Count:
    """Count the requests that match the filter, in one range of ``seq`` values after the other, newest range first.

    If the deadline ends the count, the result has only the ranges that were counted by then. If all terms of the filter
    are conditions on the namespace, a single query counts all matches. ClickHouse can answer this query from the stored
    sums of the namespaces.
    """
    if all(term.name == "namespace" for term in filter_.terms):
        return _count_of_namespaces(database, filter_, deadline_ns)
    requests, failed, last_at, is_complete = 0, 0, None, True
    try:
        matching = matching_of(database, filter_, last, deadline_ns)
        for low, high in windows(database, 1, last, matching.deadline_ns, newest_first=True):
            sql = (
                f"SELECT count(), countIf(r.failed), max(r.started_at) FROM requests AS r "
                f"WHERE r.seq BETWEEN {low} AND {high} AND {matching.sql}"
            )
            ((some, some_failed, latest),) = database.query(sql, matching.values, deadline_ns=matching.deadline_ns)
            if some:
                requests, failed, last_at = requests + some, failed + some_failed, max(last_at or latest, latest)
        is_complete = matching.is_complete
    except DeadlinePassed:
        is_complete = False
    return Count(requests=requests, failed=failed, last_at=last_at, complete=is_complete)


def _count_of_namespaces(database: Database, filter_: Filter, deadline_ns: int) -> Count:
    parameters = Parameters()
    sql = f"SELECT count(), countIf(failed), max(started_at) FROM requests AS r WHERE {condition(filter_, parameters)}"
    try:
        ((requests, failed, last_at),) = database.query(sql, parameters.values, deadline_ns=deadline_ns)
    except DeadlinePassed:
        return Count(complete=False)
    return Count(requests=requests, failed=failed, last_at=last_at if requests else None)


def feedback_totals(database: Database, filter_: Filter, last: int, deadline_ns: int) -> FeedbackTotals:
    """Return totals of the feedback on the requests that match the filter and whose ``seq`` is at most ``last``."""
    try:
        matching = matching_of(database, filter_, last, deadline_ns)
        sql = (
            "SELECT uniqExact(id), count(score), sum(score) FROM feedback FINAL "
            f"WHERE id IN (SELECT r.id FROM requests AS r WHERE r.id IN (SELECT id FROM feedback) AND r.seq <= {last} "
            f"AND {matching.sql})"
        )
        ((requests, scores, score_sum),) = database.query(sql, matching.values, deadline_ns=matching.deadline_ns)
    except DeadlinePassed:
        return FeedbackTotals(complete=False)
    return FeedbackTotals(requests=requests, scores=scores, score_sum=score_sum or 0.0, complete=matching.is_complete)


def top(database: Database, filter_: Filter, sort: Sort, limit: int, last: int, deadline_ns: int) -> Page:
    """Return the matching requests with the highest or lowest values of a number; see ``Reader.top``."""
    is_complete, rows = False, []
    number = f"({NUMBER_SQL[sort.field]})"
    try:
        matching = matching_of(database, filter_, last, deadline_ns)
        sql = (
            f"SELECT {RECORD} FROM requests AS r WHERE {number} IS NOT NULL AND r.seq <= {last} AND {matching.sql} "
            f"ORDER BY {number} {'ASC' if sort.is_ascending else 'DESC'}, r.seq DESC LIMIT {limit}"
        )
        rows = database.query(sql, matching.values, deadline_ns=matching.deadline_ns, as_bytes=("record",))
        is_complete = matching.is_complete
    except DeadlinePassed:
        pass
    records = list(records_of(rows))
    load_feedback(database, records)
    return Page(records=records, next_cursor=None, newer_cursor=None, complete=is_complete)


def namespace_rows(
    database: Database,
    labels: dict[str, Label],
    query: NamespaceQuery,
    limit: int,
    after: str | None,
    deadline_ns: int | None,
) -> tuple[list[NamespaceRow], str | None]:
    """Return a page of namespaces; see ``Reader.namespaces``."""
    parameters = Parameters()
    value = _FAILED_SHARE if query.sort == "failed_share" else query.sort
    order = f"{value} IS NULL, -ifNull({value}, 0), namespace"
    names = sorted(name for name, label in labels.items() if label.pinned)
    where, having = [_contains("s.namespace", query.text, parameters)], ["1"]
    where.append(f"startsWith(s.namespace, {parameters.add(query.prefix)})")
    if query.pinned is not None:
        where.append(f"{'' if query.pinned else 'NOT '}has({{pinned:Array(String)}}, s.namespace)")
    if after is not None:
        is_unknown, position, name = order_after(after, query.sort)
        number = parameters.add(position, "Float64" if isinstance(position, float) else "Int64")
        having.append(f"({order}) > ({int(is_unknown)}, {number}, {parameters.add(name)})")
    sql = (
        f"SELECT * FROM ({_NAMESPACES} WHERE {' AND '.join(where)} GROUP BY s.namespace) WHERE {' AND '.join(having)} "
        f"ORDER BY {order} LIMIT {limit + 1}"
    )
    found = database.query(sql, {**parameters.values, "pinned": names}, deadline_ns=deadline_ns)
    rows = [_row(row, labels.get(row[0]) or Label()) for row in found[:limit]]
    return rows, str(cursor_after(rows[-1], query.sort)) if len(found) > limit else None


def namespace_row(database: Database, name: str, label: Label) -> NamespaceRow:
    """Return one namespace, even if it has no requests."""
    sql = f"{_NAMESPACES} WHERE s.namespace = {{name:String}} GROUP BY s.namespace"
    (found,) = database.query(sql, {"pinned": [name], "name": name})
    return _row(found, label)


def _row(row: tuple[str, int, int, int, int, float | None, int, int], label: Label) -> NamespaceRow:
    namespace, requests, failed, input_tokens, output_tokens, cost_usd, first_at, last_at = row
    return NamespaceRow(
        namespace=namespace,
        requests=requests,
        failed=failed,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        cost_usd=cost_usd,
        first_at=first_at,
        last_at=last_at,
        pinned=label.pinned,
        color=label.color,
        group=label.group,
        position=label.position,
    )


def _contains(value: str, text: str, parameters: Parameters) -> str:
    return f"positionCaseInsensitive({value}, {parameters.add(text)}) > 0" if text else "1"


def find_values(database: Database, text: str, limit: int, deadline_ns: int) -> FoundValues:
    """Return the values that contain the text; see ``Reader.find_values``.

    Users, sessions and values of properties that are equal to the text are found with their indexes. Then all values
    are read, a field at a time, until the deadline.
    """
    found: list[FoundValue] = []
    try:
        for is_exact in (True, False):
            for sql, parameters in _value_queries(text, is_exact=is_exact):
                rows = database.query(f"{sql} LIMIT {_MAX_FOUND}", parameters.values, deadline_ns=deadline_ns)
                found += [FoundValue(*row) for row in rows]
    except DeadlinePassed:
        return FoundValues(best(text, found, limit), is_complete=False)
    return FoundValues(best(text, found, limit))


def _value_queries(text: str, *, is_exact: bool) -> Iterator[tuple[str, Parameters]]:
    for field in ("user", "session") if is_exact else FOUND_FIELDS:
        parameters = Parameters()
        value, number, where = f"`{field}`", "count()", "requests WHERE NOT removed"
        if field == LABEL:
            number, where = "uniqExact(id)", "feedback FINAL WHERE 1"
        condition = f"{value} = {parameters.add(text)}" if is_exact else _contains(value, text, parameters)
        yield (
            f"SELECT '{field}', assumeNotNull({value}) AS value, {number} AS number FROM {where} "
            f"AND {value} IS NOT NULL AND {condition} GROUP BY value ORDER BY number DESC",
            parameters,
        )
    parameters = Parameters()
    value = parameters.add(text)
    condition = f"pair.2 = {value}" if is_exact else _contains("pair.2", text, parameters)
    # The index of the values of properties serves only this condition.
    has_value = f"has(mapValues(properties), {value})" if is_exact else "notEmpty(properties)"
    yield (
        "SELECT concat('property.', pair.1) AS field, pair.2 AS value, count() AS number FROM requests "
        "ARRAY JOIN arrayZip(mapKeys(properties), mapValues(properties)) AS pair "
        f"WHERE NOT removed AND {has_value} AND {condition} GROUP BY field, value ORDER BY number DESC",
        parameters,
    )


def values(database: Database, field: str, prefix: str, limit: int, deadline_ns: int) -> list[ValueCount]:
    """Return the values of a field; see ``Reader.values``."""
    check_listed(field)
    parameters = Parameters()
    counted, table, where = "count()", "requests", "NOT removed AND "
    if field == LABEL:
        value, counted, table, where = "label", "uniqExact(id)", "feedback FINAL", ""
    elif field == "property":
        value = "arrayJoin(mapKeys(properties))"
    elif field.startswith("property."):
        name = parameters.add(field.removeprefix("property."))
        value = f"if(mapContains(properties, {name}), properties[{name}], NULL)"
    else:
        value = f"`{field}`"
    sql = (
        f"SELECT {value} AS value, {counted} AS number FROM {table} "
        f"WHERE {where}startsWith(value, {parameters.add(prefix)}) "
        f"GROUP BY value ORDER BY number DESC, value LIMIT {limit}"
    )
    rows = database.query(sql, parameters.values, deadline_ns=deadline_ns)
    return [ValueCount(value=value, requests=number) for value, number in rows]
