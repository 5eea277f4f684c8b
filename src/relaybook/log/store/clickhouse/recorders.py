"""Let several recorders write to one log: number requests, and publish how far the log is complete.

A ``seq`` combines the time of the ClickHouse server with the number of the recorder, so two recorders never choose the
same ``seq``. The time is in units of 32 microseconds since 2026, so values stay below 2^53 until 2061.

Each recorder writes its *mark* at least once a second. The mark is a ``seq``, and the recorder will only insert
requests with a higher ``seq``. Readers read up to the lowest mark of all live recorders, so they never skip a request
that is inserted late. A recorder that has written no mark for 30 seconds is not live. Before its next insert, such a
recorder *joins* again: it writes a mark and then reads the marks of the other recorders. The recorder's new ``seq``
values are higher than all these marks. No reader has read beyond the marks, so no reader skips the new requests.
"""

import random
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final, NamedTuple

import msgspec

from relaybook import clock
from relaybook.log.store.clickhouse.connection import Database
from relaybook.log.store.clickhouse.state import Changes, State
from relaybook.log.store.errors import StoreUnavailable
from relaybook.log.store.status import RecorderState

_EPOCH_US: Final = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp()) * 1_000_000
_UNIT_US: Final = 32
#: The number of ``seq`` values in one hour.
HOUR: Final = 3600 * 1_000_000 // _UNIT_US * 256
_MARK_EVERY_NS: Final = clock.NANOSECONDS
#: A recorder that has written no mark for this time is not live, so readers do not wait for it.
_LIVE_US: Final = 30_000_000
#: If a recorder's last mark is older than this, the recorder joins again before it inserts. The remaining 26 seconds of
#: ``_LIVE_US`` are enough for an insert, which begins within 10 seconds and takes at most 15 seconds.
_JOIN_AGAIN_NS: Final = 4 * clock.NANOSECONDS
#: If a recorder writes no mark for this time, another recorder can take its number. Each ``seq`` contains the number
#: of its recorder.
_NUMBER_FREE_US: Final = 3600 * 1_000_000
_encode: Final = msgspec.msgpack.Encoder().encode


class _Place(msgspec.Struct, array_like=True):
    """The value that a recorder writes about itself to the table ``state``.

    ``number`` is part of all ``seq`` values of the recorder. The recorder will only insert requests whose ``seq`` is
    higher than ``mark``. ``has_ended`` is True after the recorder was closed. ``server`` is the name of the recorder's
    server, which users see. If the mark was written with new requests, ``delay_us`` is the time in microseconds from
    the end of the last of these requests to the mark. Otherwise, ``delay_us`` is 0.
    """

    number: int
    mark: int
    has_ended: bool
    server: str
    delay_us: int


_decode: Final = msgspec.msgpack.Decoder(_Place).decode


class Other(NamedTuple):
    """A recorder as readers see it. ``age_us`` is the time since it wrote ``place``, by ClickHouse's clock."""

    name: str
    place: _Place
    age_us: int

    @property
    def is_live(self) -> bool:
        return not self.place.has_ended and self.age_us < _LIVE_US


def read_recorders(state: State) -> list[Other]:
    """Return all recorders that ever wrote to the log, sorted by name."""
    return [Other(name, _decode(value), age_us) for name, value, age_us in state.read_with_ages("recorder")]


def live_recorders(state: State) -> list[str]:
    """Return the names of the recorders that were not closed and wrote a mark in the last 30 seconds."""
    return [each.name for each in read_recorders(state) if each.is_live]


def recorder_states(state: State) -> list[RecorderState]:
    """Return the recorders that were not closed, sorted by server.

    Recorders that wrote no mark in the last hour are omitted.
    """
    found = [
        RecorderState(server=place.server, is_live=each.is_live, lag_us=place.delay_us + each.age_us)
        for each in read_recorders(state)
        if not (place := each.place).has_ended and each.age_us < _NUMBER_FREE_US
    ]
    return sorted(found, key=lambda each: each.server)


def lost_recorders(state: State, server: str) -> list[str]:
    """Return the names of a server's recorders that were not closed but are no longer live.

    Raises StoreUnavailable if the server has no such recorders.
    """
    recorders = [each for each in read_recorders(state) if not each.place.has_ended]
    lost = [each for each in recorders if not each.is_live]
    found = [each.name for each in lost if each.place.server == server]
    if not found and any(each.place.server == server for each in recorders):
        raise StoreUnavailable(f"The server {server} is not lost, because it wrote to the log in the last 30 seconds.")
    if not found:
        names = ", ".join(sorted({each.place.server for each in lost})) or "none"
        raise StoreUnavailable(f"No lost server of this log has the name {server}. Lost servers: {names}.")
    return found


def complete_to(state: State) -> int:
    """Return the ``seq`` up to which the log is complete. Later inserts have a higher ``seq``."""
    recorders = read_recorders(state)
    live = [each.place.mark for each in recorders if each.is_live]
    return min(live) if live else max((each.place.mark for each in recorders), default=0)


class Numbering:
    """Makes ``seq`` values from the time of the ClickHouse server."""

    #: The number of recorders that can be live at the same time.
    slots = 256

    def __init__(self, database: Database) -> None:
        self._database = database

    def now(self) -> int:
        """Return the time in units of 32 microseconds since 2026. Raises StoreUnavailable."""
        return (self.server_us() - _EPOCH_US) // _UNIT_US

    def server_us(self) -> int:
        """Return the time of the ClickHouse server, in microseconds since 1970. Raises StoreUnavailable."""
        return self._database.server_us()

    def first(self, unit: int) -> int:
        """Return the lowest ``seq`` of a time unit. ``unit`` is a time that ``now`` returns."""
        return unit * self.slots


