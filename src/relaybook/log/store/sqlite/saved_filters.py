"""Read and change saved filters in the SQLite store. Any process can make changes."""

from pathlib import Path
from typing import Final

import apsw
import msgspec

from relaybook.log.saved_filters import MAX_SAVED_FILTERS, Params, SavedFilter, TooManySavedFilters
from relaybook.log.store.sqlite.changes import transaction

_COLUMNS: Final = "SELECT name, params, created_at FROM saved_filters"
_SET: Final = """
INSERT INTO saved_filters (name, params, created_at) VALUES (?, ?, ?)
ON CONFLICT DO UPDATE SET params = excluded.params
"""


class SqliteSavedFilters:
    """Changes saved filters while the writer is running. Each change uses a new connection and a short transaction."""

    def __init__(self, directory: Path, *, busy_s: float = 2.0) -> None:
        """Create the object without opening anything.

        ``busy_s`` is how long a change waits while other programs lock the database.
        """
        self._directory = directory
        self._busy_s = busy_s

    def save_filter(self, saved: SavedFilter) -> SavedFilter:
        with transaction(self._directory, self._busy_s) as connection:
            others: int = connection.execute("SELECT count(*) FROM saved_filters WHERE name <> ?", (saved.name,)).get
            if others >= MAX_SAVED_FILTERS:
                raise TooManySavedFilters
            params = msgspec.json.encode(saved.params).decode()
            connection.execute(_SET, (saved.name, params, saved.created_at))
            (stored,) = _read(connection, saved.name)
        return stored

    def delete_filter(self, name: str) -> SavedFilter | None:
        with transaction(self._directory, self._busy_s) as connection:
            deleted = _read(connection, name)
            connection.execute("DELETE FROM saved_filters WHERE name = ?", (name,))
        return deleted[0] if deleted else None


def saved_filters(connection: apsw.Connection) -> list[SavedFilter]:
    """Return all saved filters, sorted by name."""
    return [_saved_filter(*row) for row in connection.execute(f"{_COLUMNS} ORDER BY name")]


def _read(connection: apsw.Connection, name: str) -> list[SavedFilter]:
    return [_saved_filter(*row) for row in connection.execute(f"{_COLUMNS} WHERE name = ?", (name,))]


def _saved_filter(name: str, params: str, created_at: int) -> SavedFilter:
    return SavedFilter(name, msgspec.json.decode(params, type=Params), created_at)
