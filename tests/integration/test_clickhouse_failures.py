"""A log in ClickHouse stays correct if processes die, mutations are stuck, or clocks go back."""

from collections.abc import Callable, Iterator
from itertools import count

import pytest
from tests.support.clickhouse.server import ClickHouse, needs_clickhouse, new_server
from tests.support.records import an_entry, soon
from tests.support.server import wait_until

from relaybook import clock
from relaybook.ids import id_text, new_id
from relaybook.log.deletions import Deletion
from relaybook.log.namespaces import LabelChange, NamespaceQuery
from relaybook.log.query.filters import Filter, Term
from relaybook.log.record import Feedback
from relaybook.log.store.clickhouse import connection, deletions, recorders
from relaybook.log.store.clickhouse import writer as writer_module
from relaybook.log.store.clickhouse.connection import Database
from relaybook.log.store.clickhouse.deletions import ClickHouseDeletions
from relaybook.log.store.clickhouse.feedback import ClickHouseFeedbackLog
from relaybook.log.store.clickhouse.labels import ClickHouseLabels
from relaybook.log.store.clickhouse.reader import ClickHouseReader
from relaybook.log.store.clickhouse.writer import ClickHouseWriter
from relaybook.log.store.entry import Body
from relaybook.log.store.errors import BatchRejected, DeadlinePassed, StoreUnavailable
from relaybook.log.store.port import Batch
from relaybook.log.store.status import RunPosition
from relaybook.recorder.loop import MAX_ENTRIES
from relaybook.settings.store_url import DatabaseAddress

pytestmark = needs_clickhouse

EVERYTHING = Filter()
SECRET = Filter((Term("namespace", ("secret",)),))
_NUMBERS = count()


@pytest.fixture(scope="module")
def server() -> Iterator[ClickHouse]:
    started = new_server()
    yield started
    started.close()


@pytest.fixture
def log(server: ClickHouse) -> DatabaseAddress:
    return server.create_log(f"log_{next(_NUMBERS)}")


@pytest.fixture
def reader(log: DatabaseAddress) -> Iterator[ClickHouseReader]:
    opened = ClickHouseReader(log)
    yield opened
    opened.close()


def a_name() -> str:
    return id_text(new_id())


def namespaces(reader: ClickHouseReader) -> list[str]:
    return [record.namespace for record in reader.page(EVERYTHING, 50, None, soon()).records]


def delete(log: DatabaseAddress, reader: ClickHouseReader, writer: ClickHouseWriter, filter_: Filter) -> Deletion:
    """Request a deletion, and let the writer carry it out."""
    ClickHouseDeletions(log).request(filter_, 1, "127.0.0.1")
    return until_done(reader, writer)


def until_done(reader: ClickHouseReader, writer: ClickHouseWriter) -> Deletion:
    def is_done() -> bool:
        for _ in range(5):
            writer.delete(0)
        return reader.deletions(1)[0].state == "done"

    wait_until(is_done, 60, what="the deletion")
    return reader.deletions(1)[0]


def test_a_recorder_that_died_does_not_record_a_deleted_request_again(
    log: DatabaseAddress, reader: ClickHouseReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "MAX_SENT_US", 0)
    name, position = a_name(), RunPosition(read_to=(1, 100, 1), replay_from=(1, 100, 1))
    dead = ClickHouseWriter(log, name)
    used = dead.write_body(b"deleted")
    entry = an_entry(Body(refs=[used], rest=[]), namespace="secret")
    dead._insert([entry])  # and no position
    monkeypatch.setattr(recorders, "_LIVE_US", 500_000)
    other = ClickHouseWriter(log, a_name())

    def is_visible() -> bool:
        other.commit(Batch())
        return namespaces(reader) == ["secret"]

    wait_until(is_visible, 30, what="the request of the dead recorder")
    assert delete(log, reader, other, SECRET).removed == 1
    again = ClickHouseWriter(log, name)
    repeated = an_entry(Body(refs=[again.write_body(b"deleted")], rest=[]), id=entry.record.id, namespace="secret")
    new = an_entry(namespace="new")
    again.commit(Batch(entries=[repeated, new], positions={"run": position}))
    # After a rejection, the recorder commits the entries of a batch one by one, without positions.
    again.commit(Batch(entries=[an_entry(id=entry.record.id, namespace="secret")]))
    assert Database(log).query("SELECT namespace FROM requests") == [("new",)]
    wait_until(lambda: Database(log).query("SELECT data FROM chunks") == [], what="erasing")
    assert again.positions() == {"run": position}
    # Whoever imports a deleted request wants it back.
    again.commit(Batch(entries=[an_entry(id=entry.record.id, namespace="imported")], is_import=True))
    assert Database(log).query("SELECT count() FROM requests WHERE namespace = 'imported'") == [(1,)]


