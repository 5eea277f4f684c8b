"""Write and attach the text index.

The index is a separate database next to the log, ``text.sqlite``, with one FTS5 table. The index belongs to one log and
stores the random identity of the log. An index is deleted and rebuilt if it belongs to another log, is damaged, or is
ahead of its log. An index is ahead if it contains requests that the log lost in a power failure. The index stores words
and their positions, but not the texts. The three sections of a text are three columns.
Readers attach the index (see ``attach``).
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

import apsw

from relaybook.log.query.filters import WORDS
from relaybook.log.query.words import SearchText, indexed
from relaybook.log.store.errors import StoreUnavailable
from relaybook.log.store.files import DATABASE
from relaybook.log.store.sqlite.connection import open_for_reading, truncate_wal
from relaybook.log.store.sqlite.failures import translated
from relaybook.log.store.sqlite.index.vocabulary import TOKENIZER, add_vocabulary
from relaybook.system import disk

FILE: Final = "text.sqlite"
#: A column for each section, so that a search can be limited to some sections. A word in the first column takes two
#: bytes less than in another column. So the first column is the section that is usually the longest.
_COLUMNS: Final = SearchText._fields[::-1]
_ARGUMENTS: Final = " ".join(f"'{argument}'" for argument in TOKENIZER[1])
_TABLES: Final = (
    f"CREATE VIRTUAL TABLE {{0}}.{WORDS} USING fts5({', '.join(_COLUMNS)}, content='', contentless_delete=1, "
    f'tokenize="{TOKENIZER[0]} {_ARGUMENTS}"); '
    "CREATE TABLE {0}.text_progress (log INTEGER NOT NULL, seq INTEGER NOT NULL) STRICT"
)
#: How long to wait for a lock. A reader may briefly lock the index while attaching it.
_BUSY_MS: Final = 2000
_PREPARE: Final = (
    "PRAGMA page_size = 8192; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;"
    "PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON;"
    "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -32768; PRAGMA journal_size_limit = 67108864;"
)


_ADD: Final = f"INSERT INTO {WORDS}(rowid, {', '.join(_COLUMNS)}) VALUES (?, ?, ?, ?)"  # noqa: S608 - a constant
_REMOVE: Final = f"DELETE FROM {WORDS} WHERE rowid BETWEEN ? AND ?"  # noqa: S608 - a constant
#: The statement of one compaction step.
_MERGE: Final = f"INSERT INTO {WORDS}({WORDS}, rank) VALUES ('merge', 64)"  # noqa: S608 - a constant
#: With ``automerge``, FTS5 merges many pages for each removed text. When a whole day is removed, these merges would
#: take twenty times as long as the removal, and up to 0.8 s per commit. So texts are removed with ``automerge`` 0.
_SET_AUTOMERGE: Final = f"INSERT INTO {WORDS}({WORDS}, rank) VALUES ('automerge', ?)"  # noqa: S608 - a constant
_AUTOMERGE: Final = 4
#: Starts to merge all parts of the index into one part. ``_MERGE`` continues the merge.
_MERGE_ALL: Final = f"INSERT INTO {WORDS}({WORDS}, rank) VALUES ('merge', -64)"  # noqa: S608 - a constant
#: Number of pages that one step frees.
_VACUUMED_PAGES: Final = 128
#: A sixteenth of all pages may stay free.
_FREE_SHARE: Final = 16


class _Log(NamedTuple):
    """The random number that identifies the log, and the newest ``seq`` of the log."""

    identity: int
    last_seq: int


class SqliteTextIndex:
    """Writes the text index on its own connection.

    The connection is opened on first use.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._path = directory / FILE
        self._connection: apsw.Connection | None = None
        #: Device and inode of the file that the connection has open.
        self._file: tuple[int, int] | None = None
        self._indexed_to = 0

    def indexed_to(self) -> int:
        with self._rebuilding():
            if self._file != file_identity(self._directory):
                self.close()  # the file was deleted, for example by another object because it was damaged
            self._open()
            return self._indexed_to

    def add(self, texts: Sequence[tuple[int, SearchText]], up_to: int) -> None:
        with self._rebuilding(), self._open() as connection:
            connection.executemany(_ADD, [_row(seq, text) for seq, text in texts])
            connection.execute("UPDATE text_progress SET seq = ?", (up_to,))
        self._indexed_to = up_to

    def remove(self, ranges: Iterable[tuple[int, int]]) -> None:
        """Remove the text of records. A range has the first and the last ``seq``.

        The bytes of the text stay in the index until the index is compacted.
        """
        with self._rebuilding(), self._open() as connection:
            connection.execute(_SET_AUTOMERGE, (0,))
            connection.executemany(_REMOVE, ranges)
            connection.execute(_SET_AUTOMERGE, (_AUTOMERGE,))

    def replace(self, texts: Sequence[tuple[int, SearchText]]) -> None:
        """Replace the text of records that are in the index. An empty text is only removed.

        The old texts stay in the index until the index is compacted.
        """
        with self._rebuilding(), self._open() as connection:
            connection.execute(_SET_AUTOMERGE, (0,))
            connection.executemany(_REMOVE, ((seq, seq) for seq, _ in texts))
            connection.executemany(_ADD, [_row(seq, text) for seq, text in texts if any(text)])
            connection.execute(_SET_AUTOMERGE, (_AUTOMERGE,))

    def compact(self) -> bool:
        """Merge some parts of the index that have many removed texts, or free some pages.

        Returns False if there is nothing to do.
        """
        with self._rebuilding():
            connection = self._open()
            before = connection.total_changes()
            connection.execute(_MERGE)
            if connection.total_changes() - before > 1:  # fewer changes mean that nothing was merged
                return True
            if connection.pragma("freelist_count") <= connection.pragma("page_count") // _FREE_SHARE:
                return False
            connection.execute(f"PRAGMA incremental_vacuum({_VACUUMED_PAGES})").fetchall()
            return True

    def compact_all(self, *, is_first: bool) -> bool:
        """Do one step of rewriting the whole index and freeing pages.

        ``is_first`` must be True for the first step. Returns False when the whole index is rewritten and has no more
        bytes of removed texts.
        """
        if not is_first:
            return self.compact()
        with self._rebuilding():
            self._open().execute(_MERGE_ALL)
        return True

    def truncate_wal(self) -> bool:
        """Truncate the WAL, which may have bytes of removed texts.

        Returns False if a reader prevents the truncation.
        """
        with self._rebuilding():
            return truncate_wal(self._open(), _BUSY_MS / 1000)

    @contextmanager
    def _rebuilding(self) -> Iterator[None]:
        """Translate errors of the ``with`` block, and delete the index if it is damaged.

        If the index is damaged, StoreUnavailable is raised, and the recorder's text pass rebuilds the index. If the log
        itself is damaged, StoreDamaged is raised, and the recorder sets the store aside.
        """
        with translated(self._path):
            try:
                yield
            except (apsw.CorruptError, apsw.NotADBError) as error:
                self.drop()
                raise rebuilt(self._path, error) from error

    def _open(self) -> apsw.Connection:
        if self._connection is not None:
            return self._connection
        with translated(self._directory / DATABASE):
            log = _log(self._directory)
        try:
            connection, self._indexed_to = self._open_for(log)
        except (apsw.CorruptError, apsw.NotADBError, apsw.SQLError, _IndexOfAnotherLog):
            self.drop()
            connection, self._indexed_to = self._open_for(log)
        self._connection, self._file = connection, file_identity(self._directory)
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
            log_id, seq = connection.execute("SELECT log, seq FROM text_progress").get or (None, 0)
            if log_id != log.identity or seq > log.last_seq:
                raise _IndexOfAnotherLog
        except BaseException:
            connection.close()
            raise
        return connection, seq

    def drop(self) -> None:
        """Delete the index. The recorder's text pass then rebuilds the index."""
        self.close()
        for suffix in ("", "-wal", "-shm"):
            self._path.with_name(f"{FILE}{suffix}").unlink(missing_ok=True)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def rebuilt(path: Path, error: Exception) -> StoreUnavailable:
    """Return the error for an index that was deleted because it is damaged."""
    return StoreUnavailable(f"{path} was damaged and is rebuilt ({error}). Test the disk.")


