"""The operating system's part of the journal: allocating, syncing and locking files, on Linux and macOS.

The only module that knows which calls a platform lacks. Every function raises OSError as the system gave it.
"""

import fcntl
import mmap
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

_FLAGS: Final = os.O_CLOEXEC | os.O_NOFOLLOW
#: The page cache keeps what one write brought as one folio. A page that is mapped and changed makes its whole folio
#: dirty, and each sync writes that: so the first page, which has a segment's mark, is written by itself.
_FIRST: Final = mmap.PAGESIZE
_ZEROS: Final = bytes(1 << 16)


def create_file(path: Path) -> int:
    """A descriptor of a new file, mode 0600, open for reading and writing."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _FLAGS, 0o600)


def open_file(path: Path) -> int:
    """A descriptor of an existing file, read-only."""
    return os.open(path, os.O_RDONLY | _FLAGS)


def make_directory(path: Path) -> None:
    """A directory of mode 0700, its name on stable storage, and its parents. An existing one is fine."""
    if path.is_dir():
        return
    if not path.parent.exists():
        make_directory(path.parent)
    path.mkdir(mode=0o700, exist_ok=True)
    sync_directory(path.parent)


def allocate(descriptor: int, size: int, *, zero: bool) -> None:
    """Gives a new file its full size on disk; ``zero`` writes it through, so that later syncs cost half."""
    if not zero and hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, size)
    elif not zero and hasattr(fcntl, "F_PREALLOCATE"):
        preallocate_on_macos(descriptor, size)
    else:
        write_all(descriptor, _ZEROS[: min(size, _FIRST)], 0)
        for at in range(_FIRST, size, len(_ZEROS)):
            write_all(descriptor, _ZEROS[: size - at], at)


def preallocate_on_macos(descriptor: int, size: int) -> None:
    """``F_PREALLOCATE`` with struct fstore: all or nothing (4), from the end of the file (3)."""
    import struct

    fcntl.fcntl(descriptor, fcntl.F_PREALLOCATE, struct.pack("@Iiqqq", 4, 3, 0, size, 0))  # type: ignore[attr-defined,unused-ignore]
    os.ftruncate(descriptor, size)


def write_all(descriptor: int, data: bytes, at: int) -> None:
    """Writes all of ``data`` at the offset, however many calls it takes."""
    written = os.pwrite(descriptor, data, at)
    if written == len(data):
        return
    rest = memoryview(data)
    while written < len(data):
        step = os.pwrite(descriptor, rest[written:], at + written)
        if step == 0:
            raise OSError(5, "the disk took no byte of a write")
        written += step


def sync(descriptor: int) -> None:
    """Returns when the file's data is on stable storage."""
    if hasattr(fcntl, "F_FULLFSYNC"):
        fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)  # type: ignore[attr-defined,unused-ignore]
    elif hasattr(os, "fdatasync"):
        os.fdatasync(descriptor)
    else:
        os.fsync(descriptor)


def sync_directory(path: Path) -> None:
    """Makes a directory's entries durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def try_lock(path: Path) -> int | None:
    """Takes the exclusive lock of a file (made if missing): its descriptor, or None while another process has it.

    The lock ends with the process, however it ends.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | _FLAGS, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def free_bytes(path: Path) -> int:
    """What an ordinary user may still write on the file system of ``path``."""
    found = os.statvfs(path)
    return found.f_bavail * found.f_frsize


def bytes_below(path: Path) -> int:
    """Bytes the files below a directory take on disk. What vanishes meanwhile counts as nothing."""
    total = 0
    with suppress(OSError), os.scandir(path) as entries:
        for entry in entries:
            with suppress(OSError):
                below = entry.is_dir(follow_symlinks=False)
                total += bytes_below(Path(entry.path)) if below else entry.stat().st_blocks * 512
    return total
