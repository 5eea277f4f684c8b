"""Copy a store while a writer uses it.

The backup consists of a snapshot of the database, of the text index at the same time, and of the pack bytes that the
snapshot refers to. The snapshot contains all data that was committed when the backup began, except requests that were
removed during the backup.

Packs are copied before the snapshot is taken. A frame is erased, or its pack is deleted, only after a transaction has
removed or moved the frame (see reclaiming.py). So every frame of the snapshot was still complete when it was copied.
While the snapshot is taken, the backup locks the database for the writer, and copies the few bytes that were appended
in the meantime. So no frame of these bytes can be erased before it is copied, and the index fits the snapshot. However
often data is removed, the backup ends.

Packs only grow. So a later backup to the same directory copies only the bytes after the pack lengths in the earlier
backup's database. There is one exception: in a power failure, the log can lose commits that the earlier backup has.
Later, other bytes are written in place of the lost bytes at the end of a pack. Such a pack is copied again from its
beginning.

The database is copied to a temporary file, which is renamed last. So if a backup is interrupted, the earlier backup
stays usable. Its database is unchanged, and a writer that opens the backup ignores the bytes after the pack lengths in
this database. If a pack is copied again from its beginning, the earlier backup also loses the bodies that the log lost.
"""

import errno
import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Final

import apsw

from relaybook.log.store.errors import StoreUnavailable
from relaybook.log.store.file_store import Backup
from relaybook.log.store.files import BODIES, DATABASE
from relaybook.log.store.sqlite.changes import transaction
from relaybook.log.store.sqlite.connection import open_for_reading
from relaybook.log.store.sqlite.failures import translated
from relaybook.log.store.sqlite.index.text_index import FILE
from relaybook.log.store.sqlite.packs.pack_writer import pack_name
from relaybook.log.store.sqlite.schema import is_created, mark_as_backup
from relaybook.system import disk

_CHUNK_BYTES: Final = 8 << 20
_COMPARED_BYTES: Final = 64 << 10
_PAGES: Final = 1024
#: The database is locked after a round that copied at most this number of bytes. In such a short round, the writer can
#: append only few bytes, which are copied while the database is locked.
_LAST_ROUND_BYTES: Final = 8 << 20
#: How long to wait for the lock. The writer releases the lock after each transaction.
_LOCK_S: Final = 60.0
_LINEAGE: Final = "SELECT value FROM totals WHERE name = 'lineage'"
_IS_BACKUP: Final = "SELECT EXISTS (SELECT 1 FROM totals WHERE name = 'is_backup')"
_RECORDS: Final = "SELECT value FROM totals WHERE name = 'records'"

#: Called with the number of bytes copied so far, and the total number of bytes.
OnProgress = Callable[[int, int], object]


def back_up(directory: Path, target: Path, on_progress: OnProgress) -> Backup:
    """Copy the store in ``directory`` to ``target``, which is empty or has an earlier backup of the same log.

    Raises StoreUnavailable if the store does not exist or a file cannot be read or written.
    """
    with translated(directory / DATABASE), ExitStack() as stack:
        if not (directory / DATABASE).exists():
            raise StoreUnavailable(f"{directory} does not contain a log. Choose the server's directory with --data.")
        connection = stack.enter_context(closing(open_for_reading(directory)))
        if not is_created(connection, str(directory / DATABASE)):
            raise StoreUnavailable(f"{directory} does not contain a log yet.")
        packs = _PackCopy(directory / BODIES, target / BODIES, _lengths_of_earlier_backup(connection, target))
        disk.make_directory(target / BODIES)
        packs.copy_in_rounds(connection, on_progress)
        with transaction(directory, _LOCK_S) as lock:
            if lock.txn_state("main") != apsw.SQLITE_TXN_WRITE:
                raise StoreUnavailable(
                    f"{directory / DATABASE} is not writable, so the backup cannot lock the log for a moment. Run this "
                    "command as the server's user, on the directory that the server writes to."
                )
            connection.execute("BEGIN")
            lengths = _pack_lengths(connection)  # the first query starts the snapshot
            index = _open_text_index(directory, stack)
            packs.copy(lengths, lambda done, total: None)  # the terminal must not block while the database is locked
        packs.sync()
        _copy_text_index(index, target)
        records: int = connection.execute(_RECORDS).get
        copy_database(connection, target / DATABASE, mark_as_backup)
        packs.remove_other_packs(lengths)
        return Backup(records=records, copied_bytes=packs.copied, total_bytes=sum(lengths.values()))


