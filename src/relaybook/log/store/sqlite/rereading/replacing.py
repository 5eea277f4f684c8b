"""Replace the data of finished requests, with their share of all counters and aggregates.

The caller begins and commits the transaction. The new data is added before the old data is subtracted, so that no value
or series that both have is removed in between.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import apsw

from relaybook.log.store.entry import Entry
from relaybook.log.store.sqlite.entries import ADD_CODE, ADD_FOREIGN_ID, ADD_PROPERTY
from relaybook.log.store.sqlite.index import counters
from relaybook.log.store.sqlite.index.foreign_ids import hashes_of, part_of, remove_foreign_ids
from relaybook.log.store.sqlite.index.rollups import RollupTables
from relaybook.log.store.sqlite.removal.remover import REMOVE_CHAIN, REMOVE_CODE, REMOVE_PROPERTY
from relaybook.log.store.sqlite.rows import UPDATE, values_of

_SET_CHAIN: Final = "INSERT OR REPLACE INTO message_chains (seq, chain) VALUES (?, ?)"


class Replacement(NamedTuple):
    """A request as it is stored, and the entry that replaces it. Both have the same ``seq``."""

    old: Entry
    new: Entry

    @property
    def seq(self) -> int:
        assert self.old.record.seq is not None
        return self.old.record.seq

    @property
    def is_change(self) -> bool:
        """Whether the record or the message chain differs."""
        return self.new.record != self.old.record or self.new.chain != self.old.chain


def replace(connection: apsw.Connection, rollups: RollupTables, replacements: Sequence[Replacement]) -> None:
    """Replace requests within the caller's transaction."""
    seqs = [each.seq for each in replacements]
    old = [each.old.record for each in replacements]
    new = [each.new.record for each in replacements]
    execute_many = connection.executemany
    execute_many(UPDATE, (values_of(record, seq) for record, seq in zip(new, seqs, strict=True)))
    execute_many(REMOVE_PROPERTY, ((name, value, each.seq) for each in old for name, value in each.properties.items()))
    execute_many(ADD_PROPERTY, ((name, value, each.seq) for each in new for name, value in each.properties.items()))
    execute_many(REMOVE_CODE, ((kind, code, each.seq) for each in old for kind, code in each.codes))
    execute_many(ADD_CODE, ((kind, code, each.seq) for each in new for kind, code in each.codes))
    execute_many(REMOVE_CHAIN, ((each.seq,) for each in replacements if each.new.chain is None))
    execute_many(_SET_CHAIN, ((each.seq, each.new.chain) for each in replacements if each.new.chain is not None))
    with_other_ids = [each for each in replacements if each.old.record.foreign_ids != each.new.record.foreign_ids]
    remove_foreign_ids(connection, [each.old.record for each in with_other_ids])
    execute_many(
        ADD_FOREIGN_ID,
        (
            (part_of(connection, each.seq), hash_, each.seq)
            for each in with_other_ids
            for hash_ in hashes_of(each.new.record)
        ),
    )
    execute_many(counters.ADD_NAMESPACES, counters.namespace_counters(new))
    execute_many(counters.ADD_VALUES, counters.value_counters(new))
    rollups.store(new)
    counters.subtract(connection, old)
    rollups.subtract(old)
    counters.recount_blocks(connection, seqs)
