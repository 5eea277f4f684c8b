"""``relaybook drain``: stop the server, then record everything that is still in its journal."""

import os
import signal
import socket
import time
from contextlib import suppress
from typing import Final

import msgspec

from relaybook.cli.failure import CommandFailed
from relaybook.journal import disk
from relaybook.log.store import open_store
from relaybook.log.store.errors import StoreTooNew, StoreUnavailable
from relaybook.server.data_directory import DataDirectory, DataInUse
from relaybook.server.operator_log import log_to_stderr
from relaybook.server.recording import record
from relaybook.settings.configuration import Configuration

_POLL_SECONDS: Final = 0.1


def drain(configuration: Configuration) -> int:
    """Stop the server if one is running, and record its journal. Returns the exit code.

    Raises CommandFailed if the server cannot be stopped, or if the journal could not be recorded to its end.
    """
    data = DataDirectory(configuration.data)
    if not data.journal.is_dir():
        raise CommandFailed(f"There is no journal in {data.path}. Choose the server's directory with --data.")
    _stop_server(data)
    try:
        data.open()
    except DataInUse as error:  # another server has just started
        raise CommandFailed(str(error)) from None
    try:
        if any(data.journal.iterdir()):
            _record(configuration, data)
    finally:
        data.close()
    where = "the data directory" if configuration.settings.store == "sqlite" else configuration.settings.store
    print(f"The journal in {data.path} is recorded. The log is in {where}.")
    return 0


def _stop_server(data: DataDirectory) -> None:
    """Stop the server if one is running, and wait until all its processes have ended."""
    pid = None
    while data.is_served():
        with suppress(msgspec.MsgspecError, OSError):  # the server has just started
            found = data.read_serving().pid
            if found != pid:
                os.kill(found, signal.SIGTERM)
                print(f"Stopping the server, process {found}: running requests end, and the journal is recorded …")
                pid = found
        time.sleep(_POLL_SECONDS)
    while data.has_children():
        time.sleep(_POLL_SECONDS)


def _record(configuration: Configuration, data: DataDirectory) -> None:
    settings = configuration.settings
    try:
        open_store(data.store, settings).check()
    except FileNotFoundError:
        pass  # the server ended before it created the store
    except (StoreUnavailable, StoreTooNew) as error:
        raise CommandFailed(str(error)) from None
    log_to_stderr()
    supervisor, recorder = socket.socketpair()
    with supervisor, recorder:
        code = record(settings, data, recorder.fileno(), until_read=True)
    if code or any(data.journal.iterdir()):
        left = disk.bytes_below(data.journal)
        raise CommandFailed(
            f"The journal in {data.path} is not recorded to its end, and still takes {left:,} bytes. The lines above "
            "give the reason. When the cause is fixed, run relaybook drain again. It continues where it stopped."
        )
