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

from relaybook.stores.base import StoreUnavailable
from relaybook.stores.sqlite.connection import DATABASE, open_for_reading
from relaybook.stores.sqlite.failures import translated
from relaybook.stores.sqlite.schema import check_upgraded
from relaybook.stores.sqlite.search import Deadline

_MOST_IDLE: Final = 8


class Pool:
    """Any thread may use it."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._path = directory / DATABASE
        self._lock = threading.Lock()
        self._idle: list[apsw.Connection] = []
        self._file: tuple[int, int] | None = None
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

    def _take(self) -> tuple[apsw.Connection, tuple[int, int]] | None:
        try:
            status = self._path.stat()
        except FileNotFoundError:
            return None
        file = (status.st_dev, status.st_ino)
        with self._lock:
            if self._is_closed:
                raise StoreUnavailable(f"{self._path}: this reader was closed.")
            if file != self._file:
                _close_all(self._idle)
                self._file = file
            if self._idle:
                return self._idle.pop(), file
        return self._open(file)

    def _open(self, file: tuple[int, int]) -> tuple[apsw.Connection, tuple[int, int]] | None:
        connection = open_for_reading(self._directory)
        try:
            is_made = check_upgraded(connection, str(self._path))
        except BaseException:
            connection.close()
            raise
        if not is_made:
            connection.close()
            return None
        return connection, file

    def _give_back(self, connection: apsw.Connection, file: tuple[int, int]) -> None:
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
