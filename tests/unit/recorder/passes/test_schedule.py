"""Test that a failing deletion stops neither retention nor recording."""

from pathlib import Path

import pytest
from tests.support.memory_store import MemoryStore
from tests.support.no_passes import a_reread_pass
from tests.support.records import a_batch, an_entry, soon

from relaybook import clock
from relaybook.log.query.filters import Filter
from relaybook.log.retention import DAY_US, Cutoffs, Retention, Rule
from relaybook.log.store.errors import StoreFull, StoreUnavailable
from relaybook.log.store.port import Retained
from relaybook.recorder.disk_reserve import DiskReserve
from relaybook.recorder.passes import schedule
from relaybook.recorder.passes.imports import ImportPass
from relaybook.recorder.passes.retain import DiskUse, RetainPass
from relaybook.recorder.passes.schedule import Passes
from relaybook.recorder.passes.text import TextPass


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
    retention = RetainPass(Retention(general=Rule(days=5)), store, store, lambda: DiskUse(0, None), settle_ns=0)
    imports, reserve = ImportPass(Path("missing"), store, store, text, 0), DiskReserve(Path("missing"), 0)
    work = Passes(store, text, imports, retention, a_reread_pass(store), reserve)
    forgotten = []
    monkeypatch.setattr(text, "forget", lambda: forgotten.append(1))
    for _ in range(3):
        work.work(1_000_000)
    assert len(store.page(Filter(), 10, None, soon()).records) == 1
    assert store.deletions_tried == 1
    assert len(forgotten) == 2  # after the failure, and after retention removed a request
    monkeypatch.setattr(schedule, "_AGAIN_NS", 0)
    work._not_before_ns.clear()
    work.work(1_000_000)
    assert store.deletions_tried == 2


class FullDisk(MemoryStore):
    """A store on a disk that is full as long as ``file`` exists. Meanwhile, the method named ``fails`` fails."""

    def __init__(self, file: Path, fails: str) -> None:
        super().__init__()
        self._file = file
        self._fails = fails

    def delete(self, until_ns: int) -> int:
        self._reject_if_full("delete")
        return super().delete(until_ns)

    def retain(self, cutoffs: Cutoffs, until_ns: int) -> Retained:
        self._reject_if_full("retain")
        return super().retain(cutoffs, until_ns)

    def _reject_if_full(self, method: str) -> None:
        if method == self._fails and self._file.exists():
            raise StoreFull("full")


@pytest.mark.parametrize("fails", ["delete", "retain"])
def test_on_a_full_disk_the_reserve_is_released_so_that_requests_can_be_removed(tmp_path: Path, fails: str) -> None:
    path = tmp_path / "reserve"
    reserve, store = DiskReserve(path, 1 << 20), FullDisk(path, fails)
    old = clock.wall_us() - 10 * DAY_US
    store.commit(a_batch(an_entry(started_at=old, ended_at=old)))
    reserve.acquire()
    assert path.exists()
    text = TextPass(store, store)
    retention = RetainPass(Retention(general=Rule(days=5)), store, store, lambda: DiskUse(0, None), settle_ns=0)
    work = Passes(
        store, text, ImportPass(Path("missing"), store, store, text, 0), retention, a_reread_pass(store), reserve
    )
    for _ in range(3):
        work.work(1_000_000)
    assert not path.exists()
    assert store.page(Filter(), 10, None, soon()).records == []
