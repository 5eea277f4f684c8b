"""Kill relay, recorder and supervisor with SIGKILL under load, and compare the log with the upstream's ledger.

By default there are five cycles, one for each of ``TARGETS``. The long form has 1,000 cycles. ``CRASH_CYCLES`` sets
another number.
"""

import asyncio
import os
import random
import statistics
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, get_args

import pytest
import uvloop
from tests.crash.judge import Fault, Served, Violation, judge
from tests.crash.load import Load, mixed
from tests.crash.service import BACK_SECONDS, Provider, Service, wait_for
from tests.support.long import LONG, new_seed

from relaybook.log.record import Record

CYCLES: Final = int(os.environ.get("CRASH_CYCLES", "1000" if LONG else "5"))
CLIENTS: Final = 60
MIN_OPEN: Final = 20
MIN_MID_STREAM: Final = 5
#: Maximum time from full load to the kill.
MAX_PAUSE_SECONDS: Final = 0.8
MIN_REQUESTS_PER_CYCLE: Final = 100
MIN_INTERRUPTED_PER_CYCLE: Final = 6
Target = Literal["relay", "recorder", "supervisor", "relay+recorder", "everything"]
TARGETS: Final[tuple[Target, ...]] = ("relay", "recorder", "supervisor", "relay+recorder", "everything")


@dataclass
class Tally:
    """The figures for the table at the end."""

    seed: int
    kills: Counter[str] = field(default_factory=Counter)
    second_kills: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    requests: int = 0
    reached: int = 0
    records: int = 0
    refused: int = 0
    open_at_kill: list[int] = field(default_factory=list)
    mid_stream_at_kill: list[int] = field(default_factory=list)
    responses_after_seconds: dict[Target, list[float]] = field(default_factory=dict)
    records_after_seconds: dict[Target, list[float]] = field(default_factory=dict)
    seconds: float = 0.0

    def responses_after(self, target: Target, seconds: float) -> None:
        self.responses_after_seconds.setdefault(target, []).append(seconds)

    def records_after(self, target: Target, seconds: float) -> None:
        self.records_after_seconds.setdefault(target, []).append(seconds)

    def table(self) -> str:
        """Return one line per figure."""
        kills = ", ".join(f"{name} {self.kills[name]}" for name in TARGETS)
        rows = [
            ("seed", self.seed),
            ("cycles", f"{sum(self.kills.values())} in {self.seconds:.0f} s"),
            ("kills by target", kills),
            ("killed again while recovering", ", ".join(f"{name} {n}" for name, n in self.second_kills.items())),
            ("open at the kill", _least(self.open_at_kill)),
            ("mid-stream at the kill", _least(self.mid_stream_at_kill)),
            ("requests", f"{self.requests}; {self.reached} reached the provider, {self.records} records"),
            *((f"  {name}", count) for name, count in sorted(self.outcomes.items())),
            ("connections refused, supervisor down", self.refused),
            *((name, self.faults[name]) for name in get_args(Fault)),
            *((f"response after: {name}", _spread(each)) for name, each in self.responses_after_seconds.items()),
            *((f"records again after: {name}", _spread(each)) for name, each in self.records_after_seconds.items()),
        ]
        return "\n".join(f"  {name:<38}{value}" for name, value in rows)


def _least(counts: list[int]) -> str:
    return f"least {min(counts)}, median {statistics.median(counts):.0f}" if counts else "none"


def _spread(seconds: list[float]) -> str:
    return f"median {statistics.median(seconds):.2f} s, most {max(seconds):.2f} s"


