"""What the dashboard tells of journal and disk: how far behind the log is, and how long the disk will do."""

from contextlib import suppress

from relaybook import clock
from relaybook.api.options import LogMetrics
from relaybook.journal import disk
from relaybook.journal.reader import START, Place, RunReader, Unread, list_runs
from relaybook.log.store.port import Reader, RunPosition
from relaybook.recorder.metrics import read_metrics
from relaybook.recorder.quarantine import list_quarantined
from relaybook.server.data_directory import DataDirectory, days_left


class DataProbe:
    """Figures of one data directory. Reads sizes and marks, never a body."""

    def __init__(self, data: DataDirectory, reader: Reader) -> None:
        self._data = data
        self._reader = reader

    def figures(self) -> LogMetrics:
        """The figures of this moment."""
        waiting = self._unread(self._reader.status().positions)
        oldest_ns = min((each.since_ns for each in waiting if each.since_ns is not None), default=None)
        free = disk.free_bytes(self._data.path)
        return LogMetrics(
            journal_lag_bytes=sum(each.bytes for each in waiting),
            journal_lag_seconds=_seconds_since(oldest_ns),
            disk_free_bytes=free,
            days_left=days_left(self._data, free),
            data_path=str(self._data.path),
            quarantined=len(list_quarantined(self._data.quarantine)),
            histograms=read_metrics(self._data.figures),
        )

    def _unread(self, positions: dict[str, RunPosition]) -> list[Unread]:
        found = []
        for run in list_runs(self._data.journal):
            position = positions.get(run.name)
            with suppress(OSError):
                found.append(RunReader(run, Place(*position.read_to) if position else START).unread())
        return found


def _seconds_since(oldest_ns: int | None) -> float | None:
    """How long the oldest frame has waited: 0 when none does, None for one from before the machine started."""
    if oldest_ns is None:
        return 0.0
    waited_ns = clock.monotonic_ns() - oldest_ns
    return waited_ns / clock.NANOSECONDS if waited_ns >= 0 else None
