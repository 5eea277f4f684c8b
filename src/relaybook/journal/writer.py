"""Writes one run of the journal: frames gather in a batch, and one ``write`` puts the batch into the system.

Not thread-safe, but ``sync`` may run on another thread. Never removes a file and never reads one. While a segment
fills, the next is made by a thread of its own, so that a roll costs the caller no allocation.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from relaybook import clock
from relaybook.ids import id_text, new_id
from relaybook.journal import disk
from relaybook.journal.frame import HEAD_BYTES, NO_EXCHANGE, Kind, encode
from relaybook.journal.segment import NewSegment

#: A segment that took a frame of an exchange whose bodies must not stay is sealed after this.
SEAL_AFTER_NS: Final = 60 * clock.NANOSECONDS


class JournalUnavailable(Exception):
    """The journal can take nothing now; the text names the directory and the system's reason."""


def _number_of(head: bytes) -> int:
    return int.from_bytes(head[8:16], "little")


def _nothing() -> None:
    return


class JournalWriter:
    """One worker's run. ``append`` gathers, ``write`` makes it survive the process, ``sync`` a power cut."""

    def __init__(self, directory: Path, segment_bytes: int, *, durable: bool) -> None:
        """Makes the run's directory and takes its lock. Raises JournalUnavailable."""
        self.run_id = new_id()
        self.path = directory / id_text(self.run_id)
        self._segment_bytes = segment_bytes
        self._durable = durable
        self._secret = int.from_bytes(os.urandom(4))
        self._number = 0
        self._parts: list[bytes] = []
        #: Called when the batch gets its first frame.
        self.wake: Callable[[], None] = _nothing
        self._unsynced: list[bytes] = []
        self._seal_at_ns: int | None = None
        self._seal_wanted = False
        self._maker = ThreadPoolExecutor(1, "journal-spare")
        try:
            self._lock = self._make_run(directory)
            self._segment = self._make_segment(1)
        except OSError as error:
            self._maker.shutdown()
            raise JournalUnavailable(f"the journal in {directory} cannot be written: {error}") from error
        self._spare = self._maker.submit(self._make_segment, 2)

    def _make_run(self, directory: Path) -> int:
        disk.make_directory(directory)
        new = directory / f".new-{self.path.name}"
        new.mkdir(mode=0o700)
        lock = disk.try_lock(new / "lock")
        if lock is None:
            raise BlockingIOError(11, f"{new}/lock is held by another process")
        new.rename(self.path)
        if self._durable:
            disk.sync_directory(directory)
        return lock

    def _make_segment(self, sequence: int) -> NewSegment:
        return NewSegment.create(
            self.path, self.run_id, sequence, self._secret, self._segment_bytes, durable=self._durable
        )

    def append(self, kind: int, exchange: bytes, payload: bytes) -> None:
        """Adds a frame to the batch. Nothing is written yet; order is kept."""
        if not self._parts:
            self.wake()
        self._number = number = self._number + 1
        head = encode(self._secret, number, kind, exchange, clock.monotonic_ns(), payload)
        self._parts += (head, payload)

    @property
    def waiting(self) -> bool:
        """Whether the batch holds anything."""
        return bool(self._parts)

    @property
    def spare_ready(self) -> bool:
        """Whether the next segment exists, so that a full one, or a failing one, can be left at once."""
        return self._spare.done() and self._spare.exception() is None

    def write(self) -> None:
        """Puts the batch into the operating system; on return it survives the process, whatever happens to it.

        A write that fails is done again, whole and with the same numbers, in the spare segment. Raises
        JournalUnavailable if that fails too; the batch is then forgotten, and none of it may be released.
        """
        parts, self._parts = self._parts, []
        if self._durable:
            self._unsynced += parts
        data = b"".join(parts)
        try:
            if len(data) + HEAD_BYTES <= self._segment.room:
                self._segment.write(data)
            else:
                self._write_across(parts)
        except OSError:
            self._write_again(parts)
        if self._seal_wanted:
            self._seal_wanted = False
            if self._seal_at_ns is None:
                self._seal_at_ns = clock.monotonic_ns() + SEAL_AFTER_NS

    def _write_again(self, parts: list[bytes]) -> None:
        try:
            self._take_spare()
            self._write_across(parts)
        except OSError as error:
            self._unsynced.clear()
            raise JournalUnavailable(f"the journal in {self.path} cannot be written: {error}") from error

    def _write_across(self, parts: list[bytes]) -> None:
        """Fills the segment with whole frames and goes on in the next; room for SEALED always stays."""
        waiting: list[bytes] = []
        size = 0
        for head, payload in zip(parts[::2], parts[1::2], strict=True):
            frame_bytes = len(head) + len(payload)
            if size + frame_bytes + HEAD_BYTES > self._segment.room:
                self._seal(waiting, _number_of(head) - 1)
                waiting, size = [], 0
            waiting += (head, payload)
            size += frame_bytes
        self._segment.write(b"".join(waiting))

    def _seal(self, before: list[bytes], number: int) -> None:
        """Writes SEALED, with the number of the last frame before it, and goes on in the next segment."""
        seal = encode(self._secret, number, Kind.SEALED, NO_EXCHANGE, clock.monotonic_ns(), b"")
        self._segment.write(b"".join([*before, seal]))
        if self._durable:
            disk.sync(self._segment.descriptor)
        self._take_spare()

    def _take_spare(self) -> None:
        """Goes on in the spare, waiting for it if need be, and has the next one made. Raises OSError."""
        following = self._segment.sequence + 1
        try:
            new = self._spare.result()
        except OSError:
            new = self._make_segment(following)
        self._segment.close()
        self._segment = new
        self._seal_at_ns = None
        self._spare = self._maker.submit(self._make_segment, new.sequence + 1)

    def sync(self) -> None:
        """Returns when everything written is on stable storage. Raises OSError; then ``write_unsynced_again``.

        May run on another thread while no other method does.
        """
        disk.sync(self._segment.descriptor)
        self._unsynced.clear()

    def write_unsynced_again(self) -> None:
        """After a failed sync: puts all that was not synced into the spare segment and syncs that.

        The descriptor that failed is never synced again. Raises JournalUnavailable.
        """
        parts = self._unsynced[:]
        self._write_again(parts)
        try:
            self.sync()
        except OSError as error:
            self._unsynced.clear()
            raise JournalUnavailable(f"the journal in {self.path} cannot be synced: {error}") from error

    def mend(self) -> bool:
        """Tries again to have a spare where making one had failed. True when there is one or one is being made."""
        if self._spare.done() and self._spare.exception() is not None:
            self._spare = self._maker.submit(self._make_segment, self._segment.sequence + 1)
            return False
        return True

    def seal_soon(self) -> None:
        """The batch holds bytes that must not stay: the segment that takes them is sealed within a minute."""
        self._seal_wanted = True

    def tick(self) -> None:
        """Called about once a second, with an empty batch: seals the segment when its time has come."""
        if self._seal_at_ns is not None and clock.monotonic_ns() >= self._seal_at_ns and self.spare_ready:
            try:
                self._seal([], self._number)
            except OSError as error:
                raise JournalUnavailable(f"the journal in {self.path} cannot be written: {error}") from error

    def close(self) -> None:
        """Ends the run: what is in the batch is written, the lock is given back."""
        if self._parts:
            self.write()
        if self._durable:
            disk.sync(self._segment.descriptor)
        self._maker.shutdown(wait=True)
        if self.spare_ready:
            self._spare.result().close()
        self._segment.close()
        os.close(self._lock)