class Trial:
    """One long run of the service. Some of its processes are killed in every cycle."""

    def __init__(self, service: Service, provider: Provider, seed: int) -> None:
        self.tally = Tally(seed)
        self._service = service
        self._provider = provider
        self._rng = random.Random(seed)
        self.load = Load(service.server.port, CLIENTS, self._rng, mixed)
        self._records: list[Record] = []
        self._record_of: dict[str, str] = {}

    async def cycle(self, number: int) -> list[Violation]:
        """Run one cycle: load, kill, recovery, idle, check. Returns the violations."""
        target = TARGETS[number % len(TARGETS)]
        load, tally = self.load, self.tally
        load.start(f"{tally.seed:x}-{number}")
        await wait_for(self._is_loaded, "enough exchanges under way")
        await asyncio.sleep(self._rng.uniform(0, MAX_PAUSE_SECONDS))
        await wait_for(self._is_loaded, "enough exchanges under way")
        self._fetch()
        known = len(self._records)
        tally.open_at_kill.append(len(load.open))
        tally.mid_stream_at_kill.append(len(load.mid_stream))
        assert tally.open_at_kill[-1] >= MIN_OPEN
        assert tally.mid_stream_at_kill[-1] >= MIN_MID_STREAM
        killed_at = time.monotonic()
        self._kill(target)
        tally.kills[target] += 1
        if number // len(TARGETS) % 2:
            await self._kill_again(target)
        if target in ("supervisor", "everything"):
            await asyncio.to_thread(self._service.start)
        await wait_for(lambda: load.recovered_after(killed_at), f"a response after the death of {target}")
        tally.responses_after(target, load.recovered_after(killed_at) or 0.0)
        await wait_for(lambda: self._fetch() > known, f"a record after the death of {target}")
        tally.records_after(target, time.monotonic() - killed_at)
        await wait_for(lambda: len(load.calls) >= MIN_REQUESTS_PER_CYCLE, "enough requests")
        await load.finish()
        if target not in ("supervisor", "everything"):
            assert load.refused_at == [], f"connections were refused while only {target} was down"
        tally.refused += len(load.refused_at)
        return await self._judge()

    def _fetch(self) -> int:
        """Fetch the new records, and return the number of records in this cycle."""
        self._records += self._service.new_records()
        return len(self._records)

    def _is_loaded(self) -> bool:
        return len(self.load.open) >= MIN_OPEN and len(self.load.mid_stream) >= MIN_MID_STREAM

    def _kill(self, target: Target) -> None:
        match target:
            case "supervisor":
                self._service.kill(supervisor=True)
            case "relay+recorder":
                self._service.kill("relay", "recorder")
            case "everything":
                self._service.kill("relay", "recorder", "dashboard", supervisor=True)
            case _:
                self._service.kill(target)

    async def _kill_again(self, target: Target) -> None:
        """Kill again during recovery: a new supervisor while it starts, or at random the relay or the recorder."""
        pause = self._rng.uniform(0, 1.0)
        if target in ("supervisor", "everything"):
            await asyncio.to_thread(self._service.start_and_kill, pause)
            self.tally.second_kills["supervisor"] += 1
            return
        await asyncio.sleep(pause)
        if self._service.kill(self._rng.choice(("relay", "recorder"))):
            self.tally.second_kills["relay or recorder"] += 1

    async def _judge(self) -> list[Violation]:
        served: list[Served] = []

        def is_provider_done() -> bool:
            served.extend(self._provider.ended())
            return not self._provider.open

        await wait_for(is_provider_done, "the end of all responses")
        calls = self.load.calls
        await self._wait_for_records({each.tag for each in served} | {call.tag for call in calls if call.request_id})
        records, self._records = self._records, []
        logged = await asyncio.to_thread(lambda: [self._service.logged(record) for record in records])
        found = judge(served, calls, logged)
        tally = self.tally
        tally.requests += len(calls)
        tally.reached += len(served)
        tally.records += len(records)
        tally.outcomes.update(record.outcome for record in records)
        tally.faults.update(violation.fault for violation in found)
        self._record_of |= {record.tag: record.id for record in logged if record.tag}
        return found

    async def _wait_for_records(self, awaited: set[str]) -> None:
        """Wait until the service is idle and the log has these tags, or until a timeout.

        The judge reports a tag that never appears.
        """

        def is_recorded() -> bool:
            self._fetch()
            return awaited <= {record.properties.get("tag") for record in self._records}

        end = time.monotonic() + BACK_SECONDS
        while not (is_recorded() and self._service.is_idle()) and time.monotonic() < end:
            await asyncio.sleep(0.02)
        self._fetch()

    def judge_the_whole_log(self) -> None:
        """Assert that the log contains exactly the records that the cycles have checked."""
        found = [(record.properties.get("tag"), record.id) for record in self._service.all_records()]
        assert sorted(found, key=str) == sorted(self._record_of.items(), key=str)


def test_the_log_keeps_its_guarantee_if_any_process_is_killed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seed = new_seed()
    started = time.monotonic()
    with Provider(tmp_path) as provider, Service(tmp_path, provider.url, "--segment-bytes", "1MiB") as service:
        trial = Trial(service, provider, seed)

        async def run() -> None:
            try:
                for number in range(CYCLES):
                    violations = await trial.cycle(number)
                    assert violations == [], f"cycle {number}: " + "\n".join(map(str, violations))
                    assert service.is_idle(), f"cycle {number}: {service.server.get('/api/status')}"
            finally:
                await trial.load.abandon()

        try:
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                runner.run(run())
        finally:
            trial.tally.seconds = time.monotonic() - started
            with capsys.disabled():
                print(f"\nkilled under load:\n{trial.tally.table()}", file=sys.stderr, flush=True)
        trial.judge_the_whole_log()
        assert service.server.stop() == 0
        assert "\n".join(service.complaints()) == ""
        assert list(service.data.journal.iterdir()) == []
        assert not service.data.quarantine.exists()
    tally = trial.tally
    assert tally.requests >= MIN_REQUESTS_PER_CYCLE * CYCLES
    assert tally.outcomes["interrupted"] >= MIN_INTERRUPTED_PER_CYCLE * CYCLES
    assert provider.strays == 0
