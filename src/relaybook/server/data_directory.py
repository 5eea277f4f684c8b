"""Manage the data directory: its paths, its locks, and the secret for API-key fingerprints."""

import fcntl
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from relaybook.journal import disk
from relaybook.settings.definitions import BadSetting, Settings

if TYPE_CHECKING:  # not loaded by relay workers
    from relaybook.recorder.retention_schedule import DiskUse

_LOCK: Final = "serve.lock"


class DataInUse(Exception):
    """Another server uses the data directory. The message names the directory and says what to do."""


class Serving(msgspec.Struct, frozen=True):
    """State of the server, stored in the lock file. ``reason`` is the reason for the last refused reload."""

    pid: int
    version: str
    reloads: int = 0
    refusals: int = 0
    reason: str = ""


class DataDirectory:
    """Paths in a data directory. ``open`` creates it. Files are accessible to the owner only."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.journal = path / "journal"
        self.store = path / "store"
        self.quarantine = path / "quarantine"
        self.metrics = path / "recorder.metrics"
        self.ballast = path / "ballast"
        self.secret_path = path / "secret"
        self._children = path / "children.lock"
        self._lock: int | None = None

    def open(self, lock: int | None = None) -> None:
        """Create the directory if needed, and lock it. ``lock`` is the lock's descriptor from before a reload.

        Raises DataInUse if another server has locked it, BadSetting if the directory cannot be used.
        """
        try:
            disk.make_directory(self.path)
            with suppress(PermissionError):  # the root of a volume may belong to another user
                self.path.chmod(0o700)  # the directory may have existed with another mode
            self._reject_links()
            disk.make_directory(self.journal)
            ignore = self.path / ".gitignore"
            if not ignore.exists():
                descriptor = disk.create_file(ignore)
                os.write(descriptor, b"*\n")
                os.close(descriptor)
            self._lock = lock if lock is not None else disk.try_lock(self.path / _LOCK)
            self.secret()
        except OSError as error:
            is_not_directory = isinstance(error, FileExistsError | NotADirectoryError)
            raise BadSetting(
                "data",
                f"data is {self.path}, which is "
                f"{'not a directory' if is_not_directory else f'not usable: {error.strerror}'}. "
                "Choose a writable directory with --data.",
            ) from error
        if self._lock is None:
            raise DataInUse(
                f"{self.path} is in use by another server. Stop it, or choose another directory with --data."
            )

    def _reject_links(self) -> None:
        """Raise BadSetting if there is a symbolic link, because it could make us read or write files elsewhere."""
        for directory in (self.path, self.journal, self.store, self.quarantine):
            for path in directory.iterdir() if directory.is_dir() and not directory.is_symlink() else ():
                if path.is_symlink():
                    name = path.relative_to(self.path)
                    raise BadSetting(
                        "data",
                        f"data is {self.path}, which contains a symbolic link: {name}. Remove the link, or choose "
                        "another directory with --data.",
                    )

    def secret(self) -> bytes:
        """Return the secret of the installation: 32 random bytes that stay in this directory. Creates it if needed."""
        try:
            return self.secret_path.read_bytes()
        except FileNotFoundError:
            new = self.secret_path.with_name(f".new-secret-{os.getpid()}")
            # An earlier start may have left the file on a full disk. In a container, all starts have the same pid.
            new.unlink(missing_ok=True)
            descriptor = disk.create_file(new)
            try:
                os.write(descriptor, os.urandom(32))
                disk.sync(descriptor)
            finally:
                os.close(descriptor)
            new.rename(self.secret_path)
            disk.sync_directory(self.path)
            return self.secret_path.read_bytes()

    def has_log(self) -> bool:
        """Return whether an earlier server has written to the journal or the store."""
        return self.store.exists() or any(self.journal.iterdir())

    def has_children(self) -> bool:
        """Return whether children of an earlier server are running. Call it before ``lock_for_children``."""
        lock = disk.try_lock(self._children)
        if lock is None:
            return True
        os.close(lock)
        return False

    def lock_for_children(self) -> int:
        """Return a locked descriptor that all children inherit. ``has_children`` is true while a child is running."""
        descriptor = os.open(self._children, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        return descriptor

    @property
    def lock(self) -> int:
        """The descriptor of the lock. Raises ValueError if the directory is not locked."""
        if self._lock is None:
            raise ValueError("the lock is not held")
        return self._lock

    def is_locked_by(self, lock: int) -> bool:
        """Return whether the descriptor is the lock of this directory."""
        try:
            return os.path.samestat(os.fstat(lock), (self.path / _LOCK).stat())
        except FileNotFoundError:
            return False

    def write_serving(self, serving: Serving) -> None:
        """Write the state of the server to the lock file. Requires the lock. Errors such as a full disk are ignored."""
        text = msgspec.json.encode(serving)
        with suppress(OSError):
            os.ftruncate(self.lock, 0)
            os.pwrite(self.lock, text, 0)

    def serving(self) -> Serving | None:
        """Return the state of the running server, or `None` if there is none.

        Raises msgspec.MsgspecError if the state is incomplete, or if a version with another format wrote it.
        """
        return self.read_serving() if self.is_served() else None

    def is_served(self) -> bool:
        """Return whether a server is running. Does not create the lock file, because the caller would then own it."""
        if not (self.path / _LOCK).exists():
            return False
        lock = disk.try_lock(self.path / _LOCK)
        if lock is not None:
            os.close(lock)
        return lock is None

    def read_serving(self) -> Serving:
        """Return the last state written. Raises msgspec.MsgspecError, OSError."""
        return msgspec.json.decode((self.path / _LOCK).read_bytes(), type=Serving)

    def close(self) -> None:
        """Release the lock."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def days_left(data: DataDirectory, settings: Settings, free: int) -> float | None:
    """Return the days until the disk is full, at the rate at which bodies grew in the last week.

    `None` if less than 1 MiB of bodies was written in that week.
    """
    from relaybook.log.store import open_store  # not loaded by relay workers

    rate = open_store(data.store, settings).bytes_per_day()
    return None if rate is None else free / rate


def disk_use(data: DataDirectory, settings: Settings, store_bytes: int) -> "DiskUse":
    """Return the disk space that journal and store take in the data directory, and that they may take.

    A log in ClickHouse takes no space there, and removing requests from it would free none.
    """
    from relaybook.recorder.retention_schedule import DiskUse, disk_budget  # not loaded by relay workers

    if settings.store != "sqlite":
        return DiskUse(disk.bytes_below(data.journal), None)
    used = disk.bytes_below(data.journal) + store_bytes
    free, size = disk.free_bytes(data.path), disk.total_bytes(data.path)
    return DiskUse(used, disk_budget(settings.disk_budget, used, free, size, settings.min_free))