class _IndexOfAnotherLog(Exception):
    """The index cannot be used with the log.

    The index belongs to another log, or contains requests that the log lost in a power failure.
    """


def _log(directory: Path) -> _Log:
    connection = open_for_reading(directory)
    try:
        last_seq: int = connection.execute("SELECT value FROM totals WHERE name = 'last_seq'").get
        return _Log(log_identity(connection), last_seq)
    finally:
        connection.close()


def drop_if_ahead(directory: Path) -> None:
    """Delete the text index if it contains requests that the log lost in a power failure.

    Call this function before records are added. New records get the ``seq`` values of the lost requests. Then it can no
    longer be detected that the index contains the lost requests.
    """
    if not (directory / FILE).exists():
        return
    index = SqliteTextIndex(directory)
    with suppress(StoreUnavailable, apsw.Error):  # the log works without the index
        index.indexed_to()
    index.close()


def log_identity(connection: apsw.Connection) -> int:
    identity: int = connection.execute("SELECT value FROM totals WHERE name = 'identity'").get
    return identity


def attach(connection: apsw.Connection, directory: Path) -> bool:
    """Attach the log's text index to a reader's connection.

    Returns whether the index is available. If the index is missing, unreadable or belongs to another log, empty
    temporary tables are used instead.
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


def _row(seq: int, text: SearchText) -> tuple[int, str, str, str]:
    """Return the values of ``_ADD``."""
    return seq, indexed(text.earlier), indexed(text.new), indexed(text.response)


def indexed_to(connection: apsw.Connection) -> int:
    """Return the newest ``seq`` that the attached index has processed."""
    seq: int = connection.execute("SELECT seq FROM text_progress").get
    return seq


def file_identity(directory: Path) -> tuple[int, int] | None:
    """Return the device and inode of the index's file, or `None` if the file does not exist."""
    try:
        status = (directory / FILE).stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino
