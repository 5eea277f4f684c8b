"""If a process runs out of memory, it continues or is restarted, and the log keeps its guarantee.

RLIMIT_AS limits the memory of one process while traffic needs more. A restarted process has the same limits as the
supervisor, whose memory is not limited.
"""

import asyncio
import random
import resource
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

import pytest
import uvloop
from tests.crash.judge import Served, Violation, judge
from tests.crash.load import Choice, Load, RunningCall
from tests.crash.service import Provider, Service, wait_for
from tests.support.needs import PREFIX
from tests.support.process_usage import address_space, cpu_seconds

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason=f"{PREFIX}prlimit(2)")

MIB: Final = 1 << 20
#: The additional memory that a process may use in each round. Traffic needs some MiB.
SPARE_BYTES: Final = (0, 2 * MIB)
CLIENTS: Final = 40
#: A round lasts until the process has died or this many requests have been served.
ENOUGH_RESPONSES: Final = 100
TIMEOUT_SECONDS: Final = 60.0
WATCHED_SECONDS: Final = 1.0

Part = Literal["relay", "recorder"]


def heavy(rng: random.Random) -> Choice:
    """Choose traffic that needs much memory: uploads, large responses, and streams.

    The judge would detect a gap in a stream.
    """
    draw = rng.random()
    if draw < 0.3:
        return "upload", 500, None
    return ("large", rng.randint(100_000, 1_000_000), None) if draw < 0.7 else ("stream", 100, None)


def light(_: random.Random) -> Choice:
    return "whole", 300, None


def limit_memory(pid: int, limit: int) -> None:
    resource.prlimit(pid, resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))


class Trial:
    """A service under traffic. One of its processes runs out of memory repeatedly."""

    def __init__(self, service: Service, provider: Provider, part: Part) -> None:
        self.deaths = 0
        self._service = service
        self._provider = provider
        self._part: Part = part
        self._calls: list[RunningCall] = []
        self._served: list[Served] = []

    @property
    def pid(self) -> int:
        return self._service.server.pid_of(self._part)

    async def warm_up(self) -> None:
        """Send ordinary requests before the memory is limited.

        Afterwards everything that is allocated only once exists, so only traffic needs more memory.
        """
        load = Load(self._service.server.port, CLIENTS, random.Random(0), light)
        await self._run(load, "warm", lambda: len(completed(load)) >= CLIENTS)

    async def starve(self, spare: int) -> None:
        """Run one round: limit the memory under traffic, remove the limit, and wait for a response to a new request."""
        starved = self.pid
        limit_memory(starved, address_space(starved) + spare)
        load = Load(self._service.server.port, CLIENTS, random.Random(spare), heavy)

        def is_over() -> bool:
            return self.pid != starved or len(completed(load)) >= ENOUGH_RESPONSES

        await self._run(load, f"starved-{spare}", is_over, starved)
        self.deaths += self.pid != starved

    async def _run(self, load: Load, prefix: str, is_over: Callable[[], bool], starved: int | None = None) -> None:
        load.start(prefix)
        try:
            await wait_for(is_over, f"{prefix}: a death or enough responses", TIMEOUT_SECONDS)
            if starved is not None and self.pid == starved:
                with suppress(ProcessLookupError):  # the process may have just died
                    limit_memory(starved, resource.RLIM_INFINITY)
            timestamp = time.monotonic()
            await wait_for(lambda: load.recovered_after(timestamp), f"{prefix}: a response afterwards", TIMEOUT_SECONDS)
            await load.finish()
        finally:
            await load.abandon()
            self._calls += load.calls
        await wait_for(self._service.is_idle, f"{prefix}: all of it recorded", TIMEOUT_SECONDS)

    async def is_idle(self) -> None:
        """Assert that the process uses little CPU time while no request is running."""
        pid, started = self.pid, time.monotonic()
        used = cpu_seconds(pid)
        await asyncio.sleep(WATCHED_SECONDS)
        share = (cpu_seconds(pid) - used) / (time.monotonic() - started)
        assert share < 0.5, f"the {self._part} used {share:.0%} of a core while it had nothing to do"

    async def violations(self) -> list[Violation]:
        """Return the differences between the log and what upstream and clients saw."""

        def is_provider_done() -> bool:
            self._served += self._provider.ended()
            return not self._provider.open

        await wait_for(is_provider_done, "the end of all responses", TIMEOUT_SECONDS)
        logged = [self._service.logged(record) for record in self._service.new_records()]
        return judge(self._served, self._calls, logged)


def completed(load: Load) -> list[RunningCall]:
    return [call for call in load.calls if call.complete]


@pytest.mark.parametrize("part", ["relay", "recorder"])
def test_a_process_without_memory_continues_or_restarts_and_the_log_keeps_its_guarantee(
    tmp_path: Path, part: Part
) -> None:
    with Provider(tmp_path) as provider, Service(tmp_path, provider.url, "--segment-bytes", "1MiB") as service:
        trial = Trial(service, provider, part)

        async def run() -> list[Violation]:
            await trial.warm_up()
            for spare in SPARE_BYTES:
                await trial.starve(spare)
            await trial.is_idle()
            return await trial.violations()

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            violations = runner.run(run())
        assert violations == [], "\n".join(map(str, violations))
        assert trial.deaths, "nothing was short of memory: nothing is shown"
        assert service.server.get("/api/status")["frames_lost"] == 0
        assert service.server.stop() == 0
        assert list(service.data.journal.iterdir()) == []
        assert not service.data.quarantine.exists()
