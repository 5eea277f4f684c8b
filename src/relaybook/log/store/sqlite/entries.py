"""Writes finished requests: their frames, rows, properties, notes, lookups and what they add to the counters.

The statements take whole batches, sorted by key: 1,000 records cost about 21 µs each (benchmarks/store_writing.py).
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from hashlib import blake2b
from typing import Final

import apsw
import zstandard

from relaybook.log.record import Record
from relaybook.log.store.port import Entry
from relaybook.log.store.sqlite import counters
from relaybook.log.store.sqlite.bodies import Shared, place, shared_frame
from relaybook.log.store.sqlite.packs import PackWriter
from relaybook.log.store.sqlite.rollups import RollupTables
from relaybook.log.store.sqlite.rows import INSERT, row_of
from relaybook.log.store.sqlite.schema import PART
from relaybook.log.store.sqlite.zone_maps import split_zones

_ADD_PROPERTY: Final = "INSERT INTO properties (name, value, seq) VALUES (?, ?, ?)"
_ADD_NOTE: Final = "INSERT INTO notes (kind, code, seq) VALUES (?, ?, ?)"
_ADD_FOREIGN_ID: Final = "INSERT OR IGNORE INTO lookups (part, hash, seq) VALUES (?, ?, ?)"
_ADD_TURN: Final = "INSERT INTO turns (seq, turn) VALUES (?, ?)"
_SET_TOTAL: Final = "UPDATE totals SET value = ? WHERE name = ?"

_from_bytes: Final = int.from_bytes

#: Called with the name of each finished step, for the benchmark's split.
Watch = Callable[[str], object]


class EntryTables:
    """Adds entries within the caller's transaction. Knows the newest ``seq``: there is one writer."""

    def __init__(self, connection: apsw.Connection, watch: Watch | None = None) -> None:
        self._connection = connection
        totals = dict(connection.execute("SELECT name, value FROM totals"))
        self._last_seq: int = totals["last_seq"]
        self._records: int = totals["records"]
        self._rollups = RollupTables(connection)
        self._watch: Watch = watch or (lambda step: None)

    def add(self, entries: Sequence[Entry], packs: PackWriter, compressor: zstandard.ZstdCompressor) -> None:
        """Stores entries whose ids are new. Raises apsw.ConstraintError (UNIQUE) when one is not."""
        first = self._last_seq + 1
        records = [entry.record for entry in entries]
        set_apart = partial(packs.append_piece, compressor=compressor)
        frames = [shared_frame(entry, compressor, set_apart) for entry in entries]
        self._watch("zstd")
        places = list(_append(frames, packs))
        self._watch("pack")
        rows = [
            row_of(record, seq, bodies) for seq, (record, bodies) in enumerate(zip(records, places, strict=True), first)
        ]
        self._connection.executemany(INSERT, rows)
        self._watch("rows")
        self._connection.executemany(_ADD_PROPERTY, _properties(records, first))
        self._connection.executemany(_ADD_NOTE, _notes(records, first))
        self._watch("properties")
        self._connection.executemany(_ADD_TURN, _turns(entries, first))
        self._watch("turns")
        self._connection.executemany(_ADD_FOREIGN_ID, _foreign_ids(records, first))
        self._watch("lookups")
        self._connection.executemany(counters.ADD_NAMESPACES, counters.namespace_sums(records))
        split_zones(self._connection)
        self._connection.executemany(counters.ADD_VALUES, counters.value_sums(records))
        self._connection.executemany(counters.ADD_SPANS, counters.spans(records, first))
        self._watch("counters")
        self._rollups.store(records)
        self._watch("rollups")
        last, total = self._last_seq + len(records), self._records + len(records)
        self._connection.executemany(_SET_TOTAL, [(last, "last_seq"), (total, "records")])

    def committed(self, added: Sequence[Entry], asked: Sequence[Entry]) -> None:
        """The transaction has ended well: the records learn their ``seq``."""
        if added:
            self._rollups.committed()
        for seq, entry in enumerate(added, self._last_seq + 1):
            entry.record.seq = seq
        self._last_seq += len(added)
        self._records += len(added)
        if len(added) != len(asked):
            seqs = {entry.record.id: entry.record.seq for entry in added}
            for entry in asked:
                entry.record.seq = seqs.get(entry.record.id, entry.record.seq)


def _append(frames: Sequence[Shared], packs: PackWriter) -> Iterable[bytes]:
    """One write for all frames of the batch; gives each row's ``bodies``."""
    pack, offset = packs.append(b"".join([shared.frame for shared in frames]))
    for shared in frames:
        yield place(shared, pack, offset)
        offset += len(shared.frame)


def _properties(records: Iterable[Record], first: int) -> list[tuple[str, str, int]]:
    rows = [
        (name, value, seq) for seq, record in enumerate(records, first) for name, value in record.properties.items()
    ]
    rows.sort()
    return rows


def _notes(records: Iterable[Record], first: int) -> Iterable[tuple[str, str, int]]:
    for seq, record in enumerate(records, first):
        if record.warnings:
            yield from (("warning", code, seq) for code in {note.code for note in record.warnings})
        if record.advice:
            yield from (("advice", code, seq) for code in {note.code for note in record.advice})


def _turns(entries: Iterable[Entry], first: int) -> Iterable[tuple[int, bytes]]:
    return ((seq, entry.turn) for seq, entry in enumerate(entries, first) if entry.turn is not None)


def _foreign_ids(records: Iterable[Record], first: int) -> list[tuple[int, int, int]]:
    rows = [
        (seq // PART, _from_bytes(blake2b(foreign_id.encode(), digest_size=8).digest(), "big", signed=True), seq)
        for seq, record in enumerate(records, first)
        for foreign_id in (record.provider_request_id, record.completion_id, record.client_request_id)
        if foreign_id is not None
    ]
    rows.sort()
    return rows