class Membership:
    """The membership of one recorder in a log to which other recorders may also write. Not thread-safe.

    This object makes the recorder's ``seq`` values and writes the recorder's mark. The mark tells readers that the
    recorder will only insert requests with a higher ``seq``. Methods that write raise StoreUnavailable.
    """

    def __init__(self, state: State, name: str, server: str, numbering: Numbering) -> None:
        """``name`` is the name of the recorder. ``server`` is the name of its server, which users see."""
        self._state = state
        self._name = name
        self._server = server
        self._numbering = numbering
        self._number = 0
        self._unit = 0
        self._marked_ns: int | None = None
        self._leads = False
        self._looked_ns: int | None = None

    def load(self) -> bool:
        """Read the ``_Place`` that this recorder wrote about itself.

        Returns False if the recorder stopped without leaving the log, so that one of its inserts may still run. Raises
        StoreUnavailable if another server writes under the name of this recorder. This happens if one data directory is
        a copy of the other. Both servers would use the same ``seq`` values.
        """
        own = next((each for each in read_recorders(self._state) if each.name == self._name), None)
        if own is None:
            return True
        if own.is_live and own.place.server != self._server:
            raise StoreUnavailable(
                f"{own.place.server} wrote to the log in the last 30 seconds, and {self._server} has the same data "
                "directory or a copy of it. Stop one of these servers, or give it an empty data directory."
            )
        self._number = own.place.number
        self._unit = own.place.mark // self._numbering.slots
        return own.place.has_ended

    def join(self) -> None:
        """Join the log, so that readers wait for this recorder.

        After this call, ``take`` returns only ``seq`` values above the positions of all readers.
        """
        taken = _taken(each for each in read_recorders(self._state) if each.name != self._name)
        while True:
            if self._number in taken:
                self._number = self._free_number(taken)
            self.write({})
            # If a reader did not see this recorder's mark, it read the other marks earlier than this query does. So the
            # reader's position is not above the marks that are read here.
            others = [each for each in read_recorders(self._state) if each.name != self._name]
            taken = _taken(others)
            if self._number not in taken:
                break
        self._unit = max([self._unit, *(each.place.mark // self._numbering.slots for each in others)])

    def _free_number(self, taken: set[int]) -> int:
        free = sorted(set(range(self._numbering.slots)) - taken)
        if not free:
            raise StoreUnavailable(f"This log already has the maximum number of recorders, {self._numbering.slots}.")
        return random.choice(free)  # noqa: S311 - two recorders that join at the same time should choose different ones

    def join_if_late(self) -> None:
        """Join again if readers may have stopped waiting for this recorder."""
        if self._marked_ns is None or clock.monotonic_ns() - self._marked_ns >= _JOIN_AGAIN_NS:
            self.join()

    def take(self, count: int) -> list[int]:
        """Return new ``seq`` values in ascending order. The values are not reused, even if the insert fails."""
        first = max(self._unit + 1, self._numbering.now())
        self._unit = max(self._unit, first + count - 1)
        return [self._numbering.first(unit) + self._number for unit in range(first, first + count)]

    def number_above(self, last: int) -> int:
        """Return a chunk number that is higher than ``last`` and that no other recorder uses.

        It is not a ``seq`` value.
        """
        unit = max(last // self._numbering.slots + 1, self._numbering.now())
        return self._numbering.first(unit) + self._number

    def write(self, changes: Changes, delay_us: int = 0) -> None:
        """Write changes to the table ``state``, and the recorder's mark, in one insert.

        The mark tells readers that the recorder will only insert requests with a higher ``seq``. So call this
        method only when all requests with the ``seq`` values from ``take`` are inserted.

        ``delay_us`` is the time in microseconds since the last of the new requests ended, or 0 if the commit has no
        requests.
        """
        self._unit = max(self._unit, self._numbering.now())
        now_ns = clock.monotonic_ns()
        self._state.write({**changes, ("recorder", ""): self._place(delay_us=delay_us)})
        self._marked_ns = now_ns

    def mark_if_due(self) -> None:
        """Write the mark if the last mark is at least a second old.

        Call this method only when no insert is running. Otherwise, readers would miss requests.
        """
        self.join_if_late()
        if self._marked_ns is None or clock.monotonic_ns() - self._marked_ns >= _MARK_EVERY_NS:
            self.write({})

    def leads(self) -> bool:
        """Return whether this recorder is the one that removes requests.

        Of all live recorders, the recorder with the oldest name removes requests. A name begins with the time at which
        it was created. For a short time, this method can return True for two recorders.
        """
        now_ns = clock.monotonic_ns()
        if self._looked_ns is None or now_ns - self._looked_ns >= _MARK_EVERY_NS:
            self._leads = min(live_recorders(self._state), default=None) == self._name
            self._looked_ns = now_ns
        return self._leads

    def leave(self) -> None:
        """Tell readers to stop waiting for this recorder."""
        if self._marked_ns is not None:
            self._state.write({("recorder", ""): self._place(has_ended=True)})

    def _place(self, *, has_ended: bool = False, delay_us: int = 0) -> bytes:
        mark = self._numbering.first(self._unit) + self._number
        return _encode(_Place(self._number, mark, has_ended, self._server, delay_us))


def _taken(recorders: Iterable[Other]) -> set[int]:
    return {each.place.number for each in recorders if each.age_us < _NUMBER_FREE_US}
