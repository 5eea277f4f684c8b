"""The data directory: what lies where, who may be in it, and the secret that makes fingerprints."""

import fcntl
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from relaybook import clock
from relaybook.journal import disk
from relaybook.settings.definitions import BadSetting

_LOCK: Final = "serve.lock"


class DataInUse(Exception):
    """Another server runs on this data; the text says where and what to do."""


class Serving(msgspec.Struct, frozen=True):
    """Who serves this data, written into the lock's file: how often it was reloaded, and how often and why not."""

    pid: int
    version: str
    reloads: int = 0
    refusals: int = 0
    reason: str = ""


class DataDirectory:
    """Names of what is in it. ``open`` makes it; everything is for its owner only."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.journal = path / "journal"
        self.store = path / "store"
        self.quarantine = path / "quarantine"
        self.figures = path / "recorder.figures"
        self.ballast = path / "ballast"
        self._secret = path / "secret"
        self._children = path / "children.lock"
        self._lock: int | None = None

    def open(self, lock: int | None = None) -> None:
        """Makes the directory and takes its lock; ``lock`` is its descriptor where the program of before had it.

        Raises DataInUse, or BadSetting for a directory that cannot be used.
        """
        try:
            disk.make_directory(self.path)
            with suppress(PermissionError):  # the root of a volume belongs to others
                self.path.chmod(0o700)  # one that stood there already
            self._refuse_links()
            disk.make_directory(self.journal)
            ignore = self.path / ".gitignore"
            if not ignore.exists():
                descriptor = disk.create_file(ignore)
                os.write(descriptor, b"*\n")
                os.close(descriptor)
            self._lock = lock if lock is not None else disk.try_lock(self.path / _LOCK)
            self.secret()
        except OSError as error:
            is_file = isinstance(error, FileExistsError | NotADirectoryError)
            raise BadSetting(
                "data",
                f"data is {self.path}, which {'is no directory' if is_file else f'cannot be used: {error.strerror}'}. "
                "Name a directory you may write to, with --data.",
            ) from error
        if self._lock is None:
            raise DataInUse(
                f"Another relaybook runs on {self.path}. Stop it first, or give this one its own directory with --data."
            )

    def _refuse_links(self) -> None:
        """A link among our files would have us read, or write, what lies elsewhere."""
        for directory in (self.path, self.journal, self.store, self.quarantine):
            for path in directory.iterdir() if directory.is_dir() and not directory.is_symlink() else ():
                if path.is_symlink():
                    shown = path.relative_to(self.path)
                    raise BadSetting(
                        "data",
                        f"data is {self.path}, and {shown} in it is a link to something elsewhere: remove the link, or "
                        "name another directory with --data.",
                    )

    def secret(self) -> bytes:
        """The installation's secret, made at first: 32 random bytes that never leave this directory."""
        try:
            return self._secret.read_bytes()
        except FileNotFoundError:
            made = self._secret.with_name(f".new-secret-{os.getpid()}")
            made.unlink(missing_ok=True)  # of a start that found the disk full; in a container every pid is the same
            descriptor = disk.create_file(made)
            try:
                os.write(descriptor, os.urandom(32))
                disk.sync(descriptor)
            finally:
                os.close(descriptor)
            made.rename(self._secret)
            disk.sync_directory(self.path)
            return self._secret.read_bytes()

    def children_live(self) -> bool:
        """Whether children of an earlier server are still at work. Ask before ``hold_for_children``."""
        lock = disk.try_lock(self._children)
        if lock is None:
            return True
        os.close(lock)
        return False

    def hold_for_children(self) -> int:
        """A descriptor for every child to inherit: while one of them lives, ``children_live`` says so elsewhere."""
        descriptor = os.open(self._children, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        return descriptor

    @property
    def lock(self) -> int:
        """The descriptor of the lock. Raises ValueError while it is not held."""
        if self._lock is None:
            raise ValueError("the lock is not held")
        return self._lock

    def is_locked_by(self, lock: int) -> bool:
        """Whether the descriptor is of this directory's lock."""
        try:
            return os.path.samestat(os.fstat(lock), (self.path / _LOCK).stat())
        except FileNotFoundError:
            return False

    def say(self, serving: Serving) -> None:
        """Writes down who serves. Only with the lock held. A full disk is no reason not to serve."""
        text = msgspec.json.encode(serving)
        with suppress(OSError):
            os.ftruncate(self.lock, 0)
            os.pwrite(self.lock, text, 0)

    def serving(self) -> Serving | None:
        """Who serves this data now; None: nobody. Raises msgspec.MsgspecError for what an earlier version wrote."""
        return self.said() if self.is_served() else None

    def is_served(self) -> bool:
        """Whether anybody serves this data now. Makes no lock: it would be the asker's, and in the server's way."""
        if not (self.path / _LOCK).exists():
            return False
        lock = disk.try_lock(self.path / _LOCK)
        if lock is not None:
            os.close(lock)
        return lock is None

    def said(self) -> Serving:
        """What was written down last. Raises msgspec.MsgspecError, OSError."""
        return msgspec.json.decode((self.path / _LOCK).read_bytes(), type=Serving)

    def close(self) -> None:
        """Gives the lock back."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


_DAY_SECONDS: Final = 86400
_WEEK: Final = 7


def days_left(data: DataDirectory, free: int) -> float | None:
    """Days until the disk is full at the rate of the last week's bodies; None while there is no rate."""
    now = clock.wall_us() / 1e6
    recent = 0
    first = now
    with suppress(OSError):
        for pack in (data.store / "bodies").iterdir():
            found = pack.stat()
            if now - found.st_mtime < _WEEK * _DAY_SECONDS:
                recent += found.st_blocks * 512
                first = min(first, found.st_ctime)
    days = max((now - first) / _DAY_SECONDS, 1 / 24)
    return free / (recent / days) if recent > 1 << 20 else None
