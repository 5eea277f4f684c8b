"""Write metrics in the text format of Prometheus. Metrics whose value is unknown are omitted."""

from collections.abc import Iterator
from typing import Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from relaybook.api.options import LogMetrics
from relaybook.errors import RelayError
from relaybook.log.store.status import StoreStatus

#: Counters start at 0, because Prometheus cannot compute the increase from a missing sample to the first sample.
_ZERO_COUNTS: Final = {error.code: 0 for error in RelayError if not error.code.startswith("upstream_")}
_HISTOGRAMS: Final = {
    "relay_overhead": "Time that a request spent in the relay itself.",
    "upstream_latency": "Time from the last byte of a request to the first bytes of the response body.",
    "commit": "Duration of a commit to the store.",
}


def render(store: StoreStatus, running: int, frames_lost: int, log: LogMetrics) -> bytes:
    """Return the body of the response to a scrape."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collector(store, running, frames_lost, log))
    return generate_latest(registry)


class _Collector:
    def __init__(self, store: StoreStatus, running: int, frames_lost: int, log: LogMetrics) -> None:
        self._store = store
        self._running = running
        self._frames_lost = frames_lost
        self._log = log

    def collect(self) -> Iterator[Metric]:
        store, log = self._store, self._log
        yield GaugeMetricFamily("relaybook_records", "Records in the log.", value=store.records)
        yield GaugeMetricFamily("relaybook_running", "Running requests.", value=self._running)
        not_indexed = store.last_seq - store.indexed_to
        yield GaugeMetricFamily(
            "relaybook_not_indexed", "Records that full-text search cannot find yet.", value=not_indexed
        )
        yield GaugeMetricFamily(
            "relaybook_store_bytes", "Size of the store on disk in bytes.", value=store.bytes_on_disk
        )
        if log.requests:
            requests = CounterMetricFamily(
                "relaybook_requests", "Requests that ended, by route and outcome.", labels=["route", "outcome"]
            )
            for route, outcomes in log.requests.items():
                for outcome, count in outcomes.items():
                    requests.add_metric([route, outcome], count)
            yield requests
            failed = CounterMetricFamily(
                "relaybook_requests_failed",
                "Requests whose field `failed` is true in the log, with any outcome.",
                labels=["route"],
            )
            for route, count in log.requests_failed.items():
                failed.add_metric([route], count)
            yield failed
        refused = CounterMetricFamily(
            "relaybook_refused", "Requests that were not admitted, by error code.", labels=["code"]
        )
        for code, count in sorted((_ZERO_COUNTS | store.refused).items()):
            refused.add_metric([code], count)
        yield refused
        yield CounterMetricFamily(
            "relaybook_frames_lost", "Journal frames that were damaged and could not be read.", value=self._frames_lost
        )
        for name, text, value in (
            ("relaybook_journal_lag_bytes", "Bytes of the journal that are not recorded yet.", log.journal_lag_bytes),
            (
                "relaybook_journal_lag_seconds",
                "Age of the oldest frame that is not recorded yet.",
                log.journal_lag_seconds,
            ),
            ("relaybook_disk_free_bytes", "Free space on the disk of the data directory.", log.disk_free_bytes),
            ("relaybook_quarantined", "Requests that are in the quarantine.", log.quarantined),
        ):
            if value is not None:
                yield GaugeMetricFamily(name, text, value=value)
        for name, text in _HISTOGRAMS.items():
            if histogram := log.histograms.get(name):
                yield HistogramMetricFamily(
                    f"relaybook_{name}_seconds", text, buckets=histogram.buckets(), sum_value=histogram.total
                )
