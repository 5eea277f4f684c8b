"""Open each store in turn for the tests that all stores must pass."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from relaybook.log.deletions import Deletions
from relaybook.log.feedback import FeedbackLog
from relaybook.log.namespaces import Labels
from relaybook.log.saved_filters import SavedFilters
from relaybook.log.store.memory import MemoryStore
from relaybook.log.store.port import Batch, Reader, TextIndex, Writer
from relaybook.log.store.sqlite.deletions import SqliteDeletions
from relaybook.log.store.sqlite.feedback import SqliteFeedbackLog
from relaybook.log.store.sqlite.labels import SqliteLabels
from relaybook.log.store.sqlite.reader import SqliteReader
from relaybook.log.store.sqlite.saved_filters import SqliteSavedFilters
from relaybook.log.store.sqlite.text_index import SqliteTextIndex
from relaybook.log.store.sqlite.writer import SqliteWriter


class Store:
    """A store under test: its interfaces, and a way to restart its writer."""

    def __init__(self, directory: Path | None) -> None:
        self._directory = directory
        self.writer: Writer
        self.reader: Reader
        self.labels: Labels
        self.saved_filters: SavedFilters
        self.feedback: FeedbackLog
        self.text: TextIndex
        self.deletions: Deletions
        if directory is None:
            memory = MemoryStore()
            self.writer = self.reader = self.text = memory
            self.labels = self.saved_filters = self.feedback = self.deletions = memory
        else:
            self.text = SqliteTextIndex(directory)
            self.writer, self.reader = SqliteWriter(directory), SqliteReader(directory)
            self.labels, self.feedback = SqliteLabels(directory), SqliteFeedbackLog(directory)
            self.deletions = SqliteDeletions(directory)
            self.saved_filters = SqliteSavedFilters(directory)

    def commit(self, *entries: Any, **parts: Any) -> None:
        self.writer.commit(Batch(entries=list(entries), **parts))

    def restart(self) -> None:
        """Close the writer and open it again. Committed data must still be there."""
        if self._directory is not None:
            self.writer.close()
            self.writer = SqliteWriter(self._directory)

    def close(self) -> None:
        self.writer.close()
        self.reader.close()
        self.text.close()


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened = Store(None if request.param == "memory" else tmp_path / "store")
    yield opened
    opened.close()


@pytest.fixture
def twin(store: Store, tmp_path: Path) -> Iterator[Store]:
    """A second, empty store of the same kind."""
    opened = Store(None if isinstance(store.writer, MemoryStore) else tmp_path / "twin")
    yield opened
    opened.close()
