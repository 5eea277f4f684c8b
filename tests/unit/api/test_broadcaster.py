"""Test that one poller sends new and changed rows to all live connections, and never waits for a slow connection."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest
from tests.support.api_log import entry_of, log_of, open_of, record_of, running_of
from tests.support.memory_store import MemoryStore

from relaybook.api import broadcaster
from relaybook.api.broadcaster import Broadcaster, Subscription, TooManySubscriptions, row_event
from relaybook.log.ask.asker import Asker
from relaybook.log.query.filters import Filter, Term
from relaybook.log.record import Record
from relaybook.log.store.errors import StoreUnavailable
from relaybook.log.store.port import Batch

ALL = Filter()


def with_broadcaster(store: Any, test: Callable[[Broadcaster], Awaitable[None]]) -> None:
    async def run() -> None:
        async with asyncio.timeout(20):
            await test(Broadcaster(partial(Asker, store), poll_seconds=0.005))

    asyncio.run(run())


def record(store: MemoryStore, *records: Record, running: list[Record] | None = None) -> None:
    store.commit(Batch(entries=[entry_of(each) for each in records], running=running))


def ids_in(data: bytes) -> list[str]:
    return [str(json.loads(line[6:])["id"]) for line in data.splitlines() if line.startswith(b"data: ")]


async def take_ids(subscription: Subscription, count: int) -> list[str]:
    ids: list[str] = []
    while len(ids) < count:
        ids += ids_in(await subscription.take(5))
    return ids


def test_a_subscription_gets_records_made_after_it_and_none_before() -> None:
    store = log_of(record_of(1))

    async def test(broadcaster: Broadcaster) -> None:
        subscription = await broadcaster.subscribe(ALL)
        assert subscription.position == 1
        record(store, record_of(2), record_of(3))
        assert await take_ids(subscription, 2) == [record_of(2).id, record_of(3).id]
        broadcaster.unsubscribe(subscription)

    with_broadcaster(store, test)


def test_each_subscription_gets_the_rows_that_match_its_filter() -> None:
    store = MemoryStore()

    async def test(broadcaster: Broadcaster) -> None:
        a = await broadcaster.subscribe(Filter((Term("namespace", ("a",)),)))
        b = await broadcaster.subscribe(Filter((Term("namespace", ("b",)),)))
        record(store, record_of(1, namespace="a"), record_of(2, namespace="b"), record_of(3, namespace="a"))
        assert await take_ids(a, 2) == [record_of(1).id, record_of(3).id]
        assert await take_ids(b, 1) == [record_of(2).id]
        broadcaster.unsubscribe(a)
        broadcaster.unsubscribe(b)

    with_broadcaster(store, test)


def test_running_rows_are_sent_at_once_and_again_when_they_change() -> None:
    store = MemoryStore()
    store.commit(Batch(running=[open_of(1), open_of(2)]))

    async def test(broadcaster: Broadcaster) -> None:
        subscription = await broadcaster.subscribe(ALL)
        assert ids_in(await subscription.take(0)) == [running_of(1).id, running_of(2).id]
        store.commit(Batch(running=[open_of(1), open_of(2, chunks=5)]))
        data = await subscription.take(5)
        assert ids_in(data) == [running_of(2).id]
        assert b'"chunks":5' in data
        broadcaster.unsubscribe(subscription)

    with_broadcaster(store, test)


def test_a_running_row_that_does_not_change_is_sent_once() -> None:
    store = MemoryStore()

    async def test(broadcaster: Broadcaster) -> None:
        subscription = await broadcaster.subscribe(ALL)
        store.commit(Batch(running=[open_of(1)]))
        assert await take_ids(subscription, 1) == [running_of(1).id]
        record(store, record_of(2))
        assert await take_ids(subscription, 1) == [record_of(2).id]
        broadcaster.unsubscribe(subscription)

    with_broadcaster(store, test)


def test_the_end_of_a_row_is_sent_even_if_the_row_no_longer_matches() -> None:
    store = MemoryStore()

    async def test(broadcaster: Broadcaster) -> None:
        subscription = await broadcaster.subscribe(Filter((Term("outcome", ("open",)),)))
        store.commit(Batch(running=[open_of(1)]))
        assert await take_ids(subscription, 1) == [running_of(1).id]
        record(store, record_of(1), record_of(2), running=[])
        data = await subscription.take(5)
        assert ids_in(data) == [record_of(1).id]
        assert b'"outcome":"complete"' in data
        broadcaster.unsubscribe(subscription)

    with_broadcaster(store, test)


def test_a_row_that_ended_in_the_previous_poll_is_not_brought_back() -> None:
    broadcaster = Broadcaster(partial(Asker, MemoryStore()), poll_seconds=1)
    assert broadcaster._changed([], {running_of(1).id}) == []
    assert broadcaster._changed([running_of(1)], set()) == []
    assert broadcaster._changed([running_of(1)], set()) == []


def test_a_new_subscription_does_not_get_a_row_that_ended_during_the_latest_poll() -> None:
    class EndsDuringPoll(MemoryStore):
        reads = 0

        def running(self, filter_: Filter) -> list[Record]:
            found = super().running(filter_)
            self.reads += 1
            if self.reads == 2:  # the first read is for the first subscription
                record(self, record_of(1))
            return found

    store = EndsDuringPoll()
    store.commit(Batch(running=[open_of(1), open_of(2)]))

    async def test() -> None:
        broadcaster = Broadcaster(partial(Asker, store), poll_seconds=60)
        first = await broadcaster.subscribe(ALL)
        assert await take_ids(first, 3) == [running_of(1).id, running_of(2).id, record_of(1).id]
        second = await broadcaster.subscribe(ALL)
        assert second.position == 1
        assert await take_ids(second, 1) == [running_of(2).id]
        broadcaster.unsubscribe(first)
        broadcaster.unsubscribe(second)

    asyncio.run(test())


def test_more_records_than_one_poll_reads_are_sent_completely_and_in_order() -> None:
    store = MemoryStore()
    records = [record_of(number) for number in range(1, 901)]

    async def test(broadcaster: Broadcaster) -> None:
        subscription = await broadcaster.subscribe(ALL)
        record(store, *records)
        assert await take_ids(subscription, 900) == [each.id for each in records]
        broadcaster.unsubscribe(subscription)

    with_broadcaster(store, test)


def test_a_slow_subscriber_is_closed_and_does_not_block_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broadcaster, "QUEUE_EVENTS", 10)
    store = MemoryStore()

    async def test(broadcaster: Broadcaster) -> None:
        slow = await broadcaster.subscribe(ALL)
        other = await broadcaster.subscribe(Filter((Term("namespace", ("b",)),)))
        record(store, *(record_of(number) for number in range(1, 21)), record_of(21, namespace="b"))
        assert await take_ids(other, 1) == [record_of(21).id]
        assert slow.is_closed
        assert await slow.take(0) == b""
        broadcaster.unsubscribe(slow)
        broadcaster.unsubscribe(other)

    with_broadcaster(store, test)


def test_no_row_is_lost_while_the_store_is_unavailable() -> None:
    class Unavailable(MemoryStore):
        failures = 5

        def since(self, seq: int, filter_: Filter, limit: int) -> tuple[list[Record], int]:
            if self.failures:
                self.failures -= 1
                raise StoreUnavailable("locked")
            return super().since(seq, filter_, limit)

    store = Unavailable()

    async def test(broadcaster: Broadcaster) -> None:
        subscription = await broadcaster.subscribe(ALL)
        record(store, record_of(1))
        assert await take_ids(subscription, 1) == [record_of(1).id]
        broadcaster.unsubscribe(subscription)

    with_broadcaster(store, test)


def test_without_subscriptions_the_store_is_not_polled() -> None:
    class Counting(MemoryStore):
        polls = 0

        def running(self, filter_: Filter) -> list[Record]:
            self.polls += 1
            return super().running(filter_)

    store = Counting()

    async def test(broadcaster: Broadcaster) -> None:
        first = await broadcaster.subscribe(ALL)
        second = await broadcaster.subscribe(ALL)
        broadcaster.unsubscribe(first)
        record(store, record_of(1))
        assert await take_ids(second, 1) == [record_of(1).id]
        broadcaster.unsubscribe(second)
        await asyncio.sleep(0)
        assert len(asyncio.all_tasks()) == 1
        again = await broadcaster.subscribe(ALL)
        assert again.position == 1
        broadcaster.unsubscribe(again)

    with_broadcaster(store, test)


def test_the_number_of_subscriptions_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broadcaster, "MAX_SUBSCRIPTIONS", 1)

    async def test(broadcaster: Broadcaster) -> None:
        subscription = await broadcaster.subscribe(ALL)
        with pytest.raises(TooManySubscriptions):
            await broadcaster.subscribe(ALL)
        broadcaster.unsubscribe(subscription)

    with_broadcaster(MemoryStore(), test)


def test_closing_the_broadcaster_closes_all_subscriptions() -> None:
    async def test(broadcaster: Broadcaster) -> None:
        subscription = await broadcaster.subscribe(ALL)
        broadcaster.close()
        assert await subscription.take(5) == b""
        assert (subscription.is_closed, broadcaster.is_closed) == (True, True)
        broadcaster.unsubscribe(subscription)

    with_broadcaster(MemoryStore(), test)


def test_a_subscription_after_closing_is_closed_at_once() -> None:
    async def test(broadcaster: Broadcaster) -> None:
        broadcaster.close()
        subscription = await broadcaster.subscribe(ALL)
        assert subscription.is_closed
        broadcaster.unsubscribe(subscription)

    with_broadcaster(MemoryStore(), test)


def test_only_finished_rows_have_an_event_id() -> None:
    assert row_event(record_of(1, seq=7)).startswith(b'id: 7\nevent: request\ndata: {"id":')
    assert row_event(running_of(1)).startswith(b"event: request\ndata: ")


def test_line_breaks_in_a_row_do_not_end_its_event() -> None:
    event = row_event(record_of(1, seq=7, namespace="a\n\nevent: gap\r\rdata: x\u2028"))
    assert event.count(b"\n") == 4
    assert b"\r" not in event