def test_the_largest_batch_of_the_recorder_is_stored_and_can_be_repeated(log: DatabaseAddress) -> None:
    writer = ClickHouseWriter(log, a_name())
    position = RunPosition(read_to=(1, 100, 1), replay_from=(1, 100, 1))
    batch = Batch(entries=[an_entry(None, None) for _ in range(MAX_ENTRIES)], positions={"run": position})
    for _ in range(2):
        writer.commit(batch)
    assert Database(log).query("SELECT count() FROM requests") == [(MAX_ENTRIES,)]


def test_a_deletion_begins_mutations_again_that_were_killed(log: DatabaseAddress, reader: ClickHouseReader) -> None:
    writer, database = ClickHouseWriter(log, a_name()), Database(log)
    writer.commit(Batch(entries=[an_entry(namespace="secret"), an_entry(namespace="kept")]))
    database.execute("SYSTEM STOP MERGES requests")
    ClickHouseDeletions(log).request(SECRET, 1, "127.0.0.1")

    def has_begun() -> bool:
        writer.delete(0)
        return bool(database.query("SELECT 1 FROM system.mutations WHERE database = currentDatabase()"))

    wait_until(has_begun, 30, what="the mutation")
    database.execute("KILL MUTATION WHERE database = currentDatabase()")
    database.execute("SYSTEM START MERGES requests")
    assert until_done(reader, writer).removed == 1
    assert database.query("SELECT namespace FROM requests") == [("kept",)]


def test_a_substring_is_deleted_in_slices(
    log: DatabaseAddress, reader: ClickHouseReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deletions, "_SLICE_NS", 1)
    monkeypatch.setattr(deletions, "_CONTINUE_EVERY_NS", 0)
    writer = ClickHouseWriter(log, a_name())
    prompts = [b'{"messages": [{"role": "user", "content": "prompt %d of us"}]}' % number for number in range(250)]
    writer.commit(Batch(entries=[an_entry(prompt) for prompt in prompts]))
    found = delete(log, reader, writer, Filter((Term("contains", ("rompt 1",)),)))
    assert found.removed == 111
    assert reader.count(EVERYTHING, soon()).requests == 139


