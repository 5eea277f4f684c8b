"""Read the SQLite store. Each call reads one snapshot and ends by its deadline.

The reader never writes. It can be used while another process writes, and before the store exists.
"""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, Final

from relaybook import clock
from relaybook.log.aggregate.stats import Stats, StatsQuery, build, span_of
from relaybook.log.deletions import Deletion
from relaybook.log.namespaces import NamespaceQuery, NamespaceRow
from relaybook.log.query.filters import Cursor, Filter, Sort, matches
from relaybook.log.query.found_values import FoundValue, FoundValues, best
from relaybook.log.record import Gap, Record, Side
from relaybook.log.rereads import Reread
from relaybook.log.retention import Removal, RequestTimes
from relaybook.log.saved_filters import SavedFilter
from relaybook.log.store.entry import Entry, body_size
from relaybook.log.store.errors import DeadlinePassed
from relaybook.log.store.files import BODIES, DATABASE
from relaybook.log.store.port import Count, FeedbackTotals, Link, Page, Running, StoredRecord, ValueCount
from relaybook.log.store.sqlite.feedback import feedback_totals
from relaybook.log.store.sqlite.index.foreign_ids import find
from relaybook.log.store.sqlite.index.text_index import FILE, indexed_to
from relaybook.log.store.sqlite.packs import bodies
from relaybook.log.store.sqlite.packs.pack_reader import PackReader
from relaybook.log.store.sqlite.pool import ConnectionPool
from relaybook.log.store.sqlite.recorder_state import read_positions
from relaybook.log.store.sqlite.removal.deletions import deletions
from relaybook.log.store.sqlite.rereading.rereads import rereads
from relaybook.log.store.sqlite.rows import WITH_BODIES, id_bytes, record_of
from relaybook.log.store.sqlite.running import decode_running, read_running
from relaybook.log.store.sqlite.saved_filters import saved_filters
from relaybook.log.store.sqlite.search import lists, pages
from relaybook.log.store.sqlite.search.count import count
from relaybook.log.store.sqlite.search.scan import Deadline
from relaybook.log.store.sqlite.search.stats import stats
from relaybook.log.store.sqlite.search.top import top
from relaybook.log.store.status import StoreStatus

#: Deadline of calls without a deadline parameter.
_DEADLINE_NS: Final = 2 * clock.NANOSECONDS
_BY_ID: Final = f"{WITH_BODIES} r.id = ?"
_BY_SEQ: Final = f"{WITH_BODIES} r.seq = ?"
_AFTER: Final = f"{WITH_BODIES} r.seq > ? ORDER BY r.seq LIMIT ?"
_OLDEST: Final = "SELECT min(first_at) FROM block_ranges"
_OLDEST_CONTENT: Final = "SELECT min(first_content_at) FROM block_ranges"
_REMOVAL_FIELDS: Final = ("at", "reason", "requests", "contents")
#: Counts the namespaces that no list shows.
_UNLISTED: Final = "SELECT count(*) FROM namespaces WHERE pinned = 0 AND requests = 0"
_WITH_FEEDBACK: Final = "SELECT requests FROM value_counts WHERE field = 'feedback' AND value = 'any'"
_CHAIN: Final = "SELECT chain FROM message_chains WHERE seq = ?"
_CHAINS: Final = "SELECT seq, chain FROM message_chains WHERE seq > ? ORDER BY seq LIMIT ?"


