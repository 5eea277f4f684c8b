"""Clock jumps: the wall clock is set a day forward or back while requests run, and the log stays whole and in order.

Durations come from the monotonic clock, which no jump touches, and pages are in the order of recording. A change to or
from summer time is no event here: all moments are UTC. Nor is a leap second: POSIX time has none, a clock that is
slowed or stepped for one moves by a second at most, and these jumps are of a day.
"""

import asyncio
import os
import random
import time
from itertools import pairwise
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import pytest
import uvloop
from tests.crash.judge import judge
from tests.crash.load import Choice, Load
from tests.crash.service import Provider, Service, until
from tests.support.long import LONG

from relaybook import clock

DAY: Final = 86_400
CALLERS: Final = 6
ANSWERS_PER_ERA: Final = 15 if LONG else 6
PAGE: Final = 7
_PATIENCE_SECONDS: Final = 60.0
#: Python runs this at the start of every process that finds it on its path.
_SITECUSTOMIZE: Final = """
import os, time
real = time.time_ns
def time_ns():
    with open(os.environ["WALL_CLOCK_FILE"]) as file:
        return real() + int(file.read()) * 1_000_000_000
time.time_ns = time_ns
time.time = lambda: time_ns() / 1e9
"""


class WallClock:
    """The wall clock of every Python program started from now on: the machine's, and an offset in seconds."""

    def __init__(self, directory: Path, patch: pytest.MonkeyPatch) -> None:
        self._file = directory / "wall-clock"
        self.set(0)
        path = directory / "path"
        path.mkdir()
        (path / "sitecustomize.py").write_text(_SITECUSTOMIZE)
        patch.setenv("PYTHONPATH", f"{path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}".rstrip(os.pathsep))
        patch.setenv("WALL_CLOCK_FILE", str(self._file))

    def set(self, offset: int) -> None:
        new = self._file.with_suffix(".new")
        new.write_text(str(offset))
        new.rename(self._file)


def _streams(chance: random.Random) -> Choice:
    return "stream", chance.randint(30, 100), None


async def _ask_through(load: Load, wall_clock: WallClock, offsets: tuple[int, ...]) -> None:
    """Callers ask all the time; the clock jumps whenever some answers were got and others are half done."""
    try:
        load.start(f"clock{offsets[0]}")
        for offset in offsets:
            known = len(load.calls)
            wall_clock.set(offset)

            def is_era_over(known: int = known) -> bool:
                done = [call for call in load.calls[known:] if call.complete]
                return len(done) >= ANSWERS_PER_ERA and len(load.mid_stream) >= 2

            await until(is_era_over, f"answers while the clock is {offset} s off", _PATIENCE_SECONDS)
        await load.finish()
    finally:
        await load.abandon()


def _run(service: Service, load: Load, wall_clock: WallClock, *offsets: int) -> None:
    async def run() -> None:
        await _ask_through(load, wall_clock, offsets)
        await until(service.is_at_rest, "all recorded", _PATIENCE_SECONDS)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(run())


def _pages(service: Service, query: str = "") -> list[dict[str, Any]]:
    """Records of a query, page by page, latest recorded first."""
    found: list[dict[str, Any]] = []
    cursor = ""
    while True:
        page = service.server.get(f"/api/requests?limit={PAGE}{query}{cursor}")
        found += page["data"]
        if page["next_cursor"] is None:
            return found
        cursor = f"&cursor={page['next_cursor']}"


def test_while_the_clock_jumps_by_days_the_log_stays_whole_and_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Provider(tmp_path) as provider:
        wall_clock = WallClock(tmp_path, monkeypatch)
        began, began_us = time.monotonic(), clock.wall_us()
        with Service(tmp_path, provider.url) as service:
            load = Load(service.server.port, CALLERS, random.Random(1), _streams)
            _run(service, load, wall_clock, 0, DAY, -DAY, 0)
            records = service.all_records()
            assert judge(provider.ended(), load.calls, [service.logged(record) for record in records]) == []
            assert len(records) == len(load.calls)

            most_ms = (time.monotonic() - began) * 1000
            events = {call.request_id: call.plan.size for call in load.calls}
            for record in records:
                assert record.duration_ms is not None
                assert record.first_token_ms is not None
                assert 10 * (events[record.id] - 1) <= record.duration_ms <= most_ms
                assert 0 <= record.first_token_ms <= record.duration_ms
                assert record.ended_at is not None
                assert abs(record.ended_at - record.started_at - record.duration_ms * 1000) <= 1

            days = [round((record.started_at - began_us) / 1e6 / DAY) for record in records]
            assert set(days) == {-1, 0, 1}

            latest = ""
            for call in sorted(load.calls, key=lambda call: call.asked_at):
                assert call.request_id is not None
                before = [each.request_id for each in load.calls if (each.first_at or call.asked_at) < call.asked_at]
                latest = max(filter(None, before), default="")
                assert call.request_id > latest

            pages = _pages(service)
            assert all(above["seq"] > below["seq"] for above, below in pairwise(pages))
            assert {row["id"] for row in pages} == {record.id for record in records}

            for cut_us in (began_us - DAY * 500_000, began_us + DAY * 500_000):
                timestamp = quote(clock.format_timestamp(cut_us))
                later = {record.id for record in records if record.started_at >= cut_us}
                assert {row["id"] for row in _pages(service, f"&from={timestamp}")} == later
                assert {row["id"] for row in _pages(service, f"&to={timestamp}")} == {
                    each.id for each in records
                } - later
                assert 0 < len(later) < len(records)
            assert service.server.stop() == 0


def test_a_service_started_again_on_the_day_before_loses_and_doubles_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Provider(tmp_path) as provider:
        wall_clock = WallClock(tmp_path, monkeypatch)
        with Service(tmp_path, provider.url) as service:
            load = Load(service.server.port, CALLERS, random.Random(2), _streams)
            served, calls = [], []
            for offset in (0, -DAY):
                wall_clock.set(offset)
                _run(service, load, wall_clock, offset)
                served += provider.ended()
                calls += load.calls
                service.kill("relay", "recorder", supervisor=True)
                service.start()
            asyncio.run(until(service.is_at_rest, "all recorded", _PATIENCE_SECONDS))
            records = service.all_records()
            assert [record.seq for record in records] == sorted(record.seq or 0 for record in records)
            assert judge(served, calls, [service.logged(record) for record in records]) == []
            assert len(records) == len(calls)
            assert service.server.stop() == 0
