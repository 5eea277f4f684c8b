"""Translate the exceptions of SQLite and the file system into the exceptions of ``log/store/errors.py``."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import apsw
import msgspec
import zstandard

from relaybook.log.store.errors import BatchRejected, DeadlinePassed, StoreDamaged, StoreFull, StoreUnavailable
from relaybook.system import disk

_PERMISSIONS_HINT: Final = "check that the directory exists and that Relaybook's user can write to it"
_MEMORY_HINT: Final = "out of memory: end other programs, or add memory"
_SPACE_HINT: Final = "free disk space; pending requests are stored as soon as there is enough space"
_DISK_HINT: Final = "check the system log for disk errors"

#: Errors caused by the environment, and texts that say how to fix them. The first matching class is used.
_ENVIRONMENT_ERRORS: Final[tuple[tuple[type[apsw.Error], str], ...]] = (
    (apsw.BusyError, "another program is using the database; close that program, or wait until it is done"),
    (apsw.LockedError, "another program is using the database; close that program, or wait until it is done"),
    (apsw.ProtocolError, "another program is using the database; close that program, or wait until it is done"),
    (apsw.ReadOnlyError, f"the file is not writable: {_PERMISSIONS_HINT}"),
    (apsw.CantOpenError, f"the file cannot be opened: {_PERMISSIONS_HINT}"),
    (apsw.PermissionsError, f"the file cannot be opened: {_PERMISSIONS_HINT}"),
    (apsw.IOError, f"I/O error: {_DISK_HINT}"),
    (apsw.NoMemError, _MEMORY_HINT),
)
_HINTS_BY_ERRNO: Final = {
    errno.ENOSPC: _SPACE_HINT,
    errno.EDQUOT: _SPACE_HINT,
    errno.EFBIG: _SPACE_HINT,
    errno.EACCES: _PERMISSIONS_HINT,
    errno.EPERM: _PERMISSIONS_HINT,
    errno.EROFS: _PERMISSIONS_HINT,
    errno.ENOTDIR: _PERMISSIONS_HINT,
    errno.ENOENT: _PERMISSIONS_HINT,
    errno.EIO: _DISK_HINT,
}
_DATA_ERRORS: Final = (
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
    """Translate errors of SQLite and the file system into the exceptions of ``log/store/errors.py``.

    Only errors in the ``with`` block are translated. ``path`` is the file that messages name.
    """
    try:
        yield
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise StoreDamaged(
            f"{path} is damaged ({error}). Test the disk. Then stop the server, and run relaybook check --salvage."
        ) from error
    except apsw.InterruptError as error:
        raise DeadlinePassed(
            "The query exceeded its deadline. Use a shorter time range or a narrower filter."
        ) from error
    except apsw.Error as error:
        # SQLite raises IOError if a quota is used up
        if isinstance(error, apsw.FullError) or (isinstance(error, apsw.IOError) and disk.is_full(path.parent)):
            raise StoreFull(f"{path}: the disk is full: {_SPACE_HINT} ({error}).") from error
        hint = next((hint for kind, hint in _ENVIRONMENT_ERRORS if isinstance(error, kind)), None)
        if hint is None:
            raise
        raise StoreUnavailable(f"{path}: {hint} ({error}).") from error
    except zstandard.ZstdError as error:
        if not _is_out_of_memory(error):
            raise
        raise StoreUnavailable(f"{path}: {_MEMORY_HINT} ({error}).") from error
    except OSError as error:
        hint = _HINTS_BY_ERRNO.get(error.errno or 0, _DISK_HINT)
        kind = StoreFull if hint is _SPACE_HINT else StoreUnavailable
        raise kind(f"{error.filename or path}: {error.strerror or error}: {hint}.") from error


@contextmanager
def rejecting() -> Iterator[None]:
    """Raise BatchRejected if the ``with`` block fails because a value of the batch cannot be stored."""
    try:
        yield
    except _DATA_ERRORS as error:
        if _is_out_of_memory(error):
            raise  # ``translated`` handles this error
        raise BatchRejected(f"A value cannot be stored: {error}.") from error


def _is_out_of_memory(error: Exception) -> bool:
    """Return whether compression failed for lack of memory. zstandard has no class for this error."""
    return isinstance(error, zstandard.ZstdError) and "memory" in str(error)
