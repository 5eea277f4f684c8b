"""Test when retention runs.

Retention runs after midnight if the clock is trusted, and whenever the log uses too much disk space.
"""

from collections.abc import Iterator

import pytest
from tests.support.memory_store import MemoryStore
from tests.support.records import A_TIMESTAMP, a_batch, an_entry, soon

from relaybook import clock
from relaybook.log.query.filters import Filter
from relaybook.log.retention import DAY_US, Retention, Rule
from relaybook.log.store.errors import StoreUnavailable
from relaybook.log.store.port import Batch, Retained
from relaybook.recorder.passes.retain import DiskUse, RetainPass, disk_budget

GIB = 1 << 30
NOON = A_TIMESTAMP - A_TIMESTAMP % DAY_US + DAY_US // 2
SECOND_NS = 1_000_000_000


class Times:
    """Fake wall and monotonic clocks that move only when ``pass_`` is called."""

    def __init__(self) -> None:
        self.wall_us = NOON
        self.monotonic_ns = 1_000 * SECOND_NS

    def pass_(self, seconds: float) -> None:
        self.wall_us += int(seconds * 1_000_000)
        self.monotonic_ns += int(seconds * SECOND_NS)


@pytest.fixture
def times(monkeypatch: pytest.MonkeyPatch) -> Iterator[Times]:
    times = Times()
    monkeypatch.setattr(clock, "wall_us", lambda: times.wall_us)
    monkeypatch.setattr(clock, "monotonic_ns", lambda: times.monotonic_ns)
    return times


def a_log(*days_ago: float) -> MemoryStore:
    store = MemoryStore()
    for days in days_ago:
        at = NOON - int(days * DAY_US)
        store.commit(a_batch(an_entry(started_at=at, ended_at=at)))
    return store


def left(store: MemoryStore) -> list[tuple[int, str]]:
    """Return the age in hours and the body state of the remaining requests, newest first."""
    records = store.page(Filter(), 100, None, soon()).records
    return [((NOON - record.started_at) * 24 // DAY_US, record.body_state) for record in records]


def schedule(store: MemoryStore, rule: Rule) -> RetainPass:
    return RetainPass(Retention(general=rule), store, store, lambda: DiskUse(0, None))


def test_a_day_counts_after_the_clock_has_shown_it_for_ten_minutes(times: Times) -> None:
    store = a_log(3, 2, 1, 0)
    retention = schedule(store, Rule(days=2))
    assert not retention.work(soon())
    times.pass_(599)
    assert not retention.work(soon())
    times.pass_(2)
    assert retention.work(soon())
    assert left(store) == [(0, "stored"), (24, "stored"), (48, "stored")]
    assert not retention.work(soon())
    times.pass_(12 * 3600)
    assert not retention.work(soon())
    times.pass_(600)
    assert retention.work(soon())
    assert left(store) == [(0, "stored"), (24, "stored")]


def test_a_clock_that_is_wrong_for_a_few_minutes_removes_nothing(times: Times) -> None:
    store = a_log(1, 0)
    retention = schedule(store, Rule(days=2))
    times.wall_us += 3650 * DAY_US
    for _ in range(9):
        assert not retention.work(soon())
        times.pass_(60)
    times.wall_us -= 3650 * DAY_US
    for _ in range(30):
        assert not retention.work(soon())
        times.pass_(60)
    assert len(left(store)) == 2


class Disk:
    """A fake disk. Each request with content takes 10 bytes, and each request without content takes 1 byte."""

    def __init__(self, store: MemoryStore, budget: int | None) -> None:
        self._store = store
        self.budget = budget

    def use(self) -> DiskUse:
        return DiskUse(sum(10 if state == "stored" else 1 for _, state in left(self._store)), self.budget)


def shrink(retention: RetainPass, times: Times) -> None:
    """Run the schedule until it has had no work for one minute."""
    idle = 0
    while idle < 6:
        idle = 0 if retention.work(soon()) else idle + 1
        retention.check_budget()
        times.pass_(10)


def test_a_request_that_runs_over_midnight_does_not_stop_the_budget(times: Times) -> None:
    store = MemoryStore()
    midnight = NOON - 3 * DAY_US - DAY_US // 2
    store.commit(a_batch(an_entry(started_at=midnight - 60_000_000, ended_at=midnight + 60_000_000)))
    for days in (2, 1, 0.5):
        at = NOON - int(days * DAY_US)
        store.commit(a_batch(an_entry(started_at=at, ended_at=at)))
    disk = Disk(store, 12)
    shrink(RetainPass(Retention(), store, store, disk.use), times)
    assert disk.use().used <= 12


def test_a_log_over_its_budget_loses_its_oldest_content_then_its_oldest_requests(times: Times) -> None:
    store = a_log(5, 4.1, 4, 3, 0.6, 0.2, 0.01)
    disk = Disk(store, 70)
    retention = RetainPass(Retention(), store, store, disk.use)
    shrink(retention, times)
    assert len(left(store)) == 7  # the log uses 70 bytes, which is within the budget
    disk.budget = 60
    shrink(retention, times)
    assert [state for _, state in left(store)] == ["stored"] * 5 + ["expired"] * 2
    assert disk.use().used <= 57
    disk.budget = 27
    shrink(retention, times)
    assert [state for _, state in left(store)].count("stored") == 2
    disk.budget = 17
    shrink(retention, times)
    assert left(store)[0] == (0, "stored")
    disk.budget = 1
    at = times.wall_us
    store.commit(a_batch(an_entry(started_at=at, ended_at=at)))
    retention.check_budget()
    retention.work(soon())
    assert left(store)[0][1] == "stored"  # content from the last minute is kept
    shrink(retention, times)
    assert [hours for hours, _ in left(store)] == [-1, 0]  # requests from the last hour are kept
    removal = store.status().last_removal
    assert removal is not None
    assert removal.reason == "disk_budget"


@pytest.mark.parametrize("hours", [0.15, 0.5, 0.9, 2, 23, 25, 30, 47, 72, 30 * 24, 300 * 24])
@pytest.mark.parametrize("budget", [2900, 1500, 400])
def test_removal_stops_close_to_the_target(times: Times, hours: float, budget: int) -> None:
    """Content takes 9 bytes per request, and requests take 1 byte each and are spread evenly over the last hours."""
    store, number = MemoryStore(), 300
    starts = [NOON - 61_000_000 - int(at * hours * 3_600_000_000 / number) for at in range(number, 0, -1)]
    store.commit(Batch(entries=[an_entry(started_at=at, ended_at=at) for at in starts]))

    def use() -> DiskUse:
        states = [record.body_state for record in store.page(Filter(), number, None, soon()).records]
        return DiskUse(len(states) + 9 * states.count("stored"), budget)

    retention = RetainPass(Retention(), store, store, use)
    idle = 0
    while idle < 15:
        idle = 0 if retention.work(soon()) else idle + 1
        retention.check_budget()
        times.pass_(1)
    assert 0.95 * budget - 0.03 * 3000 <= use().used <= 0.95 * budget


def test_nothing_is_removed_without_a_budget(times: Times) -> None:
    store = a_log(900, 3)
    retention = RetainPass(Retention(), store, store, Disk(store, None).use)
    shrink(retention, times)
    assert len(left(store)) == 2


@pytest.mark.parametrize(
    ("setting", "used", "free", "size", "budget"),
    [
        ("none", 5 * GIB, 0, 100 * GIB, None),
        (7 * GIB, 5 * GIB, 0, 100 * GIB, 7 * GIB),
        ("auto", 5 * GIB, 20 * GIB, 40 * GIB, 19 * GIB),  # 6 GiB (15 % of the disk) stay free
        ("auto", 5 * GIB, 20 * GIB, 400 * GIB, 17 * GIB),  # 8 GiB stay free
        ("auto", 5 * GIB, 20 * GIB, 10 * GIB, 23 * GIB),  # twice ``min_free`` stays free
        ("auto", 5 * GIB, 1 * GIB, 40 * GIB, 1 * GIB),  # other programs have filled the disk
        ("auto", 0, GIB, 40 * GIB, GIB // 2),
    ],
)
def test_the_budget_depends_on_the_file_system(
    setting: int | str, used: int, free: int, size: int, budget: int | None
) -> None:
    assert disk_budget(setting, used, free, size, min_free=GIB) == budget


def test_an_unavailable_store_is_tried_again(times: Times, caplog: pytest.LogCaptureFixture) -> None:
    class Locked(MemoryStore):
        is_locked = True

        def retain(self, *arguments: object) -> Retained:
            if self.is_locked:
                raise StoreUnavailable("another program is using the database")
            return super().retain(*arguments)  # type: ignore[arg-type]

    store = Locked()
    at = NOON - 9 * DAY_US
    store.commit(a_batch(an_entry(started_at=at, ended_at=at)))
    retention = schedule(store, Rule(days=2))
    retention.work(soon())
    times.pass_(601)
    assert retention.work(soon())  # requests may have been removed before the failure
    assert [record.message for record in caplog.records][-1] == "retention_delayed"
    store.is_locked = False
    assert not retention.work(soon())  # retention pauses after the failure
    times.pass_(5)
    assert retention.work(soon())
    assert left(store) == []
