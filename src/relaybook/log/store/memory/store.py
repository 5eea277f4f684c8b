"""The reference store: everything in plain lists, filters applied by their own definition.

It says what the other stores must mean, and serves tests. One object is Writer, Reader and Labels at once; it is not
durable, and every question scans everything.
"""

import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import get_args

import msgspec

from relaybook.ids import id_text
from relaybook.log.aggregate.stats import Question, Stats
from relaybook.log.namespaces import FIRST, Label, LabelChange, changed, looks_like_id
from relaybook.log.query.filters import CONTAINS, Cursor, Filter, asks_texts, matches
from relaybook.log.record import Gap, Record, Side
from relaybook.log.search_text import MAX_BYTES, text_of
from relaybook.log.store.errors import BatchRejected
from relaybook.log.store.memory import lists
from relaybook.log.store.memory.lists import seq_of
from relaybook.log.store.port import (
    Batch,
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
    Step,
    Stored,
    StoreStatus,
    ValueCount,
    body_size,
)


def refuse_what_cannot_be_stored(batch: Batch) -> None:
    """Text must be UTF-8, whole numbers must fit 64 bits: a database would refuse the same."""
    try:
        msgspec.msgpack.encode(batch)
        numbers = (value for entry in batch.entries for value in msgspec.structs.astuple(entry.record))
        too_large = [value for value in numbers if isinstance(value, int) and not -(2**63) <= value < 2**63]
    except (ValueError, TypeError, OverflowError, msgspec.MsgspecError) as error:
        raise BatchRejected(f"A value cannot be stored: {error}.") from error
    if too_large:
        raise BatchRejected(f"{too_large[0]} does not fit into 64 bits.")


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
        #: What records say, by ``seq``.
        self._texts: dict[int, str] = {}
        self._indexed_to = 0

    # Writer

    def commit(self, batch: Batch) -> None:
        refuse_what_cannot_be_stored(batch)
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

    def tidy(self, until_ns: int) -> bool:
        return False

    def close(self) -> None:
        """Nothing to release: the same object goes on answering."""

    # Text index

    def indexed_to(self) -> int:
        return self._indexed_to

    def add(self, texts: Sequence[tuple[int, str]], up_to: int) -> None:
        self._texts.update(texts)
        self._indexed_to = up_to

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
        return [
            msgspec.structs.replace(record)
            for record in records
            if matches(wanted, record, self._texts.get(seq_of(record), ""), self._said(wanted, record))
        ]

    def _said(self, wanted: Filter, record: Record) -> str:
        if all(term.name != CONTAINS for term in wanted.terms):
            return ""
        return text_of(self._in_memory(self._by_id[record.id], MAX_BYTES), sys.maxsize)

    def page(self, wanted: Filter, limit: int, cursor: Cursor | None, deadline_ns: int) -> Page:
        found = self._matching(wanted)
        if cursor is not None and cursor.direction == "newer":
            records = [record for record in found if seq_of(record) > cursor.seq][:limit][::-1]
        else:
            below = [record for record in found if cursor is None or seq_of(record) < cursor.seq]
            records = below[-limit:][::-1]
        return lists.page(records, found)

    def around(self, record_id: str, wanted: Filter, limit: int, deadline_ns: int) -> Page | None:
        centre = self.get(record_id)
        if centre is None:
            return None
        found = self._matching(wanted)
        seq = seq_of(centre.record)
        newer = [record for record in found if seq_of(record) > seq][: limit // 2][::-1]
        older = [record for record in found if seq_of(record) < seq][::-1][: limit - 1 - limit // 2]
        return lists.page([*newer, centre.record, *older], found)

    def count(self, wanted: Filter, deadline_ns: int) -> Count:
        found = self._matching(wanted)
        return Count(
            requests=len(found),
            failed=sum(record.failed for record in found),
            last_at=max((record.started_at for record in found), default=None),
        )

    def stats(self, question: Question, deadline_ns: int) -> Stats:
        return lists.stats(self._matching(Filter()), self._matching(question.wanted), question)

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

    def entries(self, after: int, limit: int, most_bytes: int) -> list[Entry]:
        with self._lock:
            found = [entry for entry in self._entries if seq_of(entry.record) > after][:limit]
        whole = [self._in_memory(entry, most_bytes) for entry in found]
        sums = list(accumulate((body_size(one.request) or 0) + (body_size(one.response) or 0) for one in whole))
        return [one for number, one in enumerate(whole) if number == 0 or sums[number] <= most_bytes]

    def _in_memory(self, entry: Entry, most_bytes: int) -> Entry:
        sides: list[Body | None] = []
        for side in get_args(Side):
            pieces = self.body(entry.record.id, side)
            whole = None if pieces is None else b"".join(pieces)
            sides.append(None if whole is None or len(whole) > most_bytes else Body([], [whole]))
        record = msgspec.structs.replace(entry.record)
        return Entry(record=record, detail=entry.detail, request=sides[0], response=sides[1], turn=entry.turn)

    def steps(self, wanted: Filter, limit: int, cursor: Cursor | None, deadline_ns: int) -> list[Step]:
        records = self.page(wanted, limit, cursor, deadline_ns).records
        return [
            Step(
                seq=seq_of(record),
                id=record.id,
                started_at=record.started_at,
                failed=record.failed,
                completion_id=record.completion_id,
                turn=self._by_id[record.id].turn,
            )
            for record in records
        ]

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
        return lists.namespaces(self._namespace_rows(), prefix, sort, limit, after, pinned)

    def _namespace_rows(self) -> list[NamespaceRow]:
        return lists.namespace_rows(self._matching(Filter()), self._labels)

    def values(self, field: str, prefix: str, limit: int, deadline_ns: int) -> list[ValueCount]:
        return lists.values(self._matching(Filter()), field, prefix, limit)

    def gaps(self, since_us: int) -> list[Gap]:
        return sorted((gap for gap in self._gaps if gap.to_at >= since_us), key=lambda gap: gap.to_at, reverse=True)

    def last_seq(self) -> int:
        return len(self._entries)

    def since(self, seq: int, wanted: Filter, limit: int) -> tuple[list[Record], int]:
        last = min(self.last_seq(), self._indexed_to) if asks_texts(wanted) else self.last_seq()
        found = [record for record in self._matching(wanted) if seq < seq_of(record) <= last][:limit]
        return found, seq_of(found[-1]) if len(found) == limit else max(seq, last)

    def status(self) -> StoreStatus:
        return StoreStatus(
            records=len(self._entries),
            namespaces=len(self._namespace_rows()),
            labels=sum(label.pinned for label in self._labels.values()),
            last_seq=self.last_seq(),
            indexed_to=self._indexed_to,
            bytes_on_disk=0,
            positions=self.positions(),
            refused=dict(self._refused),
        )


def _copy(running: Running) -> Running:
    """A copy that shares nothing that grows, without a number."""
    copy = msgspec.msgpack.decode(msgspec.msgpack.encode(running), type=Running)
    copy.record.seq = None
    return copy
