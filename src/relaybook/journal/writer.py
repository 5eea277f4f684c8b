"""Writes one run of the journal: frames gather in a batch, and one ``write`` puts the batch into the system.

Not thread-safe, but ``sync`` may run on another thread. Never removes a file and never reads one. While a segment
fills, the next is made by a thread of its own, so that a roll costs the caller no allocation.
"""

import os
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Final

from relaybook import clock
from relaybook.ids import id_text, new_id
from relaybook.journal import disk
from relaybook.journal.frame import HEAD_BYTES, NO_EXCHANGE, Kind, encode
from relaybook.journal.owed import Owed
from relaybook.journal.segment import NewSegment

#: A segment that took a frame of an exchange whose bodies must not stay is sealed after so long.
SEAL_AFTER_SECONDS: Final = 60.0


class JournalUnavailable(Exception):
    """The journal can take nothing now; the text names the directory and the system's reason.

    ``opened``: the exchanges whose first frame was lost, so that the log knows nothing of them.
    """

    def __init__(self, text: str, opened: AbstractSet[bytes] = frozenset()) -> None:
        super().__init__(text)
        self.opened = opened


class _NoSpare(Exception):
    """There is no next segment and none can be made; nothing was written for want of it."""


def _number_of(head: bytes) -> int:
    return int.from_bytes(head[8:16], "little")


class JournalWriter:
    """One worker's run. ``append`` gathers, ``write`` makes it survive the process, ``sync`` a power cut."""

    def __init__(
        self, directory: Path, segment_bytes: int, *, durable: bool, seal_after_seconds: float = SEAL_AFTER_SECONDS
    ) -> None:
        """Makes the run's directory and takes its lock. Where that fails ``mend`` tries again and ``write`` raises."""
        self.run_id = new_id()
        self.path = directory / id_text(self.run_id)
        self._segment_bytes = segment_bytes
        self._durable = durable
        self._seal_after_ns = int(seal_after_seconds * clock.NANOSECONDS)
        self._secret = int.from_bytes(os.urandom(4))
        #: The last number that was given, and the last that may stand in a file.
        self._number = self._written = 0
        self._parts: list[bytes] = []
        self._owed = Owed()
        #: The log lacks the rest of an exchange: it is told so as soon as there is room. ``owe_end(exchange)``.
        self.owe_end = self._owed.add_end
        #: Called when the batch gets its first frame.
        self.wake: Callable[[], None] = lambda: None
        self._unsynced: list[bytes] = []
        self._seal_at_ns: int | None = None
        self._seal_wanted = self._is_made = False
        #: A write or a sync of the segment has failed: it takes nothing more, and is never synced again.
        self._is_spoiled = True
        self._maker = ThreadPoolExecutor(1, "journal-spare")
        self._lock: int | None = None
        self._segment: NewSegment | None = None
        self._spare = self._maker.submit(self._make_segment, 1)
        with suppress(_NoSpare):
            self._take_spare()

    def _make_run(self) -> None:
        """Makes the run's directory with its lock taken. May be tried again where it failed."""
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
        """The segment that takes frames. Raises _NoSpare while there has never been one."""
        if self._segment is None:
            raise _NoSpare("there is no segment yet")
        return self._segment

    @property
    def _sequence(self) -> int:
        return self._segment.sequence if self._segment is not None else 0

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

        A write that fails is done again, whole and with the same numbers, in the spare segment, and what waits for its
        sync before it. Raises JournalUnavailable if that fails too; then the batch is forgotten and nothing of it may
        be released.
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
            self._number = self._written  # what follows takes these numbers, so that nothing seems to be missing
            raise self._gave_up(parts, error) from error
        except OSError:
            self._written = self._number
            self._write_again(self._unsynced[:] or parts)
        self._written = self._number
        if self._seal_wanted:
            self._seal_wanted = False
            if self._seal_at_ns is None:
                self._seal_at_ns = clock.monotonic_ns() + self._seal_after_ns

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
        """The batch is forgotten, but for what ``tick`` tells of it later."""
        del self._unsynced[-len(parts) :]
        opened = self._owed.add_lost(parts)
        return JournalUnavailable(f"the journal in {self.path} cannot be written: {error}", opened)

    def _write_across(self, parts: list[bytes]) -> None:
        """Fills the segment with whole frames and goes on in the next; room for SEALED always stays."""
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
        """Writes SEALED, with the number of the last frame before it, and goes on in the next segment.

        Raises OSError; or _NoSpare, and then nothing was written, for no frame may ever follow SEALED.
        """
        self._spare_made()
        seal = encode(self._secret, number, Kind.SEALED, NO_EXCHANGE, clock.monotonic_ns(), b"")
        self._current.write(b"".join([*before, seal]))
        if self._durable:
            self._sync_segment()
        self._take_spare()
        self._seal_at_ns = None

    def _take_spare(self) -> None:
        """Goes on in the spare and has the next one made. Raises _NoSpare."""
        new = self._spare_made()
        if self._segment is not None:
            self._segment.close()
        self._segment = new
        self._is_spoiled = False
        self._spare = self._maker.submit(self._make_segment, new.sequence + 1)

    def _spare_made(self) -> NewSegment:
        """The spare, waited for if need be; where making it had failed, it is tried once more. Raises _NoSpare."""
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
            raise OSError(5, "a write or a sync of this segment has failed, so it is not synced again")
        try:
            disk.sync(self._current.descriptor)
        except OSError:
            self._is_spoiled = True
            raise
        self._current.mark()

    def sync(self) -> None:
        """Returns when everything written is on stable storage. Raises OSError; then ``write_unsynced_again``.

        May run on another thread while no other method does.
        """
        self._sync_segment()
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
            raise self._gave_up(parts, error) from error

    def mend(self) -> BaseException | None:
        """Tries again to have a spare where making one had failed: why it had. None: there is or will be one."""
        failed = self._spare.exception() if self._spare.done() else None
        if failed is not None:
            self._spare = self._maker.submit(self._make_segment, self._sequence + 1)
        return failed

    def seal_soon(self) -> None:
        """The batch holds bytes that must not stay: their segment is sealed after ``seal_after_seconds``."""
        self._seal_wanted = True

    def tick(self) -> None:
        """Called about once a second, with an empty batch: seals the segment when its time has come.

        What ended or was counted while nothing could be written is told now, as soon as there is room for it.
        """
        if not self.spare_ready:
            return
        for frame in self._owed.take():
            self.append(*frame)
        if self._seal_at_ns is not None and clock.monotonic_ns() >= self._seal_at_ns and not self._parts:
            try:
                if self._is_spoiled:
                    self._take_spare()
                    if self._unsynced:
                        self._write_across(self._unsynced[:])
                    else:
                        self._seal_at_ns = None
                else:
                    self._seal([], self._number)
            except (OSError, _NoSpare) as error:
                self._is_spoiled = True
                raise JournalUnavailable(f"the journal in {self.path} cannot be written: {error}") from error

    def close(self) -> None:
        """Ends the run: what is in the batch is written, the lock is given back."""
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
