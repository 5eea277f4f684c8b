"""All stores: the state that a recorder finds after a restart, and stored data other than records."""

import pytest
from tests.conformance.stores.conftest import Store
from tests.support.records import a_record, an_entry, new_record_id

from relaybook import ids
from relaybook.log.query.filters import Filter, Term
from relaybook.log.record import Detail, Gap
from relaybook.log.store.errors import BatchRejected
from relaybook.log.store.port import ExchangeCheckpoint, Running
from relaybook.log.store.status import RunPosition

RUN, OTHER = "0192f0c8-7b3a-7cde-8f00-000000000001", "0192f0c8-7b3a-7cde-8f00-000000000002"


def position(n):
    return RunPosition(read_to=(n, 2**40, 3), replay_from=(n - 1, 0, 1))


def moved(exchange, run=RUN, number=1, state=b"state"):
    return ExchangeCheckpoint(run=run, exchange=exchange, number=number, state=state)


def test_a_new_store_has_no_positions(store: Store) -> None:
    assert store.writer.positions() == {}
    assert store.writer.checkpoints(RUN) == []


def test_positions_are_those_of_the_last_commit(store: Store) -> None:
    store.commit(positions={RUN: position(1), OTHER: position(2)})
    store.commit(positions={RUN: position(7)})
    store.restart()
    assert store.writer.positions() == {RUN: position(7), OTHER: position(2)}
    assert store.reader.status().positions == store.writer.positions()


def test_saved_states_are_returned_and_replaced(store: Store) -> None:
    first, second = ids.new_id(), ids.new_id()
    store.commit(checkpoints=[moved(first), moved(second, run=OTHER)])
    store.commit(checkpoints=[moved(first, number=9, state=b"\x00" * 100_000)])
    store.restart()
    assert store.writer.checkpoints(RUN) == [moved(first, number=9, state=b"\x00" * 100_000)]
    assert store.writer.checkpoints(OTHER) == [moved(second, run=OTHER)]


def test_a_state_is_deleted_with_the_commit_of_its_record(store: Store) -> None:
    exchange, other = ids.new_id(), ids.new_id()
    store.commit(checkpoints=[moved(exchange), moved(other)])
    store.restart()
    store.commit(an_entry(id=ids.id_text(exchange)))
    assert store.writer.checkpoints(RUN) == [moved(other)]
    store.commit(an_entry(id=ids.id_text(other)), checkpoints=[moved(other)])
    assert store.writer.checkpoints(RUN) == []


def test_the_state_of_a_rejected_request_is_deleted(store: Store) -> None:
    exchange, other = ids.new_id(), ids.new_id()
    store.commit(checkpoints=[moved(exchange), moved(other)])
    store.restart()
    store.commit(rejected=[ids.id_text(exchange)])
    assert store.writer.checkpoints(RUN) == [moved(other)]
    store.commit(rejected=[ids.id_text(other)], checkpoints=[moved(other)])
    store.restart()
    assert store.writer.checkpoints(RUN) == []


def test_a_finished_run_is_forgotten(store: Store) -> None:
    exchange, other = ids.new_id(), ids.new_id()
    store.commit(
        positions={RUN: position(1), OTHER: position(1)}, checkpoints=[moved(exchange), moved(other, run=OTHER)]
    )
    store.commit(finished_runs=[RUN])
    store.restart()
    assert list(store.writer.positions()) == [OTHER]
    assert store.writer.checkpoints(RUN) == []
    assert store.writer.checkpoints(OTHER) == [moved(other, run=OTHER)]


def running(request=None, response=None, detail=None, **fields):
    return Running(record=a_record(outcome="open", **fields), detail=detail, request=request, response=response)


def test_running_requests_are_replaced_as_a_whole(store: Store) -> None:
    old, young = running(started_at=10), running(started_at=20)
    store.commit(running=[old, young])
    assert store.reader.running(Filter()) == [young.record, old.record]
    store.commit()
    assert store.reader.running(Filter()) == [young.record, old.record]
    old.record.chunks = 5
    store.commit(running=[old])
    store.restart()
    assert store.reader.running(Filter()) == [old.record]
    store.commit(running=[])
    assert store.reader.running(Filter()) == []


def test_running_requests_are_filtered_and_have_no_number(store: Store) -> None:
    record = a_record(namespace="staging", outcome="open", seq=99)
    store.commit(running=[Running(record=record), running()])
    (found,) = store.reader.running(Filter((Term("namespace", ("staging",)),)))
    assert (found.id, found.seq) == (record.id, None)
    assert store.reader.open_request(record.id).record.seq is None
    assert store.reader.last_seq() == 0
    assert store.reader.get(record.id) is None


def test_a_running_request_has_its_detail_and_its_bodies_so_far(store: Store) -> None:
    detail = Detail(reason="OK", request_head=b"Host: a", chunk_at_us=[5], chunk_bytes=[3])
    complete = running(b"asked \xff", b"so ", detail)
    alone = running()
    store.commit(running=[complete, alone])
    assert store.reader.open_request(complete.record.id) == complete
    assert store.reader.open_request(alone.record.id) == alone
    complete.response = b"so far"
    detail.chunk_at_us.append(9)
    assert store.reader.open_request(complete.record.id).response == b"so "
    assert store.reader.open_request(complete.record.id).detail.chunk_at_us == [5]
    store.commit(running=[complete])
    store.restart()
    assert store.reader.open_request(complete.record.id) == complete
    assert store.reader.open_request(alone.record.id) is None
    assert store.reader.open_request("no id at all'") is None


def test_an_empty_body_and_an_unknown_one_are_distinguished(store: Store) -> None:
    waiting = running(b"asked", b"", Detail())
    store.commit(running=[waiting])
    assert store.reader.open_request(waiting.record.id) == waiting
    waiting.detail = waiting.request = waiting.response = None
    store.commit(running=[waiting])
    store.restart()
    assert store.reader.open_request(waiting.record.id) == waiting


def test_a_running_request_is_removed_with_the_commit_of_its_record(store: Store) -> None:
    ended, other = running(b"asked", b"answered", Detail()), running(b"asked")
    store.commit(running=[ended, other])
    store.restart()
    store.commit(an_entry(id=ended.record.id))
    assert store.reader.open_request(ended.record.id) is None
    assert store.reader.running(Filter()) == [other.record]
    store.commit(an_entry(id=other.record.id), running=[other, ended])
    assert store.reader.running(Filter()) == [ended.record]
    assert store.reader.open_request(new_record_id()) is None


def test_a_rejected_batch_does_not_change_running_requests(store: Store) -> None:
    one = running(b"asked", b"so far", Detail())
    store.commit(running=[one])
    for parts in ({"running": []}, {"running": [running()]}, {}):
        with pytest.raises(BatchRejected):
            store.commit(an_entry(id=one.record.id), an_entry(user="\ud800"), **parts)
        store.commit()
        assert store.reader.open_request(one.record.id) == one
        assert store.reader.running(Filter()) == [one.record]
    store.commit(running=[])
    assert store.reader.open_request(one.record.id) is None


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


def test_refused_requests_are_summed_by_code(store: Store) -> None:
    store.commit(refused={"overloaded": 2})
    store.commit(refused={"overloaded": 3, "not_found": 1})
    assert store.reader.status().refused == {"overloaded": 5, "not_found": 1}


def test_the_status_counts_records(store: Store) -> None:
    store.commit(an_entry(), an_entry())
    status = store.reader.status()
    assert (status.records, status.last_seq) == (2, 2)
