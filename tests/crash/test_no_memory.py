"""A part that runs out of memory: it works on or dies and is started again, and the log keeps its promise.

RLIMIT_AS takes the memory from one process while traffic needs more of it. Whoever is started in its place has the
limits of the supervisor, that is none.
"""

import asyncio
import random
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal

import pytest
import uvloop
from tests.crash.judge import Served, Violation, judge
from tests.crash.load import Asked, Choice, Load
from tests.crash.service import Provider, Service, until
from tests.support.process_usage import address_space, cpu_seconds

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits of another process are set by prlimit(2)")

MIB: Final = 1 << 20
#: What a process may take beyond what it has, round after round. Traffic needs some MiB.
SPARE_BYTES: Final = (0, 2 * MIB)
CALLERS: Final = 40
#: A round goes on until the process has died, or until so many were answered by one that has too little.
ENOUGH_ANSWERS: Final = 100
PATIENCE_SECONDS: Final = 60.0
WATCHED_SECONDS: Final = 1.0

Part = Literal["relay", "recorder"]


def heavy(chance: random.Random) -> Choice:
    """Much that is under way at a time: uploads, large answers, and streams in which a hole would be seen."""
    draw = chance.random()
    if draw < 0.3:
        return "upload", 500, None
    return ("large", chance.randint(100_000, 1_000_000), None) if draw < 0.7 else ("stream", 100, None)


def light(_: random.Random) -> Choice:
    return "whole", 300, None


def limit_memory(pid: int, most: int) -> None:
    resource.prlimit(pid, resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))


class Trial:
    """One service under traffic, of which one part is left without memory again and again."""

    def __init__(self, service: Service, provider: Provider, part: Part) -> None:
        self.deaths = 0
        self._service = service
        self._provider = provider
        self._part: Part = part
        self._calls: list[Asked] = []
        self._served: list[Served] = []

    @property
    def pid(self) -> int:
        return self._service.server.pid_of(self._part)

    async def warm_up(self) -> None:
        """Ordinary requests, so that all that is made once is there and only traffic needs memory."""
        load = Load(self._service.server.port, CALLERS, random.Random(0), light)
        await self._run(load, "warm", lambda: len(answered(load)) >= CALLERS)

    async def starve(self, spare: int) -> None:
        """One round: too little memory under traffic, then enough of it, and an answer to something new."""
        starved = self.pid
        limit_memory(starved, address_space(starved) + spare)
        load = Load(self._service.server.port, CALLERS, random.Random(spare), heavy)

        def is_over() -> bool:
            return self.pid != starved or len(answered(load)) >= ENOUGH_ANSWERS

        await self._run(load, f"starved-{spare}", is_over, starved)
        self.deaths += self.pid != starved

    async def _run(self, load: Load, prefix: str, is_over: Callable[[], bool], starved: int | None = None) -> None:
        load.start(prefix)
        try:
            await until(is_over, f"{prefix}: a death or enough answers", PATIENCE_SECONDS)
            if starved is not None and self.pid == starved:
                limit_memory(starved, resource.RLIM_INFINITY)
            timestamp = time.monotonic()
            await until(lambda: load.recovered_after(timestamp), f"{prefix}: an answer afterwards", PATIENCE_SECONDS)
            await load.finish()
        finally:
            await load.abandon()
            self._calls += load.calls
        await until(self._service.is_at_rest, f"{prefix}: all of it recorded", PATIENCE_SECONDS)

    async def rests(self) -> None:
        """Nothing is under way, so nothing is worked at."""
        pid, began = self.pid, time.monotonic()
        used = cpu_seconds(pid)
        await asyncio.sleep(WATCHED_SECONDS)
        share = (cpu_seconds(pid) - used) / (time.monotonic() - began)
        assert share < 0.5, f"the {self._part} used {share:.0%} of a core while it had nothing to do"

    async def judged(self) -> list[Violation]:
        """What the log says against what provider and callers saw."""

        def is_provider_done() -> bool:
            self._served += self._provider.ended()
            return not self._provider.open

        await until(is_provider_done, "the end of all answers", PATIENCE_SECONDS)
        logged = [self._service.logged(record) for record in self._service.new_records()]
        return judge(self._served, self._calls, logged)


def answered(load: Load) -> list[Asked]:
    return [call for call in load.calls if call.complete]


@pytest.mark.parametrize("part", ["relay", "recorder"])
def test_without_memory_a_part_works_on_or_starts_again_and_the_log_keeps_its_promise(
    tmp_path: Path, part: Part
) -> None:
    with Provider(tmp_path) as provider, Service(tmp_path, provider.url, "--segment-bytes", "1MiB") as service:
        trial = Trial(service, provider, part)

        async def run() -> list[Violation]:
            await trial.warm_up()
            for spare in SPARE_BYTES:
                await trial.starve(spare)
            await trial.rests()
            return await trial.judged()

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            violations = runner.run(run())
        assert violations == [], "\n".join(map(str, violations))
        assert trial.deaths, "nothing was short of memory: nothing is shown"
        assert service.server.get("/api/status")["frames_lost"] == 0
        assert service.server.stop() == 0
        assert list(service.data.journal.iterdir()) == []
        assert not service.data.quarantine.exists()
