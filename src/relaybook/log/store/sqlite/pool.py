"""Keeps read-only connections for the threads that ask, and finds the store when it appears.

A connection serves one call at a time. Without a database there is none to give, and the caller answers as for an empty
log. When the file was replaced, the connections to the old one are dropped.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import apsw

from relaybook.log.store.errors import StoreUnavailable
from relaybook.log.store.sqlite.connection import DATABASE, open_for_reading
from relaybook.log.store.sqlite.failures import translated
from relaybook.log.store.sqlite.pack_reader import PackReader
from relaybook.log.store.sqlite.schema import check_upgraded
from relaybook.log.store.sqlite.search import Deadline
from relaybook.log.store.sqlite.text_functions import add_functions
from relaybook.log.store.sqlite.text_index import attach, file_identity

_MOST_IDLE: Final = 8
#: Device and number of the log's file, and of the text index's where there is one.
_Files = tuple[tuple[int, int], tuple[int, int] | None]


class Pool:
    """Any thread may use it."""

    def __init__(self, directory: Path, kept: PackReader) -> None:
        """Connections can look into ``kept``, too; see ``texts``."""
        self._directory = directory
        self._kept = kept
        self._path = directory / DATABASE
        self._lock = threading.Lock()
        self._idle: list[apsw.Connection] = []
        #: The log's file and the text index's.
        self._file: _Files | None = None
        self._is_closed = False

    @contextmanager
    def snapshot(self, deadline: Deadline) -> Iterator[apsw.Connection | None]:
        """One consistent state for the length of the block; None when there is no store yet.

        Raises the port's errors; DeadlinePassed for a question the block did not end in time.
        """
        with translated(self._path):
            taken = self._take()
            if taken is None:
                yield None
                return
            connection, file = taken
            try:
                deadline.watch(connection)
                connection.execute("BEGIN")
                yield connection
                connection.set_progress_handler(None)
                connection.execute("ROLLBACK")
            except BaseException:
                connection.close()
                raise
            self._give_back(connection, file)

    def _take(self) -> tuple[apsw.Connection, _Files] | None:
        try:
            status = self._path.stat()
        except FileNotFoundError:
            return None
        file = (status.st_dev, status.st_ino), file_identity(self._directory)
        with self._lock:
            if self._is_closed:
                raise StoreUnavailable(f"{self._path}: this reader was closed.")
            if file != self._file:
                _close_all(self._idle)
                self._file = file
            if self._idle:
                return self._idle.pop(), file
        return self._open(file)

    def _open(self, file: _Files) -> tuple[apsw.Connection, _Files] | None:
        connection = open_for_reading(self._directory)
        try:
            is_made = check_upgraded(connection, str(self._path))
        except BaseException:
            connection.close()
            raise
        if not is_made:
            connection.close()
            return None
        is_attached = attach(connection, self._directory)
        add_functions(connection, self._kept)
        connection.pragma("query_only", True)
        # Without an index that is there, maybe in the making, it serves once.
        return connection, (file[0], file[1] if is_attached else None)

    def _give_back(self, connection: apsw.Connection, file: _Files) -> None:
        with self._lock:
            if not self._is_closed and file == self._file and len(self._idle) < _MOST_IDLE:
                self._idle.append(connection)
                return
        connection.close()

    def close(self) -> None:
        """Idle connections now, those in use when their call ends."""
        with self._lock:
            self._is_closed = True
            _close_all(self._idle)


def _close_all(connections: list[apsw.Connection]) -> None:
    while connections:
        connections.pop().close()
