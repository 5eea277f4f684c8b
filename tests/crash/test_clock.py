"""Clock jumps: the log stays complete and ordered if the wall clock jumps by days while requests run.

Durations come from the monotonic clock, which jumps do not affect. Pages are in the order of recording. Daylight saving
time has no effect, because all timestamps are in UTC. Leap seconds need no test, because POSIX time does not count
them. A clock that is slowed or stepped for a leap second moves by at most a second, and these jumps are much larger.
"""

import asyncio
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
from tests.crash.service import Provider, Service, wait_for
from tests.support.long import LONG
from tests.support.moved_clock import MovedClock

from relaybook import clock

DAY: Final = 86_400
CLIENTS: Final = 6
RESPONSES_PER_ERA: Final = 15 if LONG else 6
PAGE: Final = 7
_TIMEOUT_SECONDS: Final = 60.0


def _streams(rng: random.Random) -> Choice:
    return "stream", rng.randint(30, 100), None


async def _send_through_jumps(load: Load, wall_clock: MovedClock, offsets: tuple[int, ...]) -> None:
    """Send requests continuously while the clock jumps.

    Each jump comes after a few responses, while other responses are incomplete.
    """
    try:
        load.start(f"clock{offsets[0]}")
        for offset in offsets:
            known = len(load.calls)
            wall_clock.set(offset)

            def is_era_over(known: int = known) -> bool:
                done = [call for call in load.calls[known:] if call.complete]
                return len(done) >= RESPONSES_PER_ERA and len(load.mid_stream) >= 2

            await wait_for(is_era_over, f"responses while the clock is {offset} s off", _TIMEOUT_SECONDS)
        await load.finish()
    finally:
        await load.abandon()


def _run(service: Service, load: Load, wall_clock: MovedClock, *offsets: int) -> None:
    async def run() -> None:
        await _send_through_jumps(load, wall_clock, offsets)
        await wait_for(service.is_idle, "all recorded", _TIMEOUT_SECONDS)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(run())


def _pages(service: Service, query: str = "") -> list[dict[str, Any]]:
    """Return the records from all pages of a query, last recorded first."""
    found: list[dict[str, Any]] = []
    cursor = ""
    while True:
        page = service.server.get(f"/api/requests?limit={PAGE}{query}{cursor}")
        found += page["data"]
        if page["next_cursor"] is None:
            return found
        cursor = f"&cursor={page['next_cursor']}"


def test_during_clock_jumps_of_days_the_log_stays_complete_and_ordered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Provider(tmp_path) as provider:
        wall_clock = MovedClock(tmp_path, monkeypatch)
        started, started_us = time.monotonic(), clock.wall_us()
        with Service(tmp_path, provider.url) as service:
            load = Load(service.server.port, CLIENTS, random.Random(1), _streams)
            _run(service, load, wall_clock, 0, DAY, -DAY, 0)
            records = service.all_records()
            assert judge(provider.ended(), load.calls, [service.logged(record) for record in records]) == []
            assert len(records) == len(load.calls)

            max_ms = (time.monotonic() - started) * 1000
            events = {call.request_id: call.plan.size for call in load.calls}
            for record in records:
                assert record.duration_ms is not None
                assert record.first_token_ms is not None
                assert 10 * (events[record.id] - 1) <= record.duration_ms <= max_ms
                assert 0 <= record.first_token_ms <= record.duration_ms
                assert record.ended_at is not None
                assert abs(record.ended_at - record.started_at - record.duration_ms * 1000) <= 1

            days = [round((record.started_at - started_us) / 1e6 / DAY) for record in records]
            assert set(days) == {-1, 0, 1}

            latest = ""
            for call in sorted(load.calls, key=lambda call: call.sent_at):
                assert call.request_id is not None
                before = [each.request_id for each in load.calls if (each.first_at or call.sent_at) < call.sent_at]
                latest = max(filter(None, before), default="")
                assert call.request_id > latest

            pages = _pages(service)
            assert all(above["seq"] > below["seq"] for above, below in pairwise(pages))
            assert {row["id"] for row in pages} == {record.id for record in records}

            for boundary_us in (started_us - DAY * 500_000, started_us + DAY * 500_000):
                timestamp = quote(clock.format_timestamp(boundary_us))
                later = {record.id for record in records if record.started_at >= boundary_us}
                assert {row["id"] for row in _pages(service, f"&from={timestamp}")} == later
                assert {row["id"] for row in _pages(service, f"&to={timestamp}")} == {
                    each.id for each in records
                } - later
                assert 0 < len(later) < len(records)
            assert service.server.stop() == 0


def test_a_service_restarted_on_the_day_before_loses_and_duplicates_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Provider(tmp_path) as provider:
        wall_clock = MovedClock(tmp_path, monkeypatch)
        with Service(tmp_path, provider.url) as service:
            load = Load(service.server.port, CLIENTS, random.Random(2), _streams)
            served, calls = [], []
            for offset in (0, -DAY):
                wall_clock.set(offset)
                _run(service, load, wall_clock, offset)
                served += provider.ended()
                calls += load.calls
                service.kill("relay", "recorder", supervisor=True)
                service.start()
            asyncio.run(wait_for(service.is_idle, "all recorded", _TIMEOUT_SECONDS))
            records = service.all_records()
            assert [record.seq for record in records] == sorted(record.seq or 0 for record in records)
            assert judge(served, calls, [service.logged(record) for record in records]) == []
            assert len(records) == len(calls)
            assert service.server.stop() == 0
