"""The data directory: what lies where, who may be in it, and the secret that makes fingerprints."""

import fcntl
import os
from pathlib import Path

from relaybook.journal import disk
from relaybook.settings import BadSetting


class DataInUse(Exception):
    """Another server runs on this data; the text says where and what to do."""


class DataDirectory:
    """Names of what is in it. ``open`` makes it; everything is for its owner only."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.journal = path / "journal"
        self.store = path / "store"
        self.quarantine = path / "quarantine"
        self._secret = path / "secret"
        self._children = path / "children.lock"
        self._lock: int | None = None

    def open(self) -> None:
        """Makes the directory and takes its lock. Raises DataInUse, or BadSetting for one that cannot be used."""
        try:
            disk.make_directory(self.path)
            disk.make_directory(self.journal)
            ignore = self.path / ".gitignore"
            if not ignore.exists():
                ignore.write_text("*\n")
            self._lock = disk.try_lock(self.path / "serve.lock")
            self.secret()
        except OSError as error:
            raise BadSetting(
                "data",
                f"data is {self.path}, which cannot be used: {error.strerror}. "
                "Name a directory you may write to, with --data.",
            ) from error
        if self._lock is None:
            raise DataInUse(
                f"Another relaybook runs on {self.path}. Stop it first, or give this one its own directory with --data."
            )

    def secret(self) -> bytes:
        """The installation's secret, made at first: 32 random bytes that never leave this directory."""
        try:
            return self._secret.read_bytes()
        except FileNotFoundError:
            made = self._secret.with_name(f".new-secret-{os.getpid()}")
            descriptor = disk.create_file(made)
            try:
                os.write(descriptor, os.urandom(32))
            finally:
                os.close(descriptor)
            made.rename(self._secret)
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

    def close(self) -> None:
        """Gives the lock back."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
