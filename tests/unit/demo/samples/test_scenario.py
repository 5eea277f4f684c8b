"""Accidents wish for what the simulated provider knows."""

import pytest

from relaybook_demo.samples import scenario
from relaybook_demo.simulator.directives import read_directives

ACCIDENTS = [value for value in vars(scenario).values() if isinstance(value, scenario.Accident)]


@pytest.mark.parametrize("accident", ACCIDENTS)
def test_every_wish_is_one_the_provider_grants(accident: scenario.Accident) -> None:
    read_directives([(name.encode(), value.encode()) for name, value in accident.directives.items()], "", None)


def test_there_are_accidents() -> None:
    assert len(ACCIDENTS) == 10
