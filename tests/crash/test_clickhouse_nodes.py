"""Three servers record to one log in ClickHouse, while their processes are killed and ClickHouse fails.

By default there are five cycles, one for each of ``TROUBLES``. The long form has 300 cycles. ``CRASH_CYCLES`` sets
another number. If somebody else runs the ClickHouse server, the tests do not make the server fail.
"""

import asyncio
import os
import random
import sys
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pytest
import uvloop
from tests.crash.judge import Logged, Served, judge
from tests.crash.load import Load, mixed
from tests.crash.service import Provider, Service, wait_for
from tests.support.clickhouse.server import ClickHouse, needs_clickhouse, new_server, url_of
from tests.support.long import LONG, new_seed

from relaybook.log.record import Record
from relaybook.log.store.clickhouse.reader import ClickHouseReader

pytestmark = needs_clickhouse

CYCLES: Final = int(os.environ.get("CRASH_CYCLES", "300" if LONG else "5"))
NODES: Final = 3
CLIENTS: Final = 8
MIN_REQUESTS: Final = 20
PASSWORD: Final = "the-password"
#: Recording continues after the store was away, and after a dead recorder is no longer waited for.
_RECORDED_SECONDS: Final = 120.0
TROUBLES: Final = (
    "a recorder dies",
    "a server dies",
    "the store dies",
    "the store fails",
    "all recorders and the store die",
)


class Trial:
    """Three servers under load, and what is known of their requests."""

    def __init__(self, clickhouse: ClickHouse, services: list[Service], provider: Provider, seed: int) -> None:
        self._clickhouse = clickhouse
        self._services = services
        self._provider = provider
        self._rng = random.Random(seed)
        self._seed = seed
        self._loads = [Load(service.server.port, CLIENTS, self._rng, mixed) for service in services]
        self._records: list[Record] = []
        self.counts: Counter[str] = Counter()

    async def cycle(self, number: int) -> None:
        """Run load, cause trouble, wait until everything is recorded, and check it."""
        for node, load in enumerate(self._loads):
            load.start(f"{self._seed:x}-{number}-{node}")
        await wait_for(lambda: all(_responses(load) >= MIN_REQUESTS for load in self._loads), "responses before")
        troubles = TROUBLES if self._clickhouse.is_own else TROUBLES[:2]
        await self._cause(troubles[number % len(troubles)])
        known = [_responses(load) for load in self._loads]
        await wait_for(
            lambda: all(_responses(load) >= old + 5 for load, old in zip(self._loads, known, strict=True)),
            "responses after",
        )
        for load in self._loads:
            await load.finish()
        await self._judge(number)

    async def abandon(self) -> None:
        for load in self._loads:
            await load.abandon()

    async def _cause(self, trouble: str) -> None:
        service, pause = self._rng.choice(self._services), self._rng.uniform(0, 1.5)
        self.counts[trouble] += 1
        match trouble:
            case "a recorder dies":
                service.kill("recorder")
                await asyncio.sleep(pause)
                service.kill("recorder")
            case "a server dies":
                service.kill("relay", "recorder", "dashboard", supervisor=True)
                await asyncio.sleep(pause)
                await asyncio.to_thread(service.start)
            case "the store dies":
                self._clickhouse.kill()
                await asyncio.sleep(pause)
                await asyncio.to_thread(self._clickhouse.start)
            case "the store fails":
                await asyncio.to_thread(self._clickhouse.fail, refuse=0.2, lose=0.2, delay=0.1)
                await asyncio.sleep(2 + pause)
                await asyncio.to_thread(self._clickhouse.fail)
            case _:
                self._clickhouse.kill()
                for each in self._services:
                    each.kill("recorder")
                await asyncio.sleep(pause)
                await asyncio.to_thread(self._clickhouse.start)

    async def _judge(self, number: int) -> None:
        served: list[Served] = []

        def is_provider_done() -> bool:
            served.extend(self._provider.ended())
            return not self._provider.open

        await wait_for(is_provider_done, "the end of all responses")
        calls = [call for load in self._loads for call in load.calls]
        awaited = {each.tag for each in served} | {call.tag for call in calls if call.request_id}
        end = time.monotonic() + _RECORDED_SECONDS
        while True:
            self._records += self._services[0].new_records()
            idle = [service.is_idle() for service in self._services]
            if all(idle) and awaited <= {record.properties.get("tag") for record in self._records}:
                break
            if time.monotonic() > end:
                assert all(idle), (
                    f"cycle {number}, seed {self._seed:x}: not recorded after {_RECORDED_SECONDS} s: {idle}"
                )
                break
            await asyncio.sleep(0.1)
        records, self._records = self._records, []
        logged: list[Logged] = [await asyncio.to_thread(self._services[0].logged, record) for record in records]
        assert judge(served, calls, logged) == [], f"cycle {number}, seed {self._seed:x}"
        self.counts["requests"] += len(calls)
        self.counts["records"] += len(records)


def _responses(load: Load) -> int:
    return sum(call.complete for call in load.calls)


def test_three_servers_record_each_request_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seed = new_seed()
    clickhouse = new_server(PASSWORD)
    with ExitStack() as stack:
        stack.callback(clickhouse.close)
        address = clickhouse.create_log()
        provider = stack.enter_context(Provider(tmp_path))
        services = [
            stack.enter_context(
                Service(
                    tmp_path / f"node-{node}",
                    provider.url,
                    *("--segment-bytes", "1MiB", "--store", url_of(address)),
                    reader=ClickHouseReader(address),
                    variables={"RELAYBOOK_STORE_PASSWORD": address.password},
                )
            )
            for node in range(NODES)
        ]
        trial = Trial(clickhouse, services, provider, seed)

        async def run() -> None:
            try:
                for number in range(CYCLES):
                    await trial.cycle(number)
            finally:
                await trial.abandon()

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(run())
        with capsys.disabled():
            print(f"\nthree servers, one log: seed {seed:x}, {dict(trial.counts)}", file=sys.stderr, flush=True)
        assert len(services[0].all_records()) == trial.counts["records"]
        assert [service.server.stop() for service in services] == [0] * NODES
        assert [list(service.data.journal.iterdir()) for service in services] == [[]] * NODES
