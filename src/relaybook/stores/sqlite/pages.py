"""Builds pages of the log out of searches: by cursor, around a record, and what is new since one."""

from collections.abc import Sequence
from typing import Final

import apsw

from relaybook.filters import Cursor, Filter
from relaybook.records import Record
from relaybook.stores.base import Page
from relaybook.stores.sqlite.plan import Plan, Span, make_plan
from relaybook.stores.sqlite.rows import SELECT_LIST, record_of
from relaybook.stores.sqlite.search import Deadline, Found, search

_BY_SEQ: Final = f"SELECT {SELECT_LIST} FROM requests AS r WHERE r.seq = ?"  # noqa: S608 - our own column names


def last_seq(connection: apsw.Connection) -> int:
    seq: int = connection.execute("SELECT value FROM totals WHERE name = 'last_seq'").get
    return seq


def older(connection: apsw.Connection, wanted: Filter, limit: int, before: int | None, deadline: Deadline) -> Page:
    """What was recorded before the record ``before``, or the newest."""
    end = last_seq(connection) + 1
    start = end if before is None else min(before, end)
    found = _walk(connection, wanted, (1, start), limit, deadline, newest_first=True)
    next_cursor = Cursor("older", found.reached) if found.has_more else None
    return _page(connection, found.seqs, next_cursor, found.complete)


def newer(connection: apsw.Connection, wanted: Filter, limit: int, after: int, deadline: Deadline) -> Page:
    """The records directly newer than ``after``, latest first all the same."""
    found = _walk(connection, wanted, (after + 1, last_seq(connection) + 1), limit, deadline, newest_first=False)
    seqs = found.seqs[::-1]
    page = _page(connection, seqs, None, found.complete)
    if not found.complete:
        page.newer_cursor = Cursor("newer", found.reached)
    if seqs:
        rest = _walk(connection, wanted, (1, seqs[-1]), 0, deadline, newest_first=True)
        page.next_cursor = Cursor("older", seqs[-1]) if rest.has_more else None
    return page


def around(connection: apsw.Connection, record_id: str, wanted: Filter, limit: int, deadline: Deadline) -> Page | None:
    """A page with the record in it, its neighbours being those of the filter."""
    seq = connection.execute("SELECT seq FROM requests WHERE id = ?", (record_id,)).get
    if seq is None:
        return None
    end = last_seq(connection) + 1
    after = _walk(connection, wanted, (seq + 1, end), limit // 2, Deadline(deadline.at_ns), newest_first=False)
    before = _walk(connection, wanted, (1, seq), limit - 1 - limit // 2, deadline, newest_first=True)
    oldest = before.reached if before.seqs or not before.complete else seq
    next_cursor = Cursor("older", oldest) if before.has_more else None
    seqs = [*after.seqs[::-1], seq, *before.seqs]
    return _page(connection, seqs, next_cursor, after.complete and before.complete)


def since(
    connection: apsw.Connection, seq: int, wanted: Filter, limit: int, deadline: Deadline
) -> tuple[list[Record], int]:
    """Records after ``seq``, oldest first, and how far nothing was left out."""
    last = last_seq(connection)
    found = _walk(connection, wanted, (seq + 1, last + 1), limit, deadline, newest_first=False)
    connection.set_progress_handler(None)
    records = load(connection, found.seqs)
    if len(records) == limit or not found.complete:
        return records, found.seqs[-1] if len(records) == limit else found.reached
    return records, max(seq, last)


def load(connection: apsw.Connection, seqs: Sequence[int]) -> list[Record]:
    """The records of these numbers, in this order."""
    return [record_of(row) for row in connection.executemany(_BY_SEQ, ((seq,) for seq in seqs))]


def _walk(
    connection: apsw.Connection, wanted: Filter, within: Span, limit: int, deadline: Deadline, *, newest_first: bool
) -> Found:
    start = within[1] if newest_first else within[0] - 1
    deadline.watch(connection)
    try:
        plan: Plan = make_plan(connection, wanted, within)
    except apsw.InterruptError:
        return Found([], True, False, start)
    return search(connection, plan, limit, deadline, newest_first=newest_first)


def _page(connection: apsw.Connection, seqs: Sequence[int], next_cursor: Cursor | None, complete: bool) -> Page:
    connection.set_progress_handler(None)  # it is one page's worth, and what was found must come back
    records = load(connection, seqs)
    newer_cursor = Cursor("newer", seqs[0]) if seqs else None
    return Page(records=records, next_cursor=next_cursor, newer_cursor=newer_cursor, complete=complete)
