"""Open, allocate, write, sync, lock and erase files, on Linux and macOS.

Only this module handles the differences between the platforms in these operations. Symbolic links are not followed,
child processes do not inherit open files, and modes do not depend on the umask. The functions raise the OSError of a
failed system call.
"""

import errno
import fcntl
import mmap
import os
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from relaybook import clock

_FLAGS: Final = os.O_CLOEXEC | os.O_NOFOLLOW
#: ``allocate`` writes the first page of a file separately, because in a journal segment, this page contains the write
#: mark, which changes often. The page cache keeps the pages of one write together as one folio. If one page of a folio
#: changes, a sync writes the whole folio.
_FIRST: Final = mmap.PAGESIZE
_ZEROS: Final = bytes(1 << 16)
_LOCK_AGAIN_SECONDS: Final = 0.02
_KEEP_SIZE_AND_PUNCH: Final = 0x01 | 0x02
_F_PUNCHHOLE: Final = 99
#: Errors of a read from a damaged part of a disk. Other parts of the file can still be read.
_DAMAGED: Final = frozenset({errno.EIO, errno.EBADMSG})
_NO_SPACE: Final = frozenset({errno.ENOSPC, errno.EDQUOT})


def create_file(path: Path) -> int:
    """Create a file with mode 0600 and return a descriptor for reading and writing."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _FLAGS, 0o600)


def open_file(path: Path) -> int:
    """Open or create a file, set its mode to 0600, and return a descriptor for reading and writing."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | _FLAGS, 0o600)
    if os.fstat(descriptor).st_mode & 0o777 != 0o600:
        os.fchmod(descriptor, 0o600)
    return descriptor


def open_to_read(path: Path) -> int:
    """Open an existing file and return a read-only descriptor."""
    return os.open(path, os.O_RDONLY | _FLAGS)


def is_damaged(error: OSError) -> bool:
    """Return whether ``error`` means that a read failed because the part of the disk that it read is damaged."""
    return error.errno in _DAMAGED


def make_directory(path: Path) -> None:
    """Create a directory and its missing parents with mode 0700, and sync their directory entries.

    An existing directory is left unchanged.
    """
    if path.is_dir():
        return
    if not path.parent.exists():
        make_directory(path.parent)
    path.mkdir(exist_ok=True)
    path.chmod(0o700)
    sync_directory(path.parent)


def allocate(descriptor: int, size: int, *, zero: bool) -> None:
    """Allocate the full size of a new file.

    With ``zero``, fill the file with zeros, which halves the cost of syncs.
    """
    if not zero and hasattr(os, "posix_fallocate"):
        try:
            os.posix_fallocate(descriptor, 0, size)
            return
        # Some volumes, such as network drives, do not support the call, and musl does not emulate it.
        except OSError as error:
            if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS):
                raise
    write_at(descriptor, _ZEROS[: min(size, _FIRST)], 0)
    for at in range(_FIRST, size, len(_ZEROS)):
        write_at(descriptor, _ZEROS[: size - at], at)


def write_at(descriptor: int, data: bytes, at: int) -> None:
    """Write all of ``data`` at offset ``at``, with several system calls if needed."""
    written = os.pwrite(descriptor, data, at)
    if written == len(data):
        return
    rest = memoryview(data)
    while written < len(data):
        step = os.pwrite(descriptor, rest[written:], at + written)
        if step == 0:
            raise OSError(5, "a write to the disk wrote no bytes")
        written += step


def sync(descriptor: int) -> None:
    """Sync the data of a file to stable storage."""
    if hasattr(fcntl, "F_FULLFSYNC"):
        sync_on_macos(descriptor)
    elif hasattr(os, "fdatasync"):
        os.fdatasync(descriptor)
    else:
        os.fsync(descriptor)


def sync_on_macos(descriptor: int) -> None:
    """Sync with ``F_FULLFSYNC``. On volumes without ``F_FULLFSYNC``, such as network drives, sync with ``fsync``."""
    try:
        fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)  # type: ignore[attr-defined,unused-ignore]
    except OSError as error:
        if error.errno not in (errno.ENOTSUP, errno.ENOTTY, errno.EINVAL):
            raise
        os.fsync(descriptor)


