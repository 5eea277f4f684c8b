"""Counts, the list of namespaces and the status are computed from the sums in each part, not from all requests."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.clickhouse.server import needs_clickhouse, new_server
from tests.support.records import an_entry, soon

from relaybook.log.query.filters import Filter, Term
from relaybook.log.store.clickhouse.connection import Database
from relaybook.log.store.clickhouse.reader import ClickHouseReader
from relaybook.log.store.clickhouse.writer import ClickHouseWriter
from relaybook.log.store.port import Batch
from relaybook.settings.store_url import DatabaseAddress

pytestmark = needs_clickhouse


@pytest.fixture
def log(tmp_path: Path) -> Iterator[DatabaseAddress]:
    server = new_server(tmp_path / "clickhouse")
    yield server.create_log()
    server.close()


def test_queries_about_the_whole_log_read_only_the_sums(log: DatabaseAddress, monkeypatch: pytest.MonkeyPatch) -> None:
    writer, reader = ClickHouseWriter(log, "recorder"), ClickHouseReader(log)
    writer.commit(Batch(entries=[an_entry(namespace=f"n{number % 7}") for number in range(1000)]))
    queries: list[tuple[str, Any]] = []
    query = Database.query

    def recorded(database: Database, sql: str, values: Any = None, **options: Any) -> list[Any]:
        if "FROM requests" in sql:
            queries.append((sql, values))
        return query(database, sql, values, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Database, "query", recorded)
        reader.count(Filter(), soon())
        reader.count(Filter((Term("namespace", ("n1",), negated=True, prefixes=("n2",)),)), soon())
        reader.namespaces("n", "last_at", 10, None, False, soon())
        reader.status()
    assert len(queries) == 5
    database = Database(log)
    for sql, values in queries:
        plan = "\n".join(line for (line,) in database.query(f"EXPLAIN {sql}", values))
        assert "ReadFromMergeTree (by_namespace)" in plan, sql
    for opened in (writer, reader, database):
        opened.close()
