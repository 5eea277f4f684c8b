"""Walks along the log: windows, limits and deadlines."""

import apsw
import pytest
from tests.support.records import a_record, soon

from relaybook import clock
from relaybook.log.query.filters import Filter, Term
from relaybook.log.store.sqlite.plan import Plan, make_plan
from relaybook.log.store.sqlite.rows import INSERT, row_of
from relaybook.log.store.sqlite.schema import migrate
from relaybook.log.store.sqlite.search import Deadline, Found, Windows, search
from relaybook.log.store.sqlite.text_functions import HOLDS

EVERY_TENTH = Filter((Term("route", ("tenth",)),))


@pytest.fixture(scope="module")
def connection() -> apsw.Connection:
    """Records 1 to 100; every tenth has the route `tenth`."""
    made = apsw.Connection(":memory:")
    migrate(made, "it")
    routes = ("tenth" if seq % 10 == 0 else "default" for seq in range(1, 101))
    made.executemany(INSERT, [row_of(a_record(route=route), seq, b"") for seq, route in enumerate(routes, 1)])
    return made


def walk(connection: apsw.Connection, limit: int, newest_first: bool, spans: list[tuple[int, int]]) -> Found:
    plan = make_plan(connection, EVERY_TENTH, (1, 101))._replace(spans=spans)
    return search(connection, plan, limit, Deadline(soon()), newest_first=newest_first)


def test_older_walks_know_whether_there_is_more(connection: apsw.Connection) -> None:
    assert walk(connection, 3, True, [(1, 101)]) == Found([100, 90, 80], True, True, 80)
    assert walk(connection, 10, True, [(1, 101)])[:3] == ([*range(100, 0, -10)], False, True)
    assert walk(connection, 0, True, [(1, 101)])[:3] == ([], True, True)
    assert walk(connection, 0, True, [(1, 10)])[:3] == ([], False, True)


def test_newer_walks_go_up(connection: apsw.Connection) -> None:
    assert walk(connection, 3, False, [(11, 101)]).seqs == [20, 30, 40]
    assert walk(connection, 99, False, [(95, 101)]).seqs == [100]
    assert walk(connection, 0, False, [(1, 101)]).seqs == []


@pytest.mark.parametrize("newest_first", [False, True])
def test_only_the_spans_are_searched(connection: apsw.Connection, newest_first: bool) -> None:
    found = walk(connection, 50, newest_first, [(5, 21), (30, 31), (95, 100)]).seqs
    assert sorted(found) == [10, 20, 30]
    assert found == sorted(found, reverse=newest_first)
    assert walk(connection, 50, newest_first, []).seqs == []


@pytest.mark.parametrize(("newest_first", "reached"), [(True, 101), (False, 0)])
def test_without_time_the_walk_stops_where_it_began(
    connection: apsw.Connection, newest_first: bool, reached: int
) -> None:
    plan: Plan = make_plan(connection, EVERY_TENTH, (1, 101))
    late = Deadline(clock.monotonic_ns() - 1)
    assert search(connection, plan, 5, late, newest_first=newest_first) == Found([], True, False, reached)


MS = 1_000_000


@pytest.mark.parametrize("newest_first", [False, True])
def test_where_texts_are_read_every_walk_comes_further_before_its_deadline(
    connection: apsw.Connection, monkeypatch: pytest.MonkeyPatch, newest_first: bool
) -> None:
    now_ns = 0

    def read(seq: int, piece: str) -> bool:
        nonlocal now_ns
        now_ns += 40 * MS
        return False

    monkeypatch.setattr(clock, "monotonic_ns", lambda: now_ns)
    connection.create_scalar_function(HOLDS, read, 2)
    low, high, walks = 1, 101, 0
    while low < high:
        plan = make_plan(connection, Filter((Term("contains", ("nowhere",)),)), (low, high))
        assert plan.reads_texts
        deadline = Deadline(now_ns + 2000 * MS)
        deadline.watch(connection)
        found = search(connection, plan, 5, deadline, newest_first=newest_first)
        walks += 1
        if found.complete:
            break
        assert found.reached < high if newest_first else found.reached >= low
        low, high = (low, found.reached) if newest_first else (found.reached + 1, high)
    assert 1 < walks < 10


def test_windows_grow_while_they_are_quick_and_no_further_than_they_may() -> None:
    sizes = [high - low for low, high in Windows([(1, 10_001)], newest_first=True, first=32, most=1000)]
    assert sizes[:4] == [32, 256, 1000, 1000]
    assert sum(sizes) == 10_000
