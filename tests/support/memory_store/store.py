"""Implement the reference store in memory, with lists that every query scans.

The reference store defines how all other stores must behave, and is used by tests. One object of ``MemoryStore``
implements Writer, Reader, Labels, SavedFilters, FeedbackLog, Deletions, Rereads and TextIndex. The store is not
durable.
"""

import sys
import threading
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate
from typing import get_args

import msgspec
from tests.support.memory_store import lists
from tests.support.memory_store.lists import seq_of

from relaybook import clock
from relaybook.ids import id_text, new_id
from relaybook.log.aggregate.stats import MINUTE_US, Stats, StatsQuery, kept_field
from relaybook.log.deletions import Deletion, new_deletion, without_values
from relaybook.log.feedback import (
    MAX_PENDING,
    MAX_SOURCES,
    PENDING_US,
    combined,
    pending_id,
    too_many_pending,
    too_many_sources,
)
from relaybook.log.namespaces import (
    MAX_AUTO_PINNED,
    Label,
    LabelChange,
    NamespaceQuery,
    NamespaceRow,
    apply_change,
    looks_like_id,
)
from relaybook.log.query.filters import CONTAINS, Cursor, Filter, Sort, matches, needs_text
from relaybook.log.query.found_values import FoundValues
from relaybook.log.query.words import SearchText
from relaybook.log.record import Feedback, Gap, Record, Side
from relaybook.log.request_view import MAX_BODY_BYTES
from relaybook.log.rereads import Reread
from relaybook.log.retention import Cutoffs, Removal, RequestTimes
from relaybook.log.saved_filters import MAX_SAVED_FILTERS, SavedFilter, TooManySavedFilters
from relaybook.log.search_text import text_of
from relaybook.log.store.entry import Body, BodyRef, Entry, body_size
from relaybook.log.store.port import (
    Batch,
    Count,
    ExchangeCheckpoint,
    FeedbackTotals,
    Link,
    Page,
    ReadAgain,
    Retained,
    Running,
    StoredRecord,
    ValueCount,
    reject_unstorable,
)
from relaybook.log.store.status import RunPosition, StoreStatus
from relaybook.tags import NamePatterns


