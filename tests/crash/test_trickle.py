"""A stream that trickles beside heavy traffic: it holds no journal back, and survives the recorder's deaths whole.

For eight seconds and two deaths, or twenty seconds and four in the long form.
"""

import asyncio
import random
import time
from pathlib import Path
from typing import Final

import uvloop
from tests.crash.judge import Served, judge
from tests.crash.load import Choice, Load
from tests.crash.service import Provider, Service, until
from tests.support.long import LONG

from relaybook.journal.reader import list_runs
from relaybook.journal.segment import sequences

SECONDS: Final = 20 if LONG else 8
EVENTS_PER_SECOND: Final = 5
HEAVY_CALLERS: Final = 6
DEATHS: Final = 4 if LONG else 2
#: The promise: so many segments, and the spare.
MAX_HELD_BYTES: Final = 2
#: So many segments must have come and gone meanwhile, else the test shows nothing.
LEAST_ROLLED: Final = 20 if LONG else 8
#: What is recorded is unlinked at the end of the same commit; a second is plenty even for a busy machine.
_UNLINK_SECONDS: Final = 1.0


def _trickle(_: random.Random) -> Choice:
    return "trickle", SECONDS * EVENTS_PER_SECOND, None


def _heavy(chance: random.Random) -> Choice:
    return ("upload", 500, None) if chance.random() < 0.5 else ("large", chance.randint(100_000, 500_000), None)


class _Journal:
    """The one run of a service, from outside."""

    def __init__(self, service: Service) -> None:
        self._service = service
        (self.run,) = list_runs(service.data.journal)

    def segments(self) -> list[int]:
        return sequences(self.run)

    def recorded(self) -> set[int]:
        """Segments that are there although the recorder has read and committed all of them."""
        position = self._service.position(self.run.name)
        return {number for number in self.segments() if position is not None and number < position.read_to[0]}

    async def held_back(self) -> set[int]:
        """Recorded segments that stay."""
        before = self.recorded()
        await asyncio.sleep(_UNLINK_SECONDS)
        return before & self.recorded()


async def _watch(service: Service, trickle: Load, heavy: Load, chance: random.Random) -> None:
    trickle.start("trickle")
    heavy.start("heavy")
    await until(lambda: trickle.mid_stream and heavy.open, "both under way")
    trickle_over = asyncio.ensure_future(trickle.finish())
    journal = _Journal(service)
    first = journal.segments()[0]
    began = time.monotonic()
    while time.monotonic() < began + SECONDS / 4:
        assert len(held := await journal.held_back()) <= MAX_HELD_BYTES, f"the recorder holds back segments {held}"
    for _ in range(DEATHS):
        await asyncio.sleep(chance.uniform(0, 1))
        service.kill("recorder")
        before = journal.segments()[-1]
        await until(lambda: min(journal.segments()) > before, "everything of before the recorder's death unlinked")  # noqa: B023
    assert trickle.mid_stream, "the trickle ended before the recorder's last death"
    await heavy.finish()
    await until(lambda: len(journal.segments()) <= MAX_HELD_BYTES + 1, "the journal down to two segments and a spare")
    assert trickle.mid_stream, "the trickle ended before the heavy traffic"
    assert journal.segments()[-1] - first >= LEAST_ROLLED
    await trickle_over


def test_a_trickling_stream_holds_no_journal_back_and_survives_the_recorders_deaths(tmp_path: Path) -> None:
    chance = random.Random(7)
    with Provider(tmp_path) as provider, Service(tmp_path, provider.url, "--segment-bytes", "1MiB") as service:
        trickle = Load(service.server.port, 1, chance, _trickle)
        heavy = Load(service.server.port, HEAVY_CALLERS, chance, _heavy)
        served: list[Served] = []

        async def run() -> None:
            try:
                await _watch(service, trickle, heavy, chance)
            finally:
                await trickle.abandon()
                await heavy.abandon()
            await until(service.is_at_rest, "all recorded")
            served.extend(provider.ended())

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(run())
        calls = [*trickle.calls, *heavy.calls]
        logged = [service.logged(record) for record in service.new_records()]
        assert judge(served, calls, logged) == []
        assert len(logged) == len(calls)
        assert {record.outcome for record in logged} == {"complete"}
        assert trickle.calls[0].complete
        assert service.server.stop() == 0
        assert "\n".join(service.complaints()) == ""