def test_an_answer_after_the_deadline_is_not_used(server: ClickHouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """If a statement is nearly complete at its deadline, the engine sometimes answers with an empty result."""
    database = Database(server.create_log(f"log_{next(_NUMBERS)}"))
    database.execute("CREATE TABLE numbers (number UInt8) ENGINE = MergeTree ORDER BY number")
    monkeypatch.setattr(connection, "_INSERT_SECONDS", 0.1)
    try:
        server.fail(delay=0.2)
        with pytest.raises(DeadlinePassed):
            database.query("SELECT 1", deadline_ns=clock.monotonic_ns() + 100_000_000)
        with pytest.raises(StoreUnavailable, match="insert"):
            database.insert("numbers", {"number": "UInt8"}, [[1]])
    finally:
        server.fail()


def test_deleted_keys_of_running_requests_are_removed(log: DatabaseAddress, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deletions, "_CLEAN_EVERY_NS", 0)
    writer, database = ClickHouseWriter(log, a_name()), Database(log)
    writer._state.write({("running", "one"): b"", ("running", "two"): b""})
    writer._state.write({("running", "one"): None})

    def keys() -> list[str]:
        writer.delete(0)
        return [key for (key,) in database.query("SELECT DISTINCT key FROM state WHERE kind = 'running'")]

    wait_until(lambda: keys() == ["two"], 30, what="the removal")


def test_a_missing_chunk_does_not_stop_recording(log: DatabaseAddress) -> None:
    writer, database = ClickHouseWriter(log, a_name()), Database(log)
    ref = writer.write_body(b"lost")
    database.execute("TRUNCATE TABLE chunks")
    writer.commit(Batch(entries=[an_entry(Body(refs=[ref], rest=[b"rest"])), an_entry()]))
    assert database.query("SELECT count() FROM requests") == [(2,)]


def test_mutations_that_are_stuck_do_not_stop_recording(log: DatabaseAddress, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer_module, "MAX_SENT_US", 0)
    name, database = a_name(), Database(log)
    writer = ClickHouseWriter(log, name)
    refs = [writer.write_body(b"chunk") for _ in range(3)]
    writer.commit(Batch(entries=[an_entry()]))
    database.execute("SYSTEM STOP MERGES chunks")
    database.execute("ALTER TABLE chunks MODIFY SETTING number_of_mutations_to_throw = 1")
    for ref in refs:
        writer.commit(Batch(entries=[an_entry()], erase=[ref]))
    writer.write_body(b"of an open request")
    again = ClickHouseWriter(log, name)
    again.commit(Batch(entries=[an_entry()]))
    assert database.query("SELECT count() FROM requests") == [(5,)]
    database.execute("ALTER TABLE chunks RESET SETTING number_of_mutations_to_throw")
    database.execute("SYSTEM START MERGES chunks")

    def chunks() -> int:
        again.commit(Batch())
        return len(database.query("SELECT id FROM chunks"))

    wait_until(lambda: chunks() == 0, 30, what="erasing")


def test_a_new_process_replaces_values_although_the_clock_went_back(
    log: DatabaseAddress, reader: ClickHouseReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, name = Database.server_us, a_name()
    monkeypatch.setattr(Database, "server_us", lambda self: real(self) + 120_000_000)
    ahead = ClickHouseWriter(log, name)
    ahead.commit(Batch(entries=[an_entry(namespace="one")]))
    ClickHouseLabels(log).change(LabelChange(namespace="one", pinned=True, color=3))
    ahead.close()
    monkeypatch.undo()
    writer = ClickHouseWriter(log, name)
    position = RunPosition(read_to=(2, 200, 2), replay_from=(2, 200, 2))
    writer.commit(Batch(entries=[an_entry(namespace="two")], positions={"run": position}))
    assert namespaces(reader) == ["two", "one"]
    assert writer.positions() == {"run": position}
    ClickHouseLabels(log).change(LabelChange(namespace="one", color=5))
    rows, _ = reader.namespaces(NamespaceQuery(text="one"), 9, None, soon())
    assert [row.color for row in rows] == [5]


def test_a_chunk_has_a_new_number_although_the_clock_went_back(
    server: ClickHouse, log: DatabaseAddress, reader: ClickHouseReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, real = ClickHouseWriter(log, a_name()), Database.server_us
    writer.write_body(b"before")
    with monkeypatch.context() as patch:
        patch.setattr(Database, "server_us", lambda self: real(self) - 60_000_000)
        server.fail(lose=1)
        with pytest.raises(StoreUnavailable):
            writer.write_body(b"not answered")
        server.fail()
        ref = writer.write_body(b"answered")
    entry = an_entry(Body(refs=[ref], rest=[]))
    writer.commit(Batch(entries=[entry]))
    wait_until(lambda: len(Database(log).query("SELECT id FROM chunks")) == 2, what="erasing")
    assert b"".join(reader.body(entry.record.id, "request") or ()) == b"answered"


def test_pending_feedback_does_not_replace_a_correction(
    log: DatabaseAddress, reader: ClickHouseReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, feedback, entry = ClickHouseWriter(log, a_name()), ClickHouseFeedbackLog(log), an_entry()

    def give(score: float, at: int) -> bool:
        return feedback.add_feedback(entry.record.id, Feedback(source="users", score=score, at=at))

    def unavailable(*_: object) -> None:
        raise StoreUnavailable("not now")

    now = clock.wall_us()
    assert not give(0.0, now)
    with monkeypatch.context() as patch:
        patch.setattr(writer_module, "join_pending", unavailable)
        writer.commit(Batch(entries=[entry]))
    assert give(1.0, now + 1_000_000)
    writer.commit(Batch())
    (record,) = reader.page(EVERYTHING, 9, None, soon()).records
    assert [each.score for each in record.feedback] == [1.0]


@pytest.mark.parametrize("cost", [1e30, -1e30])
def test_an_absurd_cost_is_recorded(log: DatabaseAddress, reader: ClickHouseReader, cost: float) -> None:
    writer = ClickHouseWriter(log, a_name())
    writer.commit(Batch(entries=[an_entry(cost_usd=cost, namespace="web"), an_entry()]))
    rows, _ = reader.namespaces(NamespaceQuery(text="web"), 9, None, soon())
    assert [row.cost_usd for row in rows] == [1e9 if cost > 0 else -1e9]


def test_a_rejected_batch_does_not_delay_the_next(log: DatabaseAddress, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = ClickHouseWriter(log, a_name())

    def rejected(*_: object) -> None:
        raise BatchRejected("a value")

    insert: Callable[..., None] = writer._database.insert
    with monkeypatch.context() as patch:
        patch.setattr(
            writer._database, "insert", lambda table, *rest: (rejected if table == "requests" else insert)(table, *rest)
        )
        with pytest.raises(BatchRejected):
            writer.commit(Batch(entries=[an_entry()]))
    writer.commit(Batch(entries=[an_entry()]))


def test_a_query_can_have_the_ids_of_a_whole_batch(log: DatabaseAddress) -> None:
    """By default, the server rejects queries with more than 256 KiB."""
    database = Database(log)
    ids = [a_name() for _ in range(MAX_ENTRIES)]
    assert database.query("SELECT length(%(ids)s)", {"ids": ids}) == [(len(ids),)]
    database.close()
