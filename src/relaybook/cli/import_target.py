"""Add requests to a log, whether or not a server is running.

If a server is running, its recorder adds the requests, because only one program can use a data directory.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final, Protocol

import msgspec

from relaybook import __version__, clock
from relaybook.cli.failure import CommandFailed
from relaybook.log.store import open_store
from relaybook.log.store.entry import Entry
from relaybook.log.store.errors import StoreUnavailable, until_writable
from relaybook.log.store.port import Writer
from relaybook.recorder.passes.imports import ImportSender, Outcome, add_entries
from relaybook.server.data_directory import DataDirectory, DataInUse
from relaybook.settings.definitions import Settings

#: Advice in the message after an import has failed.
REPEAT: Final = "Repeat the import. Requests that were already added are skipped."
_POLL_SECONDS: Final = 0.005
_CHECK_NS: Final = 500_000_000


class ImportTarget(Protocol):
    """Adds batches of requests to a log."""

    #: A batch is full when it has ``max_entries`` requests or at least ``max_bytes`` bytes. The last request of a
    #: batch can exceed ``max_bytes``.
    max_entries: int
    max_bytes: int

    def add(self, entries: list[Entry]) -> Callable[[], Outcome]:
        """Add a batch of requests, and return a function that waits for the ``Outcome``.

        ``add`` and the returned function may raise CommandFailed and StoreUnavailable.
        """

    def close(self) -> None: ...


def open_target(data: DataDirectory, settings: Settings) -> ImportTarget:
    """Open the log in a data directory, or the queue of the server that uses the directory.

    Raises CommandFailed and UnsupportedSchema.
    """
    try:
        data.open()
    except DataInUse:
        return _Server(data)
    store = open_store(data.store, settings)
    try:
        return _Store(store.open_writer(lock_wait_s=0), store.open_reader().last_seq())
    except StoreUnavailable as error:
        raise CommandFailed(str(error)) from None


class _Store:
    """The log of a data directory that no server uses."""

    max_entries = 500
    max_bytes = 32 << 20

    def __init__(self, writer: Writer, last_seq: int) -> None:
        """``last_seq`` is the ``seq`` of the newest record in the log."""
        self._writer = writer
        self._last_seq = last_seq

    def add(self, entries: list[Entry]) -> Callable[[], Outcome]:
        outcome = until_writable(lambda: add_entries(self._writer, self._last_seq, entries))
        self._last_seq = max(self._last_seq, *(entry.record.seq or 0 for entry in entries))
        return lambda: outcome

    def close(self) -> None:
        self._writer.close()


class _Server:
    """The log of a running server. Batches are small, because the server records nothing else while it adds a batch."""

    max_entries = 200
    max_bytes = 1 << 20

    def __init__(self, data: DataDirectory) -> None:
        self._data = data
        try:
            serving = data.serving()
        except msgspec.MsgspecError:
            raise CommandFailed(
                f"Another command is using {data.path}, or a server is starting there. Try again later."
            ) from None
        if serving is not None and not serving.has_recorder:
            raise CommandFailed(
                f"{data.path} is in use by relaybook dashboard, which records nothing. Choose another directory with "
                "--data."
            )
        if serving is not None and serving.version != __version__:
            raise CommandFailed(
                f"The server that uses {data.path} has version {serving.version}, but this command has version "
                f"{__version__}. Import with the version of the server."
            )
        if data.journal.stat().st_uid != os.geteuid():
            raise CommandFailed(f"The server runs as another user. Import as the owner of {data.journal}.")
        with self._writing():
            sender = ImportSender.open(data.imports)
        if sender is None:
            raise CommandFailed(f"Another import into {data.path} is running. Try again when it has finished.")
        self._sender = sender

    def add(self, entries: list[Entry]) -> Callable[[], Outcome]:
        with self._writing():
            return partial(self._outcome, self._sender.send(entries))

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Raise CommandFailed if the ``with`` block raises OSError, for example because the disk is full."""
        try:
            yield
        except OSError as error:
            raise CommandFailed(f"{self._data.imports} cannot be written: {error.strerror}.") from None

    def _outcome(self, number: int) -> Outcome:
        checked_ns = clock.monotonic_ns()
        while (outcome := self._sender.outcome(number)) is None:
            time.sleep(_POLL_SECONDS)
            if clock.monotonic_ns() - checked_ns > _CHECK_NS:
                checked_ns = clock.monotonic_ns()
                if not self._data.is_served():
                    raise CommandFailed(f"The server has stopped. {REPEAT}")
        if outcome.failure:
            raise CommandFailed(f"{outcome.failure} {REPEAT}")
        return outcome

    def close(self) -> None:
        self._sender.close()
