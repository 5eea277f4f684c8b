"""Remove what ended before the cutoffs, block by block, oldest first.

A pass examines every block of records that can contain something to remove. It needs no stored position: after a crash,
blocks that are done are skipped by their counts.
"""

from collections.abc import Callable, Sequence
from typing import Final

import apsw

from relaybook import clock
from relaybook.log.aggregate.stats import MINUTE_US
from relaybook.log.retention import Cutoffs
from relaybook.log.store.port import Retained
from relaybook.log.store.sqlite.removal import Remover
from relaybook.log.store.sqlite.rollups import RollupTables
from relaybook.log.store.sqlite.schema import BLOCK

#: Records per transaction, which takes 10 to 20 ms.
_SLICE: Final = 128
_NEXT_BLOCK: Final = """
SELECT block FROM block_ranges
WHERE block >= ? AND (first_at < ? OR (with_content > 0 AND first_at < ?)) ORDER BY block LIMIT 1
"""
_RECORDS: Final = """
SELECT seq, namespace, coalesce(ended_at, started_at), bodies IS NOT NULL FROM requests
WHERE seq BETWEEN ? AND ? ORDER BY seq
"""


class RetentionPass:
    """Runs passes on the writer's connection, between its commits."""

    def __init__(self, connection: apsw.Connection, rollups: RollupTables) -> None:
        self._connection = connection
        self._rollups = rollups
        self._remover = Remover(connection, keeps_labels=True)
        #: The cutoffs of the current or the last pass, and the next block to examine.
        self._cutoffs: Cutoffs | None = None
        self._block = 0
        self.is_complete = True
        #: What the pass has removed since this process began.
        self._removed = self._expired = 0

    def work(self, cutoffs: Cutoffs, until_ns: int) -> Retained:
        """Continue the pass, or start one if the cutoffs have changed. Works until ``until_ns`` (monotonic clock)."""
        if cutoffs != self._cutoffs:
            self._cutoffs, self._block, self.is_complete = cutoffs, 0, False
            self._removed = self._expired = 0
        removed = expired = 0
        while not self.is_complete and clock.monotonic_ns() < until_ns:
            block = self._next_block(cutoffs)
            if block is None:
                self.is_complete = not self._rollups.remove_before(cutoffs.aggregates // MINUTE_US)
                if self.is_complete and (self._removed or self._expired):
                    values = (clock.wall_us(), cutoffs.reason, self._removed, self._expired)
                    self._connection.execute("INSERT INTO removals VALUES (?, ?, ?, ?)", values)
                continue
            to_remove, to_expire = self._examine(cutoffs, block)
            if to_remove:
                self._in_transaction(self._remover.remove, to_remove[:_SLICE])
                removed += len(to_remove[:_SLICE])
                self._removed += len(to_remove[:_SLICE])
            elif to_expire:
                self._in_transaction(self._remover.expire, to_expire[:_SLICE])
                expired += len(to_expire[:_SLICE])
                self._expired += len(to_expire[:_SLICE])
            if len(to_remove) + len(to_expire) <= _SLICE and not (to_remove and to_expire):
                self._block = block + 1
        return Retained(removed=removed, expired=expired, is_complete=self.is_complete)

    def _next_block(self, cutoffs: Cutoffs) -> int | None:
        latest = cutoffs.latest
        found = self._connection.execute(_NEXT_BLOCK, (self._block, latest.requests, latest.content)).fetchone()
        return None if found is None else found[0]

    def _examine(self, cutoffs: Cutoffs, block: int) -> tuple[list[int], list[int]]:
        """Return the numbers of the records to remove, and of those whose content is to be removed."""
        to_remove, to_expire = [], []
        for seq, namespace, ended_at, has_content in self._connection.execute(
            _RECORDS, (block * BLOCK, block * BLOCK + BLOCK - 1)
        ):
            fate = cutoffs.fate(namespace, ended_at)
            if fate == "removed":
                to_remove.append(seq)
            elif fate == "expired" and has_content:
                to_expire.append(seq)
        return to_remove, to_expire

    def _in_transaction(self, remove: Callable[[Sequence[int]], object], seqs: Sequence[int]) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            remove(seqs)
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
