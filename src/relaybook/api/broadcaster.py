"""Send new and changed rows of the log to all live connections. One shared poller reads the log.

Every ``poll_seconds``, the poller reads the running requests and all records added since its last poll. The poller
offers each new or changed row to every subscription. The poller runs only while there are subscriptions. Each
subscription has a bounded queue. If the queue is full, the subscription is closed, so a slow subscriber never blocks
the poller.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable

import msgspec

from relaybook.api.asking import AsyncAsker
from relaybook.log.ask.asker import Asker
from relaybook.log.query.filters import Filter, matches
from relaybook.log.record import Record
from relaybook.log.row import to_json

_log = logging.getLogger("relaybook.api")

QUEUE_EVENTS = 1000
MAX_SUBSCRIPTIONS = 256
_BATCH = 500


class TooManySubscriptions(Exception):
    """The maximum number of live connections is already open."""


def row_event(record: Record) -> bytes:
    """Return the row of a record (see ``to_json``) as a server-sent event.

    The event id is the ``seq`` of the record. If the request is still running, the event has no id.
    """
    event_id = b"" if record.seq is None else b"id: %d\n" % record.seq
    return b"%sevent: request\ndata: %s\n\n" % (event_id, msgspec.json.encode(to_json(record)))


def position_event(seq: int) -> bytes:
    """Return an event without data that only advances the client's last event id."""
    return b"id: %d\n\n" % seq


def gap_event(seq: int) -> bytes:
    """Return an event which says that rows up to ``seq`` were skipped. The client then reloads the list."""
    return b"id: %d\nevent: gap\ndata: %s\n\n" % (seq, msgspec.json.encode({"seq": seq}))


class Subscription:
    """The queue of encoded rows for one live connection. ``offer`` determines which rows are queued."""

    def __init__(self, filter_: Filter, position: int) -> None:
        self.filter_ = filter_
        #: The broadcaster offers the records after this ``seq``. The connection itself reads earlier records from the
        #: store.
        self.position = position
        self.is_closed = False
        self._events: list[bytes] = []
        self._running: set[str] = set()
        self._ready = asyncio.Event()

    def offer(self, record: Record, event: bytes) -> None:
        """Queue ``event`` if the record matches the filter, or if the same request matched while it was running.

        ``event`` is the record's row, encoded. If the queue is full, the subscription is closed instead.
        """
        if self.is_closed or not (record.id in self._running or matches(self.filter_, record)):
            return
        if record.outcome == "open":
            self._running.add(record.id)
        else:
            self._running.discard(record.id)
        if len(self._events) >= QUEUE_EVENTS:
            self.close()
        else:
            self._events.append(event)
            self._ready.set()

    @property
    def has_events(self) -> bool:
        """Whether the queue has events."""
        return bool(self._events)

    def close(self) -> None:
        """Discard the queue and set ``is_closed``, so that the live connection ends."""
        self.is_closed = True
        self._events.clear()
        self._ready.set()

    async def take(self, timeout_seconds: float) -> bytes:
        """Wait for events and return all queued events, encoded.

        The result is empty if the timeout passes first, or if the subscription is closed.
        """
        if not self._ready.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(max(timeout_seconds, 0)):
                    await self._ready.wait()
        self._ready.clear()
        events, self._events = self._events, []
        return b"".join(events)


class Broadcaster:
    """Polls the log and offers new and changed rows to its subscriptions. Use an instance in one event loop only."""

    def __init__(self, open_asker: Callable[[int], Asker], poll_seconds: float) -> None:
        self._asker = AsyncAsker(open_asker, 0, threads=2)
        self._poll_seconds = poll_seconds
        self._subscriptions: set[Subscription] = set()
        self._poller: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()
        self._running: dict[str, Record] = {}
        #: The ids of the ended requests that the last two polls read: one set for each poll, the older one first. The
        #: store may still list these requests as running.
        self._ended: tuple[set[str], set[str]] = (set(), set())
        #: The next poll reads the records after this ``seq``, and offers them to the subscriptions.
        self.position = 0
        #: Whether ``close`` was called. All live connections then end.
        self.is_closed = False

    async def subscribe(self, filter_: Filter) -> Subscription:
        """Return a subscription to requests that match the filter. Running requests are queued immediately.

        Requests that were recorded up to the subscription's ``position`` are not queued. Raises TooManySubscriptions.
        """
        async with self._starting:
            if len(self._subscriptions) >= MAX_SUBSCRIPTIONS:
                raise TooManySubscriptions
            if self._poller is None:
                self.position, running = await self._asker.run(
                    lambda asker: (asker.last_seq(), asker.running(Filter()))
                )
                self._running = {record.id: record for record in running}
                self._poller = asyncio.create_task(self._poll())
            subscription = Subscription(filter_, self.position)
            self._subscriptions.add(subscription)
        recently_ended = self._ended[0] | self._ended[1]
        for record in reversed(self._running.values()):
            if record.id not in recently_ended:
                subscription.offer(record, row_event(record))
        if self.is_closed:
            subscription.close()
        return subscription

    def unsubscribe(self, subscription: Subscription) -> None:
        """Remove the subscription. Removing the last subscription stops the poller."""
        self._subscriptions.discard(subscription)
        if not self._subscriptions and self._poller is not None:
            self._poller.cancel()
            self._poller = None

    def close(self) -> None:
        """End all live connections, so that the server can stop."""
        self.is_closed = True
        for subscription in self._subscriptions:
            subscription.close()

    async def _poll(self) -> None:
        while True:
            try:
                is_behind = await self._poll_once()
            except Exception:
                # The store may be unavailable for a while. No row is lost, because the next poll starts at the same
                # position.
                _log.warning("live_poll_failed", exc_info=True)
                is_behind = False
            await asyncio.sleep(0 if is_behind else self._poll_seconds)

    async def _poll_once(self) -> bool:
        """Read the store once, and offer new and changed rows to the subscriptions.

        Returns whether unread records may remain.
        """
        since = self.position

        def question(asker: Asker) -> tuple[list[Record], list[Record], int]:
            # Read the running requests first. A request that ends between the two queries is then in both results, so
            # that it is never missed.
            running = asker.running(Filter())
            last = asker.last_seq()
            if last <= since:
                return running, [], last
            return running, *asker.since(since, Filter(), _BATCH)

        running, ended, position = await self._asker.run(question)
        if position < since:  # a new log replaced this log, for example because this log was damaged
            self.position = position
            for subscription in self._subscriptions:
                subscription.close()
            return False
        changed = self._changed(running, {record.id for record in ended})
        for record in (*changed, *ended):
            event = row_event(record)
            for subscription in self._subscriptions:
                subscription.offer(record, event)
        self.position = position
        return len(ended) >= _BATCH

    def _changed(self, running: list[Record], ended: set[str]) -> list[Record]:
        """Return running rows that are new or have changed since the last poll, in the order in which they started.

        ``ended`` has the ids of the ended requests that this poll read. These requests and those of the last poll are
        omitted. The method keeps ``running`` and ``ended`` for the next poll.
        """
        previous, self._running = self._running, {record.id: record for record in running}
        self._ended = (self._ended[1], ended)
        recently_ended = self._ended[0] | ended
        return [
            record
            for record in reversed(running)
            if record.id not in recently_ended and previous.get(record.id) != record
        ]
