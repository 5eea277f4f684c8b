"""Simulate an upstream that responds, streams, stalls and fails on request, without an API key or a network."""

from relaybook_demo.simulator.server import Simulator, run
from relaybook_demo.simulator.settings import SimulatorSettings

__all__ = ["Simulator", "SimulatorSettings", "run"]
