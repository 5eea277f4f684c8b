"""Test that the gate runs an action only after the journal has all earlier frames."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from relaybook.journal.writer import JournalUnavailable
from relaybook.relay import gate
from relaybook.relay.gate import Gate


class Journal:
    """A fake journal that writes to a list and can fail."""

    def __init__(self) -> None:
        self.events: list[Any] = []
        self.batch: list[bytes] = []
        self.fails = False
        self.sync_fails = False
        self.sync_allowed = threading.Event()
        self.sync_allowed.set()

    def append(self, kind: int, exchange: bytes, payload: bytes) -> None:
        self.batch.append(payload)

    @property
    def waiting(self) -> bool:
        return bool(self.batch)

    def write(self) -> None:
        batch, self.batch = self.batch, []
        if self.fails:
            raise JournalUnavailable("full")
        self.events.append(("write", tuple(batch)))

    def sync(self) -> None:
        self.sync_allowed.wait(10)
        if self.sync_fails:
            raise OSError(5, "Input/output error")
        self.events.append("sync")

    def write_unsynced_again(self) -> None:
        if self.fails:
            raise JournalUnavailable("full")
        self.events.append("again")

    def tick(self) -> None:
        self.events.append("tick")


class World:
    """A gate with a fake journal. Actions and journal writes are appended to one shared list."""

    def __init__(self, *, durable: bool = False) -> None:
        self.journal = Journal()
        self.failures: list[str] = []
        self.continue_on_failure = False
        self.gate = Gate(
            asyncio.get_running_loop(),
            self.journal,  # type: ignore[arg-type]
            durable=durable,
            on_failure=self.failed,
        )

    @property
    def events(self) -> list[Any]:
        return self.journal.events

    def act(self, data: bytes) -> None:
        self.events.append(data)

    def failed(self, error: JournalUnavailable) -> bool:
        self.failures.append(str(error))
        return self.continue_on_failure

    async def settle(self, done: Callable[[], bool] = lambda: True) -> None:
        for _ in range(3):
            await asyncio.sleep(0)
        async with asyncio.timeout(5):
            while not done():
                await asyncio.sleep(0.001)


def test_one_write_per_iteration_and_then_its_actions_in_order() -> None:
    async def main() -> None:
        world = World()
        world.gate.frame(1, b"", b"a")
        world.gate.then(world.act, b"1")
        world.gate.frame(1, b"", b"b")
        world.gate.then(world.act, b"2")
        assert world.events == []
        await world.settle()
        assert world.events == [("write", (b"a", b"b")), b"1", b"2"]

    asyncio.run(main())


def test_frames_and_actions_queued_by_an_action_wait_for_the_next_write() -> None:
    async def main() -> None:
        world = World()

        def act(data: bytes) -> None:
            world.act(data)
            world.gate.frame(1, b"", b"closed")
            world.gate.then(world.act, b"after")

        world.gate.frame(1, b"", b"a")
        world.gate.then(act, b"1")
        await world.settle()
        assert world.events == [("write", (b"a",)), b"1", ("write", (b"closed",)), b"after"]

    asyncio.run(main())


def test_without_frames_actions_need_no_write() -> None:
    async def main() -> None:
        world = World()
        world.gate.then(world.act, b"1")
        await world.settle()
        assert world.events == [b"1"]

    asyncio.run(main())


def test_when_the_journal_cannot_be_written_no_action_runs() -> None:
    async def main() -> None:
        world = World()
        world.journal.fails = True
        world.gate.frame(1, b"", b"a")
        world.gate.then(world.act, b"1")
        await world.settle()
        assert (world.events, world.failures) == ([], ["full"])
        world.journal.fails = False
        world.gate.frame(1, b"", b"b")
        world.gate.then(world.act, b"2")
        await world.settle()
        assert world.events == [("write", (b"b",)), b"2"]

    asyncio.run(main())


def test_if_on_failure_returns_true_the_actions_of_a_lost_batch_run() -> None:
    async def main() -> None:
        world = World()
        world.journal.fails = world.continue_on_failure = True
        world.gate.frame(1, b"", b"a")
        world.gate.then(world.act, b"1")
        await world.settle()
        assert (world.events, world.failures) == ([b"1"], ["full"])

    asyncio.run(main())


def test_if_on_failure_returns_true_actions_waiting_for_a_failed_sync_run() -> None:
    async def main() -> None:
        world = World(durable=True)
        world.journal.sync_fails = world.continue_on_failure = True
        world.journal.sync_allowed.clear()
        world.gate.frame(1, b"", b"a")
        world.gate.then(world.act, b"1")
        await world.settle(lambda: bool(world.events))
        world.journal.fails = True
        world.gate.frame(1, b"", b"b")
        world.gate.then(world.act, b"2")
        world.journal.sync_allowed.set()
        await world.settle(lambda: b"2" in world.events)
        assert (world.events, world.failures) == ([("write", (b"a",)), b"1", b"2"], ["full", "full"])
        world.gate.close()

    asyncio.run(main())


def test_with_power_durability_actions_wait_for_the_sync_and_one_sync_serves_many() -> None:
    async def main() -> None:
        world = World(durable=True)
        world.journal.sync_allowed.clear()
        world.gate.frame(1, b"", b"a")
        world.gate.then(world.act, b"1")
        await world.settle()
        assert world.events == [("write", (b"a",))]
        for name in (b"b", b"c"):
            world.gate.frame(1, b"", name)
            world.gate.then(world.act, name)
            await world.settle()
        assert world.events == [("write", (b"a",))]
        world.journal.sync_allowed.set()
        await world.settle(lambda: world.events[-1] == b"c")
        assert world.events == [("write", (b"a",)), "sync", b"1", ("write", (b"b", b"c")), "sync", b"b", b"c"]
        world.gate.close()

    asyncio.run(main())


def test_frames_without_actions_are_synced_together_with_others(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        monkeypatch.setattr(gate, "LATE_SYNC_SECONDS", 600.0)
        world = World(durable=True)
        world.gate.frame(1, b"", b"closed")
        await world.settle(lambda: bool(world.events))
        world.gate.frame(1, b"", b"a")
        world.gate.then(world.act, b"1")
        await world.settle(lambda: b"1" in world.events)
        world.gate.then(world.act, b"2")
        await world.settle()
        assert world.events == [("write", (b"closed",)), ("write", (b"a",)), "sync", b"1", b"2"]
        world.gate.close()

    asyncio.run(main())


def test_frames_without_actions_are_synced_after_a_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        monkeypatch.setattr(gate, "LATE_SYNC_SECONDS", 0.001)
        world = World(durable=True)
        for name in (b"a", b"b"):
            world.gate.frame(1, b"", name)
            await world.settle(lambda: world.events[-1:] == ["sync"])
        assert world.events == [("write", (b"a",)), "sync", ("write", (b"b",)), "sync"]
        world.gate.close()

    asyncio.run(main())


def test_an_action_without_frames_waits_for_the_sync_of_earlier_frames(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def main() -> None:
        monkeypatch.setattr(gate, "LATE_SYNC_SECONDS", 600.0)
        world = World(durable=True)
        world.gate.frame(1, b"", b"a")
        await world.settle(lambda: bool(world.events))
        world.gate.then(world.act, b"1")
        await world.settle(lambda: b"1" in world.events)
        assert world.events == [("write", (b"a",)), "sync", b"1"]
        world.gate.close()

    asyncio.run(main())


@pytest.mark.parametrize("fails", [False, True])
def test_after_a_failed_sync_the_batch_is_written_again_or_no_action_runs(fails: bool) -> None:
    async def main() -> None:
        world = World(durable=True)
        world.journal.sync_fails = True
        world.journal.sync_allowed.clear()
        world.gate.frame(1, b"", b"a")
        world.gate.then(world.act, b"1")
        await world.settle(lambda: bool(world.events))
        world.journal.fails = fails
        world.journal.sync_allowed.set()
        await world.settle(lambda: bool(world.failures) if fails else b"1" in world.events)
        assert world.events == [("write", (b"a",))] + ([] if fails else ["again", b"1"])
        world.gate.close()

    asyncio.run(main())


@pytest.mark.parametrize("durable", [False, True])
def test_close_runs_queued_actions_once_the_journal_has_their_frames(durable: bool) -> None:
    async def main() -> None:
        world = World(durable=durable)
        world.gate.frame(1, b"", b"a")
        world.gate.then(world.act, b"1")
        world.gate.close()
        assert world.events == [("write", (b"a",))] + ["sync"] * durable + [b"1"]
        await world.settle()
        assert world.events[-1] == b"1"

    asyncio.run(main())


@pytest.mark.parametrize("fails", [False, True])
def test_close_during_a_failing_sync_writes_the_batch_again_or_runs_no_action(fails: bool) -> None:
    async def main() -> None:
        world = World(durable=True)
        world.journal.sync_fails = True
        world.gate.frame(1, b"", b"a")
        world.gate.then(world.act, b"1")
        world.gate._flush()
        world.journal.fails = fails
        world.gate.close()
        await world.settle()
        assert world.events == [("write", (b"a",))] + ([] if fails else ["again", b"1"])
        assert world.failures == ["full"] * fails

    asyncio.run(main())


def test_after_close_everything_is_synced_and_later_actions_wait_for_a_sync() -> None:
    async def main() -> None:
        world = World(durable=True)
        world.gate.frame(1, b"", b"closed")
        world.gate.close()
        assert world.events == [("write", (b"closed",)), "sync"]
        world.gate.frame(1, b"", b"a")
        world.gate.then(world.act, b"1")
        await world.settle(lambda: b"1" in world.events)
        assert world.events[2:] == [("write", (b"a",)), "sync", b"1"]

    asyncio.run(main())
