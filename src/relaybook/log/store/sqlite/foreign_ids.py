"""Finds records by the ids of others: hashes in parts by order of recording, old parts merged into larger ones.

A part takes the hashes of 16,384 records, so that inserts of random hashes touch few pages; a search asks every part.
So four full parts are merged into one of the next level, and four of those again, a slice of hashes at a time, when the
recorder has time: at ten million records a search asks 5 to 15 parts and not 610, each of which is a read from the disk
when nothing is in memory. (Merged by sixteen they are 10 to 40, and a record costs 5 µs less.)

Parts of one level count from 0, the oldest. In the table level 0 has the numbers 0, 1, …, level 2 has -1, -2, …, level
4 the next below -2**40, and so on: logs that were merged by sixteen have just these. Far below come levels 1, 3, ….
"""

from collections.abc import Iterator
from hashlib import blake2b
from itertools import count
from typing import Final, NamedTuple

import apsw

from relaybook import clock
from relaybook.log.record import Record
from relaybook.log.store.sqlite.pages import last_seq, load
from relaybook.log.store.sqlite.schema import PART

_MERGED: Final = 4
#: More than a log can have of one level: its 16,384 records each were 2**54 requests.
_LEVEL: Final = 2**40
#: Where the odd levels begin, counted in levels.
_ODD: Final = 1000
#: A group of level 0 is merged in so many transactions of about 12,000 rows; one of the next level in four times it.
_SLICES: Final = 16
_COPY: Final = (
    "INSERT OR IGNORE INTO lookups SELECT :merged, hash, seq FROM lookups"
    " WHERE part = :part AND hash BETWEEN :low AND :high"
)
_FIRST_HASH: Final = "SELECT hash FROM lookups WHERE part = ? ORDER BY hash LIMIT 1"
_DROP: Final = "DELETE FROM lookups WHERE part = :part AND hash BETWEEN :low AND :high"


def foreign_id_hash(foreign_id: str) -> int:
    """64 bits of a hash nobody can find collisions of by the thousand: callers choose some of these ids."""
    return int.from_bytes(blake2b(foreign_id.encode(), digest_size=8).digest(), "big", signed=True)


def find(connection: apsw.Connection, foreign_id: str, limit: int) -> Iterator[Record]:
    """Records that carry the id, the latest recorded first: about 3 µs a part.

    All parts are asked in one statement: one for each would give up the interpreter and take it again each time.
    """
    hashed, parts = foreign_id_hash(foreign_id), list(_parts(connection))
    if not parts:
        return
    places = ",".join(["(?)"] * len(parts))
    asked = (
        f"SELECT column1 FROM (VALUES {places}) "  # noqa: S608 - question marks
        "WHERE EXISTS (SELECT 1 FROM lookups WHERE part = column1 AND hash = ?)"
    )
    found = 0
    for (part,) in connection.execute(asked, (*parts, hashed)):
        sql = "SELECT seq FROM lookups WHERE part = ? AND hash = ? ORDER BY seq DESC"
        seqs: list[int] = [seq for (seq,) in connection.execute(sql, (part, hashed))]
        for record in load(connection, seqs):
            if foreign_id in (record.provider_request_id, record.completion_id, record.client_request_id):
                yield record
                found += 1
            if found == limit:
                return


def _parts(connection: apsw.Connection) -> Iterator[int]:
    """The newest first. Where a group is being merged, its parts come before the merged one."""
    newest = last_seq(connection) // PART
    for level in count():
        oldest = _oldest(connection, level)
        if oldest is not None:
            yield from (_number(level, place) for place in range(newest, oldest - 1, -1))
        if newest < _MERGED:
            return
        newest = (newest if oldest is None else oldest) // _MERGED


def _number(level: int, place: int) -> int:
    """What the table calls the part."""
    if level == 0:
        return place
    half, is_odd = divmod(level, 2)
    return -1 - place - (_ODD + half if is_odd else half - 1) * _LEVEL


def _oldest(connection: apsw.Connection, level: int) -> int | None:
    """The place of the oldest part of a level that is not merged into the next one, or not wholly."""
    number: int | None
    if level == 0:
        number = connection.execute("SELECT min(part) FROM lookups WHERE part >= 0").get
        return number
    bounds = (_number(level, _LEVEL - 1), _number(level, 0))
    number = connection.execute("SELECT max(part) FROM lookups WHERE part BETWEEN ? AND ?", bounds).get
    return None if number is None else _number(level, 0) - number


class _Group(NamedTuple):
    """Full parts of a level. Merged, they are the part of the next level that has the group's place."""

    level: int
    place: int

    @property
    def slices(self) -> int:
        """In how many slices it is merged."""
        slices: int = _SLICES * _MERGED**self.level
        return slices

    def parts(self) -> list[int]:
        first = self.place * _MERGED
        return [_number(self.level, place) for place in range(first, first + _MERGED)]

    def merged(self) -> int:
        return _number(self.level + 1, self.place)


class ForeignIdMerger:
    """Merges full parts, on the writer's connection, between its transactions."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        #: What is being merged, and its next slice.
        self._group: _Group | None = None
        self._slice = 0

    def work(self, until_ns: int) -> bool:
        """Merges until a moment of the monotonic clock. False: no group is full."""
        worked = False
        while clock.monotonic_ns() < until_ns:
            if self._group is None and not self._begin():
                break
            self._merge_slice()
            worked = True
        return worked

    def _begin(self) -> bool:
        """Turns to the lowest level's oldest full group."""
        full, level = last_seq(self._connection) // PART, 0
        while full >= _MERGED:
            oldest = _oldest(self._connection, level)
            if oldest is not None and (oldest // _MERGED + 1) * _MERGED <= full:
                self._group = _Group(level, oldest // _MERGED)
                self._slice = self._first_slice(self._group)
                return True
            full, level = (full if oldest is None else oldest) // _MERGED, level + 1
        return False

    def _first_slice(self, group: _Group) -> int:
        """A death may have come in the middle of it."""
        hashes: list[int | None] = [self._connection.execute(_FIRST_HASH, (part,)).get for part in group.parts()]
        return (min(each for each in hashes if each is not None) + 2**63) * group.slices // 2**64

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
