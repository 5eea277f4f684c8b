"""Settings of the simulated provider."""

from relaybook_demo.simulator.settings import SimulatorSettings


def test_defaults_answer_at_once_and_forget_nothing() -> None:
    settings = SimulatorSettings()
    assert (settings.first_token_ms, settings.tokens_per_second) == (0, 0)
    assert (settings.ledger_mode, settings.ledger_keep) == ("full", None)
