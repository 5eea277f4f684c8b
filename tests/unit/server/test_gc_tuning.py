"""Test that garbage collection runs less often."""

import gc

import pytest

from relaybook.server.gc_tuning import collect_rarely


def test_existing_objects_are_frozen_and_the_threshold_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[object] = []
    monkeypatch.setattr(gc, "freeze", lambda: calls.append("freeze"))
    monkeypatch.setattr(gc, "set_threshold", lambda *numbers: calls.append(numbers))
    collect_rarely()
    assert calls == ["freeze", (200_000, 20, 100)]
