"""Write one run of the journal. Frames are collected in a batch, and one ``write`` writes the whole batch.

The writer is not thread-safe, except that ``sync`` may run on another thread. The writer reads no files, and never
deletes a segment that contains frames. While a segment fills, a separate thread creates the next segment. So a write
rarely has to wait for a new segment.
"""

import os
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Final

from relaybook import clock
from relaybook.ids import id_text, new_id
from relaybook.journal.frame import HEAD_BYTES, NO_EXCHANGE, FrameKind, encode
from relaybook.journal.segment import NewSegment, segment_path
from relaybook.journal.unreported_loss import UnreportedLoss
from relaybook.system import disk

#: A segment with frames of a request with ``Service-Log: no-bodies`` is sealed after this many seconds, so that
#: the reader can delete the segment soon.
SEAL_AFTER_SECONDS: Final = 60.0
#: All other segments are sealed after ``_MAX_AGE * seal_after_seconds`` seconds. Otherwise, the journal could keep the
#: bytes of deleted requests for a long time.
_MAX_AGE: Final = 10


class JournalUnavailable(Exception):
    """The journal cannot be written. The text names the directory and the reason.

    ``opened`` contains the exchanges whose OPENED frame was lost. The log will not contain these exchanges.
    """

    def __init__(self, text: str, opened: AbstractSet[bytes] = frozenset()) -> None:
        super().__init__(text)
        self.opened = opened


class _NoSpare(Exception):
    """The next segment does not exist and cannot be created.

    ``_seal`` raises this exception before it writes anything.
    """


def _number_of(head: bytes) -> int:
    return int.from_bytes(head[8:16], "little")


def _after(parts: list[bytes], number: int) -> list[bytes]:
    """Return those heads and payloads in ``parts`` whose frame number is higher than ``number``."""
    return [part for at in range(0, len(parts), 2) if _number_of(parts[at]) > number for part in parts[at : at + 2]]


