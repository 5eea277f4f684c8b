"""``relaybook reload``: asks the running server to become the program and the settings that are installed now."""

import os
import signal
import time
from typing import Final

import msgspec

from relaybook import __version__, clock
from relaybook.cli.failure import CommandFailed
from relaybook.server.data_directory import DataDirectory, Serving
from relaybook.settings.configuration import Configuration

_WAIT_SECONDS: Final = 120
_LOOK_SECONDS: Final = 0.05


def reload(configuration: Configuration) -> int:
    """Returns once the new program relays. Raises CommandFailed when it does not; the old one runs on then."""
    data = DataDirectory(configuration.data)
    before = _serving(data)
    try:
        os.kill(before.pid, signal.SIGHUP)
    except (ProcessLookupError, PermissionError) as error:
        raise CommandFailed(
            f"The server on {data.path}, process {before.pid}, could not be asked: {error.strerror}. "
            "Run this as its user, on its machine."
        ) from None
    after = _answer(data, before)
    if after.reloads == before.reloads:
        raise CommandFailed(f"Not reloaded, the server runs on as it was: {after.reason}")
    change = "" if after.version == before.version else f" {before.version} → {after.version}"
    seconds = configuration.settings.reload_timeout
    print(f"Reloaded{change}. Requests that were running have {seconds:g} s to finish (setting reload_timeout).")
    return 0


def _serving(data: DataDirectory) -> Serving:
    try:
        found = data.serving()
    except msgspec.MsgspecError:
        raise CommandFailed(
            f"What serves {data.path} is only just starting, or is of an earlier version that knows no reload: try "
            f"again in a second, else restart it. This is {__version__}."
        ) from None
    if found is None:
        raise CommandFailed(f"Nothing serves {data.path}: start relaybook serve, or name its directory with --data.")
    return found


def _answer(data: DataDirectory, before: Serving) -> Serving:
    """What the server says once it has reloaded or has refused to."""
    until_ns = clock.monotonic_ns() + _WAIT_SECONDS * clock.NANOSECONDS
    while clock.monotonic_ns() < until_ns:
        try:
            said = data.said()
        except msgspec.MsgspecError:
            said = before  # it is just being written
        if (said.reloads, said.refusals) != (before.reloads, before.refusals):
            return said
        time.sleep(_LOOK_SECONDS)
    raise CommandFailed(
        f"The server on {data.path} has not reloaded within {_WAIT_SECONDS} s: see what it wrote on standard error."
    )
