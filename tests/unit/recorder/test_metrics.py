"""Claims about the recorder's figures."""

from pathlib import Path

import pytest
from tests.support.frames import opened
from tests.support.records import a_record

from relaybook.log.store.port import Body
from relaybook.recorder.fold import Exchange
from relaybook.recorder.metrics import Metrics, read_metrics


def exchange(**fields: object) -> Exchange:
    return Exchange(bytes(16), opened(), 1_000_000_000, Body([], []), Body([], []), **fields)  # type: ignore[arg-type]


def test_a_request_counts_with_our_share_and_its_providers_delay(tmp_path: Path) -> None:
    figures = Metrics(tmp_path / "figures")
    asked = exchange(asked_ns=1_200_000_000, chunk_at_us=[900_000, 950_000])
    figures.ended(asked, a_record(relay_ms=0.2))
    assert figures.histograms["relay_overhead"].total == pytest.approx(0.0002)
    assert figures.histograms["upstream_latency"].total == pytest.approx(0.7)


def test_what_is_unknown_is_not_counted(tmp_path: Path) -> None:
    figures = Metrics(tmp_path / "figures")
    figures.ended(exchange(asked_ns=None, chunk_at_us=[5]), a_record(relay_ms=None))
    figures.ended(exchange(asked_ns=1, chunk_at_us=[]), a_record(relay_ms=None))
    assert [sum(found.counts) for found in figures.histograms.values()] == [0, 0, 0]


def test_they_are_read_by_another_process_after_a_commit(tmp_path: Path) -> None:
    path = tmp_path / "figures"
    assert read_metrics(path) == {}
    figures = Metrics(path)
    figures.committed(30_000_000)
    assert read_metrics(path) == figures.histograms
    assert path.stat().st_mode & 0o777 == 0o600
    path.write_bytes(b"{")
    assert read_metrics(path) == {}


def test_a_disk_that_takes_nothing_is_passed_over(tmp_path: Path) -> None:
    Metrics(tmp_path / "nowhere" / "figures").committed(1)
