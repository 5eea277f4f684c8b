"""Open, lock, write and sync files, with more guarantees than Python's functions.

Symbolic links are not followed. Child processes do not inherit open files. Modes do not depend on the umask. Errors are
raised as OSError, and callers translate them.
"""

import ctypes
import fcntl
import os
import struct
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from relaybook import clock

#: The directory of the packs, below the store's directory.
BODIES: Final = "bodies"
#: The file with the name of this machine's recorder, in the store's directory. Only a shared store has this file.
RECORDER: Final = "recorder"
#: The file that the single writer locks, in the store's directory.
LOCK: Final = "store.lock"

_ZEROS: Final = bytes(1 << 20)
_KEEP_SIZE_AND_PUNCH: Final = 0x01 | 0x02
_F_PUNCHHOLE: Final = 99


def make_directory(path: Path) -> None:
    """Create the directory and its missing parents with mode 0700, and sync their names.

    An existing directory is left unchanged.
    """
    if path.is_dir():
        return
    if not path.parent.exists():
        make_directory(path.parent)
    path.mkdir(exist_ok=True)
    path.chmod(0o700)
    sync_directory(path.parent)


def open_file(path: Path) -> int:
    """Open the file for reading and writing.

    If the file does not exist, it is created. The mode of the file is set to 0600.
    """
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    if os.fstat(fd).st_mode & 0o777 != 0o600:
        os.fchmod(fd, 0o600)
    return fd


def lock(path: Path, wait_s: float) -> int | None:
    """Return a file descriptor that holds the lock on the file.

    `None` if another process held the lock for ``wait_s``.
    """
    fd = open_file(path)
    until_ns = clock.monotonic_ns() + int(wait_s * clock.NANOSECONDS)
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if clock.monotonic_ns() >= until_ns:
                os.close(fd)
                return None
            time.sleep(0.02)
        except OSError:
            os.close(fd)
            raise
        else:
            return fd


def identity(path: Path) -> tuple[int, int] | None:
    """Return the device and inode of the file, or `None` if the file does not exist."""
    try:
        found = path.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def write_at(fd: int, data: bytes, offset: int) -> None:
    """Write all bytes at the offset, in as many calls as needed."""
    written = os.pwrite(fd, data, offset)
    while written < len(data):
        written += os.pwrite(fd, memoryview(data)[written:], offset + written)


def sync(fd: int) -> None:
    """Flush the file's data to stable storage, including the drive's cache."""
    if sys.platform == "darwin":
        fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
    else:
        os.fdatasync(fd)


def sync_directory(path: Path) -> None:
    """Flush new names in the directory to stable storage."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def erase(fd: int, ranges: Sequence[tuple[int, int]]) -> None:
    """Overwrite ranges (offset and length) with zeros, sync once, then free their blocks if possible."""
    for offset, length in ranges:
        for start in range(offset, offset + length, len(_ZEROS)):
            write_at(fd, _ZEROS[: min(len(_ZEROS), offset + length - start)], start)
    sync(fd)
    for offset, length in ranges:
        _punch_hole(fd, offset, length)


def _punch_hole(fd: int, offset: int, length: int) -> None:
    """Free the blocks of a range.

    Freeing blocks only saves space, so no error is raised if the system does not support it.
    """
    if sys.platform == "darwin":
        block = os.fstatvfs(fd).f_bsize
        start = -(-offset // block) * block
        whole = (offset + length) // block * block - start
        if whole > 0:
            try:
                fcntl.fcntl(fd, _F_PUNCHHOLE, struct.pack("=IIqq", 0, 0, start, whole))
            except OSError:
                return
    elif sys.platform == "linux":
        fallocate = ctypes.CDLL(None, use_errno=True).fallocate
        fallocate.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)
        fallocate(fd, _KEEP_SIZE_AND_PUNCH, offset, length)
