"""Several recorders write to one log in ClickHouse, while responses are lost and recorders die."""

import random
import threading
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import msgspec
import pytest
from tests.support.clickhouse.server import ClickHouse, needs_clickhouse, new_server
from tests.support.records import a_record, an_entry, soon
from tests.support.server import wait_until

from relaybook import clock
from relaybook.ids import id_text, new_id
from relaybook.log.namespaces import LabelChange, NamespaceQuery
from relaybook.log.query.filters import Cursor, Filter, Term
from relaybook.log.record import Detail, Feedback
from relaybook.log.retention import Cutoff, Cutoffs
from relaybook.log.store.clickhouse import deletions, recorders
from relaybook.log.store.clickhouse.connection import Database
from relaybook.log.store.clickhouse.deletions import ClickHouseDeletions
from relaybook.log.store.clickhouse.feedback import ClickHouseFeedbackLog
from relaybook.log.store.clickhouse.labels import ClickHouseLabels
from relaybook.log.store.clickhouse.reader import ClickHouseReader
from relaybook.log.store.clickhouse.store import ClickHouseStore
from relaybook.log.store.clickhouse.writer import ClickHouseWriter
from relaybook.log.store.entry import Body, BodyRef, Entry
from relaybook.log.store.errors import StoreUnavailable
from relaybook.log.store.port import Batch, Running
from relaybook.log.store.status import RunPosition
from relaybook.settings.store_url import DatabaseAddress

pytestmark = needs_clickhouse

T = TypeVar("T")

EVERYTHING = Filter()


@pytest.fixture
def server() -> Iterator[ClickHouse]:
    started = new_server()
    yield started
    started.close()


@pytest.fixture
def log(server: ClickHouse) -> DatabaseAddress:
    return server.create_log()


@pytest.fixture
def reader(log: DatabaseAddress) -> Iterator[ClickHouseReader]:
    opened = ClickHouseReader(log)
    yield opened
    opened.close()


def a_name() -> str:
    return id_text(new_id())


def until_available(call: Callable[[], T]) -> T:
    """Repeat a call until the store is available, and return its result."""

    def tried() -> tuple[T] | None:
        try:
            return (call(),)
        except StoreUnavailable:
            return None

    return wait_until(tried, 60, "an available store")[0]


def persist(writer: ClickHouseWriter, batch: Batch) -> None:
    """Commit until it succeeds, as the recorder does."""
    until_available(lambda: writer.commit(batch))


def open_writer(log: DatabaseAddress, name: str) -> ClickHouseWriter:
    return until_available(lambda: ClickHouseWriter(log, name))


def write(log: DatabaseAddress, seed: int, batches: int, recorded: list[str], opened: list[ClickHouseWriter]) -> None:
    """Record batches. Between some of them, the recorder dies: it begins again, and repeats its last batch."""
    chosen = random.Random(seed)
    name = a_name()
    writer = open_writer(log, name)
    for _ in range(batches):
        entries = [an_entry(namespace=f"from {seed}") for _ in range(chosen.randint(1, 20))]
        batch = Batch(entries=entries)
        persist(writer, batch)
        if chosen.random() < 0.1:
            writer = open_writer(log, name)
            persist(writer, batch)
        recorded += [entry.record.id for entry in entries]
    until_available(lambda: writer.delete(0))
    opened.append(writer)


def pages(reader: ClickHouseReader, limit: int) -> Iterator[list[str]]:
    cursor: Cursor | None = None
    while True:
        page = reader.page(EVERYTHING, limit, cursor, soon())
        yield [record.id for record in page.records]
        cursor = page.next_cursor
        if cursor is None:
            return


def test_each_request_is_recorded_once_and_a_follower_misses_none(
    server: ClickHouse, log: DatabaseAddress, reader: ClickHouseReader
) -> None:
    recorded: list[str] = []
    followed: list[str] = []
    seqs: list[int] = []
    has_ended = threading.Event()

    def follow() -> None:
        position = 0
        while True:
            is_last = has_ended.is_set()
            try:
                records, position = reader.since(position, EVERYTHING, 50)
            except StoreUnavailable:
                continue
            followed.extend(record.id for record in records)
            seqs.extend(record.seq or 0 for record in records)
            if is_last and not records:
                return

    opened: list[ClickHouseWriter] = []
    writers = [threading.Thread(target=write, args=(log, seed, 12, recorded, opened)) for seed in range(3)]
    follower = threading.Thread(target=follow, daemon=True)
    reader.status()  # creates the tables
    server.fail(refuse=0.05, lose=0.05)
    for thread in (*writers, follower):
        thread.start()
    for thread in writers:
        thread.join(120)
    server.fail()
    for writer in opened:
        writer.close()  # if leaving the log failed, readers would wait for this recorder for 30 seconds
    has_ended.set()
    follower.join(60)
    assert not follower.is_alive()
    assert len(recorded) == len(set(recorded))
    assert sorted(followed) == sorted(recorded)
    assert all(earlier < later < 2**53 for earlier, later in pairwise(seqs))
    assert [each for page in pages(reader, 17) for each in page] == followed[::-1]
    assert reader.count(EVERYTHING, soon()).requests == len(recorded)
    for seed in range(3):
        mine = Filter((Term("namespace", (f"from {seed}",)),))
        assert reader.count(mine, soon()).requests == len(reader.page(mine, 10_000, None, soon()).records) > 0


