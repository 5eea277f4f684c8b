"""Copy a store while a writer uses it.

The backup consists of a snapshot of the database, and of the pack bytes that the snapshot refers to. The snapshot
contains all data that was committed when the backup began, except requests that were removed during the backup. Packs
are copied first. Meanwhile, the writer may remove requests of the snapshot, or store their body frames again at another
location. The writer then erases the old bytes and the texts of these requests (see reclaiming.py). If something was
erased during the copy, the backup continues with a new snapshot. It copies only the pack bytes that are not copied yet.

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
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Final

import apsw

from relaybook.log.store.errors import StoreUnavailable
from relaybook.log.store.files import BODIES, DATABASE
from relaybook.log.store.port import Backup
from relaybook.log.store.sqlite.connection import open_for_reading
from relaybook.log.store.sqlite.failures import translated
from relaybook.log.store.sqlite.packs import pack_name
from relaybook.log.store.sqlite.schema import is_created, mark_as_backup
from relaybook.log.store.sqlite.text_index import FILE
from relaybook.system import disk

_CHUNK_BYTES: Final = 8 << 20
_COMPARED_BYTES: Final = 64 << 10
_PAGES: Final = 1024
_LINEAGE: Final = "SELECT value FROM totals WHERE name = 'lineage'"
_ERASURES: Final = "SELECT value FROM totals WHERE name = 'erasures'"
_IS_BACKUP: Final = "SELECT EXISTS (SELECT 1 FROM totals WHERE name = 'is_backup')"

#: Called with the number of bytes copied so far, and the total number of bytes.
OnProgress = Callable[[int, int], object]


def back_up(directory: Path, target: Path, on_progress: OnProgress) -> Backup:
    """Copy the store in ``directory`` to ``target``, which is empty or has an earlier backup of the same log.

    Raises StoreUnavailable if the store does not exist or a file cannot be read or written.
    """
    with translated(directory / DATABASE):
        if not (directory / DATABASE).exists():
            raise StoreUnavailable(f"{directory} does not contain a log. Choose the server's directory with --data.")
        connection = open_for_reading(directory)
        try:
            if not is_created(connection, str(directory / DATABASE)):
                raise StoreUnavailable(f"{directory} does not contain a log yet.")
            present = _lengths_of_earlier_backup(connection, target)
            disk.make_directory(target / BODIES)
            copied = 0
            while True:
                erasures: int = connection.execute(_ERASURES).get
                _copy_text_index(directory, target)
                connection.execute("BEGIN")
                copy = _Copy(directory, target, connection, present, on_progress)
                copy.copy_packs()
                copied += copy.copied
                if _erasures_now(directory) == erasures:
                    return copy.finish(copied)
                present = copy.lengths
                connection.execute("ROLLBACK")
        finally:
            connection.close()


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
        return dict(earlier.execute("SELECT pack, length FROM packs"))
    finally:
        earlier.close()


def _erasures_now(directory: Path) -> int:
    """Return the number of erasures. If it has changed, the copied index and packs may not fit the snapshot."""
    connection = open_for_reading(directory)
    try:
        erasures: int = connection.execute(_ERASURES).get
        return erasures
    finally:
        connection.close()


class _Copy:
    """Copies the store as it is in one snapshot of the database.

    The pack lengths in the snapshot determine how much of each pack is copied. The caller must begin a transaction on
    ``connection``. The first query starts the snapshot.
    """

    def __init__(
        self,
        directory: Path,
        target: Path,
        connection: apsw.Connection,
        present: dict[int, int],
        on_progress: OnProgress,
    ) -> None:
        self._source = directory / BODIES
        self._target = target / BODIES
        self._directory = target
        self._connection = connection
        self._on_progress = on_progress
        self._present = present
        self.lengths: dict[int, int] = dict(connection.execute("SELECT pack, length FROM packs"))
        self._total = sum(self.lengths.values())
        self._done = 0
        #: The number of copied pack bytes, without the bytes that the target already had.
        self.copied = 0

    def copy_packs(self) -> None:
        descriptors = {pack: self._open(pack) for pack in self.lengths}
        try:
            for pack, descriptor in descriptors.items():
                if descriptor is not None:
                    self._copy_pack(pack, descriptor)
        finally:
            for descriptor in descriptors.values():
                if descriptor is not None:
                    os.close(descriptor)

    def finish(self, copied_bytes: int) -> Backup:
        """Complete the backup: copy the database, and delete the target's packs that are not in the snapshot."""
        records: int = self._connection.execute("SELECT value FROM totals WHERE name = 'records'").get
        copy_database(self._connection, self._directory / DATABASE, mark_as_backup)
        self._remove_packs_of_earlier_backups()
        return Backup(records=records, copied_bytes=copied_bytes, total_bytes=self._total)

    def _open(self, pack: int) -> int | None:
        """Open a pack, so that it stays readable even if retention deletes it. `None` if the pack was deleted."""
        try:
            return _open(self._source / pack_name(pack))
        except FileNotFoundError:
            return None

    def _copy_pack(self, pack: int, source: int) -> None:
        length = self.lengths[pack]
        target = disk.open_file(self._target / pack_name(pack))
        try:
            present = min(os.fstat(target).st_size, self._present.get(pack, 0), length)
            if not _ends_alike(source, target, present):
                present = 0
            self._progress(present)
            for start in range(present, length, _CHUNK_BYTES):
                self._copy_range(pack, source, target, start, min(_CHUNK_BYTES, length - start))
            os.ftruncate(target, length)
            if present < length:
                disk.sync(target)
        finally:
            os.close(target)

    def _copy_range(self, pack: int, source: int, target: int, start: int, length: int) -> None:
        end = start + length
        while start < end:
            copied = _copy_file_range(source, target, start, end - start)
            if copied == 0:
                raise StoreUnavailable(
                    f"{self._source / pack_name(pack)} is shorter than the database says, so the file is damaged. Run "
                    "`relaybook check --bodies` to see which requests cannot be read."
                )
            start += copied
            self.copied += copied
            self._progress(copied)

    def _progress(self, done: int) -> None:
        self._done += done
        self._on_progress(self._done, self._total)

    def _remove_packs_of_earlier_backups(self) -> None:
        """Delete the packs in the target directory that are not in the snapshot."""
        names = {pack_name(pack) for pack in self.lengths}
        for path in self._target.glob("*.pack"):
            if path.name not in names:
                path.unlink()
        disk.sync_directory(self._target)


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        if error.errno != errno.EMFILE:
            raise
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)


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


def _copy_text_index(directory: Path, target: Path) -> None:
    """Copy the text index. If the index is missing or damaged, the server that opens the backup builds a new one.

    Call this function before each snapshot of the log. If the copied index contained requests that are not in the
    snapshot, the index would be rejected. If something was erased during the backup, the index is copied again before
    the next snapshot.
    """
    if (directory / FILE).exists():
        connection = apsw.Connection(str(directory / FILE), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            connection.set_busy_timeout(1000)
            connection.execute("BEGIN")
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
            copy_database(connection, target / FILE)
            return
        except (apsw.CorruptError, apsw.NotADBError):
            pass
        finally:
            connection.close()
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
