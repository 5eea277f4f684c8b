"""Test how a server hands over to the next program."""

import signal
import sys

import pytest

from relaybook.server.reload import HandedOver, ReloadRefused, hand_over, rehearse


def test_a_stopping_server_does_not_hand_over() -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    with pytest.raises(ReloadRefused, match="is stopping"):
        hand_over(HandedOver({}, -1, -1, []), lambda: True)
    assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == before


def test_a_program_that_prints_no_settings_does_not_take_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "orig_argv", [sys.executable, "-c", "print('relaybook 9')"])
    with pytest.raises(ReloadRefused, match="the new program did not print its settings"):
        rehearse(HandedOver({}, 0, 0, []))
