"""Moves a store that cannot be used out of the way, whole, so that an empty one can take over at once.

Nothing in it is changed or deleted: ``relaybook check --salvage`` reads what can still be read.
"""

from pathlib import Path
from typing import Final

import apsw

from relaybook import clock
from relaybook.log.record import Gap
from relaybook.log.store.sqlite.connection import DATABASE, open_for_reading

_HELD: Final = "SELECT min(first_at), sum(requests) FROM namespaces WHERE requests > 0"


def set_aside(directory: Path) -> Path | None:
    """Renames the store's directory; its new path. None when there is no such directory. Raises OSError."""
    now_us = clock.wall_us()
    aside = directory.with_name(f"{directory.name}.corrupt-{now_us}")
    try:
        directory.rename(aside)
    except FileNotFoundError:
        return None
    return aside


def list_set_aside(directory: Path) -> list[Path]:
    """What was set aside of this store, oldest first. A directory that a person named so is not among them."""
    found = directory.parent.glob(f"{directory.name}.corrupt-*")
    return sorted(path for path in found if path.name.rpartition("-")[2].isdecimal())


def gap_of(aside: Path) -> Gap:
    """What the log misses because of it: since its first request until it was set aside, as far as it can be read."""
    at_us = int(aside.name.rpartition("-")[2])
    first_us, requests = _held(aside)
    return Gap(from_at=first_us or at_us, to_at=at_us, count=requests, reason="store_set_aside")


def _held(aside: Path) -> tuple[int | None, int]:
    if not (aside / DATABASE).exists():
        return None, 0
    try:
        connection = open_for_reading(aside)
        try:
            first_us, requests = connection.execute(_HELD).get
        finally:
            connection.close()
    except (apsw.Error, TypeError):
        return None, 0
    return first_us, requests or 0
