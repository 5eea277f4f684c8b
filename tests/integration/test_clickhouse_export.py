"""Exports of a log in ClickHouse read requests in batches, with their bodies."""

import json
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from tests.conformance.stores.conftest import Dense, clickhouse_writer
from tests.support.clickhouse.server import needs_clickhouse, new_server
from tests.support.records import A_TIMESTAMP, an_entry, soon

from relaybook import clock
from relaybook.log.export.export import FILE_FORMATS, Export, ExportQuery
from relaybook.log.query.filters import Filter, Term
from relaybook.log.record import Feedback
from relaybook.log.retention import DAY_US, Cutoff, Cutoffs
from relaybook.log.store.clickhouse import entries
from relaybook.log.store.clickhouse.connection import Database
from relaybook.log.store.clickhouse.deletions import ClickHouseDeletions
from relaybook.log.store.clickhouse.reader import ClickHouseReader
from relaybook.log.store.entry import Body, Entry
from relaybook.log.store.port import Batch

pytestmark = needs_clickhouse

_numbers = count()


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    started = new_server()
    yield started
    started.close()


class Log:
    def __init__(self, server: Any) -> None:
        address = server.create_log(f"export_{next(_numbers)}")
        self.writer, self.reader = clickhouse_writer(address), ClickHouseReader(address)
        self.deletions = ClickHouseDeletions(address, Dense())

    def commit(self, *entries: Entry) -> None:
        self.writer.commit(Batch(entries=list(entries)))


@pytest.fixture
def log(server: Any) -> Iterator[Log]:
    opened = Log(server)
    yield opened
    opened.writer.close()
    opened.reader.close()


def a_chat(number: int, **fields: Any) -> Entry:
    question = {"model": "gpt-4o", "messages": [{"role": "user", "content": f"question {number}"}]}
    answer = {"choices": [{"message": {"role": "assistant", "content": f"answer {number}"}, "finish_reason": "stop"}]}
    return an_entry(json.dumps(question).encode(), json.dumps(answer).encode(), **fields)


def exported(reader: ClickHouseReader, name: str, *terms: Term) -> tuple[list[bytes], int]:
    """Return the lines of an export with bodies, and the number of queries that it sent."""
    queries = 0
    query = Database.query

    def counted(database: Database, sql: str, values: Any = None, **options: Any) -> list[Any]:
        nonlocal queries
        queries += 1
        return query(database, sql, values, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Database, "query", counted)
        patch.setattr(entries, "_FRESH_NS", 3600 * clock.NANOSECONDS)  # the machine may be slow
        file_format = FILE_FORMATS[name]
        found = Export(
            reader, ExportQuery(file_format=file_format, filter_=Filter(terms), bodies=file_format.bodies is None)
        ).chunks()
        lines = b"".join(found).splitlines()
    return lines, queries


@pytest.mark.parametrize("name", ["jsonl", "chat"])
def test_the_number_of_queries_grows_with_the_batches_and_not_with_the_requests(log: Log, name: str) -> None:
    lines, few = [], 0
    log.reader.last_seq()  # the first call of a reader sends more queries
    for number in (100, 300):
        log.commit(*(a_chat(each) for each in range(number)))
        lines, queries = exported(log.reader, name)
        few = few or queries
        assert queries == few <= 12
    assert len(lines) == 400
    assert b"question 299" in lines[-1]
    assert b"answer 299" in lines[-1]


def _without_bodies(log: Log) -> list[Entry]:
    return [an_entry(None, None, body_state="no_bodies") for _ in range(300)]


def _one_body(log: Log) -> list[Entry]:
    return [a_chat(1) if number % 2 else an_entry(b"{}", None) for number in range(300)]


def _empty(log: Log) -> list[Entry]:
    return [an_entry(b"", b"", method="GET", path="/v1/models", kind="other") for _ in range(300)]


def _in_chunks(log: Log) -> list[Entry]:
    def body(number: int) -> Body:
        return Body([log.writer.write_body(b"<%d" % number), log.writer.write_body(b"..")], [b">"])

    return [an_entry(body(number), body(-number)) for number in range(100)]


def _with_feedback(log: Log) -> list[Entry]:
    return [a_chat(number, feedback=[Feedback(source="a", score=1.0, at=1)]) for number in range(300)]


