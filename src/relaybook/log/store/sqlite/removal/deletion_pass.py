"""Carry out deletions on the writer's connection.

A deletion first removes its requests from the log in small transactions. The deletion is done when the bytes of the
requests are erased from the packs, the text index, the WALs and the journal. ``reclaiming.py`` erases the
bytes from the packs and the text index.
"""

from pathlib import Path
from typing import Final

import apsw
import msgspec

from relaybook import clock
from relaybook.log.deletions import without_values
from relaybook.log.query.filters import Filter
from relaybook.log.store.sqlite.connection import committing, truncate_wal
from relaybook.log.store.sqlite.index.rollups import RollupTables
from relaybook.log.store.sqlite.index.text_index import FILE, SqliteTextIndex
from relaybook.log.store.sqlite.packs.bases import Bases
from relaybook.log.store.sqlite.removal.deletions import decode_filter, encode
from relaybook.log.store.sqlite.removal.remover import Remover
from relaybook.log.store.sqlite.search.slices import SliceSearch

_UNFINISHED: Final = """
SELECT rowid, state, filter, position, up_to, segments FROM deletions WHERE state <> 'done'
ORDER BY state DESC, rowid
"""
_ERASING: Final = "SELECT rowid FROM deletions WHERE state = 'erasing'"
_ADVANCE: Final = "UPDATE deletions SET position = ?, removed = removed + ? WHERE rowid = ?"
#: Removes values from the deletion's stored filter, and sets the state "erasing". The values are removed before the
#: WALs are truncated, so that no WAL still contains them.
_REMOVED: Final = "UPDATE deletions SET state = 'erasing', filter = ?, segments = ?, removed_at = ? WHERE rowid = ?"
_DONE: Final = "UPDATE deletions SET state = 'done', segments = NULL, done_at = ? WHERE rowid = ?"
_IS_ERASING: Final = "SELECT EXISTS (SELECT 1 FROM removed_frames) OR EXISTS (SELECT 1 FROM removed_texts)"
#: For each run, selects the last segment that can have frames of recorded requests, and the first segment that the
#: recorder still needs. The recorder deletes all earlier segments.
_SEGMENTS: Final = "SELECT run, read_segment - is_segment_start, replay_segment FROM positions"
#: Records per transaction.
_SLICE: Final = 128
_LOOK_EVERY_NS: Final = 200_000_000


class DeletionPass:
    """Carries out deletions.

    A deletion first removes its requests, and then erases their bytes. Deletions that still have requests to remove
    come first, then deletions that have bytes to erase. In each of these two groups, older deletions come first.
    """

    def __init__(
        self, connection: apsw.Connection, rollups: RollupTables, bases: Bases, directory: Path, busy_s: float
    ) -> None:
        self._connection = connection
        self._rollups = rollups
        self._remover = Remover(connection, bases, keeps_labels=False)
        self._directory = directory
        self._busy_s = busy_s
        self._search = SliceSearch(connection, directory)
        self._looked_ns = 0
        #: Deletions whose last step failed. They are tried after all other deletions.
        self._failed: set[int] = set()
        #: Deletions for which the text index was compacted, and deletions for which it is being compacted.
        self._compacted: set[int] = set()
        self._compacting: set[int] = set()

    def work(self, until_ns: int) -> int:
        """Carry out deletions until ``until_ns`` (monotonic clock). Returns the number of requests removed."""
        now = clock.monotonic_ns()
        if now - self._looked_ns < _LOOK_EVERY_NS:
            return 0
        removed = 0
        while clock.monotonic_ns() < until_ns:
            step = self._step()
            if step is None:
                self._looked_ns = now
                break
            removed += step
        return removed

    def _step(self) -> int | None:
        """Do one step of the first deletion that can proceed.

        Returns the number of requests removed, or `None` if no deletion can proceed.
        """
        unfinished = list(self._connection.execute(_UNFINISHED))
        for row in sorted(unfinished, key=lambda row: row[0] in self._failed):
            self._failed.add(row[0])
            removed = self._advance(*row)
            self._failed.discard(row[0])
            if removed is not None:
                return removed
        return None

    def _advance(
        self, number: int, state: str, filter_: str, position: int, up_to: int, segments: str | None
    ) -> int | None:
        """Do one step of a deletion. Returns the number of requests removed, or `None` if the deletion has to wait."""
        if state == "removing":
            return self._remove(number, decode_filter(filter_), position, up_to)
        return 0 if self._erase(number, segments or "{}") else None

    def _remove(self, number: int, filter_: Filter, position: int, up_to: int) -> int | None:
        """Remove at most ``_SLICE`` of the deletion's remaining requests.

        Returns the number of requests removed. Returns `None` if the filter searches text, but the text index does not
        contain all requests yet.
        """
        found = self._search.next(filter_, position, up_to, _SLICE)
        if found is None:
            return None
        with committing(self._connection):
            records = self._remover.remove(found.seqs)
            self._rollups.subtract(records)
            self._connection.execute(_ADVANCE, (found.reached, len(records), number))
            if found.reached >= up_to:
                segments = {run: read for run, read, _ in self._connection.execute(_SEGMENTS)}
                remembered = encode(without_values(filter_)).decode()
                self._connection.execute(_REMOVED, (remembered, encode(segments).decode(), clock.wall_us(), number))
        return len(records)

    def _erase(self, number: int, segments: str) -> bool:
        """Do the next step of erasing the bytes of removed requests. Returns False if the deletion has to wait.

        The deletion waits until ``reclaiming.py`` has erased the frames and texts of all removed requests, until no
        reader uses the WALs, and until the journal segments that may have frames of removed requests are deleted.
        ``segments`` has the last such segment of each run.
        """
        if self._connection.execute(_IS_ERASING).get:
            return False
        if number not in self._compacted:
            return self._compact()
        if not self._are_read(msgspec.json.decode(segments, type=dict[str, int])):
            return False
        self._connection.execute(_DONE, (clock.wall_us(), number))
        return True

    def _compact(self) -> bool:
        """Rewrite the next part of the text index, so that the index keeps no bytes of removed texts.

        The index is rewritten once for all deletions that are in the state "erasing" at the start. After the last part,
        the WALs of the index and of the database are truncated. Returns False if a reader prevents the truncation of a
        WAL.
        """
        is_first = not self._compacting
        if is_first:
            self._compacting = {number for (number,) in self._connection.execute(_ERASING)}
        if (self._directory / FILE).exists():
            index = SqliteTextIndex(self._directory)
            try:
                if index.compact_all(is_first=is_first):
                    return True
                if not index.truncate_wal():
                    return False
            finally:
                index.close()
        if not truncate_wal(self._connection, self._busy_s):
            return False
        self._compacted |= self._compacting
        self._compacting = set()
        return True

    def _are_read(self, segments: dict[str, int]) -> bool:
        """Return whether the recorder no longer needs these journal segments and all earlier segments of the same runs.

        ``segments`` has the number of one segment per run. The recorder deletes segments that it no longer needs.
        """
        return all(replay > segments[run] for run, _, replay in self._connection.execute(_SEGMENTS) if run in segments)

    def close(self) -> None:
        self._search.close()
