"""Day packs: append-only files of zstd frames, one series per day of recording (UTC).

A pack's number is its date and its place in the day, as digits: ``2026112100001`` is ``2026-11-21-01.pack``.

Bytes count only once a transaction stores the pack's new length; an opening writer cuts every pack back to its stored
length. A pack is entered in the database before its file is made, and files the database does not know are left alone:
they belong to a database that was moved away. Ageing bodies out is an unlink, erasing one is a hole.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Final, cast

import zstandard

from relaybook import clock
from relaybook.log.store.errors import BodyDamaged, SyncFailed
from relaybook.log.store.port import Extent
from relaybook.log.store.sqlite import disk
from relaybook.log.store.sqlite.failures import translated

#: A pack that has reached this size is followed by the next of its day.
FULL: Final = 1 << 30
_PER_DAY: Final = 100_000
_READ: Final = 128 * 1024

#: The ends of all packs, and those of them that no transaction has stored yet.
Mark = tuple[dict[int, int], dict[int, int]]


def pack_name(number: int) -> str:
    """``2026112100001`` → ``2026-11-21-01.pack``."""
    day, place = divmod(number, _PER_DAY)
    return f"{day // 10_000:04}-{day // 100 % 100:02}-{day % 100:02}-{place:02}.pack"


def pack_number(name: str) -> int | None:
    """The number of a pack's file, None for the name of any other file."""
    parts = name.removesuffix(".pack").split("-")
    if len(parts) != 4 or not all(part.isdecimal() and part.isascii() for part in parts):
        return None
    number = int("".join(parts[:3])) * _PER_DAY + int(parts[3])
    return number if pack_name(number) == name else None


def first_pack_of_day(at_us: int) -> int:
    day = datetime.fromtimestamp(at_us // 1_000_000, UTC)
    return (day.year * 10_000 + day.month * 100 + day.day) * _PER_DAY + 1


class PackWriter:
    """Appends to the pack of the day. One writer per directory; the caller stores ``lengths`` in its transaction."""

    def __init__(
        self,
        directory: Path,
        committed: Mapping[int, int],
        enter: Callable[[int], object],
        *,
        is_power_safe: bool,
        full: int = FULL,
    ) -> None:
        """``committed`` are the stored lengths; ``enter`` stores the number of a new pack, in a transaction."""
        self._directory = directory
        self._enter = enter
        self._is_power_safe = is_power_safe
        self._full = full
        self._fd = -1
        self._pack = 0
        self._ends = dict(committed)
        #: Lengths that no committed transaction has stored yet.
        self.lengths: dict[int, int] = {}
        disk.make_directory(directory)
        self._cut_back()

    def _cut_back(self) -> None:
        for number, length in self._ends.items():
            path = self._directory / pack_name(number)
            if path.exists() and path.stat().st_size > length:
                os.truncate(path, length)

    def open_pack_of_day(self) -> None:
        """Turns to the pack that is right now. Only outside of transactions; ``append`` stays in its pack."""
        wanted = self._pack_of_day()
        if wanted == self._pack:
            return
        if self._is_power_safe:
            self.sync()
        self.close()
        self._enter(wanted)
        self._fd = disk.open_file(self._directory / pack_name(wanted))
        self._pack = wanted
        self._ends.setdefault(wanted, 0)
        if self._is_power_safe:
            disk.sync_directory(self._directory)

    def _pack_of_day(self) -> int:
        first = first_pack_of_day(clock.wall_us())
        wanted = max((pack for pack in self._ends if first <= pack < first + _PER_DAY - 1), default=first)
        while self._is_full(wanted):
            wanted += 1
        return wanted

    def _is_full(self, pack: int) -> bool:
        if pack in self._ends:
            return self._ends[pack] >= self._full
        return (self._directory / pack_name(pack)).exists()

    def append(self, data: bytes) -> tuple[int, int]:
        """Writes at the end of the pack; gives its number and the offset where the data begins."""
        offset = self._ends[self._pack]
        disk.write_at(self._fd, data, offset)
        self._ends[self._pack] = self.lengths[self._pack] = offset + len(data)
        return self._pack, offset

    def append_piece(self, data: bytes, compressor: zstandard.ZstdCompressor) -> Extent:
        """Compresses and appends body bytes as a frame of their own."""
        frame = compressor.compress(data)
        pack, offset = self.append(frame)
        return Extent(pack, offset, len(frame), len(data))

    def sync(self) -> None:
        """Everything appended is on stable storage afterwards. An older pack was synced when it was left.

        Raises SyncFailed: a second sync of the same descriptor would succeed without what the first has dropped.
        """
        if self.lengths and self._fd >= 0:
            try:
                disk.sync(self._fd)
            except OSError as error:
                raise SyncFailed(f"{self._directory / pack_name(self._pack)} cannot be synced: {error}") from error

    def mark(self) -> Mark:
        """A state to go back to, should the transaction fail."""
        return dict(self._ends), dict(self.lengths)

    def back_to(self, mark: Mark) -> None:
        """What was appended since the mark is written over by what comes next."""
        self._ends, self.lengths = dict(mark[0]), dict(mark[1])

    def committed(self) -> None:
        """The transaction that stored ``lengths`` has ended well."""
        self.lengths.clear()

    def erase(self, pack: int, offset: int, length: int) -> None:
        """Overwrites bytes with zeros, gives their blocks back where the system can, and syncs. Idempotent."""
        try:
            fd = os.open(self._directory / pack_name(pack), os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            return
        try:
            length = min(length, os.fstat(fd).st_size - offset)
            if length > 0:
                disk.overwrite(fd, offset, length)
        finally:
            os.close(fd)

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
        self._fd, self._pack = -1, 0


def read_extent(directory: Path, extent: Extent) -> Iterator[bytes]:
    """The bytes of an extent as they were, in pieces of at most 128 KiB. Raises BodyDamaged for anything else."""
    path = directory / pack_name(extent.pack)
    left = extent.raw_length
    with translated(path):
        try:
            fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError as error:
            raise BodyDamaged(f"{path} is gone: restore a copy of it.") from error
        try:
            source = cast(IO[bytes], _Range(fd, extent.offset, extent.length))
            for piece in zstandard.ZstdDecompressor().read_to_iter(source, read_size=_READ, write_size=_READ):
                left -= len(piece)
                yield piece
        except zstandard.ZstdError as error:
            raise BodyDamaged(f"{path} is damaged at byte {extent.offset} ({error}): restore a copy of it.") from error
        finally:
            os.close(fd)
    if left != 0:
        raise BodyDamaged(f"{path} is damaged at byte {extent.offset} (it ends too early): restore a copy of it.")


class _Range:
    """The part of a file that zstandard may read."""

    def __init__(self, fd: int, offset: int, length: int) -> None:
        self._fd = fd
        self._at = offset
        self._end = offset + length

    def read(self, size: int, *_: Any) -> bytes:
        data = os.pread(self._fd, min(size, self._end - self._at), self._at)
        self._at += len(data)
        return data
