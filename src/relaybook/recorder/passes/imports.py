"""Receive requests from ``relaybook import``, and add them to the log of a running server.

The command writes each batch of requests to a file in the directory ``imports`` of the data directory. The recorder
commits the batch, writes the outcome to a second file, and deletes the batch. A file has its final name only when it is
complete. While the command runs, it holds a lock on the directory. If no command holds the lock, the recorder deletes
the remaining files.

If the recorder is killed before it has written the outcome, the next recorder commits the batch again. The store skips
requests that are already in the log.
"""

import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from relaybook import clock
from relaybook.log.store.entry import Entry
from relaybook.log.store.errors import BatchRejected, DeadlinePassed, StoreDamaged, StoreUnavailable
from relaybook.log.store.port import Batch, Reader, Writer
from relaybook.recorder.passes.text import TextPass
from relaybook.system import disk

log = logging.getLogger("relaybook.recorder")

_LOCK: Final = "lock"
_BATCH: Final = ".batch"
_OUTCOME: Final = ".outcome"
_INCOMPLETE: Final = ".new"
_RETRY_NS: Final = 5 * clock.NANOSECONDS


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of the import of a batch of requests.

    ``added`` is the number of requests that were not in the log before. ``rejected`` has the reason for each rejected
    request, by the position of the request in the batch. If ``failure`` is not empty, it says why no request was added.
    """

    added: int = 0
    rejected: dict[int, str] = {}
    failure: str = ""


_encode: Final = msgspec.msgpack.Encoder().encode
_decode_entries: Final = msgspec.msgpack.Decoder(list[Entry]).decode
_decode_outcome: Final = msgspec.msgpack.Decoder(Outcome).decode


def add_entries(writer: Writer, last_seq: int, entries: Sequence[Entry]) -> Outcome:
    """Commit the entries. If the store rejects the batch, commit the entries one by one.

    ``last_seq`` is the highest ``seq`` in the log before the call. Raises StoreUnavailable and StoreDamaged.
    """
    rejected: dict[int, str] = {}
    try:
        writer.commit(Batch(entries=list(entries), is_import=True))
    except BatchRejected:
        for number, entry in enumerate(entries):
            try:
                writer.commit(Batch(entries=[entry], is_import=True))
            except BatchRejected as error:
                rejected[number] = str(error)
    added = {entry.record.id for entry in entries if (entry.record.seq or 0) > last_seq}
    return Outcome(added=len(added), rejected=rejected)


class ImportPass:
    """Commits the batches in the directory ``imports`` and writes their outcomes. Used by the recorder."""

    def __init__(self, directory: Path, writer: Writer, reader: Reader, text: TextPass, min_free: int) -> None:
        """Requests are added only while twice ``min_free`` (bytes) is free on the disk.

        If an import left less than ``min_free`` bytes free, the relay could not log new requests.
        """
        self._directory = directory
        self._min_free = min_free
        self._writer = writer
        self._reader = reader
        self._text = text
        self._not_before_ns = 0
        #: Whether an import was running when ``work`` was last called.
        self.is_open = False

    def work(self, until_ns: int) -> bool:
        """Commit at least one waiting batch, and more until ``until_ns`` (monotonic clock).

        Return false if no batch was waiting, or if the import is delayed after a failure. Raises StoreDamaged.
        """
        if clock.monotonic_ns() < self._not_before_ns:
            return False
        try:
            self.is_open = self._is_import_running()
            batches = sorted(self._directory.glob(f"*{_BATCH}")) if self.is_open else []
            for path in batches:
                self._finish(path)
                if clock.monotonic_ns() >= until_ns:
                    break
        except StoreDamaged:
            raise
        except (StoreUnavailable, DeadlinePassed, OSError) as error:
            log.warning("import_delayed", extra={"reason": str(error)})
            self._not_before_ns = clock.monotonic_ns() + _RETRY_NS
            return False
        return bool(batches)

    def _is_import_running(self) -> bool:
        """Return whether ``relaybook import`` is running and holds the lock.

        If no command holds the lock, delete the files that an earlier command left.
        """
        path = self._directory / _LOCK
        if not path.exists():
            return False
        lock = disk.try_lock(path)
        if lock is not None:
            _clear(self._directory)
            os.close(lock)
        return lock is None

    def _finish(self, path: Path) -> None:
        try:
            outcome = self._add(_decode_entries(path.read_bytes()))
        except FileNotFoundError:  # ``relaybook import`` has ended and deleted its files
            return
        except (StoreUnavailable, StoreDamaged, DeadlinePassed, OSError):
            raise
        except Exception as error:  # a bug in Relaybook must not stop recording
            log.exception("import_failed")
            outcome = Outcome(failure=f"Because of a defect in Relaybook, requests could not be added: {error}.")
        _write(path.with_suffix(_OUTCOME), _encode(outcome))
        path.unlink(missing_ok=True)

    def _add(self, entries: list[Entry]) -> Outcome:
        if disk.free_bytes(self._directory) < 2 * self._min_free:
            return Outcome(
                failure="Requests were not added, because the server's disk has less free space than twice min_free. "
                "Free disk space."
            )
        outcome = add_entries(self._writer, self._reader.last_seq(), entries)
        self._text.committed(entry for number, entry in enumerate(entries) if number not in outcome.rejected)
        return outcome


class ImportSender:
    """Writes batches to the directory ``imports`` and reads their outcomes. Used by ``relaybook import``.

    ``send`` gives each batch a number, which ``outcome`` takes.
    """

    def __init__(self, directory: Path, lock: int) -> None:
        self._directory = directory
        self._lock = lock
        self._sent = 0

    @classmethod
    def open(cls, directory: Path) -> "ImportSender | None":
        """Lock the directory, and create it if needed. `None` if another import is running. Raises OSError."""
        disk.make_directory(directory)
        lock = disk.lock(directory / _LOCK, 1.0)  # the recorder may hold the lock for a moment
        if lock is None:
            return None
        _clear(directory)
        return cls(directory, lock)

    def send(self, entries: Sequence[Entry]) -> int:
        """Give a batch to the recorder, and return its number. Raises OSError, for example if the disk is full."""
        self._sent += 1
        _write(self._directory / f"{self._sent:012}{_BATCH}", _encode(entries))
        return self._sent

    def outcome(self, number: int) -> Outcome | None:
        """Return the outcome of a batch and delete its file. `None` if the recorder has not written the outcome yet."""
        path = self._directory / f"{number:012}{_OUTCOME}"
        try:
            outcome = _decode_outcome(path.read_bytes())
        except FileNotFoundError:
            return None
        path.unlink()
        return outcome

    def close(self) -> None:
        """Delete the remaining files, and release the lock."""
        _clear(self._directory)
        os.close(self._lock)


def _write(path: Path, data: bytes) -> None:
    """Create or replace a file. The file is not synced, because after a power failure the user repeats the import."""
    new = path.with_suffix(path.suffix + _INCOMPLETE)
    new.unlink(missing_ok=True)
    descriptor = disk.create_file(new)
    try:
        disk.write_at(descriptor, data, 0)
    finally:
        os.close(descriptor)
    new.rename(path)


def _clear(directory: Path) -> None:
    """Delete all files except the lock."""
    for path in directory.iterdir():
        if path.name != _LOCK:
            path.unlink(missing_ok=True)
