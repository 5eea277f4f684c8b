"""Open each store in turn for the tests that all stores must pass."""

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from tests.support.clickhouse.server import needs_clickhouse, new_server
from tests.support.memory_store import MemoryStore

from relaybook import clock
from relaybook.log.deletions import Deletions
from relaybook.log.feedback import FeedbackLog
from relaybook.log.namespaces import Labels
from relaybook.log.rereads import Rereads
from relaybook.log.saved_filters import SavedFilters
from relaybook.log.search_text import text_of
from relaybook.log.store.clickhouse.connection import Database
from relaybook.log.store.clickhouse.deletions import ClickHouseDeletions
from relaybook.log.store.clickhouse.feedback import ClickHouseFeedbackLog
from relaybook.log.store.clickhouse.labels import ClickHouseLabels
from relaybook.log.store.clickhouse.reader import ClickHouseReader
from relaybook.log.store.clickhouse.recorders import Numbering
from relaybook.log.store.clickhouse.rereads import ClickHouseRereads
from relaybook.log.store.clickhouse.saved_filters import ClickHouseSavedFilters
from relaybook.log.store.clickhouse.writer import ClickHouseWriter
from relaybook.log.store.entry import Entry
from relaybook.log.store.port import Batch, Reader, TextIndex, Writer
from relaybook.log.store.sqlite.feedback import SqliteFeedbackLog
from relaybook.log.store.sqlite.index.text_index import SqliteTextIndex
from relaybook.log.store.sqlite.labels import SqliteLabels
from relaybook.log.store.sqlite.reader import SqliteReader
from relaybook.log.store.sqlite.removal.deletions import SqliteDeletions
from relaybook.log.store.sqlite.rereading.rereads import SqliteRereads
from relaybook.log.store.sqlite.saved_filters import SqliteSavedFilters
from relaybook.log.store.sqlite.writer import SqliteWriter
from relaybook.settings.store_url import DatabaseAddress

#: The place of a store: a directory, the address of a database, or `None` for a store in memory.
Place = Path | DatabaseAddress | None


class Dense(Numbering):
    """Number the requests of one recorder from 1, as the other stores do."""

    slots = 1

    def __init__(self) -> None:
        """Create the numbering without a database, because it does not ask a server for the time."""

    def now(self) -> int:
        return 0

    def server_us(self) -> int:
        return clock.wall_us()


def clickhouse_writer(place: DatabaseAddress) -> ClickHouseWriter:
    return ClickHouseWriter(place, "recorder", numbering=Dense())


class Store:
    """A store under test, with its interfaces and a method that restarts its writer."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self.writer: Writer
        self.reader: Reader
        self.labels: Labels
        self.saved_filters: SavedFilters
        self.feedback: FeedbackLog
        #: `None` if each commit also indexes the text.
        self.text: TextIndex | None
        self.deletions: Deletions
        self.rereads: Rereads
        if isinstance(place, Path):
            self.text = SqliteTextIndex(place)
            self.writer, self.reader = SqliteWriter(place), SqliteReader(place)
            self.labels, self.feedback = SqliteLabels(place), SqliteFeedbackLog(place)
            self.deletions, self.rereads = SqliteDeletions(place), SqliteRereads(place)
            self.saved_filters = SqliteSavedFilters(place)
        elif isinstance(place, DatabaseAddress):
            self.text = None
            self.writer, self.reader = clickhouse_writer(place), ClickHouseReader(place)
            self.labels, self.feedback = ClickHouseLabels(place), ClickHouseFeedbackLog(place)
            self.saved_filters = ClickHouseSavedFilters(place)
            self.deletions, self.rereads = ClickHouseDeletions(place, Dense()), ClickHouseRereads(place, Dense())
        else:
            memory = MemoryStore()
            self.writer = self.reader = self.text = memory
            self.labels = self.saved_filters = self.feedback = self.deletions = self.rereads = memory

    def commit(self, *entries: Any, **parts: Any) -> None:
        self.writer.commit(Batch(entries=list(entries), **parts))

    def restart(self) -> None:
        """Close the writer and open it again. Committed data must survive."""
        if isinstance(self._place, Path):
            self.writer.close()
            self.writer = SqliteWriter(self._place)
        elif isinstance(self._place, DatabaseAddress):
            self.writer.close()
            self.writer = clickhouse_writer(self._place)

    def index(self, *entries: Entry) -> None:
        """Add committed entries to the text index, if the index is separate from the log."""
        if self.text is not None:
            texts = [(entry.record.seq or 0, text) for entry in entries if any(text := text_of(entry))]
            self.text.add(texts, entries[-1].record.seq or 0)

    def close(self) -> None:
        self.writer.close()
        self.reader.close()
        if self.text is not None:
            self.text.close()


class Databases:
    """A ClickHouse server with test databases, which are emptied and reused because creating a database is slow."""

    def __init__(self) -> None:
        self._server = new_server()
        self._free: list[DatabaseAddress] = []
        self._count = 0

    def take(self) -> DatabaseAddress:
        """Return a database that has no tables or only empty tables."""
        if not self._free:
            self._count += 1
            self._free.append(self._server.create_log(f"log_{self._count}"))
        return self._free.pop()

    def give_back(self, address: DatabaseAddress) -> None:
        """Empty a database that a test has used."""
        database = Database(address)
        for (table,) in database.query("SHOW TABLES"):
            database.execute(f"TRUNCATE TABLE {table}")
        database.close()
        self._free.append(address)

    def close(self) -> None:
        self._server.close()


@pytest.fixture(scope="session")
def databases() -> Iterator[Databases]:
    opened = Databases()
    yield opened
    opened.close()


@pytest.fixture(params=["memory", "sqlite", pytest.param("clickhouse", marks=needs_clickhouse)])
def new_place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Place]]:
    """Return a function that returns places for new stores, all of the same kind."""
    taken: list[DatabaseAddress] = []
    numbers = count(1)

    def make() -> Place:
        if request.param == "memory":
            return None
        if request.param == "sqlite":
            return tmp_path / f"store-{next(numbers)}"
        taken.append(request.getfixturevalue("databases").take())
        return taken[-1]

    yield make
    for address in taken:
        request.getfixturevalue("databases").give_back(address)


@pytest.fixture
def store(new_place: Callable[[], Place]) -> Iterator[Store]:
    opened = Store(new_place())
    yield opened
    opened.close()


@pytest.fixture
def twin(store: Store, new_place: Callable[[], Place]) -> Iterator[Store]:
    """Return a second, empty store of the same kind."""
    opened = Store(new_place())
    yield opened
    opened.close()
