"""Reserve disk space in a file, so that the recorder can continue when other programs have filled the disk.

On a full disk, the recorder needs this space to commit the first batch, or to remove the first requests. Then it
removes recorded segments of the journal, or more requests, which frees more space. If the file cannot be created or was
deleted, there is no error.
"""

import logging
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from relaybook.system import disk

log = logging.getLogger("relaybook.recorder")

_MAX_BYTES: Final = 64 << 20
_SHARE: Final = 16


class DiskReserve:
    """The reserve file at ``path``. Its size is 64 MiB, or a sixteenth of ``min_free`` (bytes) if that is less."""

    def __init__(self, path: Path, min_free: int) -> None:
        self._path = path
        self._min_free = min_free
        self._size = min(min_free // _SHARE, _MAX_BYTES)
        self._is_held = False

    def acquire(self) -> None:
        """Create the file if it does not exist and at least ``min_free`` bytes remain free afterwards."""
        if self._is_held or not self._size:
            return
        with suppress(OSError):
            if self._exists():
                self._is_held = True
            elif disk.free_bytes(self._path.parent) >= self._min_free + self._size:
                self._create()
                self._is_held = True

    def _exists(self) -> bool:
        """Return whether the file exists and has the right size. If the size is wrong, remove the file.

        The file of an earlier server can still exist, for example if that server was killed.
        """
        try:
            status = self._path.stat(follow_symlinks=False)
        except FileNotFoundError:
            return False
        if status.st_size == self._size:
            return True
        self._path.unlink()
        return False

    def _create(self) -> None:
        descriptor = disk.create_file(self._path)
        try:
            disk.allocate(descriptor, self._size, zero=False)
        except OSError:
            self._path.unlink()
            raise
        finally:
            os.close(descriptor)

    def release(self) -> bool:
        """Remove the file to free its space. Return whether the file was removed.

        The file can also be from an earlier server that was killed.
        """
        self._is_held = False
        try:
            self._path.unlink()
        except OSError:
            return False
        log.warning("reserve_released", extra={"bytes": self._size})
        return True

    def remove(self) -> None:
        """Remove the file. Call this method when the recorder stops, because only a running recorder needs the file."""
        with suppress(OSError):
            self._path.unlink()
        self._is_held = False
