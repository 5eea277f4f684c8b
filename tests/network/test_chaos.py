"""If the networks to clients and upstream fail at random, the log is always correct.

The test runs for five seconds, or for five minutes in the long form.
"""

import asyncio
import random
import time
from collections import Counter
from pathlib import Path
from typing import Final

from tests.crash.load import mixed
from tests.network.network import Network, Observed, new_network
from tests.support.fault_proxy import NO_FAULTS, Fault, Plan
from tests.support.long import LONG, new_rng

SECONDS: Final = 300 if LONG else 5
CLIENTS: Final = 24
#: The minimum number of requests in that time, on any machine. With fewer, the test shows nothing.
MIN_REQUESTS: Final = 60


def any_fault(rng: random.Random) -> Fault:
    """Return a random fault for one direction.

    All stalls end. Permanent stalls are ended by timeouts, which have their own tests.
    """
    return Fault(
        latency_seconds=rng.choice((0.0, 0.0, 0.002, 0.02)),
        bytes_per_second=rng.choice((float("inf"), float("inf"), 2_000_000.0, 300_000.0)),
        after=int(10 ** rng.uniform(0, 6)),
        stall_seconds=rng.choice((0.0, 0.0, 0.05, 0.5)),
        ending=rng.choice((None, "fin", "rst", "half")),
    )


def any_plan(rng: random.Random) -> Plan:
    """Return a random plan with faults in no direction, in one direction, or in both directions."""
    match rng.randrange(4):
        case 0:
            return NO_FAULTS
        case 1:
            return Plan(upstream=any_fault(rng))
        case 2:
            return Plan(downstream=any_fault(rng))
        case _:
            return Plan(any_fault(rng), any_fault(rng))


async def break_networks(network: Network, rng: random.Random) -> list[Observed]:
    network.near.choose = network.far.choose = lambda: any_plan(rng)
    load = network.load(CLIENTS, rng, mixed)
    load.start(f"{rng.randrange(1 << 32):x}")
    try:
        await asyncio.sleep(SECONDS)
        await load.finish()
    finally:
        await load.abandon()
    return await network.observe(load.calls)


def test_whatever_the_networks_do_the_log_is_correct(tmp_path: Path) -> None:
    rng = new_rng()
    started = time.monotonic()
    with new_network(tmp_path) as (network, runner):
        seen = runner.run(break_networks(network, rng))
    outcomes = Counter(each.outcome for each in seen)
    print(f"{len(seen)} requests in {time.monotonic() - started:.0f} s: {dict(outcomes)}")
    assert len(seen) >= MIN_REQUESTS
    assert {"complete", "upstream_failed", "client_closed"} <= outcomes.keys()
