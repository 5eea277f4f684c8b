"""The supervisor: starts the children, starts them again, stops them in order, hands them over at a reload.

It relays nothing and records nothing, so it has little to die of. When it dies all the same, the children see the end
of their standard input and end by themselves.
"""

import logging
import os
import select
import signal
import sys
from collections.abc import Callable
from typing import Any, Final

from relaybook import clock
from relaybook.server.child_process import Child, Predecessor
from relaybook.server.reload import SIGNALS, Left

log = logging.getLogger("relaybook.server")

_BAD_SETTINGS: Final = 2
#: In which order children are stopped: what sends, what relays, what still has work from them, what shows it.
_STOPS: Final = {"traffic": 0, "relay": 1, "dashboard": 3}
_STOPS_BETWEEN: Final = 2
#: Relays start first, so that requests are answered the sooner; the others when those listen, or after so long.
_RELAYS_FIRST_NS: Final = 1 * clock.NANOSECONDS
_READY_SECONDS: Final = 10.0


class Supervisor:
    """Runs children until a signal, then stops them: sample traffic, then relays, the recorder when they are done."""

    def __init__(
        self,
        predecessors: list[Predecessor],
        drain_seconds: float,
        reload: Callable[[list[Left]], None],
        is_replaced: Callable[[], None],
    ) -> None:
        """``reload`` returns only where there can be no reload. ``is_replaced``: all predecessors were told to end."""
        self._children: list[Child] = []
        self._predecessors = predecessors
        self._drain_seconds = drain_seconds
        self._reload = reload
        self._is_replaced = is_replaced
        self._has_replaced = not predecessors
        self._signals = 0
        self._is_reload_wanted = False
        self._has_terminal = sys.stderr.isatty()
        self._wake, self._woken = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK) if hasattr(os, "pipe2") else _pipe()

    def run(self, children: list[Child], tell: Callable[[], None]) -> int:
        """Starts the children, relays first, then tells; returns the exit code after all have ended."""
        signal.set_wakeup_fd(self._woken, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop_wanted)
        signal.signal(signal.SIGHUP, self._hung_up)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)  # before the children, who inherit what is blocked
        self._children = children
        others_due_ns = clock.monotonic_ns() + _RELAYS_FIRST_NS
        for child in children:
            child.due_ns = 0 if child.role == "relay" else others_due_ns
        pause = self._look_after_children()
        tell()
        while not self._signals:
            self._wait(pause)
            pause = self._look_after_children()
            if any(child.exit_code == _BAD_SETTINGS for child in self._children):
                self._stop()
                return _BAD_SETTINGS
            self._replace()
            if self._is_reload_wanted:
                self._is_reload_wanted = False
                self._reload([left for each in self._everybody() for left in each.left()])
        self._stop()
        return 0

    @property
    def is_stopping(self) -> bool:
        """Whether it was told to stop."""
        return self._signals > 0

    def _stop_wanted(self, *_: Any) -> None:
        self._signals += 1
        if self._signals > 1:
            for each in self._everybody():
                each.signal(signal.SIGTERM)

    def _hung_up(self, *_: Any) -> None:
        """Somebody wants a reload; or the terminal was closed, which means: stop."""
        if self._has_terminal and not os.isatty(2):
            self._stop_wanted()
        else:
            self._is_reload_wanted = True

    def _look_after_children(self) -> float:
        """Starts what is due; seconds until the next look."""
        now = clock.monotonic_ns()
        pause = 10.0
        for child in self._children:
            if child.due_ns is None and child.exit_code not in (None, _BAD_SETTINGS):
                child.died()
            if child.due_ns is not None and (now >= child.due_ns or (child.is_new and self._relays_listen())):
                child.start()
            if child.due_ns is not None:
                pause = min(pause, max(child.due_ns - now, 0) / clock.NANOSECONDS)
        return pause

    def _wait(self, seconds: float) -> None:
        starting = {child.channel.fileno(): child for child in self._starting_relays()}
        ready, _, _ = select.select([self._wake, *starting], [], [], seconds)
        for each in ready:
            if each in starting:
                starting[each].hear()
            else:
                os.read(self._wake, 4096)

    def _starting_relays(self) -> list[Child]:
        """Relays that live and do not listen yet."""
        return [
            child for child in self._children if child.role == "relay" and not child.is_ready and child.due_ns is None
        ]

    def _relays_listen(self) -> bool:
        return all(child.is_ready for child in self._children if child.role == "relay")

    def _replace(self) -> None:
        """Tells children of before to finish, as soon as there are relays to take over from theirs."""
        self._predecessors = [each for each in self._predecessors if not each.has_ended()]
        if not self._has_replaced and self._relays_listen():
            self._has_replaced = True
            for each in self._predecessors:
                each.tell()
            self._is_replaced()

    def _everybody(self) -> list[Child | Predecessor]:
        return [*self._predecessors, *self._children]

    def _stop(self) -> None:
        """Each group is told to stop when the one before it has ended."""
        for place, seconds in enumerate((10.0, self._drain_seconds + 10, 60.0, 10.0)):
            group = [each for each in self._everybody() if _STOPS.get(each.role, _STOPS_BETWEEN) == place]
            for each in group:
                if each.role == "relay":
                    each.close_listener()
                if each.role == "recorder":
                    each.wait_until_ready(_READY_SECONDS)  # or it would end before it has recorded anything
                each.signal(signal.SIGTERM)
                if self._signals > 1:
                    each.signal(signal.SIGTERM)
            for each in group:
                if not each.wait(seconds):
                    log.error("child_killed", extra={"role": each.role})
                    each.signal(signal.SIGKILL)
                    each.wait(5.0)


def _pipe() -> tuple[int, int]:
    wake, woken = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(woken, False)
    return wake, woken
