"""A child that the system has no room for is started later."""

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
    held = os.open("/dev/null", os.O_RDONLY)
    yield Child(WorkerConfig("dashboard", Settings(), "", "", sample_data=False), None, held)
    os.close(held)


def test_what_cannot_be_started_is_due_again_and_later_each_time(child: Child) -> None:
    due = []
    for _ in range(3):
        child.start()
        assert child.due_ns is not None
        due.append(child.due_ns - child._started_ns)
    assert due == sorted(due)
    assert due[2] > 3 * due[0] > 0
    assert (child.is_new, child.exit_code, child.left(), child.wait(0)) == (True, None, [], True)
