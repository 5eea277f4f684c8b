"""Watches the log for all live connections at once: one poller, whatever their number.

Every ``poll_seconds`` it asks the store for what was recorded since and for what is running, and offers each new or
changed row to every subscription. It runs only while somebody is subscribed. Nothing waits for a slow subscriber:
its queue is bounded, and when it is full it is told so and cut.
"""

import asyncio
import contextlib
import logging

import msgspec

from relaybook.api.reading import Reading
from relaybook.log.query.filters import Filter, matches
from relaybook.log.record import Record, to_json
from relaybook.log.store.port import Reader

_log = logging.getLogger("relaybook.api")

QUEUE_EVENTS = 1000
MAX_SUBSCRIPTIONS = 256
_BATCH = 500


class TooManySubscriptions(Exception):
    """No more than MAX_SUBSCRIPTIONS at a time."""


def row_event(record: Record) -> bytes:
    """The row as a server-sent event; a finished one carries its ``seq`` as the point to resume from."""
    point = b"" if record.seq is None else b"id: %d\n" % record.seq
    return b"%sevent: request\ndata: %s\n\n" % (point, msgspec.json.encode(to_json(record)))


def point_event(seq: int) -> bytes:
    """Moves the point to resume from, and tells nothing."""
    return b"id: %d\n\n" % seq


def gap_event(seq: int) -> bytes:
    """Says that rows are missing up to this point: load afresh."""
    return b"id: %d\nevent: gap\ndata: %s\n\n" % (seq, msgspec.json.encode({"seq": seq}))


class Subscription:
    """One connection's share of the news: rows its filter wants, encoded, waiting to be taken."""

    def __init__(self, wanted: Filter, position: int) -> None:
        self.wanted = wanted
        #: Everything recorded after this seq is offered; what is older is the connection's own business.
        self.position = position
        self.is_cut = False
        self._events: list[bytes] = []
        self._running: set[str] = set()
        self._news = asyncio.Event()

    def offer(self, record: Record, event: bytes) -> None:
        """Queues the row if the filter wants it, or wanted it while it ran (so that its end is not missed)."""
        if self.is_cut or not (record.id in self._running or matches(self.wanted, record)):
            return
        if record.outcome == "open":
            self._running.add(record.id)
        else:
            self._running.discard(record.id)
        if len(self._events) >= QUEUE_EVENTS:
            self.cut()
        else:
            self._events.append(event)
            self._news.set()

    @property
    def has_news(self) -> bool:
        """Whether something is queued."""
        return bool(self._events)

    def cut(self) -> None:
        """Drops what is queued; the connection sees ``is_cut`` and ends."""
        self.is_cut = True
        self._events.clear()
        self._news.set()

    async def take(self, timeout_seconds: float) -> bytes:
        """All that is queued, at the latest after the timeout; empty when there is nothing."""
        if not self._news.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(max(timeout_seconds, 0)):
                    await self._news.wait()
        self._news.clear()
        events, self._events = self._events, []
        return b"".join(events)


class Broadcaster:
    """The poller and its subscriptions. Belongs to one event loop."""

    def __init__(self, reader: Reader, poll_seconds: float) -> None:
        self._reading = Reading(reader, 0, threads=2)
        self._poll_seconds = poll_seconds
        self._subscriptions: set[Subscription] = set()
        self._poller: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()
        self._running: dict[str, Record] = {}
        #: Ended in this poll or the one before: the table of running ones may still hold them.
        self._ended: tuple[set[str], set[str]] = (set(), set())
        #: Everything up to this seq was offered.
        self.position = 0
        #: After ``close`` live connections end by themselves.
        self.is_closed = False

    async def subscribe(self, wanted: Filter) -> Subscription:
        """Begins to offer what is recorded from now on, and at once what is running."""
        if len(self._subscriptions) >= MAX_SUBSCRIPTIONS:
            raise TooManySubscriptions
        async with self._starting:
            if self._poller is None:
                self.position, running = await self._reading.ask(
                    lambda reader: (reader.last_seq(), reader.running(Filter()))
                )
                self._running = {record.id: record for record in running}
                self._poller = asyncio.create_task(self._poll())
            subscription = Subscription(wanted, self.position)
            self._subscriptions.add(subscription)
        for record in reversed(self._running.values()):
            subscription.offer(record, row_event(record))
        if self.is_closed:
            subscription.cut()
        return subscription

    def unsubscribe(self, subscription: Subscription) -> None:
        """Offers it nothing more; the last one to leave stops the poller."""
        self._subscriptions.discard(subscription)
        if not self._subscriptions and self._poller is not None:
            self._poller.cancel()
            self._poller = None

    def close(self) -> None:
        """Ends all live connections, so that a server can stop."""
        self.is_closed = True
        for subscription in self._subscriptions:
            subscription.cut()

    async def _poll(self) -> None:
        while True:
            try:
                is_behind = await self._look()
            except Exception:
                # The store may be away for a while; nobody misses a row, because the position stays.
                _log.warning("live_poll_failed", exc_info=True)
                is_behind = False
            await asyncio.sleep(0 if is_behind else self._poll_seconds)

    async def _look(self) -> bool:
        """One look at the store; true when it has more than one look takes."""
        since = self.position

        def question(reader: Reader) -> tuple[list[Record], list[Record], int]:
            # Running ones first: one that ends between the two questions is then seen running, then ended.
            running = reader.running(Filter())
            if reader.last_seq() == since:
                return running, [], since
            return running, *reader.since(since, Filter(), _BATCH)

        running, ended, position = await self._reading.ask(question)
        changed = self._changed(running, {record.id for record in ended})
        for record in (*changed, *ended):
            event = row_event(record)
            for subscription in self._subscriptions:
                subscription.offer(record, event)
        self.position = position
        return len(ended) >= _BATCH

    def _changed(self, running: list[Record], ended: set[str]) -> list[Record]:
        """Running rows that are new or differ from the last look, in the order they started."""
        before, self._running = self._running, {record.id: record for record in running}
        self._ended = (self._ended[1], ended)
        gone = self._ended[0] | ended
        return [record for record in reversed(running) if record.id not in gone and before.get(record.id) != record]
