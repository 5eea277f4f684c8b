"""``relaybook drain``: record the journal that a stopped server left behind, or declare the journal lost."""

import socket

from relaybook.cli.failure import FAILED, CommandFailed
from relaybook.cli.output import plural
from relaybook.journal.reader import list_runs
from relaybook.log.store import open_store
from relaybook.log.store.errors import StoreMisconfigured, StoreUnavailable, UnsupportedSchema
from relaybook.recorder.quarantine import list_quarantined
from relaybook.server.data_directory import DataDirectory, DataInUse
from relaybook.server.operator_log import log_to_stderr
from relaybook.server.recording import record
from relaybook.server.start_checks import UnsupportedData, check_log
from relaybook.settings import BadSetting
from relaybook.settings.configuration import Configuration
from relaybook.system import disk


def drain(configuration: Configuration) -> int:
    """Record the journal without relaying requests. Returns the exit code.

    While the log cannot be written, keep trying. Raises CommandFailed if a server is running, or if some requests could
    not be recorded.
    """
    data = DataDirectory(configuration.data)
    if not data.journal.is_dir():
        raise CommandFailed(f"There is no journal in {data.path}. Choose the server's directory with --data.")
    try:
        data.open()
        if data.has_children():
            raise CommandFailed(f"Processes of a server still use {data.path}. Wait until they have ended.")
        check_log(configuration.settings, data)
        if list_runs(data.journal):
            _record(configuration, data)
    except KeyboardInterrupt:
        raise CommandFailed("Interrupted. To continue, run relaybook drain again.") from None
    except (DataInUse, UnsupportedData, StoreUnavailable) as error:
        raise CommandFailed(str(error)) from None
    finally:
        data.close()
    if quarantined := list_quarantined(data.quarantine):
        raise CommandFailed(
            f"The store rejected {plural(len(quarantined), 'request', 'requests')}. See {data.quarantine}. To try "
            "again, run relaybook check --requeue."
        )
    store = configuration.settings.store
    where = "the data directory" if store == "sqlite" else store
    print(f"Everything in the journal of {data.path} is in the log. The log is in {where}.")
    return 0


def forget(configuration: Configuration, server: str) -> int:
    """Tell the log that the journal of a server is lost, so that deletions no longer wait for this journal.

    Returns the exit code. Raises CommandFailed and BadSetting.
    """
    data = DataDirectory(configuration.data)
    try:
        open_store(data.store, configuration.settings).forget_server(server)
    except StoreMisconfigured as error:
        raise BadSetting("store", str(error)) from None
    except (UnsupportedSchema, StoreUnavailable) as error:
        raise CommandFailed(str(error)) from None
    print(f"Deletions no longer wait for the journal of {server}. Requests that were only in this journal are lost.")
    return 0


def _record(configuration: Configuration, data: DataDirectory) -> None:
    log_to_stderr()
    supervisor, recorder = socket.socketpair()
    with supervisor, recorder:
        if record(configuration.settings, data, recorder.fileno(), until_read=True) == FAILED:
            # Try once more. For example, the first attempt may have set a damaged store aside. The second attempt then
            # creates an empty store.
            record(configuration.settings, data, recorder.fileno(), until_read=True)
    if list_runs(data.journal):
        left = disk.bytes_below(data.journal)
        raise CommandFailed(
            f"Relaybook has not recorded everything in the journal of {data.path}. The journal still has {left:,} "
            "bytes. To continue, run relaybook drain again."
        )
