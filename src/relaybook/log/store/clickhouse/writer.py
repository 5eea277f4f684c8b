"""Write to a ClickHouse database.

A commit inserts the feedback of its requests, then the requests, and then everything else. If the response to the
insert of the requests is lost, this insert may still be running. So further commits raise StoreUnavailable until this
insert has ended. Each commit first queries which of its requests are stored, and inserts only the others.
"""

import os
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final

import msgspec

from relaybook import clock
from relaybook.ids import id_text, new_id
from relaybook.log.namespaces import MAX_AUTO_PINNED, Label, LabelChange, apply_change, looks_like_id
from relaybook.log.query.words import SearchText
from relaybook.log.record import Record
from relaybook.log.retention import Cutoffs
from relaybook.log.search_text import text_of
from relaybook.log.store.clickhouse.chunks import Chunks
from relaybook.log.store.clickhouse.connection import Database, quoted
from relaybook.log.store.clickhouse.deletions import DeletionPass, pending_mutations
from relaybook.log.store.clickhouse.feedback import join_pending, store_feedback
from relaybook.log.store.clickhouse.labels import decode_labels, encode_label
from relaybook.log.store.clickhouse.recorders import Membership, Numbering
from relaybook.log.store.clickhouse.rereads import Rereader
from relaybook.log.store.clickhouse.retention import RetentionPass
from relaybook.log.store.clickhouse.rows import decode_position, row_of
from relaybook.log.store.clickhouse.schema import MAX_SENT_US, REQUEST_COLUMNS, create_tables
from relaybook.log.store.clickhouse.state import State
from relaybook.log.store.entry import BodyRef, Entry
from relaybook.log.store.errors import BatchRejected, StoreBusy, StoreUnavailable
from relaybook.log.store.port import Batch, ExchangeCheckpoint, ReadAgain, Retained, reject_unstorable
from relaybook.log.store.status import RunPosition
from relaybook.settings.store_url import DatabaseAddress

_NewValues = dict[tuple[str, str], bytes | None]
#: Maximum number of requests that one query looks up.
_IDS: Final = 2000
_MOMENT_NS: Final = 20_000_000
_encode: Final = msgspec.msgpack.Encoder().encode
_decode_checkpoint: Final = msgspec.msgpack.Decoder(ExchangeCheckpoint).decode


