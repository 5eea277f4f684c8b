"""Read pages of the log by ``seq``.

A search sends one query for each window of ``seq`` values. So if the deadline ends the search, the reader knows which
windows it has searched.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Final, NamedTuple

from relaybook.log.query.filters import CONTAINS, Cursor, Filter
from relaybook.log.record import Record
from relaybook.log.store.clickhouse.connection import Database, Parameters, Row
from relaybook.log.store.clickhouse.feedback import load_feedback
from relaybook.log.store.clickhouse.filter_sql import condition, namespace_condition
from relaybook.log.store.clickhouse.recorders import HOUR
from relaybook.log.store.clickhouse.rows import RECORD, records_of
from relaybook.log.store.clickhouse.substrings import containing, extended
from relaybook.log.store.errors import DeadlinePassed
from relaybook.log.store.port import Page

#: A search examines one window of ``seq`` values after the other. The first window covers an hour. Each later window is
#: this many times as long as the window before it.
_GROWTH: Final = 16
#: ClickHouse uses the projection ``requests_by_namespace`` only if reading the table in the order of ``seq`` is
#: disabled.
_BY_NAMESPACE: Final = "SETTINGS optimize_read_in_order = 0"
#: Terms whose columns are also in the projection ``requests_by_namespace``.
_IN_ORDER: Final = frozenset(("namespace", "model", "outcome", "failed", "from", "to"))


class Found(NamedTuple):
    """The rows that a search found, in the order in which they were searched.

    ``reached`` is the last examined ``seq`` if the deadline ended the search, otherwise `None`.
    """

    rows: list[Row]
    reached: int | None


def windows(
    database: Database, low: int, high: int, deadline_ns: int, *, newest_first: bool
) -> Iterator[tuple[int, int]]:
    """Split the ``seq`` values from ``low`` to ``high`` into windows, which are pairs of lowest and highest value.

    All bounds are inclusive. If ``newest_first`` is True, the highest window is first, otherwise the lowest. Windows
    after the first do not reach below the ``seq`` of the oldest request.
    """
    size = HOUR
    while low <= high:
        if newest_first:
            yield max(low, high - size + 1), high
            high -= size
        else:
            yield low, min(high, low + size - 1)
            low += size
        if size == HOUR and low <= high:
            with suppress(DeadlinePassed):  # the query of the next window raises the same error
                ((oldest,),) = database.query("SELECT min(seq) FROM requests", deadline_ns=deadline_ns)
                low = max(low, oldest)
        size *= _GROWTH


def search(
    database: Database,
    filter_: Filter,
    bounds: tuple[int, int],
    limit: int,
    deadline_ns: int,
    *,
    newest_first: bool,
    columns: str = RECORD,
    as_bytes: Sequence[str] = ("record",),
) -> Found:
    """Return the columns of at most ``limit`` matches whose ``seq`` is within the bounds, which are inclusive."""
    rows: list[Row] = []
    for low, high in windows(database, *bounds, deadline_ns, newest_first=newest_first):
        wanted = limit - len(rows)
        parameters = Parameters()
        extra = [f"r.seq BETWEEN {low} AND {high}"]
        reached = None
        if any(term.name == CONTAINS for term in filter_.terms):
            found = containing(database, filter_, (low, high), wanted, deadline_ns, newest_first=newest_first)
            extra.append(f"r.seq IN ({', '.join(map(str, found.seqs)) or '-1'})")
            reached = found.reached
        order = f"ORDER BY r.seq {'DESC' if newest_first else ''}"
        matching = f"{condition(filter_, parameters, *extra)} {order} LIMIT {wanted}"
        until_ns = deadline_ns if reached is None else extended(deadline_ns)
        try:
            where = _where(database, filter_, matching, order, parameters, until_ns)
            if where is not None:
                sql = f"SELECT {columns} FROM requests AS r WHERE {where}"
                rows += database.query(sql, parameters.values, deadline_ns=until_ns, as_bytes=as_bytes)
        except DeadlinePassed:
            return Found(rows, high + 1 if newest_first else low - 1)
        if reached is not None:
            return Found(rows, reached)
        if len(rows) >= limit:
            break
    return Found(rows, None)


def _where(
    database: Database, filter_: Filter, matching: str, order: str, parameters: Parameters, deadline_ns: int
) -> str | None:
    """Return a faster condition, with order, for the rows of ``matching``. `None` means that there are no such rows.

    With this condition, ClickHouse first reads only the columns that the terms use. ClickHouse reads the other columns
    only for rows that match. If the filter limits the namespaces, ClickHouse can read the projection
    ``requests_by_namespace``, in which the rows of a namespace are close together.
    """
    if not filter_.terms:
        return matching
    in_namespaces = namespace_condition(filter_, parameters)
    if in_namespaces is None:
        return f"r.seq IN (SELECT r.seq FROM requests AS r WHERE {matching}) {order}"
    is_in_order = _IN_ORDER.issuperset(term.name for term in filter_.terms)
    sql = f"SELECT r.seq FROM requests AS r WHERE {matching} {_BY_NAMESPACE if is_in_order else ''}"
    seqs = [str(seq) for (seq,) in database.query(sql, parameters.values, deadline_ns=deadline_ns)]
    return f"{in_namespaces} AND r.seq IN ({', '.join(seqs)}) {order} {_BY_NAMESPACE}" if seqs else None


def older(database: Database, filter_: Filter, limit: int, below: int, deadline_ns: int) -> Page:
    """Return the newest matches whose ``seq`` is lower than ``below``."""
    found = search(database, filter_, (1, below - 1), limit + 1, deadline_ns, newest_first=True)
    records = list(records_of(found.rows[:limit]))
    load_feedback(database, records)
    next_cursor = None
    if len(found.rows) > limit:
        next_cursor = Cursor("older", _seq(records[-1]) if records else below)
    elif found.reached is not None:
        next_cursor = Cursor("older", min([found.reached, *(_seq(record) for record in records[-1:])]))
    return Page(
        records=records,
        next_cursor=next_cursor,
        newer_cursor=Cursor("newer", _seq(records[0])) if records else None,
        complete=found.reached is None or len(found.rows) > limit,
    )


def newer(database: Database, filter_: Filter, limit: int, above: int, last: int, deadline_ns: int) -> Page:
    """Return a page of the oldest matches whose ``seq`` is higher than ``above``.

    Within the page, the newest match is first.
    """
    found = search(database, filter_, (above + 1, last), limit, deadline_ns, newest_first=False)
    records = list(records_of(found.rows))[::-1]
    load_feedback(database, records)
    is_complete = found.reached is None or len(records) == limit
    if not records:
        cursor = None if found.reached is None else Cursor("newer", found.reached)
        return Page(records=[], next_cursor=None, newer_cursor=cursor, complete=is_complete)
    oldest, newest = _seq(records[-1]), _seq(records[0])
    return Page(
        records=records,
        next_cursor=Cursor("older", oldest) if has_older(database, filter_, oldest, deadline_ns) else None,
        newer_cursor=Cursor("newer", newest if is_complete else max(newest, found.reached or 0)),
        complete=is_complete,
    )


def has_older(database: Database, filter_: Filter, seq: int, deadline_ns: int) -> bool:
    """Return whether there are matches with a lower ``seq``. Also returns True if the deadline ended the search."""
    found = search(database, filter_, (1, seq - 1), 1, deadline_ns, newest_first=True, columns="1")
    return bool(found.rows) or found.reached is not None


def around(database: Database, center: Record, filter_: Filter, limit: int, last: int, deadline_ns: int) -> Page:
    """Return a page with the record ``center`` between newer and older matches; see ``Reader.around``."""
    seq = _seq(center)
    after = newer(database, filter_, limit // 2, seq, last, deadline_ns)
    before = older(database, filter_, limit - 1 - limit // 2, seq, deadline_ns)
    records = [*after.records, center, *before.records]
    return Page(
        records=records,
        next_cursor=before.next_cursor,
        newer_cursor=Cursor("newer", _seq(records[0])),
        complete=after.complete and before.complete,
    )


def _seq(record: Record) -> int:
    assert record.seq is not None
    return record.seq
