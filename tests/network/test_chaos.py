"""Callers and provider behind networks that break at random: whatever happens, the log is right.

For five seconds, or five minutes in the long form.
"""

import asyncio
import random
import time
from collections import Counter
from pathlib import Path
from typing import Final

from tests.crash.load import mixed
from tests.network.network import Network, Seen, a_network
from tests.support.fault_proxy import NO_FAULTS, Fault, Plan
from tests.support.long import LONG, new_rng

SECONDS: Final = 300 if LONG else 5
CALLERS: Final = 24
#: In the time above on any machine; else the test shows nothing.
LEAST_REQUESTS: Final = 60


def any_fault(chance: random.Random) -> Fault:
    """One direction's fault. A stall ends: what lasts for ever is ended by limits, which have tests of their own."""
    return Fault(
        latency_seconds=chance.choice((0.0, 0.0, 0.002, 0.02)),
        bytes_per_second=chance.choice((float("inf"), float("inf"), 2_000_000.0, 300_000.0)),
        after=int(10 ** chance.uniform(0, 6)),
        stall_seconds=chance.choice((0.0, 0.0, 0.05, 0.5)),
        ending=chance.choice((None, "fin", "rst", "half")),
    )


def any_plan(chance: random.Random) -> Plan:
    """Nothing, or a fault in one direction or in both."""
    match chance.randrange(4):
        case 0:
            return NO_FAULTS
        case 1:
            return Plan(upstream=any_fault(chance))
        case 2:
            return Plan(downstream=any_fault(chance))
        case _:
            return Plan(any_fault(chance), any_fault(chance))


async def break_networks(network: Network, chance: random.Random) -> list[Seen]:
    network.near.choose = network.far.choose = lambda: any_plan(chance)
    load = network.load(CALLERS, chance, mixed)
    load.start(f"{chance.randrange(1 << 32):x}")
    try:
        await asyncio.sleep(SECONDS)
        await load.finish()
    finally:
        await load.abandon()
    return await network.seen(load.calls)


def test_whatever_the_networks_do_the_log_is_right(tmp_path: Path) -> None:
    chance = new_rng()
    began = time.monotonic()
    with a_network(tmp_path) as (network, runner):
        seen = runner.run(break_networks(network, chance))
    outcomes = Counter(each.outcome for each in seen)
    print(f"{len(seen)} requests in {time.monotonic() - began:.0f} s: {dict(outcomes)}")
    assert len(seen) >= LEAST_REQUESTS
    assert {"complete", "upstream_failed", "client_closed"} <= outcomes.keys()
