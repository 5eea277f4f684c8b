"""Translates what SQLite and the file system raise into the port's errors, once, at the edge."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import apsw
import msgspec
import zstandard

from relaybook.log.store.errors import BatchRejected, DeadlinePassed, StoreDamaged, StoreFull, StoreUnavailable

_RIGHTS: Final = "see that the directory exists and that the user Relaybook runs as may write there"
_SPACE: Final = "free some space; what waits is stored as soon as there is room"
_HARDWARE: Final = "see the system's log for errors of the disk"

#: What the environment causes, and what mends it. The first class that fits counts.
_ENVIRONMENT: Final[tuple[tuple[type[apsw.Error], str], ...]] = (
    (apsw.BusyError, "another program holds the database; close it, or wait until it is done"),
    (apsw.LockedError, "another program holds the database; close it, or wait until it is done"),
    (apsw.ProtocolError, "another program holds the database; close it, or wait until it is done"),
    (apsw.FullError, f"the disk is full: {_SPACE}"),
    (apsw.ReadOnlyError, f"it cannot be written: {_RIGHTS}"),
    (apsw.CantOpenError, f"it cannot be opened: {_RIGHTS}"),
    (apsw.PermissionsError, f"it cannot be opened: {_RIGHTS}"),
    (apsw.IOError, f"reading or writing failed: {_HARDWARE}"),
    (apsw.NoMemError, "there is not enough memory"),
)
_ADVICE: Final = {
    errno.ENOSPC: _SPACE,
    errno.EDQUOT: _SPACE,
    errno.EFBIG: _SPACE,
    errno.EACCES: _RIGHTS,
    errno.EPERM: _RIGHTS,
    errno.EROFS: _RIGHTS,
    errno.ENOTDIR: _RIGHTS,
    errno.ENOENT: _RIGHTS,
    errno.EIO: _HARDWARE,
}
_DATA: Final = (
    apsw.ConstraintError,
    apsw.MismatchError,
    apsw.TooBigError,
    ValueError,
    TypeError,
    OverflowError,
    msgspec.MsgspecError,
    zstandard.ZstdError,
)


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """What the environment causes inside the block comes out as the port's errors; ``path`` is the file they name."""
    try:
        yield
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise StoreDamaged(
            f"{path} is damaged and cannot be read ({error}): Relaybook sets it aside when it starts, and "
            "`relaybook check --salvage` copies back what can be read of it."
        ) from error
    except apsw.InterruptError as error:
        raise DeadlinePassed(
            "The question took longer than its deadline: ask for a shorter span or fewer conditions."
        ) from error
    except apsw.Error as error:
        advice = next((advice for kind, advice in _ENVIRONMENT if isinstance(error, kind)), None)
        if advice is None:
            raise
        kind = StoreFull if isinstance(error, apsw.FullError) else StoreUnavailable
        raise kind(f"{path}: {advice} ({error}).") from error
    except OSError as error:
        advice = _ADVICE.get(error.errno or 0, _HARDWARE)
        kind = StoreFull if advice is _SPACE else StoreUnavailable
        raise kind(f"{error.filename or path}: {error.strerror or error}: {advice}.") from error


@contextmanager
def rejecting() -> Iterator[None]:
    """What the data of a batch causes inside the block comes out as BatchRejected."""
    try:
        yield
    except _DATA as error:
        raise BatchRejected(f"A value cannot be stored: {error}.") from error
