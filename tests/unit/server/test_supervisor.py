"""Test how the supervisor stops its children and notifies systemd."""

import os
import signal
import socket
import sys
from pathlib import Path
from typing import Any, cast

import pytest
from tests.support.needs import PREFIX

from relaybook.server.child_process import Child
from relaybook.server.supervisor import Supervisor, notify_systemd


class FakeChild:
    """A child that ends on SIGTERM, or only on SIGKILL if it ``hangs``."""

    exit_code = None
    due_ns = 0

    def __init__(self, role: str, *, hangs: bool = False) -> None:
        self.role = role
        self.hangs = hangs
        self.signals: list[int] = []

    def signal(self, number: int) -> None:
        self.signals.append(number)

    def wait(self, seconds: float) -> bool:
        return not self.hangs or signal.SIGKILL in self.signals

    def close_listener(self) -> None: ...

    def wait_until_ready(self, seconds: float) -> None: ...


@pytest.mark.parametrize("hanging", [None, "relay", "recorder", "dashboard"])
def test_the_exit_code_tells_whether_a_child_was_killed(hanging: str | None) -> None:
    supervisor = Supervisor([], 1.0, lambda *_: None, lambda: None)
    children = [FakeChild(role, hangs=role == hanging) for role in ("relay", "recorder", "dashboard")]
    supervisor._children = cast(Any, children)
    assert supervisor._stop() == (hanging is None)
    for child in children:
        assert child.signals == [signal.SIGTERM, *([signal.SIGKILL] if child.role == hanging else [])]


def test_run_returns_1_if_a_child_was_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    for stopped, code in ((True, 0), (False, 1)):
        supervisor = Supervisor([], 1.0, lambda *_: None, lambda: None)
        for name in ("set_wakeup_fd", "signal", "pthread_sigmask"):
            monkeypatch.setattr(signal, name, lambda *_, **__: None)
        monkeypatch.setattr(supervisor, "_stop", lambda stopped=stopped: stopped)
        supervisor._signals = 1
        assert supervisor.run(cast(list[Child], []), lambda: None) == code


@pytest.mark.skipif(sys.platform != "linux", reason=f"{PREFIX}abstract sockets")
def test_systemd_is_notified_on_an_abstract_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"relaybook-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(f"\0{name}")
        systemd.settimeout(10)
        monkeypatch.setenv("NOTIFY_SOCKET", f"@{name}")
        notify_systemd("READY=1")
        assert systemd.recv(100) == b"READY=1"


def test_a_missing_socket_of_systemd_is_ignored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "missing"))
    notify_systemd("READY=1")
    monkeypatch.delenv("NOTIFY_SOCKET")
    notify_systemd("READY=1")
