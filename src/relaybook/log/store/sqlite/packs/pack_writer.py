"""Read and write packs, which are append-only files of body frames. A body frame is a zstd frame.

Each day of recording (UTC) has its own series of packs. A pack's number is the number of days since 1970 times 10,000,
plus the index within the day. For example, ``207780001`` is the number of ``2026-11-21-01.pack``.

Appended bytes are part of the store only after a transaction has stored the pack's new length. When a writer opens the
directory, it truncates every pack to its stored length. A pack is added to the database before its file is created.
Pack files that are not in the database are left unchanged, because they belong to another database, for example one
that a user moved out of the directory. A pack is deleted when all its records are removed or have expired. Erasing a
body frame punches a hole in the pack.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Final

import zstandard

from relaybook import clock
from relaybook.log.retention import DAY_US
from relaybook.log.store.entry import BodyRef
from relaybook.log.store.errors import BodyDamaged, SyncFailed
from relaybook.log.store.sqlite.failures import translated
from relaybook.system import disk

#: When a pack reaches this size, the next pack of the day is started.
MAX_PACK_BYTES: Final = 1 << 30
_PACKS_PER_DAY: Final = 10_000
_EPOCH: Final = date(1970, 1, 1).toordinal()

#: The result of ``PackWriter.mark``: the lengths of all packs, and of the packs whose length no transaction has stored.
Mark = tuple[dict[int, int], dict[int, int]]


@lru_cache(1024)
def pack_name(number: int) -> str:
    """Return the file name of a pack, for example ``2026-11-21-01.pack`` for ``207780001``."""
    day, index = divmod(number, _PACKS_PER_DAY)
    return f"{date.fromordinal(_EPOCH + day).isoformat()}-{index:02}.pack"


def pack_number(name: str) -> int | None:
    """Return the number of a pack from its file name.

    `None` if the name is not the name of a pack.
    """
    parts = name.removesuffix(".pack").split("-")
    if len(parts) != 4 or not all(part.isdecimal() and part.isascii() for part in parts):
        return None
    try:
        day = date(int(parts[0]), int(parts[1]), int(parts[2])).toordinal() - _EPOCH
        number = day * _PACKS_PER_DAY + int(parts[3])
        return number if pack_name(number) == name else None
    except (ValueError, OverflowError):  # no date
        return None


def first_pack_of_day(at_us: int) -> int:
    return at_us // DAY_US * _PACKS_PER_DAY + 1


def day_of(pack: int) -> int:
    """Return the day of a pack, in days since 1970."""
    return pack // _PACKS_PER_DAY


class PackWriter:
    """Appends to the pack of the day.

    There is one writer per directory. The caller must store ``lengths`` in the transaction that refers to the appended
    data.
    """

    def __init__(
        self,
        directory: Path,
        committed: Mapping[int, int],
        register_pack: Callable[[int], object],
        on_lost: Callable[[], object],
        *,
        is_power_safe: bool,
        max_bytes: int = MAX_PACK_BYTES,
    ) -> None:
        """Open the directory and truncate its packs to their stored lengths.

        ``committed`` has the stored lengths. ``register_pack`` stores the number of a new pack in a transaction.
        ``on_lost`` is called if another program has deleted or replaced the open pack, so that its frames are lost.
        """
        self._directory = directory
        self._register_pack = register_pack
        self._on_lost = on_lost
        self._is_power_safe = is_power_safe
        self._max_bytes = max_bytes
        self._fd = -1
        self._pack = 0
        self._file: tuple[int, int] | None = None
        self._ends = dict(committed)
        #: Lengths of packs, by pack number, that no committed transaction has stored yet.
        self.lengths: dict[int, int] = {}
        disk.make_directory(directory)
        self._truncate_to_lengths()

    def _truncate_to_lengths(self) -> None:
        for number, length in self._ends.items():
            path = self._directory / pack_name(number)
            if path.exists() and path.stat().st_size > length:
                os.truncate(path, length)

    def open_pack_of_day(self) -> None:
        """Switch to the pack of the day, or open it again if another program has deleted or replaced its file.

        Call this method only outside of transactions. ``append`` never switches packs.
        """
        pack = self._pack_of_day()
        is_lost = self._fd >= 0 and disk.identity(self._directory / pack_name(self._pack)) != self._file
        if pack == self._pack and not is_lost:
            return
        if self._is_power_safe:
            self.sync()
        self.close()
        if is_lost:
            disk.make_directory(self._directory)
            self._on_lost()
        self._register_pack(pack)
        path = self._directory / pack_name(pack)
        self._fd = disk.open_file(path)
        self._file = disk.identity(path)
        self._pack = pack
        self._ends.setdefault(pack, 0)
        if self._is_power_safe:
            disk.sync_directory(self._directory)

    def _pack_of_day(self) -> int:
        first = first_pack_of_day(clock.wall_us())
        pack = max((pack for pack in self._ends if first <= pack < first + _PACKS_PER_DAY - 1), default=first)
        while self._is_full(pack):
            pack += 1
        return pack

    def _is_full(self, pack: int) -> bool:
        if pack in self._ends:
            return self._ends[pack] >= self._max_bytes
        return (self._directory / pack_name(pack)).exists()

    def end(self) -> tuple[int, int]:
        """Return the number of the open pack, and the offset at which the next data will be appended."""
        return self._pack, self._ends[self._pack]

    def append(self, data: bytes) -> tuple[int, int]:
        """Append data to the open pack. Returns the pack's number and the offset of the data."""
        pack, offset = self.end()
        disk.write_at(self._fd, data, offset)
        self._ends[pack] = self.lengths[pack] = offset + len(data)
        return pack, offset

    def append_chunk(self, data: bytes, compressor: zstandard.ZstdCompressor) -> BodyRef:
        """Compress body bytes and append them as a separate body frame."""
        frame = compressor.compress(data)
        pack, offset = self.append(frame)
        return BodyRef((pack, offset, len(frame)), len(data))

    def sync(self) -> None:
        """Sync all appended data to stable storage.

        Older packs were synced when they were closed. Raises SyncFailed. Do not repeat a failed sync, because the
        second sync would report success although the first sync dropped data.
        """
        if self.lengths:
            self.sync_open_pack()

    def sync_open_pack(self) -> None:
        """Sync the open pack to stable storage. Raises SyncFailed, as ``sync`` does."""
        if self._fd >= 0:
            try:
                disk.sync(self._fd)
            except OSError as error:
                raise SyncFailed(f"{self._directory / pack_name(self._pack)} cannot be synced: {error}") from error

    def mark(self) -> Mark:
        """Return the lengths of all packs, for ``restore`` if the transaction fails."""
        return dict(self._ends), dict(self.lengths)

    def restore(self, mark: Mark) -> None:
        """Set the lengths of the packs to ``mark``, and remove the bytes after the length of the open pack.

        A deletion does not know these bytes, so it could not erase them.
        """
        self._ends, self.lengths = dict(mark[0]), dict(mark[1])
        if self._fd >= 0:
            with suppress(OSError):  # the next append overwrites them, or the next start removes them
                os.ftruncate(self._fd, self._ends[self._pack])

    def committed(self) -> None:
        """Clear ``lengths``. Call this method after the commit of the transaction that stored the lengths."""
        self.lengths.clear()

    def erase(self, pack: int, ranges: Sequence[tuple[int, int]]) -> None:
        """Overwrite ranges of a pack (offset and length) with zeros, and sync the pack. Idempotent.

        If the system supports it, the blocks of the ranges are freed.
        """
        try:
            fd = os.open(self._directory / pack_name(pack), os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            return
        try:
            end = os.fstat(fd).st_size
            disk.erase(fd, [(offset, min(length, end - offset)) for offset, length in ranges if offset < end])
        finally:
            os.close(fd)

    def delete(self, pack: int) -> None:
        """Delete a pack of an earlier day. Idempotent."""
        (self._directory / pack_name(pack)).unlink(missing_ok=True)
        disk.sync_directory(self._directory)
        self._ends.pop(pack, None)

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
        self._fd, self._pack = -1, 0


def read_body(directory: Path, ref: BodyRef, base: bytes | None = None) -> bytes:
    """Return the original bytes of a body frame. ``base`` is the content of the frame's base, or `None`.

    Raises BodyDamaged if the bytes cannot be restored.
    """
    pack, offset, length = ref.location
    path = f"{directory}/{pack_name(pack)}"
    with translated(Path(path)):
        try:
            fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError as error:
            raise BodyDamaged(f"{path} does not exist. Restore the file from a backup.") from error
        try:
            frame = os.pread(fd, length, offset)
        except OSError as error:
            if not disk.is_damaged(error):
                raise
            raise BodyDamaged(
                f"{path} cannot be read at byte {offset} ({error.strerror}). Test the disk, and restore the file from "
                "a backup."
            ) from error
        finally:
            os.close(fd)
    try:
        parameters = zstandard.get_frame_parameters(frame)
        if not parameters.has_checksum or parameters.content_size != ref.size:
            raise zstandard.ZstdError("unexpected header")  # zstandard itself accepts a frame without a checksum
        return _decompressor(base).decompress(frame, allow_extra_data=False)
    except zstandard.ZstdError as error:
        raise BodyDamaged(f"{path} is damaged at byte {offset} ({error}). Restore the file from a backup.") from error


def _decompressor(base: bytes | None) -> zstandard.ZstdDecompressor:
    if base is None:
        return zstandard.ZstdDecompressor()
    return zstandard.ZstdDecompressor(
        dict_data=zstandard.ZstdCompressionDict(base, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    )