class SqliteReader:
    """A thread-safe reader. A store can have any number of readers, in any number of processes."""

    def __init__(self, directory: Path) -> None:
        """Create a reader. ``directory`` may be empty or missing.

        The log is empty until a writer creates the store.
        """
        self._directory = directory
        self._packs = PackReader(directory, lambda: self._pool.snapshot(_default_deadline()))
        self._pool = ConnectionPool(directory, self._packs)

    def page(self, filter_: Filter, limit: int, cursor: Cursor | None, deadline_ns: int) -> Page:
        deadline = Deadline(deadline_ns)
        with self._pool.snapshot(deadline) as connection:
            if connection is None:
                return Page(records=[], next_cursor=None, newer_cursor=None)
            if cursor is not None and cursor.direction == "newer":
                return pages.newer(connection, filter_, limit, cursor.seq, deadline)
            return pages.older(connection, filter_, limit, None if cursor is None else cursor.seq, deadline)

    def around(self, record_id: str, filter_: Filter, limit: int, deadline_ns: int) -> Page | None:
        deadline = Deadline(deadline_ns)
        with self._pool.snapshot(deadline) as connection:
            return None if connection is None else pages.around(connection, record_id, filter_, limit, deadline)

    def top(self, filter_: Filter, sort: Sort, limit: int, deadline_ns: int) -> Page:
        deadline = Deadline(deadline_ns)
        with self._pool.snapshot(deadline) as connection:
            if connection is None:
                return Page(records=[], next_cursor=None, newer_cursor=None)
            return top(connection, filter_, sort, limit, deadline)

    def since(self, seq: int, filter_: Filter, limit: int) -> tuple[list[Record], int]:
        deadline = _default_deadline()
        with self._pool.snapshot(deadline) as connection:
            return ([], seq) if connection is None else pages.since(connection, seq, filter_, limit, deadline)

    def stored_since(self, seq: int, filter_: Filter, limit: int) -> tuple[Iterator[StoredRecord], int]:
        deadline = _default_deadline()
        with self._pool.snapshot(deadline) as connection:
            if connection is None:
                return iter(()), seq
            rows, reached = pages.rows_since(connection, seq, filter_, limit, deadline)
        return self._with_data(rows), reached

    def _with_data(self, rows: list[tuple[Any, ...]]) -> Iterator[StoredRecord]:
        for row in rows:
            record, location = record_of(row[:-1]), bodies.decode_location(row[-1])
            stored = self._packs.stored_or_expired(record, location)
            is_lost = location is not None and stored.detail is None
            # A record whose data is lost may have been deleted meanwhile.
            if not is_lost or self._row(_BY_ID, id_bytes(record.id)) is not None:
                yield stored

    def count(self, filter_: Filter, deadline_ns: int) -> Count:
        deadline = Deadline(deadline_ns)
        with self._pool.snapshot(deadline) as connection:
            return Count() if connection is None else count(connection, filter_, deadline)

    def feedback_totals(self, filter_: Filter, deadline_ns: int) -> FeedbackTotals:
        deadline = Deadline(deadline_ns)
        with self._pool.snapshot(deadline) as connection:
            return FeedbackTotals() if connection is None else feedback_totals(connection, filter_, deadline)

    def stats(self, question: StatsQuery, deadline_ns: int) -> Stats:
        deadline = Deadline(deadline_ns)
        with self._pool.snapshot(deadline) as connection:
            if connection is None:
                return build(span_of(question, None), {}, "rollups")
            return stats(connection, question, deadline)

    def running(self, filter_: Filter) -> list[Record]:
        with self._pool.snapshot(_default_deadline()) as connection:
            rows = [] if connection is None else list(connection.execute("SELECT record FROM running"))
        records = [record for record in (decode_running(data) for (data,) in rows) if matches(filter_, record)]
        for record in records:
            record.seq = None
        return sorted(records, key=lambda record: (record.started_at, record.id), reverse=True)

    def open_request(self, record_id: str) -> Running | None:
        with self._pool.snapshot(_default_deadline()) as connection:
            return None if connection is None else read_running(connection, record_id)

    def get(self, record_id: str) -> StoredRecord | None:
        found = self._row(_BY_ID, id_bytes(record_id))
        return None if found is None else self._packs.stored_or_damaged(*found)

    def body(self, record_id: str, side: Side) -> Iterator[bytes] | None:
        found = self._row(_BY_ID, id_bytes(record_id))
        return None if found is None else self._packs.chunks(*found, side)

    def _row(self, statement: str, key: bytes | int) -> tuple[Record, bodies.RecordLocation | None] | None:
        with self._pool.snapshot(_default_deadline()) as connection:
            row = None if connection is None else connection.execute(statement, (key,)).fetchone()
        return None if row is None else (record_of(row[:-1]), bodies.decode_location(row[-1]))

    def salvage(self, seq: int, max_bytes: int | None = None) -> Entry | None:
        """Return a finished request by ``seq``, without using any index.

        The bodies of the entry are in memory, except bodies larger than ``max_bytes``. Detail and bodies are omitted if
        they cannot be read. `None` if no request has this ``seq``. Raises StoreDamaged.
        """
        found = self._row(_BY_SEQ, seq)
        if found is None:
            return None
        entry = self._packs.entry(*found, max_bytes)
        with self._pool.snapshot(_default_deadline()) as connection:
            entry.chain = None if connection is None else connection.execute(_CHAIN, (seq,)).get
        return entry

    def entries(self, after: int, limit: int, max_bytes: int) -> list[Entry]:
        with self._pool.snapshot(_default_deadline()) as connection:
            if connection is None:
                return []
            rows = list(connection.execute(_AFTER, (after, limit)))
            chains = dict(connection.execute(_CHAINS, (after, limit)))
        found: list[Entry] = []
        remaining = max_bytes
        for row in rows:
            entry = self._packs.entry(record_of(row[:-1]), bodies.decode_location(row[-1]), max_bytes)
            remaining -= (body_size(entry.request) or 0) + (body_size(entry.response) or 0)
            if remaining < 0 and found:
                break
            entry.chain = chains.get(entry.record.seq)
            found.append(entry)
        return found

    def links(self, filter_: Filter, limit: int, cursor: Cursor | None, deadline_ns: int) -> list[Link]:
        deadline = Deadline(deadline_ns)
        with self._pool.snapshot(deadline) as connection:
            if connection is None:
                return []
            return pages.links(connection, filter_, limit, None if cursor is None else cursor.seq, deadline)

    def find(self, foreign_id: str, limit: int) -> list[Record]:
        with self._pool.snapshot(_default_deadline()) as connection:
            if connection is None:
                return []
            return list(find(connection, foreign_id, limit))

    def namespaces(
        self, query: NamespaceQuery, limit: int, after: str | None, deadline_ns: int
    ) -> tuple[list[NamespaceRow], str | None]:
        with self._pool.snapshot(Deadline(deadline_ns)) as connection:
            return lists.namespaces(connection, query, limit, after)

    def request_times(self, patterns: Collection[str], deadline_ns: int) -> RequestTimes:
        with self._pool.snapshot(Deadline(deadline_ns)) as connection:
            return {} if connection is None else lists.request_times(connection, patterns)

    def values(self, field: str, prefix: str, limit: int, deadline_ns: int) -> list[ValueCount]:
        with self._pool.snapshot(Deadline(deadline_ns)) as connection:
            return lists.values(connection, field, prefix, limit)

    def find_values(self, text: str, limit: int, deadline_ns: int) -> FoundValues:
        found: list[FoundValue] = []
        is_complete = True
        try:
            with self._pool.snapshot(Deadline(deadline_ns)) as connection:
                if connection is not None:
                    found.extend(lists.values_at_start(connection, text))
                    found.extend(lists.values_with(connection, text))
        except DeadlinePassed:
            is_complete = False
        return FoundValues(best(text, found, limit), is_complete)

    def saved_filters(self) -> list[SavedFilter]:
        with self._pool.snapshot(_default_deadline()) as connection:
            return [] if connection is None else saved_filters(connection)

    def gaps(self, since_us: int) -> list[Gap]:
        sql = "SELECT from_at, to_at, count, reason FROM gaps WHERE to_at >= ? ORDER BY to_at DESC, rowid"
        with self._pool.snapshot(_default_deadline()) as connection:
            rows = [] if connection is None else list(connection.execute(sql, (since_us,)))
        return [Gap(from_at=row[0], to_at=row[1], count=row[2], reason=row[3]) for row in rows]

    def deletions(self, limit: int) -> list[Deletion]:
        with self._pool.snapshot(_default_deadline()) as connection:
            return [] if connection is None else deletions(connection, limit)

    def rereads(self, limit: int) -> list[Reread]:
        with self._pool.snapshot(_default_deadline()) as connection:
            return [] if connection is None else rereads(connection, limit)

    def last_seq(self) -> int:
        with self._pool.snapshot(_default_deadline()) as connection:
            return 0 if connection is None else pages.last_seq(connection)

    def status(self) -> StoreStatus:
        with self._pool.snapshot(_default_deadline()) as connection:
            if connection is None:
                return StoreStatus(
                    records=0,
                    namespaces=0,
                    labels=0,
                    last_seq=0,
                    feedback=0,
                    indexed_to=0,
                    bytes_on_disk=0,
                    positions={},
                    refused={},
                )
            totals = dict(connection.execute("SELECT name, value FROM totals"))
            labels: int = connection.execute("SELECT count(*) FROM namespaces WHERE pinned = 1").get
            unlisted: int = connection.execute(_UNLISTED).get
            feedback = connection.execute(_WITH_FEEDBACK).get or 0
            refused = dict(connection.execute("SELECT code, requests FROM refused"))
            positions = read_positions(connection)
            indexed = indexed_to(connection)
            oldest_at = connection.execute(_OLDEST).get
            removal = connection.execute("SELECT * FROM removals ORDER BY rowid DESC LIMIT 1").fetchone()
            oldest_content_at = connection.execute(_OLDEST_CONTENT).get
        return StoreStatus(
            records=totals["records"],
            namespaces=totals["namespaces"] - unlisted,
            labels=labels,
            last_seq=totals["last_seq"],
            feedback=feedback,
            indexed_to=indexed,
            bytes_on_disk=_bytes_on_disk(self._directory),
            positions=positions,
            refused=refused,
            oldest_at=oldest_at,
            oldest_content_at=oldest_content_at,
            last_removal=None if removal is None else Removal(**dict(zip(_REMOVAL_FIELDS, removal, strict=True))),
        )

    def close(self) -> None:
        self._pool.close()


def _default_deadline() -> Deadline:
    return Deadline(clock.monotonic_ns() + _DEADLINE_NS)


def _bytes_on_disk(directory: Path) -> int:
    """Return the disk space that the store's files occupy. Punched holes do not count."""
    files = [*directory.glob(f"{DATABASE}*"), *directory.glob(f"{FILE}*"), *(directory / BODIES).glob("*.pack")]
    total = 0
    for path in files:
        try:
            total += path.stat().st_blocks * 512
        except FileNotFoundError:
            continue
    return total
