"""Store saved filters by name, and change them while a writer may be running."""

from typing import Final

import msgspec

from relaybook.log.saved_filters import MAX_SAVED_FILTERS, SavedFilter, TooManySavedFilters
from relaybook.log.store.clickhouse.connection import Database
from relaybook.log.store.clickhouse.schema import create_tables
from relaybook.log.store.clickhouse.state import State
from relaybook.settings.store_url import DatabaseAddress

_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(SavedFilter).decode


def read_saved_filters(state: State) -> dict[str, SavedFilter]:
    """Return all saved filters by name, sorted by name."""
    return {name: _decode(value) for name, value in state.read("saved_filter").items()}


class ClickHouseSavedFilters:
    """Changes saved filters. Implements ``SavedFilters``.

    Simultaneous changes do not wait for each other, so the number of filters can exceed the maximum.
    """

    def __init__(self, address: DatabaseAddress) -> None:
        self._database = Database(address)
        self._state = State(self._database)

    def save_filter(self, saved: SavedFilter) -> SavedFilter:
        create_tables(self._database, self._state)
        known = read_saved_filters(self._state)
        if saved.name not in known and len(known) >= MAX_SAVED_FILTERS:
            raise TooManySavedFilters
        created_at = known[saved.name].created_at if saved.name in known else saved.created_at
        stored = msgspec.structs.replace(saved, created_at=created_at)
        self._state.write({("saved_filter", saved.name): _encode(stored)})
        return stored

    def delete_filter(self, name: str) -> SavedFilter | None:
        create_tables(self._database, self._state)
        deleted = read_saved_filters(self._state).get(name)
        if deleted is not None:
            self._state.write({("saved_filter", name): None})
        return deleted
