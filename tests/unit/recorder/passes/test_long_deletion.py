"""Test that a long deletion delays neither retention nor the freeing of space."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.long import LONG
from tests.support.no_passes import a_reread_pass
from tests.support.records import a_batch, an_entry

from relaybook import clock
from relaybook.log.query.filters import Filter, Term
from relaybook.log.retention import DAY_US, Retention
from relaybook.log.store.sqlite.reader import SqliteReader
from relaybook.log.store.sqlite.store import SqliteStore
from relaybook.log.store.sqlite.writer import SqliteWriter
from relaybook.recorder.disk_reserve import DiskReserve
from relaybook.recorder.passes.imports import ImportPass
from relaybook.recorder.passes.retain import DiskUse, RetainPass
from relaybook.recorder.passes.schedule import Passes
from relaybook.recorder.passes.text import TextPass

REQUESTS = 100_000 if LONG else 40_000
_BATCH = 1000


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[SqliteWriter]:
    writer = SqliteWriter(tmp_path)
    yield writer
    writer.close()


def test_retention_frees_space_during_a_long_deletion(tmp_path: Path, writer: SqliteWriter) -> None:
    now = clock.wall_us()
    for hours in range(24):
        at = now - 3 * DAY_US + hours * DAY_US // 24
        writer.commit(a_batch(*(an_entry(started_at=at, ended_at=at, namespace="old") for _ in range(50))))
    for _ in range(REQUESTS // _BATCH):
        entries = [an_entry(started_at=now, ended_at=now, namespace="deleted") for _ in range(_BATCH)]
        writer.commit(a_batch(*entries))
    reader = SqliteReader(tmp_path)
    text = TextPass(reader, None)
    over_budget = DiskUse(2000, 1000)
    retain = RetainPass(Retention(), writer, reader, lambda: over_budget, measure_ns=0)
    imports, reserve = ImportPass(Path("missing"), writer, reader, text, 0), DiskReserve(Path("missing"), 0)
    passes = Passes(writer, text, imports, retain, a_reread_pass(writer), reserve)
    filter_ = Filter((Term("namespace", ("deleted",)),))
    SqliteStore(tmp_path).open_deletions().request(filter_, REQUESTS, "me")
    until_ns = clock.monotonic_ns() + 120 * clock.NANOSECONDS
    while reader.status().last_removal is None:
        (deletion,) = reader.deletions(1)
        assert deletion.state == "removing", "the deletion ended before retention removed anything"
        assert clock.monotonic_ns() < until_ns
        passes.work(1_000_000)
    assert reader.status().last_removal.contents > 0  # type: ignore[union-attr]
    reader.close()
