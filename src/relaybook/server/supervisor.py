"""Start the children, restart them, stop them in order, and hand them over at a reload.

The supervisor forwards no requests and writes no records, so it is unlikely to crash. If the supervisor dies anyway,
the children read end-of-file from their standard input and exit.
"""

import logging
import os
import select
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from relaybook import clock
from relaybook.server.child_process import Child, Predecessor
from relaybook.server.reload import SIGNALS, RunningChild
from relaybook.settings import BAD_SETTINGS

log = logging.getLogger("relaybook.server")

#: The exit code if a child did not end in time and was killed.
_KILLED: Final = 1
#: The order in which children are stopped: traffic, relays, then recorder and simulator, then the dashboard.
_STOP_ORDER: Final = {"traffic": 0, "relay": 1, "dashboard": 3}
_DEFAULT_STOP_ORDER: Final = 2
#: Relays start first, so that they can accept requests sooner. The other children start when the relays listen, or
#: after this time.
_OTHERS_DELAY_NS: Final = 1 * clock.NANOSECONDS
_READY_SECONDS: Final = 10.0


class Supervisor:
    """Runs the children until a stop signal, then stops them in order.

    The recorder stops after the relays have ended.
    """

    def __init__(
        self,
        predecessors: list[Predecessor],
        drain_seconds: float,
        reload: Callable[[list[RunningChild], Callable[[], bool]], None],
        on_replaced: Callable[[], None],
    ) -> None:
        """``reload`` replaces this program with the installed program, and returns only on failure.

        The arguments of ``reload`` are the running children, and a function that returns whether the server is
        stopping. ``on_replaced`` is called when all ``predecessors`` were told to finish.
        """
        self._children: list[Child] = []
        self._predecessors = predecessors
        self._drain_seconds = drain_seconds
        self._reload = reload
        self._on_replaced = on_replaced
        self._has_replaced = not predecessors
        self._is_ready_sent = False
        self._signals = 0
        self._is_reload_requested = False
        self._has_terminal = sys.stderr.isatty()
        self._wake_reader, self._wake_writer = (
            os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK) if hasattr(os, "pipe2") else _pipe()
        )

    def run(self, children: list[Child], on_started: Callable[[], None]) -> int:
        """Start the children, relays first, and call ``on_started``. After a stop signal, stop the children.

        The children are also stopped if one of them exits with ``BAD_SETTINGS``. Return the exit code.
        """
        signal.set_wakeup_fd(self._wake_writer, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_stop_signal)
        signal.signal(signal.SIGHUP, self._on_sighup)
        signal.signal(signal.SIGUSR1, self._on_sigusr1)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        # Unblock signals before the children start, because children inherit the mask.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (*SIGNALS, signal.SIGCHLD))
        self._children = children
        others_due_ns = clock.monotonic_ns() + _OTHERS_DELAY_NS
        for child in children:
            child.due_ns = 0 if child.role == "relay" else others_due_ns
        pause = self._start_due()
        on_started()
        while not self._signals:
            self._wait(pause)
            pause = self._start_due()
            if any(child.exit_code == BAD_SETTINGS for child in self._children):
                self._stop()
                return BAD_SETTINGS
            self._replace()
            self._notify_ready()
            if self._is_reload_requested:
                self._is_reload_requested = False
                notify_systemd(f"RELOADING=1\nMONOTONIC_USEC={clock.monotonic_ns() // 1000}")
                self._is_ready_sent = False
                running = [running for each in self._all_children() for running in each.to_hand_over()]
                self._reload(running, lambda: self._signals > 0)
                self._notify_ready()
        notify_systemd("STOPPING=1")
        return 0 if self._stop() else _KILLED

    def _on_stop_signal(self, *_: Any) -> None:
        self._signals += 1
        if self._signals > 1:
            for each in self._all_children():
                each.signal(signal.SIGTERM)

    def _on_sighup(self, *_: Any) -> None:
        """Reload, or stop if the terminal was closed."""
        if self._has_terminal and not os.isatty(2):
            self._on_stop_signal()
        else:
            self._is_reload_requested = True

    def _on_sigusr1(self, *_: Any) -> None:
        self._is_reload_requested = True

    def _start_due(self) -> float:
        """Detect dead children, and start the children that are due.

        Return the seconds until the next start, at most 10.
        """
        now = clock.monotonic_ns()
        pause = 10.0
        for child in self._children:
            if child.due_ns is None and child.exit_code not in (None, BAD_SETTINGS):
                child.handle_death()
            if child.due_ns is not None and (now >= child.due_ns or (child.is_new and self._relays_listen())):
                child.start()
            if child.due_ns is not None:
                pause = min(pause, max(child.due_ns - now, 0) / clock.NANOSECONDS)
        return pause

    def _wait(self, seconds: float) -> None:
        starting = {child.channel.fileno(): child for child in self._starting_relays()}
        ready, _, _ = select.select([self._wake_reader, *starting], [], [], seconds)
        for each in ready:
            if each in starting:
                starting[each].read_ready()
            else:
                os.read(self._wake_reader, 4096)

    def _starting_relays(self) -> list[Child]:
        """Return the relays that are running but not listening yet."""
        return [
            child for child in self._children if child.role == "relay" and not child.is_ready and child.due_ns is None
        ]

    def _relays_listen(self) -> bool:
        return all(child.is_ready for child in self._children if child.role == "relay")

    def _replace(self) -> None:
        """Once the new relays listen, tell the children that were started before the reload to finish."""
        self._predecessors = [each for each in self._predecessors if not each.has_ended()]
        if not self._has_replaced and self._relays_listen():
            self._has_replaced = True
            for each in self._predecessors:
                each.finish()
            self._on_replaced()

    def _notify_ready(self) -> None:
        if not self._is_ready_sent and self._relays_listen():
            self._is_ready_sent = True
            notify_systemd("READY=1")

    def _all_children(self) -> list[Child | Predecessor]:
        return [*self._predecessors, *self._children]

    def _stop(self) -> bool:
        """Stop the groups of children in order. Before each group, wait until the previous group has ended.

        Kill children that do not end in time. Return whether all children ended by themselves.
        """
        all_ended = True
        for order, seconds in enumerate((10.0, self._drain_seconds + 10, 60.0, 10.0)):
            group = [each for each in self._all_children() if _STOP_ORDER.get(each.role, _DEFAULT_STOP_ORDER) == order]
            for each in group:
                if each.role == "relay":
                    each.close_listener()
                if each.role == "recorder":
                    each.wait_until_ready(_READY_SECONDS)  # before it is ready, SIGTERM would end the recorder at once
                each.signal(signal.SIGTERM)
                if self._signals > 1:
                    each.signal(signal.SIGTERM)
            for each in group:
                if not each.wait(seconds):
                    log.error("child_killed", extra={"role": each.role})
                    each.signal(signal.SIGKILL)
                    each.wait(5.0)
                    all_ended = False
        return all_ended


def notify_systemd(state: str) -> None:
    """Send a state to systemd if systemd started this program with Type=notify (sd_notify(3)). Errors are ignored."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if address.startswith(("/", "@")):
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
            systemd.setblocking(False)
            systemd.sendto(state.encode(), address.replace("@", "\0", 1) if address[0] == "@" else address)


def _pipe() -> tuple[int, int]:
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    os.set_blocking(writer, False)
    return reader, writer
