"""One segment file: its header, and the mark both sides map.

A segment is written by one process and read by others; the mark is the only thing they share. It is one aligned
8-byte store, so a reader sees an old value or a new one, never a mixture.
"""

import mmap
import os
from pathlib import Path
from struct import Struct
from typing import Final

from relaybook.journal import disk

MAGIC: Final = b"RELAYBK\n"
VERSION: Final = 1
HEADER_BYTES: Final = 128
_HEADER: Final = Struct("<8sII16sQ")
_MARK_INDEX: Final = 8


class JournalDamaged(Exception):
    """A segment whose header cannot be read; the text names the file."""


class JournalTooNew(Exception):
    """A segment a later version wrote; the text says which and what to do."""


def segment_path(run: Path, sequence: int) -> Path:
    """The file of one sequence number in a run's directory."""
    return run / f"{sequence:016d}.segment"


def sequences(run: Path) -> list[int]:
    """Sequence numbers of the segments in a run's directory, rising."""
    return sorted(int(path.stem) for path in run.glob("*.segment") if path.stem.isdigit())


class NewSegment:
    """A segment to write to. Not thread-safe; only ``create`` may run on another thread."""

    def __init__(self, descriptor: int, sequence: int, size: int, *, durable: bool) -> None:
        """``durable``: readers are told of bytes once they are synced, by ``mark``; else by ``write``."""
        self._marks_writes = not durable
        self.descriptor = descriptor
        self.sequence = sequence
        self.size = size
        self.position = HEADER_BYTES
        self._map = mmap.mmap(descriptor, mmap.PAGESIZE)
        self._marks = memoryview(self._map)[:HEADER_BYTES].cast("Q")

    @classmethod
    def create(cls, run: Path, run_id: bytes, sequence: int, secret: int, size: int, *, durable: bool) -> "NewSegment":
        """Creates the file at its full size; with ``durable`` it and its name are on stable storage. Raises OSError."""
        path = segment_path(run, sequence)
        descriptor = disk.create_file(path)
        try:
            disk.allocate(descriptor, size, zero=durable)
            header = _HEADER.pack(MAGIC, VERSION, secret, run_id, sequence).ljust(HEADER_BYTES, b"\0")
            disk.write_all(descriptor, header, 0)
            new = cls(descriptor, sequence, size, durable=durable)
            new.mark()
            if durable:
                disk.sync(descriptor)
                disk.sync_directory(run)
        except BaseException:
            os.close(descriptor)
            path.unlink(missing_ok=True)
            raise
        return new

    @property
    def room(self) -> int:
        """Bytes that still fit."""
        return self.size - self.position

    def write(self, data: bytes) -> None:
        """Appends. Raises OSError; then the segment must not be used again."""
        disk.write_all(self.descriptor, data, self.position)
        self.position += len(data)
        if self._marks_writes:
            self._marks[_MARK_INDEX] = self.position

    def mark(self) -> None:
        """Tells readers how far the file is written.

        On a disk a mark must never be ahead of what it tells of, or after a power cut a torn batch looks like damage.
        """
        self._marks[_MARK_INDEX] = self.position

    def close(self) -> None:
        """Gives descriptor and mapping back. The file stays."""
        self._marks.release()
        self._map.close()
        os.close(self.descriptor)


class OldSegment:
    """A segment to read from, while it is still written or long after."""

    def __init__(self, run: Path, sequence: int) -> None:
        """Raises FileNotFoundError, JournalDamaged or JournalTooNew."""
        self.path = segment_path(run, sequence)
        self.sequence = sequence
        self._descriptor = disk.open_file(self.path)
        try:
            self.size = os.fstat(self._descriptor).st_size
            header = os.pread(self._descriptor, HEADER_BYTES, 0)
            self.secret = self._read_header(header)
            self._map = mmap.mmap(self._descriptor, HEADER_BYTES, prot=mmap.PROT_READ)
        except BaseException:
            os.close(self._descriptor)
            raise
        self._marks = memoryview(self._map).cast("Q")

    def _read_header(self, header: bytes) -> int:
        if len(header) < HEADER_BYTES or not header.startswith(MAGIC):
            raise JournalDamaged(f"{self.path} is no journal segment: its first bytes are not {MAGIC!r}.")
        _, version, secret, _, _ = _HEADER.unpack_from(header)
        if version > VERSION:
            raise JournalTooNew(
                f"{self.path} was written by a later Relaybook (journal format {version}, this one reads {VERSION}). "
                "Start that version, or a later one, on this data directory."
            )
        return int(secret)

    @property
    def mark(self) -> int:
        """How far the writer says the file is written; never more than its size."""
        return min(self._marks[_MARK_INDEX], self.size)

    def read(self, start: int, end: int) -> bytes:
        """The bytes between two offsets; fewer at the end of the file."""
        return os.pread(self._descriptor, end - start, start)

    def close(self) -> None:
        """Gives descriptor and mapping back."""
        self._marks.release()
        self._map.close()
        os.close(self._descriptor)