def test_readers_wait_for_a_recorder_that_is_late_until_it_is_not_live(
    log: DatabaseAddress, reader: ClickHouseReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorders, "_MARK_EVERY_NS", 2**62)
    late, other = ClickHouseWriter(log, a_name()), ClickHouseWriter(log, a_name())
    late.commit(Batch(entries=[first := an_entry()]))
    other.commit(Batch(entries=[second := an_entry()]))
    assert [each.id for each in reader.since(0, EVERYTHING, 10)[0]] == [first.record.id]
    late.delete(0)  # no mark is due
    assert len(reader.since(0, EVERYTHING, 10)[0]) == 1
    monkeypatch.setattr(recorders, "_MARK_EVERY_NS", 0)
    late.delete(0)
    records, position = reader.since(0, EVERYTHING, 10)
    assert [each.id for each in records] == [first.record.id, second.record.id]
    other.commit(Batch(entries=[an_entry()]))
    assert reader.since(position, EVERYTHING, 10)[0] == []
    monkeypatch.setattr(recorders, "_LIVE_US", 1_000_000)
    other.delete(0)
    wait_until(lambda: other.delete(0) or reader.since(position, EVERYTHING, 10)[0], what="not waiting")
    records, position = reader.since(0, EVERYTHING, 10)
    assert len(records) == 3
    monkeypatch.setattr(recorders, "_JOIN_AGAIN_NS", 0)
    late.commit(Batch(entries=[again := an_entry()]))  # it joins again, above what was read
    other.delete(0)
    assert [each.id for each in reader.since(position, EVERYTHING, 10)[0]] == [again.record.id]


