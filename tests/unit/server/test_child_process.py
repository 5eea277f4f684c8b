"""Test that the start of a child is retried later if it fails."""

import os
import subprocess
from collections.abc import Iterator

import pytest

from relaybook.server.child_process import Child
from relaybook.server.worker_config import WorkerConfig
from relaybook.settings.definitions import Settings


@pytest.fixture
def child(monkeypatch: pytest.MonkeyPatch) -> Iterator[Child]:
    def no_room(*_: object, **__: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(subprocess, "Popen", no_room)
    children_lock = os.open("/dev/null", os.O_RDONLY)
    yield Child(WorkerConfig("dashboard", Settings(), "", "", sample_data=False), None, children_lock)
    os.close(children_lock)


def test_a_failed_start_is_retried_with_growing_delays(child: Child) -> None:
    due = []
    for _ in range(3):
        child.start()
        assert child.due_ns is not None
        due.append(child.due_ns - child._started_ns)
    assert due == sorted(due)
    assert due[2] > 3 * due[0] > 0
    assert (child.is_new, child.exit_code, child.to_hand_over(), child.wait(0)) == (True, None, [], True)