class ClickHouseWriter:
    """One of the recorders that write to a database. Not thread-safe."""

    #: Commits are rare, because each insert creates a part of the table with all columns and indexes. ClickHouse must
    #: later merge these parts.
    commit_interval_ns = clock.NANOSECONDS

    def __init__(
        self,
        address: DatabaseAddress,
        name: str,
        *,
        server: str = "",
        lock: int | None = None,
        numbering: Numbering | None = None,
    ) -> None:
        """Create or open the log. ``name`` identifies this recorder. Only one writer can use a name at a time.

        ``server`` is the name of this server that users see. ``lock`` is a file descriptor, which ``close`` closes.
        Raises UnsupportedSchema and StoreUnavailable.
        """
        self._lock = lock
        self._database = Database(address)
        self._state = State(self._database, name)
        self._name = name
        self._numbering = numbering or Numbering(self._database)
        self._recorders = Membership(self._state, name, server, self._numbering)
        self._deletions = DeletionPass(self._database, self._state)
        self._retention = RetentionPass(self._database, self._state)
        self._rereads = Rereader(self._database, self._state)
        #: The latest time at which an insert that got no response can have been sent, by the server's clock. `None` if
        #: there is no such insert.
        self._unanswered_us: int | None = None
        create_tables(self._database, self._state)
        if self._recorders.load():
            self._recorders.join()
        else:
            self._unanswered_us = self._numbering.server_us()
        self._chunks = Chunks(self._database, self._state, name, self._recorders)
        self._load()

    def _load(self) -> None:
        """Read the state that this object caches."""
        self._auto_pinned = int(self._state.get("meta", "auto_pinned") or 0)
        self._refused = {code: int(count) for code, count in self._state.read_own("refused").items()}
        self._checkpoints = {
            key: _decode_checkpoint(value).run for key, value in self._state.read_own("checkpoint").items()
        }
        self._running = set(self._state.read_own("running"))

    def _wait_for_inserts(self) -> None:
        """Raise StoreBusy while an earlier insert of this recorder can still begin or is running.

        The rows of such an insert may appear later, even if the process that sent the insert has died.
        """
        if self._unanswered_us is None:
            return
        if self._numbering.server_us() < self._unanswered_us + MAX_SENT_US:
            raise StoreBusy(
                "ClickHouse may still start an earlier insert of this server. Recording starts within 10 s."
            )
        sql = "SELECT count() FROM system.processes WHERE startsWith(query_id, {name:String})"
        ((running,),) = self._database.query(sql, {"name": self._query_prefix})
        if running:
            raise StoreBusy("An earlier insert of this server is still running in ClickHouse.")
        self._unanswered_us = None

    @property
    def _query_prefix(self) -> str:
        return f"relaybook-{self._name}-"

    def commit(self, batch: Batch) -> None:
        reject_unstorable(batch)
        self._wait_for_inserts()
        self._chunks.will_erase_uncommitted()
        seqs = self._stored_seqs(batch.entries)
        # After a crash between two inserts, the recorder reads requests again. Some of them may have been deleted
        # meanwhile.
        known = seqs.keys() | (set() if batch.is_import else self._deleted_ids(batch.entries))
        self._chunks.will_erase_repeated([entry for entry in batch.entries if entry.record.id in known])
        new = list({each.record.id: each for each in reversed(batch.entries) if each.record.id not in known}.values())
        new.reverse()
        seqs.update(self._insert(new))
        refused = {code: self._refused.get(code, 0) + count for code, count in batch.refused.items()}
        pinned = self._auto_pins(entry.record for entry in new)
        self._recorders.write({**self._changes(batch, refused), **pinned}, _delay_us(new))
        ended = set(self._running)
        self._committed(batch, refused)
        for entry in batch.entries:
            entry.record.seq = seqs.get(entry.record.id)
        self._finish(ended - self._running)

    def _finish(self, ended: set[str]) -> None:
        """Erase body bytes that are marked for erasure, and move pending feedback to its requests.

        ``ended`` are the ids of requests that have just ended. Failed work is retried after the next commit.
        """
        try:
            self._chunks.erase()
            join_pending(self._database, self._state, ended)
        except StoreUnavailable:
            return

    def _stored_seqs(self, entries: Sequence[Entry]) -> dict[str, int]:
        """Return the ``seq`` of those requests in ``entries`` that are already stored, by id.

        Ids begin with a time, so ClickHouse searches only a few blocks of the table. If a request was removed by
        retention and is imported again, this method deletes its old row, which was kept for charts. Otherwise,
        aggregates would count the request twice.
        """
        ids = sorted({entry.record.id for entry in entries})
        found: dict[str, int] = {}
        removed: list[str] = []
        for start in range(0, len(ids), _IDS):
            some = [quoted(record_id) for record_id in ids[start : start + _IDS]]
            found_sql = f"id BETWEEN {some[0]} AND {some[-1]} AND id IN ({', '.join(some)})"
            for record_id, seq, is_removed in self._database.query(
                f"SELECT id, seq, removed FROM requests WHERE {found_sql}"
            ):
                if is_removed:
                    removed.append(record_id)
                else:
                    found[record_id] = seq
        if removed:
            these = ", ".join(map(quoted, removed))
            self._database.execute(f"ALTER TABLE requests DELETE WHERE removed AND id IN ({these})")
        return found

    def _deleted_ids(self, entries: Sequence[Entry]) -> set[str]:
        """Return the ids of those requests in ``entries`` that an earlier deletion removed from the log."""
        ids = [quoted(entry.record.id) for entry in entries]
        found: set[str] = set()
        for start in range(0, len(ids), _IDS):
            sql = (
                f"WITH [{', '.join(ids[start : start + _IDS])}] AS ids SELECT id FROM (SELECT arrayJoin(ids) AS id) "
                "WHERE sipHash64(id) IN (SELECT hash FROM deleted WHERE hash IN (SELECT sipHash64(arrayJoin(ids))))"
            )
            found.update(record_id for (record_id,) in self._database.query(sql))
        return found

    def _insert(self, entries: Sequence[Entry]) -> dict[str, int]:
        """Insert new requests, and return their ``seq`` by id.

        The feedback on a request is inserted before the request, and is visible only after the request is inserted.
        """
        store_feedback(self._database, ((e.record.id, each) for e in entries for each in e.record.feedback))
        today = datetime.fromtimestamp(clock.wall_us() // 1_000_000, UTC).date()
        texts = [self._text(entry) for entry in entries]
        # The insert must begin soon after this call, because readers wait only a short time for the new requests.
        self._recorders.join_if_late()
        seqs = self._recorders.take(len(entries))
        self._unanswered_us = sent_us = self._numbering.server_us()
        rows = [row_of(entry, seq, text, today, sent_us) for seq, entry, text in zip(seqs, entries, texts, strict=True)]
        try:
            self._database.insert("requests", REQUEST_COLUMNS, rows, f"{self._query_prefix}{id_text(new_id())}")
        except BatchRejected:
            self._unanswered_us = None
            raise
        self._unanswered_us = None
        return {entry.record.id: seq for seq, entry in zip(seqs, entries, strict=True)}

    def _text(self, entry: Entry) -> SearchText:
        """Return the searchable text of a request. Body bytes that are already in chunks are read from the database."""
        if entry.text is not None:
            return entry.text
        bodies = [self._chunks.whole(body) for body in (entry.request, entry.response)]
        return text_of(msgspec.structs.replace(entry, request=bodies[0], response=bodies[1]))

    def _changes(self, batch: Batch, refused: dict[str, int]) -> _NewValues:
        recorded = {entry.record.id for entry in batch.entries}
        running = None if batch.running is None else {each.record.id: each for each in batch.running}
        ended = self._running & recorded if running is None else set(self._running)
        changes: _NewValues = {(kind, key): None for key in ended for kind in ("running", "running_content")}
        # These ids are kept even if the insert fails, because ClickHouse may store the running requests nevertheless.
        self._running |= (running or {}).keys() - recorded
        for key, each in (running or {}).items():
            if key not in recorded:
                record = msgspec.structs.replace(each.record, seq=None)
                changes["running", key] = _encode(record)
                changes["running_content", key] = _encode((each.detail, each.request, each.response))
        for checkpoint in batch.checkpoints:
            changes["checkpoint", id_text(checkpoint.exchange)] = _encode(checkpoint)
        ended_exchanges = recorded.union(batch.rejected)
        for key, run in self._checkpoints.items():
            if key in ended_exchanges or run in batch.finished_runs:
                changes["checkpoint", key] = None
        for key in ended_exchanges:
            if ("checkpoint", key) in changes:
                changes["checkpoint", key] = None
        changes |= {("position", run): _encode(position) for run, position in batch.positions.items()}
        changes |= {("position", run): None for run in batch.finished_runs}
        changes |= {("gap", f"{gap.to_at:020} {gap.from_at} {gap.reason} {gap.count}"): _encode(gap)
                    for gap in batch.gaps}  # fmt: skip
        changes |= {("refused", code): b"%d" % count for code, count in refused.items()}
        return changes | self._chunks.changes(batch.erase)

    def _committed(self, batch: Batch, refused: dict[str, int]) -> None:
        """Update the cached state after the whole batch was stored."""
        recorded = {entry.record.id for entry in batch.entries}
        self._chunks.committed(batch.erase)
        self._refused |= refused
        self._checkpoints |= {id_text(each.exchange): each.run for each in batch.checkpoints}
        ended = recorded.union(batch.rejected)
        self._checkpoints = {
            key: run for key, run in self._checkpoints.items() if key not in ended and run not in batch.finished_runs
        }
        if batch.running is not None:
            self._running = {each.record.id for each in batch.running}
        self._running -= recorded
        self._retention.committed(batch.entries)

    def _auto_pins(self, records: Iterable[Record]) -> _NewValues:
        """Return the changes that pin the first namespaces of a new log.

        The changes include the new number of namespaces that were pinned automatically.
        """
        if self._auto_pinned >= MAX_AUTO_PINNED:
            return {}
        names = [name for name in dict.fromkeys(record.namespace for record in records) if not looks_like_id(name)]
        if not names:
            return {}
        self._auto_pinned = int(self._state.get("meta", "auto_pinned") or 0)
        labels = decode_labels(self._state.read("label"))
        changes: _NewValues = {}
        for name in names:
            if name not in labels and self._auto_pinned + len(changes) < MAX_AUTO_PINNED:
                others = [label for label in labels.values() if label.pinned]
                labels[name] = apply_change(Label(), LabelChange(namespace=name, pinned=True), others)
                changes["label", name] = encode_label(labels[name])
        if changes:
            changes["meta", "auto_pinned"] = b"%d" % (self._auto_pinned + len(changes))
        return changes

    def write_body(self, data: bytes) -> BodyRef:
        return self._chunks.write(data)

    def read_body(self, ref: BodyRef) -> bytes:
        return self._chunks.read(ref)

    def retain(self, cutoffs: Cutoffs, until_ns: int) -> Retained:
        if self._retention.is_done(cutoffs) or not self._recorders.leads():
            return Retained()
        if pending_mutations(self._database):
            return Retained(is_complete=False)
        self._chunks.will_erase(self._retention.chunks(cutoffs))
        done = self._retention.work(cutoffs)
        self._chunks.erase()
        return done

    def delete(self, until_ns: int) -> int:
        self._wait_for_inserts()
        self._recorders.mark_if_due()
        return self._deletions.work() if self._recorders.leads() else 0

    def reread(self, read_again: ReadAgain, until_ns: int) -> bool:
        self._wait_for_inserts()
        self._recorders.mark_if_due()
        return self._recorders.leads() and self._rereads.work(read_again, until_ns)

    def verify_newest(self) -> None:
        """Do nothing, because ClickHouse manages the disk."""

    def run_maintenance(self, until_ns: int) -> bool:
        """Wait briefly if a deletion waits for ClickHouse. ClickHouse frees space by itself."""
        if self._deletions.is_waiting:
            time.sleep(max(0, min(_MOMENT_NS, until_ns - clock.monotonic_ns())) / clock.NANOSECONDS)
        return self._deletions.is_waiting

    def positions(self) -> dict[str, RunPosition]:
        return {run: decode_position(value) for run, value in self._state.read_own("position").items()}

    def checkpoints(self, run: str) -> list[ExchangeCheckpoint]:
        found = map(_decode_checkpoint, self._state.read_own("checkpoint").values())
        return [checkpoint for checkpoint in found if checkpoint.run == run]

    def close(self) -> None:
        """Tell readers to stop waiting for this recorder, close the connections, and release the lock. Idempotent."""
        with suppress(StoreUnavailable):
            if self._unanswered_us is None:
                self._recorders.leave()
        self._database.close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _delay_us(entries: Iterable[Entry]) -> int:
    """Return the time since the last of the requests ended, or 0 if no request has ended."""
    ended = [entry.record.ended_at for entry in entries if entry.record.ended_at is not None]
    return max(0, clock.wall_us() - max(ended)) if ended else 0
