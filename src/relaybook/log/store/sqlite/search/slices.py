"""Find the matches of a filter in slices, oldest first, for work that changes the matching requests.

Each slice continues after the ``seq`` that the slice before it has reached. So every request is found once, even if it
no longer matches after its change.
"""

from pathlib import Path
from typing import Final, NamedTuple

import apsw

from relaybook import clock
from relaybook.log.query.filters import SECTIONS, Cursor, Filter, needs_text
from relaybook.log.store.errors import DeadlinePassed, StoreDamaged
from relaybook.log.store.sqlite.index.text_index import FILE, SqliteTextIndex, rebuilt
from relaybook.log.store.sqlite.reader import SqliteReader

_IS_TEXT_MISSING: Final = """
SELECT EXISTS (SELECT 1 FROM requests WHERE seq > ?1 AND seq <= ?2)
  OR EXISTS (SELECT 1 FROM changed_texts WHERE seq <= ?2)
"""
#: Time limit of one search. The limit is doubled after each search without progress.
_SEARCH_NS: Final = 25_000_000
_MAX_SEARCH_NS: Final = 2 * clock.NANOSECONDS


class Slice(NamedTuple):
    """The ``seq`` of some matches in ascending order, and the ``seq`` up to which all matches were found."""

    seqs: list[int]
    reached: int


class SliceSearch:
    """Searches for slices on a reader of its own. ``connection`` is the writer's connection."""

    def __init__(self, connection: apsw.Connection, directory: Path) -> None:
        self._connection = connection
        self._directory = directory
        self._reader: SqliteReader | None = None
        self._search_ns = _SEARCH_NS
        #: Whether a search for words found damage, so that the text index was deleted.
        self._has_dropped_index = False

    @property
    def reader(self) -> SqliteReader:
        if self._reader is None:
            self._reader = SqliteReader(self._directory)
        return self._reader

    def next(self, filter_: Filter, position: int, up_to: int, limit: int) -> Slice | None:
        """Return at most ``limit`` matches whose ``seq`` is above ``position`` and at most ``up_to``.

        Returns `None` if the filter searches text, but the text index does not have all texts of these requests yet.
        """
        if needs_text(filter_):
            indexed_to = self.reader.status().indexed_to
            if self._connection.execute(_IS_TEXT_MISSING, (indexed_to, up_to)).get:
                return None
        try:
            page = self.reader.page(filter_, limit, Cursor("newer", position), clock.monotonic_ns() + self._search_ns)
        except DeadlinePassed:
            self._search_ns = min(2 * self._search_ns, _MAX_SEARCH_NS)
            return Slice([], position)
        except StoreDamaged as error:
            if self._has_dropped_index or all(term.name not in SECTIONS for term in filter_.terms):
                raise
            # The recorder sets a damaged store aside. But perhaps only the index is damaged, which can be rebuilt.
            self._has_dropped_index = True
            SqliteTextIndex(self._directory).drop()
            raise rebuilt(self._directory / FILE, error) from error
        seqs = [record.seq for record in reversed(page.records) if record.seq is not None and record.seq <= up_to]
        reached = up_to if page.newer_cursor is None else min(page.newer_cursor.seq, up_to)
        if page.complete and len(page.records) < limit:
            reached = up_to
        self._search_ns = _SEARCH_NS if reached > position else min(2 * self._search_ns, _MAX_SEARCH_NS)
        return Slice(seqs, reached)

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()
