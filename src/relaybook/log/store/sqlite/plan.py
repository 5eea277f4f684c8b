"""Chooses how to find the records of a filter: from which index, and in which spans of ``seq``.

Every way yields ``seq`` in order, so a page stops as soon as it is full. Of the conditions an index serves, the one
that the fewest records meet leads (the counters know how many); the others are checked on what it yields. Several
values of one name are several ordered walks that SQLite merges. Without such a condition the log itself is walked.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import apsw

from relaybook.log.query.filters import WORDS, Filter, Term
from relaybook.log.store.sqlite.block_ranges import Span, spans_in_time
from relaybook.log.store.sqlite.filter_sql import Bindings, Condition, conditions, places, starts_with
from relaybook.log.store.sqlite.text_functions import HOLDS, SAYS
from relaybook.log.store.sqlite.vocabulary import match

#: A prefix that covers more values than this is checked record by record.
_MOST_PREFIXED: Final = 64
#: Nobody knows how many records have a word. The index of words yields the newest first at once, so it leads, but where
#: another condition leaves fewer records than this.
_WORDS_LEAD_FROM: Final = 2000


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

    def aggregates_sql(self) -> str:
        """One row: how many, how many of them failed, when the latest started."""
        rows = self._union(", r.failed AS failed, r.started_at AS started_at")
        return f"SELECT count(*), coalesce(sum(failed), 0), max(started_at) FROM ({rows})"  # noqa: S608 - our own parts

    def rows_sql(self, columns: str) -> str:
        """All matches: ``seq`` and these columns of ``requests AS r`` (", r.failed, …")."""
        return self._union(columns)

    def number_sql(self) -> str:
        """One number: how many. Reads no record where the indexes know; see ``is_in_indexes``."""
        return f"SELECT count(*) FROM ({self._union('', by_index=self.is_in_indexes)})"  # noqa: S608

    @property
    def reads_texts(self) -> bool:
        """Whether a single record may take milliseconds."""
        return _reads_texts(self.rest)

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
    rest = sorted((condition for index, condition in enumerate(found) if index != leader), key=_reads_texts)
    sql = " AND ".join(condition.sql for condition in rest) or "1"
    bindings = tuple(value for condition in rest for value in condition.bindings)
    return Plan(walks, Condition(sql, bindings), spans_in_time(connection, wanted, within))


def _reads_texts(condition: Condition) -> bool:
    return f"{HOLDS}(" in condition.sql or f"{SAYS}(" in condition.sql


class _Ways(NamedTuple):
    """Walks that together yield what a term selects, and about how many records that is."""

    walks: tuple[Walk, ...]
    records: int


def _ways(connection: apsw.Connection, term: Term) -> _Ways | None:
    """How an index serves the term; None when none does."""
    if term.negated:
        return None
    name = term.name
    values = _with_prefixed(connection, term) if term.prefixes else term.values
    if values is None:
        return None
    if not values:
        return _Ways((_NOTHING,), 0)
    match name:
        case "id":
            return _Ways(tuple(_by_column("requests_id", "id", value) for value in values), len(values))
        case "words":
            return _words(connection, values)
        case "namespace":
            return _namespaces(connection, values)
        case "model" | "user" | "key":
            walks = tuple(_by_column(f"requests_{name}", name, value) for value in values)
            return _Ways(walks, _count(connection, name, values))
        case "warning" | "advice":
            walks = tuple(_by_table("notes", ("kind", "code"), (name, value)) for value in values)
            return _Ways(walks, _count(connection, name, values))
        case "kind" | "finish_reason":
            return _unusual(connection, name, values)
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


#: By field: the index of all its values but the usual one.
_UNUSUAL: Final = {"kind": ("requests_kind", "chat"), "finish_reason": ("requests_finish", "stop")}


def _unusual(connection: apsw.Connection, name: str, values: Sequence[str]) -> _Ways | None:
    index, usual = _UNUSUAL[name]
    records = _count(connection, name, values)
    if usual in values and records:
        return None
    implied = f" AND r.{name} <> '{usual}'"
    walks = tuple(_by_column(index, name, value, implied) for value in values if value != usual)
    return _Ways(walks or (_NOTHING,), records)


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


def _with_prefixed(connection: apsw.Connection, term: Term) -> Sequence[str] | None:
    """The term's values, and those that occur with one of its prefixes; None: too many, or nobody knows."""
    if term.name == "namespace":
        sql, bindings = "SELECT namespace FROM namespaces WHERE {}", tuple[str, ...]()
        column = "namespace"
    elif term.name in ("model", "user", "key") or term.name.startswith("property."):
        sql, bindings = "SELECT value FROM value_counts WHERE field = ? AND {}", (term.name,)
        column = "value"
    else:
        return None
    found = set(term.values)
    for prefix in term.prefixes:
        condition = starts_with(column, prefix)
        rows = connection.execute(
            f"{sql.format(condition.sql)} LIMIT {_MOST_PREFIXED + 1}", (*bindings, *condition.bindings)
        )
        found.update(value for (value,) in rows)
        if len(found) > _MOST_PREFIXED:
            return None
    return sorted(found)


def _words(connection: apsw.Connection, phrases: Sequence[str]) -> _Ways | None:
    keys = f"{WORDS} AS d"
    source = f"{keys} CROSS JOIN requests AS r ON r.seq = d.rowid"
    walks: list[Walk] = []
    for phrase in phrases:
        query = match(connection, phrase)
        if query is None:
            return None
        walks.append(Walk(source, "d.rowid", Condition(f"d.{WORDS} MATCH ?", (query,)), keys))
    return _Ways(tuple(walks), _WORDS_LEAD_FROM)


def _count(connection: apsw.Connection, field: str, values: Sequence[str]) -> int:
    sql = f"SELECT coalesce(sum(requests), 0) FROM value_counts WHERE field = ? AND value IN ({places(values)})"  # noqa: S608
    count: int = connection.execute(sql, (field, *values)).get
    return count
