"""``relaybook backup``: copy the log to a directory that ``relaybook serve --data`` can use.

The server may write to the log during the copy.
"""

import os
from pathlib import Path

from relaybook.cli.failure import BadArgument, CommandFailed
from relaybook.cli.output import plural
from relaybook.cli.progress import progress_bar
from relaybook.cli.store_log import StoreLog
from relaybook.log.store import open_store
from relaybook.log.store.errors import StoreUnavailable, UnsupportedSchema
from relaybook.server.data_directory import DataDirectory
from relaybook.settings.configuration import Configuration
from relaybook.settings.store_url import parse_store_url
from relaybook.system import disk


def backup(configuration: Configuration, target: Path) -> int:
    """Copy the log of the data directory to ``target``. Raises BadArgument and CommandFailed."""
    source = DataDirectory(configuration.data)
    copy = DataDirectory(target.absolute())
    if copy.path == source.path or source.path in copy.path.parents:
        raise BadArgument(f"{target} is in the data directory. Choose a directory outside the data directory.")
    if copy.is_served():
        raise BadArgument(f"{target} is in use by a server. Choose another directory.")
    files = open_store(source.store, configuration.settings).files
    if files is None:
        raise CommandFailed(
            "The log is in ClickHouse. Back up the database with a statement of ClickHouse: BACKUP DATABASE "
            f"{parse_store_url(configuration.settings.store).database} TO …"
        )
    try:
        if not StoreLog.exists(source.path):
            raise CommandFailed(StoreLog.missing(source.path))
        if not copy.store.exists() and _has_files(copy.path):
            raise BadArgument(
                f"{target} has other files. Choose a new or empty directory, or the directory of an earlier backup."
            )
        with progress_bar(is_bytes=True) as on_progress:
            done = files.back_up(copy.store, on_progress)
        _copy_secret(source, copy)
    except (StoreUnavailable, UnsupportedSchema) as error:
        raise CommandFailed(str(error)) from None
    except OSError as error:
        raise CommandFailed(f"{error.filename or target} cannot be used: {error.strerror}.") from None
    print(
        f"{plural(done.records, 'request is', 'requests are')} in {target}. The bodies have {done.total_bytes:,} "
        f"bytes in total. This command copied {done.copied_bytes:,} of these bytes."
    )
    return 0


def _has_files(directory: Path) -> bool:
    """Return whether the directory has files, other than hidden files and the ``lost+found`` of a new file system."""
    paths = directory.iterdir() if directory.is_dir() else ()
    return any(not path.name.startswith(".") and path.name != "lost+found" for path in paths)


def _copy_secret(source: DataDirectory, copy: DataDirectory) -> None:
    """Copy the secret of the data directory.

    A server that uses the backup then computes the same fingerprints of API keys.
    """
    if source.secret_path.exists():
        new = copy.secret_path.with_name(f".new-secret-{os.getpid()}")
        new.unlink(missing_ok=True)
        descriptor = disk.create_file(new)
        try:
            disk.write_at(descriptor, source.secret(), 0)
        finally:
            os.close(descriptor)
        new.replace(copy.secret_path)
