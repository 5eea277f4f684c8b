"""Reads one run of the journal, beside its writer or after its death.

Yields whole frames in order, each number once. Removes files when told that nothing in them is needed any more. Never
looks past the mark of a run that still lives.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from relaybook.ids import parse_id
from relaybook.journal import disk
from relaybook.journal.frame import HEAD_BYTES, MAX_PAYLOAD, Frame, Kind, Span, decode, find_next
from relaybook.journal.segment import HEADER_BYTES, JournalDamaged, OldSegment, segment_path, sequences

_READ_BYTES: Final = 4 << 20


class Place(msgspec.Struct, frozen=True, order=True, array_like=True):
    """Between two frames of a run: the next one stands at ``offset`` of ``segment``, its number is above ``number``."""

    segment: int
    offset: int
    number: int


class Unread(msgspec.Struct, frozen=True):
    """How many bytes wait to be read, and when the first frame among them was written (monotonic clock; None: none)."""

    bytes: int
    since_ns: int | None


START: Final = Place(0, HEADER_BYTES, 0)


def list_runs(directory: Path) -> list[Path]:
    """Directories of the runs of a journal, oldest first. Half-made ones are left out."""
    if not directory.is_dir():
        return []
    return sorted(path for path in directory.iterdir() if parse_id(path.name) and path.is_dir())


class RunReader:
    """One run, read from a place on. Owns the run once its writer is gone."""

    def __init__(self, path: Path, start: Place = START, *, told_to: int = 0) -> None:
        """Frames up to the number ``told_to`` that are lost were counted by another reader."""
        self.path = path
        self.place = start
        self._told_to = told_to
        #: Frames that were written but cannot be read any more, and the bytes passed over.
        self.frames_lost = 0
        self.bytes_skipped = 0
        self._lock: int | None = None
        self._segment: OldSegment | None = None
        self._skipped = 0
        self._sealed = False
        self._finished = False
        #: Whether files before the first one were read and removed for a store that is gone: no number is missed then.
        self._begins_late = False

    @property
    def over(self) -> bool:
        """Whether the writer is gone. Takes the run's lock when it is, so that no other reader adopts the run."""
        if self._lock is None:
            with suppress(FileNotFoundError):
                self._lock = disk.try_lock(self.path / "lock")
        return self._lock is not None

    @property
    def finished(self) -> bool:
        """Whether the writer is gone and every frame was read."""
        return self._finished

    @property
    def waiting(self) -> bool:
        """Whether the writer tells of more than was read, in the file that is read. Costs no system call."""
        return self._segment is not None and self._segment.mark > self.place.offset

    def read(self, most_bytes: int = _READ_BYTES) -> list[Frame]:
        """The next frames, up to about ``most_bytes`` of them; empty when there is nothing (yet).

        Raises JournalTooNew. What is damaged is passed over and counted.
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
        """Frames of the current file. None and the same place: nothing more in it for now."""
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
        """Notes a frame's number; False for a repeat and for SEALED."""
        if self._sealed:
            return False
        if frame.kind == Kind.SEALED:
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
        """Passes over damage to the next frame that holds, or to the mark where there is none."""
        step = find_next(data, 1, segment.secret, self.place.number, self._skipped)
        if step is None:
            step = mark - at if at + len(data) >= mark else len(data) - MAX_PAYLOAD
            self._skipped += step
        else:
            self._skipped = 0
        self.bytes_skipped += step
        self.place = Place(segment.sequence, at + step, self.place.number)

    def _open(self) -> OldSegment | None:
        """The segment of the current place; the run's first when it has none yet."""
        if self._segment is not None:
            return self._segment
        with suppress(FileNotFoundError):
            wanted = self.place.segment or next(iter(sequences(self.path)), 0)
            if wanted:
                with suppress(JournalDamaged):
                    self._segment = OldSegment(self.path, wanted)
                    self._begins_late = self.place == START and wanted > 1
                    self.place = Place(wanted, max(self.place.offset, HEADER_BYTES), self.place.number)
        return self._segment

    def _advance(self, over: bool) -> bool:
        """Goes on to the next file when this one is done. False: nothing more for now."""
        following = self._following()
        if following is None:
            if over:
                self._finished = True
            return False
        if not (self._sealed or over or self._segment is None) and not self._left_behind():
            return False
        self._close_segment()
        self.place = Place(following, HEADER_BYTES, self.place.number)
        return True

    def _following(self) -> int | None:
        with suppress(FileNotFoundError):
            return next((number for number in sequences(self.path) if number > self.place.segment), None)
        return None

    def _left_behind(self) -> bool:
        """Whether the writer went on without sealing: a later file is in use and this one is read to its mark."""
        in_use = False
        with suppress(FileNotFoundError):
            in_use = any(self._in_use(number) for number in sequences(self.path) if number > self.place.segment)
        return in_use and self._segment is not None and self._segment.mark <= self.place.offset

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
        """What is written and not yet read. Takes no lock and reads on from nowhere: anybody may ask."""
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

    def remove_before(self, segment: int) -> int:
        """Unlinks the files before ``segment``; how many there were. May take 12 ms for each."""
        removed = 0
        for number in sequences(self.path):
            if number < min(segment, self.place.segment):
                segment_path(self.path, number).unlink(missing_ok=True)
                removed += 1
        return removed

    def remove(self) -> None:
        """Removes the whole run. Only after ``finished``, and once its position is forgotten."""
        self._close_segment()
        with suppress(FileNotFoundError):
            for path in self.path.iterdir():
                path.unlink(missing_ok=True)
            self.path.rmdir()
        self.close()

    def close(self) -> None:
        """Lets go of files and lock; the run stays for another reader."""
        self._close_segment()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _written_ns(segment: OldSegment, start: int) -> int | None:
    """When the frame at ``start`` was written; None when no whole frame stands there."""
    if segment.mark <= start:
        return None  # nothing yet; a mark of 0 is that of a file whose maker was killed before it had set it
    data = segment.read(start, min(segment.mark, start + HEAD_BYTES + MAX_PAYLOAD))
    return next((frame.time_ns for frame in decode(data, segment.secret, segment.sequence, start, Span(0))), None)
