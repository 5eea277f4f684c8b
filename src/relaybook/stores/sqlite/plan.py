"""Chooses how to find the records of a filter: from which index, and in which spans of ``seq``.

Every way yields ``seq`` in order, so a page stops as soon as it is full. Of the conditions an index serves, the one
that the fewest records meet leads (the counters know how many); the others are checked on what it yields. Several
values of one name are several ordered walks that SQLite merges. Without such a condition the log itself is walked.

A span of time becomes spans of ``seq``: ``spans`` has the earliest and latest start of each block of 1,024 records, and
only blocks that overlap are searched. An index over ``started_at`` would cost 0.6 µs per record and could not tell
where to stop: a request that ran long is recorded late, so order by start and order by ``seq`` differ.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import apsw

from relaybook.filters import Filter, Term
from relaybook.stores.sqlite.query import Bindings, Condition, bounded, conditions, places, starts_with
from relaybook.stores.sqlite.schema import BLOCK

#: A prefix that covers more namespaces than this is checked record by record.
_MOST_NAMESPACES: Final = 64
#: Half-open: from the first ``seq`` to below the second.
Span = tuple[int, int]


class Walk(NamedTuple):
    """One ordered source of ``seq``: FROM, the column that is ``seq`` in it, and the condition that selects from it."""

    source: str
    seq: str
    condition: Condition


class Plan(NamedTuple):
    """Walks whose union holds every match, the conditions left to check, and the spans to search, oldest first."""

    walks: tuple[Walk, ...]
    rest: Condition
    spans: list[Span]

    def sql(self, newest_first: bool) -> str:
        """Bindings: those of ``bindings``, then the number of rows wanted."""
        parts = (
            f"SELECT {walk.seq} AS seq FROM {walk.source} "  # noqa: S608 - parts of our own making, values are bound
            f"WHERE {walk.condition.sql} AND {walk.seq} >= ? AND {walk.seq} < ? AND {self.rest.sql}"
            for walk in self.walks
        )
        return " UNION ".join(parts) + f" ORDER BY 1 {'DESC' if newest_first else 'ASC'} LIMIT ?"

    def bindings(self, span: Span) -> Bindings:
        """For a search within the span."""
        return tuple(value for walk in self.walks for value in (*walk.condition.bindings, *span, *self.rest.bindings))


_LOG: Final = Walk("requests AS r NOT INDEXED", "r.seq", Condition("1"))


def make_plan(connection: apsw.Connection, wanted: Filter, within: Span) -> Plan:
    """``within`` is the whole span of ``seq`` in question."""
    found = conditions(wanted)
    leader: int | None = None
    walks: tuple[Walk, ...] = (_LOG,)
    fewest = -1
    for index, term in enumerate(wanted.terms):
        ways = _ways(connection, term)
        if ways is not None and (leader is None or ways.records < fewest):
            leader, walks, fewest = index, ways.walks, ways.records
    rest = [condition for index, condition in enumerate(found) if index != leader]
    sql = " AND ".join(condition.sql for condition in rest) or "1"
    bindings = tuple(value for condition in rest for value in condition.bindings)
    return Plan(walks, Condition(sql, bindings), list(_spans(connection, wanted, within)))


class _Ways(NamedTuple):
    """Walks that together yield what a term selects, and about how many records that is."""

    walks: tuple[Walk, ...]
    records: int


def _ways(connection: apsw.Connection, term: Term) -> _Ways | None:
    """How an index serves the term; None when none does."""
    if term.negated or not term.values:
        return None
    name, values = term.name, term.values
    match name:
        case "id":
            return _Ways(tuple(_by_column("requests_id", "id", value) for value in values), len(values))
        case "namespace":
            return _namespaces(connection, values)
        case "namespace_prefix":
            return _below_prefixes(connection, values)
        case "model" | "user" | "key":
            walks = tuple(_by_column(f"requests_{name}", name, value) for value in values)
            return _Ways(walks, _count(connection, name, values))
        case "warning" | "advice":
            walks = tuple(_by_table("notes", ("kind", "code"), (name, value)) for value in values)
            return _Ways(walks, _count(connection, name, values))
        case "failed" | "status" | "outcome":
            return _mishaps(connection, name, values)
    if name.startswith("property."):
        pairs = ((name.removeprefix("property."), value) for value in values)
        walks = tuple(_by_table("properties", ("name", "value"), pair) for pair in pairs)
        return _Ways(walks, _count(connection, name, values))
    return None


def _by_column(index: str, column: str, value: str | int, implied: str = "") -> Walk:
    condition = Condition(f'r."{column}" = ?{implied}', (value,))
    return Walk(f"requests AS r INDEXED BY {index}", "r.seq", condition)


def _by_table(table: str, columns: tuple[str, str], values: tuple[str, str]) -> Walk:
    condition = Condition(f"d.{columns[0]} = ? AND d.{columns[1]} = ?", values)
    return Walk(f"{table} AS d CROSS JOIN requests AS r ON r.seq = d.seq", "d.seq", condition)


def _mishaps(connection: apsw.Connection, name: str, values: Sequence[str]) -> _Ways | None:
    """Failed, bad statuses, outcomes other than complete: few, so only these are in an index."""
    if name == "outcome" and "complete" not in values:
        implied = " AND r.outcome <> 'complete'"
        walks = tuple(_by_column("requests_outcome", "outcome", value, implied) for value in values)
        return _Ways(walks, _count(connection, "outcome", values))
    if set(values) == {"true" if name == "failed" else "error"}:
        walk = Walk("requests AS r INDEXED BY requests_failed", "r.seq", Condition("r.failed = 1"))
        return _Ways((walk,), _count(connection, "failed", ("true",)))
    if name == "status" and all(value.isascii() and len(value) == 3 and value[0] in "45" for value in values):
        return _bad_statuses(connection, values)
    return None


def _bad_statuses(connection: apsw.Connection, values: Sequence[str]) -> _Ways:
    """The statuses that occur, of those asked for: a class such as 4xx is a handful of walks."""
    counts = connection.execute("SELECT value, requests FROM value_counts WHERE field = 'status'")
    wanted = [(int(text), n) for text, n in counts if text in values or (f"{text[0]}xx" in values and len(text) == 3)]
    walks = tuple(_by_column("requests_status", "status", status, " AND r.status >= 400") for status, _ in wanted)
    return _Ways(walks or (_NOTHING,), sum(n for _, n in wanted))


_NOTHING: Final = Walk("requests AS r", "r.seq", Condition("0"))


def _namespaces(connection: apsw.Connection, names: Sequence[str]) -> _Ways:
    sql = f"SELECT coalesce(sum(requests), 0) FROM namespaces WHERE namespace IN ({places(names)})"  # noqa: S608
    walks = tuple(_by_column("requests_namespace", "namespace", name) for name in names)
    return _Ways(walks, connection.execute(sql, names).get)


def _below_prefixes(connection: apsw.Connection, prefixes: Sequence[str]) -> _Ways | None:
    names: set[str] = set()
    for prefix in prefixes:
        condition = starts_with("namespace", prefix)
        sql = f"SELECT namespace FROM namespaces WHERE {condition.sql} LIMIT {_MOST_NAMESPACES + 1}"  # noqa: S608
        names.update(name for (name,) in connection.execute(sql, condition.bindings))
        if len(names) > _MOST_NAMESPACES:
            return None
    return _namespaces(connection, sorted(names)) if names else _Ways((_NOTHING,), 0)


def _count(connection: apsw.Connection, field: str, values: Sequence[str]) -> int:
    sql = f"SELECT coalesce(sum(requests), 0) FROM value_counts WHERE field = ? AND value IN ({places(values)})"  # noqa: S608
    count: int = connection.execute(sql, (field, *values)).get
    return count


def _spans(connection: apsw.Connection, wanted: Filter, within: Span) -> Iterator[Span]:
    """Runs of blocks in which a record may have started in the time asked for, oldest first."""
    earliest = max((min(map(bounded, term.values)) for term in _times(wanted, "from")), default=None)
    latest = min((max(map(bounded, term.values)) for term in _times(wanted, "to")), default=None)
    if earliest is None and latest is None:
        yield within
        return
    blocks = connection.execute(
        "SELECT block FROM spans WHERE block BETWEEN ? AND ?"
        " AND last_at >= coalesce(?, last_at) AND first_at < coalesce(?, first_at + 1) ORDER BY block",
        (within[0] // BLOCK, within[1] // BLOCK, earliest, latest),
    )
    run: Span | None = None
    for (block,) in blocks:
        if run is not None and run[1] == block * BLOCK:
            run = (run[0], run[1] + BLOCK)
            continue
        if run is not None:
            yield _cut(run, within)
        run = (block * BLOCK, block * BLOCK + BLOCK)
    if run is not None:
        yield _cut(run, within)


def _times(wanted: Filter, name: str) -> Iterator[Term]:
    return (term for term in wanted.terms if term.name == name and term.values and not term.negated)


def _cut(span: Span, within: Span) -> Span:
    return max(span[0], within[0]), min(span[1], within[1])
