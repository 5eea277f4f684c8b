"""Test the start of a child, and the end of a child of the program before a reload."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from relaybook.server.child_process import Child, Predecessor
from relaybook.server.reload import RunningChild
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


def test_the_recorder_of_the_program_before_a_reload_stops_at_once(tmp_path: Path) -> None:
    """The recorder is suspended when it is told to finish, so two signals would arrive as one."""
    ours, theirs = socket.socketpair()
    code = (
        "import signal, os, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN); os.write(0, b'.'); "
        "sys.exit(len(os.read(0, 1)))"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdin=theirs)
    theirs.close()
    assert ours.recv(1) == b"."
    process.send_signal(signal.SIGSTOP)
    predecessor = Predecessor(RunningChild("recorder", process.pid, ours.detach(), is_stop_requested=False))
    predecessor.finish()
    assert predecessor.to_hand_over() != []
    process.send_signal(signal.SIGCONT)
    assert predecessor.wait(30)
    process.returncode = 0  # the predecessor has waited for it
