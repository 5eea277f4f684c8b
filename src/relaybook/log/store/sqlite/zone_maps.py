"""Maintain zone maps of the namespaces.

A zone is a range of names. Its zone map has the maximum of every sort column. The first rows of a list of namespaces
are found by reading only the zones with the largest maxima. Triggers in ``schema.py`` increase the maxima but never
decrease them. This module splits zones that have too many names. The first zone starts at the empty string, so every
name belongs to a zone.
"""

from typing import Final, NamedTuple

import apsw

from relaybook.log.namespaces import NamespaceCursor, SortValue
from relaybook.log.store.sqlite.filter_sql import Condition, after_prefix

#: Maximum number of names in a zone. A page of 50 rows reads about 50 zones, so smaller zones mean fewer names to read.
#: But all zone maps are scanned, so more zones cost time.
_MAX_NAMES: Final = 512
_SPLIT_NAMES: Final = 256

_TOO_LARGE: Final = f"SELECT first, names FROM namespace_zones WHERE names > {_MAX_NAMES}"  # noqa: S608 - a constant
_END: Final = "SELECT min(first) FROM namespace_zones WHERE first > ?"
_SPLIT: Final = """
INSERT OR REPLACE INTO namespace_zones
SELECT CASE part WHEN 0 THEN :first ELSE min(namespace) END, count(*),
  max(requests), max(failed), max(cost_usd), max(last_at)
FROM (SELECT *, (row_number() OVER (ORDER BY namespace) - 1) * :parts / :names AS part FROM namespaces
  WHERE namespace >= :first AND namespace < :end)
GROUP BY part
"""
_REMOVE_FROM_ZONE: Final = """
UPDATE namespace_zones SET names = names - 1
WHERE first = (SELECT max(first) FROM namespace_zones WHERE first <= ?)
"""
_ZONE: Final = "SELECT names, requests, failed, cost_usd, last_at FROM namespace_zones WHERE first = ?"
_JOIN: Final = """
UPDATE namespace_zones SET names = names + ?2, requests = max(requests, ?3), failed = max(failed, ?4),
  cost_usd = max(cost_usd, ?5), last_at = max(last_at, ?6)
WHERE first = (SELECT max(first) FROM namespace_zones WHERE first < ?1)
"""
#: An upper bound above all names, because SQLite sorts all text before any BLOB. The primary key can serve a range with
#: such an upper bound.
_AFTER_ALL_TEXT: Final = b""


def split_zones(connection: apsw.Connection) -> None:
    """Split zones (ranges of namespaces) that have more than ``_MAX_NAMES`` names, within the caller's transaction.

    Only the names in these zones are read.
    """
    for first, names in list(connection.execute(_TOO_LARGE)):
        end = connection.execute(_END, (first,)).get or _AFTER_ALL_TEXT
        connection.execute(_SPLIT, {"first": first, "end": end, "names": names, "parts": names // _SPLIT_NAMES})


def forget_name(connection: apsw.Connection, name: str) -> None:
    """Remove a namespace, within the caller's transaction.

    If the name is the lower bound of a zone (a range of names), the zone is merged into the previous zone.
    """
    connection.execute("DELETE FROM namespaces WHERE namespace = ?", (name,))
    connection.execute(_REMOVE_FROM_ZONE, (name,))
    zone = connection.execute(_ZONE, (name,)).fetchone()
    if zone is not None and name:
        connection.execute("DELETE FROM namespace_zones WHERE first = ?", (name,))
        connection.execute(_JOIN, (name, *zone))


class ZoneMap(NamedTuple):
    """The names from ``first``, inclusive, to ``end``, exclusive. If ``end`` is `None`, the zone has no upper bound.

    None of these names has a value above ``maximum`` in the sort column.
    """

    first: str
    end: str | None
    maximum: SortValue

    def condition(self) -> Condition:
        """Return the SQL condition that tests whether the zone contains a name."""
        if self.end is None:
            return Condition("namespace >= ?", (self.first,))
        return Condition("namespace >= ? AND namespace < ?", (self.first, self.end))


def zones(connection: apsw.Connection, column: str, prefix: str, after: NamespaceCursor | None) -> list[ZoneMap]:
    """Return the zones that can contain rows of the next page.

    The next page starts after the cursor ``after`` and has only names with the prefix. The returned zones are limited
    to these names, and sorted by the maximum of the column, largest first, then by name.
    """
    sql = f"SELECT first, {column} FROM namespace_zones ORDER BY first"  # noqa: S608 - one of four columns
    rows = list(connection.execute(sql))
    ends = [*(first for first, _ in rows[1:]), None]
    last = after_prefix(prefix)
    found = [
        ZoneMap(max(first, prefix), _lower(end, last), maximum if after is None else min(maximum, after.value))
        for (first, maximum), end in zip(rows, ends, strict=True)
        if (end is None or end > prefix) and (last is None or first < last)
    ]
    return sorted(found, key=lambda zone: (-zone.maximum, zone.first))


def _lower(one: str | None, other: str | None) -> str | None:
    """Return the lower of two bounds. `None` is above all names."""
    return other if one is None or (other is not None and other < one) else one
