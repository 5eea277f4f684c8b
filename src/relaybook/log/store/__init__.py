"""The log store, with its interface in ``port``, one package per implementation, and ``open_store`` to choose one."""

from pathlib import Path

from relaybook.log.store.port import Store
from relaybook.log.store.sqlite.store import SqliteStore
from relaybook.settings.definitions import Settings
from relaybook.settings.store_url import parse_store_url


def open_store(directory: Path, settings: Settings | None = None) -> Store:
    """Return the store that the settings choose; without settings, the one in the directory.

    Does no I/O. This is the only place that names an implementation.
    """
    if settings is None or settings.store == "sqlite":
        return SqliteStore(directory)
    from relaybook.log.store.clickhouse.store import ClickHouseStore

    address = parse_store_url(settings.store)._replace(password=settings.store_password or "")
    return ClickHouseStore(directory, address)
