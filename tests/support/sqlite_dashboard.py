"""Run a dashboard server on a SQLite store, and summarize the contents of the store's database."""

import asyncio
import contextlib
import socket
import sqlite3
import threading
from pathlib import Path
from typing import Any

import httpx2
from tests.support.api_log import app_of, entry_of, record_of

from relaybook.api.uvicorn_server import DashboardServer
from relaybook.log.store.files import DATABASE
from relaybook.log.store.port import Batch
from relaybook.log.store.sqlite.reader import SqliteReader
from relaybook.log.store.sqlite.writer import SqliteWriter


class Dashboard:
    """A dashboard server that listens, and the writer of its store."""

    def __init__(self, directory: Path, **options: Any) -> None:
        self.directory = directory
        self.writer = SqliteWriter(directory)
        self._reader = SqliteReader(directory)
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.client = httpx2.Client(base_url=self.url, trust_env=False)
        self._server = DashboardServer(app_of(self._reader, poll_seconds=0.01, **options))
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        asyncio.run(self._server.serve(sockets=[self._socket]))

    def record(self, *numbers: int, **fields: Any) -> None:
        """Write records with these numbers to the store."""
        self.writer.commit(Batch(entries=[entry_of(record_of(number, **fields)) for number in numbers]))

    @property
    def connections(self) -> int:
        """The number of open connections."""
        return len(self._server.server_state.connections)

    def stop(self) -> bool:
        """Stop the server. Returns whether it ended within 4 seconds."""
        self._server.should_exit = True
        self._thread.join(4)
        return not self._thread.is_alive()

    def close(self) -> None:
        """Stop the server and close the store."""
        self.client.close()
        assert self.stop()
        self._reader.close()
        self.writer.close()

    def raw(self, head: bytes) -> bytes:
        """Send raw bytes and return everything received until the server closes the connection."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as connection:
            connection.sendall(head)
            received = b""
            with contextlib.suppress(ConnectionResetError):
                while data := connection.recv(65536):
                    received += data
            return received


def database_summary(directory: Path) -> list[Any]:
    """Return the schema, the number of rows in each table, and the result of the integrity check."""
    connection = sqlite3.connect(f"file:{directory / DATABASE}?mode=ro", uri=True)
    try:
        schema = connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name").fetchall()
        tables = [name for kind, name, _ in schema if kind == "table" and not name.startswith("sqlite_")]
        counts = [connection.execute(f'SELECT count(*) FROM "{name}"').fetchone() for name in tables]
        return [schema, counts, connection.execute("PRAGMA integrity_check").fetchall()]
    finally:
        connection.close()
