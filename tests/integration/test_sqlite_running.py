"""Running requests in the SQLite store: what did not change is not written again, what is over leaves nothing."""

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
    """Statements on the tables of running requests, with the keys they name, as they come."""
    seen: list[tuple[str, ...]] = []

    def watch(_: object, sql: str, bindings: tuple[object, ...] | None) -> bool:
        if "running" in sql:
            seen.append((sql.split()[0], *(str(key) for key in (bindings or ())[:2] if isinstance(key, str))))
        return True

    writer._connection.set_exec_trace(watch)
    return seen


def test_an_answer_that_grows_does_not_write_its_question_again(writer: SqliteWriter) -> None:
    running = Running(record=a_record(outcome="open"), detail=Detail(), request=b"q" * 100_000, response=b"a")
    other = Running(record=a_record(outcome="open"), detail=Detail(), request=b"question", response=b"")
    writer.commit(Batch(running=[running, other]))
    seen = written(writer)
    writer.commit(Batch(running=[running, other]))
    writer.commit(a_batch(an_entry()))
    assert seen == []
    running.response = b"an"
    writer.commit(Batch(running=[running, other]))
    assert seen == [("INSERT", running.record.id, "response")]


def test_what_an_earlier_writer_left_leaves_with_the_record(tmp_path: Path) -> None:
    running = Running(record=a_record(outcome="open"), detail=Detail(), request=b"question", response=b"")
    earlier = SqliteWriter(tmp_path)
    earlier.commit(Batch(running=[running]))
    earlier.close()
    again = SqliteWriter(tmp_path)
    again.commit(a_batch(an_entry(id=running.record.id)))
    for table in ("running", "running_parts"):
        assert again._connection.execute(f"SELECT count(*) FROM {table}").get == 0
    again.close()


def test_lists_of_running_requests_read_no_bodies(writer: SqliteWriter, tmp_path: Path) -> None:
    running = Running(record=a_record(outcome="open"), detail=Detail(), request=b"question", response=b"answer")
    writer.commit(Batch(running=[running]))
    writer._connection.execute("DROP TABLE running_parts")
    reader = SqliteReader(tmp_path)
    assert reader.running(Filter()) == [running.record]
    reader.close()