class JournalWriter:
    """Writes the run of one relay process.

    After ``write``, frames survive a crash of the process. After ``sync``, frames also survive a power failure.
    """

    def __init__(
        self, directory: Path, segment_bytes: int, *, durable: bool, seal_after_seconds: float = SEAL_AFTER_SECONDS
    ) -> None:
        """Create the run's directory and lock it.

        If this fails, ``mend`` and ``write`` try again. If ``write`` fails too, it raises JournalUnavailable.
        """
        self.run_id = new_id()
        self.path = directory / id_text(self.run_id)
        self._segment_bytes = segment_bytes
        self._durable = durable
        self._seal_after_ns = int(seal_after_seconds * clock.NANOSECONDS)
        self._secret = int.from_bytes(os.urandom(4))
        #: The last frame number that was assigned.
        self._number = 0
        #: The last frame number that may be in a file.
        self._written = 0
        self._parts: list[bytes] = []
        self._unreported_loss = UnreportedLoss()
        self._unsynced: list[bytes] = []
        self._seal_at_ns: int | None = None
        self._seal_wanted = self._is_made = False
        #: Whether a write or sync of the segment has failed. After a failure, the segment is not written or synced
        #: again.
        self._is_spoiled = True
        self._maker = ThreadPoolExecutor(1, "journal-spare")
        self._lock: int | None = None
        self._segment: NewSegment | None = None
        self._spare = self._maker.submit(self._make_segment, 1)
        with suppress(_NoSpare):
            self._take_spare()

    def _make_run(self) -> None:
        """Create the run's directory and lock it. This method can be called again after a failure."""
        directory = self.path.parent
        disk.make_directory(directory)
        if self._lock is None:
            new = directory / f".new-{self.path.name}"
            new.mkdir(mode=0o700, exist_ok=True)
            self._lock = disk.try_lock(new / "lock")
            if self._lock is None:
                raise BlockingIOError(11, f"{new}/lock is held by another process")
        if not self.path.exists():
            directory.joinpath(f".new-{self.path.name}").rename(self.path)
        if self._durable:
            disk.sync_directory(directory)
        self._is_made = True

    def _make_segment(self, sequence: int) -> NewSegment:
        if not self._is_made:
            self._make_run()
        return NewSegment.create(
            self.path, self.run_id, sequence, self._secret, self._segment_bytes, durable=self._durable
        )

    @property
    def _current(self) -> NewSegment:
        """The segment that is being written. Raises _NoSpare if there is no segment yet."""
        if self._segment is None:
            raise _NoSpare("there is no segment yet")
        return self._segment

    @property
    def _sequence(self) -> int:
        return self._segment.sequence if self._segment is not None else 0

    def append(self, kind: int, exchange: bytes, payload: bytes) -> None:
        """Add a frame to the batch without writing it. Frames are written in the order of the calls."""
        self._number = number = self._number + 1
        head = encode(self._secret, number, kind, exchange, clock.monotonic_ns(), payload)
        self._parts += (head, payload)

    def add_lost_end(self, exchange: bytes) -> None:
        """Report that the remaining frames of an exchange are lost.

        ``tick`` appends a CLOSED frame for the exchange as soon as the next segment exists (see ``spare_ready``).
        """
        self._unreported_loss.add_end(exchange)

    @property
    def waiting(self) -> bool:
        """Whether the batch contains frames."""
        return bool(self._parts)

    @property
    def spare_ready(self) -> bool:
        """Whether the next segment exists, so that it can replace a full or failed segment at once."""
        return self._spare.done() and self._spare.exception() is None

    def write(self) -> None:
        """Write the batch to the operating system. Afterwards, the batch survives a crash of the process.

        If the write fails, all unsynced frames and the whole batch are written again, with the same numbers, to the
        spare segment: the next segment, which was created in advance. If the second write also fails, the batch is
        dropped and JournalUnavailable is raised. After JournalUnavailable, the caller must not send the bytes of the
        batch to a client or to the upstream, except with ``when_log_fails = forward``.
        """
        parts, self._parts = self._parts, []
        if self._durable:
            self._unsynced += parts
        try:
            if self._is_spoiled:
                self._take_spare()
                parts = self._unsynced[:] or parts
            self._put(parts)
        except _NoSpare as error:
            self._number = self._written  # reuse the numbers, so that no frame seems to be missing
            raise self._gave_up(_after(parts, self._written), error) from error
        except OSError:
            self._written = self._number
            self._write_again(self._unsynced[:] or parts)
        self._written = self._number
        if self._seal_wanted:
            self._seal_wanted = False
            self._seal_within(self._seal_after_ns)

    def _put(self, parts: list[bytes]) -> None:
        data = b"".join(parts)
        if len(data) + HEAD_BYTES <= self._current.room:
            self._current.write(data)
        else:
            self._write_across(parts)

    def _write_again(self, parts: list[bytes]) -> None:
        self._is_spoiled = True
        try:
            self._take_spare()
            self._write_across(parts)
        except (OSError, _NoSpare) as error:
            self._is_spoiled = True
            raise self._gave_up(parts, error) from error

    def _gave_up(self, parts: list[bytes], error: Exception) -> JournalUnavailable:
        """Drop the frames in ``parts``, and return the error to raise.

        Collect frames that report this loss, for ``tick`` to append later.
        """
        del self._unsynced[-len(parts) :]
        opened = self._unreported_loss.add_lost(parts)
        return JournalUnavailable(f"the journal in {self.path} cannot be written: {error}", opened)

    def _write_across(self, parts: list[bytes]) -> None:
        """Write complete frames until the segment is full, then continue in the next segment. Leave room for SEALED."""
        waiting: list[bytes] = []
        size = 0
        for head, payload in zip(parts[::2], parts[1::2], strict=True):
            frame_bytes = len(head) + len(payload)
            if size + frame_bytes + HEAD_BYTES > self._current.room:
                self._seal(waiting, _number_of(head) - 1)
                self._written = max(self._written, _number_of(head) - 1)
                waiting, size = [], 0
            waiting += (head, payload)
            size += frame_bytes
        self._current.write(b"".join(waiting))

    def _seal(self, before: list[bytes], number: int) -> None:
        """Write SEALED to the segment, preceded by the frames in ``before``, and switch to the next segment.

        ``number`` is the number of the last frame before SEALED. If there is no next segment, this method writes
        nothing and raises _NoSpare, because readers ignore frames after SEALED. Raises OSError if the write fails.
        """
        self._spare_made()
        seal = encode(self._secret, number, FrameKind.SEALED, NO_EXCHANGE, clock.monotonic_ns(), b"")
        self._current.write(b"".join([*before, seal]))
        if self._durable:
            self._sync_segment()
        self._take_spare()
        self._seal_at_ns = None

    def _take_spare(self) -> None:
        """Switch to the spare segment, which was created in advance, and start to create the next spare segment.

        Raises _NoSpare if the spare segment cannot be created.
        """
        new = self._spare_made()
        if self._segment is not None:
            self._segment.close()
        self._segment = new
        self._is_spoiled = False
        self._spare = self._maker.submit(self._make_segment, new.sequence + 1)

    def _spare_made(self) -> NewSegment:
        """Wait until the spare segment is created, and return it.

        If the creation failed, try once more. Raises _NoSpare if the second attempt fails too.
        """
        try:
            return self._spare.result()
        except OSError:
            self._spare = self._maker.submit(self._make_segment, self._sequence + 1)
        try:
            return self._spare.result()
        except OSError as error:
            raise _NoSpare(str(error)) from error

    def _sync_segment(self) -> None:
        if self._is_spoiled:
            raise OSError(5, "a write or sync of this segment has failed, so the segment is not synced again")
        try:
            disk.sync(self._current.descriptor)
        except OSError:
            self._is_spoiled = True
            raise
        self._current.mark()

    def sync(self) -> None:
        """Sync all written frames to stable storage. Raises OSError. After an error, call ``write_unsynced_again``.

        While this method runs on another thread, you may call ``append``, but no method that writes or syncs.
        """
        self._sync_segment()
        self._unsynced.clear()

    def write_unsynced_again(self) -> None:
        """Write all unsynced frames to the spare segment and sync the segment. Call this method after a failed sync.

        The spare segment is the next segment, which was created in advance. The descriptor that failed is never synced
        again. Raises JournalUnavailable.
        """
        parts = self._unsynced[:]
        self._write_again(parts)
        try:
            self.sync()
        except OSError as error:
            raise self._gave_up(parts, error) from error

    def mend(self) -> BaseException | None:
        """If the creation of the next (spare) segment failed, try again and return the earlier error.

        Otherwise return `None`. If another program has deleted files of the run, the next batch goes to a new file.
        """
        with suppress(OSError):  # if the disk cannot be read, the files are probably still there
            if self._spare.done():
                self._replace_deleted()
        failed = self._spare.exception() if self._spare.done() else None
        if failed is not None:
            self._spare = self._maker.submit(self._make_segment, self._sequence + 1)
        return failed

    def _replace_deleted(self) -> None:
        """Stop using files that another program has deleted. Call this method only while no segment is being created.

        A reader that has opened a deleted file can still read it to its end.
        """
        if self._is_made and self._lock is not None and not self.path.exists():
            os.close(self._lock)
            self._lock, self._is_made = None, False
        if self._segment is not None and not segment_path(self.path, self._sequence).exists():
            self._is_spoiled = True
        if self.spare_ready and not segment_path(self.path, self._spare.result().sequence).exists():
            self._spare.result().close()
            self._spare = self._maker.submit(self._make_segment, self._sequence + 1)

    def seal_soon(self) -> None:
        """Seal the segment of the current batch after ``seal_after_seconds``.

        So the reader can delete the segment soon.
        """
        self._seal_wanted = True

    def _seal_within(self, time_ns: int) -> None:
        until_ns = clock.monotonic_ns() + time_ns
        self._seal_at_ns = until_ns if self._seal_at_ns is None else min(self._seal_at_ns, until_ns)

    def tick(self) -> None:
        """Seal the segment if it is due, and append the frames that report lost batches.

        Call this method about once a second, when the batch is empty. If the segment cannot be sealed, no frame is
        lost. The next call of ``tick`` or ``write`` then continues in the spare segment, which was created in advance.
        Raises JournalUnavailable if the spare segment cannot be used either.
        """
        if not self.spare_ready:
            return
        for frame in self._unreported_loss.take():
            self.append(*frame)
        if self._seal_at_ns is None and self._segment is not None and not self._segment.is_empty:
            self._seal_within(_MAX_AGE * self._seal_after_ns)
        if self._seal_at_ns is not None and clock.monotonic_ns() >= self._seal_at_ns and not self._parts:
            if not self._is_spoiled:
                try:
                    self._seal([], self._number)
                except OSError:
                    self._is_spoiled = True
                return
            try:
                self._take_spare()
                if self._unsynced:
                    self._write_across(self._unsynced[:])
                else:
                    self._seal_at_ns = None
            except (OSError, _NoSpare) as error:
                self._is_spoiled = True
                raise JournalUnavailable(f"the journal in {self.path} cannot be written: {error}") from error

    def close(self) -> None:
        """Write the batch, end the run and release its lock."""
        if self._parts:
            self.write()
        if self._durable and not self._is_spoiled:
            self._sync_segment()
        self._maker.shutdown(wait=True)
        if self.spare_ready:
            self._spare.result().close()
        if self._segment is not None:
            self._segment.close()
        if self._lock is not None:
            os.close(self._lock)
