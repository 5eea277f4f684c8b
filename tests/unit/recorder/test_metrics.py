"""Test the recorder's metrics."""

from pathlib import Path

import pytest
from tests.support.frames import opened
from tests.support.records import a_record

from relaybook import clock
from relaybook.log.store.entry import Body
from relaybook.recorder.fold import JournalExchange
from relaybook.recorder.metrics import Metrics, WrittenMetrics, read_metrics


def exchange(**fields: object) -> JournalExchange:
    return JournalExchange(bytes(16), opened(), 1_000_000_000, Body([], []), Body([], []), **fields)  # type: ignore[arg-type]


def test_relay_overhead_and_upstream_latency_of_a_request_are_counted(tmp_path: Path) -> None:
    metrics = Metrics(tmp_path / "metrics")
    sent = exchange(request_end_ns=1_200_000_000, chunk_at_us=[900_000, 950_000])
    metrics.ended(sent, a_record(relay_ms=0.2))
    assert metrics.current.histograms["relay_overhead"].total == pytest.approx(0.0002)
    assert metrics.current.histograms["upstream_latency"].total == pytest.approx(0.7)


def test_unknown_durations_are_not_counted(tmp_path: Path) -> None:
    metrics = Metrics(tmp_path / "metrics")
    metrics.ended(exchange(request_end_ns=None, chunk_at_us=[5]), a_record(relay_ms=None))
    metrics.ended(exchange(request_end_ns=1, chunk_at_us=[]), a_record(relay_ms=None))
    assert [sum(result.counts) for result in metrics.current.histograms.values()] == [0, 0, 0]


def test_requests_are_counted_by_route_outcome_and_failure(tmp_path: Path) -> None:
    metrics = Metrics(tmp_path / "metrics")
    metrics.ended(exchange(), a_record(outcome="complete", failed=True))
    metrics.ended(exchange(), a_record(outcome="complete"))
    metrics.ended(exchange(), a_record(outcome="client_closed"))
    metrics.ended(exchange(), a_record(outcome="complete", route="removed by a reload"))
    none = {"complete": 0, "upstream_failed": 0, "client_closed": 0, "interrupted": 0, "refused": 0}
    assert metrics.current.requests == {
        "default": none | {"complete": 2, "client_closed": 1},
        "removed by a reload": none | {"complete": 1},
    }
    assert metrics.current.failed == {"default": 1, "removed by a reload": 0}


def test_the_last_requests_are_written_although_no_other_request_follows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [10 * clock.NANOSECONDS]
    monkeypatch.setattr(clock, "monotonic_ns", lambda: now[0])
    metrics = Metrics(tmp_path / "metrics")
    metrics.write_if_due()
    metrics.ended(exchange(), a_record(outcome="complete"))
    metrics.write_if_due()
    written = read_metrics(tmp_path / "metrics")
    assert written.requests["default"]["complete"] == 0  # the last write was less than 5 seconds ago
    now[0] += 6 * clock.NANOSECONDS
    metrics.write_if_due()
    assert read_metrics(tmp_path / "metrics").requests["default"]["complete"] == 1


def test_metrics_can_be_read_by_another_process_after_a_commit(tmp_path: Path) -> None:
    path = tmp_path / "metrics"
    assert read_metrics(path) == WrittenMetrics()
    metrics = Metrics(path)
    metrics.committed(30_000_000)
    metrics.write_if_due()
    assert read_metrics(path) == metrics.current
    assert path.stat().st_mode & 0o777 == 0o600
    path.write_bytes(b"{")
    assert read_metrics(path) == WrittenMetrics()


def test_failing_to_write_metrics_is_not_an_error(tmp_path: Path) -> None:
    Metrics(tmp_path / "nowhere" / "metrics").write_if_due()
