"""The reference store: everything in plain lists, filters applied by their own definition.

It says what the other stores must mean, and serves tests. One object is Writer, Reader and Labels at once; it is not
durable and every question scans everything.
"""

import threading
from collections import Counter
from collections.abc import Iterator

import msgspec

from relaybook.filters import Cursor, Filter, matches
from relaybook.ids import id_text
from relaybook.records import Gap, Record, Side
from relaybook.stores import memory_lists
from relaybook.stores.base import (
    Batch,
    BatchRejected,
    Body,
    Count,
    Entry,
    Extent,
    Moved,
    NamespaceRow,
    NamespaceSort,
    Page,
    Running,
    RunPosition,
    Stored,
    StoreStatus,
    ValueCount,
    body_size,
)
from relaybook.stores.label_rules import FIRST, Label, changed, looks_like_id
from relaybook.stores.labels import LabelChange


class MemoryStore:
    """A store that lasts as long as the object. Any thread may read while one writes."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._entries: list[Entry] = []
        self._by_id: dict[str, Entry] = {}
        self._aside: dict[Extent, bytes] = {}
        self._aside_end = 0
        self._positions: dict[str, RunPosition] = {}
        self._moved: dict[bytes, Moved] = {}
        self._running: dict[str, Running] = {}
        self._gaps: list[Gap] = []
        self._refused: Counter[str] = Counter()
        #: Of every namespace that people or the log decided on.
        self._labels: dict[str, Label] = {}
        self._first_labels = 0

    # Writer

    def commit(self, batch: Batch) -> None:
        _refuse_what_cannot_be_stored(batch)
        with self._lock:
            for entry in batch.entries:
                self._add(entry)
            self._positions.update(batch.positions)
            self._moved.update((moved.exchange, moved) for moved in batch.moved)
            recorded = {entry.record.id for entry in batch.entries}
            if batch.running is not None:
                self._running = {running.record.id: _copy(running) for running in batch.running}
            self._running = {key: running for key, running in self._running.items() if key not in recorded}
            self._moved = {
                exchange: moved
                for exchange, moved in self._moved.items()
                if id_text(exchange) not in recorded and moved.run not in batch.runs_over
            }
            for run in batch.runs_over:
                self._positions.pop(run, None)
            self._gaps += batch.gaps
            self._refused.update(batch.refused)
            for extent in batch.erase:
                self._aside.pop(extent, None)

    def _add(self, entry: Entry) -> None:
        known = self._by_id.get(entry.record.id)
        if known is None:
            entry.record.seq = len(self._entries) + 1
            known = msgspec.structs.replace(entry, record=msgspec.structs.replace(entry.record))
            self._entries.append(known)
            self._by_id[entry.record.id] = known
            self._label_by_itself(entry.record.namespace)
        entry.record.seq = known.record.seq

    def _label_by_itself(self, namespace: str) -> None:
        if self._first_labels < FIRST and namespace not in self._labels and not looks_like_id(namespace):
            self.change(LabelChange(namespace=namespace, pinned=True))
            self._first_labels += 1

    def set_aside(self, data: bytes) -> Extent:
        with self._lock:
            extent = Extent(0, self._aside_end, len(data), len(data))
            self._aside_end += max(1, len(data))
            self._aside[extent] = bytes(data)
            return extent

    def read_back(self, extent: Extent) -> bytes:
        with self._lock:
            return self._aside[extent]

    def positions(self) -> dict[str, RunPosition]:
        return dict(self._positions)

    def moved(self, run: str) -> list[Moved]:
        with self._lock:
            return [moved for moved in self._moved.values() if moved.run == run]

    def close(self) -> None:
        """Nothing to release: the same object goes on answering."""

    # Labels

    def change(self, change: LabelChange) -> NamespaceRow:
        name = change.namespace
        with self._lock:
            others = [label for other, label in self._labels.items() if other != name and label.pinned]
            self._labels[name] = changed(self._labels.get(name) or Label(), change, others)
            return next(row for row in self._namespace_rows() if row.namespace == name)

    # Reader

    def _matching(self, wanted: Filter) -> list[Record]:
        """Copies of the records a filter wants, oldest first."""
        with self._lock:
            records = [entry.record for entry in self._entries]
        return [msgspec.structs.replace(record) for record in records if matches(wanted, record)]

    def page(self, wanted: Filter, limit: int, cursor: Cursor | None, deadline_ns: int) -> Page:
        found = self._matching(wanted)
        if cursor is not None and cursor.direction == "newer":
            records = [record for record in found if _seq(record) > cursor.seq][:limit][::-1]
        else:
            below = [record for record in found if cursor is None or _seq(record) < cursor.seq]
            records = below[-limit:][::-1]
        return _page(records, found)

    def around(self, record_id: str, wanted: Filter, limit: int, deadline_ns: int) -> Page | None:
        centre = self.get(record_id)
        if centre is None:
            return None
        found = self._matching(wanted)
        seq = _seq(centre.record)
        newer = [record for record in found if _seq(record) > seq][: limit // 2][::-1]
        older = [record for record in found if _seq(record) < seq][::-1][: limit - 1 - limit // 2]
        return _page([*newer, centre.record, *older], found)

    def count(self, wanted: Filter, deadline_ns: int) -> Count:
        found = self._matching(wanted)
        return Count(
            requests=len(found),
            failed=sum(record.failed for record in found),
            last_at=max((record.started_at for record in found), default=None),
        )

    def running(self, wanted: Filter) -> list[Record]:
        running = [_copy(one).record for one in self._running.values() if matches(wanted, one.record)]
        return sorted(running, key=lambda record: (record.started_at, record.id), reverse=True)

    def open_request(self, record_id: str) -> Running | None:
        running = self._running.get(record_id)
        return None if running is None else _copy(running)

    def get(self, record_id: str) -> Stored | None:
        entry = self._by_id.get(record_id)
        if entry is None:
            return None
        return Stored(
            record=msgspec.structs.replace(entry.record),
            detail=entry.detail,
            request_size=body_size(entry.request),
            response_size=body_size(entry.response),
        )

    def find(self, foreign_id: str, limit: int) -> list[Record]:
        found = self._matching(Filter())[::-1]
        carriers = [
            record
            for record in found
            if foreign_id in (record.provider_request_id, record.completion_id, record.client_request_id)
        ]
        return carriers[:limit]

    def body(self, record_id: str, side: Side) -> Iterator[bytes] | None:
        entry = self._by_id.get(record_id)
        body: Body | None = None if entry is None else getattr(entry, side)
        if body is None:
            return None
        return iter([*(self._aside[extent] for extent in body.extents), *body.rest])

    def namespaces(
        self, prefix: str, sort: NamespaceSort, limit: int, after: str | None, pinned: bool | None, deadline_ns: int
    ) -> tuple[list[NamespaceRow], str | None]:
        return memory_lists.namespaces(self._namespace_rows(), prefix, sort, limit, after, pinned)

    def _namespace_rows(self) -> list[NamespaceRow]:
        return memory_lists.namespace_rows(self._matching(Filter()), self._labels)

    def values(self, field: str, prefix: str, limit: int, deadline_ns: int) -> list[ValueCount]:
        return memory_lists.values(self._matching(Filter()), field, prefix, limit)

    def gaps(self, since_us: int) -> list[Gap]:
        return sorted((gap for gap in self._gaps if gap.to_at >= since_us), key=lambda gap: gap.to_at, reverse=True)

    def last_seq(self) -> int:
        return len(self._entries)

    def since(self, seq: int, wanted: Filter, limit: int) -> tuple[list[Record], int]:
        last = self.last_seq()
        found = [record for record in self._matching(wanted) if seq < _seq(record) <= last][:limit]
        return found, _seq(found[-1]) if len(found) == limit else max(seq, last)

    def status(self) -> StoreStatus:
        return StoreStatus(
            records=len(self._entries),
            namespaces=len(self._namespace_rows()),
            labels=sum(label.pinned for label in self._labels.values()),
            last_seq=self.last_seq(),
            bytes_on_disk=0,
            positions=self.positions(),
            refused=dict(self._refused),
        )


def _seq(record: Record) -> int:
    assert record.seq is not None
    return record.seq


def _copy(running: Running) -> Running:
    """A copy that shares nothing that grows, without a number."""
    copy = msgspec.msgpack.decode(msgspec.msgpack.encode(running), type=Running)
    copy.record.seq = None
    return copy


def _page(records: list[Record], found: list[Record]) -> Page:
    """``records`` latest first, out of all that are ``found``."""
    if not records:
        return Page(records=[], next_cursor=None, newer_cursor=None)
    oldest = _seq(records[-1])
    return Page(
        records=records,
        next_cursor=Cursor("older", oldest) if any(_seq(record) < oldest for record in found) else None,
        newer_cursor=Cursor("newer", _seq(records[0])),
    )


def _refuse_what_cannot_be_stored(batch: Batch) -> None:
    """Text must be UTF-8, whole numbers must fit 64 bits: a database would refuse the same."""
    try:
        msgspec.msgpack.encode(batch)
        numbers = (value for entry in batch.entries for value in msgspec.structs.astuple(entry.record))
        too_large = [value for value in numbers if isinstance(value, int) and not -(2**63) <= value < 2**63]
    except (ValueError, TypeError, OverflowError, msgspec.MsgspecError) as error:
        raise BatchRejected(f"A value cannot be stored: {error}.") from error
    if too_large:
        raise BatchRejected(f"{too_large[0]} does not fit into 64 bits.")
