"""Opens connections to the database file: for the one writer, for readers, for a change beside the writer."""

import os
from pathlib import Path
from typing import Final, Literal

import apsw

from relaybook.log.store.sqlite import disk

DATABASE: Final = "relaybook.sqlite"
BODIES: Final = "bodies"
Durability = Literal["process", "power"]

#: Pages of 8 KiB: a commit takes 6 % less than with 4 KiB; 16 KiB gain nothing more (benchmarks/store_writing.py).
_PAGE_BYTES: Final = 8192
#: The write-ahead log is copied into the database each time it has grown by this much.
_CHECKPOINT_BYTES: Final = 32 << 20
_MIB: Final = 1024  # PRAGMA cache_size counts KiB when negative
#: secure_delete = FAST would leave the words of dropped states in free pages, and measures the same.
_FOR_ALL_THAT_WRITE: Final = (
    "PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON; PRAGMA secure_delete = ON; PRAGMA foreign_keys = OFF;"
    "PRAGMA temp_store = MEMORY;"
)


def open_for_writing(directory: Path, durability: Durability, busy_s: float) -> apsw.Connection:
    """The writer's connection; makes the file (0600: SQLite gives -wal and -shm the same mode)."""
    path = directory / DATABASE
    os.close(disk.open_file(path))
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(int(busy_s * 1000))
    _run_all(
        connection,
        f"PRAGMA page_size = {_PAGE_BYTES}; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;"
        f"PRAGMA synchronous = {'FULL' if durability == 'power' else 'NORMAL'};"
        f"{_FOR_ALL_THAT_WRITE}"
        f"PRAGMA journal_size_limit = {2 * _CHECKPOINT_BYTES}; PRAGMA cache_size = -{64 * _MIB};"
        f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_BYTES // _PAGE_BYTES}",
    )
    return connection


def open_for_a_change(directory: Path, busy_s: float) -> apsw.Connection:
    """A connection for a short transaction beside the writer's; the write-ahead log's size stays the writer's care.

    What it commits survives a power cut. Raises apsw.CantOpenError when there is no database.
    """
    connection = apsw.Connection(str(directory / DATABASE), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(int(busy_s * 1000))
    _run_all(connection, f"{_FOR_ALL_THAT_WRITE} PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0")
    return connection


def open_for_reading(directory: Path) -> apsw.Connection:
    """A reader's connection: it can change nothing. Raises apsw.CantOpenError when there is no database."""
    connection = apsw.Connection(str(directory / DATABASE), flags=apsw.SQLITE_OPEN_READONLY)
    connection.set_busy_timeout(1000)
    _run_all(connection, f"PRAGMA cache_size = -{16 * _MIB}; PRAGMA temp_store = MEMORY")
    return connection


def _run_all(connection: apsw.Connection, statements: str) -> None:
    """All of several statements: execute() alone goes no further than the first that yields a row."""
    connection.execute(statements).fetchall()


def empty_write_ahead_log(connection: apsw.Connection, busy_s: float) -> bool:
    """Copies all of the write-ahead log into the database and cuts it to nothing; False when a reader is in the way."""
    connection.set_busy_timeout(0)
    try:
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except apsw.Error:
        return False
    finally:
        connection.set_busy_timeout(int(busy_s * 1000))
    return True
