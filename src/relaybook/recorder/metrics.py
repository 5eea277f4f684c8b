"""Count requests, measure the recorder's work, and write the metrics to a small file for ``/metrics``.

The metrics start at zero with each recorder process.
"""

import os
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Final, get_args

import msgspec

from relaybook import clock
from relaybook.log.aggregate.histograms import Histogram
from relaybook.log.record import Outcome, Record
from relaybook.recorder.fold import JournalExchange

_WRITE_EVERY_NS: Final = 5 * clock.NANOSECONDS
_OVERHEAD: Final = (0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 1.0)
_LATENCY: Final = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
_COMMIT: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


class WrittenMetrics(msgspec.Struct):
    """The content of the metrics file."""

    #: Number of ended requests by route and outcome.
    requests: dict[str, dict[str, int]] = {}
    #: Number of ended requests that failed, by route.
    failed: dict[str, int] = {}
    histograms: dict[str, Histogram] = {}


class Metrics:
    """Counters and histograms, which are written to ``path`` at most every 5 seconds and without fsync."""

    def __init__(self, path: Path, routes: Collection[str] = ("default",)) -> None:
        """The counters of ``routes`` begin at 0. Other routes are counted from their first request on."""
        self.current = WrittenMetrics(
            requests={route: _no_requests() for route in routes},
            failed=dict.fromkeys(routes, 0),
            histograms={
                "relay_overhead": Histogram.with_bounds(*_OVERHEAD),
                "upstream_latency": Histogram.with_bounds(*_LATENCY),
                "commit": Histogram.with_bounds(*_COMMIT),
            },
        )
        self._path = path
        self._written_ns = 0
        self._is_written = False

    def ended(self, exchange: JournalExchange, record: Record) -> None:
        """Count an ended request by route and outcome, and add its times to the histograms.

        The times are the relay's overhead, and the time from the end of the request to the upstream's first byte.
        """
        self._is_written = False
        counts = self.current.requests.get(record.route)
        if counts is None:
            counts = self.current.requests[record.route] = _no_requests()
        counts[record.outcome] += 1
        self.current.failed[record.route] = self.current.failed.get(record.route, 0) + record.failed
        if record.relay_ms is not None:
            self.current.histograms["relay_overhead"].add(record.relay_ms / 1000)
        if exchange.request_end_ns is not None and exchange.chunk_at_us:
            sent_us = (exchange.request_end_ns - exchange.opened_ns) / 1000
            self.current.histograms["upstream_latency"].add(max(exchange.chunk_at_us[0] - sent_us, 0) / 1_000_000)

    def committed(self, nanoseconds: int) -> None:
        """Count a commit that took this number of nanoseconds."""
        self._is_written = False
        self.current.histograms["commit"].add(nanoseconds / clock.NANOSECONDS)

    def write_if_due(self) -> None:
        """Write the file if metrics have changed and the file was not written for 5 seconds."""
        now = clock.monotonic_ns()
        if not self._is_written and now - self._written_ns > _WRITE_EVERY_NS:
            self._written_ns, self._is_written = now, True
            self._write()

    def _write(self) -> None:
        new = self._path.with_name(f".new-{self._path.name}")
        with suppress(OSError):  # for example, the disk is full; the next write may succeed
            descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(msgspec.json.encode(self.current))
            new.replace(self._path)


def _no_requests() -> dict[str, int]:
    return {outcome: 0 for outcome in get_args(Outcome) if outcome != "open"}


def read_metrics(path: Path) -> WrittenMetrics:
    """Return the last written metrics; empty if the file is missing or invalid."""
    with suppress(OSError, msgspec.MsgspecError):
        return msgspec.json.decode(path.read_bytes(), type=WrittenMetrics)
    return WrittenMetrics()
