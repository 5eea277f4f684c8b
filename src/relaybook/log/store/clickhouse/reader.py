"""Read a ClickHouse database.

A call sends one or a few queries. The search queries of a call may run only until the call's deadline.

A reader creates missing tables. So a log to which no recorder has written yet is empty and causes no error.
"""

from collections import Counter
from collections.abc import Collection, Iterator
from typing import Any, Final, NamedTuple

import msgspec

from relaybook import clock
from relaybook.log.aggregate.stats import Stats, StatsQuery
from relaybook.log.deletions import Deletion
from relaybook.log.namespaces import NamespaceQuery, NamespaceRow
from relaybook.log.query.filters import Cursor, Filter, Sort, matches
from relaybook.log.query.found_values import FoundValues
from relaybook.log.record import FOREIGN_IDS, Detail, Gap, Record, Side
from relaybook.log.rereads import Reread
from relaybook.log.retention import Removal, RequestTimes
from relaybook.log.saved_filters import SavedFilter
from relaybook.log.store.clickhouse import lists, pages
from relaybook.log.store.clickhouse.connection import Database, Parameters
from relaybook.log.store.clickhouse.deletions import read_deletions
from relaybook.log.store.clickhouse.entries import read_body, read_entries, read_stored
from relaybook.log.store.clickhouse.feedback import load_feedback
from relaybook.log.store.clickhouse.labels import decode_labels
from relaybook.log.store.clickhouse.recorders import complete_to, live_recorders, recorder_states
from relaybook.log.store.clickhouse.rereads import read_rereads
from relaybook.log.store.clickhouse.retention import request_times
from relaybook.log.store.clickhouse.rows import RECORD, decode_detail, decode_position, record_of, records_of
from relaybook.log.store.clickhouse.saved_filters import read_saved_filters
from relaybook.log.store.clickhouse.schema import LINKED, NAMESPACE_SUMS, create_tables
from relaybook.log.store.clickhouse.state import State
from relaybook.log.store.clickhouse.stats import stats
from relaybook.log.store.entry import Entry
from relaybook.log.store.port import Count, FeedbackTotals, Link, Page, Running, StoredRecord, ValueCount
from relaybook.log.store.status import StoreStatus
from relaybook.settings.store_url import DatabaseAddress

#: Deadline of calls without a deadline parameter.
_DEADLINE_NS: Final = 10 * clock.NANOSECONDS
_STORED: Final = f"{RECORD}, r.detail, r.request_size, r.response_size"
_TOTALLED: Final = ("requests", "first_at", "first_content_at")
_TOTALS: Final = f"""
SELECT sum(requests), count(), minOrNull(first_at), min(first_content_at) FROM (
  SELECT namespace, {", ".join(f"{NAMESPACE_SUMS[name]} AS {name}" for name in _TOTALLED)} FROM requests
  WHERE NOT removed GROUP BY namespace
)
"""
#: Totals are cached if computing them takes longer than ``_LONG_NS``. They are kept for ``_KEPT_TIMES`` times as long
#: as the computation took.
_LONG_NS: Final = 50_000_000
_KEPT_TIMES: Final = 20
_decode_record: Final = msgspec.msgpack.Decoder(Record).decode
_decode_content: Final = msgspec.msgpack.Decoder(tuple[Detail | None, bytes | None, bytes | None]).decode
_decode_removal: Final = msgspec.msgpack.Decoder(Removal).decode
_decode_gap: Final = msgspec.msgpack.Decoder(Gap).decode


class _Totals(NamedTuple):
    """Values of ``StoreStatus`` that are computed from all requests and all feedback.

    ``oldest_at`` is `None` if there are no requests. ``oldest_content_at`` is `None` if no request has content.
    """

    requests: int
    namespaces: int
    oldest_at: int | None
    oldest_content_at: int | None
    with_feedback: int


