"""Accidents wish for what the simulated provider knows."""

import pytest

from relaybook.serve.samples import scene
from relaybook.simulator.wishes import read_wish

ACCIDENTS = [value for value in vars(scene).values() if isinstance(value, scene.Accident)]


@pytest.mark.parametrize("accident", ACCIDENTS)
def test_every_wish_is_one_the_provider_grants(accident: scene.Accident) -> None:
    read_wish([(name.encode(), value.encode()) for name, value in accident.wishes.items()], "", None)


def test_there_are_accidents() -> None:
    assert len(ACCIDENTS) == 10
