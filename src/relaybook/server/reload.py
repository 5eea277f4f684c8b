"""A reload: the supervisor becomes the program that is installed now, and nobody who calls notices.

What it holds crosses ``exec`` with its process id: the listening sockets, the locks of the data directory, and its
children, who stay its children. The new program starts children of its own and lets the earlier ones finish. Before
that it is rehearsed in a process of its own: one that does not come as far as starting children is never turned to.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Final

import msgspec

#: No setting, so it does not begin like one.
_VARIABLE: Final = "_RELAYBOOK_HANDED_OVER"
_REHEARSAL_SECONDS: Final = 60.0
#: Signals that must not meet the new program before it can take them.
SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Left(msgspec.Struct):
    """A child of before. ``channel`` is our end of its standard input: its closing means that we are gone."""

    role: str
    pid: int
    channel: int
    is_told: bool


class HandedOver(msgspec.Struct):
    """Descriptors and children that cross. ``listeners`` by the setting's name and value."""

    listeners: dict[str, int]
    serve_lock: int
    children_lock: int
    children: list[Left]
    is_rehearsal: bool = False

    def descriptors(self) -> list[int]:
        """All that must stay open."""
        return [*self.listeners.values(), self.serve_lock, self.children_lock, *(c.channel for c in self.children)]


def taken_over() -> HandedOver | None:
    """What the program of before left for this one; None for a start like any other. Ask once."""
    text = os.environ.pop(_VARIABLE, None)
    if text is None:
        return None
    handed = msgspec.json.decode(text, type=HandedOver)
    for descriptor in handed.descriptors():
        os.set_inheritable(descriptor, False)
    return handed


def rehearse(handed: HandedOver) -> str | None:
    """Starts the installed program up to where it would start children. None: all is well; else what it said."""
    rehearsal = msgspec.structs.replace(handed, is_rehearsal=True)
    try:
        done = subprocess.run(  # noqa: S603 - our own command line
            [sys.executable, *sys.orig_argv[1:]],
            env=_environment(rehearsal),
            pass_fds=handed.descriptors(),
            capture_output=True,
            timeout=_REHEARSAL_SECONDS,
            text=True,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode == 0:
        return None
    lines = done.stderr.strip().splitlines()
    return lines[-1].removeprefix("relaybook: ") if lines else f"it ended with exit code {done.returncode}"


def hand_over(handed: HandedOver, is_stopping: Callable[[], bool]) -> str:
    """Becomes the installed program; signals that come meanwhile wait for it. Returns only where it cannot: why not."""
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    if is_stopping():
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        return "the server was told to stop meanwhile"
    sys.stdout.flush()
    sys.stderr.flush()
    for descriptor in handed.descriptors():
        os.set_inheritable(descriptor, True)
    try:
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], _environment(handed))  # noqa: S606
    except OSError as error:
        for descriptor in handed.descriptors():
            os.set_inheritable(descriptor, False)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        return f"{sys.executable} cannot be started: {error.strerror}"


def _environment(handed: HandedOver) -> dict[str, str]:
    return {**os.environ, _VARIABLE: msgspec.json.encode(handed).decode()}
