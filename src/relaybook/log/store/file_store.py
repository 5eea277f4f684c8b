"""Define what only a store in files can do: back up, find damage, and be set aside."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import msgspec

from relaybook.log.record import Gap
from relaybook.log.store.entry import Entry


class Backup(msgspec.Struct, frozen=True, kw_only=True):
    """The size of a backup.

    ``records`` is the number of requests. ``total_bytes`` is the number of body bytes. ``copied_bytes`` is the number
    of body bytes that this backup copied. The other body bytes were already in the directory of the backup.
    """

    records: int
    copied_bytes: int
    total_bytes: int


class SetAside(Protocol):
    """A store that was set aside because it is damaged."""

    @property
    def location(self) -> str:
        """The store's location, for messages."""

    def gap(self) -> Gap:
        """Return the gap in the log from the store's first request to the time at which the store was set aside.

        If the store cannot be read, the gap starts and ends at this time, and its ``count`` is 0.
        """

    def entries(self) -> Iterator[Entry | None]:
        """Yield the readable requests, oldest first, and `None` for each request that cannot be read.

        Details and bodies that cannot be read are omitted. Raises StoreDamaged if nothing can be read.
        """

    def mark_salvaged(self) -> str:
        """Rename the store, so that it is not listed again. Returns the new location."""


class FileStore(Protocol):
    """A store in a directory."""

    def bytes_per_day(self, oldest_us: int | None) -> float | None:
        """Return the number of body bytes written per day in the last week, without reading the database.

        ``oldest_us`` is the start time of the oldest request. It shows how old the log is. If it is `None`, the date of
        the oldest body is used for this purpose.
        Returns `None` if at most 1 MiB was written, or if the log is too young for an estimate.
        """

    def back_up(self, target: Path, on_progress: Callable[[int, int], object]) -> Backup:
        """Copy the store to a directory while the store may be in use.

        A later backup to the same directory copies only new bodies. ``on_progress`` is called with the number of body
        bytes copied so far and the total. Raises StoreUnavailable and UnsupportedSchema.
        """

    def damage(self) -> str | None:
        """Return a problem with the structure of the store, or `None` if there is no problem. Bodies are not read.

        Raises StoreUnavailable and StoreDamaged.
        """

    def set_aside(self) -> str | None:
        """Set the damaged store aside, so that an empty store can replace it. Returns the new location.

        Returns `None` if there is no store. Raises OSError.
        """

    def list_set_aside(self) -> list[SetAside]:
        """Return the stores that were set aside and not salvaged, oldest first."""
