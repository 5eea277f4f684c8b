"""Queries use the projections of each part: its sums and its order by foreign ids. Queries end at their deadline."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.support.clickhouse.server import needs_clickhouse, new_server
from tests.support.records import A_TIMESTAMP, an_entry, soon

from relaybook import clock
from relaybook.log.aggregate.stats import StatsQuery
from relaybook.log.namespaces import NamespaceQuery
from relaybook.log.query.filters import Filter, Sort, Term
from relaybook.log.record import Feedback
from relaybook.log.store.clickhouse import substrings
from relaybook.log.store.clickhouse.connection import Database
from relaybook.log.store.clickhouse.feedback import ClickHouseFeedbackLog
from relaybook.log.store.clickhouse.reader import ClickHouseReader
from relaybook.log.store.clickhouse.writer import ClickHouseWriter
from relaybook.log.store.errors import DeadlinePassed
from relaybook.log.store.port import Batch
from relaybook.settings.store_url import DatabaseAddress

pytestmark = needs_clickhouse


@pytest.fixture
def log() -> Iterator[DatabaseAddress]:
    server = new_server()
    yield server.create_log()
    server.close()


def recorded_queries(patch: pytest.MonkeyPatch) -> list[tuple[str, Any]]:
    """Return a list to which each query of requests is added, with its values."""
    queries: list[tuple[str, Any]] = []
    query = Database.query

    def recorded(database: Database, sql: str, values: Any = None, **options: Any) -> list[Any]:
        if "FROM requests" in sql:
            queries.append((sql, values))
        return query(database, sql, values, **options)

    patch.setattr(Database, "query", recorded)
    return queries


def test_queries_about_the_whole_log_read_only_the_sums(log: DatabaseAddress, monkeypatch: pytest.MonkeyPatch) -> None:
    writer, reader = ClickHouseWriter(log, "recorder"), ClickHouseReader(log)
    writer.commit(Batch(entries=[an_entry(namespace=f"n{number % 7}") for number in range(1000)]))
    with monkeypatch.context() as patch:
        queries = recorded_queries(patch)
        reader.count(Filter(), soon())
        reader.count(Filter((Term("namespace", ("n1",), negated=True, prefixes=("n2",)),)), soon())
        reader.namespaces(NamespaceQuery(text="n", pinned=False), 10, None, soon())
        reader.status()
    assert len(queries) == 5
    database = Database(log)
    for sql, values in queries:
        plan = "\n".join(line for (line,) in database.query(f"EXPLAIN {sql}", values))
        assert "ReadFromMergeTree (by_namespace)" in plan, sql
    for opened in (writer, reader, database):
        opened.close()


def test_charts_of_whole_hours_read_only_the_sums(log: DatabaseAddress, monkeypatch: pytest.MonkeyPatch) -> None:
    writer, reader = ClickHouseWriter(log, "recorder"), ClickHouseReader(log)
    writer.commit(Batch(entries=[an_entry(model=f"m{number % 7}") for number in range(1000)]))
    by_model = Filter((Term("model", ("m1",)),))
    with monkeypatch.context() as patch:
        queries = recorded_queries(patch)
        for filter_, by, bucket_s in ((Filter(), "model", 3600), (by_model, None, 86_400), (Filter(), None, 21_600)):
            reader.stats(
                StatsQuery(filter_=filter_, from_us=None, to_us=clock.wall_us(), bucket_s=bucket_s, by=by), soon()
            )
        whole_log = [query for query in queries if "min(started_at)" in query[0]]
    database = Database(log)
    assert (len(queries), len(whole_log)) == (7, 3)
    for sql, values in queries:
        plan = "\n".join(line for (line,) in database.query(f"EXPLAIN {sql}", values))
        expected = "by_namespace" if (sql, values) in whole_log else "by_hour"
        assert f"ReadFromMergeTree ({expected})" in plan, sql
    for opened in (writer, reader, database):
        opened.close()


def test_a_request_is_found_by_a_foreign_id_in_the_order_of_a_projection(
    log: DatabaseAddress, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, reader = ClickHouseWriter(log, "recorder"), ClickHouseReader(log)
    entries = [an_entry(completion_id=f"c{number}") for number in range(20_000)]
    writer.commit(Batch(entries=entries))
    with monkeypatch.context() as patch:
        queries = recorded_queries(patch)
        assert [record.id for record in reader.find("c471", 2)] == [entries[471].record.id]
    ((sql, values),) = queries
    database = Database(log)
    by_ids = sql[sql.index("IN (") + len("IN (") : sql.rindex(") ORDER BY")]
    plan = "\n".join(line for (line,) in database.query(f"EXPLAIN {by_ids}", values))
    assert "ReadFromMergeTree (by_completion_id)" in plan, plan
    for opened in (writer, reader, database):
        opened.close()


def test_pages_and_threads_of_a_namespace_are_read_in_the_order_of_a_projection(
    log: DatabaseAddress, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, reader, database = ClickHouseWriter(log, "recorder"), ClickHouseReader(log), Database(log)
    entries = [an_entry(namespace=f"user-{number % 500}") for number in range(20_000)]
    for start in range(0, len(entries), 5000):
        writer.commit(Batch(entries=entries[start : start + 5000]))

    def uses(read: Callable[[], Any]) -> list[bool]:
        """Return whether each query for rows uses the projection."""
        with monkeypatch.context() as patch:
            queries = recorded_queries(patch)
            assert len(read()) == 10
        plans = [database.query(f"EXPLAIN {sql}", values) for sql, values in queries if "requests AS r" in sql]
        return ["requests_by_namespace" in str(plan) for plan in plans]

    one = Filter((Term("namespace", ("user-7",)),))
    complete = Filter((*one.terms, Term("outcome", ("complete",))))
    chat = Filter((*one.terms, Term("kind", ("chat",))))
    assert uses(lambda: reader.page(one, 10, None, soon()).records) == [True, True]
    assert uses(lambda: reader.page(complete, 10, None, soon()).records) == [True, True]
    assert uses(lambda: reader.page(chat, 10, None, soon()).records) == [False, True]
    assert uses(lambda: reader.links(one, 10, None, soon())) == [True, True]
    by_minute = StatsQuery(filter_=one, from_us=A_TIMESTAMP, to_us=A_TIMESTAMP + 86_400_000_000, bucket_s=60)
    with monkeypatch.context() as patch:
        queries = recorded_queries(patch)
        assert reader.stats(by_minute, soon()).total.requests == 40
    ((sql, values),) = queries
    assert "requests_by_namespace" in str(database.query(f"EXPLAIN {sql}", values))
    for opened in (writer, reader, database):
        opened.close()


def test_a_search_that_cannot_read_the_oldest_request_in_time_goes_on(
    log: DatabaseAddress, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, reader = ClickHouseWriter(log, "recorder"), ClickHouseReader(log)
    writer.commit(Batch(entries=[an_entry() for _ in range(3)]))
    query = Database.query

    def late(database: Database, sql: str, values: Any = None, **options: Any) -> list[Any]:
        if "min(seq)" in sql:
            assert options["deadline_ns"] is not None
            raise DeadlinePassed
        return query(database, sql, values, **options)

    monkeypatch.setattr(Database, "query", late)
    assert len(reader.page(Filter(), 10, None, soon()).records) == 3
    by_kind = Filter((Term("kind", ("chat", "other"), negated=False),))
    assert reader.count(by_kind, soon()).requests == 3
    for opened in (writer, reader):
        opened.close()


def test_a_search_for_a_substring_ends_at_the_deadline_and_what_it_found_counts(
    log: DatabaseAddress, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, reader = ClickHouseWriter(log, "recorder"), ClickHouseReader(log)
    entries = [
        an_entry(request=b'{"messages":[{"role":"user","content":"needle"}]}', cost_usd=float(number))
        for number in range(5)
    ]
    writer.commit(Batch(entries=entries))
    ClickHouseFeedbackLog(log).add_feedback(entries[4].record.id, Feedback(source="users", at=1, score=0.5))
    monkeypatch.setattr(substrings, "_FEW", 1)
    query = Database.query
    left: list[int] = []

    def slow(database: Database, sql: str, values: Any = None, **options: Any) -> list[Any]:
        if sql.startswith("SELECT r.seq, r.request_size"):
            if left[0] == 0:
                deadline_ns = options["deadline_ns"]
                time.sleep(max(0, deadline_ns - clock.monotonic_ns()) / 1e9)
                raise DeadlinePassed
            left[0] -= 1
        return query(database, sql, values, **options)

    monkeypatch.setattr(Database, "query", slow)
    filter_ = Filter((Term("contains", ("needle",)),))

    def after_two(call: Callable[[int], Any]) -> Any:
        left[:] = [2]
        return call(clock.monotonic_ns() + 500_000_000)

    page = after_two(lambda deadline_ns: reader.page(filter_, 10, None, deadline_ns))
    assert ([record.cost_usd for record in page.records], page.complete) == ([4.0, 3.0], False)
    counted = after_two(lambda deadline_ns: reader.count(filter_, deadline_ns))
    assert (counted.requests, counted.complete) == (2, False)
    top = after_two(lambda deadline_ns: reader.top(filter_, Sort("cost_usd"), 10, deadline_ns))
    assert ([record.cost_usd for record in top.records], top.complete) == ([4.0, 3.0], False)
    totals = after_two(lambda deadline_ns: reader.feedback_totals(filter_, deadline_ns))
    assert (totals.requests, totals.score_sum, totals.complete) == (1, 0.5, False)
    for opened in (writer, reader):
        opened.close()
