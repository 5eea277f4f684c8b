"""Reload the server without dropping requests, by replacing its program with the installed program.

The supervisor calls ``exec``, so the new program keeps the process id, the listening sockets, the locks of the data
directory, and the children. The new program starts new children and lets the old children finish. Before ``exec``, a
rehearsal runs the installed program in a separate process. The rehearsal reads and checks the settings, checks the data
directory, and imports the modules of the children, but starts no children. If the rehearsal fails, the reload is
refused. Otherwise, the new program uses the settings that the rehearsal has read. It does not read the settings again,
because the files could have changed meanwhile.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Final, NoReturn

import msgspec

from relaybook.server.worker_config import decode_path, encode_path
from relaybook.settings.definitions import Settings

#: The environment variable that passes a ``HandedOver`` to the new program. The variable is not a setting, so its name
#: does not have the prefix of settings.
_VARIABLE: Final = "_RELAYBOOK_HANDED_OVER"
_REHEARSAL_SECONDS: Final = 60.0
#: Signals that the server handles. They are blocked until the new program handles them.
SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1)


class ReloadRefused(Exception):
    """A reload was refused, so the server keeps running unchanged. The message is the reason."""


class RunningChild(msgspec.Struct):
    """A child that is handed over to the new program.

    ``channel`` is the supervisor's end of the child's standard input. ``is_stop_requested`` says whether the
    child was told to finish.
    """

    role: str
    pid: int
    channel: int
    is_stop_requested: bool


class HandedOver(msgspec.Struct):
    """The descriptors and children that are handed over to the new program.

    ``listeners`` contains the descriptors of the listening sockets. Its keys are the name and value of a setting, such
    as ``listen 127.0.0.1:4100``. ``settings`` is `None` in a rehearsal (see ``rehearse``), because the
    rehearsal reads the settings itself.
    """

    listeners: dict[str, int]
    serve_lock: int
    children_lock: int
    children: list[RunningChild]
    settings: Settings | None = None

    @property
    def is_rehearsal(self) -> bool:
        """Whether this process only rehearses the reload, and must not start children."""
        return self.settings is None

    def descriptors(self) -> list[int]:
        """Return all descriptors that must stay open in the new program."""
        return [*self.listeners.values(), self.serve_lock, self.children_lock, *(c.channel for c in self.children)]


@cache
def taken_over() -> HandedOver | None:
    """Return the descriptors, children and settings that the previous program handed over.

    `None` if this process was not started by a reload or by its rehearsal.
    """
    text = os.environ.pop(_VARIABLE, None)
    if text is None:
        return None
    handed = msgspec.json.decode(text, type=HandedOver, dec_hook=decode_path)
    for descriptor in handed.descriptors():
        os.set_inheritable(descriptor, False)
    return handed


def rehearse(handed: HandedOver) -> Settings:
    """Run the installed program in a separate process, up to the start of its children. Return its settings.

    Raises ReloadRefused.
    """
    try:
        result = subprocess.run(  # noqa: S603 - our own command line
            [sys.executable, *sys.orig_argv[1:]],
            env=_environment(handed),
            pass_fds=handed.descriptors(),
            capture_output=True,
            timeout=_REHEARSAL_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ReloadRefused(str(error)) from error
    if result.returncode == 0:
        try:
            return msgspec.json.decode(result.stdout, type=Settings, dec_hook=decode_path)
        except msgspec.DecodeError as error:
            raise ReloadRefused(f"the new program did not print its settings: {error}") from error
    lines = result.stderr.decode(errors="replace").strip().splitlines()
    raise ReloadRefused(
        lines[-1].removeprefix("relaybook: ") if lines else f"the new program exited with code {result.returncode}"
    )


def print_settings(settings: Settings) -> None:
    """Print the settings as JSON. ``rehearse`` reads the settings from the output of this process."""
    print(msgspec.json.encode(settings, enc_hook=encode_path).decode())


def hand_over(handed: HandedOver, is_stopping: Callable[[], bool]) -> NoReturn:
    """Replace this process with the installed program. Raises ReloadRefused if this is not possible.

    Signals that arrive meanwhile are delivered to the new program.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        if is_stopping():
            raise ReloadRefused("the server is stopping")
        with suppress(OSError):  # raised if the terminal was closed
            sys.stdout.flush()
            sys.stderr.flush()
        for descriptor in handed.descriptors():
            os.set_inheritable(descriptor, True)
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], _environment(handed))  # noqa: S606
    except OSError as error:
        for descriptor in handed.descriptors():
            os.set_inheritable(descriptor, False)
        raise ReloadRefused(f"{sys.executable} could not be started: {error.strerror}") from error
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)


def _environment(handed: HandedOver) -> dict[str, str]:
    return {**os.environ, _VARIABLE: msgspec.json.encode(handed, enc_hook=encode_path).decode()}
