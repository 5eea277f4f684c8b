"""Find records by foreign ids.

The index contains hashes of the ids, and is partitioned by ``seq``. New hashes are inserted into the newest part of
level 0. A part of level 0 is small (16,384 records), so inserts of random hashes touch few pages. With three million
records, an insert takes 4 µs per record. In one index without parts, it would take 65 µs, which is as long as the rest
of a commit.

A lookup searches every part. To keep the number of parts small, the recorder merges parts when it is idle. Four full
parts of a level become one part of the next level. Each transaction merges one slice of the hash range. With ten
million records, a lookup searches 5 to 15 parts, instead of 610 without merging. If nothing is cached, each part costs
a disk read. If 16 parts were merged instead of four, a lookup would search 10 to 40 parts, and merging would take 5 µs
less per record.

The parts of a level have positions from 0, starting with the oldest part. In the table, a part's number is its position
plus 2**40 times its level.
"""

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from itertools import count
from typing import Final, NamedTuple

import apsw

from relaybook import clock
from relaybook.log.record import Record
from relaybook.log.store.sqlite.schema import PART
from relaybook.log.store.sqlite.search.pages import last_seq, load

_MERGE_FACTOR: Final = 4
#: Upper bound on the number of parts in one level. Level 0 reaches this number only after 2**54 requests.
_PARTS_PER_LEVEL: Final = 2**40
#: Number of transactions that merge a group of four parts of level 0. Each transaction merges about 12,000 rows. Each
#: higher level needs four times as many transactions as the level below.
_SLICES: Final = 16
_COPY: Final = (
    "INSERT OR IGNORE INTO foreign_ids SELECT :merged, hash, seq FROM foreign_ids"
    " WHERE part = :part AND hash BETWEEN :low AND :high"
)
_OLDEST: Final = "SELECT min(part) FROM foreign_ids WHERE part BETWEEN ? AND ?"
_FIRST_HASH: Final = "SELECT hash FROM foreign_ids WHERE part = ? ORDER BY hash LIMIT 1"
_REMOVE: Final = "DELETE FROM foreign_ids WHERE part = ? AND hash = ? AND seq = ?"
_DROP: Final = "DELETE FROM foreign_ids WHERE part = :part AND hash BETWEEN :low AND :high"


def foreign_id_hash(foreign_id: str) -> int:
    """Return a 64-bit hash of a foreign id.

    Collisions must be hard to produce in bulk, because clients choose some of these ids.
    """
    return int.from_bytes(blake2b(foreign_id.encode(), digest_size=8).digest(), "big", signed=True)


def find(connection: apsw.Connection, foreign_id: str, limit: int) -> Iterator[Record]:
    """Yield records with this foreign id, newest first. The search costs about 3 µs per part of the index.

    One statement searches all parts, because each additional statement would release and reacquire the GIL. Records are
    read one by one, because a client can send the same id with all its requests.
    """
    hash_, parts = foreign_id_hash(foreign_id), list(_parts(connection))
    if not parts:
        return
    placeholders = ",".join(["(?)"] * len(parts))
    parts_sql = (
        f"SELECT column1 FROM (VALUES {placeholders}) "  # noqa: S608 - question marks
        "WHERE EXISTS (SELECT 1 FROM foreign_ids WHERE part = column1 AND hash = ?)"
    )
    found = 0
    for (part,) in connection.execute(parts_sql, (*parts, hash_)):
        sql = "SELECT seq FROM foreign_ids WHERE part = ? AND hash = ? ORDER BY seq DESC"
        for (seq,) in connection.execute(sql, (part, hash_)):
            record = next(iter(load(connection, [seq])), None)  # a damaged index can name a row that does not exist
            if record is not None and foreign_id in record.foreign_ids:
                yield record
                found += 1
            if found == limit:
                return


def hashes_of(record: Record) -> list[int]:
    """Return the hashes of the record's foreign ids."""
    return [foreign_id_hash(foreign_id) for foreign_id in record.foreign_ids]


def remove_foreign_ids(connection: apsw.Connection, records: Iterable[Record]) -> None:
    """Remove the foreign ids of removed records, within the caller's transaction."""
    newest = last_seq(connection) // PART
    keys = [
        (part, hash_, record.seq)
        for record in records
        for hash_ in hashes_of(record)
        for part in _parts_of(record.seq or 0, newest)
    ]
    connection.executemany(_REMOVE, sorted(keys))


