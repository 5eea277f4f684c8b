"""Move the clocks of the programs that a test starts."""

import os
from pathlib import Path
from typing import Final

import pytest

#: Source of a module that Python runs at the start of every process that has the module on its path.
_SITECUSTOMIZE: Final = """
import os, time

def moved(real, at):
    def now():
        with open(os.environ["MOVED_CLOCK_FILE"]) as file:
            return real() + int(file.read().split()[at]) * 1_000_000_000
    return now

time.time_ns, time.monotonic_ns = moved(time.time_ns, 0), moved(time.monotonic_ns, 1)
time.time = lambda: time.time_ns() / 1e9
"""


class MovedClock:
    """Moves the clocks of every Python program that is started from now on.

    Their wall clock and ``time.monotonic_ns`` are those of the machine plus offsets in seconds. Timers of event loops
    and threads do not move.
    """

    def __init__(self, directory: Path, patch: pytest.MonkeyPatch) -> None:
        self._file = directory / "moved-clock"
        self._wall = self._monotonic = 0
        self.set(0)
        path = directory / "path"
        path.mkdir()
        (path / "sitecustomize.py").write_text(_SITECUSTOMIZE)
        patch.setenv("PYTHONPATH", f"{path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}".rstrip(os.pathsep))
        patch.setenv("MOVED_CLOCK_FILE", str(self._file))

    def set(self, offset: int) -> None:
        """Set the offset of the wall clock. The monotonic clock is not affected."""
        self._wall = offset
        self._write()

    def advance(self, seconds: int) -> None:
        """Move both clocks, as if this time had passed."""
        self._wall += seconds
        self._monotonic += seconds
        self._write()

    def _write(self) -> None:
        new = self._file.with_suffix(".new")
        new.write_text(f"{self._wall} {self._monotonic}")
        new.rename(self._file)
