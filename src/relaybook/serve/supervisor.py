"""The supervisor: holds the sockets and the lock, starts the children, starts them again, stops them in order.

It relays nothing and records nothing, so it has little to die of. When it dies all the same, the children see the end
of their standard input and end by themselves.
"""

import logging
import os
import select
import signal
import socket
import subprocess
import sys
from typing import Any, Final

from relaybook import clock
from relaybook.serve.roles import Orders
from relaybook.serve.wire import encode_orders

log = logging.getLogger("relaybook.serve")

_FIRST_PAUSE_NS: Final = 100_000_000
_MOST_PAUSE_NS: Final = 5 * clock.NANOSECONDS
_STEADY_NS: Final = 10 * clock.NANOSECONDS
_BAD_SETTINGS: Final = 2
#: In which order children are stopped: what sends, what relays, what still has work from them, what shows it.
_STOPS: Final = {"traffic": 0, "relay": 1, "dashboard": 3}
_STOPS_BETWEEN: Final = 2


class Child:
    """One child process, started again when it dies, later each time until it has held for a while."""

    def __init__(self, orders: Orders, listener: socket.socket | None, held: int) -> None:
        """The child inherits its listening socket and ``held``, a descriptor that tells others that it lives."""
        self.role = orders.role
        self._held = held
        self._orders = orders
        self._listener = listener
        self._pause_ns = _FIRST_PAUSE_NS
        self._started_ns = 0
        self.restart_at_ns: int | None = None
        self.process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        inherited = [self._held]
        if self._listener is not None:
            self._orders.socket = self._listener.fileno()
            inherited.append(self._listener.fileno())
        process = subprocess.Popen(
            [sys.executable, "-m", "relaybook.serve.child"], stdin=subprocess.PIPE, pass_fds=inherited, process_group=0
        )
        if process.stdin is not None:
            process.stdin.write(encode_orders(self._orders))
            process.stdin.flush()
        log.info("child_started", extra={"role": self.role, "pid": process.pid})
        self._started_ns = clock.monotonic_ns()
        self.restart_at_ns = None
        return process

    def died(self) -> None:
        """Plans the next start."""
        now = clock.monotonic_ns()
        if now - self._started_ns > _STEADY_NS:
            self._pause_ns = _FIRST_PAUSE_NS
        code = self.process.returncode
        log.error("child_died", extra={"role": self.role, "code": code, "restart_ms": self._pause_ns // 1_000_000})
        self._close_pipe()
        self.restart_at_ns = now + self._pause_ns
        self._pause_ns = min(self._pause_ns * 2, _MOST_PAUSE_NS)

    def restart(self) -> None:
        """Starts it again."""
        self.process = self._start()

    def signal(self, number: int) -> None:
        """Sends a signal, if it still runs."""
        if self.process.poll() is None:
            self.process.send_signal(number)

    def wait(self, seconds: float) -> bool:
        """Whether it has ended by then."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        self._close_pipe()
        return True

    def close_listener(self) -> None:
        """Lets go of the listening socket, so that the child's closing it refuses new connections."""
        if self._listener is not None:
            self._listener.close()

    def kill(self) -> None:
        """Ends it at once."""
        self.process.kill()
        self.wait(5.0)

    def _close_pipe(self) -> None:
        if self.process.stdin is not None:
            self.process.stdin.close()


class Supervisor:
    """Runs children until a signal, then stops them: sample traffic, then relays, the recorder when they are done."""

    def __init__(self, children: list[Child], drain_seconds: float) -> None:
        self._children = children
        self._drain_seconds = drain_seconds
        self._signals = 0
        self._wake, self._woken = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK) if hasattr(os, "pipe2") else _pipe()

    def run(self) -> int:
        """Returns the exit code, after all children have ended."""
        signal.set_wakeup_fd(self._woken, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop_wanted)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        while not self._signals:
            self._wait(self._look_after_children())
            if any(child.process.poll() == _BAD_SETTINGS for child in self._children):
                self._stop()
                return _BAD_SETTINGS
        self._stop()
        return 0

    def _stop_wanted(self, *_: Any) -> None:
        self._signals += 1
        if self._signals > 1:
            for child in self._children:
                child.signal(signal.SIGTERM)

    def _look_after_children(self) -> float:
        """Restarts what is due; seconds until the next look."""
        now = clock.monotonic_ns()
        pause = 10.0
        for child in self._children:
            if child.restart_at_ns is None and child.process.poll() not in (None, _BAD_SETTINGS):
                child.died()
            if child.restart_at_ns is not None:
                if now >= child.restart_at_ns:
                    child.restart()
                else:
                    pause = min(pause, (child.restart_at_ns - now) / clock.NANOSECONDS)
        return pause

    def _wait(self, seconds: float) -> None:
        ready, _, _ = select.select([self._wake], [], [], seconds)
        if ready:
            os.read(self._wake, 4096)

    def _stop(self) -> None:
        """Each group is told to stop when the one before it has ended."""
        for place, seconds in enumerate((10.0, self._drain_seconds + 10, 60.0, 10.0)):
            group = [child for child in self._children if _STOPS.get(child.role, _STOPS_BETWEEN) == place]
            for child in group:
                if child.role == "relay":
                    child.close_listener()
                child.signal(signal.SIGTERM)
                if self._signals > 1:
                    child.signal(signal.SIGTERM)
            for child in group:
                if not child.wait(seconds):
                    log.error("child_killed", extra={"role": child.role})
                    child.kill()


def _pipe() -> tuple[int, int]:
    wake, woken = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(woken, False)
    return wake, woken