def _parts_of(seq: int, newest: int) -> Iterator[int]:
    """Yield the numbers of the index parts that can hold the foreign ids of a record: one part per level.

    ``newest`` is the position of the newest part in level 0.
    """
    position, level = seq // PART, 0
    yield _number(0, position)
    while newest >= _MERGE_FACTOR:
        position, newest, level = position // _MERGE_FACTOR, newest // _MERGE_FACTOR, level + 1
        yield _number(level, position)


def part_of(connection: apsw.Connection, seq: int) -> int:
    """Return the number of the part that has the foreign ids of a record, or would have them.

    A part that was merged must not get new rows: ``_parts`` would then not search the parts of higher levels.
    """
    newest, position, level = last_seq(connection) // PART, seq // PART, 0
    while True:
        oldest = _oldest(connection, level)
        first = newest if oldest is None else oldest
        if position >= first or newest < _MERGE_FACTOR:
            return _number(level, position)
        position, newest, level = position // _MERGE_FACTOR, first // _MERGE_FACTOR, level + 1


def _parts(connection: apsw.Connection) -> Iterator[int]:
    """Yield the numbers of all parts of the index, newest first.

    Parts that are being merged are yielded before the part that they are merged into.
    """
    newest = last_seq(connection) // PART
    for level in count():
        oldest = _oldest(connection, level)
        if oldest is not None:
            yield from (_number(level, position) for position in range(newest, oldest - 1, -1))
        if newest < _MERGE_FACTOR:
            return
        newest = (newest if oldest is None else oldest) // _MERGE_FACTOR


def _number(level: int, position: int) -> int:
    """Return the number that the part at this level and position has in the table."""
    return level * _PARTS_PER_LEVEL + position


def _oldest(connection: apsw.Connection, level: int) -> int | None:
    """Return the position of the oldest part of this level that still has rows, or `None` if no part has rows.

    Every older part of the level is empty: its rows are in the next level, or its records were removed.
    """
    first = _number(level, 0)
    number: int | None = connection.execute(_OLDEST, (first, first + _PARTS_PER_LEVEL - 1)).get
    return None if number is None else number - first


class _Group(NamedTuple):
    """Full parts of one level that are merged into one part of the next level.

    ``level`` is the level of the full parts. ``position`` is the position of the merged part in the next level.
    """

    level: int
    position: int

    @property
    def slices(self) -> int:
        """The number of slices of the hash range. Each slice is merged in one transaction."""
        slices: int = _SLICES * _MERGE_FACTOR**self.level
        return slices

    def parts(self) -> list[int]:
        first = self.position * _MERGE_FACTOR
        return [_number(self.level, position) for position in range(first, first + _MERGE_FACTOR)]

    def merged(self) -> int:
        return _number(self.level + 1, self.position)


class ForeignIdMerger:
    """Merges full parts of the index, on the writer's connection and between the writer's transactions."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        #: The group that is being merged, and the next slice of the group.
        self._group: _Group | None = None
        self._slice = 0

    def work(self, until_ns: int) -> bool:
        """Merge parts until ``until_ns`` (monotonic clock).

        Returns False if there was no group of full parts.
        """
        did_work = False
        while clock.monotonic_ns() < until_ns:
            if self._group is None and not self._select_group():
                break
            self._merge_slice()
            did_work = True
        return did_work

    def _select_group(self) -> bool:
        """Select the oldest group of full parts, on the lowest level that has one. Returns False if there is none."""
        full, level = last_seq(self._connection) // PART, 0
        while full >= _MERGE_FACTOR:
            oldest = _oldest(self._connection, level)
            if oldest is not None and (oldest // _MERGE_FACTOR + 1) * _MERGE_FACTOR <= full:
                self._group = _Group(level, oldest // _MERGE_FACTOR)
                self._slice = self._first_slice(self._group)
                return True
            full, level = (full if oldest is None else oldest) // _MERGE_FACTOR, level + 1
        return False

    def _first_slice(self, group: _Group) -> int:
        """Return the slice at which to start or, if a crash interrupted the merge, to continue."""
        hashes: list[int | None] = [self._connection.execute(_FIRST_HASH, (part,)).get for part in group.parts()]
        return (min(first_hash for first_hash in hashes if first_hash is not None) + 2**63) * group.slices // 2**64

    def _merge_slice(self) -> None:
        assert self._group is not None
        width = 2**64 // self._group.slices
        low = self._slice * width - 2**63
        with self._connection:
            for part in self._group.parts():
                bounds = {"merged": self._group.merged(), "part": part, "low": low, "high": low + width - 1}
                self._connection.execute(_COPY, bounds)
                self._connection.execute(_DROP, bounds)
        self._slice += 1
        if self._slice == self._group.slices:
            self._group = None
