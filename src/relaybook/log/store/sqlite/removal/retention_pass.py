"""Remove or expire requests that ended before the cutoffs, in blocks of consecutive records, oldest first.

A pass examines every block of records that can contain data to remove. The position of a pass is not stored. After a
crash, the pass starts again, and skips blocks if the table of blocks shows that nothing is left to remove.
"""

from typing import Final

import apsw

from relaybook import clock
from relaybook.log.aggregate.stats import MINUTE_US
from relaybook.log.retention import Cutoffs
from relaybook.log.store.port import Retained
from relaybook.log.store.sqlite.connection import committing
from relaybook.log.store.sqlite.index.rollups import RollupTables
from relaybook.log.store.sqlite.packs.bases import Bases
from relaybook.log.store.sqlite.removal.remover import Remover
from relaybook.log.store.sqlite.schema import BLOCK

#: Records per transaction. A transaction takes 10 to 20 ms.
_SLICE: Final = 128
_NEXT_BLOCK: Final = """
SELECT block FROM block_ranges
WHERE block >= ? AND (first_at < ? OR first_content_at < ?) ORDER BY block LIMIT 1
"""
_RECORDS: Final = """
SELECT seq, namespace, coalesce(ended_at, started_at), bodies IS NOT NULL FROM requests
WHERE seq BETWEEN ? AND ? ORDER BY seq
"""


class RetentionPass:
    """Removes or expires old requests, on the writer's connection and between the writer's transactions."""

    def __init__(self, connection: apsw.Connection, rollups: RollupTables, bases: Bases) -> None:
        self._connection = connection
        self._rollups = rollups
        self._remover = Remover(connection, bases, keeps_labels=True)
        #: The cutoffs of the current or the last pass, and the next block to examine.
        self._cutoffs: Cutoffs | None = None
        self._block = 0
        #: The ``seq`` of records in examined blocks: the records that will be removed, and the records that will
        #: expire.
        self._to_remove: list[int] = []
        self._to_expire: list[int] = []
        self.is_complete = True
        #: The number of requests that the current pass removed, and the number of other requests whose content it
        #: removed.
        self._removed = self._expired = 0

    def work(self, cutoffs: Cutoffs, until_ns: int) -> Retained:
        """Continue the pass until ``until_ns`` (monotonic clock), or start a new pass if the cutoffs have changed."""
        if cutoffs != self._cutoffs:
            self._cutoffs, self._block, self.is_complete = cutoffs, 0, False
            self._to_remove, self._to_expire = [], []
            self._removed = self._expired = 0
        removed_before, expired_before = self._removed, self._expired
        while not self.is_complete and clock.monotonic_ns() < until_ns:
            self._step(cutoffs)
        return Retained(
            removed=self._removed - removed_before,
            expired=self._expired - expired_before,
            is_complete=self.is_complete,
        )

    def _step(self, cutoffs: Cutoffs) -> None:
        if self._to_remove:
            with committing(self._connection):
                records = self._remover.remove(self._to_remove[:_SLICE])
            self._removed += len(records)
            del self._to_remove[:_SLICE]
        elif self._to_expire:
            with committing(self._connection):
                self._remover.expire(self._to_expire[:_SLICE])
            self._expired += len(self._to_expire[:_SLICE])
            del self._to_expire[:_SLICE]
        elif (block := self._next_block(cutoffs)) is not None:
            self._examine(cutoffs, block)
            self._block = block + 1
        elif not self._rollups.remove_before(cutoffs.aggregates // MINUTE_US):
            self.is_complete = True
            if self._removed or self._expired:
                values = (clock.wall_us(), cutoffs.reason, self._removed, self._expired)
                self._connection.execute("INSERT INTO removals VALUES (?, ?, ?, ?)", values)

    def _next_block(self, cutoffs: Cutoffs) -> int | None:
        latest = cutoffs.latest
        found = self._connection.execute(_NEXT_BLOCK, (self._block, latest.requests, latest.content)).fetchone()
        return None if found is None else found[0]

    def _examine(self, cutoffs: Cutoffs, block: int) -> None:
        """Find the records of a block that must be removed, and the records that must lose their content."""
        for seq, namespace, ended_at, has_content in self._connection.execute(
            _RECORDS, (block * BLOCK, block * BLOCK + BLOCK - 1)
        ):
            fate = cutoffs.fate(namespace, ended_at)
            if fate == "removed":
                self._to_remove.append(seq)
            elif fate == "expired" and has_content:
                self._to_expire.append(seq)
