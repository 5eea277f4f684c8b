"""Remove requests and their content by age.

A removed request keeps a row with the data for charts. This row is deleted when the request is older than the
cutoff for aggregates. One mutation changes the rows of all requests that are removed or lose their content.
"""

from collections.abc import Collection, Iterable
from typing import Any, Final

import msgspec

from relaybook import clock
from relaybook.log.aggregate.stats import KEPT_FIELDS, MINUTE_US
from relaybook.log.retention import Cutoffs, Removal, RequestTimes
from relaybook.log.store.clickhouse.connection import Database, quoted
from relaybook.log.store.clickhouse.schema import NAMESPACE_SUMS, REQUEST_COLUMNS
from relaybook.log.store.clickhouse.state import State
from relaybook.log.store.entry import Entry
from relaybook.log.store.port import Retained
from relaybook.tags import by_precedence

#: The columns that a removed request keeps, for charts.
_KEPT: Final = (
    *KEPT_FIELDS,
    *(
        "properties",
        "failed",
        "seq",
        "id",
        "started_at",
        "recorded_on",
        "sent_at",
        "input_tokens",
        "output_tokens",
        "cached_tokens",
        "cost_usd",
        "duration_ms",
        "first_token_ms",
        "duration_bin",
        "first_token_bin",
        "tokens_per_second_bin",
    ),
)
_NO_DETAIL: Final = f"unhex('{msgspec.msgpack.encode(None).hex()}')"
_EXPIRED: Final = {
    "detail": _NO_DETAIL,
    "body_state": "if(body_state = 'stored', 'expired', body_state)",
    "has_content": "false",
    **dict.fromkeys(("request", "response", "words"), "''"),
    **dict.fromkeys(("request_chunks", "response_chunks"), "[]"),
    **dict.fromkeys(("request_size", "response_size", "chain"), "NULL"),
    **dict.fromkeys(("input_preview", "output_preview", "error_message"), "NULL"),
}
_REMOVED: Final = {
    name: "NULL" if "Nullable" in type_ else f"defaultValueOfTypeName('{type_}')"
    for name, type_ in REQUEST_COLUMNS.items()
    if name not in _KEPT
} | {"removed": "true"}
_KEPT_FROM: Final = "aggregates_from"
_OF_REMOVED: Final = "id IN (SELECT id FROM requests WHERE removed)"


class RetentionPass:
    """Removes requests, content and aggregates that are older than their cutoffs."""

    def __init__(self, database: Database, state: State) -> None:
        self._database = database
        self._state = state
        #: The cutoffs for which nothing is left to remove.
        self._done = Cutoffs()

    def committed(self, entries: Iterable[Entry]) -> None:
        """Make ``is_done`` return False if one of the new requests is older than its cutoff.

        Call this method after each commit, with the requests that were committed.
        """
        records = (entry.record for entry in entries)
        if any(self._done.fate(each.namespace, each.ended_at or each.started_at) != "kept" for each in records):
            self._done = Cutoffs()

    def chunks(self, cutoffs: Cutoffs) -> list[int]:
        """Return the ids of the body chunks of requests that ``work`` will remove, or whose content it will remove."""
        removed, expired = _conditions(cutoffs)
        sql = (
            "SELECT arrayJoin(arrayConcat(request_chunks, response_chunks)).1 FROM requests "
            f"WHERE NOT removed AND ({removed} OR {expired})"
        )
        return [chunk for (chunk,) in self._database.query(sql)]

    def is_done(self, cutoffs: Cutoffs) -> bool:
        """Return whether nothing is left to remove for these cutoffs."""
        return cutoffs == self._done

    def work(self, cutoffs: Cutoffs) -> Retained:
        """Begin to remove old requests and content; see ``Writer.retain``.

        Call this method only when no mutation is running.
        """
        removed, expired = _conditions(cutoffs)
        sql = f"SELECT countIf({removed}), countIf(NOT {removed} AND {expired}) FROM requests WHERE NOT removed"
        ((removed_count, expired_count),) = self._database.query(sql)
        if removed_count or expired_count:
            self._database.execute(
                f"ALTER TABLE requests UPDATE {_assignments(_REMOVED)} WHERE NOT removed AND {removed}, "
                f"UPDATE {_assignments(_EXPIRED)} WHERE NOT removed AND has_content AND {expired}"
            )
            removal = Removal(at=clock.wall_us(), reason=cutoffs.reason, requests=removed_count, contents=expired_count)
            self._state.write({("meta", "last_removal"): msgspec.msgpack.encode(removal)})
            return Retained(removed=removed_count, expired=expired_count, is_complete=False)
        if self._is_cleaning_up(cutoffs):
            return Retained(is_complete=False)
        if kept_from(self._state) != cutoffs.aggregates:
            self._state.write({("meta", _KEPT_FROM): b"%d" % cutoffs.aggregates})
        self._done = cutoffs
        return Retained()

    def _is_cleaning_up(self, cutoffs: Cutoffs) -> bool:
        """Begin to remove the remaining data of removed requests. Returns False if nothing is left.

        Feedback is removed first, because the rows in ``requests`` show which feedback to remove.
        """
        aggregates = f"removed AND started_at < {cutoffs.aggregates // MINUTE_US * MINUTE_US}"
        for table, condition in (("feedback", _OF_REMOVED), ("requests", aggregates)):
            if self._database.query(f"SELECT 1 FROM {table} WHERE {condition} LIMIT 1"):
                self._database.execute(f"ALTER TABLE {table} DELETE WHERE {condition}")
                return True
        return False


