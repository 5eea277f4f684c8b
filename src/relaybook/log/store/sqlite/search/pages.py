"""Build pages that start at a cursor, have a record in the middle, or contain the records after a record."""

from collections.abc import Sequence
from typing import Any, Final

import apsw

from relaybook.ids import id_text
from relaybook.log.query.filters import Cursor, Filter, needs_text
from relaybook.log.record import Record
from relaybook.log.store.port import Link, Page
from relaybook.log.store.sqlite.index.block_ranges import SeqRange
from relaybook.log.store.sqlite.index.text_index import indexed_to
from relaybook.log.store.sqlite.rows import SELECT_LIST, WITH_BODIES, id_bytes, record_of
from relaybook.log.store.sqlite.search.plan import Plan, make_plan
from relaybook.log.store.sqlite.search.scan import Deadline, SearchResult, search

_BY_SEQ: Final = f"SELECT {SELECT_LIST} FROM requests AS r WHERE r.seq = ?"  # noqa: S608 - our own column names
_WITH_BODIES_BY_SEQ: Final = f"{WITH_BODIES} r.seq = ?"

_STEP: Final = (
    "SELECT r.seq, r.id, r.started_at, r.failed, r.completion_id, r.session, c.chain, r.model"
    " FROM requests AS r LEFT JOIN message_chains AS c ON c.seq = r.seq WHERE r.seq = ?"
)


def last_seq(connection: apsw.Connection) -> int:
    seq: int = connection.execute("SELECT value FROM totals WHERE name = 'last_seq'").get
    return seq


def older(connection: apsw.Connection, filter_: Filter, limit: int, before: int | None, deadline: Deadline) -> Page:
    """Return a page of the newest matches. If ``before`` is given, only matches with a lower ``seq`` are included."""
    end = last_seq(connection) + 1
    start = end if before is None else min(before, end)
    found = _search(connection, filter_, (1, start), limit, deadline, newest_first=True)
    next_cursor = Cursor("older", found.reached) if found.has_more else None
    return _page(connection, found.seqs, next_cursor, found.complete)


def newer(connection: apsw.Connection, filter_: Filter, limit: int, after: int, deadline: Deadline) -> Page:
    """Return a page of the matches that directly follow the ``seq`` in ``after``. The newest match is first."""
    found = _search(connection, filter_, (after + 1, last_seq(connection) + 1), limit, deadline, newest_first=False)
    seqs = found.seqs[::-1]
    page = _page(connection, seqs, None, found.complete)
    if not found.complete:
        page.newer_cursor = Cursor("newer", found.reached)
    if seqs:
        rest = _search(connection, filter_, (1, seqs[-1]), 0, deadline, newest_first=True)
        page.next_cursor = Cursor("older", seqs[-1]) if rest.has_more else None
    return page


def around(connection: apsw.Connection, record_id: str, filter_: Filter, limit: int, deadline: Deadline) -> Page | None:
    """Return a page with the record, and with the matching records directly before and after this record.

    `None` if the record does not exist.
    """
    seq = connection.execute("SELECT seq FROM requests WHERE id = ?", (id_bytes(record_id),)).get
    if seq is None:
        return None
    end = last_seq(connection) + 1
    after = _search(connection, filter_, (seq + 1, end), limit // 2, Deadline(deadline.at_ns), newest_first=False)
    before = _search(connection, filter_, (1, seq), limit - 1 - limit // 2, deadline, newest_first=True)
    oldest = before.reached if before.seqs or not before.complete else seq
    next_cursor = Cursor("older", oldest) if before.has_more else None
    seqs = [*after.seqs[::-1], seq, *before.seqs]
    return _page(connection, seqs, next_cursor, after.complete and before.complete)


def since(
    connection: apsw.Connection, seq: int, filter_: Filter, limit: int, deadline: Deadline
) -> tuple[list[Record], int]:
    """Return the matching records after ``seq``, oldest first.

    The second value is the ``seq`` up to which the result is complete.
    """
    seqs, reached = _seqs_since(connection, seq, filter_, limit, deadline)
    return load(connection, seqs), reached


def rows_since(
    connection: apsw.Connection, seq: int, filter_: Filter, limit: int, deadline: Deadline
) -> tuple[list[tuple[Any, ...]], int]:
    """Return the same as ``since``, with rows of WITH_BODIES instead of records."""
    seqs, reached = _seqs_since(connection, seq, filter_, limit, deadline)
    return list(connection.executemany(_WITH_BODIES_BY_SEQ, ((seq,) for seq in seqs))), reached


def _seqs_since(
    connection: apsw.Connection, seq: int, filter_: Filter, limit: int, deadline: Deadline
) -> tuple[list[int], int]:
    last = last_seq(connection)
    if needs_text(filter_):
        last = min(last, indexed_to(connection))  # otherwise, matches that are not indexed yet would be missed
    found = _search(connection, filter_, (seq + 1, last + 1), limit, deadline, newest_first=False)
    connection.set_progress_handler(None)
    if len(found.seqs) == limit or not found.complete:
        return found.seqs, found.seqs[-1] if len(found.seqs) == limit else found.reached
    return found.seqs, max(seq, last)


def links(
    connection: apsw.Connection, filter_: Filter, limit: int, before: int | None, deadline: Deadline
) -> list[Link]:
    """Return a ``Link`` for each matching request, newest first."""
    end = last_seq(connection) + 1
    start = end if before is None else min(before, end)
    found = _search(connection, filter_, (1, start), limit, Deadline(deadline.at_ns), newest_first=True)
    connection.set_progress_handler(None)  # the number of links is limited, so they are loaded even after the deadline
    rows = connection.executemany(_STEP, ((seq,) for seq in found.seqs))
    return [
        Link(
            seq=seq,
            id=id_text(raw_id),
            started_at=at,
            failed=bool(failed),
            completion_id=completion_id,
            session=session,
            chain=chain,
            model=model,
        )
        for seq, raw_id, at, failed, completion_id, session, chain, model in rows
    ]


def load(connection: apsw.Connection, seqs: Sequence[int]) -> list[Record]:
    """Return the records with these ``seq`` values, in this order."""
    return [record_of(row) for row in connection.executemany(_BY_SEQ, ((seq,) for seq in seqs))]


def _search(
    connection: apsw.Connection,
    filter_: Filter,
    within: SeqRange,
    limit: int,
    deadline: Deadline,
    *,
    newest_first: bool,
) -> SearchResult:
    start = within[1] if newest_first else within[0] - 1
    deadline.watch(connection)
    try:
        plan: Plan = make_plan(connection, filter_, within)
    except apsw.InterruptError:
        return SearchResult([], True, False, start)
    return search(connection, plan, limit, deadline, newest_first=newest_first)


def _page(connection: apsw.Connection, seqs: Sequence[int], next_cursor: Cursor | None, complete: bool) -> Page:
    connection.set_progress_handler(None)  # the size of a page is limited, so it is loaded even after the deadline
    records = load(connection, seqs)
    newer_cursor = Cursor("newer", seqs[0]) if seqs else None
    return Page(records=records, next_cursor=next_cursor, newer_cursor=newer_cursor, complete=complete)
