"""A child process as its supervisor sees it: one it started and keeps running, or one that an earlier program left."""

import logging
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from typing import Final

from relaybook import clock
from relaybook.serve.reload import Left
from relaybook.serve.roles import Orders
from relaybook.serve.wire import encode_orders

log = logging.getLogger("relaybook.serve")

_FIRST_PAUSE_NS: Final = 100_000_000
_MOST_PAUSE_NS: Final = 5 * clock.NANOSECONDS
_STEADY_NS: Final = 10 * clock.NANOSECONDS


class Child:
    """One child process, started again when it dies, later each time until it has held for a while.

    Its standard input is one end of a connection: it reads its orders there and then its end, should the supervisor
    die; a relay writes a line as soon as it listens.
    """

    def __init__(self, orders: Orders, listener: socket.socket | None, held: int) -> None:
        """The child inherits its listening socket and ``held``, a descriptor that tells others that it lives."""
        self.role = orders.role
        self.is_ready = False
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
        self.channel, its_end = socket.socketpair()
        with its_end:
            process = subprocess.Popen(
                [sys.executable, "-m", "relaybook.serve.child"],
                stdin=its_end.fileno(),
                pass_fds=inherited,
                process_group=0,
            )
        with suppress(OSError):  # it died at once: whoever waits for it will see
            self.channel.sendall(encode_orders(self._orders))
        log.info("child_started", extra={"role": self.role, "pid": process.pid})
        self._started_ns = clock.monotonic_ns()
        self.restart_at_ns = None
        self.is_ready = False
        return process

    def hear(self) -> None:
        """Takes what it wrote: it is ready."""
        with suppress(OSError):
            self.is_ready = bool(self.channel.recv(64, socket.MSG_DONTWAIT)) or self.is_ready

    def died(self) -> None:
        """Plans the next start."""
        now = clock.monotonic_ns()
        if now - self._started_ns > _STEADY_NS:
            self._pause_ns = _FIRST_PAUSE_NS
        code = self.process.returncode
        log.error("child_died", extra={"role": self.role, "code": code, "restart_ms": self._pause_ns // 1_000_000})
        self.channel.close()
        self.is_ready = False
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
        self.channel.close()
        return True

    def close_listener(self) -> None:
        """Lets go of the listening socket, so that the child's closing it refuses new connections."""
        if self._listener is not None:
            self._listener.close()

    def left(self) -> list[Left]:
        """What the program that follows must know of it: nothing while it is down."""
        if self.restart_at_ns is not None or self.process.poll() is not None:
            return []
        return [Left(self.role, self.process.pid, self.channel.fileno(), is_told=False)]


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

    def close_listener(self) -> None:
        """It is its successor's."""

    def left(self) -> list[Left]:
        """What the program that follows must know of it."""
        return [] if self.has_ended() else [self._left]
