"""Remembers which exchange was being understood when the recorder died, so that none can kill it for ever.

A library that reads bodies may crash the process on bytes nobody foresaw. The exchange at hand is written into a
mapped file, which survives any death; one that was at hand at two deaths is stored without being read.
"""

import mmap
import os
from pathlib import Path
from typing import Final

from relaybook.journal import disk

_NOBODY: Final = bytes(16)
_DEADLY: Final = 2


class CrashGuard:
    """A file of 16 bytes for the exchange at hand, and beside it one line for each death with one at hand."""

    def __init__(self, directory: Path) -> None:
        """Raises OSError when the directory cannot be written to."""
        self._deaths = directory / "recorder.deaths"
        path = directory / "recorder.at-hand"
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            os.ftruncate(descriptor, len(_NOBODY))
            self._at_hand = mmap.mmap(descriptor, len(_NOBODY))
        finally:
            os.close(descriptor)
        self._note_death()
        lines = self._deaths.read_text().split() if self._deaths.exists() else []
        self._deadly = {bytes.fromhex(line) for line in lines if lines.count(line) >= _DEADLY}

    def _note_death(self) -> None:
        found = self._at_hand[:]
        if found != _NOBODY:
            descriptor = os.open(self._deaths, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            try:
                os.write(descriptor, found.hex().encode() + b"\n")
                disk.sync(descriptor)
            finally:
                os.close(descriptor)
            self.let_go()

    def take(self, exchange: bytes) -> bool:
        """The exchange is at hand now. False: it was at hand at two deaths and must not be read again."""
        if exchange in self._deadly:
            return False
        self._at_hand[:] = exchange
        return True

    def let_go(self) -> None:
        """Nothing is at hand."""
        self._at_hand[:] = _NOBODY