def _pack_lengths(connection: apsw.Connection) -> dict[int, int]:
    return dict(connection.execute("SELECT pack, length FROM packs"))


def _lengths_of_earlier_backup(connection: apsw.Connection, target: Path) -> dict[int, int]:
    """Return the lengths of the packs in the target's backup. The result is empty if the target has no backup.

    Raises StoreUnavailable if the target has another log, or a backup of this log that was changed later.
    """
    lineage: int = connection.execute(_LINEAGE).get
    if not (target / DATABASE).exists():
        return {}
    earlier = open_for_reading(target)
    try:
        if earlier.execute(_LINEAGE).get != lineage or not earlier.execute(_IS_BACKUP).get:
            raise StoreUnavailable(
                f"{target} has another log, or a changed backup of this log. Choose another directory."
            )
        return _pack_lengths(earlier)
    finally:
        earlier.close()


class _PackCopy:
    """Copies packs to the directory of the backup, and copies only the bytes that this directory does not have yet.

    ``earlier`` has the pack lengths of the earlier backup in this directory.
    """

    def __init__(self, source: Path, target: Path, earlier: Mapping[int, int]) -> None:
        self._source = source
        self._target = target
        self._earlier = earlier
        #: The number of bytes of each pack that the target directory has.
        self._present: dict[int, int] = {}
        self._unsynced: set[int] = set()
        #: The number of copied bytes, without the bytes that the target directory already had.
        self.copied = 0

    def copy_in_rounds(self, connection: apsw.Connection, on_progress: OnProgress) -> None:
        """Copy all packs, and then the bytes that were appended in the meantime, until only few bytes are left.

        The rounds also end if they do not become shorter, because the writer appends faster than the packs are copied.
        """
        before = float("inf")
        while _LAST_ROUND_BYTES < (copied := self.copy(_pack_lengths(connection), on_progress)) < before:
            before = copied

    def copy(self, lengths: Mapping[int, int], on_progress: OnProgress) -> int:
        """Copy each pack up to its length, if it still exists. Returns the number of copied bytes."""
        before, total = self.copied, sum(lengths.values())
        for pack, length in lengths.items():
            if self._present.get(pack) != length:
                self._copy_pack(pack, length, lambda: on_progress(sum(self._present.values()), total))
        return self.copied - before

    def sync(self) -> None:
        """Sync the copied packs. Call this method before the database is copied."""
        for pack in self._unsynced:
            descriptor = disk.open_file(self._target / pack_name(pack))
            try:
                disk.sync(descriptor)
            finally:
                os.close(descriptor)
        disk.sync_directory(self._target)

    def remove_other_packs(self, lengths: Mapping[int, int]) -> None:
        """Delete the packs in the target directory that are not in the snapshot."""
        names = {pack_name(pack) for pack in lengths}
        for path in self._target.glob("*.pack"):
            if path.name not in names:
                path.unlink()
        disk.sync_directory(self._target)

    def _copy_pack(self, pack: int, length: int, on_progress: Callable[[], object]) -> None:
        try:
            source = disk.open_to_read(self._source / pack_name(pack))
        except FileNotFoundError:
            return  # retention deleted the pack, so that no request of the snapshot needs it
        try:
            target = disk.open_file(self._target / pack_name(pack))
            try:
                if pack not in self._present:
                    present = min(os.fstat(target).st_size, self._earlier.get(pack, 0), length)
                    self._present[pack] = present if _ends_alike(source, target, present) else 0
                    on_progress()
                while self._present[pack] < length:
                    self._copy_chunk(pack, source, target, length)
                    on_progress()
                os.ftruncate(target, length)
            finally:
                os.close(target)
        finally:
            os.close(source)

    def _copy_chunk(self, pack: int, source: int, target: int, length: int) -> None:
        start = self._present[pack]
        copied = _copy_file_range(source, target, start, min(_CHUNK_BYTES, length - start))
        if copied == 0:
            raise StoreUnavailable(
                f"{self._source / pack_name(pack)} is shorter than the database says, so the file is damaged. Run "
                "`relaybook check --bodies` to see which requests cannot be read."
            )
        self._present[pack] += copied
        self.copied += copied
        self._unsynced.add(pack)


