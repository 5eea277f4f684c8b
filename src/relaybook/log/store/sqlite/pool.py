"""Pool read-only connections, and detect when the store appears or is replaced.

A connection serves one call at a time. If the database does not exist, callers get no connection and treat the log as
empty. If the database file was replaced, connections to the old file are closed.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import apsw

from relaybook.log.store.errors import StoreUnavailable
from relaybook.log.store.files import DATABASE
from relaybook.log.store.sqlite.connection import open_for_reading
from relaybook.log.store.sqlite.failures import translated
from relaybook.log.store.sqlite.index.text_functions import add_functions
from relaybook.log.store.sqlite.index.text_index import attach, file_identity
from relaybook.log.store.sqlite.packs.pack_reader import PackReader
from relaybook.log.store.sqlite.schema import is_created
from relaybook.log.store.sqlite.search.scan import Deadline

_MAX_IDLE: Final = 8
#: Device and inode of the log's file, and of the text index's file if it exists.
_Files = tuple[tuple[int, int], tuple[int, int] | None]


class ConnectionPool:
    """A thread-safe pool of connections."""

    def __init__(self, directory: Path, packs: PackReader) -> None:
        """Create an empty pool. The SQL functions of the connections read bodies through ``packs``."""
        self._directory = directory
        self._packs = packs
        self._path = directory / DATABASE
        self._lock = threading.Lock()
        self._idle: list[apsw.Connection] = []
        #: The files that the idle connections have open.
        self._files: _Files | None = None
        self._is_closed = False

    @contextmanager
    def snapshot(self, deadline: Deadline) -> Iterator[apsw.Connection | None]:
        """Yield a connection with one consistent snapshot, or `None` if there is no store yet.

        Raises the errors of ``log/store/errors.py``, such as DeadlinePassed if the ``with`` block did not finish in
        time.
        """
        with translated(self._path):
            acquired = self._acquire()
            if acquired is None:
                yield None
                return
            connection, files = acquired
            try:
                deadline.watch(connection)
                connection.execute("BEGIN")
                yield connection
                connection.set_progress_handler(None)
                connection.execute("ROLLBACK")
            except BaseException:
                connection.close()
                raise
            self._release(connection, files)

    def _acquire(self) -> tuple[apsw.Connection, _Files] | None:
        try:
            status = self._path.stat()
        except FileNotFoundError:
            return None
        files = (status.st_dev, status.st_ino), file_identity(self._directory)
        with self._lock:
            if self._is_closed:
                raise StoreUnavailable(f"{self._path}: the reader is closed.")
            if files != self._files:
                _close_all(self._idle)
                self._files = files
            if self._idle:
                return self._idle.pop(), files
        return self._open(files)

    def _open(self, files: _Files) -> tuple[apsw.Connection, _Files] | None:
        connection = open_for_reading(self._directory)
        try:
            has_tables = is_created(connection, str(self._path))
        except BaseException:
            connection.close()
            raise
        if not has_tables:
            connection.close()
            return None
        is_attached = attach(connection, self._directory)
        add_functions(connection, self._packs)
        connection.pragma("query_only", True)
        # If the index exists but could not be attached, another process may still be creating the index. So this
        # connection is used only once.
        return connection, (files[0], files[1] if is_attached else None)

    def _release(self, connection: apsw.Connection, files: _Files) -> None:
        with self._lock:
            if not self._is_closed and files == self._files and len(self._idle) < _MAX_IDLE:
                self._idle.append(connection)
                return
        connection.close()

    def close(self) -> None:
        """Close idle connections immediately. A connection that is in use is closed when its call ends."""
        with self._lock:
            self._is_closed = True
            _close_all(self._idle)


def _close_all(connections: list[apsw.Connection]) -> None:
    while connections:
        connections.pop().close()
