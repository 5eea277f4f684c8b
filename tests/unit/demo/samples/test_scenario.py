"""Test that every fault has valid directives."""

import pytest

from relaybook_demo.samples import scenario
from relaybook_demo.simulator.directives import read_directives

FAULTS = [value for value in vars(scenario).values() if isinstance(value, scenario.Fault)]


@pytest.mark.parametrize("fault", FAULTS)
def test_every_directive_of_a_fault_is_valid(fault: scenario.Fault) -> None:
    read_directives([(name.encode(), value.encode()) for name, value in fault.directives.items()], "", None)


def test_there_are_ten_faults() -> None:
    assert len(FAULTS) == 10
