"""Measure the journal lag and the free disk space for the dashboard."""

from contextlib import suppress

from relaybook import clock
from relaybook.api.options import LogMetrics
from relaybook.journal.reader import START, Place, RunReader, Unread, list_runs
from relaybook.log.store.port import Reader
from relaybook.log.store.status import RunPosition
from relaybook.recorder.metrics import read_metrics
from relaybook.recorder.quarantine import list_quarantined
from relaybook.server.data_directory import DataDirectory, days_left, disk_use
from relaybook.settings.definitions import Settings
from relaybook.system import disk


class DataProbe:
    """Reads the metrics of one data directory. Stored bodies are never read."""

    def __init__(self, data: DataDirectory, settings: Settings, reader: Reader) -> None:
        self._data = data
        self._settings = settings
        self._reader = reader

    def read(self) -> LogMetrics:
        """Return the current metrics."""
        status = self._reader.status()
        unread = self._unread(status.positions)
        oldest_ns = min((each.since_ns for each in unread if each.since_ns is not None), default=None)
        free = disk.free_bytes(self._data.path)
        recorder = read_metrics(self._data.metrics)
        use = disk_use(self._data, self._settings, status.bytes_on_disk)
        return LogMetrics(
            journal_lag_bytes=sum(each.bytes for each in unread),
            journal_lag_seconds=_seconds_since(oldest_ns),
            disk_free_bytes=free,
            disk_used_bytes=use.used,
            disk_budget_bytes=use.budget,
            days_left=days_left(self._data, self._settings, free, status.oldest_at),
            data_path=str(self._data.path),
            quarantined=len(list_quarantined(self._data.quarantine)),
            requests=recorder.requests,
            requests_failed=recorder.failed,
            histograms=recorder.histograms,
        )

    def _unread(self, positions: dict[str, RunPosition]) -> list[Unread]:
        unread = []
        for run in list_runs(self._data.journal):
            position = positions.get(run.name)
            with suppress(OSError):
                unread.append(RunReader(run, Place(*position.read_to) if position else START).unread())
        return unread


def _seconds_since(oldest_ns: int | None) -> float | None:
    """Return the age of the oldest unread frame in seconds, or 0 if there is no unread frame.

    `None` if the age is unknown: after a reboot, the monotonic clock starts again and may be behind the time of the
    frame.
    """
    if oldest_ns is None:
        return 0.0
    waited_ns = clock.monotonic_ns() - oldest_ns
    return waited_ns / clock.NANOSECONDS if waited_ns >= 0 else None
