"""Keep feedback in the SQLite store.

Any process can add feedback in a separate transaction. Feedback on a request that is not recorded yet is pending. The
writer moves pending feedback to its request in the transaction that records the request. This transaction and a
transaction that adds feedback cannot run at the same time, so the writer misses no feedback.

Triggers in ``schema.py`` count the requests with feedback and the requests with each label. So deleting rows of
``feedback`` also updates these counts.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import apsw

from relaybook import clock
from relaybook.log.feedback import (
    MAX_PENDING,
    MAX_SOURCES,
    PENDING_US,
    combined,
    pending_id,
    too_many_pending,
    too_many_sources,
)
from relaybook.log.query.filters import FEEDBACK, Filter, Term
from relaybook.log.record import Feedback, Record
from relaybook.log.store.port import FeedbackTotals
from relaybook.log.store.sqlite.changes import transaction
from relaybook.log.store.sqlite.index.foreign_ids import find
from relaybook.log.store.sqlite.rows import id_bytes
from relaybook.log.store.sqlite.search.pages import last_seq
from relaybook.log.store.sqlite.search.plan import make_plan
from relaybook.log.store.sqlite.search.scan import Deadline, Windows

_COLUMNS: Final = "source, score, label, comment, at"
_DELETE: Final = "DELETE FROM feedback WHERE seq = ? AND source = ?"
_INSERT: Final = f"INSERT INTO feedback (seq, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)"  # noqa: S608 - our own names
_SET_PENDING: Final = f"INSERT OR REPLACE INTO pending_feedback (request_id, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)"  # noqa: S608
_TAKE_PENDING: Final = f"DELETE FROM pending_feedback WHERE request_id = ? RETURNING {_COLUMNS}"  # noqa: S608
#: Pending feedback on a running request does not expire.
_EXPIRE: Final = "DELETE FROM pending_feedback WHERE at < ? AND request_id NOT IN (SELECT id FROM running)"
_HAS_EXPIRED: Final = (
    "SELECT EXISTS (SELECT 1 FROM pending_feedback WHERE at < ? AND request_id NOT IN (SELECT id FROM running))"
)
_TOTALS: Final = """
SELECT count(DISTINCT m.seq), count(f.score), total(f.score) FROM ({}) AS m CROSS JOIN feedback AS f ON f.seq = m.seq
"""
_HAS_OTHERS: Final = "SELECT count(*) >= ? FROM feedback WHERE seq = ? AND source <> ?"
_MAY_BE_PENDING: Final = """
SELECT EXISTS (SELECT 1 FROM pending_feedback WHERE request_id = ? AND source = ?)
  OR (SELECT count(*) FROM pending_feedback) < ?
