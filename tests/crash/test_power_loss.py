"""With ``durability = power``, a power cut loses nothing that a client or the upstream saw.

The system calls of one service are traced. After each call, a power cut can leave the disk in different states. The
tests take random steps of the trace and build five states for each step (``CHOICES``). They recover the log from each
state and judge it. By default there are at most 50 states, and 2,500 in the long form. Steps are chosen more often if
bytes were just sent or if a write waits for its sync.
"""

import random
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
from tests.crash.judge import Logged, Violation, judge
from tests.crash.power import CHOICES, SECTOR
from tests.crash.system_calls import Step
from tests.crash.traced import Trace, Views
from tests.support.long import LONG, new_rng
from tests.support.needs import needs
from tests.support.no_passes import no_passes

from relaybook.ids import new_id
from relaybook.journal.frame import FrameKind
from relaybook.journal.reader import RunReader
from relaybook.journal.segment import segment_path
from relaybook.journal.writer import JournalWriter
from relaybook.log.prices import Prices
from relaybook.log.query.filters import Filter
from relaybook.log.record import Side
from relaybook.log.store.errors import StoreUnavailable
from relaybook.log.store.sqlite.reader import SqliteReader
from relaybook.log.store.sqlite.writer import SqliteWriter
from relaybook.recorder.body_policy import BodyPolicy
from relaybook.recorder.crash_guard import CrashGuard
from relaybook.recorder.disk_reserve import DiskReserve
from relaybook.recorder.entry_builder import EntryBuilder
from relaybook.recorder.loop import Recorder
from relaybook.recorder.metrics import Metrics
from relaybook.recorder.quarantine import Quarantine
from relaybook.recorder.retry import Retry
from relaybook.server.data_directory import DataDirectory

#: The number of steps that are drawn for power cuts, with replacement. Each step is checked in every state of
#: ``CHOICES``.
CUTS: Final = 500 if LONG else 10
FEW_CUTS: Final = 100 if LONG else 8
_KEEP_OTHER_BODIES: Final = 16 << 20
_PRICES: Final = Prices()


@contextmanager
def _recovered(path: Path) -> Iterator[SqliteReader]:
    """Recover the log of a data directory: run a recorder that reads the whole journal."""
    data = DataDirectory(path)
    data.open()
    store = SqliteWriter(data.store, durability="process")
    body_policy = BodyPolicy(store.write_body, store.read_body, _KEEP_OTHER_BODIES)
    entry_builder = EntryBuilder(_PRICES, store.read_body)
    quarantine, crash_guard = Quarantine(data.quarantine), CrashGuard(data.path)
    retry, metrics = Retry(DiskReserve(data.reserve, 0), lambda: 1), Metrics(data.metrics)
    Recorder(
        data.journal,
        store,
        retry,
        entry_builder,
        body_policy,
        quarantine,
        crash_guard,
        metrics,
        no_passes(store),
        max_runs=100,
    ).run()
    store.close()
    data.close()
    reader = SqliteReader(data.store)
    yield reader
    reader.close()


def _logged(reader: SqliteReader) -> list[Logged]:
    records, _ = reader.since(0, Filter(), 10_000)
    return [
        Logged(
            id=record.id,
            tag=record.properties.get("tag"),
            namespace=record.namespace,
            outcome=record.outcome,
            request=_body(reader, record.id, "request"),
            response=_body(reader, record.id, "response"),
        )
        for record in records
    ]


def _body(reader: SqliteReader, record_id: str, side: Side) -> bytes:
    """Return a stored body, or an empty one if the body is missing or unreadable, because both count as lost."""
    try:
        return b"".join(reader.body(record_id, side) or ())
    except StoreUnavailable:
        return b""


def _weight(step: Step) -> int:
    """Return the weight of a step. It is higher if bytes were just sent or a write waits for its sync."""
    awaits_sync = step.call.kind == "write" and step.returned and step.call.path.endswith(".segment")
    return 4 if awaits_sync or step.call.kind == "wire" else 1


def _judge_cuts(trace: Trace, directory: Path, count: int, rng: random.Random) -> tuple[Counter[str], list[str]]:
    """Cut the power after ``count`` random steps. Returns the violations, counted by kind and as text."""
    cuts = set(rng.choices(range(len(trace.steps)), [_weight(step) for step in trace.steps], k=count))
    faults: Counter[str] = Counter()
    found = []
    disk, views = trace.disk(), Views(trace.calls)
    for number, step in enumerate(trace.steps):
        disk.apply(step)
        views.apply(step)
        if number not in cuts:
            continue
        for choice in CHOICES:
            state = directory / "state"
            disk.write_state(state, choice, rng)
            for violation in _judge(state / "data", views):
                faults[violation.fault] += 1
                found.append(f"after step {number} of {len(trace.steps)}, {choice}: {violation}")
            shutil.rmtree(state)
    return faults, found


def _judge(data: Path, views: Views) -> list[Violation]:
    with _recovered(data) as reader:
        return judge(views.served(), views.calls.values(), _logged(reader))


@pytest.fixture
def rng() -> random.Random:
    return new_rng()


@needs("strace")
def test_a_power_cut_loses_nothing_that_a_client_or_the_upstream_saw(tmp_path: Path, rng: random.Random) -> None:
    trace = Trace(tmp_path, "power", is_first_start=False)
    _, found = _judge_cuts(trace, tmp_path, CUTS, rng)
    assert found == []


@needs("strace")
def test_a_power_cut_after_the_first_start_loses_nothing_either(tmp_path: Path, rng: random.Random) -> None:
    trace = Trace(tmp_path, "power", is_first_start=True)
    _, found = _judge_cuts(trace, tmp_path, FEW_CUTS, rng)
    assert found == []


@needs("strace")
def test_the_same_check_finds_losses_if_nothing_is_synced(tmp_path: Path, rng: random.Random) -> None:
    trace = Trace(tmp_path, "process", is_first_start=False)
    faults, _ = _judge_cuts(trace, tmp_path, FEW_CUTS, rng)
    assert faults["lost"] > 0


def _payloads(run: Path) -> list[bytes]:
    reader = RunReader(run)
    found: list[bytes] = []
    while frames := reader.read():
        found += [frame.payload for frame in frames]
    reader.close()
    return found


def test_a_batch_torn_by_a_power_cut_is_read_up_to_the_first_hole(tmp_path: Path) -> None:
    exchange = new_id()
    writer = JournalWriter(tmp_path, 1 << 20, durable=True)
    writer.append(FrameKind.OPENED, exchange, b"synced")
    writer.write()
    writer.sync()
    chunks = [bytes([number]) * SECTOR for number in range(8)]
    for chunk in chunks:
        writer.append(FrameKind.RECEIVED, exchange, chunk)
    writer.write()
    path = segment_path(writer.path, 1)
    written = path.read_bytes()  # the mark may also be on disk, although nothing was synced
    writer.close()
    for hole in range(SECTOR, SECTOR * 8, SECTOR):
        path.write_bytes(written[:hole] + bytes(SECTOR) + written[hole + SECTOR :])
        found = _payloads(writer.path)
        assert found == [b"synced", *chunks][: len(found)], f"a hole of one sector at {hole}"
        whole = sum(written.index(chunk) + SECTOR <= hole for chunk in chunks[1:])
        assert len(found) >= 1 + whole + bool(whole), f"a hole of one sector at {hole}"
