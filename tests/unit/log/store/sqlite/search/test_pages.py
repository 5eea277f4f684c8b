"""Test the deadline of queries for links."""

import apsw
import pytest
from tests.support.records import a_record, soon

from relaybook import clock
from relaybook.log.query.filters import Filter
from relaybook.log.store.sqlite.rows import INSERT, row_of
from relaybook.log.store.sqlite.schema import create_tables
from relaybook.log.store.sqlite.search import pages
from relaybook.log.store.sqlite.search import scan as search
from relaybook.log.store.sqlite.search.scan import Deadline, SearchResult


@pytest.fixture
def connection() -> apsw.Connection:
    """Return a log with 600 requests."""
    connection = apsw.Connection(":memory:")
    create_tables(connection, "it")
    connection.executemany(INSERT, [row_of(a_record(), seq, b"") for seq in range(1, 601)])
    connection.execute("UPDATE totals SET value = 600 WHERE name = 'last_seq'")
    return connection


def test_links_keep_the_full_deadline_after_the_limit_is_reached(
    connection: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "_ONE_MORE_NS", 0)
    assert len(pages.links(connection, Filter(), 500, None, Deadline(soon()))) == 500


def test_links_that_were_found_are_loaded_after_the_deadline(
    connection: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = SearchResult(list(range(600, 0, -1)), True, False, 0)
    monkeypatch.setattr(pages, "_search", lambda *_, **__: found)
    late = Deadline(clock.monotonic_ns() - 1)
    late.watch(connection)
    assert len(pages.links(connection, Filter(), 600, None, late)) == 600