def _copy_file_range(source: int, target: int, start: int, length: int) -> int:
    """Copy bytes at an offset of one file to the same offset of another file. Returns the number of bytes copied.

    If the file system can share blocks between files, the files share these blocks.
    """
    if hasattr(os, "copy_file_range"):
        try:
            return os.copy_file_range(source, target, length, start, start)
        except OSError as error:
            if error.errno not in (errno.EXDEV, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL):
                raise
    data = os.pread(source, length, start)
    disk.write_at(target, data, start)
    return len(data)


def _ends_alike(source: int, target: int, length: int) -> bool:
    """Return whether two packs have the same bytes before ``length``. Only the last bytes are compared.

    This comparison is enough, because a power failure loses only the last bytes of a pack. A byte that is zero in the
    source counts as equal, because it may have been erased after it was copied.
    """
    size = min(_COMPARED_BYTES, length)
    ours, theirs = os.pread(source, size, length - size), os.pread(target, size, length - size)
    return ours == theirs or (any(ours) and all(a in (0, b) for a, b in zip(ours, theirs, strict=True)))


def _open_text_index(directory: Path, stack: ExitStack) -> apsw.Connection | None:
    """Open the text index on ``stack``, and start a snapshot. `None` if the index is missing or damaged."""
    if not (directory / FILE).exists():
        return None
    connection = apsw.Connection(str(directory / FILE), flags=apsw.SQLITE_OPEN_READONLY)
    stack.callback(connection.close)
    connection.set_busy_timeout(1000)
    try:
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    except (apsw.CorruptError, apsw.NotADBError):
        return None
    return connection


def _copy_text_index(index: apsw.Connection | None, target: Path) -> None:
    """Copy the text index as it is in the connection's snapshot.

    If the index is missing or damaged, the server that opens the backup builds a new one.
    """
    if index is not None:
        try:
            copy_database(index, target / FILE)
            return
        except (apsw.CorruptError, apsw.NotADBError):
            pass
    (target / FILE).unlink(missing_ok=True)  # the index of an earlier backup can have words of removed requests


def copy_database(
    connection: apsw.Connection, path: Path, complete: Callable[[apsw.Connection], None] | None = None
) -> None:
    """Copy the database to ``path``, as it is in the connection's snapshot.

    ``complete`` makes the last changes to the copy. Only then does the new file get its final name.
    """
    new = path.with_name(f"{path.name}.part")
    new.unlink(missing_ok=True)
    os.close(disk.open_file(new))
    copy = apsw.Connection(str(new))
    try:
        with copy.backup("main", connection, "main") as backup:
            while not backup.done:
                backup.step(_PAGES)
        copy.pragma("journal_mode", "delete")  # a single file, without a WAL
        if complete is not None:
            complete(copy)
    finally:
        copy.close()
    descriptor = os.open(new, os.O_RDONLY | os.O_CLOEXEC)
    try:
        disk.sync(descriptor)
    finally:
        os.close(descriptor)
    for suffix in ("-wal", "-shm"):
        path.with_name(f"{path.name}{suffix}").unlink(missing_ok=True)
    new.replace(path)
    disk.sync_directory(path.parent)
