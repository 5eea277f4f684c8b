"""``relaybook reload``: make the running server use the installed version and the current settings."""

import os
import signal
import time
from typing import Final

import msgspec

from relaybook import __version__, clock
from relaybook.cli.failure import CommandFailed
from relaybook.server.data_directory import DataDirectory, Serving
from relaybook.settings.configuration import Configuration
from relaybook.system.process import process_identity

_WAIT_SECONDS: Final = 120
_POLL_SECONDS: Final = 0.05


def reload(configuration: Configuration) -> int:
    """Reload the server and wait until the new program relays requests. Returns the exit code.

    Raises CommandFailed if the reload failed. In this case, the old program keeps running.
    """
    data = DataDirectory(configuration.data)
    before = _serving(data)
    if process_identity(before.pid) != before.process:
        raise CommandFailed(
            f"Process {before.pid} is not the server on {data.path}, because the server runs in another container or "
            "on another machine. Run this command there."
        )
    try:
        # SIGHUP is not sent, because it stops a server whose terminal was closed. SIGUSR1 always requests a reload.
        os.kill(before.pid, signal.SIGUSR1)
    except (ProcessLookupError, PermissionError) as error:
        raise CommandFailed(
            f"Process {before.pid}, the server on {data.path}, cannot be signaled: {error.strerror}. Run this command "
            "as the server's user, on the server's machine."
        ) from None
    after = _wait_for_result(data, before)
    if after.reloads == before.reloads:
        raise CommandFailed(f"The server keeps running unchanged, because the reload failed: {after.reason}")
    change = "" if after.version == before.version else f" {before.version} → {after.version}"
    print(
        f"Reloaded{change}. Running requests keep the settings from before the reload. They must finish within "
        "reload_timeout."
    )
    return 0


def _serving(data: DataDirectory) -> Serving:
    try:
        serving = data.serving()
    except msgspec.MsgspecError:
        raise CommandFailed(
            f"The state of the server on {data.path} cannot be read. The server is starting, or its version does not "
            f"match the version of this command ({__version__}). Try again in a second. If the command fails again, "
            "restart the server."
        ) from None
    if serving is None:
        raise CommandFailed(
            f"No server is running on {data.path}. Start a server with relaybook serve, or choose the server's "
            "directory with --data."
        )
    return serving


def _wait_for_result(data: DataDirectory, before: Serving) -> Serving:
    """Wait until the server has reloaded or has refused to reload.

    Returns the state that the server wrote. Raises CommandFailed on timeout.
    """
    until_ns = clock.monotonic_ns() + _WAIT_SECONDS * clock.NANOSECONDS
    while clock.monotonic_ns() < until_ns:
        try:
            serving = data.read_serving()
        except msgspec.MsgspecError:
            serving = before  # the server is writing the state, so read it again
        if (serving.reloads, serving.refusals) != (before.reloads, before.refusals):
            return serving
        if not data.is_served():
            raise CommandFailed(f"The server on {data.path} has ended. Read the operator's log for the cause.")
        time.sleep(_POLL_SECONDS)
    raise CommandFailed(
        f"The server on {data.path} has not reloaded within {_WAIT_SECONDS} s. Read the operator's log for the cause."
    )
