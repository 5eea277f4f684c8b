"""Write finished requests, and add them to the counters.

A finished request is stored as body frames, a row, properties, codes of its notes, a message chain and foreign ids.
Each statement processes a whole batch, sorted by key.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Final

import apsw
import zstandard

from relaybook.log.record import Record
from relaybook.log.store.entry import Entry
from relaybook.log.store.sqlite.feedback import FeedbackTables
from relaybook.log.store.sqlite.index import counters
from relaybook.log.store.sqlite.index.foreign_ids import hashes_of
from relaybook.log.store.sqlite.index.rollups import RollupTables
from relaybook.log.store.sqlite.packs.bases import Base, Bases, add_bases, keys_of
from relaybook.log.store.sqlite.packs.bodies import Frame, SharedContent, shared_content
from relaybook.log.store.sqlite.packs.pack_writer import PackWriter, day_of
from relaybook.log.store.sqlite.rows import INSERT, row_of
from relaybook.log.store.sqlite.schema import PART

ADD_PROPERTY: Final = "INSERT INTO properties (name, value, seq) VALUES (?, ?, ?)"
ADD_CODE: Final = "INSERT INTO record_codes (kind, code, seq) VALUES (?, ?, ?)"
ADD_FOREIGN_ID: Final = "INSERT OR IGNORE INTO foreign_ids (part, hash, seq) VALUES (?, ?, ?)"
_ADD_CHAIN: Final = "INSERT INTO message_chains (seq, chain) VALUES (?, ?)"
_ADD_TO_TOTALS: Final = "UPDATE totals SET value = value + ? WHERE name IN ('last_seq', 'records')"
ADD_PACK_RECORDS: Final = "UPDATE packs SET records = records + ? WHERE pack = ?"


class EntryTables:
    """Adds finished requests (each an ``Entry``) to the tables, within the caller's transaction.

    The newest ``seq`` is cached, which is possible because there is only one writer.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._last_seq: int = connection.execute("SELECT value FROM totals WHERE name = 'last_seq'").get
        self.rollups = RollupTables(connection)
        self.feedback = FeedbackTables(connection)
        self.bases = Bases()
        self._day = 0

    def add(self, entries: Sequence[Entry], packs: PackWriter, compressor: zstandard.ZstdCompressor) -> None:
        """Store a batch of entries: the body frames in the packs, and the rows and counters in the database.

        Raises apsw.ConstraintError (UNIQUE) if an id is already stored.
        """
        first = self._last_seq + 1
        records = [entry.record for entry in entries]
        store_chunk = partial(packs.append_chunk, compressor=compressor)
        contents = [shared_content(entry, store_chunk) for entry in entries]
        paths_and_models = [f"{record.path} {record.model}" for record in records]
        locations = self._append(contents, paths_and_models, first, packs, compressor)
        rows = [
            row_of(record, seq, bodies)
            for seq, (record, bodies) in enumerate(zip(records, locations, strict=True), first)
        ]
        self._connection.executemany(INSERT, rows)
        self._connection.executemany(ADD_PROPERTY, _properties(records, first))
        self._connection.executemany(ADD_CODE, _codes(records, first))
        self._connection.executemany(_ADD_CHAIN, _chains(entries, first))
        self._connection.executemany(ADD_FOREIGN_ID, _foreign_ids(records, first))
        self.feedback.store(records, first)
        self._connection.executemany(counters.ADD_NAMESPACES, counters.namespace_counters(records))
        self._connection.executemany(counters.ADD_VALUES, counters.value_counters(records))
        self._connection.executemany(counters.ADD_BLOCK_RANGES, counters.block_ranges(records, first))
        self.rollups.store(records)
        self._connection.execute(_ADD_TO_TOTALS, (len(records),))

    def _append(
        self,
        contents: Sequence[SharedContent],
        paths_and_models: Sequence[str],
        first: int,
        packs: PackWriter,
        compressor: zstandard.ZstdCompressor,
    ) -> list[bytes]:
        """Compress the contents, and append all shared frames with one write.

        Returns the ``bodies`` value of each row.
        """
        pack, offset = packs.end()
        if day_of(pack) != self._day:
            self._day = day_of(pack)
            self.bases.clear()
        records = Counter({pack: len(contents)})
        frames: list[bytes] = []
        locations: list[bytes] = []
        based: list[tuple[Base, Base]] = []
        for seq, (content, path_and_model) in enumerate(zip(contents, paths_and_models, strict=True), first):
            keys = keys_of(content.request_body(), path_and_model)
            base = self.bases.find(keys)
            data = compressor.compress(content.data) if base is None else base.compress(content.data)
            frame: Frame = (pack, offset, len(data))
            added = Base(seq, frame, content.data, base, keys)
            self.bases.add(added)
            if base is not None:
                based.append((added, base))
            frames.append(data)
            locations.append(content.locate(frame, None if base is None else base.ref()))
            offset += len(data)
            records.update({ref.location[0] for ref in content.refs()} - {pack})
        packs.append(b"".join(frames))
        add_bases(self._connection, based)
        self._connection.executemany(ADD_PACK_RECORDS, ((count, number) for number, count in records.items()))
        return locations

    def committed(self, added: Sequence[Entry], all_entries: Sequence[Entry]) -> None:
        """Set ``record.seq`` in all entries. Call this method after the commit of the transaction.

        ``added`` has the entries that were stored. ``all_entries`` may also have duplicates, and entries whose id was
        stored earlier.
        """
        if added:
            self.rollups.committed()
        for seq, entry in enumerate(added, self._last_seq + 1):
            entry.record.seq = seq
        self._last_seq += len(added)
        if len(added) != len(all_entries):
            seqs = {entry.record.id: entry.record.seq for entry in added}
            for entry in all_entries:
                entry.record.seq = seqs.get(entry.record.id, entry.record.seq)


def _properties(records: Iterable[Record], first: int) -> list[tuple[str, str, int]]:
    rows = [
        (name, value, seq) for seq, record in enumerate(records, first) for name, value in record.properties.items()
    ]
    rows.sort()
    return rows


def _codes(records: Iterable[Record], first: int) -> Iterable[tuple[str, str, int]]:
    return ((name, code, seq) for seq, record in enumerate(records, first) for name, code in record.codes)


def _chains(entries: Iterable[Entry], first: int) -> Iterable[tuple[int, bytes]]:
    return ((seq, entry.chain) for seq, entry in enumerate(entries, first) if entry.chain is not None)


def _foreign_ids(records: Iterable[Record], first: int) -> list[tuple[int, int, int]]:
    return sorted((seq // PART, hash_, seq) for seq, record in enumerate(records, first) for hash_ in hashes_of(record))
