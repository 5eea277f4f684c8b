"""Every store: what a restart of the recorder finds, and what stands beside the log."""

from tests.conformance.stores.conftest import Store
from tests.support.records import a_record, an_entry

from relaybook import ids
from relaybook.filters import Filter, Term
from relaybook.records import Gap
from relaybook.stores.base import Moved, RunPosition

RUN, OTHER = "0192f0c8-7b3a-7cde-8f00-000000000001", "0192f0c8-7b3a-7cde-8f00-000000000002"


def position(n):
    return RunPosition(read_to=(n, 2**40, 3), replay_from=(n - 1, 0, 1))


def moved(exchange, run=RUN, number=1, state=b"state"):
    return Moved(run=run, exchange=exchange, number=number, state=state)


def test_a_new_store_has_no_positions(store: Store) -> None:
    assert store.writer.positions() == {}
    assert store.writer.moved(RUN) == []


def test_positions_are_those_of_the_last_commit(store: Store) -> None:
    store.commit(positions={RUN: position(1), OTHER: position(2)})
    store.commit(positions={RUN: position(7)})
    store.restart()
    assert store.writer.positions() == {RUN: position(7), OTHER: position(2)}
    assert store.reader.status().positions == store.writer.positions()


def test_moved_states_come_back_and_are_replaced(store: Store) -> None:
    first, second = ids.new_id(), ids.new_id()
    store.commit(moved=[moved(first), moved(second, run=OTHER)])
    store.commit(moved=[moved(first, number=9, state=b"\x00" * 100_000)])
    store.restart()
    assert store.writer.moved(RUN) == [moved(first, number=9, state=b"\x00" * 100_000)]
    assert store.writer.moved(OTHER) == [moved(second, run=OTHER)]


def test_a_state_is_dropped_with_the_commit_of_its_record(store: Store) -> None:
    exchange, other = ids.new_id(), ids.new_id()
    store.commit(moved=[moved(exchange), moved(other)])
    store.restart()
    store.commit(an_entry(id=ids.id_text(exchange)))
    assert store.writer.moved(RUN) == [moved(other)]
    store.commit(an_entry(id=ids.id_text(other)), moved=[moved(other)])
    assert store.writer.moved(RUN) == []


def test_a_run_that_is_over_is_forgotten(store: Store) -> None:
    exchange, other = ids.new_id(), ids.new_id()
    store.commit(positions={RUN: position(1), OTHER: position(1)}, moved=[moved(exchange), moved(other, run=OTHER)])
    store.commit(runs_over=[RUN])
    store.restart()
    assert list(store.writer.positions()) == [OTHER]
    assert store.writer.moved(RUN) == []
    assert store.writer.moved(OTHER) == [moved(other, run=OTHER)]


def test_running_requests_are_replaced_as_a_whole(store: Store) -> None:
    old, young = a_record(outcome="open", started_at=10), a_record(outcome="open", started_at=20)
    store.commit(running=[old, young])
    assert store.reader.running(Filter()) == [young, old]
    store.commit()
    assert store.reader.running(Filter()) == [young, old]
    old.chunks = 5
    store.commit(running=[old])
    store.restart()
    assert store.reader.running(Filter()) == [old]
    store.commit(running=[])
    assert store.reader.running(Filter()) == []


def test_running_requests_are_filtered_and_have_no_number(store: Store) -> None:
    record = a_record(namespace="staging", outcome="open", seq=99)
    store.commit(running=[record, a_record(outcome="open")])
    (found,) = store.reader.running(Filter((Term("namespace", ("staging",)),)))
    assert (found.id, found.seq) == (record.id, None)
    assert store.reader.last_seq() == 0
    assert store.reader.get(record.id) is None


def test_gaps_are_listed_latest_first(store: Store) -> None:
    gaps = [
        Gap(from_at=10, to_at=20, count=5, reason="log_unavailable"),
        Gap(from_at=30, to_at=40, count=1, reason="damaged"),
        Gap(from_at=21, to_at=25, count=2, reason="forwarded_unlogged"),
    ]
    store.commit(gaps=gaps[:2])
    store.commit(gaps=gaps[2:])
    assert store.reader.gaps(0) == [gaps[1], gaps[2], gaps[0]]
    assert store.reader.gaps(25) == [gaps[1], gaps[2]]
    assert store.reader.gaps(41) == []


def test_refused_requests_add_up_by_code(store: Store) -> None:
    store.commit(refused={"overloaded": 2})
    store.commit(refused={"overloaded": 3, "not_found": 1})
    assert store.reader.status().refused == {"overloaded": 5, "not_found": 1}


def test_the_status_counts_records(store: Store) -> None:
    store.commit(an_entry(), an_entry())
    status = store.reader.status()
    assert (status.records, status.last_seq) == (2, 2)
