"""A provider that answers, streams, stalls, breaks on demand: for demonstrations and tests, without key or network."""

from relaybook_demo.simulator.server import Simulator, run
from relaybook_demo.simulator.settings import SimulatorSettings

__all__ = ["Simulator", "SimulatorSettings", "run"]
