"""A child process as its supervisor sees it: one it started and keeps running, or one that an earlier program left."""

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
from relaybook.server.reload import Left
from relaybook.server.worker_config import WorkerConfig, encode_config

log = logging.getLogger("relaybook.server")

_FIRST_PAUSE_NS: Final = 100_000_000
_MOST_PAUSE_NS: Final = 5 * clock.NANOSECONDS
_STEADY_NS: Final = 10 * clock.NANOSECONDS


class Child:
    """One child process, started once it is due, and again when it dies, later each time until it has held for a while.

    Its standard input is one end of a connection: it reads its orders there and then its end, should the supervisor
    die. A relay writes a line there as soon as it listens, the recorder as soon as it can be told to stop.
    """

    def __init__(self, config: WorkerConfig, listener: socket.socket | None, held: int) -> None:
        """The child inherits its listening socket and ``held``, a descriptor that tells others that it lives."""
        self.role = config.role
        self.is_ready = False
        self._held = held
        self._config = config
        self._listener = listener
        self._pause_ns = _FIRST_PAUSE_NS
        self._started_ns = 0
        #: When it is to be started; None while it runs.
        self.due_ns: int | None = 0
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def is_new(self) -> bool:
        """Whether it was never started yet."""
        return self._process is None

    @property
    def exit_code(self) -> int | None:
        """Of the process that was started last; None while it runs, or before there was one."""
        return self._process.poll() if self._process else None

    def start(self) -> None:
        """Starts it, or starts it again. Where the system has no room for it now, the next start is planned."""
        self._started_ns = clock.monotonic_ns()
        try:
            self._process = self._launched()
        except OSError as error:
            log.error("child_not_started", extra={"role": self.role, "reason": str(error)})
            self._plan()
            return
        with suppress(OSError):  # it died at once: whoever waits for it will see
            self.channel.sendall(encode_config(self._config))
        log.info("child_started", extra={"role": self.role, "pid": self._process.pid})
        self.due_ns = None
        self.is_ready = False

    def _launched(self) -> subprocess.Popen[bytes]:
        inherited = [self._held]
        if self._listener is not None:
            self._config.socket = self._listener.fileno()
            inherited.append(self._listener.fileno())
        self.channel, its_end = socket.socketpair()
        try:
            return subprocess.Popen(  # noqa: S603 - our own command line; the role is for who looks at ps
                [sys.executable, "-m", "relaybook.server.child", self.role],
                stdin=its_end.fileno(),
                pass_fds=inherited,
                process_group=0,
            )
        except OSError:
            self.channel.close()
            raise
        finally:
            its_end.close()

    def hear(self) -> None:
        """Takes what it wrote: it is ready."""
        with suppress(OSError):
            self.is_ready = bool(self.channel.recv(64, socket.MSG_DONTWAIT)) or self.is_ready

    def wait_until_ready(self, seconds: float) -> None:
        """Returns when it is ready, or cannot get ready any more."""
        is_starting = self._process is not None and self.due_ns is None and not self.is_ready
        if is_starting and select.select([self.channel], [], [], seconds)[0]:
            self.hear()

    def died(self) -> None:
        """Plans the next start."""
        if clock.monotonic_ns() - self._started_ns > _STEADY_NS:
            self._pause_ns = _FIRST_PAUSE_NS
        pause_ms = self._pause_ns // 1_000_000
        log.error("child_died", extra={"role": self.role, "code": self.exit_code, "restart_ms": pause_ms})
        self.channel.close()
        self.is_ready = False
        self._plan()

    def _plan(self) -> None:
        self.due_ns = clock.monotonic_ns() + self._pause_ns
        self._pause_ns = min(self._pause_ns * 2, _MOST_PAUSE_NS)

    def signal(self, number: int) -> None:
        """Sends a signal, if it runs."""
        if self._process:
            self._process.send_signal(number)  # nothing is sent to one that has ended

    def wait(self, seconds: float) -> bool:
        """Whether it has ended by then."""
        if self._process is None:
            return True
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        self.channel.close()
        return True

    def close_listener(self) -> None:
        """Lets go of the listening socket, so that the child's closing it refuses new connections."""
        if self._listener is not None:
            self._listener.close()

    def left(self) -> list[Left]:
        """What the program that follows must know of it: nothing while it is down."""
        if self._process is None or self._process.poll() is not None:
            return []
        return [Left(self.role, self._process.pid, self.channel.fileno(), is_told=False)]


class Predecessor:
    """A child of before a reload: never started again, told to finish once there is another to take its place."""

    def __init__(self, left: Left) -> None:
        self.role = left.role
        self._left = left
        self._has_ended = False

    def tell(self) -> None:
        """Tells it to finish, once: a relay serves the connections it has, the others end at once."""
        if self._left.is_told:
            return
        self._left.is_told = True
        match self.role:
            case "relay":
                self.signal(signal.SIGHUP)
            case "recorder":
                self.signal(signal.SIGTERM)
                self.signal(signal.SIGTERM)  # not to the end of a journal that goes on and on
            case _:
                self.signal(signal.SIGTERM)

    def signal(self, number: int) -> None:
        """Sends a signal, if it still runs."""
        if not self.has_ended():
            os.kill(self._left.pid, number)

    def has_ended(self) -> bool:
        """Asks the system, and takes note of the end."""
        if not self._has_ended:
            try:
                self._has_ended = os.waitpid(self._left.pid, os.WNOHANG)[0] != 0
            except ChildProcessError:
                self._has_ended = True
            if self._has_ended:
                os.close(self._left.channel)
                log.info("child_finished", extra={"role": self.role, "pid": self._left.pid})
        return self._has_ended

    def wait(self, seconds: float) -> bool:
        """Whether it has ended by then."""
        until_ns = clock.monotonic_ns() + int(seconds * clock.NANOSECONDS)
        while not self.has_ended():
            if clock.monotonic_ns() > until_ns:
                return False
            time.sleep(0.02)
        return True

    def wait_until_ready(self, seconds: float) -> None:
        """It has been for long."""

    def close_listener(self) -> None:
        """It is its successor's."""

    def left(self) -> list[Left]:
        """What the program that follows must know of it."""
        return [] if self.has_ended() else [self._left]
