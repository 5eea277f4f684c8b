"""What the recorder measures as it goes, kept in a small file for ``/metrics``. Begins anew with each recorder."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from relaybook import clock
from relaybook.log.aggregate.histograms import Histogram
from relaybook.log.record import Record
from relaybook.recorder.fold import Exchange

_EVERY_NS: Final = 5 * clock.NANOSECONDS
_OVERHEAD: Final = (0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 1.0)
_LATENCY: Final = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
_COMMIT: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


class Metrics:
    """Histograms by name. ``path`` is their file; it is written now and then, and never waited for."""

    def __init__(self, path: Path) -> None:
        self.histograms = {
            "relay_overhead": Histogram.over(*_OVERHEAD),
            "upstream_latency": Histogram.over(*_LATENCY),
            "commit": Histogram.over(*_COMMIT),
        }
        self._path = path
        self._written_ns = 0

    def ended(self, exchange: Exchange, record: Record) -> None:
        """A request has ended: our own share of its time, and how long its provider took to begin the answer."""
        if record.relay_ms is not None:
            self.histograms["relay_overhead"].add(record.relay_ms / 1000)
        if exchange.asked_ns is not None and exchange.chunk_at_us:
            asked_us = (exchange.asked_ns - exchange.opened_ns) / 1000
            self.histograms["upstream_latency"].add(max(exchange.chunk_at_us[0] - asked_us, 0) / 1_000_000)

    def committed(self, nanoseconds: int) -> None:
        """The store has taken a batch, after so long."""
        self.histograms["commit"].add(nanoseconds / clock.NANOSECONDS)
        now = clock.monotonic_ns()
        if now - self._written_ns > _EVERY_NS:
            self._written_ns = now
            self._write()

    def _write(self) -> None:
        new = self._path.with_name(f".new-{self._path.name}")
        with suppress(OSError):  # a full disk: the next time, perhaps
            descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(msgspec.json.encode(self.histograms))
            new.replace(self._path)


def read_metrics(path: Path) -> dict[str, Histogram]:
    """What was written last; empty when there is nothing to read."""
    with suppress(OSError, msgspec.MsgspecError):
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Histogram])
    return {}
