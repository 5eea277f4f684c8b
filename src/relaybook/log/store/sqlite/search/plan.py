"""Plan how to find the records that match a filter.

A plan determines the index and the ranges of ``seq`` to search. Every plan yields ``seq`` in order, so a search stops
as soon as the page is full. If indexes serve several conditions, the search uses the index of the condition that
matches the fewest records according to the counters. The other conditions are checked on each result. If a term has
several values, each value becomes an ordered scan, and SQLite merges the scans. If no index serves any condition, the
log itself is scanned.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Final, NamedTuple

import apsw

from relaybook.apis import MOST_COMMON
from relaybook.log.finish_reasons import FINISH_REASONS
from relaybook.log.query.filters import ANY, SECTIONS, WITH_ANY, WORDS, Filter, Term, comparison
from relaybook.log.row import ERROR_STATUSES, FINISHES, PROBE_STATUSES, UPSTREAM_FAILURES
from relaybook.log.store.sqlite.index.block_ranges import SeqRange, ranges_in_time
from relaybook.log.store.sqlite.index.text_functions import CONTAINS_TEXT, MATCHES_PREFIX
from relaybook.log.store.sqlite.index.vocabulary import prefix_query
from relaybook.log.store.sqlite.rows import id_bytes
from relaybook.log.store.sqlite.search.filter_sql import (
    Bindings,
    Condition,
    any_of,
    conditions,
    fts_in_sections,
    fts_phrase,
    placeholders,
    score_is,
    starts_with,
)

#: If a prefix matches more values than this, the prefix is checked record by record.
_MAX_EXPANDED: Final = 64
#: The number of records that contain a word is not known in advance. The text index yields the newest matches
#: immediately. So the search uses the text index unless another condition matches fewer records than this.
_ASSUMED_WORD_MATCHES: Final = 2000


class Scan(NamedTuple):
    """One ordered source of ``seq``.

    A scan consists of a FROM clause, the ``seq`` column, and the condition that selects rows. ``keys`` is the FROM
    clause for searches that need only ``seq``, or `None` if every search needs the records. If ``repeats`` is True, the
    source may have several rows for a record.
    """

    source: str
    seq: str
    condition: Condition
    keys: str | None = None
    repeats: bool = False


class Plan(NamedTuple):
    """Scans whose union contains every match.

    ``residual`` holds the conditions that are checked on each result of the scans. ``ranges`` holds the ranges to
    search, oldest first. ``estimate`` is the approximate number of records that the scans yield in the whole log.
    ``estimate`` is `None` if the log itself is scanned.
    """

    scans: tuple[Scan, ...]
    residual: Condition
    ranges: list[SeqRange]
    estimate: int | None

    def sql(self, newest_first: bool) -> str:
        """Return a SELECT of the ``seq`` of the matches, in ascending or descending order.

        The parameters of the statement are ``bindings``, followed by the maximum number of rows.
        """
        return f"{self._union('')} ORDER BY 1 {'DESC' if newest_first else 'ASC'} LIMIT ?"

    def aggregates_sql(self) -> str:
        """Return a SELECT of the number of matches, the number of failed matches, and the latest start time."""
        rows = self._union(", r.failed AS failed, r.started_at AS started_at")
        return f"SELECT count(*), coalesce(sum(failed), 0), max(started_at) FROM ({rows})"  # noqa: S608 - our own parts

    def rows_sql(self, columns: str) -> str:
        """Return a SELECT of all matches.

        The statement selects ``seq`` and ``columns``, which are columns of ``requests AS r``. A comma precedes each
        column, as in ``, r.failed, r.started_at``.
        """
        return self._union(columns)

    def count_sql(self) -> str:
        """Return a SELECT of the number of matches.

        The statement reads no records if ``is_index_only`` is True.
        """
        return f"SELECT count(*) FROM ({self._union('', by_index=self.is_index_only)})"  # noqa: S608

    @property
    def reads_text(self) -> bool:
        """Whether checking a record reads its text, which can take milliseconds."""
        return _reads_text(self.residual)

    @property
    def is_index_only(self) -> bool:
        """Whether indexes alone determine which records match."""
        return self.residual.sql == "1" and all(scan.keys is not None for scan in self.scans)

    def _union(self, columns: str, *, by_index: bool = False) -> str:
        return " UNION ".join(
            f"SELECT {'DISTINCT ' if scan.repeats else ''}{scan.seq} AS seq{columns} "  # noqa: S608 - our own parts, values are bound
            f"FROM {scan.keys if by_index else scan.source} "
            f"WHERE {scan.condition.sql} AND {scan.seq} >= ? AND {scan.seq} < ? AND {self.residual.sql}"
            for scan in self.scans
        )

    def bindings(self, seq_range: SeqRange) -> Bindings:
        """Return the parameters for a search within the range.

        All statements of this plan take these parameters. The statement of ``sql`` also takes the maximum number of
        rows.
        """
        return tuple(
            value for scan in self.scans for value in (*scan.condition.bindings, *seq_range, *self.residual.bindings)
        )


_LOG_SCAN: Final = Scan("requests AS r NOT INDEXED", "r.seq", Condition("1"))
_BY_FAILURE: Final = "requests AS r INDEXED BY requests_failed"
_FAILURE_SCAN: Final = Scan(_BY_FAILURE, "r.seq", Condition("r.failed = 1"), _BY_FAILURE)
#: The terms that the index on failures can check without reading the record.
_COVERED_BY_FAILURES: Final = frozenset({"failed", "namespace", "model", "from", "to"})
#: If the index on failures can check all terms, checking a record is cheaper by this factor.
_DISCOUNT: Final = 8
#: If the scans have more parameters than this, the log itself is scanned. A statement of SQLite has at most 32,766
#: parameters (SQLITE_LIMIT_VARIABLE_NUMBER). Every scan has the parameters of all other terms. For example, four terms
#: with 100 values each need 100 scans with over 300 parameters each.
_MAX_BINDINGS: Final = 30_000
#: If there are more scans than this, the log itself is scanned. This is SQLite's limit for the parts of a UNION
#: (SQLITE_LIMIT_COMPOUND_SELECT). A result can have any number of finish reasons, and each of them has a scan.
_MAX_SCANS: Final = 500


def make_plan(connection: apsw.Connection, filter_: Filter, within: SeqRange) -> Plan:
    """Choose the index and the ranges for a search. The search is limited to the range ``within`` of ``seq``."""
    term_conditions = conditions(filter_)
    driving: int | None = None
    is_exact = True
    scans: tuple[Scan, ...] = (_LOG_SCAN,)
    fewest = -1
    is_covered = all(term.name in _COVERED_BY_FAILURES for term in filter_.terms)
    for index, term in enumerate(filter_.terms):
        candidates = _candidates(connection, term)
        if candidates is None:
            continue
        records = candidates.records // (_DISCOUNT if is_covered and candidates.scans == (_FAILURE_SCAN,) else 1)
        if driving is None or records < fewest:
            driving, scans, fewest, is_exact = index, candidates.scans, records, candidates.is_exact
    residual = _all_of(condition for index, condition in enumerate(term_conditions) if index != driving or not is_exact)
    bindings = sum(len(scan.condition.bindings) + 2 + len(residual.bindings) for scan in scans)
    if len(scans) > _MAX_SCANS or bindings > _MAX_BINDINGS:
        driving, scans, residual = None, (_LOG_SCAN,), _all_of(term_conditions)
    estimate = None if driving is None else fewest
    return Plan(scans, residual, ranges_in_time(connection, filter_, within), estimate)


def _all_of(conditions: Iterable[Condition]) -> Condition:
    """Return the condition that all conditions hold. Conditions that read text are checked last."""
    ordered = sorted(conditions, key=_reads_text)
    sql = " AND ".join(condition.sql for condition in ordered) or "1"
    return Condition(sql, tuple(value for condition in ordered for value in condition.bindings))


def _reads_text(condition: Condition) -> bool:
    return f"{CONTAINS_TEXT}(" in condition.sql or f"{MATCHES_PREFIX}(" in condition.sql


class _Candidates(NamedTuple):
    """Scans that together yield all matches of a term, and the estimated number of matches.

    If ``is_exact`` is True, the scans yield only matches. Otherwise the term is checked on each record.
    """

    scans: tuple[Scan, ...]
    records: int
    is_exact: bool = True


def _candidates(connection: apsw.Connection, term: Term) -> _Candidates | None:
    """Return the scans of an index that serves the term, or `None` if no index serves it."""
    if term.negated:
        return None
    name = term.name
    if name in SECTIONS:
        return _word_scans(connection, term)
    values = _expand_prefixes(connection, term) if term.prefixes else term.values
    if name in WITH_ANY and ANY in term.values:
        values = [value for (value,) in connection.execute("SELECT value FROM value_counts WHERE field = ?", (name,))]
    if values is None:
        return None
    if not values:
        return _Candidates((_EMPTY_SCAN,), 0)
    match name:
        case "id":
            return _Candidates(tuple(_by_column("requests_id", "id", id_bytes(value)) for value in values), len(values))
        case "namespace":
            return _namespace_scans(connection, values)
        case "model" | "user" | "session" | "key" | "cost_reason":
            scans = tuple(_by_column(f"requests_{name}", name, value) for value in values)
            return _Candidates(scans, _count(connection, name, values))
        case "warning" | "note" | "advice":
            scans = tuple(_by_table("record_codes", ("kind", "code"), (name, value)) for value in values)
            return _Candidates(scans, _count(connection, name, values))
        case "kind" | "finish_reason" | "stream_ended":
            return _uncommon_values(connection, name, values)
        case "failed" | "status" | "outcome":
            return _failures(connection, name, values)
        case "result":
            return _results(connection, values)
        case "label":
            scans = tuple(_by_feedback("feedback_label", Condition("d.label = ?", (value,))) for value in values)
            return _Candidates(scans, _count(connection, name, values))
        case "score":
            return _score_scans(connection, term)
        case "feedback":
            scans = (_by_feedback("", Condition("1")),)
            return None if "none" in values else _Candidates(scans, _count(connection, name, ("any",)))
    if name.startswith("property."):
        pairs = ((name.removeprefix("property."), value) for value in values)
        scans = tuple(_by_table("properties", ("name", "value"), pair) for pair in pairs)
        return _Candidates(scans, _count(connection, name, values))
    return None


def _by_column(index: str, column: str, value: str | int | bytes, implied: str = "") -> Scan:
    source = f"requests AS r INDEXED BY {index}"
    return Scan(source, "r.seq", Condition(f'r."{column}" = ?{implied}', (value,)), source)


def _by_table(table: str, columns: tuple[str, str], values: tuple[str, str]) -> Scan:
    condition = Condition(f"d.{columns[0]} = ? AND d.{columns[1]} = ?", values)
    return Scan(f"{table} AS d CROSS JOIN requests AS r ON r.seq = d.seq", "d.seq", condition, f"{table} AS d")


def _by_feedback(index: str, condition: Condition) -> Scan:
    """Return a scan of feedback that uses the index. If ``index`` is empty, the scan reads the table by ``seq``."""
    keys = f"feedback AS d {f'INDEXED BY {index}' if index else 'NOT INDEXED'}"
    return Scan(f"{keys} CROSS JOIN requests AS r ON r.seq = d.seq", "d.seq", condition, keys, repeats=True)


def _score_scans(connection: apsw.Connection, term: Term) -> _Candidates:
    """Return the scans for a term on scores. They find a page quickly for any number of matching requests.

    - If few requests match, they are read from the index and sorted.
    - If many requests match but have only a few different scores, they are read from the index score by score,
      without sorting.
    - If many requests match and have many different scores, for example after an evaluation, all feedback is read in
      order of ``seq``. Nearly every part of the log then has matches, so the scan soon fills a page.
    """
    ranges = tuple(_by_feedback("feedback_score", condition) for condition in score_is("d.score", term))
    records = 0
    for scan in ranges:
        count = f"SELECT count(*) FROM (SELECT 1 FROM {scan.keys} WHERE {scan.condition.sql} LIMIT {_FEW_SCORES + 1})"  # noqa: S608 - our own parts
        records += connection.execute(count, scan.condition.bindings).get
    if records <= _FEW_SCORES:
        return _Candidates(ranges, records)
    scores: set[float] = set()
    for value in term.values:
        scores.update(islice(_scores(connection, value), _MAX_EXPANDED + 1))
    if len(scores) <= _MAX_EXPANDED:
        scans = tuple(_by_feedback("feedback_score", Condition("d.score = ?", (score,))) for score in sorted(scores))
    else:
        scans = (_by_feedback("", any_of(scan.condition for scan in ranges)),)
    return _Candidates(scans, _count(connection, "feedback", ("any",)))


def _scores(connection: apsw.Connection, value: str) -> Iterator[float]:
    """Yield the different scores that satisfy the comparison, nearest to the number in the comparison first."""
    operator, bound = comparison(value)
    if operator == "=":
        yield bound
        return
    function, further = ("min", ">") if operator[0] == ">" else ("max", "<")
    sql = f"SELECT {function}(score) FROM feedback INDEXED BY feedback_score WHERE score"  # noqa: S608 - our own parts
    score: float | None = connection.execute(f"{sql} {operator} ?", (bound,)).get
    while score is not None:
        yield score
        score = connection.execute(f"{sql} {further} ?", (score,)).get


#: If at most this number of records match a term on scores, they are sorted. Sorting them takes at most 10 ms.
_FEW_SCORES: Final = 20_000


#: For each field, the partial index and the common value that the index omits.
_PARTIAL_INDEXES: Final = {
    "kind": ("requests_kind", MOST_COMMON),
    "finish_reason": ("requests_finish", "stop"),
    "stream_ended": ("requests_stream_end", "done"),
}


def _uncommon_values(connection: apsw.Connection, name: str, values: Sequence[str]) -> _Candidates | None:
    index, common = _PARTIAL_INDEXES[name]
    records = _count(connection, name, values)
    if common in values and records:
        return None
    implied = f" AND r.{name} <> '{common}'"
    scans = tuple(_by_column(index, name, value, implied) for value in values if value != common)
    return _Candidates(scans or (_EMPTY_SCAN,), records)


def _failures(connection: apsw.Connection, name: str, values: Sequence[str]) -> _Candidates | None:
    """Return the scans for failures, error statuses, and outcomes other than ``complete``.

    Each of these conditions has a partial index, because it matches few requests. `None` if the values include other
    values, because no index serves them.
    """
    if name == "outcome" and "complete" not in values:
        implied = " AND r.outcome <> 'complete'"
        scans = tuple(_by_column("requests_outcome", "outcome", value, implied) for value in values)
        return _Candidates(scans, _count(connection, "outcome", values))
    if set(values) == {"true" if name == "failed" else "error"}:
        return _Candidates((_FAILURE_SCAN,), _count(connection, "failed", ("true",)))
    if name == "status" and all(value.isascii() and len(value) == 3 and value[0] in "45" for value in values):
        return _error_statuses(connection, values)
    return None


def _conditions_of_result(code: str) -> list[tuple[str, tuple[str, ...]]]:
    """Return fields and values. Every request with this result has one of the values of a field in this field.

    But ``finish_reason`` can be a list, such as ``stop,length``. Then this list contains one of the returned values.
    Empty for ``complete`` and ``running``, because no index serves these results.
    """
    if code in _OUTCOMES:
        return [("outcome", (_OUTCOMES[code],))]
    reasons = tuple(reason for reason, finish in FINISH_REASONS.items() if FINISHES[finish][0] == code)
    if reasons:
        return [("finish_reason", reasons)]
    if code in ("complete", "running"):
        return []
    probes = tuple(str(status) for status in PROBE_STATUSES if ERROR_STATUSES[status][0] == code)
    return [("failed", ("true",)), *([("status", probes)] if probes else [])]


_OUTCOMES: Final = {
    **dict.fromkeys((*UPSTREAM_FAILURES, "upstream_failed"), "upstream_failed"),
    **dict.fromkeys(("relay_stopped", "log_failed"), "interrupted"),
    "refused": "refused",
    "client_disconnected": "client_closed",
}


def _results(connection: apsw.Connection, codes: Sequence[str]) -> _Candidates | None:
    """Return scans that yield all requests with these results.

    The scans may also yield other requests, so the result of each request is checked. The scans use the indexes on
    outcomes, finish reasons, failures and error statuses.
    """
    scans: dict[Scan, None] = {}
    records = 0
    conditions = [_conditions_of_result(code) for code in codes]
    if [] in conditions:
        return None
    for name, values in dict.fromkeys(chain.from_iterable(conditions)):
        if name == "finish_reason":
            found = _uncommon_values(connection, name, _with_reasons(connection, values))
        else:
            found = _failures(connection, name, values)
        if found is None:
            return None
        scans |= dict.fromkeys(scan for scan in found.scans if scan != _EMPTY_SCAN)
        records += found.records
    return _Candidates(tuple(scans) or (_EMPTY_SCAN,), records, is_exact=False)


def _with_reasons(connection: apsw.Connection, reasons: Sequence[str]) -> list[str]:
    """Return the values of ``finish_reason`` in the log that contain one of the reasons.

    A value lists the finish reasons of all choices of a response, for example ``stop,length``.
    """
    values = connection.execute("SELECT value FROM value_counts WHERE field = 'finish_reason'")
    return [value for (value,) in values if not set(reasons).isdisjoint(value.split(","))]


def _error_statuses(connection: apsw.Connection, values: Sequence[str]) -> _Candidates:
    """Return a scan for each requested status that occurs in the log.

    A class such as 4xx becomes one scan per status that occurs.
    """
    counts = connection.execute("SELECT value, requests FROM value_counts WHERE field = 'status'")
    matching = [
        (int(text), requests)
        for text, requests in counts
        if text in values or (f"{text[0]}xx" in values and len(text) == 3)
    ]
    scans = tuple(_by_column("requests_status", "status", status, " AND r.status >= 400") for status, _ in matching)
    return _Candidates(scans or (_EMPTY_SCAN,), sum(requests for _, requests in matching))


_EMPTY_SCAN: Final = Scan("requests AS r", "r.seq", Condition("0"))


def _namespace_scans(connection: apsw.Connection, names: Sequence[str]) -> _Candidates:
    sql = f"SELECT coalesce(sum(requests), 0) FROM namespaces WHERE namespace IN ({placeholders(names)})"  # noqa: S608
    scans = tuple(_by_column("requests_namespace", "namespace", name) for name in names)
    return _Candidates(scans, connection.execute(sql, names).get)


def _expand_prefixes(connection: apsw.Connection, term: Term) -> Sequence[str] | None:
    """Return the term's values, and the existing values that match its prefixes.

    `None` if there are too many values, or if the field's values are not counted.
    """
    if term.name == "namespace":
        sql, bindings = "SELECT namespace FROM namespaces WHERE {}", tuple[str, ...]()
        column = "namespace"
    elif term.name in ("model", "user", "session", "key", "route", "label") or term.name.startswith("property."):
        sql, bindings = "SELECT value FROM value_counts WHERE field = ? AND {}", (term.name,)
        column = "value"
    else:
        return None
    matching = set(term.values)
    for prefix in term.prefixes:
        condition = starts_with(column, prefix)
        rows = connection.execute(
            f"{sql.format(condition.sql)} LIMIT {_MAX_EXPANDED + 1}", (*bindings, *condition.bindings)
        )
        matching.update(value for (value,) in rows)
        if len(matching) > _MAX_EXPANDED:
            return None
    return sorted(matching)


def _word_scans(connection: apsw.Connection, term: Term) -> _Candidates | None:
    keys = f"{WORDS} AS d"
    source = f"{keys} CROSS JOIN requests AS r ON r.seq = d.rowid"
    scans: list[Scan] = []
    for query in (*map(fts_phrase, term.values), *(prefix_query(connection, phrase) for phrase in term.prefixes)):
        if query is None:
            return None
        scans.append(
            Scan(source, "d.rowid", Condition(f"d.{WORDS} MATCH ?", (fts_in_sections(term.name, query),)), keys)
        )
    return _Candidates(tuple(scans), _ASSUMED_WORD_MATCHES)


def _count(connection: apsw.Connection, field: str, values: Sequence[str]) -> int:
    sql = f"SELECT coalesce(sum(requests), 0) FROM value_counts WHERE field = ? AND value IN ({placeholders(values)})"  # noqa: S608
    count: int = connection.execute(sql, (field, *values)).get
    return count
