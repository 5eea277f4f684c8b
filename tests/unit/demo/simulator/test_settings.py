"""Test the settings of the simulated upstream."""

from relaybook_demo.simulator.settings import SimulatorSettings


def test_defaults_have_no_delay_and_a_full_ledger() -> None:
    settings = SimulatorSettings()
    assert (settings.first_token_ms, settings.tokens_per_second) == (0, 0)
    assert (settings.ledger_mode, settings.ledger_keep) == ("full", None)
