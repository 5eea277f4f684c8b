"""Manage the data directory: its paths, its locks, and the secret for API-key fingerprints."""

import fcntl
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from relaybook.settings import BadSetting
from relaybook.settings.definitions import Settings
from relaybook.system import disk

if TYPE_CHECKING:  # not at run time, because relays do not need this module
    from relaybook.recorder.passes.retain import DiskUse

_LOCK: Final = "serve.lock"
#: Seconds for which ``open`` waits for the lock. In another process, ``is_served`` may hold the lock for a moment.
_LOCK_WAIT_SECONDS: Final = 0.5


class DataInUse(Exception):
    """Another server uses the data directory. The message names the directory and says what to do."""


class Serving(msgspec.Struct, frozen=True):
    """The state of the server, which is stored in the lock file.

    ``process`` is the server's ``process_identity``. ``reason`` is the reason for the last refusal of a reload.
    ``has_recorder`` is False for ``relaybook dashboard``.
    """

    pid: int
    version: str
    process: str | None = None
    reloads: int = 0
    refusals: int = 0
    reason: str = ""
    has_recorder: bool = True


class DataDirectory:
    """The paths in a data directory. ``open`` creates the directory. Only the server's user can access the files."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.journal = path / "journal"
        self.store = path / "store"
        self.quarantine = path / "quarantine"
        self.imports = path / "imports"
        self.metrics = path / "recorder.metrics"
        self.reserve = path / "reserve"
        self.secret_path = path / "secret"
        self._children = path / "children.lock"
        self._lock: int | None = None
        #: The version of the server that used the directory before ``open``. `None` if it is unknown.
        self.earlier_version: str | None = None

    def open(self, lock: int | None = None) -> None:
        """Create the directory if needed, and lock it.

        After a reload, ``lock`` is the descriptor that the previous program locked. Raises DataInUse if another server
        has locked the directory. Raises BadSetting if the directory cannot be used.
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
            self._lock = lock if lock is not None else disk.lock(self.path / _LOCK, _LOCK_WAIT_SECONDS)
            with suppress(msgspec.MsgspecError):
                self.earlier_version = self.read_serving().version
            if lock is None and self._lock is not None:
                os.ftruncate(self._lock, 0)  # the file may contain the state of an earlier server
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
                f"{self.path} is in use by another server. Stop that server, or choose another directory with --data."
            )

    def _reject_links(self) -> None:
        """Raise BadSetting if the directory or one of its direct subdirectories contains a symbolic link.

        Through a link, the server could read or write files outside the directory.
        """
        for directory in (self.path, self.journal, self.store, self.quarantine, self.imports):
            for path in directory.iterdir() if directory.is_dir() else ():
                if path.is_symlink():
                    name = path.relative_to(self.path)
                    raise BadSetting(
                        "data",
                        f"data is {self.path}, which contains a symbolic link: {name}. Remove the link, or choose "
                        "another directory with --data.",
                    )

    def secret(self) -> bytes:
        """Return the secret for the fingerprints of API keys, and create it if needed.

        The secret consists of 32 random bytes and stays in this directory.
        """
        try:
            return self.secret_path.read_bytes()
        except FileNotFoundError:
            new = self.secret_path.with_name(f".new-secret-{os.getpid()}")
            # An earlier start with the same pid may have left this file, for example because the disk was full. In a
            # container, all starts have the same pid.
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
        """Return whether children of an earlier server are running.

        Call this method only before ``lock_for_children``. After that, the result is always true.
        """
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
        """Return whether the descriptor ``lock`` belongs to the lock file of this directory."""
        try:
            return os.path.samestat(os.fstat(lock), (self.path / _LOCK).stat())
        except FileNotFoundError:
            return False

    def write_serving(self, serving: Serving) -> None:
        """Write the state of the server to the lock file. This process must hold the lock.

        Errors such as a full disk are ignored.
        """
        text = msgspec.json.encode(serving)
        with suppress(OSError):
            os.ftruncate(self.lock, 0)
            os.pwrite(self.lock, text, 0)

    def serving(self) -> Serving | None:
        """Return the state of the running server, or `None` if no server is running.

        Raises msgspec.MsgspecError if the state is incomplete, or if another version of Relaybook wrote the state in
        another format.
        """
        return self.read_serving() if self.is_served() else None

    def is_served(self) -> bool:
        """Return whether a server is using this directory.

        This method does not create a missing lock file. If it did, and root ran this method, a server of another user
        could not open the file.
        """
        if not (self.path / _LOCK).exists():
            return False
        lock = disk.try_lock(self.path / _LOCK)
        if lock is not None:
            os.close(lock)
        return lock is None

    def read_serving(self) -> Serving:
        """Return the state that the lock file contains. Raises msgspec.MsgspecError and OSError."""
        return msgspec.json.decode((self.path / _LOCK).read_bytes(), type=Serving)

    def close(self) -> None:
        """Release the lock."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def days_left(data: DataDirectory, settings: Settings, free: int, oldest_us: int | None = None) -> float | None:
    """Estimate in how many days the disk will be full, if bodies are added as fast as in the last week.

    ``free`` is the number of free bytes. ``oldest_us`` is the start time of the oldest request. If ``oldest_us`` is
    `None`, this function uses the date of the oldest body. Returns `None` if the log is in ClickHouse, or if there is
    too little data for an estimate.
    """
    from relaybook.log.store import open_store  # not at the top, because relays do not need this module

    files = open_store(data.store, settings).files
    rate = None if files is None else files.bytes_per_day(oldest_us)
    return None if rate is None else free / rate


def disk_use(data: DataDirectory, settings: Settings, store_bytes: int) -> "DiskUse":
    """Return how much space the journal and the store use in the data directory, and how much they may use.

    If the log is in ClickHouse, there is no limit, because removing requests would free no space in the directory.
    """
    # not at the top, because relays do not need this module
    from relaybook.recorder.passes.retain import DiskUse, disk_budget

    if settings.store != "sqlite":
        return DiskUse(disk.bytes_below(data.journal), None)
    used = disk.bytes_below(data.journal) + store_bytes
    free, size = disk.free_bytes(data.path), disk.total_bytes(data.path)
    return DiskUse(used, disk_budget(settings.disk_budget, used, free, size, settings.min_free))
