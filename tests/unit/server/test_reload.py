"""The moment in which one program becomes the next."""

import signal

from relaybook.server.reload import HandedOver, hand_over


def test_who_was_told_to_stop_hands_nothing_over() -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    assert "told to stop" in hand_over(HandedOver({}, -1, -1, []), lambda: True)
    assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == before
