"""Starting and stopping, as far as that needs no socket."""

import asyncio

from relaybook_demo.simulator.server import Simulator
from relaybook_demo.simulator.settings import SimulatorSettings


def test_closing_what_never_started_is_nothing() -> None:
    async def main() -> None:
        async with Simulator(SimulatorSettings(ledger_keep=3)) as simulator:
            assert simulator.controls.ledger.entries.maxlen == 3

    asyncio.run(main())
