"""A slow stream beside heavy traffic does not keep journal segments, and it survives deaths of the recorder.

The test runs for eight seconds with two deaths. In the long form it runs for twenty seconds with four deaths.
"""

import asyncio
import random
import time
from pathlib import Path
from typing import Final

import uvloop
from tests.crash.judge import Served, judge
from tests.crash.load import Choice, Load
from tests.crash.service import Provider, Service, wait_for
from tests.support.long import LONG

from relaybook.journal.reader import list_runs
from relaybook.journal.segment import sequences

SECONDS: Final = 20 if LONG else 8
EVENTS_PER_SECOND: Final = 5
HEAVY_CLIENTS: Final = 6
DEATHS: Final = 4 if LONG else 2
#: The maximum number of recorded segments that are kept, besides the spare segment.
MAX_HELD_SEGMENTS: Final = 2
#: The minimum number of segments that are created during the test. With fewer, the test shows nothing.
MIN_ROLLED: Final = 20 if LONG else 8
#: The time within which recorded segments must be deleted. The commit that records them also deletes them, so a second
#: is enough even on a busy machine.
_UNLINK_SECONDS: Final = 1.0


def _trickle(_: random.Random) -> Choice:
    return "trickle", SECONDS * EVENTS_PER_SECOND, None


def _heavy(rng: random.Random) -> Choice:
    return ("upload", 500, None) if rng.random() < 0.5 else ("large", rng.randint(100_000, 500_000), None)


class _Journal:
    """The only run in the journal of a service."""

    def __init__(self, service: Service) -> None:
        self._service = service
        (self.run,) = list_runs(service.data.journal)

    def segments(self) -> list[int]:
        return sequences(self.run)

    def recorded(self) -> set[int]:
        """Return the existing segments that the recorder has completely read and committed."""
        position = self._service.position(self.run.name)
        return {number for number in self.segments() if position is not None and number < position.read_to[0]}

    async def kept(self) -> set[int]:
        """Return the recorded segments that are not deleted within ``_UNLINK_SECONDS``."""
        before = self.recorded()
        await asyncio.sleep(_UNLINK_SECONDS)
        return before & self.recorded()


async def _watch(service: Service, trickle: Load, heavy: Load, rng: random.Random) -> None:
    trickle.start("trickle")
    heavy.start("heavy")
    await wait_for(lambda: trickle.mid_stream and heavy.open, "both under way")
    trickle_over = asyncio.ensure_future(trickle.finish())
    journal = _Journal(service)
    first = journal.segments()[0]
    started = time.monotonic()
    while time.monotonic() < started + SECONDS / 4:
        assert len(kept := await journal.kept()) <= MAX_HELD_SEGMENTS, f"the recorder holds back segments {kept}"
    for _ in range(DEATHS):
        await asyncio.sleep(rng.uniform(0, 1))
        service.kill("recorder")
        before = journal.segments()[-1]
        await wait_for(lambda: min(journal.segments()) > before, "everything of before the recorder's death unlinked")  # noqa: B023
    assert trickle.mid_stream, "the trickle ended before the recorder's last death"
    await heavy.finish()
    await wait_for(
        lambda: len(journal.segments()) <= MAX_HELD_SEGMENTS + 1, "the journal down to two segments and a spare"
    )
    assert trickle.mid_stream, "the trickle ended before the heavy traffic"
    assert journal.segments()[-1] - first >= MIN_ROLLED
    await trickle_over


def test_a_slow_stream_does_not_keep_segments_and_survives_deaths_of_the_recorder(tmp_path: Path) -> None:
    rng = random.Random(7)
    with Provider(tmp_path) as provider, Service(tmp_path, provider.url, "--segment-bytes", "1MiB") as service:
        trickle = Load(service.server.port, 1, rng, _trickle)
        heavy = Load(service.server.port, HEAVY_CLIENTS, rng, _heavy)
        served: list[Served] = []

        async def run() -> None:
            try:
                await _watch(service, trickle, heavy, rng)
            finally:
                await trickle.abandon()
                await heavy.abandon()
            await wait_for(service.is_idle, "all recorded")
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
