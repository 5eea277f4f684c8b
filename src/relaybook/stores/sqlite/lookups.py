"""Finds records by the ids of others: hashes in parts by order of recording, old parts merged into larger ones.

A part takes the hashes of 16,384 records, so that inserts of random hashes touch few pages; a search asks every part.
Sixteen full parts are merged into one, a slice of hashes at a time, when the recorder has time: at ten million records
a search asks 54 parts and not 610. A merged part has a negative number: group ``g`` of sixteen is ``-1 - g``.
"""

from collections.abc import Iterator
from hashlib import blake2b
from typing import Final

import apsw

from relaybook import clock
from relaybook.records import Record
from relaybook.stores.sqlite.pages import last_seq, load
from relaybook.stores.sqlite.schema import PART

_MERGED: Final = 16
#: A group is merged in so many transactions of about 12,000 rows.
_SLICES: Final = 64
_SLICE: Final = 2**64 // _SLICES
_COPY: Final = (
    "INSERT OR IGNORE INTO lookups SELECT :merged, hash, seq FROM lookups"
    " WHERE part = :part AND hash BETWEEN :low AND :high"
)
_LOWEST: Final = "SELECT min(hash) FROM lookups WHERE part BETWEEN ? AND ?"
_DROP: Final = "DELETE FROM lookups WHERE part = :part AND hash BETWEEN :low AND :high"


def lookup_hash(foreign_id: str) -> int:
    """64 bits of a hash nobody can find collisions of by the thousand: callers choose some of these ids."""
    return int.from_bytes(blake2b(foreign_id.encode(), digest_size=8).digest(), "big", signed=True)


def find(connection: apsw.Connection, foreign_id: str, limit: int) -> Iterator[Record]:
    """Records that carry the id, the latest recorded first: about 5 µs a part."""
    hashed = lookup_hash(foreign_id)
    found = 0
    for part in _parts(connection):
        sql = "SELECT seq FROM lookups WHERE part = ? AND hash = ? ORDER BY seq DESC"
        seqs: list[int] = [seq for (seq,) in connection.execute(sql, (part, hashed))]
        for record in load(connection, seqs):
            if foreign_id in (record.provider_request_id, record.completion_id, record.client_request_id):
                yield record
                found += 1
            if found == limit:
                return


def _parts(connection: apsw.Connection) -> Iterator[int]:
    """The newest first. Where a group is being merged, its single parts come before the merged one."""
    newest: int | None = connection.execute("SELECT max(part) FROM lookups").get
    oldest: int | None = connection.execute("SELECT min(part) FROM lookups").get
    if newest is None or oldest is None:
        return
    single: int | None = connection.execute("SELECT min(part) FROM lookups WHERE part >= 0").get
    if single is not None:
        yield from range(newest, single - 1, -1)
    if oldest < 0:
        yield from range(oldest, 0)


class LookupMerger:
    """Merges full parts, on the writer's connection, between its transactions."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        #: The group that is being merged, and its next slice.
        self._group: int | None = None
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
        oldest: int | None = self._connection.execute("SELECT min(part) FROM lookups WHERE part >= 0").get
        if oldest is None:
            return False
        group = oldest // _MERGED
        if (group + 1) * _MERGED > last_seq(self._connection) // PART:
            return False
        parts = (group * _MERGED, group * _MERGED + _MERGED - 1)
        lowest: int = self._connection.execute(_LOWEST, parts).get
        self._group, self._slice = group, (lowest + 2**63) // _SLICE  # a death may have come in the middle of it
        return True

    def _merge_slice(self) -> None:
        assert self._group is not None
        low = -(2**63) + self._slice * _SLICE
        with self._connection:
            for part in range(self._group * _MERGED, (self._group + 1) * _MERGED):
                bounds = {"merged": -1 - self._group, "part": part, "low": low, "high": low + _SLICE - 1}
                self._connection.execute(_COPY, bounds)
                self._connection.execute(_DROP, bounds)
        self._slice += 1
        if self._slice == _SLICES:
            self._group = None
