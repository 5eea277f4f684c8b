"""The recorder's loop on a real journal: every exchange is recorded once, completely and in order, despite crashes."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.support.frames import opened
from tests.support.memory_store import MemoryStore
from tests.support.no_passes import no_passes
from tests.support.records import an_entry

from relaybook import clock
from relaybook.ids import id_text, new_id
from relaybook.journal import segment
from relaybook.journal.events import Closed, RefusalCounts, ResponseBegin, encode_event
from relaybook.journal.frame import NO_EXCHANGE, FrameKind
from relaybook.journal.reader import RunReader, list_runs
from relaybook.journal.segment import segment_path, sequences
from relaybook.journal.writer import JournalWriter
from relaybook.log.prices import Prices
from relaybook.log.query.filters import Filter
from relaybook.log.record import Record
from relaybook.log.store.errors import BatchRejected, StoreUnavailable
from relaybook.log.store.port import Batch, Running
from relaybook.log.store.sqlite.reader import SqliteReader
from relaybook.log.store.sqlite.writer import SqliteWriter
from relaybook.log.store.status import RunPosition
from relaybook.recorder import loop, running
from relaybook.recorder.body_policy import BodyPolicy
from relaybook.recorder.crash_guard import CrashGuard
from relaybook.recorder.disk_reserve import DiskReserve
from relaybook.recorder.entry_builder import EntryBuilder
from relaybook.recorder.loop import Recorder
from relaybook.recorder.metrics import Metrics
from relaybook.recorder.passes.text import TextPass
from relaybook.recorder.quarantine import Quarantine
from relaybook.recorder.retry import Retry, RetryAborted

MIB = 1 << 20


class World:
    """A journal with one writer, a store, and recorders that are started and stopped."""

    def __init__(self, path: Path, store: Any = None) -> None:
        self.path = path
        self.journal = path / "journal"
        self.store = store or MemoryStore()
        self.writer = JournalWriter(self.journal, MIB, durable=False)

    def recorder(self, stop_requests: Callable[[], int] = lambda: 1, max_runs: int = 100) -> Recorder:
        entry_builder = EntryBuilder(Prices(), self.store.read_body)
        body_policy = BodyPolicy(self.store.write_body, self.store.read_body, 16 * MIB)
        quarantine, crash_guard = Quarantine(self.path / "quarantine"), CrashGuard(self.path)
        retry, metrics = Retry(DiskReserve(self.path / "reserve", 0), stop_requests), Metrics(self.path / "figures")
        return Recorder(
            self.journal,
            self.store,
            retry,
            entry_builder,
            body_policy,
            quarantine,
            crash_guard,
            metrics,
            no_passes(self.store),
            max_runs=max_runs,
        )

    def put(self, kind: FrameKind, exchange: bytes, payload: bytes = b"") -> None:
        self.writer.append(kind, exchange, payload)
        self.writer.write()

    def open(self, **fields: Any) -> bytes:
        exchange = new_id()
        self.put(FrameKind.OPENED, exchange, encode_event(opened(**fields)))
        return exchange

    def close(self, exchange: bytes) -> None:
        self.put(FrameKind.REQUEST_END, exchange)
        self.put(FrameKind.RESPONSE_BEGIN, exchange, encode_event(ResponseBegin(200, b"OK", b"")))
        self.put(FrameKind.RECEIVED, exchange, b"answer")
        self.put(FrameKind.CLOSED, exchange, encode_event(Closed("complete")))

    def records(self) -> list[Record]:
        return list(self.store.since(0, _ALL, 10_000)[0])


_ALL = Filter()


def run_until_idle(recorder: Recorder) -> None:
    """Run a recorder until it has read and committed everything."""
    recorder.run()


def test_more_runs_than_can_be_open_are_recorded_one_after_the_other(tmp_path: Path) -> None:
    world = World(tmp_path)
    for _ in range(7):
        world.close(world.open())
        world.writer.close()
        world.writer = JournalWriter(world.journal, MIB, durable=False)
    recorder = world.recorder(max_runs=3)
    recorder.step()
    assert len(recorder._runs) == 3
    run_until_idle(recorder)
    assert len(world.records()) == 7
    assert list_runs(world.journal) == [world.writer.path]


def test_a_recorder_starts_although_the_store_fails_at_first(tmp_path: Path) -> None:
    class Failing(MemoryStore):
        failures = 2

        def positions(self) -> dict[str, RunPosition]:
            self.failures -= 1
            if self.failures >= 0:
                raise StoreUnavailable("the disk failed to read")
            return super().positions()

    world = World(tmp_path, Failing())
    world.close(world.open())
    run_until_idle(world.recorder())
    assert len(world.records()) == 1


def test_exchanges_in_the_journal_are_recorded_once_and_a_finished_run_is_deleted(tmp_path: Path) -> None:
    world = World(tmp_path)
    for number in range(20):
        world.close(world.open(namespace=f"n{number % 3}"))
    recorder = world.recorder()
    run_until_idle(recorder)
    assert [record.outcome for record in world.records()] == ["complete"] * 20
    cut = world.open(namespace="cut")
    world.writer.close()
    run_until_idle(recorder)
    run_until_idle(recorder)
    assert world.records()[-1].outcome == "interrupted"
    assert world.records()[-1].id.replace("-", "") == cut.hex()
    assert list_runs(world.journal) == []
    assert world.store.positions() == {}


class SlowStore(MemoryStore):
    """A store that runs a function while it commits requests, as if the commit took long."""

    def __init__(self, meanwhile: Callable[[], None]) -> None:
        super().__init__()
        self._meanwhile = meanwhile

    def commit(self, batch: Batch) -> None:
        super().commit(batch)
        if batch.entries:
            self._meanwhile()


def test_requests_that_the_relay_logs_during_a_commit_before_the_stop_are_recorded(tmp_path: Path) -> None:
    stop_requests = 0

    def end_relay() -> None:
        nonlocal stop_requests
        if not stop_requests:
            world.close(world.open(namespace="last"))
            world.writer.close()
            other = JournalWriter(world.journal, MIB, durable=False)  # of a relay that has just started
            other.append(FrameKind.OPENED, new_id(), encode_event(opened(namespace="other")))
            other.close()
            stop_requests = 1

    world = World(tmp_path, SlowStore(end_relay))
    recorder = world.recorder(lambda: stop_requests)
    recorder.step()
    world.close(world.open(namespace="first"))
    recorder.run()
    assert [record.namespace for record in world.records()] == ["first", "last", "other"]
    assert list_runs(world.journal) == []


def test_a_store_with_expensive_commits_gets_one_per_interval(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world, now_ns = World(tmp_path), clock.monotonic_ns()
    world.store.commit_interval_ns = clock.NANOSECONDS
    monkeypatch.setattr(clock, "monotonic_ns", lambda: now_ns)
    recorder = world.recorder()
    recorder.step()
    found = []
    for _ in range(16):
        world.close(world.open())
        now_ns += clock.NANOSECONDS // 4
        recorder.step()
        recorder.step()
        found.append(len(world.records()))
    assert found == [0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12, 16]
    world.close(world.open())
    recorder.run()
    assert len(world.records()) == 17


@pytest.mark.parametrize("seed", range(12))
def test_a_recorder_that_crashes_anywhere_loses_and_duplicates_nothing(tmp_path: Path, seed: int) -> None:
    world = World(tmp_path)
    recorder = world.recorder()
    running: list[bytes] = []
    sent: list[bytes] = []
    for number in range(60):
        running.append(world.open(namespace=str(number)))
        sent.append(running[-1])
        world.put(FrameKind.SENT, running[-1], bytes([number]) * 30_000)
        if number % 3:
            world.close(running.pop((number * (seed + 3)) % len(running)))
        if (number + seed) % 5 == 0:
            recorder.step()
        if (number + seed) % 7 == 0:
            run_until_idle(recorder)
        if (number + seed) % 11 == 0:  # A crash loses everything that was read but not committed.
            recorder = world.recorder()
    for exchange in running:
        world.close(exchange)
    recorder = world.recorder()
    run_until_idle(recorder)
    found = [record.id.replace("-", "") for record in world.records()]
    assert sorted(found) == sorted(exchange.hex() for exchange in sent)
    for number, exchange in enumerate(sent):
        text = next(record.id for record in world.records() if record.id.replace("-", "") == exchange.hex())
        assert b"".join(world.store.body(text, "request")) == bytes([number]) * 30_000
        assert b"".join(world.store.body(text, "response")) == b"answer"


def test_an_open_exchange_does_not_keep_the_journal_from_being_deleted(tmp_path: Path) -> None:
    store = SqliteWriter(tmp_path / "store")
    world = World(tmp_path, store)
    recorder = world.recorder()
    slow_exchange = world.open(namespace="trickle")
    world.put(FrameKind.REQUEST_END, slow_exchange)
    world.put(FrameKind.RESPONSE_BEGIN, slow_exchange, encode_event(ResponseBegin(200, b"OK", b"")))
    for number in range(12):
        world.put(FrameKind.RECEIVED, slow_exchange, b"%02d" % number)
        busy = world.open(namespace="busy")
        for _ in range(20):
            world.put(FrameKind.SENT, busy, b"x" * 60_000)
        world.close(busy)
        run_until_idle(recorder)
        # These are the segment being read, the segment being written, the spare, and one segment in between.
        assert len(sequences(world.writer.path)) <= 4
    recorder = world.recorder()  # a crash and a restart during the exchange
    world.put(FrameKind.CLOSED, slow_exchange, encode_event(Closed("complete")))
    run_until_idle(recorder)
    reader = SqliteReader(tmp_path / "store")
    records, _ = reader.since(0, _ALL, 100)
    assert [record.namespace for record in records] == ["busy"] * 12 + ["trickle"]
    body = reader.body(records[-1].id, "response")
    assert body is not None
    assert b"".join(body) == b"".join(b"%02d" % number for number in range(12))
    reader.close()
    store.close()


def test_a_bug_in_removing_does_not_stop_recording(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    class Defective(MemoryStore):
        def delete(self, until_ns: int) -> int:
            raise ZeroDivisionError

    world = World(tmp_path, Defective())
    recorder = world.recorder()
    world.close(world.open())
    run_until_idle(recorder)
    recorder._passes.work(1_000_000)
    world.close(world.open())
    run_until_idle(recorder)
    assert world.store.status().records == 2
    assert [record.message for record in caplog.records] == ["pass_failed"]


def test_a_recorder_that_is_behind_indexes_the_texts_that_it_has_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "_MANY_FRAMES", 10)
    monkeypatch.setattr(loop, "COMMIT_AFTER_NS", 0)
    world = World(tmp_path)
    recorder = world.recorder()
    recorder._passes._text = TextPass(world.store, world.store)
    for _ in range(5):
        world.close(world.open())
    assert recorder.step()
    assert recorder._is_behind
    assert world.store.indexed_to() == 5


def test_segments_that_a_killed_recorder_did_not_remove_are_removed_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(RunReader, "remove_before", lambda *_: 0)  # as if the recorder were killed after each commit
        recorder = world.recorder()
        for _ in range(40):
            exchange = world.open()
            world.put(FrameKind.SENT, exchange, b"x" * 60_000)
            world.close(exchange)
        run_until_idle(recorder)
    assert sequences(world.writer.path)[0] == 1
    run_until_idle(world.recorder())
    assert sequences(world.writer.path)[0] > 1


def test_a_large_body_is_stored_completely_without_being_held_in_memory(tmp_path: Path) -> None:
    store = SqliteWriter(tmp_path / "store")
    world = World(tmp_path, store)
    recorder = world.recorder()
    large = world.open()
    for number in range(200):
        world.put(FrameKind.SENT, large, bytes([number]) * 60_000)
        if number % 20 == 0:
            recorder.step()
            run = next(iter(recorder._runs.values()))
            assert all(exchange.held <= 4 * MIB for exchange in run.fold.open.values())
    world.close(large)
    run_until_idle(recorder)
    reader = SqliteReader(tmp_path / "store")
    records, _ = reader.since(0, _ALL, 10)
    body = reader.body(records[0].id, "request")
    assert body is not None
    assert b"".join(body) == b"".join(bytes([number]) * 60_000 for number in range(200))
    assert records[0].request_bytes == 200 * 60_000
    reader.close()
    store.close()


def test_the_state_of_a_moved_body_is_written_only_when_more_bytes_are_moved(tmp_path: Path) -> None:
    """After a crash, the bytes that are not in that state are read again from the journal."""
    saved: list[int] = []

    class Counting(MemoryStore):
        def commit(self, batch: Batch) -> None:
            super().commit(batch)
            saved.append(len(batch.checkpoints))

    world = World(tmp_path, Counting())
    world.writer.close()
    world.writer = JournalWriter(world.journal, 16 * MIB, durable=False)
    exchange = world.open()
    recorder = world.recorder()
    for number in range(100):
        world.put(FrameKind.SENT, exchange, bytes([number]) * 10_000)
        run_until_idle(recorder)
        if number % 10 == 9:
            recorder = world.recorder()  # a crash
    assert sum(saved) == 3
    world.close(exchange)
    run_until_idle(recorder)
    (record,) = world.records()
    body = world.store.body(record.id, "request")
    assert b"".join(body) == b"".join(bytes([number]) * 10_000 for number in range(100))


class FailingStore(MemoryStore):
    """A store that raises the given errors."""

    def __init__(self) -> None:
        super().__init__()
        self.unavailable = 0
        self.rejects = b""

    def commit(self, batch: Batch) -> None:
        if self.unavailable:
            self.unavailable -= 1
            raise StoreUnavailable("the disk is full")
        if self.rejects and any(self.rejects.hex() == entry.record.id.replace("-", "") for entry in batch.entries):
            raise BatchRejected("a value no store can take")
        super().commit(batch)


def test_errors_of_the_environment_are_retried_until_they_pass(tmp_path: Path) -> None:
    world = World(tmp_path, FailingStore())
    world.close(world.open())
    world.store.unavailable = 2
    run_until_idle(world.recorder())
    assert len(world.records()) == 1


def test_only_errors_caused_by_the_data_lead_to_quarantine(tmp_path: Path) -> None:
    world = World(tmp_path, FailingStore())
    exchanges = [world.open() for _ in range(5)]
    world.store.rejects = exchanges[2]
    for exchange in exchanges:
        world.close(exchange)
    run_until_idle(world.recorder())
    assert len(world.records()) == 4
    assert len(list((tmp_path / "quarantine").iterdir())) == 1


def test_a_rejected_request_with_a_checkpoint_does_not_come_back_after_a_restart(tmp_path: Path) -> None:
    world = World(tmp_path, FailingStore())
    long = world.store.rejects = world.open()
    for _ in range(2 * MIB // 100_000 + 1):
        world.put(FrameKind.REQUEST_END, long, b"x" * 100_000)
    run_until_idle(world.recorder())
    (run,) = world.store.positions()
    assert len(world.store.checkpoints(run)) == 1
    world.close(long)
    run_until_idle(world.recorder())
    (file,) = (tmp_path / "quarantine").iterdir()
    saved = file.read_bytes()
    assert world.store.checkpoints(run) == []
    recorder = world.recorder()
    world.writer.close()
    run_until_idle(recorder)
    run_until_idle(recorder)
    assert file.read_bytes() == saved
    assert world.records() == []


def test_a_stop_while_a_body_cannot_be_read_back_is_not_a_crash(tmp_path: Path) -> None:
    class Unreadable(MemoryStore):
        def read_body(self, *_: Any) -> bytes:
            raise RetryAborted

    world = World(tmp_path, Unreadable())
    recorder = world.recorder()
    exchange = world.open()
    for _ in range(6):
        world.put(FrameKind.SENT, exchange, b"x" * 60_000)
    recorder.step()
    world.close(exchange)
    recorder.run()
    world.recorder()
    assert not (tmp_path / "recorder.crashes").exists()


def test_rejected_requests_are_counted_and_gaps_are_recorded(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.put(
        FrameKind.COUNTED,
        NO_EXCHANGE,
        encode_event(RefusalCounts(1000, 2000, {"overloaded": 3, "log_unavailable": 2}, 5)),
    )
    run_until_idle(world.recorder())
    run_until_idle(world.recorder())
    assert world.store.status().refused == {"overloaded": 3, "log_unavailable": 2}
    assert sorted((gap.reason, gap.count) for gap in world.store.gaps(0)) == [
        ("forwarded_unlogged", 5),
        ("log_unavailable", 2),
    ]


def test_running_requests_of_an_earlier_recorder_disappear(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.store.commit(Batch(running=[Running(record=an_entry(b"", outcome="open").record)]))
    run_until_idle(world.recorder())
    assert world.store.running(_ALL) == []


def test_a_running_request_is_listed_until_it_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "_AFTER_NS", 0)
    monkeypatch.setattr(running, "_EVERY_NS", 0)
    world = World(tmp_path)
    recorder = world.recorder()
    exchange = world.open(namespace="slow")
    run_until_idle(recorder)
    assert [record.namespace for record in world.store.running(_ALL)] == ["slow"]
    assert world.records() == []
    world.close(exchange)
    run_until_idle(recorder)
    assert world.store.running(_ALL) == []
    assert len(world.records()) == 1


def test_bodies_of_a_running_request_are_stored_as_they_arrive_except_those_that_must_not_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "_AFTER_NS", 0)
    monkeypatch.setattr(running, "_EVERY_NS", 0)
    world = World(tmp_path)
    recorder = world.recorder()
    running_ids, no_bodies = world.open(), world.open(log="no-bodies")
    for exchange in (running_ids, no_bodies):
        world.put(FrameKind.SENT, exchange, b"asked")
        world.put(FrameKind.RESPONSE_BEGIN, exchange, encode_event(ResponseBegin(200, b"OK", b"a: b")))
    for so_far in (b"s", b"so", b"so far"):
        for exchange in (running_ids, no_bodies):
            world.put(FrameKind.RECEIVED, exchange, so_far[-1:] if len(so_far) < 3 else so_far[2:])
        run_until_idle(recorder)
        found = world.store.open_request(id_text(running_ids))
        assert (found.request, found.response) == (b"asked", so_far)
        assert found.detail.response_headers == [("a", "b")]
        hidden = world.store.open_request(id_text(no_bodies))
        assert (hidden.record.body_state, hidden.detail, hidden.request, hidden.response) == (
            "no_bodies",
            None,
            None,
            None,
        )
    world.close(running_ids)
    run_until_idle(recorder)
    assert world.store.open_request(id_text(running_ids)) is None
    assert world.store.open_request(id_text(no_bodies)) is not None


def test_an_idle_recorder_polls_the_mark_and_twice_a_second_all_of_the_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(tmp_path)
    now_ns, pauses, read_at, recorded_at = clock.monotonic_ns(), 0, [], []
    read = RunReader.read

    def sleep(seconds: float) -> None:
        nonlocal now_ns, pauses
        now_ns += int(seconds * 1e9)
        pauses += 1
        recorded_at.extend([pauses] if world.records() and not recorded_at else [])
        if pauses == 65:
            world.close(world.open())

    def reading(reader: RunReader) -> list[Any]:
        read_at.append(pauses)
        return read(reader)

    monkeypatch.setattr(clock, "monotonic_ns", lambda: now_ns)
    monkeypatch.setattr(loop, "time", SimpleNamespace(sleep=sleep))
    monkeypatch.setattr(RunReader, "read", reading)
    world.recorder(lambda: int(pauses > 100)).run()
    assert len([pause for pause in read_at if 20 <= pause < 60]) == 4  # of the 40 pauses in two seconds
    assert 65 in read_at
    assert 65 < recorded_at[0] <= 70  # a commit waits 0.2 seconds for more frames


def test_recorded_bodies_are_not_quarantined_again_after_a_restart(tmp_path: Path) -> None:
    """Bodies that are quarantined again would never be erased, even if they must not be kept."""
    world = World(tmp_path)
    world.writer.close()
    world.writer = JournalWriter(world.journal, 64 * MIB, durable=False)
    world.open(namespace="old")  # this exchange stays open, so the journal is read again from here after the restart
    no_bodies = world.open(log="no-bodies")
    for _ in range(100):
        world.put(FrameKind.SENT, no_bodies, bytes(65_000))
    world.close(no_bodies)
    run_until_idle(world.recorder())
    aside: list[bytes] = []
    set_aside = world.store.write_body
    world.store.write_body = lambda data: aside.append(data) or set_aside(data)
    again = world.recorder()
    run_until_idle(again)
    assert aside == []
    position = next(iter(again._runs.values())).position()
    assert position == world.store.positions()[world.writer.path.name]
    assert len(world.records()) == 1


def test_a_loss_in_a_damaged_journal_is_reported_once_despite_restarts(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.open(namespace="old")
    damaged = world.open()
    world.put(FrameKind.SENT, damaged, b"Z" * 300)
    world.close(world.open())
    path = segment_path(world.writer.path, sequences(world.writer.path)[0])
    data = path.read_bytes().replace(b"Z" * 300, b"!" * 300)
    with path.open("r+b") as file:
        file.write(data)
    for _ in range(3):
        run_until_idle(world.recorder())
        assert [(gap.reason, gap.count) for gap in world.store.gaps(0)] == [("damaged", 1)]


def test_a_block_that_the_disk_cannot_read_costs_only_its_frames(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Like the kernel, the read stops before the bad block, and fails if it begins there."""
    world = World(tmp_path)
    for number in range(20):
        exchange = world.open(namespace=str(number))
        world.put(FrameKind.SENT, exchange, bytes(3000))
        world.close(exchange)
    bad, pread = 5 * 4096, os.pread

    def damaged_pread(descriptor: int, size: int, at: int) -> bytes:
        if bad <= at < bad + 4096:
            raise OSError(errno.EIO, "Input/output error")
        return pread(descriptor, min(size, bad - at) if at < bad else size, at)

    monkeypatch.setattr(segment.os, "pread", damaged_pread)
    monkeypatch.setattr(segment, "_PAUSE_SECONDS", 0.0)
    run_until_idle(world.recorder())
    records = world.records()
    bodies = [b"".join(world.store.body(record.id, "request")) for record in records]
    whole = [record.namespace for record, body in zip(records, bodies, strict=True) if body == bytes(3000)]
    assert len(whole) >= 17
    assert whole[-12:] == [str(number) for number in range(8, 20)]
    assert [(gap.reason, gap.count > 0) for gap in world.store.gaps(0)] == [("damaged", True)]