@pytest.mark.parametrize("make", [_without_bodies, _one_body, _empty, _in_chunks, _with_feedback])
def test_requests_of_any_kind_are_read_in_batches(log: Log, make: Any) -> None:
    log.commit(*make(log))
    lines, queries = exported(log.reader, "jsonl")
    assert len(lines) in (100, 300)
    assert queries <= 14
    first, last = json.loads(lines[0]), json.loads(lines[-1])
    if make is _without_bodies:
        assert first["request"] is first["response"] is None
    elif make is _empty:
        assert first["request"] == first["response"] == {"text": ""}
    elif make is _in_chunks:
        assert (last["request"], last["response"]) == ({"text": "<99..>"}, {"text": "<-99..>"})
    elif make is _with_feedback:
        assert first["feedback"][0]["score"] == 1.0


def test_expired_requests_are_read_in_batches(log: Log) -> None:
    log.commit(*(a_chat(number, started_at=A_TIMESTAMP, ended_at=A_TIMESTAMP) for number in range(300)))
    while not log.writer.retain(Cutoffs(general=Cutoff(content=A_TIMESTAMP + DAY_US)), soon()).is_complete:
        pass
    lines, queries = exported(log.reader, "jsonl")
    assert {json.loads(line)["body_state"] for line in lines} == {"expired"}
    assert len(lines) == 300
    assert queries <= 12


def test_a_filtered_export_is_read_in_batches(log: Log) -> None:
    log.commit(*(a_chat(number, namespace=f"n{number % 3}", failed=number % 2 == 0) for number in range(300)))
    lines, queries = exported(log.reader, "jsonl", Term("namespace", ("n1",)), Term("failed", ("true",)))
    assert len(lines) == 50
    assert queries <= 14


def test_a_slow_reader_gets_no_request_that_was_deleted_more_than_a_second_ago(
    log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    log.commit(*(a_chat(number, namespace=f"n{number % 10}") for number in range(100)))
    found, _ = log.reader.stored_since(0, Filter(), 500)
    seen = [next(found) for _ in range(15)]
    log.deletions.request(Filter((Term("namespace", ("n7",)),)), 10, "127.0.0.1")
    while log.writer.delete(soon()) == 0:
        pass
    monotonic_ns = clock.monotonic_ns
    monkeypatch.setattr(clock, "monotonic_ns", lambda: monotonic_ns() + 2 * clock.NANOSECONDS)
    seen += found
    assert [each.record.namespace for each in seen[:15]] == [f"n{number % 10}" for number in range(15)]
    assert [each.record.namespace for each in seen[15:]] == [f"n{n % 10}" for n in range(15, 100) if n % 10 != 7]


def test_a_reader_that_takes_a_second_per_request_reads_small_batches(
    log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    log.commit(*(an_entry(b"x" * 10_000, b"") for _ in range(50)))
    read: list[int] = []
    query = Database.query

    def measured(database: Database, sql: str, values: Any = None, **options: Any) -> list[Any]:
        rows = query(database, sql, values, **options)
        read.append(sum(len(value) for row in rows for value in row if isinstance(value, bytes)))
        return rows

    now_ns = clock.monotonic_ns()
    found, _ = log.reader.stored_since(0, Filter(), 500)
    monkeypatch.setattr(Database, "query", measured)
    for number, _ in enumerate(found):
        monkeypatch.setattr(clock, "monotonic_ns", lambda at=now_ns + number * 1_100_000_000: at)
    assert sum(read) < 5 * 50 * 10_000


def test_large_bodies_are_not_in_memory_together(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    size = 3 << 20
    log.commit(*(an_entry(b"%d" % number * size, b"") for number in range(8)))
    log.commit(an_entry(b"x" * (20 << 20), b"small"))
    most = 0
    query = Database.query

    def measured(database: Database, sql: str, values: Any = None, **options: Any) -> list[Any]:
        nonlocal most
        rows = query(database, sql, values, **options)
        most = max(most, sum(len(value) for row in rows for value in row if isinstance(value, bytes)))
        return rows

    stored, _ = log.reader.stored_since(0, Filter(), 500)
    monkeypatch.setattr(Database, "query", measured)
    sizes = [(each.request_size, each.response) for each in stored]
    assert sizes == [(size, b"")] * 8 + [(20 << 20, b"small")]
    assert most < 10 << 20
    monkeypatch.undo()
    chunks = Export(log.reader, ExportQuery(file_format=FILE_FORMATS["jsonl"], filter_=Filter(), bodies=True)).chunks()
    lengths = [len(chunk) for chunk in chunks]
    assert sum(lengths) > 8 * size
    assert max(lengths) < 3 << 20