def kept_from(state: State, deadline_ns: int | None = None) -> int:
    """Return the time from which aggregates are kept, in microseconds since the epoch.

    0 if all aggregates are kept.
    """
    return int(state.get("meta", _KEPT_FROM, deadline_ns=deadline_ns) or 0)


def _conditions(cutoffs: Cutoffs) -> tuple[str, str]:
    """Return the condition for requests to remove, and the condition for requests that lose their content."""
    ended_at = "ifNull(ended_at, started_at)"
    return (
        f"({ended_at} < {_cutoff(cutoffs, 'requests')})",
        f"(has_content AND {ended_at} < {_cutoff(cutoffs, 'content')})",
    )


def _cutoff(cutoffs: Cutoffs, kind: str) -> str:
    """Return the SQL expression for a namespace's cutoff. ``kind`` is the name of a field of ``Cutoff``.

    If a pattern is exactly the name of the namespace, the cutoff of this pattern is used. Otherwise, the cutoff of the
    longest matching pattern is used. If no pattern matches, the general cutoff is used.
    """
    names = by_precedence(cutoffs.by_pattern)
    cases = [f"{_matches(name)}, {getattr(cutoffs.by_pattern[name], kind)}" for name in names]
    general: Any = getattr(cutoffs.general, kind)
    return f"multiIf({', '.join((*cases, str(general)))})" if cases else str(general)


def request_times(database: Database, patterns: Collection[str], deadline_ns: int) -> RequestTimes:
    """Return the start times of the first and of the last request by pattern; see ``Reader.request_times``."""
    cases = [f"{_matches(pattern)}, {quoted(pattern)}" for pattern in by_precedence(patterns)]
    sql = f"""
    SELECT {f"multiIf({', '.join((*cases, 'NULL'))})" if cases else "NULL"} AS pattern, min(first_at), max(last_at)
    FROM (
      SELECT namespace, {NAMESPACE_SUMS["first_at"]} AS first_at, {NAMESPACE_SUMS["last_at"]} AS last_at FROM requests
      WHERE NOT removed GROUP BY namespace
    ) GROUP BY pattern
    """
    return {pattern: (first, last) for pattern, first, last in database.query(sql, deadline_ns=deadline_ns)}


def _matches(pattern: str) -> str:
    if pattern.endswith("*"):
        return f"startsWith(namespace, {quoted(pattern[:-1])})"
    return f"namespace = {quoted(pattern)}"


def _assignments(values: dict[str, str]) -> str:
    return ", ".join(f"`{name}` = {value}" for name, value in values.items())
