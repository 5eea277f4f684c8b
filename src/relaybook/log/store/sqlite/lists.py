"""List namespaces and the values of fields."""

from collections.abc import Sequence
from math import inf
from typing import Any, Final

import apsw

from relaybook.log.namespaces import NamespaceRow, NamespaceSort, cursor_after, parse_namespace_cursor
from relaybook.log.query.term_values import check_listed
from relaybook.log.store.port import ValueCount
from relaybook.log.store.sqlite.filter_sql import Condition, starts_with
from relaybook.log.store.sqlite.zone_maps import ZoneMap, zones

_SORTS: Final[dict[NamespaceSort, str]] = {
    "last_at": "last_at",
    "requests": "requests",
    "failed": "failed",
    "cost_usd": "cost_usd",
}
_NAMESPACE_COLUMNS: Final = (
    "namespace, requests, failed, input_tokens, output_tokens, "
    "CASE WHEN costed > 0 THEN cost_usd END AS known_cost_usd, first_at, last_at, "
    'pinned, color, "group", position'
)
#: The condition for each value of the parameter ``pinned``. The 1 in ``pinned = 1`` must be a literal, because SQLite
#: uses the partial index only for a literal.
_SHOWN: Final = {
    True: Condition("pinned = 1"),
    False: Condition("pinned = 0 AND requests > 0"),
    None: Condition("(pinned = 1 OR requests > 0)"),
}
#: Maximum number of zones (see zone_maps.py) that are read one by one. For more zones, one query reads all namespaces,
#: which takes 11 ms for 200,000 namespaces.
_MAX_ZONES: Final = 150


def namespaces(
    connection: apsw.Connection | None,
    prefix: str,
    sort: NamespaceSort,
    limit: int,
    after: str | None,
    pinned: bool | None,
) -> tuple[list[NamespaceRow], str | None]:
    """Return a page of namespaces; see ``Reader.namespaces``.

    The function reads zones (see zone_maps.py) one by one until no other zone can contain a row of the page. With
    200,000 namespaces, a page takes 3 ms. Reading all namespaces would take 11 ms.
    """
    place = None if after is None else parse_namespace_cursor(after, sort)
    column = _SORTS[sort]
    terms = [_SHOWN[pinned]]
    if place is not None:
        follows = f"({column} < ? OR ({column} = ? AND namespace > ?))"
        terms.append(Condition(follows, (place.value, place.value, place.namespace)))
    if connection is None:
        return [], None
    rows = None
    if not pinned:  # pinned namespaces have their own index
        rows = _by_zones(connection, column, terms, limit + 1, zones(connection, column, prefix, place))
    if rows is None:
        rows = _rows(connection, column, [*terms, starts_with("namespace", prefix)], limit + 1)
    found = [_namespace_row(row) for row in rows[:limit]]
    return found, str(cursor_after(found[-1], sort)) if len(rows) > limit else None


def _by_zones(
    connection: apsw.Connection, column: str, terms: Sequence[Condition], limit: int, zones: Sequence[ZoneMap]
) -> list[tuple[Any, ...]] | None:
    """Return the first ``limit`` rows that satisfy the terms, in the order of ``_rows``.

    `None` if more than ``_MAX_ZONES`` zones would have to be read, which happens on pages far from the start.
    """
    rows: list[tuple[Any, ...]] = []
    minimum: int | float = -inf
    for number, zone in enumerate(zones):
        if len(rows) == limit:
            minimum = rows[-1][-1]
            if (-zone.maximum, zone.first) > (-minimum, rows[-1][0]):
                break
        if number == _MAX_ZONES:
            return None
        rows += _rows(connection, column, [*terms, zone.condition(), Condition(f"{column} >= ?", (minimum,))], limit)
        rows.sort(key=lambda row: (-row[-1], row[0]))
        del rows[limit:]
    return rows


def _rows(connection: apsw.Connection, column: str, terms: Sequence[Condition], limit: int) -> list[tuple[Any, ...]]:
    """Return at most ``limit`` namespaces that satisfy the terms, sorted by the column, largest first, then by name.

    The first value of a row is the name, and the last value is the column's value.
    """
    sql = (
        f"SELECT {_NAMESPACE_COLUMNS}, {column} FROM namespaces "  # noqa: S608 - columns from a fixed table
        f"WHERE {' AND '.join(term.sql for term in terms)} ORDER BY {column} DESC, namespace LIMIT ?"
    )
    return list(connection.execute(sql, (*(value for term in terms for value in term.bindings), limit)))


def namespace(connection: apsw.Connection, name: str) -> NamespaceRow:
    """Return the counters and the label of an existing namespace."""
    sql = f"SELECT {_NAMESPACE_COLUMNS} FROM namespaces WHERE namespace = ?"  # noqa: S608 - columns of our own
    return _namespace_row(next(connection.execute(sql, (name,))))


def _namespace_row(row: tuple[object, ...]) -> NamespaceRow:
    fields: dict[str, object] = dict(zip(NamespaceRow.__struct_fields__, row, strict=False))
    return NamespaceRow(**{**fields, "pinned": bool(fields["pinned"])})  # type: ignore[arg-type]


def values(connection: apsw.Connection | None, field: str, prefix: str, limit: int) -> list[ValueCount]:
    """Return the values of a field that start with ``prefix``, and how many requests have each value.

    The most frequent values come first. With a million values, the query takes 70 ms.
    """
    check_listed(field)
    if field == "namespace":
        term = starts_with("namespace", prefix)
        sql = "SELECT namespace AS value, requests FROM namespaces WHERE requests > 0 AND "
    else:
        range_ = starts_with("value", prefix)
        term = Condition(f"field = ? AND {range_.sql}", (field, *range_.bindings))
        sql = "SELECT value, requests FROM value_counts WHERE "
    if connection is None:
        return []
    found = connection.execute(f"{sql}{term.sql} ORDER BY requests DESC, value LIMIT ?", (*term.bindings, limit))
    return [ValueCount(value=value, requests=requests) for value, requests in found]
