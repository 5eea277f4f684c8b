"""Manage the child processes of this program, and of the program that ran before a reload."""

import logging
import os
import select
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from typing import Final

from relaybook import clock
from relaybook.server.reload import RunningChild
from relaybook.server.worker_config import WorkerConfig, encode_config

log = logging.getLogger("relaybook.server")

_MIN_DELAY_NS: Final = 100_000_000
_MAX_DELAY_NS: Final = 5 * clock.NANOSECONDS
_STABLE_NS: Final = 10 * clock.NANOSECONDS


class Child:
    """A child process, which is restarted when it dies.

    The delay before a restart doubles from 0.1 s to at most 5 s. The delay is reset when the child has run for 10 s.
    The child's standard input is one end of a socket pair, and ``channel`` is the other end. The child reads its
    configuration from standard input. If the supervisor dies, the child reads end-of-file. A relay writes a line to the
    socket pair when it listens. The recorder writes a line when it can handle signals.
    """

    def __init__(self, config: WorkerConfig, listener: socket.socket | None, children_lock: int) -> None:
        """The child inherits ``listener`` and ``children_lock``.

        The lock shows other servers that the child is running (see ``DataDirectory.has_children``).
        """
        self.role = config.role
        self.is_ready = False
        self._children_lock = children_lock
        self._config = config
        self._listener = listener
        self._delay_ns = _MIN_DELAY_NS
        self._started_ns = 0
        #: Time of the next start; None while the child is running.
        self.due_ns: int | None = 0
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def is_new(self) -> bool:
        """Whether the child has never been started."""
        return self._process is None

    @property
    def exit_code(self) -> int | None:
        """The exit code of the last process; `None` while the process is running or if there was no process."""
        return self._process.poll() if self._process else None

    def start(self) -> None:
        """Start or restart the child. If the system cannot start it, schedule another attempt."""
        self._started_ns = clock.monotonic_ns()
        try:
            self._process = self._launch()
        except OSError as error:
            log.error("child_not_started", extra={"role": self.role, "reason": str(error)})
            self._schedule_start()
            return
        with suppress(OSError):  # if the child has died already, the supervisor will notice
            self.channel.sendall(encode_config(self._config))
        log.info("child_started", extra={"role": self.role, "pid": self._process.pid})
        self.due_ns = None
        self.is_ready = False

    def _launch(self) -> subprocess.Popen[bytes]:
        inherited = [self._children_lock]
        if self._listener is not None:
            self._config.socket = self._listener.fileno()
            inherited.append(self._listener.fileno())
        self.channel, child_end = socket.socketpair()
        try:
            return subprocess.Popen(  # noqa: S603 - our own command line; the role is an argument so that ps shows it
                [sys.executable, "-m", "relaybook.server.child", self.role],
                stdin=child_end.fileno(),
                pass_fds=inherited,
                process_group=0,
            )
        except OSError:
            self.channel.close()
            raise
        finally:
            child_end.close()

    def read_ready(self) -> None:
        """Read the channel without blocking, and set ``is_ready`` if the child wrote to the channel."""
        with suppress(OSError):
            self.is_ready = bool(self.channel.recv(64, socket.MSG_DONTWAIT)) or self.is_ready

    def wait_until_ready(self, seconds: float) -> None:
        """Wait at most ``seconds`` until the child is ready or has died."""
        is_starting = self._process is not None and self.due_ns is None and not self.is_ready
        if is_starting and select.select([self.channel], [], [], seconds)[0]:
            self.read_ready()

    def handle_death(self) -> None:
        """Log that the child died, and schedule its restart."""
        if clock.monotonic_ns() - self._started_ns > _STABLE_NS:
            self._delay_ns = _MIN_DELAY_NS
        restart_ms = self._delay_ns // 1_000_000
        log.error("child_died", extra={"role": self.role, "code": self.exit_code, "restart_ms": restart_ms})
        self.channel.close()
        self.is_ready = False
        self._schedule_start()

    def _schedule_start(self) -> None:
        self.due_ns = clock.monotonic_ns() + self._delay_ns
        self._delay_ns = min(self._delay_ns * 2, _MAX_DELAY_NS)

    def signal(self, number: int) -> None:
        """Send a signal if the child is running."""
        if self._process:
            self._process.send_signal(number)  # Popen sends nothing if the process has ended

    def wait(self, seconds: float) -> bool:
        """Wait up to ``seconds`` for the child to end. Return whether the child has ended."""
        if self._process is None:
            return True
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        self.channel.close()
        return True

    def close_listener(self) -> None:
        """Close the supervisor's copy of the listening socket.

        When all relays have closed their copies, new connections are refused.
        """
        if self._listener is not None:
            self._listener.close()

    def to_hand_over(self) -> list[RunningChild]:
        """Return a list with the child's process, for a reload to hand over to the new program.

        The list is empty if the process is not running.
        """
        if self._process is None or self._process.poll() is not None:
            return []
        return [RunningChild(self.role, self._process.pid, self.channel.fileno(), is_stop_requested=False)]


class Predecessor:
    """A child that was started before a reload.

    When all new relays listen, the supervisor tells this child to finish. The child is never restarted.
    """

    def __init__(self, running: RunningChild) -> None:
        self.role = running.role
        self._running = running
        self._has_ended = False

    def finish(self) -> None:
        """Tell the child to finish, unless it was told before.

        A relay first serves its current connections. Other children end at once.
        """
        if self._running.is_stop_requested:
            return
        self._running.is_stop_requested = True
        match self.role:
            case "relay":
                self.signal(signal.SIGHUP)
            case "recorder":
                # Close the channel. Then the recorder stops at once, as if the supervisor had died. After one signal,
                # the recorder would first read the journal to its end, but the journal keeps growing. Two signals mean
                # "stop at once", but the system can merge them into one.
                with socket.socket(fileno=os.dup(self._running.channel)) as channel, suppress(OSError):
                    channel.shutdown(socket.SHUT_RDWR)
            case _:
                self.signal(signal.SIGTERM)

    def signal(self, number: int) -> None:
        """Send a signal if the child is still running."""
        if not self.has_ended():
            os.kill(self._running.pid, number)

    def has_ended(self) -> bool:
        """Return whether the child has ended, and log its end."""
        if not self._has_ended:
            try:
                self._has_ended = os.waitpid(self._running.pid, os.WNOHANG)[0] != 0
            except ChildProcessError:
                self._has_ended = True
            if self._has_ended:
                os.close(self._running.channel)
                log.info("child_finished", extra={"role": self.role, "pid": self._running.pid})
        return self._has_ended

    def wait(self, seconds: float) -> bool:
        """Wait up to ``seconds`` for the child to end. Return whether the child has ended."""
        deadline_ns = clock.monotonic_ns() + int(seconds * clock.NANOSECONDS)
        while not self.has_ended():
            if clock.monotonic_ns() > deadline_ns:
                return False
            time.sleep(0.02)
        return True

    def wait_until_ready(self, seconds: float) -> None:
        """Do nothing, because the child is ready."""

    def close_listener(self) -> None:
        """Do nothing, because the listening socket belongs to the child's successor."""

    def to_hand_over(self) -> list[RunningChild]:
        """Return a list with the child's process, for a reload to hand over to the new program.

        The list is empty if the process has ended.
        """
        return [] if self.has_ended() else [self._running]
