"""Test the windows, limits and deadlines of searches."""

import apsw
import pytest
from tests.support.records import a_record, soon

from relaybook import clock
from relaybook.log.query.filters import Filter, Term
from relaybook.log.store.sqlite.index.text_functions import CONTAINS_TEXT
from relaybook.log.store.sqlite.rows import INSERT, row_of
from relaybook.log.store.sqlite.schema import create_tables
from relaybook.log.store.sqlite.search.plan import Plan, make_plan
from relaybook.log.store.sqlite.search.scan import Deadline, SearchResult, Windows, search

EVERY_TENTH = Filter((Term("route", ("tenth",)),))


@pytest.fixture(scope="module")
def connection() -> apsw.Connection:
    """Return a log with records 1 to 100. Every tenth record has the route `tenth`."""
    made = apsw.Connection(":memory:")
    create_tables(made, "it")
    routes = ("tenth" if seq % 10 == 0 else "default" for seq in range(1, 101))
    made.executemany(INSERT, [row_of(a_record(route=route), seq, b"") for seq, route in enumerate(routes, 1)])
    return made


def run_search(
    connection: apsw.Connection, limit: int, newest_first: bool, ranges: list[tuple[int, int]]
) -> SearchResult:
    plan = make_plan(connection, EVERY_TENTH, (1, 101))._replace(ranges=ranges)
    return search(connection, plan, limit, Deadline(soon()), newest_first=newest_first)


def test_a_newest_first_search_knows_whether_there_are_more_matches(connection: apsw.Connection) -> None:
    assert run_search(connection, 3, True, [(1, 101)]) == SearchResult([100, 90, 80], True, True, 80)
    assert run_search(connection, 10, True, [(1, 101)])[:3] == ([*range(100, 0, -10)], False, True)
    assert run_search(connection, 0, True, [(1, 101)])[:3] == ([], True, True)
    assert run_search(connection, 0, True, [(1, 10)])[:3] == ([], False, True)


def test_an_oldest_first_search_returns_ascending_seqs(connection: apsw.Connection) -> None:
    assert run_search(connection, 3, False, [(11, 101)]).seqs == [20, 30, 40]
    assert run_search(connection, 99, False, [(95, 101)]).seqs == [100]
    assert run_search(connection, 0, False, [(1, 101)]).seqs == []


@pytest.mark.parametrize("newest_first", [False, True])
def test_only_the_ranges_are_searched(connection: apsw.Connection, newest_first: bool) -> None:
    found = run_search(connection, 50, newest_first, [(5, 21), (30, 31), (95, 100)]).seqs
    assert sorted(found) == [10, 20, 30]
    assert found == sorted(found, reverse=newest_first)
    assert run_search(connection, 50, newest_first, []).seqs == []


@pytest.mark.parametrize(("newest_first", "reached"), [(True, 101), (False, 0)])
def test_a_search_after_the_deadline_stops_at_its_start(
    connection: apsw.Connection, newest_first: bool, reached: int
) -> None:
    plan: Plan = make_plan(connection, EVERY_TENTH, (1, 101))
    late = Deadline(clock.monotonic_ns() - 1)
    assert search(connection, plan, 5, late, newest_first=newest_first) == SearchResult([], True, False, reached)


MS = 1_000_000


@pytest.mark.parametrize("newest_first", [False, True])
def test_a_search_that_reads_text_makes_progress_before_every_deadline(
    connection: apsw.Connection, monkeypatch: pytest.MonkeyPatch, newest_first: bool
) -> None:
    now_ns = 0

    def read(seq: int, text: str) -> bool:
        nonlocal now_ns
        now_ns += 40 * MS
        return False

    monkeypatch.setattr(clock, "monotonic_ns", lambda: now_ns)
    connection.create_scalar_function(CONTAINS_TEXT, read, 2)
    low, high, scans = 1, 101, 0
    while low < high:
        plan = make_plan(connection, Filter((Term("contains", ("nowhere",)),)), (low, high))
        assert plan.reads_text
        deadline = Deadline(now_ns + 2000 * MS)
        deadline.watch(connection)
        found = search(connection, plan, 5, deadline, newest_first=newest_first)
        scans += 1
        if found.complete:
            break
        assert found.reached < high if newest_first else found.reached >= low
        low, high = (low, found.reached) if newest_first else (found.reached + 1, high)
    assert 1 < scans < 10


def test_windows_grow_while_they_are_fast_up_to_the_maximum() -> None:
    sizes = [high - low for low, high in Windows([(1, 10_001)], newest_first=True, first_size=32, max_size=1000)]
    assert sizes[:4] == [32, 256, 1000, 1000]
    assert sum(sizes) == 10_000