class ClickHouseReader:
    """A thread-safe reader. Any process can open any number of readers."""

    def __init__(self, address: DatabaseAddress) -> None:
        """Create a reader. The connection is opened for the first query."""
        self._unchecked = Database(address)
        self._state = State(self._unchecked)
        self._is_created = False
        self._kept: _Totals | None = None
        self._kept_until_ns = 0

    @property
    def _database(self) -> Database:
        """The database. Missing tables are created first. Raises UnsupportedSchema and StoreUnavailable."""
        if not self._is_created:
            create_tables(self._unchecked, self._state)
            self._is_created = True
        return self._unchecked

    def page(self, filter_: Filter, limit: int, cursor: Cursor | None, deadline_ns: int) -> Page:
        last = self.last_seq()
        if cursor is not None and cursor.direction == "newer":
            return pages.newer(self._database, filter_, limit, cursor.seq, last, deadline_ns)
        below = last + 1 if cursor is None else min(cursor.seq, last + 1)
        return pages.older(self._database, filter_, limit, below, deadline_ns)

    def around(self, record_id: str, filter_: Filter, limit: int, deadline_ns: int) -> Page | None:
        center = self.get(record_id)
        if center is None:
            return None
        return pages.around(self._database, center.record, filter_, limit, self.last_seq(), deadline_ns)

    def top(self, filter_: Filter, sort: Sort, limit: int, deadline_ns: int) -> Page:
        return lists.top(self._database, filter_, sort, limit, self.last_seq(), deadline_ns)

    def count(self, filter_: Filter, deadline_ns: int) -> Count:
        return lists.count(self._database, filter_, self.last_seq(), deadline_ns)

    def feedback_totals(self, filter_: Filter, deadline_ns: int) -> FeedbackTotals:
        return lists.feedback_totals(self._database, filter_, self.last_seq(), deadline_ns)

    def stats(self, question: StatsQuery, deadline_ns: int) -> Stats:
        return stats(self._database, self._state, question, self.last_seq(), deadline_ns)

    def running(self, filter_: Filter) -> list[Record]:
        _ = self._database
        records = map(_decode_record, self._state.read("running", live_recorders(self._state)).values())
        found = [record for record in records if matches(filter_, record)]
        return sorted(found, key=lambda record: (record.started_at, record.id), reverse=True)

    def open_request(self, record_id: str) -> Running | None:
        _ = self._database
        live = live_recorders(self._state)
        record, content = (self._state.get(kind, record_id, live) for kind in ("running", "running_content"))
        if record is None or content is None:
            return None
        detail, request, response = _decode_content(content)
        return Running(record=_decode_record(record), detail=detail, request=request, response=response)

    def get(self, record_id: str) -> StoredRecord | None:
        parameters = Parameters()
        sql = f"SELECT {_STORED} FROM requests AS r WHERE r.id = {parameters.add(record_id)} AND NOT r.removed LIMIT 1"
        rows = self._database.query(sql, parameters.values, as_bytes=("record", "detail"))
        if not rows:
            return None
        *row, detail, request_size, response_size = rows[0]
        record = record_of(row)
        load_feedback(self._database, [record])
        return StoredRecord(
            record=record, detail=decode_detail(detail), request_size=request_size, response_size=response_size
        )

    def entries(self, after: int, limit: int, max_bytes: int) -> list[Entry]:
        condition = f"NOT r.removed AND r.seq > {after} AND r.seq <= {self.last_seq()}"
        return read_entries(self._database, condition, Parameters(), "r.seq", limit, max_bytes)

    def links(self, filter_: Filter, limit: int, cursor: Cursor | None, deadline_ns: int) -> list[Link]:
        last = self.last_seq()
        is_newer = cursor is not None and cursor.direction == "newer"
        bounds = (1, last) if cursor is None else (cursor.seq + 1, last) if is_newer else (1, min(last, cursor.seq - 1))
        found = pages.search(
            self._database,
            filter_,
            bounds,
            limit,
            deadline_ns,
            newest_first=not is_newer,
            columns=", ".join(f"r.{name}" for name in LINKED),
            as_bytes=("chain",),
        )
        links = [
            Link(
                seq=seq,
                id=id_,
                started_at=started_at,
                failed=failed,
                completion_id=completion_id,
                session=session,
                chain=chain,
                model=model,
            )
            for seq, id_, started_at, failed, completion_id, session, chain, model in found.rows
        ]
        return links[::-1] if is_newer else links

    def find(self, foreign_id: str, limit: int) -> list[Record]:
        parameters = Parameters()
        value = parameters.add(foreign_id)
        found = " UNION ALL ".join(f"SELECT seq FROM requests WHERE `{name}` = {value}" for name in FOREIGN_IDS)
        sql = f"SELECT {RECORD} FROM requests AS r WHERE r.seq IN ({found}) ORDER BY r.seq DESC LIMIT {limit}"
        records = list(records_of(self._database.query(sql, parameters.values, as_bytes=("record",))))
        load_feedback(self._database, records)
        return records

    def body(self, record_id: str, side: Side) -> Iterator[bytes] | None:
        return read_body(self._database, record_id, side)

    def namespaces(
        self, query: NamespaceQuery, limit: int, after: str | None, deadline_ns: int
    ) -> tuple[list[NamespaceRow], str | None]:
        database = self._database
        labels = decode_labels(self._state.read("label", deadline_ns=deadline_ns))
        return lists.namespace_rows(database, labels, query, limit, after, deadline_ns)

    def request_times(self, patterns: Collection[str], deadline_ns: int) -> RequestTimes:
        return request_times(self._database, patterns, deadline_ns)

    def values(self, field: str, prefix: str, limit: int, deadline_ns: int) -> list[ValueCount]:
        return lists.values(self._database, field, prefix, limit, deadline_ns)

    def find_values(self, text: str, limit: int, deadline_ns: int) -> FoundValues:
        return lists.find_values(self._database, text, limit, deadline_ns)

    def saved_filters(self) -> list[SavedFilter]:
        _ = self._database
        return list(read_saved_filters(self._state).values())

    def gaps(self, since_us: int) -> list[Gap]:
        _ = self._database
        gaps = map(_decode_gap, self._state.read("gap").values())
        return sorted((gap for gap in gaps if gap.to_at >= since_us), key=lambda gap: gap.to_at, reverse=True)

    def deletions(self, limit: int) -> list[Deletion]:
        _ = self._database
        return read_deletions(self._state, limit)

    def rereads(self, limit: int) -> list[Reread]:
        _ = self._database
        return read_rereads(self._state, limit)

    def last_seq(self) -> int:
        _ = self._database
        return complete_to(self._state)

    def since(self, seq: int, filter_: Filter, limit: int) -> tuple[list[Record], int]:
        found, reached = self._since(seq, filter_, limit, RECORD)
        records = list(records_of(found))
        load_feedback(self._database, records)
        return records, reached

    def _since(self, seq: int, filter_: Filter, limit: int, columns: str) -> tuple[list[Any], int]:
        last = self.last_seq()
        found = pages.search(
            self._database,
            filter_,
            (seq + 1, last),
            limit,
            clock.monotonic_ns() + _DEADLINE_NS,
            newest_first=False,
            columns=f"r.seq AS found_seq, {columns}",
        )
        rows = [row[1:] for row in found.rows]
        if len(rows) == limit:
            return rows, found.rows[-1][0]
        return rows, max(seq, last if found.reached is None else found.reached)

    def stored_since(self, seq: int, filter_: Filter, limit: int) -> tuple[Iterator[StoredRecord], int]:
        rows, reached = self._since(seq, filter_, limit, "r.seq, r.request_size, r.response_size")
        return read_stored(self._database, rows), reached

    def status(self) -> StoreStatus:
        totals = self._totals()
        meta = self._state.read("meta")
        labels = decode_labels(self._state.read("label"))
        pinned = [name for name, label in labels.items() if label.pinned]
        known = "SELECT namespace FROM requests WHERE NOT removed AND namespace IN %(pinned)s GROUP BY namespace"
        unused = len(pinned) - (len(self._database.query(known, {"pinned": pinned})) if pinned else 0)
        size = "SELECT sum(bytes_on_disk) FROM system.parts WHERE database = currentDatabase()"
        ((bytes_on_disk,),) = self._database.query(size)
        refused = Counter[str]()
        for code, number in self._state.read_all("refused"):
            refused[code] += int(number)
        last_seq = self.last_seq()
        return StoreStatus(
            records=totals.requests,
            namespaces=totals.namespaces + unused,
            labels=len(pinned),
            last_seq=last_seq,
            feedback=totals.with_feedback,
            indexed_to=last_seq,
            bytes_on_disk=bytes_on_disk,
            positions={run: decode_position(value) for run, value in self._state.read("position").items()},
            refused=dict(refused),
            oldest_at=totals.oldest_at,
            oldest_content_at=totals.oldest_content_at,
            last_removal=_decode_removal(meta["last_removal"]) if "last_removal" in meta else None,
            recorders=recorder_states(self._state),
        )

    def _totals(self) -> "_Totals":
        """Return the totals. Totals that take long to compute are cached for a while."""
        began_ns = clock.monotonic_ns()
        if self._kept is not None and began_ns < self._kept_until_ns:
            return self._kept
        ((requests, namespaces, oldest_at, oldest_content_at),) = self._database.query(_TOTALS)
        ((with_feedback,),) = self._database.query("SELECT uniqExact(id) FROM feedback FINAL")
        self._kept = _Totals(requests, namespaces, oldest_at, oldest_content_at, with_feedback)
        now_ns = clock.monotonic_ns()
        took_ns = now_ns - began_ns
        self._kept_until_ns = now_ns + (took_ns * _KEPT_TIMES if took_ns > _LONG_NS else 0)
        return self._kept

    def close(self) -> None:
        """Close the connections. Idempotent."""
        self._unchecked.close()
