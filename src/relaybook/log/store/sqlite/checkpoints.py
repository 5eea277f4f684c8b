"""Checkpoint the write-ahead log (WAL) of a database in a thread, so that commits do not wait for it.

A checkpoint copies changed pages from the WAL to the database and syncs both files. With a WAL of 32 MiB, this takes
more than 0.1 s. Other connections can read and write during the checkpoint. The next transaction after a complete
checkpoint begins the WAL again. If a transaction is committed during the checkpoint, the next commit starts another
checkpoint of the remaining pages.
"""

import threading
from contextlib import suppress
from pathlib import Path
from typing import Final

import apsw

#: The same options as those of a writer, because a checkpoint syncs the files.
_PRAGMAS: Final = "PRAGMA synchronous = NORMAL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON"


class Checkpointer:
    """Starts a checkpoint after a commit if the WAL of the database at ``path`` has at least ``pages`` pages."""

    def __init__(self, path: Path, pages: int) -> None:
        self._path = path
        self._pages = pages
        self._thread: threading.Thread | None = None

    def watch(self, connection: apsw.Connection) -> None:
        """Replace the automatic checkpoints of a connection, which would be part of its commits."""
        connection.set_wal_hook(self._committed)

    def _committed(self, _connection: apsw.Connection, _database: str, pages: int) -> int:
        if pages >= self._pages and (self._thread is None or not self._thread.is_alive()):
            self._thread = threading.Thread(target=self._checkpoint, name="checkpoint", daemon=True)
            self._thread.start()
        return apsw.SQLITE_OK

    def _checkpoint(self) -> None:
        """Checkpoint the WAL as far as readers allow. Errors are ignored, because the next commit tries again."""
        with suppress(apsw.Error):
            connection = apsw.Connection(str(self._path), flags=apsw.SQLITE_OPEN_READWRITE)
            try:
                connection.execute(_PRAGMAS).fetchall()
                connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
            finally:
                connection.close()

    def wait(self) -> None:
        """Wait for a running checkpoint."""
        if self._thread is not None:
            self._thread.join()
