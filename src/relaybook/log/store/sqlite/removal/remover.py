"""Remove requests with all data that the store derived from them, or remove only their content.

The caller begins and commits the transaction, which removes rows and adjusts counters. Body frames and texts are in
other files. The transaction lists them, and ``Reclaimer`` (reclaiming.py) erases them later, even after a crash.
"""

import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

import apsw
import msgspec

from relaybook.log.record import Record
from relaybook.log.store.sqlite.index import counters
from relaybook.log.store.sqlite.index.foreign_ids import remove_foreign_ids
from relaybook.log.store.sqlite.other_fields import without_content
from relaybook.log.store.sqlite.packs.bases import Bases
from relaybook.log.store.sqlite.packs.bodies import Frame, RecordLocation, decode_location
from relaybook.log.store.sqlite.removal.namespace_times import correct_namespaces
from relaybook.log.store.sqlite.rows import WITH_BODIES, record_of

log = logging.getLogger("relaybook.recorder")

_BY_SEQ: Final = f"{WITH_BODIES} r.seq = ?"
_CONTENT: Final = "SELECT seq, bodies, other_fields FROM requests WHERE seq = ? AND bodies IS NOT NULL"
_EXPIRE: Final = "UPDATE requests SET bodies = NULL, other_fields = ? WHERE seq = ?"
REMOVE_CHAIN: Final = "DELETE FROM message_chains WHERE seq = ?"
_REMOVE_FEEDBACK: Final = "DELETE FROM feedback WHERE seq = ?"
_REMOVE_ROW: Final = "DELETE FROM requests WHERE seq = ?"
REMOVE_PROPERTY: Final = "DELETE FROM properties WHERE name = ? AND value = ? AND seq = ?"
REMOVE_CODE: Final = "DELETE FROM record_codes WHERE kind = ? AND code = ? AND seq = ?"
ADD_FRAME: Final = 'INSERT OR REPLACE INTO removed_frames (pack, "offset", length) VALUES (?, ?, ?)'
_ADD_TO_REBASE: Final = """
INSERT OR IGNORE INTO requests_to_rebase SELECT seq FROM dependents WHERE base_pack = ? AND base_offset = ?
"""
REMOVE_DEPENDENT: Final = "DELETE FROM dependents WHERE base_pack = ? AND base_offset = ? AND seq = ?"
_FORGET_TO_REBASE: Final = "DELETE FROM requests_to_rebase WHERE seq = ?"
_ADD_TEXTS: Final = """
INSERT INTO removed_texts (first, last) VALUES (?, ?) ON CONFLICT DO UPDATE SET last = max(last, excluded.last)
"""
_SUBTRACT_PACK_RECORDS: Final = "UPDATE packs SET records = records - ? WHERE pack = ?"
_SUBTRACT_RECORDS: Final = "UPDATE totals SET value = value - ? WHERE name = 'records'"


