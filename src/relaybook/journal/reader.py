"""Read one run of the journal, while its writer runs or after the writer has ended.

The reader returns complete frames in order, and each frame number only once. Only ``remove_before`` and ``remove``
delete files. While the writer runs, the reader never reads beyond the write mark of a segment, which is the offset up
to which the writer has written.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from relaybook.ids import parse_id
from relaybook.journal.frame import HEAD_BYTES, MAX_PAYLOAD, Frame, FrameKind, Span, decode, find_next
from relaybook.journal.segment import HEADER_BYTES, JournalDamaged, OldSegment, segment_path, sequences
from relaybook.system import disk

_READ_BYTES: Final = 4 << 20


class Place(msgspec.Struct, frozen=True, order=True, array_like=True):
    """A position between two frames of a run.

    The next frame is at ``offset`` in ``segment``, and its number is higher than ``number``.
    """

    segment: int
    offset: int
    number: int


class Unread(msgspec.Struct, frozen=True):
    """Number of unread bytes of a run, and the monotonic time at which the first unread frame was written.

    The time is `None` if there is no complete unread frame.
    """

    bytes: int
    since_ns: int | None


START: Final = Place(0, HEADER_BYTES, 0)


def list_runs(directory: Path) -> list[Path]:
    """Return the run directories of a journal, oldest first. Runs that are still being created are omitted."""
    if not directory.is_dir():
        return []
    return sorted(path for path in directory.iterdir() if parse_id(path.name) and path.is_dir())


class RunReader:
    """Reads the frames of one run, from a given ``Place`` on.

    Once the writer has ended, the reader holds the lock of the run.
    """

    def __init__(self, path: Path, start: Place = START, *, told_to: int = 0) -> None:
        """Create a reader that begins to read at ``start``.

        Lost frames up to number ``told_to`` are not counted in ``frames_lost``, because an earlier reader counted them.
        """
        self.path = path
        self.place = start
        self._told_to = told_to
        #: Number of frames that were written but cannot be read.
        self.frames_lost = 0
        self._lock: int | None = None
        #: Whether the writer has ended.
        self._is_unlocked = False
        self._segment: OldSegment | None = None
        self._skipped = 0
        self._sealed = False
        self._finished = False
        #: Whether the first files of the run are missing. These files were deleted after their frames had been
        #: recorded, in a store that no longer exists. So the frames do not count as lost.
        self._begins_late = False

    @property
    def over(self) -> bool:
        """Whether the writer has ended.

        If the writer has ended, lock the run, so that no other reader takes over the run.
        """
        if self._lock is None:
            with suppress(FileNotFoundError):
                self._lock = disk.try_lock(self.path / "lock")
        if self._lock is not None and not self._is_unlocked:
            self._is_unlocked = not self._is_segment_locked()
        return self._is_unlocked

    def _is_segment_locked(self) -> bool:
        """Return whether the writer still has a segment open. Then another program has deleted the file ``lock``."""
        for number in sequences(self.path):
            with suppress(FileNotFoundError):
                if disk.is_locked(segment_path(self.path, number)):
                    return True
        return False

    @property
    def finished(self) -> bool:
        """Whether the writer has ended and all frames were read."""
        return self._finished

    @property
    def waiting(self) -> bool:
        """Whether the current file has unread bytes before its write mark. The check needs no system call."""
        return self._segment is not None and self._segment.mark > self.place.offset

    def read(self, most_bytes: int = _READ_BYTES) -> list[Frame]:
        """Return the next frames, up to about ``most_bytes``, or an empty list if there is no next frame yet.

        Damaged bytes are skipped, and lost frames are counted in ``frames_lost``. Raises JournalTooNew if a segment has
        a format of a newer version of Relaybook, and OSError if a file of the run cannot be opened.
        """
        over = self.over
        while not self._finished:
            before = self.place
            frames = self._read_here(most_bytes, over)
            if frames:
                return frames
            if self.place == before and not self._advance(over):
                break
        return []

    def _read_here(self, most_bytes: int, over: bool) -> list[Frame]:
        """Return frames from the current file.

        If the list is empty and ``place`` is unchanged, the file has no more frames for now. If the list is empty but
        ``place`` has changed, bytes without new frames were skipped. Then call this method again.
        """
        segment = self._open()
        if segment is None or self._sealed:
            return []
        start, mark = self.place.offset, segment.mark
        end = mark if start < mark else segment.size if over else start
        data = segment.read(start, min(end, start + most_bytes + MAX_PAYLOAD))
        span = Span(0)
        frames = [frame for frame in decode(data, segment.secret, segment.sequence, start, span) if self._accept(frame)]
        self.place = Place(segment.sequence, start + span.end, self.place.number)
        if start < mark and span.end == 0 and data:
            self._skip(segment, data, start, mark)
        return frames

    def _accept(self, frame: Frame) -> bool:
        """Return whether the frame is new: false for SEALED and for a frame whose number was already read.

        Update the number in ``place``, and count the lost frames before this frame.
        """
        if self._sealed:
            return False
        if frame.kind == FrameKind.SEALED:
            self._sealed = True
            if not self._begins_late:
                self._note_lost(frame.number - self.place.number)
            return False
        ahead = frame.number - self.place.number
        if ahead <= 0:
            return False
        if self._begins_late:
            self._begins_late = False
        else:
            self._note_lost(ahead - 1)
        self.place = Place(self.place.segment, self.place.offset, frame.number)
        return True

    def _note_lost(self, count: int) -> None:
        if count > 0:
            last = self.place.number + count
            self.frames_lost += max(min(count, last - self._told_to), 0)
            self.place = Place(self.place.segment, self.place.offset, last)

    def _skip(self, segment: OldSegment, data: bytes, at: int, mark: int) -> None:
        """Skip damaged bytes up to the next valid frame, or to the write mark if there is no valid frame."""
        step = find_next(data, 1, segment.secret, self.place.number, self._skipped)
        if step is None:
            is_last = at + len(data) >= mark or len(data) <= MAX_PAYLOAD
            step = mark - at if is_last else len(data) - MAX_PAYLOAD
            self._skipped += step
        else:
            self._skipped = 0
        self.place = Place(segment.sequence, at + step, self.place.number)

    def _open(self) -> OldSegment | None:
        """Return the current segment, or `None` if it is missing or damaged.

        If ``place`` names no segment yet, the current segment is the oldest segment that still exists.
        """
        if self._segment is not None:
            is_empty = max(self.place.offset, self._segment.mark) <= HEADER_BYTES
            if not (is_empty and self._segment.was_created_again):
                return self._segment
            self._close_segment()
        with suppress(FileNotFoundError):
            wanted = self.place.segment or next(iter(sequences(self.path)), 0)
            if wanted:
                with suppress(JournalDamaged):
                    self._segment = OldSegment(self.path, wanted)
                    self._begins_late = self._begins_late or (self.place == START and wanted > 1)
                    self.place = Place(wanted, max(self.place.offset, HEADER_BYTES), self.place.number)
        return self._segment

    def _advance(self, over: bool) -> bool:
        """Move to the next file if the current file is finished. Return false if there is nothing to read for now."""
        following = self._following()
        if following is None:
            if over:
                self._finished = True
            return False
        if not (self._sealed or over or self._left_behind()):
            return False
        self._close_segment()
        self.place = Place(following, HEADER_BYTES, self.place.number)
        return True

    def _following(self) -> int | None:
        with suppress(FileNotFoundError):
            return next((number for number in sequences(self.path) if number > self.place.segment), None)
        return None

    def _left_behind(self) -> bool:
        """Return whether the current file is read to its write mark, and the writer left it unsealed for a later file.

        A current file that is missing or damaged counts as read.

        Once a later file is in use, the writer does not return to the current file. Until then, the result is false
        even if the current file cannot be opened, because the writer may still be creating the current file.
        """
        in_use = False
        with suppress(FileNotFoundError):
            in_use = any(self._in_use(number) for number in sequences(self.path) if number > self.place.segment)
        if not in_use:
            return False
        segment = self._open()
        return segment is None or segment.mark <= self.place.offset

    def _in_use(self, number: int) -> bool:
        with suppress(FileNotFoundError, JournalDamaged):
            segment = OldSegment(self.path, number)
            in_use = segment.mark > HEADER_BYTES
            segment.close()
            return in_use
        return False

    def _close_segment(self) -> None:
        if self._segment is not None:
            self._segment.close()
        self._segment = None
        self._sealed = False
        self._skipped = 0

    def unread(self) -> Unread:
        """Return how much of the run is unread, without locking the run or changing the position."""
        total, since_ns = 0, None
        with suppress(FileNotFoundError, JournalDamaged):
            for number in sequences(self.path):
                if number >= self.place.segment:
                    segment = OldSegment(self.path, number)
                    start = self.place.offset if number == self.place.segment else HEADER_BYTES
                    total += max(segment.mark - start, 0)
                    if since_ns is None:
                        since_ns = _written_ns(segment, start)
                    segment.close()
        return Unread(total, since_ns)

    def segments_before(self, segment: int) -> list[int]:
        """Return the sequence numbers of the files before ``segment``. Files that are not read yet are omitted."""
        return [number for number in sequences(self.path) if number < min(segment, self.place.segment)]

    def remove_before(self, segment: int) -> int:
        """Delete the segments that ``segments_before`` returns, and return how many there were.

        Each deletion may take 12 ms.
        """
        numbers = self.segments_before(segment)
        for number in numbers:
            segment_path(self.path, number).unlink(missing_ok=True)
        return len(numbers)

    def remove(self) -> None:
        """Delete the whole run.

        Call this method only after the run is ``finished`` and all its frames are recorded.
        """
        self._close_segment()
        with suppress(FileNotFoundError):
            for path in self.path.iterdir():
                path.unlink(missing_ok=True)
            self.path.rmdir()
        self.close()

    def close(self) -> None:
        """Close the files and release the lock. The run is kept for another reader."""
        self._close_segment()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _written_ns(segment: OldSegment, start: int) -> int | None:
    """Return the time at which the frame at ``start`` was written, or `None` if there is no complete frame."""
    if segment.mark <= start:
        return None  # no frame yet; the mark is 0 if the writer was killed before setting it
    data = segment.read(start, min(segment.mark, start + HEAD_BYTES + MAX_PAYLOAD))
    return next((frame.time_ns for frame in decode(data, segment.secret, segment.sequence, start, Span(0))), None)
