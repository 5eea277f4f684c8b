"""A live connection gets every row it wants, and after a break everything it missed."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any, NamedTuple

import pytest
from starlette.types import Message
from tests.support.api_log import app_of, client_of, entry_of, log_of, open_of, record_of, running_of
from tests.support.asgi import scope_of

from relaybook.api import broadcaster, live
from relaybook.api.broadcaster import Broadcaster
from relaybook.api.reading import Reading
from relaybook.log.query.filters import Filter, Term
from relaybook.log.record import Record
from relaybook.log.store.memory import MemoryStore
from relaybook.log.store.port import Batch


class Event(NamedTuple):
    name: str
    data: Any
    point: int | None


class Listener:
    """Reads one live connection as a browser would: it keeps the point to resume from."""

    def __init__(self, pieces: AsyncIterator[bytes]) -> None:
        self._pieces = pieces
        self._waiting: list[Event] = []
        self.point: int | None = None
        self.pings = 0

    async def next(self) -> Event | None:
        """The next event with data; None at the end of the stream."""
        while not self._waiting:
            piece = await anext(self._pieces, None)
            if piece is None:
                return None
            assert piece.endswith(b"\n\n")
            for block in piece.decode().split("\n\n")[:-1]:
                self._read(block)
        return self._waiting.pop(0)

    async def rows(self, count: int) -> list[str]:
        """The ids of the next rows."""
        found = []
        for _ in range(count):
            event = await self.next()
            assert event is not None
            assert event.name == "request"
            found.append(event.data["id"])
        return found

    def _read(self, block: str) -> None:
        fields = dict(line.split(": ", 1) for line in block.split("\n") if not line.startswith(":"))
        self.pings += block.startswith(": ping")
        point = int(fields["id"]) if "id" in fields else None
        self.point = self.point if point is None else point
        if "data" in fields:
            self._waiting.append(Event(fields["event"], json.loads(fields["data"]), point))


class World:
    """A log that grows, and connections to it."""

    def __init__(self, *records: Record) -> None:
        self.store = log_of(*records)
        self.broadcaster = Broadcaster(self.store, poll_seconds=0.002)
        self.reading = Reading(self.store, 1)

    async def listen(self, resume_from: int | None = None, wanted: Filter | None = None, ping: float = 30) -> Listener:
        subscription = await self.broadcaster.subscribe(wanted or Filter())
        listener = Listener(live.stream(self.broadcaster, subscription, self.reading, resume_from, ping))
        self.leave = lambda: self.broadcaster.unsubscribe(subscription)
        return listener

    def record(self, *records: Record) -> None:
        self.store.commit(Batch(entries=[entry_of(record) for record in records]))


def run(test: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(20):
            await test()

    asyncio.run(bounded())


def ids(numbers: range) -> list[str]:
    return [record_of(number).id for number in numbers]


def test_a_new_row_is_told_with_its_point_to_resume_from() -> None:
    async def test() -> None:
        world = World(record_of(1))
        listener = await world.listen()
        world.record(record_of(2))
        event = await listener.next()
        assert event is not None
        assert (event.name, event.data["id"], event.point) == ("request", record_of(2).id, 2)
        world.leave()

    run(test)


def test_a_running_row_is_told_again_when_it_changes() -> None:
    async def test() -> None:
        world = World()
        world.store.commit(Batch(running=[open_of(1)]))
        listener = await world.listen()
        assert await listener.rows(1) == [running_of(1).id]
        world.store.commit(Batch(running=[open_of(1, chunks=9)]))
        event = await listener.next()
        assert event is not None
        assert (event.data["chunks"], event.point) == (9, None)
        world.leave()

    run(test)


def test_a_connection_begins_with_a_point_so_that_an_early_break_loses_nothing() -> None:
    async def test() -> None:
        world = World(record_of(1), record_of(2))
        subscription = await world.broadcaster.subscribe(Filter())
        pieces = live.stream(world.broadcaster, subscription, world.reading, None, 30)
        assert await anext(pieces) == b"retry: 2000\n\n"
        assert await anext(pieces) == b"id: 2\n\n"
        world.broadcaster.unsubscribe(subscription)

    run(test)


def test_whoever_resumes_gets_what_was_recorded_meanwhile() -> None:
    async def test() -> None:
        world = World(*(record_of(number) for number in range(1, 1201)))
        listener = await world.listen(resume_from=7)
        world.record(record_of(1201))
        assert await listener.rows(1194) == ids(range(8, 1202))
        world.leave()

    run(test)


def test_what_is_recorded_while_the_past_is_replayed_comes_once() -> None:
    async def test() -> None:
        world = World(record_of(1))
        world.broadcaster = Broadcaster(world.store, poll_seconds=0.05)
        listener = await world.listen(resume_from=0)
        world.record(record_of(2))
        assert await listener.rows(2) == ids(range(1, 3))
        assert not listener._waiting
        world.record(record_of(3))
        assert await listener.rows(1) == [record_of(3).id]
        world.leave()

    run(test)


def test_resuming_again_and_again_while_rows_are_added_loses_none_and_doubles_none() -> None:
    async def test() -> None:
        world = World(record_of(1))
        seen: list[str] = []
        total = 400
        added = 1

        async def add() -> None:
            nonlocal added
            while added < total:
                added += 1
                world.record(record_of(added))
                await asyncio.sleep(0)

        adding = asyncio.create_task(add())
        point: int | None = 1
        while len(seen) < total - 1:
            listener = await world.listen(resume_from=point)
            seen += await listener.rows(min(7, total - 1 - len(seen)))
            # What was read of a piece but not looked at is lost with the connection, as in a browser.
            point = 1 + len(seen)
            world.leave()
        await adding
        assert seen == ids(range(2, total + 1))

    run(test)


def test_a_filter_applies_to_what_was_missed_and_to_what_is_new() -> None:
    async def test() -> None:
        wanted = Filter((Term("namespace", ("a",)),))
        world = World(*(record_of(number, namespace="ab"[number % 2]) for number in range(1, 11)))
        listener = await world.listen(resume_from=0, wanted=wanted)
        world.record(record_of(11, namespace="b"), record_of(12, namespace="a"))
        assert await listener.rows(6) == ids(range(2, 13, 2))
        world.leave()

    run(test)


@pytest.mark.parametrize("resume_from", [0, 999])
def test_a_point_too_old_or_from_another_log_is_a_gap(resume_from: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "MAX_REPLAY", 5)

    async def test() -> None:
        world = World(*(record_of(number) for number in range(1, 11)))
        listener = await world.listen(resume_from=resume_from)
        assert await listener.next() == Event("gap", {"seq": 10}, 10)
        world.record(record_of(11))
        assert await listener.rows(1) == [record_of(11).id]
        world.leave()

    run(test)


def test_a_store_too_slow_to_tell_what_was_missed_makes_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test() -> None:
        world = World(*(record_of(number) for number in range(1, 11)))
        monkeypatch.setattr(world.store, "since", lambda seq, wanted, limit: ([], seq))
        listener = await world.listen(resume_from=5)
        assert await listener.next() == Event("gap", {"seq": 10}, 10)
        monkeypatch.undo()
        world.record(record_of(11))
        assert await listener.rows(1) == [record_of(11).id]
        world.leave()

    run(test)


def test_a_point_ahead_of_the_last_look_is_no_gap() -> None:
    async def test() -> None:
        world = World(record_of(1))
        world.broadcaster = Broadcaster(world.store, poll_seconds=0.05)
        await world.listen()
        world.record(record_of(2))
        listener = await world.listen(resume_from=2)
        world.record(record_of(3))
        assert record_of(3).id in await listener.rows(2)
        world.leave()

    run(test)


def test_a_slow_client_is_told_of_the_gap_and_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broadcaster, "QUEUE_EVENTS", 5)

    async def test() -> None:
        world = World()
        listener = await world.listen()
        other = await world.listen(wanted=Filter((Term("namespace", ("b",)),)))
        world.record(*(record_of(number) for number in range(1, 20)), record_of(20, namespace="b"))
        assert await other.rows(1) == [record_of(20).id]
        assert await listener.next() == Event("gap", {"seq": 20}, 20)
        assert await listener.next() is None
        world.leave()

    run(test)


def test_pings_come_by_themselves_and_move_the_point_on() -> None:
    async def test() -> None:
        world = World()
        wanted = Filter((Term("namespace", ("nobody",)),))
        listener = await world.listen(wanted=wanted, ping=0.01)
        world.record(record_of(1), record_of(2))
        reading = asyncio.create_task(listener.next())
        while listener.point != 2:
            await asyncio.sleep(0.001)
        assert listener.pings
        reading.cancel()
        world.leave()

    run(test)


def test_closing_ends_the_stream_without_a_gap() -> None:
    async def test() -> None:
        world = World()
        listener = await world.listen()
        world.broadcaster.close()
        assert await listener.next() is None
        world.leave()

    run(test)


def test_a_client_that_takes_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "STALL_SECONDS", 0.01)

    async def test() -> None:
        world = World()
        subscription = await world.broadcaster.subscribe(Filter())
        events = live.stream(world.broadcaster, subscription, world.reading, None, 30)
        response = live.EventStream(events, partial(world.broadcaster.unsubscribe, subscription))

        async def receive() -> Message:
            await asyncio.Event().wait()
            raise AssertionError

        async def send(message: Message) -> None:
            if message["type"] == "http.response.body":
                await asyncio.Event().wait()

        await response(scope_of("GET", "/api/live", []), receive, send)
        assert world.broadcaster._subscriptions == set()

    run(test)


@pytest.mark.parametrize("target", ["/api/live", "/api/live?q=refund"])
def test_a_client_that_leaves_is_forgotten(target: str) -> None:
    async def test() -> None:
        app = app_of(MemoryStore())
        started = asyncio.Event()

        async def receive() -> Message:
            await started.wait()
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            if message["type"] == "http.response.body":
                started.set()

        await app(scope_of("GET", target, []), receive, send)
        assert app.state.broadcaster._subscriptions == set()
        app.state.followers.enter()
        assert app.state.followers._number == 1

    run(test)


@pytest.mark.parametrize(
    ("target", "headers", "param"),
    [
        ("/api/live?limit=5", [], "limit"),
        ("/api/live?cursor=o5", [], "cursor"),
        ("/api/live?status=x", [], "status"),
        ("/api/live", [("last-event-id", "x")], "Last-Event-ID"),
        ("/api/live", [("last-event-id", "-1")], "Last-Event-ID"),
        ("/api/live", [("last-event-id", "9" * 19)], "Last-Event-ID"),
    ],
)
def test_what_is_unknown_or_malformed_is_refused_by_name(target: str, headers: Any, param: str) -> None:
    answer = client_of().get(target, *headers)
    assert (answer.status, answer.json()["error"]["param"]) == (400, param)


def test_too_many_connections_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broadcaster, "MAX_SUBSCRIPTIONS", 0)
    answer = client_of().get("/api/live")
    assert (answer.status, answer.json()["error"]["code"]) == (503, "too_many_streams")
