"""Calls to the file system that the store needs and Python does not have in this shape.

Files are opened without following links, are not inherited by child processes, and have their modes whatever the umask.
Errors are the system's own (OSError); the callers translate them.
"""

import ctypes
import fcntl
import os
import struct
import sys
import time
from pathlib import Path
from typing import Final

from relaybook import clock

_ZEROS: Final = bytes(1 << 20)
_KEEP_SIZE_AND_PUNCH: Final = 0x01 | 0x02
_F_PUNCHHOLE: Final = 99


def make_directory(path: Path) -> None:
    """Makes the directory with mode 0700, its name on stable storage, and its parents. One that is there stays."""
    if path.is_dir():
        return
    if not path.parent.exists():
        make_directory(path.parent)
    path.mkdir(exist_ok=True)
    path.chmod(0o700)
    sync_directory(path.parent)


def open_file(path: Path) -> int:
    """A descriptor for reading and writing; the file is made with mode 0600 when it is not there."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    if os.fstat(fd).st_mode & 0o777 != 0o600:
        os.fchmod(fd, 0o600)
    return fd


def lock(path: Path, wait_s: float) -> int | None:
    """A descriptor that holds the lock on the file, None when another process held it for ``wait_s``."""
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
    """What tells the file from another one of the same name; None when there is none."""
    try:
        found = path.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def write_at(fd: int, data: bytes, offset: int) -> None:
    """Writes all of it, in as many calls as the system wants."""
    written = os.pwrite(fd, data, offset)
    while written < len(data):
        written += os.pwrite(fd, memoryview(data)[written:], offset + written)


def sync(fd: int) -> None:
    """The file's bytes are on stable storage afterwards, also behind the drive's own cache."""
    if sys.platform == "darwin":
        fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
    else:
        os.fdatasync(fd)


def sync_directory(path: Path) -> None:
    """New names in the directory are on stable storage afterwards."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def overwrite(fd: int, offset: int, length: int) -> None:
    """Puts zeros there, syncs, then gives the blocks back where the system can."""
    for start in range(offset, offset + length, len(_ZEROS)):
        write_at(fd, _ZEROS[: min(len(_ZEROS), offset + length - start)], start)
    sync(fd)
    _punch_hole(fd, offset, length)


def _punch_hole(fd: int, offset: int, length: int) -> None:
    """Only saves space, the zeros are written: that a system or file system cannot do it is no error."""
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
