"""Running requests in the SQLite store: unchanged data is not rewritten, and finished requests leave no data."""

from pathlib import Path

import pytest
from tests.support.records import a_batch, a_record, an_entry

from relaybook.log.query.filters import Filter
from relaybook.log.record import Detail
from relaybook.log.store.port import Batch, Running
from relaybook.log.store.sqlite.reader import SqliteReader
from relaybook.log.store.sqlite.writer import SqliteWriter


@pytest.fixture
def writer(tmp_path):
    opened = SqliteWriter(tmp_path)
    yield opened
    opened.close()


def written(writer: SqliteWriter) -> list[tuple[str, ...]]:
    """Return a list that records SQL statements on the tables of running requests, with their keys."""
    statements: list[tuple[str, ...]] = []

    def watch(_: object, sql: str, bindings: tuple[object, ...] | None) -> bool:
        if "running" in sql:
            statements.append((sql.split()[0], *(str(key) for key in (bindings or ())[:2] if isinstance(key, str))))
        return True

    writer._connection.set_exec_trace(watch)
    return statements


def test_a_growing_response_does_not_rewrite_its_request(writer: SqliteWriter) -> None:
    running = Running(record=a_record(outcome="open"), detail=Detail(), request=b"q" * 100_000, response=b"a")
    other = Running(record=a_record(outcome="open"), detail=Detail(), request=b"question", response=b"")
    writer.commit(Batch(running=[running, other]))
    statements = written(writer)
    writer.commit(Batch(running=[running, other]))
    writer.commit(a_batch(an_entry()))
    assert statements == []
    running.response = b"an"
    writer.commit(Batch(running=[running, other]))
    assert statements == [("INSERT", running.record.id, "response")]


def test_running_requests_of_an_earlier_writer_are_removed_with_their_records(tmp_path: Path) -> None:
    running = Running(record=a_record(outcome="open"), detail=Detail(), request=b"question", response=b"")
    earlier = SqliteWriter(tmp_path)
    earlier.commit(Batch(running=[running]))
    earlier.close()
    continued = SqliteWriter(tmp_path)
    continued.commit(a_batch(an_entry(id=running.record.id)))
    for table in ("running", "running_parts"):
        assert continued._connection.execute(f"SELECT count(*) FROM {table}").get == 0
    continued.close()


def test_lists_of_running_requests_read_no_bodies(writer: SqliteWriter, tmp_path: Path) -> None:
    running = Running(record=a_record(outcome="open"), detail=Detail(), request=b"question", response=b"answer")
    writer.commit(Batch(running=[running]))
    writer._connection.execute("DROP TABLE running_parts")
    reader = SqliteReader(tmp_path)
    assert reader.running(Filter()) == [running.record]
    reader.close()
