"""Define the exceptions that a store raises, and wait for a busy store.

Most exceptions have one of three causes: the environment (disk full, database busy or locked, I/O error), damaged data
on the disk, or a batch that cannot be stored.
"""

import time
from collections.abc import Callable
from typing import Final, TypeVar

T = TypeVar("T")

_BUSY_SECONDS: Final = 0.1


class StoreUnavailable(Exception):
    """The environment prevented the operation, for example a full disk, a locked database or an I/O error.

    Unless a subclass says otherwise, the same call can be retried later.
    """


class StoreMisconfigured(StoreUnavailable):
    """The store cannot be used with these settings.

    The message says what to change. A server does not start with such settings.
    """


class StoreFull(StoreUnavailable):
    """The disk is full, or a disk quota is used up."""


class StoreBusy(StoreUnavailable):
    """The store cannot be written yet, because an earlier insert may still run.

    The process that sent the insert may have died. Wait until the store can be written again. This takes at most 30
    seconds.
    """


def until_writable(write: Callable[[], T]) -> T:
    """Call ``write`` until it does not raise StoreBusy, and return its result. Used by commands."""
    while True:
        try:
            return write()
        except StoreBusy:
            time.sleep(_BUSY_SECONDS)


class SyncFailed(Exception):
    """A sync failed, and the operating system may have dropped the unwritten data.

    Do not retry the sync, because a second sync would report success although the data was not written. Instead,
    restart the recorder. The recorder then reads the data from the journal and writes the data again.
    """


class StoreDamaged(StoreUnavailable):
    """The files on disk cannot be read as a store.

    The message names the file. A retry helps only if the disk failed to read once.
    """


class BodyDamaged(StoreUnavailable):
    """The bytes of one body cannot be read.

    The message names the damaged file or, in a ClickHouse store, the damaged chunk. The rest of the store can still be
    read.
    """


class BatchRejected(Exception):
    """The batch contains data that cannot be stored.

    Commit its entries one by one to find this data.
    """


class UnsupportedSchema(Exception):
    """The store was written by a version of Relaybook with another schema. The message says what to do."""

    def __init__(self, name: str, found: int, supported: int, instead: str) -> None:
        """``found`` is the schema's version, and ``instead`` completes "Start that version, or …"."""
        when = "a later" if found > supported else "an earlier"
        super().__init__(
            f"{name} was written by {when} version of Relaybook. Its schema version is {found}, but this version "
            f"supports {supported}. Start that version, or {instead}."
        )


class DeadlinePassed(Exception):
    """The query took longer than its deadline. The connection to the database can still be used."""
