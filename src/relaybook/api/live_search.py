"""Stream rows that match a full-text filter. Rows do not contain the full text, so the store is queried.

Each connection polls the store separately. A connection gets only finished requests, shortly after they are indexed.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from relaybook import clock
from relaybook.api.asking import AsyncAsker
from relaybook.api.broadcaster import Broadcaster, TooManySubscriptions, gap_event, position_event, row_event
from relaybook.log.ask.asker import Asker
from relaybook.log.query.filters import Filter
from relaybook.log.record import Record
from relaybook.log.store.errors import DeadlinePassed, StoreUnavailable

#: Maximum number of full-text connections. The maximum is lower than MAX_SUBSCRIPTIONS, because each full-text
#: connection polls the store.
MAX_SEARCH_STREAMS: Final = 32
_BATCH: Final = 500


class SearchStreams:
    """Counts the open full-text connections, and limits their number to MAX_SEARCH_STREAMS."""

    def __init__(self) -> None:
        self._count = 0

    def acquire(self) -> None:
        """Count a new connection. Raises TooManySubscriptions if the maximum is reached."""
        if self._count >= MAX_SEARCH_STREAMS:
            raise TooManySubscriptions
        self._count += 1

    def release(self) -> None:
        self._count -= 1


async def stream_matches(
    broadcaster: Broadcaster,
    async_asker: AsyncAsker,
    filter_: Filter,
    resume_from: int | None,
    poll_seconds: float,
    ping_seconds: float,
) -> AsyncIterator[bytes]:
    """Return the server-sent events for one connection, encoded, until the broadcaster is closed.

    The first position is read before the function returns. So a client that reads the list after the response started
    misses no row. If a new log replaces this log, the stream ends with a ``gap`` event.
    """
    last_seq, indexed_to = await async_asker.run(lambda asker: (asker.last_seq(), asker.indexed_to(filter_)))
    # A client without a position loads the indexed records itself, and so does a client after a gap. Later records are
    # sent when they are indexed. A position after the log's last record is from another log.
    is_of_other_log = resume_from is not None and resume_from > last_seq
    position = indexed_to if resume_from is None or is_of_other_log else resume_from
    start = gap_event(position) if is_of_other_log else position_event(position)
    return _stream_from(position, start, broadcaster, async_asker, filter_, poll_seconds, ping_seconds)


async def _stream_from(
    position: int,
    start: bytes,
    broadcaster: Broadcaster,
    async_asker: AsyncAsker,
    filter_: Filter,
    poll_seconds: float,
    ping_seconds: float,
) -> AsyncIterator[bytes]:
    """Yield the event ``start``, then the matches after ``position``."""
    yield b"retry: 2000\n\n"
    yield start
    next_ping_ns = clock.monotonic_ns() + int(ping_seconds * clock.NANOSECONDS)
    while not broadcaster.is_closed:
        records, reached = await _read_since(async_asker, position, filter_)
        if reached < position:
            yield gap_event(reached)
            return
        if records:
            yield b"".join(map(row_event, records))
        if reached > position and not records:
            yield position_event(reached)
        position = reached
        if clock.monotonic_ns() >= next_ping_ns:
            next_ping_ns = clock.monotonic_ns() + int(ping_seconds * clock.NANOSECONDS)
            yield b": ping\n\n"
        if len(records) < _BATCH:
            await asyncio.sleep(poll_seconds)


async def _read_since(async_asker: AsyncAsker, position: int, filter_: Filter) -> tuple[list[Record], int]:
    """Return the next indexed records after ``position`` that match the filter, and the position reached.

    A position is a ``seq``. If the store cannot be read, the result is an empty list and ``position``. If a new log has
    replaced this log, the result is an empty list and a lower position.
    """

    def question(asker: Asker) -> tuple[list[Record], int]:
        return (
            ([], asker.indexed_to(filter_)) if asker.last_seq() < position else asker.since(position, filter_, _BATCH)
        )

    try:
        return await async_asker.run(question)
    except (StoreUnavailable, DeadlinePassed):
        return [], position
