"""Chooses how to find the records of a filter: from which index, and in which spans of ``seq``.

Every way yields ``seq`` in order, so a page stops as soon as it is full. Of the conditions an index serves, the one
that the fewest records meet leads (the counters know how many); the others are checked on what it yields. Several
values of one name are several ordered walks that SQLite merges. Without such a condition the log itself is walked.

A span of time becomes spans of ``seq``: ``spans`` has the earliest and latest start of each block of 1,024 records, and
only blocks that overlap are searched. An index over ``started_at`` would cost 0.6 µs per record and could not tell
where to stop: a request that ran long is recorded late, so order by start and order by ``seq`` differ.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import apsw

from relaybook.filters import Filter, Term
from relaybook.stores.sqlite.query import Bindings, Condition, bounded, conditions, places, starts_with
from relaybook.stores.sqlite.schema import BLOCK

#: A prefix that covers more namespaces than this is checked record by record.
_MOST_NAMESPACES: Final = 64
#: Half-open: from the first ``seq`` to below the second.
Span = tuple[int, int]


class Part(NamedTuple):
    """A span, and whether all its records started in the time asked for."""

    span: Span
    is_inside: bool


class Walk(NamedTuple):
    """One ordered source of ``seq``: FROM, the column that is ``seq`` in it, and the condition that selects from it.

    ``keys`` is the part of FROM that is enough when only ``seq`` is asked for; None: the records themselves.
    """

    source: str
    seq: str
    condition: Condition
    keys: str | None = None


class Plan(NamedTuple):
    """Walks whose union holds every match, the conditions left to check, and the spans to search, oldest first."""

    walks: tuple[Walk, ...]
    rest: Condition
    spans: list[Span]

    def sql(self, newest_first: bool) -> str:
        """Bindings: those of ``bindings``, then the number of rows wanted."""
        return f"{self._union('')} ORDER BY 1 {'DESC' if newest_first else 'ASC'} LIMIT ?"

    def sums_sql(self) -> str:
        """One row: how many, how many of them failed, when the latest started."""
        rows = self._union(", r.failed AS failed, r.started_at AS started_at")
        return f"SELECT count(*), coalesce(sum(failed), 0), max(started_at) FROM ({rows})"  # noqa: S608 - our own parts

    def number_sql(self) -> str:
        """One number: how many. Reads no record where the indexes know; see ``is_in_indexes``."""
        return f"SELECT count(*) FROM ({self._union('', by_index=self.is_in_indexes)})"  # noqa: S608

    @property
    def is_in_indexes(self) -> bool:
        """Whether indexes alone tell which records match."""
        return self.rest.sql == "1" and all(walk.keys is not None for walk in self.walks)

    def _union(self, more: str, *, by_index: bool = False) -> str:
        return " UNION ".join(
            f"SELECT {walk.seq} AS seq{more} FROM {walk.keys if by_index else walk.source} "  # noqa: S608 - parts of our own making, values are bound
            f"WHERE {walk.condition.sql} AND {walk.seq} >= ? AND {walk.seq} < ? AND {self.rest.sql}"
            for walk in self.walks
        )

    def bindings(self, span: Span) -> Bindings:
        """For a look within the span; the same for every statement."""
        return tuple(value for walk in self.walks for value in (*walk.condition.bindings, *span, *self.rest.bindings))


_LOG: Final = Walk("requests AS r NOT INDEXED", "r.seq", Condition("1"))
_BY_FAILURE: Final = "requests AS r INDEXED BY requests_failed"
_FAILURES: Final = Walk(_BY_FAILURE, "r.seq", Condition("r.failed = 1"), _BY_FAILURE)
#: What that index tells of a record by itself, and about how much cheaper that is than to look the record up.
_IN_FAILURES: Final = frozenset({"failed", "namespace", "namespace_prefix", "model", "from", "to"})
_CHEAPER: Final = 8


def make_plan(connection: apsw.Connection, wanted: Filter, within: Span) -> Plan:
    """``within`` is the whole span of ``seq`` in question."""
    found = conditions(wanted)
    leader: int | None = None
    walks: tuple[Walk, ...] = (_LOG,)
    fewest = -1
    is_in_failures = all(term.name in _IN_FAILURES for term in wanted.terms)
    for index, term in enumerate(wanted.terms):
        ways = _ways(connection, term)
        if ways is None:
            continue
        records = ways.records // (_CHEAPER if is_in_failures and ways.walks == (_FAILURES,) else 1)
        if leader is None or records < fewest:
            leader, walks, fewest = index, ways.walks, records
    rest = [condition for index, condition in enumerate(found) if index != leader]
    sql = " AND ".join(condition.sql for condition in rest) or "1"
    bindings = tuple(value for condition in rest for value in condition.bindings)
    return Plan(walks, Condition(sql, bindings), _spans(connection, wanted, within))


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
    source = f"requests AS r INDEXED BY {index}"
    return Walk(source, "r.seq", Condition(f'r."{column}" = ?{implied}', (value,)), source)


def _by_table(table: str, columns: tuple[str, str], values: tuple[str, str]) -> Walk:
    condition = Condition(f"d.{columns[0]} = ? AND d.{columns[1]} = ?", values)
    return Walk(f"{table} AS d CROSS JOIN requests AS r ON r.seq = d.seq", "d.seq", condition, f"{table} AS d")


def _mishaps(connection: apsw.Connection, name: str, values: Sequence[str]) -> _Ways | None:
    """Failed, bad statuses, outcomes other than complete: few, so only these are in an index."""
    if name == "outcome" and "complete" not in values:
        implied = " AND r.outcome <> 'complete'"
        walks = tuple(_by_column("requests_outcome", "outcome", value, implied) for value in values)
        return _Ways(walks, _count(connection, "outcome", values))
    if set(values) == {"true" if name == "failed" else "error"}:
        return _Ways((_FAILURES,), _count(connection, "failed", ("true",)))
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


def parts_in_time(connection: apsw.Connection, wanted: Filter, within: Span) -> list[Part]:
    """The spans in which a record may have started in the time asked for, told apart by whether all have; in order."""
    blocks = _blocks(connection, wanted, within)
    return [Part(within, True)] if blocks is None else _runs(blocks, within)


def without_time(wanted: Filter) -> Filter:
    """The terms that are left to check in a part in which all records started in time."""
    return Filter(tuple(term for term in wanted.terms if not any(term is time for time in _times(wanted))))


def _spans(connection: apsw.Connection, wanted: Filter, within: Span) -> list[Span]:
    """Runs of blocks in which a record may have started in the time asked for, oldest first."""
    blocks = _blocks(connection, wanted, within)
    return [within] if blocks is None else [part.span for part in _runs(((block, True) for block, _ in blocks), within)]


def _blocks(connection: apsw.Connection, wanted: Filter, within: Span) -> list[tuple[int, bool]] | None:
    """Blocks that overlap the time asked for, and whether they lie in it wholly; None when no time is asked for."""
    if not any(_times(wanted)):
        return None
    earliest = max((min(map(bounded, term.values)) for term in _times(wanted, "from")), default=None)
    latest = min((max(map(bounded, term.values)) for term in _times(wanted, "to")), default=None)
    rows = connection.execute(
        "SELECT block, first_at >= coalesce(:earliest, first_at) AND last_at < coalesce(:latest, last_at + 1)"
        " FROM spans WHERE block BETWEEN :low AND :high"
        " AND last_at >= coalesce(:earliest, last_at) AND first_at < coalesce(:latest, first_at + 1) ORDER BY block",
        {"earliest": earliest, "latest": latest, "low": within[0] // BLOCK, "high": within[1] // BLOCK},
    )
    return [(block, bool(is_inside)) for block, is_inside in rows]


def _runs(blocks: Iterable[tuple[int, bool]], within: Span) -> list[Part]:
    """One part for each run of neighbouring blocks that are alike."""
    parts: list[Part] = []
    for block, is_inside in blocks:
        (start, end), was_inside = parts[-1] if parts else ((0, -1), False)
        if end == block * BLOCK and was_inside == is_inside:
            parts[-1] = Part((start, end + BLOCK), is_inside)
        else:
            parts.append(Part((block * BLOCK, block * BLOCK + BLOCK), is_inside))
    return [Part(_cut(span, within), is_inside) for span, is_inside in parts]


def _times(wanted: Filter, *names: str) -> Iterator[Term]:
    names = names or ("from", "to")
    return (term for term in wanted.terms if term.name in names and term.values and not term.negated)


def _cut(span: Span, within: Span) -> Span:
    return max(span[0], within[0]), min(span[1], within[1])