def sync_directory(path: Path) -> None:
    """Sync the entries of a directory to stable storage."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def try_lock(path: Path) -> int | None:
    """Create a file if needed and lock it exclusively. Return its descriptor.

    Return `None` if another process has the lock. The lock is released when the process ends for any reason.
    """
    return lock(path, 0)


def lock(path: Path, wait_s: float) -> int | None:
    """Lock a file and return its descriptor, as ``try_lock`` does, but wait up to ``wait_s`` for the lock.

    `None` if another process had the lock for all this time.
    """
    descriptor = open_file(path)
    until_ns = clock.monotonic_ns() + int(wait_s * clock.NANOSECONDS)
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if clock.monotonic_ns() >= until_ns:
                os.close(descriptor)
                return None
            time.sleep(_LOCK_AGAIN_SECONDS)
        except OSError:
            os.close(descriptor)
            raise
        else:
            return descriptor


def hold_lock(descriptor: int) -> None:
    """Lock an open file exclusively, until its descriptor is closed or the process ends."""
    fcntl.flock(descriptor, fcntl.LOCK_EX)


def is_locked(path: Path) -> bool:
    """Return whether another process holds the lock of a file. Does not create the file."""
    descriptor = open_to_read(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def identity(path: Path) -> tuple[int, int] | None:
    """Return the device and inode of a file. `None` if the file does not exist."""
    try:
        found = path.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def erase(descriptor: int, ranges: Sequence[tuple[int, int]]) -> None:
    """Overwrite ranges (offset and length) with zeros, sync once, then free their blocks if possible."""
    for offset, length in ranges:
        for at in range(offset, offset + length, len(_ZEROS)):
            write_at(descriptor, _ZEROS[: offset + length - at], at)
    sync(descriptor)
    for offset, length in ranges:
        _punch_hole(descriptor, offset, length)


def _punch_hole(descriptor: int, offset: int, length: int) -> None:
    """Free the blocks of a range. Errors are ignored, because freeing blocks only saves space."""
    if sys.platform == "darwin":
        import struct

        block = os.fstatvfs(descriptor).f_frsize  # f_bsize is the preferred size of reads and writes, 1 MiB
        start = -(-offset // block) * block
        whole = (offset + length) // block * block - start
        if whole > 0:
            with suppress(OSError):
                fcntl.fcntl(descriptor, _F_PUNCHHOLE, struct.pack("=IIqq", 0, 0, start, whole))
    elif sys.platform == "linux":
        import ctypes

        fallocate = ctypes.CDLL(None, use_errno=True).fallocate
        fallocate.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)
        fallocate(descriptor, _KEEP_SIZE_AND_PUNCH, offset, length)


def free_bytes(path: Path) -> int:
    """Return the number of bytes that an unprivileged user can still write on the file system of ``path``."""
    found = os.statvfs(path)
    return found.f_bavail * found.f_frsize


def is_full(directory: Path) -> bool:
    """Return whether the disk is full or a quota is used up. The test is a small write to a temporary file."""
    import tempfile  # not at the top, because relays do not need this module

    try:
        with tempfile.TemporaryFile(dir=directory) as file:
            write_at(file.fileno(), _ZEROS, 0)
    except OSError as error:
        return error.errno in _NO_SPACE
    return False


def total_bytes(path: Path) -> int:
    """Return the size of the file system of ``path``, in bytes."""
    found = os.statvfs(path)
    return found.f_blocks * found.f_frsize


def bytes_below(path: Path) -> int:
    """Return the disk space that all files below a directory use, in bytes. Skip files that are deleted meanwhile."""
    total = 0
    with suppress(OSError), os.scandir(path) as entries:
        for entry in entries:
            with suppress(OSError):
                below = entry.is_dir(follow_symlinks=False)
                total += bytes_below(Path(entry.path)) if below else entry.stat().st_blocks * 512
    return total
