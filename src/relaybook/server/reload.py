"""Reload the server without dropping requests, by replacing its program with the installed program.

The supervisor calls ``exec``, so the new program keeps the process id, the listening sockets, the locks of the data
directory, and the children. The new program starts new children and lets the old children finish. Before ``exec``, a
rehearsal runs the installed program in a separate process. The rehearsal checks the settings and the data directory,
and imports the modules of the children, but starts no children. If the rehearsal fails, the reload is refused.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Final

import msgspec

#: This variable is not a setting, so its name does not have the prefix of settings.
_VARIABLE: Final = "_RELAYBOOK_HANDED_OVER"
_REHEARSAL_SECONDS: Final = 60.0
#: Signals that are blocked until the new program handles them.
SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class RunningChild(msgspec.Struct):
    """A child that is handed over to the new program.

    ``channel`` is the supervisor's end of the child's standard input. ``is_told`` says whether the child was told to
    finish.
    """

    role: str
    pid: int
    channel: int
    is_told: bool


class HandedOver(msgspec.Struct):
    """The descriptors and children that are handed over to the new program.

    ``listeners`` maps the name and value of a setting to the descriptor of its listening socket.
    """

    listeners: dict[str, int]
    serve_lock: int
    children_lock: int
    children: list[RunningChild]
    is_rehearsal: bool = False

    def descriptors(self) -> list[int]:
        """Return all descriptors that must stay open in the new program."""
        return [*self.listeners.values(), self.serve_lock, self.children_lock, *(c.channel for c in self.children)]


def taken_over() -> HandedOver | None:
    """Return the descriptors and children that the previous program handed over.

    `None` if this is not a reload. Call this function only once.
    """
    text = os.environ.pop(_VARIABLE, None)
    if text is None:
        return None
    handed = msgspec.json.decode(text, type=HandedOver)
    for descriptor in handed.descriptors():
        os.set_inheritable(descriptor, False)
    return handed


def rehearse(handed: HandedOver) -> str | None:
    """Run the installed program up to the start of its children. Return its error, or `None` on success."""
    rehearsal = msgspec.structs.replace(handed, is_rehearsal=True)
    try:
        result = subprocess.run(  # noqa: S603 - our own command line
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
    if result.returncode == 0:
        return None
    lines = result.stderr.strip().splitlines()
    return lines[-1].removeprefix("relaybook: ") if lines else f"the new program exited with code {result.returncode}"


def hand_over(handed: HandedOver, is_stopping: Callable[[], bool]) -> str:
    """Replace this process with the installed program. If the replacement fails, return the reason.

    Signals that arrive meanwhile are delivered to the new program.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    if is_stopping():
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        return "the server is stopping"
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
        return f"{sys.executable} could not be started: {error.strerror}"


def _environment(handed: HandedOver) -> dict[str, str]:
    return {**os.environ, _VARIABLE: msgspec.json.encode(handed).decode()}
