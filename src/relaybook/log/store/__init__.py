"""Store the log. ``port`` is the interface, each implementation is a package, and ``open_store`` chooses one."""

from pathlib import Path

from relaybook.log.store.port import Store
from relaybook.log.store.sqlite.store import SqliteStore
from relaybook.settings.definitions import Settings
from relaybook.settings.store_url import parse_store_url


def open_store(directory: Path, settings: Settings | None = None) -> Store:
    """Return the store that the settings choose. Without settings, return the SQLite store.

    Does no I/O. This function is the only code that names an implementation.
    """
    if settings is None or settings.store == "sqlite":
        return SqliteStore(directory)
    from relaybook.log.store.clickhouse.store import ClickHouseStore

    address = parse_store_url(settings.store)._replace(password=settings.store_password or "")
    return ClickHouseStore(directory, address)
