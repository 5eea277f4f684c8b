"""Test the recorder's metrics."""

from pathlib import Path

import pytest
from tests.support.frames import opened
from tests.support.records import a_record

from relaybook.log.store.port import Body
from relaybook.recorder.fold import Exchange
from relaybook.recorder.metrics import Metrics, read_metrics


def exchange(**fields: object) -> Exchange:
    return Exchange(bytes(16), opened(), 1_000_000_000, Body([], []), Body([], []), **fields)  # type: ignore[arg-type]


def test_relay_overhead_and_upstream_latency_of_a_request_are_counted(tmp_path: Path) -> None:
    metrics = Metrics(tmp_path / "metrics")
    sent = exchange(asked_ns=1_200_000_000, chunk_at_us=[900_000, 950_000])
    metrics.ended(sent, a_record(relay_ms=0.2))
    assert metrics.histograms["relay_overhead"].total == pytest.approx(0.0002)
    assert metrics.histograms["upstream_latency"].total == pytest.approx(0.7)


def test_unknown_durations_are_not_counted(tmp_path: Path) -> None:
    metrics = Metrics(tmp_path / "metrics")
    metrics.ended(exchange(asked_ns=None, chunk_at_us=[5]), a_record(relay_ms=None))
    metrics.ended(exchange(asked_ns=1, chunk_at_us=[]), a_record(relay_ms=None))
    assert [sum(result.counts) for result in metrics.histograms.values()] == [0, 0, 0]


def test_metrics_can_be_read_by_another_process_after_a_commit(tmp_path: Path) -> None:
    path = tmp_path / "metrics"
    assert read_metrics(path) == {}
    metrics = Metrics(path)
    metrics.committed(30_000_000)
    assert read_metrics(path) == metrics.histograms
    assert path.stat().st_mode & 0o777 == 0o600
    path.write_bytes(b"{")
    assert read_metrics(path) == {}


def test_failing_to_write_metrics_is_not_an_error(tmp_path: Path) -> None:
    Metrics(tmp_path / "nowhere" / "metrics").committed(1)
