"""Test the command line of the simulated upstream."""

from pathlib import Path

import pytest

from relaybook_demo.simulator.__main__ import read_arguments
from relaybook_demo.simulator.settings import SimulatorSettings


def test_no_arguments_give_the_defaults() -> None:
    assert read_arguments([]) == SimulatorSettings()


def test_every_argument_sets_its_setting() -> None:
    line = "--listen [::1]:99 --first-token-ms 5 --tokens-per-second 60 --response-headers openai"
    assert read_arguments([*line.split(), "--ledger", "f", "--ledger-mode", "digest", "--ledger-keep", "9"]) == (
        SimulatorSettings("::1", 99, 5, 60, "openai", "digest", 9, Path("f"))
    )


def test_an_invalid_address_is_rejected(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        read_arguments(["--listen", "localhost"])
    assert "HOST:PORT" in capsys.readouterr().err
