"""Evict files from the system's page cache, and measure reads from disk."""

import os
import random
import time
from pathlib import Path
from typing import Final

_ALL: Final = Path("/proc/sys/vm/drop_caches")
_READ_BYTES: Final = 8192


def drop_page_cache(directory: Path) -> str:
    """Drop the whole page cache if permitted, otherwise only the directory's files.

    Returns the method that was used.
    """
    os.sync()
    try:
        _ALL.write_text("1")
        return "drop_caches"
    except OSError:
        for path in directory.rglob("*"):
            if path.is_file():
                _forget(path)
        return "posix_fadvise"


def _forget(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)


def random_read_ms(path: Path, times: int) -> list[float]:
    """Read 8 KiB at random offsets of a file, and return the duration of each read in milliseconds."""
    chance = random.Random(1)
    blocks = path.stat().st_size // _READ_BYTES
    found = []
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_RANDOM)
        for _ in range(times):
            offset = chance.randrange(blocks) * _READ_BYTES
            began = time.perf_counter_ns()
            os.pread(descriptor, _READ_BYTES, offset)
            found.append((time.perf_counter_ns() - began) / 1e6)
    finally:
        os.close(descriptor)
    return found
