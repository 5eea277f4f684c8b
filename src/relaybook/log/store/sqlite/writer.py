"""Write to the SQLite store, with one transaction per batch.

A commit first writes body frames to the pack, and then rows and counters to the database. With the durability
``power``, the commit then syncs the pack. Finally, the commit writes the pack's length and ends the transaction. If the
transaction is not committed, the next append overwrites the bytes that the commit wrote to the pack.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import apsw

from relaybook.log.retention import Cutoffs
from relaybook.log.store.entry import BodyRef, Entry
from relaybook.log.store.errors import StoreDamaged, StoreUnavailable
from relaybook.log.store.files import BODIES, DATABASE, LOCK
from relaybook.log.store.port import Batch, Durability, ExchangeCheckpoint, ReadAgain, Retained
from relaybook.log.store.sqlite.connection import open_for_writing, truncate_wal
from relaybook.log.store.sqlite.entries import EntryTables
from relaybook.log.store.sqlite.failures import rejecting, translated
from relaybook.log.store.sqlite.index.foreign_ids import ForeignIdMerger
from relaybook.log.store.sqlite.index.text_index import drop_if_ahead
from relaybook.log.store.sqlite.labels import AutoPins
from relaybook.log.store.sqlite.packs.bodies import new_compressor
from relaybook.log.store.sqlite.packs.pack_writer import Mark, PackWriter, read_body
from relaybook.log.store.sqlite.recorder_state import RecorderStateTables
from relaybook.log.store.sqlite.removal.deletion_pass import DeletionPass
from relaybook.log.store.sqlite.removal.rebasing import Rebaser
from relaybook.log.store.sqlite.removal.reclaiming import Reclaimer
from relaybook.log.store.sqlite.removal.retention_pass import RetentionPass
from relaybook.log.store.sqlite.rereading.rereader import Rereader
from relaybook.log.store.sqlite.rows import id_bytes
from relaybook.log.store.sqlite.running import RunningTables
from relaybook.log.store.sqlite.schema import become_a_log, create_tables
from relaybook.log.store.sqlite.verify import verify_newest
from relaybook.log.store.status import RunPosition
from relaybook.system import disk

_SEQ_BY_ID: Final = "SELECT seq FROM requests WHERE id = ?"


class SqliteWriter:
    """The only ``Writer`` of the store in a directory. Not thread-safe."""

    commit_interval_ns = 0

    def __init__(
        self,
        directory: Path,
        *,
        durability: Durability = "process",
        lock_wait_s: float = 5.0,
        busy_s: float = 2.0,
    ) -> None:
        """Create or open the store and recover from a crash.

        Raises StoreUnavailable if another writer locks the directory for longer than ``lock_wait_s``, or if the
        directory is not usable. Raises StoreDamaged if the files are not a store, and UnsupportedSchema if a version
        with another schema wrote the store. ``busy_s`` is how long a commit waits while other programs lock the
        database.
        """
        self._path = directory / DATABASE
        self._durability = durability
        self._busy_s = busy_s
        self._is_scrub_due = True
        self._verified_to = 0
        self._compressor = new_compressor()
        with translated(self._path):
            self._lock_fd = _acquire_lock(directory, lock_wait_s)
            try:
                self._open(directory)
            except BaseException:
                os.close(self._lock_fd)
                raise

    def _open(self, directory: Path) -> None:
        self._connection = open_for_writing(directory, self._durability, self._busy_s)
        self._file = disk.identity(self._path)
        try:
            create_tables(self._connection, str(self._path))
            become_a_log(self._connection)
            drop_if_ahead(directory)
            self._entries = EntryTables(self._connection)
            self._state = RecorderStateTables(self._connection)
            self._running = RunningTables(self._connection)
            self._labels = AutoPins(self._connection)
            self._foreign_ids = ForeignIdMerger(self._connection)
            self._retention = RetentionPass(self._connection, self._entries.rollups, self._entries.bases)
            self._packs = PackWriter(
                directory / BODIES,
                self._state.pack_lengths(),
                self._state.register_pack,
                self._entries.bases.clear,
                is_power_safe=self._durability == "power",
            )
            self._deletions = DeletionPass(
                self._connection, self._entries.rollups, self._entries.bases, directory, self._busy_s
            )
            self._rereads = Rereader(self._connection, self._entries.rollups, directory)
            rebaser = Rebaser(self._connection, self._packs, self._entries.bases, directory, self._transaction)
            self._reclaimer = Reclaimer(self._connection, self._packs, rebaser, directory)
        except BaseException:
            self._connection.close()
            raise
        self._finish_erasing()

    def commit(self, batch: Batch) -> None:
        with translated(self._path), rejecting():
            self._reject_other_file()
            if batch.entries:
                self._packs.open_pack_of_day()
            with self._transaction() as mark:
                added = self._store(batch, mark)
        self._running.committed()
        self._labels.committed()
        drops_hidden_state = self._state.committed(batch)
        self._entries.committed(added, batch.entries)
        if batch.erase or drops_hidden_state:
            self._is_scrub_due = True
        self._finish_erasing()

    def _reject_other_file(self) -> None:
        if disk.identity(self._path) != self._file:
            raise StoreDamaged(f"{self._path} was deleted or replaced while Relaybook was writing to it.")

    def _store(self, batch: Batch, mark: Mark) -> Sequence[Entry]:
        """Write the batch within the caller's transaction. Returns the entries whose ids were not stored before.

        ``mark`` is the state of the packs at the start of the transaction. If some ids are already stored, the
        transaction starts again, the packs are restored to ``mark``, and only the other entries are written.
        """
        entries: Sequence[Entry] = batch.entries
        try:
            self._add_entries(entries)
        except apsw.ConstraintError as error:
            if getattr(error, "extendedresult", 0) != apsw.SQLITE_CONSTRAINT_UNIQUE:
                raise
            self._connection.execute("ROLLBACK; BEGIN IMMEDIATE")
            self._packs.restore(mark)
            self._entries.bases.clear()
            entries = self._new_entries(entries)
            self._add_entries(entries)
        self._labels.store(entry.record for entry in entries)
        self._running.store(batch)
        self._state.store(batch)
        return entries

    def _add_entries(self, entries: Sequence[Entry]) -> None:
        if entries:
            self._entries.add(entries, self._packs, self._compressor)

    def _new_entries(self, entries: Sequence[Entry]) -> list[Entry]:
        """Return the entries whose ids are not stored yet, without duplicate ids.

        An entry whose id is already stored gets the ``seq`` of the stored record.
        """
        new: dict[str, Entry] = {}
        for entry in entries:
            seq = self._connection.execute(_SEQ_BY_ID, (id_bytes(entry.record.id),)).get
            if seq is not None:
                entry.record.seq = seq
            else:
                new.setdefault(entry.record.id, entry)
        return list(new.values())

    @contextmanager
    def _transaction(self) -> Iterator[Mark]:
        """Commit the writes of the ``with`` block to the database and to the packs.

        Yields the state of the packs before the transaction. If the ``with`` block or the commit fails, nothing is
        stored.
        """
        mark = self._packs.mark()
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            yield mark
            if self._durability == "power":
                self._packs.sync()
            self._state.store_pack_lengths(self._packs.lengths)
            self._connection.execute("COMMIT")
        except BaseException:
            self._packs.restore(mark)
            self._entries.bases.clear()
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        self._packs.committed()

    def _finish_erasing(self) -> None:
        """Erase the body bytes that committed batches list in ``Batch.erase``, and truncate the WAL if needed.

        Failures are retried after the next commit.
        """
        try:
            with translated(self._path):
                for pack, offset, length in self._state.erasures():
                    self._packs.erase(pack, [(offset, length)])
                    self._state.mark_erased(pack, offset)
        except StoreUnavailable:
            return
        if self._is_scrub_due:
            self._is_scrub_due = not truncate_wal(self._connection, self._busy_s)

    def write_body(self, data: bytes) -> BodyRef:
        with translated(self._path):
            self._packs.open_pack_of_day()
            return self._packs.append_chunk(data, self._compressor)

    def read_body(self, ref: BodyRef) -> bytes:
        with translated(self._path):
            return read_body(self._path.parent / BODIES, ref)

    def verify_newest(self) -> None:
        with translated(self._path):
            self._reject_other_file()
            self._verified_to = verify_newest(self._path.parent, self._verified_to)

    def retain(self, cutoffs: Cutoffs, until_ns: int) -> Retained:
        with translated(self._path):
            return self._retention.work(cutoffs, until_ns)

    def delete(self, until_ns: int) -> int:
        with translated(self._path):
            return self._deletions.work(until_ns)

    def reread(self, read_again: ReadAgain, until_ns: int) -> bool:
        with translated(self._path):
            return self._rereads.work(read_again, until_ns)

    def run_maintenance(self, until_ns: int) -> bool:
        with translated(self._path):
            self._entries.feedback.expire()
            # Wait until the retention pass is complete. If a pack then has no records, the whole pack is deleted, and
            # its frames need not be erased one by one.
            reclaimed = self._retention.is_complete and self._reclaimer.work(until_ns)
            return self._foreign_ids.work(until_ns) or reclaimed

    def positions(self) -> dict[str, RunPosition]:
        with translated(self._path):
            return self._state.positions()

    def checkpoints(self, run: str) -> list[ExchangeCheckpoint]:
        with translated(self._path):
            return self._state.checkpoints(run)

    def close(self) -> None:
        """Close the store.

        Idempotent. Bodies that were written but not committed are discarded.
        """
        self._packs.close()
        self._deletions.close()
        self._rereads.close()
        self._connection.close()
        if self._lock_fd >= 0:
            os.close(self._lock_fd)
            self._lock_fd = -1


def _acquire_lock(directory: Path, wait_s: float) -> int:
    disk.make_directory(directory)
    fd = disk.lock(directory / LOCK, wait_s)
    if fd is None:
        raise StoreUnavailable(
            f"{directory} is in use, because another Relaybook writes to this store. Stop that Relaybook, or choose "
            "another directory with --data."
        )
    return fd
