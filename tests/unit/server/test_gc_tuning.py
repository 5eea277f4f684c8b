"""A process that makes objects by the thousand is told to look for cycles rarely."""

import gc

import pytest

from relaybook.server.gc_tuning import collect_rarely


def test_what_is_here_is_never_looked_at_again_and_what_comes_rarely(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[object] = []
    monkeypatch.setattr(gc, "freeze", lambda: told.append("freeze"))
    monkeypatch.setattr(gc, "set_threshold", lambda *numbers: told.append(numbers))
    collect_rarely()
    assert told == ["freeze", (200_000, 20, 100)]
