"""Set an unusable store aside by renaming its directory.

An empty store can immediately replace the unusable store. Nothing in the unusable store is changed or deleted.
``relaybook check --salvage`` copies the readable records into the new store.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import apsw
import msgspec

from relaybook import clock
from relaybook.log.record import Gap
from relaybook.log.store.entry import Entry
from relaybook.log.store.errors import StoreDamaged
from relaybook.log.store.files import DATABASE
from relaybook.log.store.sqlite.connection import open_for_reading
from relaybook.log.store.sqlite.reader import SqliteReader

#: A checkpoint is a running request, of which the journal may have only the rest.
_CONTENTS: Final = (
    "SELECT min(first_at), coalesce(sum(requests), 0) + (SELECT count(*) FROM checkpoints) FROM namespaces "
    "WHERE requests > 0"
)


def set_aside(directory: Path) -> Path | None:
    """Rename the store's directory and return the new path.

    `None` if the directory does not exist. Raises OSError.
    """
    now_us = clock.wall_us()
    path = directory.with_name(f"{directory.name}.corrupt-{now_us}")
    try:
        directory.rename(path)
    except FileNotFoundError:
        return None
    return path


def list_set_aside(directory: Path) -> list[Path]:
    """Return the directories of this store that were set aside, oldest first.

    Directories to which a user gave a similar name are not included.
    """
    found = directory.parent.glob(f"{directory.name}.corrupt-*")
    return sorted(path for path in found if path.name.rpartition("-")[2].isdecimal())


class DamagedStore:
    """A store that was set aside. Implements ``SetAside``."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def location(self) -> str:
        return str(self._path)

    def gap(self) -> Gap:
        """Return the gap from the store's first request to the time at which the store was set aside."""
        at_us = int(self._path.name.rpartition("-")[2])
        first_us, requests = _contents(self._path)
        return Gap(from_at=first_us or at_us, to_at=at_us, count=requests, reason="store_set_aside")

    def entries(self) -> Iterator[Entry | None]:
        reader = SqliteReader(self._path)
        try:
            for seq in range(1, reader.last_seq() + 1):
                try:
                    entry = reader.salvage(seq)
                except (StoreDamaged, msgspec.MsgspecError, ValueError, TypeError):
                    yield None  # for example a text that is not UTF-8
                else:
                    if entry is not None:
                        yield entry
        finally:
            reader.close()

    def mark_salvaged(self) -> str:
        return str(self._path.rename(self._path.with_name(self._path.name.replace(".corrupt-", ".salvaged-"))))


def _contents(path: Path) -> tuple[int | None, int]:
    if not (path / DATABASE).exists():
        return None, 0
    try:
        connection = open_for_reading(path)
        try:
            first_us, requests = connection.execute(_CONTENTS).get
        finally:
            connection.close()
    except (apsw.Error, TypeError):
        return None, 0
    return first_us, requests or 0
