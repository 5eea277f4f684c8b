"""Live connections that look for words: they follow the text index, not the hub, for a row does not tell its words.

Such a connection gets finished requests alone, a moment after they were indexed, and asks the store itself.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from relaybook import clock
from relaybook.api.broadcaster import Broadcaster, TooManySubscriptions, gap_event, point_event, row_event
from relaybook.api.reading import Reading
from relaybook.log.query.filters import Filter
from relaybook.log.record import Record
from relaybook.log.store.errors import DeadlinePassed, StoreUnavailable

#: Each asks the store by itself, so there are fewer than of the others.
MAX_FOLLOWERS: Final = 32
_BATCH: Final = 500


class Followers:
    """How many there are."""

    def __init__(self) -> None:
        self._number = 0

    def enter(self) -> None:
        """Raises TooManySubscriptions."""
        if self._number >= MAX_FOLLOWERS:
            raise TooManySubscriptions
        self._number += 1

    def leave(self) -> None:
        self._number -= 1


async def follow(
    broadcaster: Broadcaster,
    reading: Reading,
    wanted: Filter,
    resume_from: int | None,
    poll_seconds: float,
    ping_seconds: float,
) -> AsyncIterator[bytes]:
    """The bytes of one connection, until the hub is closed."""
    yield b"retry: 2000\n\n"
    status = await reading.ask(lambda reader: reader.status())
    # what is recorded and not indexed yet was on no page, so it is news
    seen = min(status.last_seq, status.indexed_to)
    position = seen if resume_from is None else min(resume_from, status.last_seq)
    # a point ahead of the log is of another log
    yield point_event(position) if position == (resume_from or position) else gap_event(position)
    next_ping_ns = clock.monotonic_ns() + int(ping_seconds * clock.NANOSECONDS)
    while not broadcaster.is_closed:
        records, reached = await _since(reading, position, wanted)
        if records:
            yield b"".join(map(row_event, records))
        if reached > position and not records:
            yield point_event(reached)
        position = reached
        if clock.monotonic_ns() >= next_ping_ns:
            next_ping_ns = clock.monotonic_ns() + int(ping_seconds * clock.NANOSECONDS)
            yield b": ping\n\n"
        if len(records) < _BATCH:
            await asyncio.sleep(poll_seconds)


async def _since(reading: Reading, position: int, wanted: Filter) -> tuple[list[Record], int]:
    """What was recorded and indexed since; nothing while the store cannot be read."""
    try:
        return await reading.ask(lambda reader: reader.since(position, wanted, _BATCH))
    except (StoreUnavailable, DeadlinePassed):
        return [], position