def test_a_run_whose_files_are_not_accessible_delays_no_other_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(loop, "_PAUSE_NS", 0)
    world = World(tmp_path)
    world.close(world.open(namespace="locked"))
    world.writer.close()
    lock = world.writer.path / "lock"
    lock.unlink()
    lock.mkdir()  # opening it fails for every user, even root
    world.writer = JournalWriter(world.journal, MIB, durable=False)
    world.close(world.open(namespace="other"))
    recorder = world.recorder()
    for _ in range(3):
        run_until_idle(recorder)
    assert [record.namespace for record in world.records()] == ["other"]
    assert [record.getMessage() for record in caplog.records] == ["run_unreadable"]
    lock.rmdir()
    run_until_idle(recorder)
    assert [record.namespace for record in world.records()] == ["other", "locked"]


def test_a_run_that_cannot_be_deleted_is_recorded_once_and_delays_no_other_run(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    world = World(tmp_path)
    world.close(world.open(namespace="kept"))
    world.writer.close()
    obstacle = world.writer.path / "directory"
    obstacle.mkdir()
    run_until_idle(world.recorder())
    world.writer = JournalWriter(world.journal, MIB, durable=False)
    world.close(world.open(namespace="other"))
    world.writer.close()
    run_until_idle(world.recorder())
    assert [record.namespace for record in world.records()] == ["kept", "other"]
    assert {record.getMessage() for record in caplog.records} == {"run_unreadable"}
    obstacle.rmdir()
    run_until_idle(world.recorder())
    assert list_runs(world.journal) == []
    assert len(world.records()) == 2
