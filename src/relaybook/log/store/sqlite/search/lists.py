"""List namespaces and the values of fields."""

from collections.abc import Collection, Iterator
from itertools import chain
from typing import Final

import apsw

from relaybook.log.namespaces import NamespaceQuery, NamespaceRow, NamespaceSort, cursor_after, order_after
from relaybook.log.query.found_values import FOUND_FIELDS, FoundValue, lower_ascii
from relaybook.log.query.term_values import check_listed
from relaybook.log.retention import RequestTimes
from relaybook.log.store.port import ValueCount
from relaybook.log.store.sqlite.search.filter_sql import Condition, starts_with
from relaybook.tags import by_precedence

#: At most this number of values is read for a field. Among them, the most frequent ones are suggested.
_MAX_FOUND: Final = 1000
#: Values are found only in the most frequent properties.
_MAX_PROPERTIES: Final = 50
#: The column with the values of a field, and of the field ``namespace``.
_VALUE: Final = {False: "value", True: "namespace"}
#: The cost of a namespace, or NULL if it is unknown.
_COST: Final = "CASE WHEN costed > 0 THEN cost_usd END"
#: The values to sort by that are not columns.
_SORTED: Final[dict[NamespaceSort, str]] = {
    "cost_usd": _COST,
    "failed_share": "CASE WHEN requests > 0 THEN failed * 1.0 / requests END",
}
#: The columns of ``NamespaceRow``.
_COLUMNS: Final = (
    f"namespace, requests, failed, input_tokens, output_tokens, {_COST}, first_at, last_at, "
    'pinned, color, "group", position'
)
#: The condition for each value of the parameter ``pinned``. The 1 in ``pinned = 1`` must be a literal, because SQLite
#: uses the partial index only for a literal.
_SHOWN: Final = {
    True: Condition("pinned = 1"),
    False: Condition("pinned = 0 AND requests > 0"),
    None: Condition("(pinned = 1 OR requests > 0)"),
}


def namespaces(
    connection: apsw.Connection | None, query: NamespaceQuery, limit: int, after: str | None
) -> tuple[list[NamespaceRow], str | None]:
    """Return a page of namespaces; see ``Reader.namespaces``.

    The query reads all namespaces with the prefix.
    """
    terms = [_SHOWN[query.pinned], *_contains("namespace", query.text)]
    if query.prefix:
        terms.append(starts_with("namespace", query.prefix))
    value = _SORTED.get(query.sort, query.sort)
    if after is not None:
        follows = f"({value} IS NULL, -ifnull({value}, 0), namespace) > (?, ?, ?)"
        terms.append(Condition(follows, order_after(after, query.sort)))
    if connection is None:
        return [], None
    sql = (
        f"SELECT {_COLUMNS} FROM namespaces WHERE {' AND '.join(term.sql for term in terms)} "  # noqa: S608 - constants
        f"ORDER BY {value} DESC, namespace LIMIT ?"  # NULL comes last
    )
    rows = list(connection.execute(sql, (*(each for term in terms for each in term.bindings), limit + 1)))
    found = [_namespace_row(row) for row in rows[:limit]]
    return found, str(cursor_after(found[-1], query.sort)) if len(rows) > limit else None


def request_times(connection: apsw.Connection, patterns: Collection[str]) -> RequestTimes:
    """Return the start times of the first and of the last request by pattern; see ``Reader.request_times``."""
    cases: list[Condition] = []
    for pattern in by_precedence(patterns):
        is_prefix = pattern.endswith("*")
        term = starts_with("namespace", pattern[:-1]) if is_prefix else Condition("namespace = ?", (pattern,))
        cases.append(Condition(f"WHEN {term.sql} THEN ?", (*term.bindings, pattern)))
    sql = (
        f"SELECT CASE {' '.join(case.sql for case in cases)} WHEN 0 THEN 0 END AS pattern, "  # noqa: S608 - constants
        "min(first_at), max(last_at) FROM namespaces WHERE requests > 0 GROUP BY pattern"
    )
    rows = connection.execute(sql, [value for case in cases for value in case.bindings])
    return {pattern: (first, last) for pattern, first, last in rows}


def namespace(connection: apsw.Connection, name: str) -> NamespaceRow:
    """Return the counters and the label of an existing namespace."""
    sql = f"SELECT {_COLUMNS} FROM namespaces WHERE namespace = ?"  # noqa: S608 - columns of our own
    return _namespace_row(next(connection.execute(sql, (name,))))


def _namespace_row(row: tuple[object, ...]) -> NamespaceRow:
    fields: dict[str, object] = dict(zip(NamespaceRow.__struct_fields__, row, strict=True))
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


def values_at_start(connection: apsw.Connection, text: str) -> Iterator[FoundValue]:
    """Yield the values that are equal to the text or begin with it, from the indexes of values.

    The text is also looked up in lower case, in upper case and with a capital.
    """
    for field in _found_fields(connection):
        for spelling in dict.fromkeys((text, text.lower(), text.upper(), text.capitalize())):
            range_ = starts_with(_VALUE[field == "namespace"], spelling)
            yield from _found(connection, field, range_)


def values_with(connection: apsw.Connection, text: str) -> Iterator[FoundValue]:
    """Yield the values that contain the text. All values are read."""
    for field in _found_fields(connection):
        for condition in _contains(_VALUE[field == "namespace"], text):
            yield from _found(connection, field, condition)


def _found(connection: apsw.Connection, field: str, condition: Condition) -> Iterator[FoundValue]:
    if field == "namespace":
        sql, bindings = "SELECT namespace, requests FROM namespaces WHERE requests > 0", condition.bindings
    else:
        sql, bindings = "SELECT value, requests FROM value_counts WHERE field = ?", (field, *condition.bindings)
    for value, requests in connection.execute(f"{sql} AND {condition.sql} LIMIT {_MAX_FOUND}", bindings):
        yield FoundValue(field, value, requests)


def _found_fields(connection: apsw.Connection) -> Iterator[str]:
    names = values(connection, "property", "", _MAX_PROPERTIES)
    return chain((f"property.{each.value}" for each in names), FOUND_FIELDS)


def _contains(column: str, text: str) -> list[Condition]:
    return [Condition(f"instr(lower({column}), ?) > 0", (lower_ascii(text),))] if text else []