class Remover:
    """Removes requests on the writer's connection, within the caller's transaction."""

    def __init__(self, connection: apsw.Connection, bases: Bases, *, keeps_labels: bool) -> None:
        """With ``keeps_labels``, a pinned namespace is kept even if it has no requests left.

        A namespace that a person has unpinned is also kept, so that it is not pinned automatically again.
        """
        self._connection = connection
        self._bases = bases
        self._keeps_labels = keeps_labels

    def expire(self, seqs: Sequence[int]) -> None:
        """Remove the content of these requests.

        The content is bodies, detail, previews, error message, message chain and searchable text. ``seqs`` must be in
        ascending order, and each request must still have content.
        """
        execute_many = self._connection.executemany
        rows = list(execute_many(_CONTENT, ((seq,) for seq in seqs)))
        self._remove_content((seq, readable_location(seq, bodies)) for seq, bodies, _ in rows)
        execute_many(_EXPIRE, ((without_content(other_fields), seq) for seq, _, other_fields in rows))
        counters.recount_blocks(self._connection, seqs)

    def remove(self, seqs: Sequence[int]) -> list[Record]:
        """Remove these requests, and return their records. ``seqs`` must be in ascending order.

        This method does not change the aggregates in the rollups (rollups.py). A deletion must then subtract the
        returned records from these aggregates, but retention keeps the aggregates.
        """
        execute_many = self._connection.executemany
        keys = [(seq,) for seq in seqs]
        rows = list(execute_many(_BY_SEQ, keys))
        records = [record_of(row[:-1]) for row in rows]
        locations = (readable_location(record.seq or 0, row[-1]) for record, row in zip(records, rows, strict=True))
        self._remove_content((record.seq or 0, at) for record, at in zip(records, locations, strict=True))
        execute_many(_REMOVE_ROW, keys)
        execute_many(_REMOVE_FEEDBACK, keys)
        execute_many(
            REMOVE_PROPERTY,
            sorted((name, value, record.seq) for record in records for name, value in record.properties.items()),
        )
        execute_many(
            REMOVE_CODE,
            ((kind, code, record.seq) for record in records for kind, code in record.codes),
        )
        remove_foreign_ids(self._connection, records)
        self._connection.execute(_SUBTRACT_RECORDS, (len(records),))
        counters.subtract(self._connection, records)
        counters.recount_blocks(self._connection, seqs)
        correct_namespaces(self._connection, records, keeps_labels=self._keeps_labels)
        return records

    def _remove_content(self, locations: Iterable[tuple[int, RecordLocation | None]]) -> None:
        """Remove the content of records. ``locations`` has pairs of a record's ``seq`` and the location of its content.

        A location is `None` if the content has expired. Then nothing is left to remove.
        """
        seqs: list[int] = []
        frames: list[Frame] = []
        dependents: list[tuple[int, int, int]] = []
        records: Counter[int] = Counter()
        for seq, location in locations:
            if location is not None:
                seqs.append(seq)
                found = location.frames()
                frames += found
                if location.base is not None:
                    pack, offset, _ = location.base.location
                    dependents.append((pack, offset, seq))
                records.update({pack for pack, _, _ in found})
        self._bases.forget(frames)
        execute_many = self._connection.executemany
        execute_many(REMOVE_DEPENDENT, dependents)
        execute_many(_ADD_TO_REBASE, ((pack, offset) for pack, offset, _ in frames))
        execute_many(_FORGET_TO_REBASE, ((seq,) for seq in seqs))
        execute_many(ADD_FRAME, merge_adjacent(frames))
        execute_many(_SUBTRACT_PACK_RECORDS, ((count, pack) for pack, count in records.items()))
        execute_many(REMOVE_CHAIN, ((seq,) for seq in seqs))
        execute_many(_ADD_TEXTS, _ranges(seqs))


def readable_location(seq: int, bodies: bytes | None) -> RecordLocation | None:
    """Return the location of a record's content. `None` if it is damaged, so that one record stops no pass."""
    try:
        return decode_location(bodies)
    except msgspec.MsgspecError as error:
        log.error("body_damaged", extra={"reason": f"The location of the bodies of seq {seq} is damaged: {error}"})
        return None


def merge_adjacent(frames: Iterable[Frame]) -> list[Frame]:
    """Return the body frames, sorted by pack and offset, with adjacent frames merged."""
    merged: list[Frame] = []
    for pack, offset, length in sorted(set(frames)):
        if merged and merged[-1][0] == pack and merged[-1][1] + merged[-1][2] == offset:
            merged[-1] = (pack, merged[-1][1], merged[-1][2] + length)
        else:
            merged.append((pack, offset, length))
    return merged


def _ranges(seqs: Sequence[int]) -> list[tuple[int, int]]:
    """Return the first and the last number of each range of consecutive numbers."""
    if not seqs:
        return []
    ends = [before for before, after in pairwise(seqs) if after != before + 1]
    starts = [after for before, after in pairwise(seqs) if after != before + 1]
    return list(zip([seqs[0], *starts], [*ends, seqs[-1]], strict=True))
