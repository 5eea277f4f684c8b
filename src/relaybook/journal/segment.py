"""Create, write and read segment files. The header of a segment contains the write mark.

The write mark is the offset up to which the file is written. One process writes a segment and other processes read the
file. Each process maps the mark into memory. The processes share no other memory. The mark is set with one aligned
write of 8 bytes, so a reader sees either the old or the new value, never a mixture.
"""

import mmap
import os
import time
from pathlib import Path
from struct import Struct
from typing import Final

from relaybook.system import disk

MAGIC: Final = b"RELAYBK\n"
VERSION: Final = 1
HEADER_BYTES: Final = 128
_HEADER: Final = Struct("<8sII16sQ")
_MARK_INDEX: Final = 8
#: Reads that fail because the disk is damaged are repeated at most this many times per segment, with pauses. After
#: that, each block that cannot be read is replaced by zeros.
_TRIES: Final = 5
_PAUSE_SECONDS: Final = 0.1
_BLOCK_BYTES: Final = 4096


class JournalDamaged(Exception):
    """The header of a segment is invalid. The text names the file."""


class JournalTooNew(Exception):
    """A newer version of Relaybook wrote the segment. The text names the file and says what to do."""


def segment_path(run: Path, sequence: int) -> Path:
    """Return the path of the segment with this sequence number."""
    return run / f"{sequence:016d}.segment"


def sequences(run: Path) -> list[int]:
    """Return the sequence numbers of the segments of a run, in ascending order."""
    return sorted(int(path.stem) for path in run.glob("*.segment") if path.stem.isdigit())


class NewSegment:
    """A segment for writing, not thread-safe. ``create`` may run while another thread uses another segment."""

    def __init__(self, descriptor: int, sequence: int, size: int, *, durable: bool) -> None:
        """With ``durable``, the caller must call ``mark`` after each sync to raise the write mark.

        Without ``durable``, ``write`` raises the write mark.
        """
        self._marks_writes = not durable
        self.descriptor = descriptor
        self.sequence = sequence
        self.size = size
        self.position = HEADER_BYTES
        self._map = mmap.mmap(descriptor, mmap.PAGESIZE)
        self._marks = memoryview(self._map)[:HEADER_BYTES].cast("Q")

    @classmethod
    def create(cls, run: Path, run_id: bytes, sequence: int, secret: int, size: int, *, durable: bool) -> "NewSegment":
        """Create the file at its full size and lock it. With ``durable``, sync the file and its directory.

        Raises OSError.
        """
        path = segment_path(run, sequence)
        path.unlink(missing_ok=True)  # an earlier attempt failed and could not delete it
        descriptor = disk.create_file(path)
        try:
            disk.hold_lock(descriptor)
            disk.allocate(descriptor, size, zero=durable)
            header = _HEADER.pack(MAGIC, VERSION, secret, run_id, sequence).ljust(HEADER_BYTES, b"\0")
            disk.write_at(descriptor, header, 0)
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
        """Number of bytes that can still be written."""
        return self.size - self.position

    @property
    def is_empty(self) -> bool:
        """Whether no bytes were written after the header."""
        return self.position == HEADER_BYTES

    def write(self, data: bytes) -> None:
        """Append bytes. Raises OSError. After this error, the segment must not be used again."""
        disk.write_at(self.descriptor, data, self.position)
        self.position += len(data)
        if self._marks_writes:
            self._marks[_MARK_INDEX] = self.position

    def mark(self) -> None:
        """Raise the write mark to the end of the written bytes.

        If the segment is durable, call this method only when all written frames are synced, because on the disk, the
        mark must never be ahead of the data. Otherwise, after a power loss, an incomplete batch of frames would look
        like damage.
        """
        self._marks[_MARK_INDEX] = self.position

    def close(self) -> None:
        """Close the descriptor and the mapping. The file is kept."""
        self._marks.release()
        self._map.close()
        os.close(self.descriptor)


class OldSegment:
    """A segment for reading. Its writer may still be running.

    If the disk cannot read a block, zeros are read instead, so that the frames in other blocks can still be read.
    """

    def __init__(self, run: Path, sequence: int) -> None:
        """Open a segment. Raises JournalDamaged, JournalTooNew, or OSError."""
        self._tries_left = _TRIES
        self.path = segment_path(run, sequence)
        self.sequence = sequence
        self._descriptor = disk.open_to_read(self.path)
        try:
            self.size = os.fstat(self._descriptor).st_size
            header = self.read(0, HEADER_BYTES)
            self.secret = self._read_header(header)
            self._map = mmap.mmap(self._descriptor, HEADER_BYTES, prot=mmap.PROT_READ)
        except BaseException:
            os.close(self._descriptor)
            raise
        self._marks = memoryview(self._map).cast("Q")

    def _read_header(self, header: bytes) -> int:
        if len(header) < HEADER_BYTES or not header.startswith(MAGIC):
            raise JournalDamaged(f"{self.path} is not a journal segment: it does not start with {MAGIC!r}.")
        _, version, secret, _, _ = _HEADER.unpack_from(header)
        if version > VERSION:
            raise JournalTooNew(
                f"{self.path} was written by a newer version of Relaybook (journal format {version}, this version "
                f"reads {VERSION}). Start that version, or a newer version, with this data directory."
            )
        return int(secret)

    @property
    def was_created_again(self) -> bool:
        """Whether the path of the segment now names another file than the one that is open.

        If the creation of a segment fails, for example because a sync fails, the writer deletes the file and creates it
        again. A reader may have opened the first file.
        """
        status = os.fstat(self._descriptor)
        return disk.identity(self.path) not in (None, (status.st_dev, status.st_ino))

    @property
    def mark(self) -> int:
        """The offset up to which the file is written, at most the size of the file."""
        return min(self._marks[_MARK_INDEX], self.size)

    def read(self, start: int, end: int) -> bytes:
        """Return the bytes between two offsets, or fewer bytes if the file ends before ``end``. Raises OSError."""
        parts: list[bytes] = []
        while start < end and (part := self._read_part(start, end)):
            parts.append(part)
            start += len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _read_part(self, start: int, end: int) -> bytes:
        """Return at least one byte from ``start``, or no bytes at the end of the file."""
        while True:
            try:
                return os.pread(self._descriptor, end - start, start)
            except OSError as error:
                if not disk.is_damaged(error):
                    raise
            if self._tries_left == 0:
                return bytes(min(_BLOCK_BYTES - start % _BLOCK_BYTES, end - start))
            self._tries_left -= 1
            time.sleep(_PAUSE_SECONDS)

    def close(self) -> None:
        """Close the descriptor and the mapping."""
        self._marks.release()
        self._map.close()
        os.close(self._descriptor)
