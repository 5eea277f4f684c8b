"""Open database connections for the single writer, for readers, and for short changes alongside the writer."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import apsw

from relaybook.log.store.files import DATABASE
from relaybook.log.store.port import Durability
from relaybook.system import disk

#: With this page size, a commit takes 6 % less time than with pages of 4 KiB. Pages of 16 KiB are not faster.
_PAGE_BYTES: Final = 8192
#: The WAL is checkpointed each time it has grown by this number of bytes. A commit that also checkpoints takes 30 ms
#: longer than any other commit. With 32 MiB instead of 8 MiB, such a commit would take 50 ms longer than any other, but
#: recording would need 4 µs less per request.
_CHECKPOINT_BYTES: Final = 8 << 20
_MIB: Final = 1024  # a negative PRAGMA cache_size is in KiB
#: With ``secure_delete = FAST``, free pages would keep the bytes of rows that were deleted from the table
#: ``checkpoints``. ``FAST`` is not faster than ``ON``.
_WRITER_PRAGMAS: Final = (
    "PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON; PRAGMA secure_delete = ON; PRAGMA foreign_keys = OFF;"
    "PRAGMA temp_store = MEMORY;"
)


def open_for_writing(directory: Path, durability: Durability, busy_s: float) -> apsw.Connection:
    """Open the writer's connection, and create the database file if it does not exist.

    The file has mode 0600. SQLite creates the -wal and -shm files with the same mode.
    """
    path = directory / DATABASE
    os.close(disk.open_file(path))
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(int(busy_s * 1000))
    _run_all(
        connection,
        f"PRAGMA page_size = {_PAGE_BYTES}; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;"
        f"PRAGMA synchronous = {'FULL' if durability == 'power' else 'NORMAL'};"
        f"{_WRITER_PRAGMAS}"
        f"PRAGMA journal_size_limit = {2 * _CHECKPOINT_BYTES}; PRAGMA cache_size = -{64 * _MIB};"
        f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_BYTES // _PAGE_BYTES}",
    )
    return connection


def open_for_change(directory: Path, busy_s: float) -> apsw.Connection:
    """Open a connection for a short transaction alongside the writer.

    A commit on this connection survives a power failure. The commit does not checkpoint the WAL, because only the
    writer does that. Raises apsw.CantOpenError if the database does not exist.
    """
    connection = apsw.Connection(str(directory / DATABASE), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(int(busy_s * 1000))
    _run_all(connection, f"{_WRITER_PRAGMAS} PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0")
    return connection


def open_for_reading(directory: Path) -> apsw.Connection:
    """Open a read-only connection.

    Raises apsw.CantOpenError if the database does not exist.
    """
    connection = apsw.Connection(str(directory / DATABASE), flags=apsw.SQLITE_OPEN_READONLY)
    connection.set_busy_timeout(1000)
    _run_all(connection, f"PRAGMA cache_size = -{16 * _MIB}; PRAGMA temp_store = MEMORY")
    return connection


def _run_all(connection: apsw.Connection, statements: str) -> None:
    """Run all statements.

    execute() alone stops at the first statement that returns a row.
    """
    connection.execute(statements).fetchall()


@contextmanager
def committing(connection: apsw.Connection) -> Iterator[None]:
    """Commit the writes of the ``with`` block. If the block or the commit fails, nothing is stored."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def truncate_wal(connection: apsw.Connection, busy_s: float) -> bool:
    """Checkpoint the whole WAL and truncate it.

    Returns False if a reader prevents the checkpoint, because the function does not wait for readers. ``busy_s`` is the
    lock timeout that the connection has afterwards.
    """
    connection.set_busy_timeout(0)
    try:
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except apsw.Error:
        return False
    finally:
        connection.set_busy_timeout(int(busy_s * 1000))
    return True
