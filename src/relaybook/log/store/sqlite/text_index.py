"""The text index of the SQLite store: a database of its own beside the log's, ``text.sqlite``, with one FTS5 table.

It belongs to one log, whose random identity it carries; an index of another log, one that is ahead of its log, or a
damaged one is dropped and made anew. It keeps words and where they stand, not the texts. Readers attach it; see
``attach``.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

import apsw

from relaybook.log.query.filters import WORDS
from relaybook.log.query.words import spaced
from relaybook.log.store.errors import StoreUnavailable
from relaybook.log.store.sqlite import disk
from relaybook.log.store.sqlite.connection import open_for_reading
from relaybook.log.store.sqlite.failures import translated
from relaybook.log.store.sqlite.vocabulary import TOKENIZER, add_vocabulary

FILE: Final = "text.sqlite"
_TABLES: Final = (
    f"CREATE VIRTUAL TABLE {{0}}.{WORDS} USING fts5(said, content='', contentless_delete=1, "
    f'tokenize="{TOKENIZER[0]} {" ".join(TOKENIZER[1])}"); '
    "CREATE TABLE {0}.text_progress (log INTEGER NOT NULL, seq INTEGER NOT NULL) STRICT"
)
#: A reader that attaches the index may hold it for a moment.
_BUSY_MS: Final = 2000
_PREPARE: Final = (
    "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON;"
    "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -32768; PRAGMA journal_size_limit = 67108864;"
)


class _Log(NamedTuple):
    """What tells a log from any other, and how far it has come."""

    identity: int
    last_seq: int


class SqliteTextIndex:
    """The writer: one beside the one writer of the log. Opens nothing before it is used."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._path = directory / FILE
        self._connection: apsw.Connection | None = None
        self._indexed_to = 0

    def indexed_to(self) -> int:
        with translated(self._path):
            self._open()
            return self._indexed_to

    def add(self, texts: Sequence[tuple[int, str]], up_to: int) -> None:
        with translated(self._path):
            connection = self._open()
            try:
                with connection:
                    rows = ((seq, spaced(text)) for seq, text in texts)
                    connection.executemany(f"INSERT INTO {WORDS}(rowid, said) VALUES (?, ?)", rows)  # noqa: S608
                    connection.execute("UPDATE text_progress SET seq = ?", (up_to,))
            except (apsw.CorruptError, apsw.NotADBError):
                self._drop()
                raise
        self._indexed_to = up_to

    def _open(self) -> apsw.Connection:
        if self._connection is not None:
            return self._connection
        log = _log(self._directory)
        try:
            connection, self._indexed_to = self._open_for(log)
        except (apsw.CorruptError, apsw.NotADBError, apsw.SQLError, _OfAnotherLog):
            self._drop()
            connection, self._indexed_to = self._open_for(log)
        self._connection = connection
        return connection

    def _open_for(self, log: _Log) -> tuple[apsw.Connection, int]:
        os.close(disk.open_file(self._path))
        connection = apsw.Connection(str(self._path), flags=apsw.SQLITE_OPEN_READWRITE)
        connection.set_busy_timeout(_BUSY_MS)
        try:
            connection.execute(_PREPARE).fetchall()
            if not connection.execute("SELECT count(*) FROM sqlite_schema").get:
                with connection:
                    connection.execute(_TABLES.format("main"))
                    connection.execute("INSERT INTO text_progress VALUES (?, 0)", (log.identity,))
            of_log, seq = connection.execute("SELECT log, seq FROM text_progress").get or (None, 0)
            if of_log != log.identity or seq > log.last_seq:
                raise _OfAnotherLog
        except BaseException:
            connection.close()
            raise
        return connection, seq

    def _drop(self) -> None:
        self.close()
        for suffix in ("", "-wal", "-shm"):
            self._path.with_name(f"{FILE}{suffix}").unlink(missing_ok=True)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class _OfAnotherLog(Exception):
    """The index beside the log was made for another one, or for requests that the log lost in a power cut."""


def _log(directory: Path) -> _Log:
    connection = open_for_reading(directory)
    try:
        last_seq: int = connection.execute("SELECT value FROM totals WHERE name = 'last_seq'").get
        return _Log(log_identity(connection), last_seq)
    finally:
        connection.close()


def drop_if_ahead(directory: Path) -> None:
    """To be called before the log grows: later nobody could tell that the index holds words of requests it lost."""
    if not (directory / FILE).exists():
        return
    index = SqliteTextIndex(directory)
    with suppress(StoreUnavailable, apsw.Error):  # without it the log works all the same
        index.indexed_to()
    index.close()


def log_identity(connection: apsw.Connection) -> int:
    identity: int = connection.execute("SELECT value FROM totals WHERE name = 'identity'").get
    return identity


def attach(connection: apsw.Connection, directory: Path) -> bool:
    """Gives a connection that will read the log the tables of its text index; empty ones where there is none.

    An index of another log, or one that cannot be read, counts as none. Tells whether it has the index.
    """
    path = directory / FILE
    if path.exists():
        with suppress(apsw.Error):
            connection.execute("ATTACH ? AS text", (str(path),))
            if connection.execute("SELECT log FROM text_progress").get == log_identity(connection):
                add_vocabulary(connection, "text")
                return True
        with suppress(apsw.Error):
            connection.execute("DETACH text")
    connection.execute(_TABLES.format("temp"))
    connection.execute("INSERT INTO temp.text_progress VALUES (0, 0)")
    add_vocabulary(connection, "temp")
    return False


def indexed_to(connection: apsw.Connection) -> int:
    """How far the attached index has come."""
    seq: int = connection.execute("SELECT seq FROM text_progress").get
    return seq


def file_identity(directory: Path) -> tuple[int, int] | None:
    """Which file the index is now; None: there is none."""
    try:
        status = (directory / FILE).stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino
