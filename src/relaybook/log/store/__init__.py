"""The log store, with its interface in ``port``, one package per implementation, and ``open_store`` to choose one."""

from pathlib import Path

from relaybook.log.store.port import Store
from relaybook.log.store.sqlite.store import SqliteStore


def open_store(location: Path) -> Store:
    """Return the store at a location. Does no I/O. This is the only place that names an implementation."""
    return SqliteStore(location)
