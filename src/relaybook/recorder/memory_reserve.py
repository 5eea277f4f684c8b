"""A file that only takes room on the disk, so that the recorder has some when everybody else has taken the rest.

Recording is what makes room: what is in the log is unlinked from the journal. On a disk that others filled to its last
byte it could not even begin. Losing the file, or not getting it, is no error.
"""

import logging
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from relaybook.journal import disk

log = logging.getLogger("relaybook.recorder")

_MOST_BYTES: Final = 64 << 20
_SHARE: Final = 16


class Ballast:
    """The file at ``path``: 64 MiB, or a sixteenth of ``min_free`` (bytes) where that is less."""

    def __init__(self, path: Path, min_free: int) -> None:
        self._path = path
        self._min_free = min_free
        self._size = min(min_free // _SHARE, _MOST_BYTES)
        self._is_held = False

    def hold(self) -> None:
        """Takes the room unless it is held, as long as ``min_free`` stays free beside it."""
        if self._is_held or not self._size:
            return
        with suppress(OSError):
            if self._is_there():
                self._is_held = True
            elif disk.free_bytes(self._path.parent) >= self._min_free + self._size:
                self._make()
                self._is_held = True

    def _is_there(self) -> bool:
        """Whether a server that was killed left it whole. What is left of another size is removed."""
        try:
            found = self._path.stat(follow_symlinks=False)
        except FileNotFoundError:
            return False
        if found.st_size == self._size:
            return True
        self._path.unlink()
        return False

    def _make(self) -> None:
        descriptor = disk.create_file(self._path)
        try:
            disk.allocate(descriptor, self._size, zero=False)
        except OSError:
            self._path.unlink()
            raise
        finally:
            os.close(descriptor)

    def give(self) -> bool:
        """Gives the room back; False when there was none to give."""
        if not self._is_held:
            return False
        self._is_held = False
        try:
            self._path.unlink()
        except OSError:
            return False
        log.warning("ballast_given", extra={"bytes": self._size})
        return True

    def leave(self) -> None:
        """Removes the file at the end of a run: who does not record needs no room for it."""
        with suppress(OSError):
            self._path.unlink()
        self._is_held = False
