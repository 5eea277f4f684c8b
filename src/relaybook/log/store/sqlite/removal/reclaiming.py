"""Erase removed body frames and texts, and free disk space and database pages.

The tables ``removed_frames`` and ``removed_texts`` list the remaining work. A step does the work that some rows list,
and then deletes these rows. Every step can be repeated, so a crash before the rows are deleted does no harm. If a
removed frame is still needed as a base, the frames that need it are first replaced (see rebasing.py). If all records of
a pack are removed or expired, the whole pack is deleted.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import apsw

from relaybook import clock
from relaybook.log.store.files import DATABASE
from relaybook.log.store.sqlite.index.text_index import FILE, SqliteTextIndex
from relaybook.log.store.sqlite.packs.pack_writer import PackWriter, first_pack_of_day
from relaybook.log.store.sqlite.removal.rebasing import Rebaser
from relaybook.system import disk

_EMPTY_PACK: Final = "SELECT pack FROM packs WHERE records = 0 AND pack < ? LIMIT 1"
_FORGET_FRAMES: Final = "DELETE FROM removed_frames WHERE pack = ?"
_FORGET_BASES: Final = "DELETE FROM bases_of_bases WHERE pack = ?"
_FORGET_BASES_IN: Final = 'DELETE FROM bases_of_bases WHERE pack = ? AND "offset" BETWEEN ? AND ? - 1'
_FORGET_PACK: Final = "DELETE FROM packs WHERE pack = ?"
_FRAMES: Final = 'SELECT pack, "offset", length FROM removed_frames ORDER BY pack, "offset" LIMIT 256'
_FORGET_FRAME: Final = 'DELETE FROM removed_frames WHERE pack = ? AND "offset" = ?'
_TEXTS: Final = "SELECT first, last FROM removed_texts ORDER BY first LIMIT 64"
_FORGET_TEXTS: Final = "DELETE FROM removed_texts WHERE first = ?"
_SHORTEN_TEXTS: Final = "UPDATE removed_texts SET first = ? WHERE first = ?"
_OLDEST_CHECKPOINT: Final = "SELECT min(exchange) FROM checkpoints"
#: Limits of one step: erased bytes of frames, removed texts, and freed database pages.
_ERASED_BYTES: Final = 4 << 20
_REMOVED_TEXTS: Final = 256
_VACUUMED_PAGES: Final = 128
#: SQLite reuses free pages. If more than a sixteenth of all pages is free, free pages are returned to the file system.
_FREE_SHARE: Final = 16
_MIN_FREE_PAGES: Final = 128


class Reclaimer:
    """Erases the frames and texts of removed requests, and frees space.

    The object works on the writer's connection and between the writer's transactions.
    """

    def __init__(self, connection: apsw.Connection, packs: PackWriter, rebaser: Rebaser, directory: Path) -> None:
        self._connection = connection
        self._packs = packs
        self._rebaser = rebaser
        self._directory = directory
        #: Whether texts were removed since the last compaction of the text index.
        self._has_removed_texts = False

    def work(self, until_ns: int) -> bool:
        """Erase data and free space until ``until_ns`` (monotonic clock). Returns False if there was nothing to do."""
        did_work = False
        while clock.monotonic_ns() < until_ns and (
            self._rebaser.step()
            or self._delete_pack()
            or self._erase_frames()
            or self._remove_texts()
            or self._compact_texts()
            or self._vacuum()
        ):
            did_work = True
        return did_work

    def _delete_pack(self) -> bool:
        """Delete a pack that no record and no running request needs. Returns False if there is no such pack."""
        pack: int | None = self._connection.execute(_EMPTY_PACK, (self._first_needed_pack(),)).get
        if pack is None or pack in self._packs.lengths:  # the bytes of a running request are not committed yet
            return False
        self._sync_log()
        self._packs.delete(pack)
        with self._connection:
            self._connection.execute(_FORGET_FRAMES, (pack,))
            self._connection.execute(_FORGET_BASES, (pack,))
            self._connection.execute(_FORGET_PACK, (pack,))
        return True

    def _first_needed_pack(self) -> int:
        """Return the first pack that new or running requests may need. Earlier packs without records can be deleted.

        The result is the first pack of today, or of the day on which the oldest unfinished exchange with a checkpoint
        began, if that day is earlier. The first 48 bits of an exchange's id are its start in milliseconds since the
        epoch.
        """
        began = self._connection.execute(_OLDEST_CHECKPOINT).get
        today = first_pack_of_day(clock.wall_us())
        return today if began is None else min(today, first_pack_of_day(int.from_bytes(began[:6], "big") * 1000))

    def _erase_frames(self) -> bool:
        frames = list(self._connection.execute(_FRAMES))
        if not frames:
            return False
        pack, size = frames[0][0], 0
        ranges: list[tuple[int, int]] = []
        for number, offset, length in frames:
            if number != pack or (ranges and size + length > _ERASED_BYTES):
                break
            size += length
            ranges.append((offset, length))
        self._sync_log()
        self._packs.erase(pack, ranges)
        with self._connection:
            self._connection.executemany(_FORGET_FRAME, ((pack, offset) for offset, _ in ranges))
            self._connection.executemany(_FORGET_BASES_IN, ((pack, start, start + size) for start, size in ranges))
        return True

    def _sync_log(self) -> None:
        """Sync what the log needs after bytes are erased: moved frames, and the transactions that moved them.

        Without this, a power failure could bring back rows that refer to erased bytes.
        """
        self._packs.sync_open_pack()
        _sync_wal(self._directory / DATABASE)

    def _remove_texts(self) -> bool:
        ranges = list(self._connection.execute(_TEXTS))
        if not ranges:
            return False
        removed = _first_texts(ranges, _REMOVED_TEXTS)
        with self._text_index() as index:
            if index is not None:
                index.remove(removed)
                _sync_wal(self._directory / FILE)  # before the log forgets that the texts must be removed
                self._has_removed_texts = True
        first, until = removed[-1]
        is_shortened = until < ranges[len(removed) - 1][1]
        with self._connection:
            finished = removed[:-1] if is_shortened else removed
            self._connection.executemany(_FORGET_TEXTS, ((each,) for each, _ in finished))
            if is_shortened:
                self._connection.execute(_SHORTEN_TEXTS, (until + 1, first))
        return True

    def _compact_texts(self) -> bool:
        if not self._has_removed_texts:
            return False
        with self._text_index() as index:
            self._has_removed_texts = index is not None and index.compact()
        return self._has_removed_texts

    @contextmanager
    def _text_index(self) -> Iterator[SqliteTextIndex | None]:
        """Open the text index for one step, or yield `None` if there is no index.

        The index is opened for each step, because the recorder's text pass may replace the file.
        """
        index = SqliteTextIndex(self._directory) if (self._directory / FILE).exists() else None
        try:
            yield index
        finally:
            if index is not None:
                index.close()

    def _vacuum(self) -> bool:
        free: int = self._connection.pragma("freelist_count")
        if free <= max(_MIN_FREE_PAGES, self._connection.pragma("page_count") // _FREE_SHARE):
            return False
        self._connection.execute(f"PRAGMA incremental_vacuum({_VACUUMED_PAGES})").fetchall()
        return True


def _sync_wal(database: Path) -> None:
    """Sync the write-ahead log of a database."""
    try:
        descriptor = os.open(f"{database}-wal", os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return  # SQLite has synced the database and deleted the write-ahead log
    try:
        disk.sync(descriptor)
    finally:
        os.close(descriptor)


def _first_texts(ranges: Sequence[tuple[int, int]], limit: int) -> list[tuple[int, int]]:
    """Return the first ``limit`` texts of ``ranges``, as ranges. The last range may be shortened.

    A range has the ``seq`` of its first and of its last text.
    """
    result: list[tuple[int, int]] = []
    for first, last in ranges:
        if limit == 0:
            break
        result.append((first, min(last, first + limit - 1)))
        limit -= result[-1][1] - first + 1
    return result
