"""The recorder adds the batches of a running import. Faults delay the import, but do not stop recording."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.memory_store import MemoryStore
from tests.support.records import an_entry, traffic

from relaybook import clock
from relaybook.log.store.errors import BatchRejected, StoreUnavailable
from relaybook.log.store.port import Batch
from relaybook.recorder.passes.imports import ImportPass, ImportSender, Outcome
from relaybook.recorder.passes.text import TextPass
from relaybook.system import disk


class Failing(MemoryStore):
    """A store that fails while ``error`` is set, and that rejects requests of the model "rejected"."""

    error: Exception | None = None

    def commit(self, batch: Batch) -> None:
        if self.error:
            raise self.error
        if any(entry.record.model == "rejected" for entry in batch.entries):
            raise BatchRejected("no")
        super().commit(batch)


@pytest.fixture
def store() -> Failing:
    return Failing()


@pytest.fixture
def queue(tmp_path: Path, store: Failing) -> ImportPass:
    return ImportPass(tmp_path / "imports", store, store, TextPass(store, None), 1 << 20)


@pytest.fixture
def open_sender(tmp_path: Path) -> Callable[[], ImportSender]:
    def open_() -> ImportSender:
        sender = ImportSender.open(tmp_path / "imports")
        assert sender is not None
        return sender

    return open_


def test_without_an_import_there_is_nothing_to_do(
    queue: ImportPass, open_sender: Callable[[], ImportSender], tmp_path: Path
) -> None:
    assert not queue.work(0)
    open_sender().close()
    assert not queue.work(0)
    assert not queue.is_open


def test_a_batch_is_added_with_each_call_after_the_time_limit(
    queue: ImportPass, store: Failing, open_sender: Callable[[], ImportSender]
) -> None:
    sender, make = open_sender(), traffic(1)
    for _ in range(3):
        sender.send([make(), make()])
    assert sender.outcome(1) is None
    assert queue.work(0)
    assert queue.is_open
    assert (sender.outcome(1), sender.outcome(2)) == (Outcome(added=2), None)
    assert queue.work(clock.monotonic_ns() + 10 * clock.NANOSECONDS)
    assert [sender.outcome(2), sender.outcome(3)] == [Outcome(added=2)] * 2
    assert not queue.work(0)
    assert store.status().records == 6
    sender.close()


def test_stored_requests_are_not_counted_as_added(
    queue: ImportPass, store: Failing, open_sender: Callable[[], ImportSender]
) -> None:
    sender, stored = open_sender(), an_entry()
    store.commit(Batch(entries=[stored]))
    new = an_entry()
    sender.send([stored, new, new])
    queue.work(0)
    assert sender.outcome(1) == Outcome(added=1)
    assert store.status().records == 2
    sender.close()


def test_rejected_requests_are_named(
    queue: ImportPass, store: Failing, open_sender: Callable[[], ImportSender]
) -> None:
    sender = open_sender()
    sender.send([an_entry(), an_entry(model="rejected"), an_entry()])
    queue.work(0)
    outcome = sender.outcome(1)
    assert outcome == Outcome(added=2, rejected={1: "no"})
    sender.close()


def test_an_unavailable_store_delays_the_import(
    queue: ImportPass,
    store: Failing,
    open_sender: Callable[[], ImportSender],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sender = open_sender()
    sender.send([an_entry()])
    store.error = StoreUnavailable("The disk is full.")
    assert not queue.work(0)
    store.error = None
    assert not queue.work(0)
    assert [record.message for record in caplog.records] == ["import_delayed"]
    later = clock.monotonic_ns() + 6 * clock.NANOSECONDS
    monkeypatch.setattr(clock, "monotonic_ns", lambda: later)
    assert queue.work(0)
    assert sender.outcome(1) == Outcome(added=1)
    sender.close()


def test_a_defect_fails_the_batch_and_is_logged(
    queue: ImportPass, store: Failing, open_sender: Callable[[], ImportSender], caplog: pytest.LogCaptureFixture
) -> None:
    sender = open_sender()
    sender.send([an_entry()])
    store.error = ZeroDivisionError("division by zero")
    assert queue.work(0)
    failure = "Because of a defect in Relaybook, requests could not be added: division by zero."
    assert sender.outcome(1) == Outcome(failure=failure)
    assert [record.message for record in caplog.records] == ["import_failed"]
    sender.close()


def test_nothing_is_imported_while_the_disk_is_nearly_full(
    queue: ImportPass, store: Failing, open_sender: Callable[[], ImportSender], monkeypatch: pytest.MonkeyPatch
) -> None:
    sender = open_sender()
    sender.send([an_entry()])
    monkeypatch.setattr(disk, "free_bytes", lambda _: (2 << 20) - 1)
    queue.work(0)
    assert sender.outcome(1) == Outcome(
        failure="Requests were not added, because the server's disk has less free space than twice min_free. "
        "Free disk space."
    )
    assert store.status().records == 0
    sender.close()


def test_the_files_of_an_import_that_has_ended_are_deleted(
    queue: ImportPass, open_sender: Callable[[], ImportSender], tmp_path: Path
) -> None:
    sender = open_sender()
    sender.send([an_entry()])
    (tmp_path / "imports" / "000000000002.batch.new").write_bytes(b"incomplete")
    release(sender)
    assert not queue.work(0)
    assert [path.name for path in (tmp_path / "imports").iterdir()] == ["lock"]


def release(sender: ImportSender) -> None:
    """Release the lock without deleting files, as if the command were killed."""
    os.close(sender._lock)


def test_only_one_import_runs_at_a_time(open_sender: Callable[[], ImportSender], tmp_path: Path) -> None:
    sender = open_sender()
    assert ImportSender.open(tmp_path / "imports") is None
    sender.close()
    open_sender().close()
