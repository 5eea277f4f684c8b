"""Test that a failing deletion stops neither retention nor recording."""

from pathlib import Path

import pytest
from tests.support.records import a_batch, an_entry, soon

from relaybook import clock
from relaybook.log.query.filters import Filter
from relaybook.log.retention import DAY_US, Retention, Rule
from relaybook.log.store.errors import StoreUnavailable
from relaybook.log.store.memory import MemoryStore
from relaybook.recorder import background
from relaybook.recorder.background import BackgroundWork
from relaybook.recorder.import_queue import ImportQueue
from relaybook.recorder.retention_schedule import DiskUse, RetentionSchedule
from relaybook.recorder.text_pass import TextPass


class FailingDeletions(MemoryStore):
    """A store whose deletions fail."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error
        self.deletions_tried = 0

    def delete(self, until_ns: int) -> int:
        self.deletions_tried += 1
        raise self.error


@pytest.mark.parametrize("error", [StoreUnavailable("busy"), RuntimeError("a bug")])
def test_a_failing_deletion_pauses_and_retention_goes_on(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    store = FailingDeletions(error)
    now = clock.wall_us()
    old = now - 10 * DAY_US
    store.commit(a_batch(an_entry(started_at=old, ended_at=old), an_entry(started_at=now, ended_at=now)))
    text = TextPass(store, store)
    retention = RetentionSchedule(Retention(general=Rule(days=5)), store, store, lambda: DiskUse(0, None), settle_ns=0)
    work = BackgroundWork(store, text, ImportQueue(Path("missing"), store, store, text, 0), retention)
    forgotten = []
    monkeypatch.setattr(text, "forget", lambda: forgotten.append(1))
    for _ in range(3):
        work.work(1_000_000)
    assert len(store.page(Filter(), 10, None, soon()).records) == 1
    assert store.deletions_tried == 1
    assert len(forgotten) == 2  # after the failure, and after retention removed a request
    monkeypatch.setattr(background, "_REMOVE_AGAIN_NS", 0)
    work._not_before_ns.clear()
    work.work(1_000_000)
    assert store.deletions_tried == 2
