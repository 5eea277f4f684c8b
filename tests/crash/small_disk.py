"""Mount a small file system for journal and store, and fill it like another program. Mounting requires root."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import pytest
from tests.support.needs import PREFIX

from relaybook.system import disk

MIB: Final = 1 << 20
_PAGE_BYTES: Final = 4096


@contextmanager
def mounted(directory: Path, size: int = 96 * MIB) -> Iterator[Path]:
    """Mount a disk of this size at ``data`` in the directory. Skips the test if mounting is not allowed."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip(f"{PREFIX}root on Linux")
    data = directory / "data"
    data.mkdir()
    options = ["-t", "tmpfs", "-o", f"size={size}", "relaybook-test", str(data)]
    if subprocess.run(["mount", *options], capture_output=True).returncode != 0:
        pytest.skip(f"{PREFIX}the permission to mount a disk")
    try:
        yield directory
    finally:
        subprocess.run(["umount", "-l", str(data)], check=True)


class Filler:
    """The files of another program on the disk."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / "data" / "somebody-elses"

    def fill(self, leave: int) -> None:
        """Fill the disk except for ``leave`` bytes. Later calls also fill the space that was freed meanwhile."""
        with self._path.open("ab") as file:
            size = os.fstat(file.fileno()).st_size
            for step in (MIB, _PAGE_BYTES):
                with suppress(OSError):  # another process took the space first
                    while disk.free_bytes(self._path.parent) - leave >= step:
                        os.posix_fallocate(file.fileno(), size, step)
                        size += step

    def free(self) -> None:
        self._path.unlink()