def test_running_requests_of_a_dead_recorder_disappear(
    log: DatabaseAddress, reader: ClickHouseReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    dead, alive = ClickHouseWriter(log, a_name()), ClickHouseWriter(log, a_name())
    rows = [Running(record=a_record(outcome="open")) for _ in range(2)]
    dead.commit(Batch(running=[rows[0]]))
    alive.commit(Batch(running=[rows[1]]))
    assert {each.id for each in reader.running(EVERYTHING)} == {each.record.id for each in rows}
    monkeypatch.setattr(recorders, "_MARK_EVERY_NS", 0)
    monkeypatch.setattr(recorders, "_LIVE_US", 1_000_000)
    wait_until(lambda: alive.delete(0) or len(reader.running(EVERYTHING)) == 1, what="one running request")
    assert [each.id for each in reader.running(EVERYTHING)] == [rows[1].record.id]


def test_the_oldest_recorder_deletes_requests_of_all_and_the_next_one_continues(
    log: DatabaseAddress, reader: ClickHouseReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each call asks who is the oldest, and looks for deletions.
    monkeypatch.setattr(recorders, "_MARK_EVERY_NS", 0)
    monkeypatch.setattr(deletions, "_LOOK_EVERY_NS", 0)
    oldest, other = (ClickHouseWriter(log, name) for name in sorted(a_name() for _ in range(2)))
    for writer in (oldest, other):
        writer.commit(Batch(entries=[an_entry(namespace="gone"), an_entry(namespace="kept")]))
    deletion = ClickHouseDeletions(log).request(Filter((Term("namespace", ("gone",)),)), 2, "a test")
    for _ in range(20):
        oldest._recorders.mark_if_due()  # deletions wait for the marks of all recorders
        assert other.delete(0) == 0
    assert reader.deletions(1)[0].removed == 0
    oldest.close()

    def is_done() -> bool:
        other.delete(0)
        return reader.deletions(1)[0].state == "done"

    wait_until(is_done, 60, what="the deletion")
    assert [(each.id, each.removed) for each in reader.deletions(5)] == [(deletion.id, 2)]
    left = reader.page(EVERYTHING, 10, None, soon()).records
    assert [record.namespace for record in left] == ["kept", "kept"]


def test_deletions_do_not_wait_for_a_server_that_is_forgotten(
    tmp_path: Path, log: DatabaseAddress, reader: ClickHouseReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("relaybook.log.store.clickhouse.writer.MAX_SENT_US", 0)
    store = ClickHouseStore(tmp_path / "store", log)
    alive, lost = ClickHouseWriter(log, a_name(), server="here"), ClickHouseWriter(log, a_name(), server="away:/data")
    run, position = a_name(), RunPosition(read_to=(1, 5, 1), replay_from=(1, 0, 0))
    entry = an_entry(Body(refs=[lost.write_body(b"in a chunk")], rest=[]), namespace="gone")
    lost.commit(Batch(entries=[entry], positions={run: position}, running=[Running(record=a_record(outcome="open"))]))
    lost.write_body(b"never committed")
    deletion = ClickHouseDeletions(log).request(Filter((Term("namespace", ("gone",)),)), 1, "a test")
    with pytest.raises(StoreUnavailable, match="away:/data is not lost, because it wrote to the log"):
        store.forget_server("away:/data")
    monkeypatch.setattr(recorders, "_MARK_EVERY_NS", 0)
    monkeypatch.setattr(recorders, "_LIVE_US", 5_000_000)

    def state() -> str:
        alive.delete(0)
        return reader.deletions(1)[0].state

    def live() -> list[str]:
        alive.delete(0)
        return [each.server for each in reader.status().recorders if each.is_live]

    wait_until(lambda: state() == "erasing" and live() == ["here"], 60, what="the removal and the loss of a server")
    for _ in range(50):
        assert state() == "erasing"
    with pytest.raises(StoreUnavailable, match=r"No lost server .* has the name other\. Lost servers: away:/data\."):
        store.forget_server("other")
    store.forget_server("away:/data")
    wait_until(lambda: state() == "done", 60, what="the deletion")
    assert reader.deletions(1)[0].id == deletion.id
    assert reader.status().positions == {}
    database = Database(log)
    wait_until(lambda: database.query("SELECT count() FROM chunks") == [(0,)], what="the removal of chunks")
    with pytest.raises(StoreUnavailable, match="No lost server of this log has the name away:/data"):
        store.forget_server("away:/data")


def test_a_commit_of_large_bodies_is_inserted_in_one_part(log: DatabaseAddress, reader: ClickHouseReader) -> None:
    writer = ClickHouseWriter(log, a_name())
    entries = [an_entry(b"%d" % number * 50_000, b"answer" * 20_000) for number in range(40)]
    writer.commit(Batch(entries=entries))
    assert reader.count(EVERYTHING, soon()).requests == 40
    parts = "SELECT count() FROM system.parts WHERE database = currentDatabase() AND table = 'requests'"
    assert Database(log).query(parts) == [(1,)]
    for number in (0, 39):
        body = reader.body(entries[number].record.id, "request") or ()
        assert b"".join(body) == b"%d" % number * 50_000


def test_a_body_whose_insert_is_not_answered_leaves_no_bytes(server: ClickHouse, log: DatabaseAddress) -> None:
    writer = ClickHouseWriter(log, a_name())
    server.fail(lose=1)
    with pytest.raises(StoreUnavailable):
        writer.write_body(b"sent, but not answered")
    server.fail()
    database = Database(log)
    assert database.query("SELECT count() FROM chunks") == [(1,)]
    ref = writer.write_body(b"sent again")
    writer.commit(Batch(entries=[an_entry(Body(refs=[ref], rest=[]))]))
    wait_until(lambda: database.query("SELECT data FROM chunks") == [("sent again",)], what="erasing")
    assert writer.read_body(ref) == b"sent again"


def test_chunks_of_a_request_outlive_a_death_before_its_commit_ended(
    log: DatabaseAddress, reader: ClickHouseReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("relaybook.log.store.clickhouse.writer.MAX_SENT_US", 0)
    name, record = a_name(), a_record()
    dead = ClickHouseWriter(log, name)
    used, unused = dead.write_body(b"of the request"), dead.write_body(b"of no request")

    def entry(ref: BodyRef) -> Entry:
        return Entry(record=record, detail=Detail(), request=Body(refs=[ref]), response=None)

    dead._insert([entry(used)])  # and nothing of the state
    again = ClickHouseWriter(log, name)
    repeated = again.write_body(b"of the repeated request")
    again.commit(Batch(entries=[entry(repeated)]))
    assert b"".join(reader.body(record.id, "request") or ()) == b"of the request"
    database = Database(log)
    wait_until(lambda: database.query("SELECT id FROM chunks") == [used.location], what="erasing")
    assert unused.location != used.location
    assert b"".join(reader.body(record.id, "request") or ()) == b"of the request"


def test_bodies_and_positions_of_one_recorder_are_not_those_of_another(
    log: DatabaseAddress, reader: ClickHouseReader
) -> None:
    first, second = ClickHouseWriter(log, a_name()), ClickHouseWriter(log, a_name())
    refs = [writer.write_body(text) for writer, text in ((first, b"of the first"), (second, b"of the second"))]
    assert refs[0].location != refs[1].location
    assert ClickHouseWriter(log, a_name()).read_body(refs[0]) == b"of the first"  # a third one deletes no chunks
    assert second.read_body(refs[1]) == b"of the second"
    assert first.positions() == second.positions() == {}
    assert reader.status().records == 0


def test_content_in_chunks_expires_although_its_chunks_are_still_being_removed(
    log: DatabaseAddress, reader: ClickHouseReader
) -> None:
    writer, database = ClickHouseWriter(log, a_name()), Database(log)
    old = an_entry(Body(refs=[writer.write_body(b"in a chunk, ")], rest=[b"and in the row"]))
    writer.commit(Batch(entries=[old]))
    cutoffs = Cutoffs(general=Cutoff(content=clock.wall_us()))

    def is_expired() -> bool:
        assert not writer.retain(cutoffs, soon()).is_complete
        stored = reader.get(old.record.id)
        return stored is not None and stored.record.body_state == "expired"

    database.execute("SYSTEM STOP MERGES chunks")
    wait_until(is_expired, 5, what="expiry")
    mutations = "SELECT count() FROM system.mutations WHERE database = currentDatabase() AND table = 'chunks'"
    assert database.query(mutations) == [(1,)]
    database.execute("SYSTEM START MERGES chunks")
    wait_until(lambda: writer.retain(cutoffs, soon()).is_complete, what="the end of the pass")
    assert database.query("SELECT data FROM chunks") == []


def test_a_recorder_that_was_late_while_it_found_text_joins_before_it_numbers_requests(
    log: DatabaseAddress, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = ClickHouseWriter(log, a_name())
    writer.commit(Batch())
    calls: list[str] = []

    def noted(target: object, name: str) -> None:
        method = getattr(target, name)
        monkeypatch.setattr(target, name, lambda *arguments: (calls.append(name), method(*arguments))[1])

    noted(writer, "_text")
    noted(writer._recorders, "join_if_late")
    noted(writer._recorders, "take")
    writer.commit(Batch(entries=[an_entry()]))
    assert calls == ["_text", "join_if_late", "take"]


def test_only_requests_that_were_shown_as_running_leave_deleted_keys(
    server: ClickHouse, log: DatabaseAddress, reader: ClickHouseReader
) -> None:
    writer, database = ClickHouseWriter(log, a_name()), Database(log)
    keys = "SELECT uniqExact(key) FROM state WHERE kind LIKE 'running%'"
    writer.commit(Batch(entries=[an_entry(), an_entry()], running=[]))
    assert database.query(keys) == [(0,)]
    shown = Running(record=a_record(outcome="open"))
    server.fail(lose=1)
    with pytest.raises(StoreUnavailable):
        writer.commit(Batch(running=[shown]))
    server.fail()
    wait_until(lambda: len(reader.running(EVERYTHING)) == 1, what="the running request")
    ended = msgspec.structs.replace(shown.record, outcome="complete")
    persist(writer, Batch(entries=[Entry(record=ended, detail=Detail(), request=None, response=None)], running=[]))
    assert reader.running(EVERYTHING) == []
    assert database.query(keys) == [(1,)]


def test_a_correction_counts_although_the_clock_of_its_server_is_behind(
    log: DatabaseAddress, reader: ClickHouseReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, entry = ClickHouseWriter(log, a_name()), an_entry(namespace="web")
    writer.commit(Batch(entries=[entry]))
    ClickHouseLabels(log).change(LabelChange(namespace="web", pinned=True, color=3))
    ClickHouseFeedbackLog(log).add_feedback(entry.record.id, Feedback(source="users", at=2, score=0.1))
    monkeypatch.setattr(clock, "wall_ns", lambda: time.time_ns() - 3600 * clock.NANOSECONDS)
    ClickHouseLabels(log).change(LabelChange(namespace="web", color=4))
    ClickHouseFeedbackLog(log).add_feedback(entry.record.id, Feedback(source="users", at=1, score=0.9))
    rows, _ = reader.namespaces(NamespaceQuery(), 9, None, soon())
    assert [row.color for row in rows] == [4]
    (record,) = reader.page(EVERYTHING, 9, None, soon()).records
    assert [each.score for each in record.feedback] == [0.9]
