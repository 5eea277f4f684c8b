"""Test that a live connection gets every matching row, and that a resumed connection gets every missed row."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any, NamedTuple

import pytest
from starlette.types import Message
from tests.support.api_log import app_of, client_of, entry_of, log_of, open_of, record_of, running_of
from tests.support.asgi import scope_of
from tests.support.memory_store import MemoryStore

from relaybook.api import broadcaster, live
from relaybook.api.asking import AsyncAsker
from relaybook.api.broadcaster import Broadcaster
from relaybook.log.ask.asker import Asker
from relaybook.log.query.filters import Filter, Term
from relaybook.log.record import Record
from relaybook.log.store.port import Batch


class Event(NamedTuple):
    name: str
    data: Any
    event_id: int | None


class Listener:
    """Reads one live connection like a browser, and remembers the last event id."""

    def __init__(self, chunks: AsyncIterator[bytes]) -> None:
        self._chunks = chunks
        self._waiting: list[Event] = []
        self.event_id: int | None = None
        self.pings = 0

    async def next(self) -> Event | None:
        """Return the next event with data, or `None` at the end of the stream."""
        while not self._waiting:
            chunk = await anext(self._chunks, None)
            if chunk is None:
                return None
            assert chunk.endswith(b"\n\n")
            for block in chunk.decode().split("\n\n")[:-1]:
                self._read(block)
        return self._waiting.pop(0)

    async def rows(self, count: int) -> list[str]:
        """Return the ids of the next ``count`` rows."""
        ids = []
        for _ in range(count):
            event = await self.next()
            assert event is not None
            assert event.name == "request"
            ids.append(event.data["id"])
        return ids

    def _read(self, block: str) -> None:
        fields = dict(line.split(": ", 1) for line in block.split("\n") if not line.startswith(":"))
        self.pings += block.startswith(": ping")
        event_id = int(fields["id"]) if "id" in fields else None
        self.event_id = self.event_id if event_id is None else event_id
        if "data" in fields:
            self._waiting.append(Event(fields["event"], json.loads(fields["data"]), event_id))


class LiveLog:
    """A growing log with live connections."""

    def __init__(self, *records: Record) -> None:
        self.store = log_of(*records)
        self.broadcaster = Broadcaster(partial(Asker, self.store), poll_seconds=0.002)
        self.async_asker = AsyncAsker(partial(Asker, self.store), 1)

    async def listen(self, resume_from: int | None = None, filter_: Filter | None = None, ping: float = 30) -> Listener:
        subscription = await self.broadcaster.subscribe(filter_ or Filter())
        listener = Listener(live.stream(self.broadcaster, subscription, self.async_asker, resume_from, ping))
        self.unsubscribe = lambda: self.broadcaster.unsubscribe(subscription)
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


def test_a_new_row_is_sent_with_its_event_id() -> None:
    async def test() -> None:
        log = LiveLog(record_of(1))
        listener = await log.listen()
        log.record(record_of(2))
        event = await listener.next()
        assert event is not None
        assert (event.name, event.data["id"], event.event_id) == ("request", record_of(2).id, 2)
        log.unsubscribe()

    run(test)


def test_a_running_row_is_sent_again_when_it_changes() -> None:
    async def test() -> None:
        log = LiveLog()
        log.store.commit(Batch(running=[open_of(1)]))
        listener = await log.listen()
        assert await listener.rows(1) == [running_of(1).id]
        log.store.commit(Batch(running=[open_of(1, chunks=9)]))
        event = await listener.next()
        assert event is not None
        assert (event.data["chunks"], event.event_id) == (9, None)
        log.unsubscribe()

    run(test)


def test_a_connection_starts_with_an_event_id_so_that_an_early_disconnect_loses_nothing() -> None:
    async def test() -> None:
        log = LiveLog(record_of(1), record_of(2))
        subscription = await log.broadcaster.subscribe(Filter())
        chunks = live.stream(log.broadcaster, subscription, log.async_asker, None, 30)
        assert await anext(chunks) == b"retry: 2000\n\n"
        assert await anext(chunks) == b"id: 2\n\n"
        log.broadcaster.unsubscribe(subscription)

    run(test)


def test_a_resumed_connection_gets_the_rows_recorded_meanwhile() -> None:
    async def test() -> None:
        log = LiveLog(*(record_of(number) for number in range(1, 1201)))
        listener = await log.listen(resume_from=7)
        log.record(record_of(1201))
        assert await listener.rows(1194) == ids(range(8, 1202))
        log.unsubscribe()

    run(test)


def test_a_row_recorded_during_the_replay_is_sent_once() -> None:
    async def test() -> None:
        log = LiveLog(record_of(1))
        log.broadcaster = Broadcaster(partial(Asker, log.store), poll_seconds=0.05)
        listener = await log.listen(resume_from=0)
        log.record(record_of(2))
        assert await listener.rows(2) == ids(range(1, 3))
        assert not listener._waiting
        log.record(record_of(3))
        assert await listener.rows(1) == [record_of(3).id]
        log.unsubscribe()

    run(test)


def test_resuming_repeatedly_while_rows_are_added_loses_and_repeats_none() -> None:
    async def test() -> None:
        log = LiveLog(record_of(1))
        ids_seen: list[str] = []
        total = 400
        added = 1

        async def add() -> None:
            nonlocal added
            while added < total:
                added += 1
                log.record(record_of(added))
                await asyncio.sleep(0)

        adding = asyncio.create_task(add())
        event_id: int | None = 1
        while len(ids_seen) < total - 1:
            listener = await log.listen(resume_from=event_id)
            ids_seen += await listener.rows(min(7, total - 1 - len(ids_seen)))
            # Like a browser, the test loses events that were received but not handled when the connection ends.
            event_id = 1 + len(ids_seen)
            log.unsubscribe()
        await adding
        assert ids_seen == ids(range(2, total + 1))

    run(test)


def test_a_filter_applies_to_missed_and_to_new_rows() -> None:
    async def test() -> None:
        filter_ = Filter((Term("namespace", ("a",)),))
        log = LiveLog(*(record_of(number, namespace="ab"[number % 2]) for number in range(1, 11)))
        listener = await log.listen(resume_from=0, filter_=filter_)
        log.record(record_of(11, namespace="b"), record_of(12, namespace="a"))
        assert await listener.rows(6) == ids(range(2, 13, 2))
        log.unsubscribe()

    run(test)


def test_resuming_counts_rows_and_not_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "MAX_REPLAY", 5)

    async def test() -> None:
        log = LiveLog(*(record_of(number, namespace="ab"[number % 3 == 0]) for number in range(1, 13)))
        listener = await log.listen(resume_from=0, filter_=Filter((Term("namespace", ("b",)),)))
        assert await listener.rows(4) == ids(range(3, 13, 3))
        log.unsubscribe()

    run(test)


@pytest.mark.parametrize("resume_from", [0, 999])
def test_an_event_id_that_is_too_old_or_from_another_log_is_a_gap(
    resume_from: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "MAX_REPLAY", 5)

    async def test() -> None:
        log = LiveLog(*(record_of(number) for number in range(1, 11)))
        listener = await log.listen(resume_from=resume_from)
        assert await listener.next() == Event("gap", {"seq": 10}, 10)
        log.record(record_of(11))
        assert await listener.rows(1) == [record_of(11).id]
        log.unsubscribe()

    run(test)


def test_a_store_too_slow_to_replay_makes_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test() -> None:
        log = LiveLog(*(record_of(number) for number in range(1, 11)))
        monkeypatch.setattr(log.store, "since", lambda seq, filter_, limit: ([], seq))
        listener = await log.listen(resume_from=5)
        assert await listener.next() == Event("gap", {"seq": 10}, 10)
        monkeypatch.undo()
        log.record(record_of(11))
        assert await listener.rows(1) == [record_of(11).id]
        log.unsubscribe()

    run(test)


def test_an_event_id_ahead_of_the_last_poll_is_no_gap() -> None:
    async def test() -> None:
        log = LiveLog(record_of(1))
        log.broadcaster = Broadcaster(partial(Asker, log.store), poll_seconds=0.05)
        await log.listen()
        log.record(record_of(2))
        listener = await log.listen(resume_from=2)
        log.record(record_of(3))
        assert record_of(3).id in await listener.rows(2)
        log.unsubscribe()

    run(test)


def test_a_slow_client_gets_a_gap_and_is_disconnected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broadcaster, "QUEUE_EVENTS", 5)

    async def test() -> None:
        log = LiveLog()
        listener = await log.listen()
        other = await log.listen(filter_=Filter((Term("namespace", ("b",)),)))
        log.record(*(record_of(number) for number in range(1, 20)), record_of(20, namespace="b"))
        assert await other.rows(1) == [record_of(20).id]
        assert await listener.next() == Event("gap", {"seq": 20}, 20)
        assert await listener.next() is None
        log.unsubscribe()

    run(test)


def test_a_stream_ends_with_a_gap_if_the_log_is_replaced() -> None:
    async def test() -> None:
        log = LiveLog(record_of(1), record_of(2))
        listener = await log.listen()
        log.store.__dict__.update(log_of(record_of(3)).__dict__)
        event = await listener.next()
        assert event is not None
        assert (event.name, event.event_id) == ("gap", 1)
        assert await listener.next() is None
        log.unsubscribe()

    run(test)


def test_pings_are_sent_regularly_and_advance_the_event_id() -> None:
    async def test() -> None:
        log = LiveLog()
        filter_ = Filter((Term("namespace", ("nobody",)),))
        listener = await log.listen(filter_=filter_, ping=0.01)
        log.record(record_of(1), record_of(2))
        waiting = asyncio.create_task(listener.next())
        while listener.event_id != 2:
            await asyncio.sleep(0.001)
        assert listener.pings
        waiting.cancel()
        log.unsubscribe()

    run(test)


def test_closing_ends_the_stream_without_a_gap() -> None:
    async def test() -> None:
        log = LiveLog()
        listener = await log.listen()
        log.broadcaster.close()
        assert await listener.next() is None
        log.unsubscribe()

    run(test)


def test_a_stalled_client_is_disconnected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "STALL_SECONDS", 0.01)

    async def test() -> None:
        log = LiveLog()
        subscription = await log.broadcaster.subscribe(Filter())
        events = live.stream(log.broadcaster, subscription, log.async_asker, None, 30)
        response = live.EventStream(events, partial(log.broadcaster.unsubscribe, subscription))

        async def receive() -> Message:
            await asyncio.Event().wait()
            raise AssertionError

        async def send(message: Message) -> None:
            if message["type"] == "http.response.body":
                await asyncio.Event().wait()

        await response(scope_of("GET", "/api/live", []), receive, send)
        assert log.broadcaster._subscriptions == set()

    run(test)


@pytest.mark.parametrize("target", ["/api/live", "/api/live?q=refund"])
def test_a_disconnected_client_is_removed(target: str) -> None:
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
        app.state.search_streams.acquire()
        assert app.state.search_streams._count == 1

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
def test_unknown_and_malformed_parameters_are_rejected_by_name(target: str, headers: Any, param: str) -> None:
    response = client_of().get(target, *headers)
    assert (response.status, response.json()["error"]["param"]) == (400, param)


def test_too_many_connections_are_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broadcaster, "MAX_SUBSCRIPTIONS", 0)
    response = client_of().get("/api/live")
    assert (response.status, response.json()["error"]["code"]) == (503, "too_many_streams")
