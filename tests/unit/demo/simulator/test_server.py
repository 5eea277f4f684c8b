"""Test that a simulator can be closed although it was never started."""

import asyncio

from relaybook_demo.simulator.server import Simulator
from relaybook_demo.simulator.settings import SimulatorSettings


def test_closing_an_unstarted_simulator_does_nothing() -> None:
    async def main() -> None:
        async with Simulator(SimulatorSettings(ledger_keep=3)) as simulator:
            assert simulator.controls.ledger.entries.maxlen == 3

    asyncio.run(main())
