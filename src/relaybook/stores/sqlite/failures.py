"""Translates what SQLite and the file system raise into the port's errors, once, at the edge."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import apsw
import msgspec
import zstandard

from relaybook.stores.base import BatchRejected, DeadlinePassed, StoreDamaged, StoreUnavailable

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
_DATA: Final = (ValueError, TypeError, OverflowError, msgspec.MsgspecError, zstandard.ZstdError)


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Errors inside the block come out as those of the port; ``path`` is the file the text names."""
    try:
        yield
    except apsw.Error as error:
        raise _of_sqlite(error, path) from error
    except OSError as error:
        advice = _ADVICE.get(error.errno or 0, _HARDWARE)
        raise StoreUnavailable(f"{error.filename or path}: {error.strerror or error}: {advice}.") from error
    except _DATA as error:
        raise BatchRejected(f"A value cannot be stored: {error}.") from error


def _of_sqlite(error: apsw.Error, path: Path) -> Exception:
    if isinstance(error, apsw.CorruptError | apsw.NotADBError):
        return StoreDamaged(f"{path} is damaged and cannot be read ({error}): move it away, or restore a copy of it.")
    if isinstance(error, apsw.InterruptError):
        return DeadlinePassed("The question took longer than its deadline: ask for a shorter span or fewer conditions.")
    for kind, what in _ENVIRONMENT:
        if isinstance(error, kind):
            return StoreUnavailable(f"{path}: {what} ({error}).")
    return BatchRejected(f"A value cannot be stored: {error}.")
