"""Test the metrics for Prometheus. Unknown metrics are omitted instead of being reported as 0."""

import msgspec
from msgspec.structs import replace
from tests.support.api_log import client_of, log_of, record_of

from relaybook.api.options import LogMetrics
from relaybook.api.prometheus import render
from relaybook.log.aggregate.histograms import Histogram
from relaybook.log.store.port import Batch
from relaybook.log.store.status import StoreStatus

STORE = StoreStatus(
    records=5,
    namespaces=2,
    labels=1,
    last_seq=5,
    feedback=0,
    indexed_to=0,
    bytes_on_disk=9,
    positions={},
    refused={"overloaded": 2, "not_found": 1},
)


def lines(text: bytes) -> list[str]:
    return [line for line in text.decode().splitlines() if not line.startswith("#")]


def test_all_metrics_have_their_names() -> None:
    log = LogMetrics(journal_lag_bytes=1, journal_lag_seconds=0.5, disk_free_bytes=8)
    metrics = [line for line in lines(render(STORE, 3, 7, log)) if not line.endswith("} 0.0")]
    assert metrics == [
        "relaybook_records 5.0",
        "relaybook_running 3.0",
        "relaybook_not_indexed 5.0",
        "relaybook_store_bytes 9.0",
        'relaybook_refused_total{code="not_found"} 1.0',
        'relaybook_refused_total{code="overloaded"} 2.0',
        "relaybook_frames_lost_total 7.0",
        "relaybook_journal_lag_bytes 1.0",
        "relaybook_journal_lag_seconds 0.5",
        "relaybook_disk_free_bytes 8.0",
    ]


def test_counters_start_at_zero_for_every_code() -> None:
    """If a counter first appears with a value above 0, Prometheus cannot compute the first increase."""
    store = replace(STORE, refused={})
    codes = [line.partition(" ")[0] for line in lines(render(store, 0, 0, LogMetrics())) if "refused" in line]
    assert 'relaybook_refused_total{code="log_unavailable"}' in codes
    assert 'relaybook_refused_total{code="overloaded"}' in codes
    assert not [code for code in codes if "upstream" in code]


def test_ended_requests_are_counted_by_route_and_outcome() -> None:
    counts = {"default": {"complete": 4, "interrupted": 0}, "gemini": {"complete": 2}}
    log = LogMetrics(requests=counts, requests_failed={"default": 1, "gemini": 0})
    assert [line for line in lines(render(STORE, 0, 0, log)) if line.startswith("relaybook_requests")] == [
        'relaybook_requests_total{outcome="complete",route="default"} 4.0',
        'relaybook_requests_total{outcome="interrupted",route="default"} 0.0',
        'relaybook_requests_total{outcome="complete",route="gemini"} 2.0',
        'relaybook_requests_failed_total{route="default"} 1.0',
        'relaybook_requests_failed_total{route="gemini"} 0.0',
    ]


def test_durations_are_histograms() -> None:
    histogram = Histogram.with_bounds(0.1, 1.0)
    for seconds in (0.05, 0.1, 0.5, 7.0):
        histogram.add(seconds)
    text = lines(render(STORE, 0, 0, LogMetrics(quarantined=2, histograms={"upstream_latency": histogram})))
    assert text[-6:] == [
        "relaybook_quarantined 2.0",
        'relaybook_upstream_latency_seconds_bucket{le="0.1"} 2.0',
        'relaybook_upstream_latency_seconds_bucket{le="1.0"} 3.0',
        'relaybook_upstream_latency_seconds_bucket{le="+Inf"} 4.0',
        "relaybook_upstream_latency_seconds_count 4.0",
        "relaybook_upstream_latency_seconds_sum 7.65",
    ]


def test_unknown_metrics_are_omitted() -> None:
    assert b"lag" not in render(STORE, 0, 0, LogMetrics())


def test_codes_are_escaped() -> None:
    store = msgspec.structs.replace(STORE, refused={'a"\n} 1': 1})
    assert 'relaybook_refused_total{code="a\\"\\n} 1"} 1.0' in lines(render(store, 0, 0, LogMetrics()))


def test_metrics_are_served_as_prometheus_text() -> None:
    store = log_of(record_of(1))
    store.commit(Batch(refused={"overloaded": 1}))
    response = client_of(store).get("/metrics")
    assert response.header("content-type") == "text/plain; version=0.0.4; charset=utf-8"
    assert "relaybook_records 1.0" in lines(response.body)
