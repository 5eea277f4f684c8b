"""Remember which exchange was being parsed when the recorder crashed, to prevent endless crashes.

A library that parses bodies may crash the process on unexpected bytes. The id of the current exchange is kept in a
memory-mapped file, which survives any crash. An exchange that was current in two crashes is stored without being
parsed.
"""

import mmap
import os
from pathlib import Path
from typing import Final

from relaybook.system import disk

_NO_EXCHANGE: Final = bytes(16)
_CRASHES_TO_BLOCK: Final = 2


class CrashGuard:
    """Remembers in two files which exchanges were being parsed when the recorder crashed.

    One file has the id (16 bytes) of the current exchange, which is the exchange that is being parsed. The other file
    has the ids of the exchanges that were current in a crash.
    """

    def __init__(self, directory: Path) -> None:
        """Open the files. If the previous process crashed while an exchange was being parsed, record the crash.

        Raises OSError if the directory is not writable.
        """
        self._crashes = directory / "recorder.crashes"
        path = directory / "recorder.current"
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            os.ftruncate(descriptor, len(_NO_EXCHANGE))
            self._current = mmap.mmap(descriptor, len(_NO_EXCHANGE))
        finally:
            os.close(descriptor)
        self._record_crash()
        lines = self._crashes.read_bytes().split() if self._crashes.exists() else []
        self._blocked = {line for line in lines if lines.count(line) >= _CRASHES_TO_BLOCK}

    def _record_crash(self) -> None:
        exchange = self._current[:]
        if exchange != _NO_EXCHANGE:
            descriptor = os.open(self._crashes, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            try:
                os.write(descriptor, exchange.hex().encode() + b"\n")
                disk.sync(descriptor)
            finally:
                os.close(descriptor)
            self.clear()

    def begin(self, exchange: bytes) -> bool:
        """Make an exchange the current exchange. Call this method before the exchange is parsed.

        Return false if the exchange must not be parsed, because it was current in two crashes. The current exchange
        then does not change.
        """
        if self._blocked and exchange.hex().encode() in self._blocked:
            return False
        self._current[:] = exchange
        return True

    def clear(self) -> None:
        """Clear the id of the current exchange. Call this method after parsing, or a later crash would be recorded."""
        self._current[:] = _NO_EXCHANGE
