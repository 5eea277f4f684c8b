"""The store estimates how many body bytes it writes per day. The dashboard then predicts when the disk is full."""

import os
from pathlib import Path
from unittest.mock import patch

import pytest
from tests.support.records import an_entry

from relaybook import clock
from relaybook.log.retention import DAY_US
from relaybook.log.store import open_store
from relaybook.log.store.files import DATABASE
from relaybook.log.store.port import Batch

SIZE = 2 << 20
#: Noon, so that a log that is twelve hours old is from today.
NOON_US = 1_795_262_400_000_000 - 1_795_262_400_000_000 % DAY_US + DAY_US // 2


def record(directory: Path, at_us: int) -> None:
    with patch.object(clock, "wall_us", lambda: at_us):
        writer = open_store(directory).open_writer()
        writer.commit(Batch(entries=[an_entry(os.urandom(SIZE), started_at=at_us)]))
        writer.close()


def rate(directory: Path, oldest_us: int | None = None) -> float | None:
    with patch.object(clock, "wall_us", lambda: NOON_US):
        return open_store(directory).files.bytes_per_day(oldest_us)


def test_a_young_log_is_measured_from_its_oldest_request(tmp_path: Path) -> None:
    record(tmp_path, NOON_US - DAY_US // 4)
    record(tmp_path, NOON_US)
    assert rate(tmp_path, NOON_US - DAY_US // 4) == pytest.approx(2 * SIZE * 4, rel=0.1)
    assert rate(tmp_path) is None


def test_only_the_last_week_counts(tmp_path: Path) -> None:
    for days in (30, 20, 3, 2):
        record(tmp_path, NOON_US - days * DAY_US)
    assert rate(tmp_path, NOON_US - 30 * DAY_US) == pytest.approx(2 * SIZE / 6.5, rel=0.1)
    assert rate(tmp_path) == pytest.approx(2 * SIZE / 6.5, rel=0.1)


def test_a_damaged_log_is_measured_too(tmp_path: Path) -> None:
    record(tmp_path, NOON_US - 2 * DAY_US)
    (tmp_path / DATABASE).write_bytes(b"garbage" * 1000)
    assert rate(tmp_path) == pytest.approx(SIZE / 2.5, rel=0.1)


def test_little_data_gives_no_estimate(tmp_path: Path) -> None:
    record(tmp_path, NOON_US - 30 * DAY_US)
    assert rate(tmp_path) is None
