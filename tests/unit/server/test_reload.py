"""Test how a server hands over to the next program."""

import signal

import pytest

from relaybook.server.reload import HandedOver, ReloadRefused, hand_over


def test_a_stopping_server_does_not_hand_over() -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    with pytest.raises(ReloadRefused, match="is stopping"):
        hand_over(HandedOver({}, -1, -1, []), lambda: True)
    assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == before
