"""What the dashboard tells of journal and disk: how far behind the log is, and how long the disk will do."""

from contextlib import suppress

from relaybook import clock
from relaybook.api.options import LogFigures
from relaybook.journal import disk
from relaybook.journal.reader import START, Place, RunReader, list_runs
from relaybook.serve.data_directory import DataDirectory
from relaybook.stores.base import Reader, RunPosition

_DAY_SECONDS = 86400
_WEEK = 7


class DataProbe:
    """Figures of one data directory. Reads sizes and marks, never a body."""

    def __init__(self, data: DataDirectory, reader: Reader) -> None:
        self._data = data
        self._reader = reader
        self._behind_since_ns: int | None = None

    def figures(self) -> LogFigures:
        """The figures of this moment."""
        lag = self._unread_bytes(self._reader.status().positions)
        now = clock.monotonic_ns()
        if lag == 0:
            self._behind_since_ns = None
        elif self._behind_since_ns is None:
            self._behind_since_ns = now
        since = self._behind_since_ns
        free = disk.free_bytes(self._data.path)
        return LogFigures(
            journal_lag_bytes=lag,
            journal_lag_seconds=(now - since) / clock.NANOSECONDS if since is not None else 0.0,
            disk_free_bytes=free,
            days_left=days_left(self._data, free),
            data_path=str(self._data.path),
        )

    def _unread_bytes(self, positions: dict[str, RunPosition]) -> int:
        total = 0
        for run in list_runs(self._data.journal):
            position = positions.get(run.name)
            with suppress(OSError):
                total += RunReader(run, Place(*position.read_to) if position else START).unread_bytes()
        return total


def days_left(data: DataDirectory, free: int) -> float | None:
    """Days until the disk is full at the rate of the last week's bodies; None while there is no rate."""
    now = clock.wall_us() / 1e6
    recent = 0
    first = now
    with suppress(OSError):
        for pack in (data.store / "bodies").iterdir():
            found = pack.stat()
            if now - found.st_mtime < _WEEK * _DAY_SECONDS:
                recent += found.st_blocks * 512
                first = min(first, found.st_ctime)
    days = max((now - first) / _DAY_SECONDS, 1 / 24)
    return free / (recent / days) if recent > 1 << 20 else None
