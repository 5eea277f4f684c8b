"""Zones of the list of namespaces: ranges of names, each with the largest figure of every sort in it (a zone map).

The first namespaces of a list are found by reading the zones with the largest figures, not all namespaces. Triggers of
``schema.py`` keep the figures, which only grow; here zones are split that got too many names. The first one begins with
the empty text, so each name has its zone.
"""

from typing import Final, NamedTuple

import apsw

from relaybook.log.namespaces import Figure, Place
from relaybook.log.store.sqlite.filter_sql import Condition, after_prefix

#: Names in a zone. A page of 50 looks into about as many zones, so small ones save reading; but all are looked over.
_MOST: Final = 512
_FEW: Final = 256

_TOO_LARGE: Final = f"SELECT first, names FROM namespace_zones WHERE names > {_MOST}"  # noqa: S608 - a constant
_END: Final = "SELECT min(first) FROM namespace_zones WHERE first > ?"
_SPLIT: Final = """
INSERT OR REPLACE INTO namespace_zones
SELECT CASE part WHEN 0 THEN :first ELSE min(namespace) END, count(*),
  max(requests), max(failed), max(cost_usd), max(last_at)
FROM (SELECT *, (row_number() OVER (ORDER BY namespace) - 1) * :parts / :names AS part FROM namespaces
  WHERE namespace >= :first AND namespace < :end)
GROUP BY part
"""
#: SQLite orders all text before any bytes: so a range without an end is one, too, and the table's key serves it.
_AFTER_ALL_TEXT: Final = b""


def split_zones(connection: apsw.Connection) -> None:
    """Within the caller's transaction. Costs as much as reading the names of the zones that are too large."""
    for first, names in list(connection.execute(_TOO_LARGE)):
        end = connection.execute(_END, (first,)).get or _AFTER_ALL_TEXT
        connection.execute(_SPLIT, {"first": first, "end": end, "names": names, "parts": names // _FEW})


class ZoneMap(NamedTuple):
    """Names from ``first`` to before ``end`` (None: to the last); ``most``: no figure of theirs is larger."""

    first: str
    end: str | None
    most: Figure

    def condition(self) -> Condition:
        """A name is in it."""
        if self.end is None:
            return Condition("namespace >= ?", (self.first,))
        return Condition("namespace >= ? AND namespace < ?", (self.first, self.end))


def zones(connection: apsw.Connection, column: str, prefix: str, after: Place | None) -> list[ZoneMap]:
    """What can have names that begin with the prefix and come after the place, cut to the prefix.

    In the order of the first row they can have: the largest figure of the column first, then by name.
    """
    sql = f"SELECT first, {column} FROM namespace_zones ORDER BY first"  # noqa: S608 - one of four columns
    rows = list(connection.execute(sql))
    ends = [*(first for first, _ in rows[1:]), None]
    last = after_prefix(prefix)
    found = [
        ZoneMap(max(first, prefix), _lower(end, last), most if after is None else min(most, after.figure))
        for (first, most), end in zip(rows, ends, strict=True)
        if (end is None or end > prefix) and (last is None or first < last)
    ]
    return sorted(found, key=lambda zone: (-zone.most, zone.first))


def _lower(one: str | None, other: str | None) -> str | None:
    """None is above all names."""
    return other if one is None or (other is not None and other < one) else one