class MemoryStore:
    """A store that keeps its data only in this object.

    Any thread can read while one thread writes.
    """

    commit_interval_ns = 0

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._entries: list[Entry] = []
        self._by_id: dict[str, Entry] = {}
        self._last_seq = 0
        #: Removed records that are still included in aggregates over time.
        self._counted: list[Record] = []
        self._aggregates_from = 0
        #: The ids of requests whose content has expired.
        self._expired: set[str] = set()
        self._last_removal: Removal | None = None
        #: The deletions, oldest first. ``_deleted_to`` maps the id of a deletion to the ``seq`` of the newest record at
        #: the time when the deletion was requested.
        self._deletions: list[Deletion] = []
        self._deleted_to: dict[str, int] = {}
        #: The same for rereads.
        self._rereads: list[Reread] = []
        self._reread_to: dict[str, int] = {}
        self._bodies_by_ref: dict[BodyRef, bytes] = {}
        self._bodies_end = 0
        self._positions: dict[str, RunPosition] = {}
        self._checkpoints: dict[bytes, ExchangeCheckpoint] = {}
        self._running: dict[str, Running] = {}
        self._gaps: list[Gap] = []
        self._refused: Counter[str] = Counter()
        #: The label of every namespace that a person or the store has pinned or unpinned.
        self._labels: dict[str, Label] = {}
        self._auto_pinned = 0
        self._saved_filters: dict[str, SavedFilter] = {}
        #: Feedback on requests that are not recorded yet, by the id that was sent with the feedback.
        self._pending: dict[str, list[Feedback]] = {}
        #: The indexed text of records, by ``seq``.
        self._texts: dict[int, SearchText] = {}
        self._indexed_to = 0

    # Writer

    def commit(self, batch: Batch) -> None:
        reject_unstorable(batch)
        with self._lock:
            for entry in batch.entries:
                self._add(entry)
            for entry in reversed(batch.entries):
                self._join_feedback(entry.record.id)
            self._positions.update(batch.positions)
            self._checkpoints.update((checkpoint.exchange, checkpoint) for checkpoint in batch.checkpoints)
            recorded = {entry.record.id for entry in batch.entries}
            if batch.running is not None:
                self._running = {running.record.id: _copy(running) for running in batch.running}
            self._running = {key: running for key, running in self._running.items() if key not in recorded}
            self._checkpoints = {
                exchange: checkpoint
                for exchange, checkpoint in self._checkpoints.items()
                if id_text(exchange) not in recorded.union(batch.rejected) and checkpoint.run not in batch.finished_runs
            }
            for run in batch.finished_runs:
                self._positions.pop(run, None)
            self._gaps += batch.gaps
            self._refused.update(batch.refused)
            for ref in batch.erase:
                self._bodies_by_ref.pop(ref, None)

    def _add(self, entry: Entry) -> None:
        known = self._by_id.get(entry.record.id)
        if known is None:
            self._last_seq += 1
            entry.record.seq = self._last_seq
            record = msgspec.structs.replace(entry.record, feedback=combined(entry.record.feedback))
            known = msgspec.structs.replace(entry, record=record)
            self._entries.append(known)
            self._by_id[entry.record.id] = known
            self._pin_automatically(entry.record.namespace)
        entry.record.seq = known.record.seq

    def _pin_automatically(self, namespace: str) -> None:
        if self._auto_pinned < MAX_AUTO_PINNED and namespace not in self._labels and not looks_like_id(namespace):
            self.change(LabelChange(namespace=namespace, pinned=True))
            self._auto_pinned += 1

    def write_body(self, data: bytes) -> BodyRef:
        with self._lock:
            ref = BodyRef((self._bodies_end,), len(data))
            self._bodies_end += max(1, len(data))
            self._bodies_by_ref[ref] = bytes(data)
            return ref

    def read_body(self, ref: BodyRef) -> bytes:
        with self._lock:
            return self._bodies_by_ref[ref]

    def positions(self) -> dict[str, RunPosition]:
        return dict(self._positions)

    def checkpoints(self, run: str) -> list[ExchangeCheckpoint]:
        with self._lock:
            return [checkpoint for checkpoint in self._checkpoints.values() if checkpoint.run == run]

    def retain(self, cutoffs: Cutoffs, until_ns: int) -> Retained:
        removed = expired = 0
        with self._lock:
            for entry in list(self._entries):
                record = entry.record
                fate = cutoffs.fate(record.namespace, record.ended_at or record.started_at)
                if fate == "removed":
                    self._remove(entry)
                    self._counted.append(record)
                    removed += 1
                elif fate == "expired" and record.id not in self._expired:
                    self._expire(entry)
                    expired += 1
            self._aggregates_from = cutoffs.aggregates // MINUTE_US * MINUTE_US
            self._counted = [record for record in self._counted if record.started_at >= self._aggregates_from]
        if removed or expired:
            self._last_removal = Removal(at=clock.wall_us(), reason=cutoffs.reason, requests=removed, contents=expired)
        return Retained(removed=removed, expired=expired)

    def _remove(self, entry: Entry) -> None:
        self._entries.remove(entry)
        del self._by_id[entry.record.id]
        self._texts.pop(seq_of(entry.record), None)

    def _expire(self, entry: Entry) -> None:
        record = entry.record
        record.input_preview = record.output_preview = record.error_message = None
        if record.body_state == "stored":
            record.body_state = "expired"
        entry.detail, entry.request, entry.response, entry.chain = None, None, None, None
        self._expired.add(record.id)
        self._texts.pop(seq_of(record), None)

    def delete(self, until_ns: int) -> int:
        removed = 0
        with self._lock:
            for deletion in self._deletions:
                if deletion.state == "done":
                    continue
                matching = {record.id for record in self._matching(deletion.filter_)}
                for entry in [entry for entry in self._entries if entry.record.id in matching]:
                    if seq_of(entry.record) <= self._deleted_to[deletion.id]:
                        self._remove(entry)
                        deletion.removed += 1
                        removed += 1
                        self._forget_label(entry.record.namespace)
                deletion.state, deletion.removed_at = "done", clock.wall_us()
                deletion.done_at = clock.wall_us()
                deletion.filter_ = without_values(deletion.filter_)
        return removed

    def _forget_label(self, namespace: str) -> None:
        if all(entry.record.namespace != namespace for entry in self._entries):
            self._labels.pop(namespace, None)

    def reread(self, read_again: ReadAgain, until_ns: int) -> bool:
        unfinished = [reread for reread in self._rereads if reread.state != "done"]
        for reread in unfinished:
            matching = {record.id for record in self._matching(reread.filter_)}
            reread.read = reread.changed = 0  # an earlier attempt may have failed
            for entry in [entry for entry in self._entries if entry.record.id in matching]:
                if seq_of(entry.record) <= self._reread_to[reread.id]:
                    reread.read += 1
                    reread.changed += self._read_again(entry, read_again)
            reread.state, reread.done_at = "done", clock.wall_us()
            reread.filter_ = without_values(reread.filter_)
        return bool(unfinished)

    def _read_again(self, entry: Entry, read_again: ReadAgain) -> bool:
        """Replace the data of an entry, and return whether its record or message chain is different now."""
        with self._lock:
            again = None if entry.detail is None else read_again(self._in_memory(entry, MAX_BODY_BYTES))
            if again is None:
                return False
            is_change = (again.record, again.chain) != (entry.record, entry.chain)
            entry.record, entry.chain, entry.text = again.record, again.chain, again.text
            if seq_of(entry.record) <= self._indexed_to:
                self._texts[seq_of(entry.record)] = text_of(again)
            return is_change

    def verify_newest(self) -> None:
        """Do nothing, because this store has no disk."""

    def run_maintenance(self, until_ns: int) -> bool:
        return False

    def close(self) -> None:
        """Do nothing, because the same object continues to serve queries."""

    # Feedback

    def add_feedback(self, any_id: str, feedback: Feedback) -> bool:
        """Add feedback; see ``FeedbackLog``."""
        own_id = pending_id(any_id)
        with self._lock:
            found = next(iter(self.find(any_id, 1)), None)
            entry = self._by_id.get(own_id) or (None if found is None else self._by_id[found.id])
            if entry is not None:
                others = [each for each in entry.record.feedback if each.source != feedback.source]
                if len(others) >= MAX_SOURCES:
                    raise too_many_sources()
                entry.record.feedback = combined([*others, feedback])
                return True
            self._expire_feedback()
            kept = combined([*self._pending.get(own_id, []), feedback])
            others_pending = sum(len(each) for key, each in self._pending.items() if key != own_id)
            if others_pending + len(kept) > MAX_PENDING:
                raise too_many_pending()
            self._pending[own_id] = kept
            return False

    def _join_feedback(self, record_id: str) -> None:
        """Add pending feedback, which arrived before the request was recorded, to the new record."""
        self._expire_feedback()
        record = self._by_id[record_id].record
        ids = {pending_id(each) for each in (record.id, *record.foreign_ids)}
        joining = [each for id_ in ids for each in self._pending.pop(id_, [])]
        record.feedback = combined([*record.feedback, *sorted(joining, key=lambda each: each.at)])

    def _expire_feedback(self) -> None:
        oldest = clock.wall_us() - PENDING_US
        self._pending = {
            id_: kept
            for id_, found in self._pending.items()
            if (kept := [each for each in found if id_ in self._running or each.at >= oldest])
        }

    # Text index

    def indexed_to(self) -> int:
        return self._indexed_to

    def add(self, texts: Sequence[tuple[int, SearchText]], up_to: int) -> None:
        self._texts.update(texts)
        self._indexed_to = up_to

    # Deletions

    def request(self, filter_: Filter, requests: int, by: str) -> Deletion:
        deletion = new_deletion(filter_, requests, by)
        with self._lock:
            self._deletions.append(deletion)
            self._deleted_to[deletion.id] = self._last_seq
        return msgspec.structs.replace(deletion)

    # Rereads

    def request_reread(self, filter_: Filter, requests: int, by: str) -> Reread:
        reread = Reread(
            id=id_text(new_id()), requested_at=clock.wall_us(), requested_by=by, filter_=filter_, requests=requests
        )
        with self._lock:
            self._rereads.append(reread)
            self._reread_to[reread.id] = self._last_seq
        return msgspec.structs.replace(reread)

    # Labels

    def change(self, change: LabelChange) -> NamespaceRow:
        name = change.namespace
        with self._lock:
            others = [label for other, label in self._labels.items() if other != name and label.pinned]
            self._labels[name] = apply_change(self._labels.get(name) or Label(), change, others)
            return next(row for row in self._namespace_rows() if row.namespace == name)

    # SavedFilters

    def save_filter(self, saved: SavedFilter) -> SavedFilter:
        with self._lock:
            known = self._saved_filters.get(saved.name)
            if known is None and len(self._saved_filters) >= MAX_SAVED_FILTERS:
                raise TooManySavedFilters
            stored = saved if known is None else msgspec.structs.replace(saved, created_at=known.created_at)
            self._saved_filters[saved.name] = stored
            return stored

    def delete_filter(self, name: str) -> SavedFilter | None:
        with self._lock:
            return self._saved_filters.pop(name, None)

    # Reader

    def _matching(self, filter_: Filter) -> list[Record]:
        """Return copies of the records that match the filter, oldest first."""
        with self._lock:
            records = [entry.record for entry in self._entries]
        return [
            msgspec.structs.replace(record)
            for record in records
            if matches(filter_, record, self._texts.get(seq_of(record), SearchText()), self._full_text(filter_, record))
        ]

    def _full_text(self, filter_: Filter, record: Record) -> str:
        if all(term.name != CONTAINS for term in filter_.terms):
            return ""
        return text_of(self._in_memory(self._by_id[record.id], MAX_BODY_BYTES), sys.maxsize).whole

    def page(self, filter_: Filter, limit: int, cursor: Cursor | None, deadline_ns: int) -> Page:
        matched = self._matching(filter_)
        if cursor is not None and cursor.direction == "newer":
            records = [record for record in matched if seq_of(record) > cursor.seq][:limit][::-1]
        else:
            below = [record for record in matched if cursor is None or seq_of(record) < cursor.seq]
            records = below[-limit:][::-1]
        return lists.page(records, matched)

    def around(self, record_id: str, filter_: Filter, limit: int, deadline_ns: int) -> Page | None:
        center = self.get(record_id)
        if center is None:
            return None
        matched = self._matching(filter_)
        seq = seq_of(center.record)
        newer = [record for record in matched if seq_of(record) > seq][: limit // 2][::-1]
        older = [record for record in matched if seq_of(record) < seq][::-1][: limit - 1 - limit // 2]
        return lists.page([*newer, center.record, *older], matched)

    def top(self, filter_: Filter, sort: Sort, limit: int, deadline_ns: int) -> Page:
        return lists.top(self._matching(filter_), sort, limit)

    def count(self, filter_: Filter, deadline_ns: int) -> Count:
        matched = self._matching(filter_)
        return Count(
            requests=len(matched),
            failed=sum(record.failed for record in matched),
            last_at=max((record.started_at for record in matched), default=None),
        )

    def feedback_totals(self, filter_: Filter, deadline_ns: int) -> FeedbackTotals:
        matched = [record.feedback for record in self._matching(filter_) if record.feedback]
        scores = [each.score for feedback in matched for each in feedback if each.score is not None]
        return FeedbackTotals(requests=len(matched), scores=len(scores), score_sum=sum(scores))

    def stats(self, question: StatsQuery, deadline_ns: int) -> Stats:
        matched = self._matching(question.filter_)
        if kept_field(question) is not None:
            matched += [record for record in self._counted if matches(question.filter_, record)]
            matched = [record for record in matched if record.started_at >= self._aggregates_from]
        return lists.stats([*self._matching(Filter()), *self._counted], matched, question)

    def running(self, filter_: Filter) -> list[Record]:
        running = [_copy(entry).record for entry in self._running.values() if matches(filter_, entry.record)]
        return sorted(running, key=lambda record: (record.started_at, record.id), reverse=True)

    def open_request(self, record_id: str) -> Running | None:
        running = self._running.get(record_id)
        return None if running is None else _copy(running)

    def get(self, record_id: str) -> StoredRecord | None:
        entry = self._by_id.get(record_id)
        if entry is None:
            return None
        return StoredRecord(
            record=msgspec.structs.replace(entry.record),
            detail=entry.detail,
            request_size=body_size(entry.request),
            response_size=body_size(entry.response),
        )

    def entries(self, after: int, limit: int, max_bytes: int) -> list[Entry]:
        with self._lock:
            matched = [entry for entry in self._entries if seq_of(entry.record) > after][:limit]
        complete = [self._in_memory(entry, max_bytes) for entry in matched]
        totals = list(
            accumulate((body_size(entry.request) or 0) + (body_size(entry.response) or 0) for entry in complete)
        )
        return [entry for number, entry in enumerate(complete) if number == 0 or totals[number] <= max_bytes]

    def _in_memory(self, entry: Entry, max_bytes: int) -> Entry:
        bodies: list[Body | None] = []
        for side in get_args(Side):
            chunks = self.body(entry.record.id, side)
            complete = None if chunks is None else b"".join(chunks)
            bodies.append(None if complete is None or len(complete) > max_bytes else Body([], [complete]))
        record = msgspec.structs.replace(entry.record)
        return Entry(record=record, detail=entry.detail, request=bodies[0], response=bodies[1], chain=entry.chain)

    def links(self, filter_: Filter, limit: int, cursor: Cursor | None, deadline_ns: int) -> list[Link]:
        records = self.page(filter_, limit, cursor, deadline_ns).records
        return [
            Link(
                seq=seq_of(record),
                id=record.id,
                started_at=record.started_at,
                failed=record.failed,
                completion_id=record.completion_id,
                session=record.session,
                chain=self._by_id[record.id].chain,
                model=record.model,
            )
            for record in records
        ]

    def find(self, foreign_id: str, limit: int) -> list[Record]:
        matched = self._matching(Filter())[::-1]
        return [record for record in matched if foreign_id in record.foreign_ids][:limit]

    def body(self, record_id: str, side: Side) -> Iterator[bytes] | None:
        entry = self._by_id.get(record_id)
        body: Body | None = None if entry is None else getattr(entry, side)
        if body is None:
            return None
        return iter([*(self._bodies_by_ref[ref] for ref in body.refs), *body.rest])

    def namespaces(
        self, query: NamespaceQuery, limit: int, after: str | None, deadline_ns: int
    ) -> tuple[list[NamespaceRow], str | None]:
        return lists.namespaces(self._namespace_rows(), query, limit, after)

    def request_times(self, patterns: Collection[str], deadline_ns: int) -> RequestTimes:
        owner = NamePatterns[str | None]({pattern: pattern for pattern in patterns})
        starts: dict[str | None, list[int]] = {}
        for record in self._matching(Filter()):
            starts.setdefault(owner.find(record.namespace, None), []).append(record.started_at)
        return {pattern: (min(times), max(times)) for pattern, times in starts.items()}

    def _namespace_rows(self) -> list[NamespaceRow]:
        return lists.namespace_rows(self._matching(Filter()), self._labels)

    def values(self, field: str, prefix: str, limit: int, deadline_ns: int) -> list[ValueCount]:
        return lists.values(self._matching(Filter()), field, prefix, limit)

    def find_values(self, text: str, limit: int, deadline_ns: int) -> FoundValues:
        return lists.find_values(self._matching(Filter()), text, limit)

    def saved_filters(self) -> list[SavedFilter]:
        with self._lock:
            return sorted(self._saved_filters.values(), key=lambda saved: saved.name)

    def gaps(self, since_us: int) -> list[Gap]:
        return sorted((gap for gap in self._gaps if gap.to_at >= since_us), key=lambda gap: gap.to_at, reverse=True)

    def deletions(self, limit: int) -> list[Deletion]:
        return [msgspec.structs.replace(deletion) for deletion in self._deletions[::-1][:limit]]

    def rereads(self, limit: int) -> list[Reread]:
        return [msgspec.structs.replace(reread) for reread in self._rereads[::-1][:limit]]

    def last_seq(self) -> int:
        return self._last_seq

    def since(self, seq: int, filter_: Filter, limit: int) -> tuple[list[Record], int]:
        last = min(self.last_seq(), self._indexed_to) if needs_text(filter_) else self.last_seq()
        matched = [record for record in self._matching(filter_) if seq < seq_of(record) <= last][:limit]
        return matched, seq_of(matched[-1]) if len(matched) == limit else max(seq, last)

    def stored_since(self, seq: int, filter_: Filter, limit: int) -> tuple[Iterator[StoredRecord], int]:
        records, reached = self.since(seq, filter_, limit)
        found = (self.get(record.id) for record in records)
        return (stored for stored in found if stored is not None), reached

    def status(self) -> StoreStatus:
        return StoreStatus(
            records=len(self._entries),
            namespaces=sum(bool(row.requests or row.pinned) for row in self._namespace_rows()),
            labels=sum(label.pinned for label in self._labels.values()),
            last_seq=self.last_seq(),
            feedback=sum(bool(entry.record.feedback) for entry in self._entries),
            indexed_to=self._indexed_to,
            bytes_on_disk=0,
            positions=self.positions(),
            refused=dict(self._refused),
            oldest_at=min((entry.record.started_at for entry in self._entries), default=None),
            oldest_content_at=min(
                (entry.record.started_at for entry in self._entries if entry.record.id not in self._expired),
                default=None,
            ),
            last_removal=self._last_removal,
        )


def _copy(running: Running) -> Running:
    """Return a deep copy of the running request. The record of the copy has no ``seq``."""
    copy = msgspec.msgpack.decode(msgspec.msgpack.encode(running), type=Running)
    copy.record.seq = None
    return copy