"""


class SqliteFeedbackLog:
    """Adds feedback alongside the writer. Each call uses a new connection and a short transaction."""

    def __init__(self, directory: Path, *, busy_s: float = 2.0) -> None:
        """Create the object without opening anything.

        ``busy_s`` is how long a call waits for other programs that hold the database.
        """
        self._directory = directory
        self._busy_s = busy_s

    def add_feedback(self, any_id: str, feedback: Feedback) -> bool:
        with transaction(self._directory, self._busy_s) as connection:
            return _add(connection, any_id, feedback)


def feedback_totals(connection: apsw.Connection, filter_: Filter, deadline: Deadline) -> FeedbackTotals:
    """Return totals of the feedback on the matching requests that are found by the deadline."""
    requests, scores, score_sum = 0, 0, 0.0
    complete = True
    try:
        plan = make_plan(connection, Filter((*filter_.terms, Term(FEEDBACK, ("any",)))), (1, last_seq(connection) + 1))
        deadline.watch_closely(connection, plan)
        sql = _TOTALS.format(plan.rows_sql(""))
        for window in Windows(plan.ranges, newest_first=True):
            if deadline.has_passed():
                raise apsw.InterruptError
            found = next(connection.execute(sql, plan.bindings(window)))
            requests, scores, score_sum = requests + found[0], scores + found[1], score_sum + found[2]
    except apsw.InterruptError:
        complete = False
    connection.set_progress_handler(None)
    return FeedbackTotals(requests=requests, scores=scores, score_sum=score_sum, complete=complete)


def _add(connection: apsw.Connection, any_id: str, feedback: Feedback) -> bool:
    """Add feedback within the caller's transaction. ``any_id`` is the request's id or one of its foreign ids.

    Returns False if the request is not recorded yet, so that the feedback is pending.
    """
    key = pending_id(any_id)
    seq = connection.execute("SELECT seq FROM requests WHERE id = ?", (id_bytes(key),)).get
    if seq is None:
        seq = next((record.seq for record in find(connection, any_id, 1)), None)
    if seq is not None:
        if connection.execute(_HAS_OTHERS, (MAX_SOURCES, seq, feedback.source)).get:
            raise too_many_sources()
        _store(connection, seq, [feedback])
        return True
    _expire(connection)
    if not connection.execute(_MAY_BE_PENDING, (key, feedback.source, MAX_PENDING)).get:
        raise too_many_pending()
    connection.execute(_SET_PENDING, (key, *_row(feedback)))
    return False


def _store(connection: apsw.Connection, seq: int, feedback: Sequence[Feedback]) -> None:
    """Store feedback on a request, and replace earlier feedback from the same sources.

    Old rows are deleted first, because ``INSERT OR REPLACE`` would not run the triggers that decrease the counts.
    """
    connection.executemany(_DELETE, [(seq, each.source) for each in feedback])
    connection.executemany(_INSERT, [(seq, *_row(each)) for each in feedback])


def _row(feedback: Feedback) -> tuple[str, float | None, str | None, str | None, int]:
    return feedback.source, feedback.score, feedback.label, feedback.comment, feedback.at


def _feedback(row: tuple[Any, ...]) -> Feedback:
    source, score, label, comment, at = row
    return Feedback(source=source, score=score, label=label, comment=comment, at=at)


def _expire(connection: apsw.Connection) -> None:
    connection.execute(_EXPIRE, (clock.wall_us() - PENDING_US,))


class FeedbackTables:
    """Stores the feedback of newly recorded requests on the writer's connection."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def store(self, records: Sequence[Record], first: int) -> None:
        """Store the feedback that the records already have, and the pending feedback on these records.

        The method works within the caller's transaction. The ``seq`` of the records are consecutive from ``first``. If
        several records have the same foreign id, the newest record gets the pending feedback on this id.
        """
        pending = self._pending_ids()
        for seq, record in zip(range(first + len(records) - 1, first - 1, -1), reversed(records), strict=True):
            found = list(record.feedback)
            if pending:
                ids = pending.intersection(_ids(record))
                pending -= ids
                joining = [_feedback(row) for id_ in ids for row in self._connection.execute(_TAKE_PENDING, (id_,))]
                found += sorted(joining, key=lambda each: each.at)
            if found:
                _store(self._connection, seq, combined(found))

    def expire(self) -> None:
        """Delete expired pending feedback in a separate transaction."""
        if self._connection.execute(_HAS_EXPIRED, (clock.wall_us() - PENDING_US,)).get:
            with self._connection:
                _expire(self._connection)

    def _pending_ids(self) -> set[str]:
        """Return the request ids of all pending feedback. There are at most MAX_PENDING ids."""
        if not self._connection.execute("SELECT EXISTS (SELECT 1 FROM pending_feedback)").get:
            return set()
        _expire(self._connection)
        return {id_ for (id_,) in self._connection.execute("SELECT DISTINCT request_id FROM pending_feedback")}


def _ids(record: Record) -> set[str]:
    return {pending_id(each) for each in (record.id, *record.foreign_ids)}
