"""Reads the lists beside the log: namespaces and values of fields."""

from typing import Final

import apsw

from relaybook.filters import BadFilter
from relaybook.stores.base import NamespaceRow, NamespaceSort, ValueCount
from relaybook.stores.namespace_order import parse_place, place_of
from relaybook.stores.sqlite.query import Condition, starts_with

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
#: By what was asked for. ``pinned = 1`` is written out, so that its index serves.
_SHOWN: Final = {
    True: Condition("pinned = 1"),
    False: Condition("pinned = 0 AND requests > 0"),
    None: Condition("(pinned = 1 OR requests > 0)"),
}
_VALUE_FIELDS: Final = ("model", "user", "key", "finish_reason", "property")


def namespaces(
    connection: apsw.Connection | None,
    prefix: str,
    sort: NamespaceSort,
    limit: int,
    after: str | None,
    pinned: bool | None,
) -> tuple[list[NamespaceRow], str | None]:
    """Reads the counters of all namespaces and keeps the first of them: 11 ms for 200,000, so no index is kept."""
    place = None if after is None else parse_place(after, sort)
    column = _SORTS[sort]
    terms = [starts_with("namespace", prefix), _SHOWN[pinned]]
    bindings = tuple(value for term in terms for value in term.bindings)
    where = " AND ".join(term.sql for term in terms)
    if place is not None:
        where += f" AND ({column} < ? OR ({column} = ? AND namespace > ?))"
        bindings += (place.figure, place.figure, place.namespace)
    if connection is None:
        return [], None
    sql = (
        f"SELECT {_NAMESPACE_COLUMNS} FROM namespaces WHERE {where} "  # noqa: S608 - columns from a fixed table
        f"ORDER BY {column} DESC, namespace LIMIT ?"
    )
    rows = [_namespace_row(row) for row in connection.execute(sql, (*bindings, limit + 1))]
    return rows[:limit], str(place_of(rows[limit - 1], sort)) if len(rows) > limit else None


def namespace(connection: apsw.Connection, name: str) -> NamespaceRow:
    """The counters and the label of one namespace that is known."""
    sql = f"SELECT {_NAMESPACE_COLUMNS} FROM namespaces WHERE namespace = ?"  # noqa: S608 - columns of our own
    return _namespace_row(next(connection.execute(sql, (name,))))


def _namespace_row(row: tuple[object, ...]) -> NamespaceRow:
    names = NamespaceRow.__struct_fields__
    fields: dict[str, object] = dict(zip(names, row, strict=True))
    return NamespaceRow(**{**fields, "pinned": bool(fields["pinned"])})  # type: ignore[arg-type]


def values(connection: apsw.Connection | None, field: str, prefix: str, limit: int) -> list[ValueCount]:
    """Reads the counts of one field's values: 70 ms for a million of them."""
    if field == "namespace":
        term = starts_with("namespace", prefix)
        sql = "SELECT namespace AS value, requests FROM namespaces WHERE requests > 0 AND "
    elif field in _VALUE_FIELDS or field.startswith("property."):
        range_ = starts_with("value", prefix)
        term = Condition(f"field = ? AND {range_.sql}", (field, *range_.bindings))
        sql = "SELECT value, requests FROM value_counts WHERE "
    else:
        known = ", ".join(("namespace", *_VALUE_FIELDS))
        raise BadFilter("field", f"{field[:80]!r} has no list of values. Known: {known}, property.<name>.")
    if connection is None:
        return []
    found = connection.execute(f"{sql}{term.sql} ORDER BY requests DESC, value LIMIT ?", (*term.bindings, limit))
    return [ValueCount(value=value, requests=requests) for value, requests in found]
