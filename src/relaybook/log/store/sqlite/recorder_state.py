"""Store the recorder's state: positions, checkpoints, gaps, refusal counts, pending erasures and pack lengths."""

from collections.abc import Mapping

import apsw

from relaybook.ids import parse_id
from relaybook.log.store.entry import Entry
from relaybook.log.store.port import Batch, ExchangeCheckpoint
from relaybook.log.store.status import RunPosition

_SET_POSITION = "INSERT OR REPLACE INTO positions VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_SET_CHECKPOINT = "INSERT OR REPLACE INTO checkpoints (exchange, run, number, state) VALUES (?, ?, ?, ?)"
_ADD_GAP = "INSERT INTO gaps (from_at, to_at, count, reason) VALUES (?, ?, ?, ?)"
_ADD_REFUSED = """INSERT INTO refused (code, requests) VALUES (?, ?)
ON CONFLICT DO UPDATE SET requests = requests + excluded.requests"""
_ADD_ERASURE = 'INSERT OR REPLACE INTO erasures (pack, "offset", length) VALUES (?, ?, ?)'
_SET_PACK = "UPDATE packs SET length = ? WHERE pack = ?"

#: The location of the bytes to erase: pack, offset, length.
Erasure = tuple[int, int, int]


class RecorderStateTables:
    """Writes the recorder's state within the caller's transaction, and reads it after a restart."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        #: The run of each exchange that has a checkpoint. The dict is nearly always empty. Then no statement is needed
        #: to delete the checkpoints of finished exchanges.
        self._runs: dict[bytes, str] = dict(connection.execute("SELECT exchange, run FROM checkpoints"))
        self._has_erasures = True

    def store(self, batch: Batch) -> None:
        execute_many = self._connection.executemany
        execute_many(
            _SET_POSITION,
            (
                (run, *position.read_to, *position.replay_from, position.is_segment_start)
                for run, position in batch.positions.items()
            ),
        )
        execute_many(
            _SET_CHECKPOINT,
            (
                (checkpoint.exchange, checkpoint.run, checkpoint.number, checkpoint.state)
                for checkpoint in batch.checkpoints
            ),
        )
        ended = ((exchange,) for exchange in self._ended(batch))
        execute_many("DELETE FROM checkpoints WHERE exchange = ?", ended)
        execute_many("DELETE FROM checkpoints WHERE run = ?", ((run,) for run in batch.finished_runs))
        execute_many("DELETE FROM positions WHERE run = ?", ((run,) for run in batch.finished_runs))
        execute_many(_ADD_GAP, ((gap.from_at, gap.to_at, gap.count, gap.reason) for gap in batch.gaps))
        execute_many(_ADD_REFUSED, batch.refused.items())
        execute_many(_ADD_ERASURE, (ref.location for ref in batch.erase))

    def _ended(self, batch: Batch) -> dict[bytes, Entry | None]:
        """Return the exchanges that have a checkpoint and are in ``entries`` or ``rejected`` of the batch.

        The value is the entry of the exchange, or `None` if the exchange was rejected.
        """
        known = {*self._runs, *(checkpoint.exchange for checkpoint in batch.checkpoints)}
        if not known:
            return {}
        entries: dict[str, Entry | None] = dict.fromkeys(batch.rejected)
        entries.update((entry.record.id, entry) for entry in batch.entries)
        pairs = ((parse_id(record_id), entry) for record_id, entry in entries.items())
        return {exchange: entry for exchange, entry in pairs if exchange is not None and exchange in known}

    def committed(self, batch: Batch) -> bool:
        """Update the cached state. Call this method after the commit of the transaction.

        Returns True if a deleted checkpoint may contain bodies of a request that is logged without bodies. If the
        result is True, the caller must truncate the WAL, so that these bodies do not remain on the disk.
        """
        ended = self._ended(batch)
        self._runs.update((checkpoint.exchange, checkpoint.run) for checkpoint in batch.checkpoints)
        if ended or batch.finished_runs:
            remaining = ((exchange, run) for exchange, run in self._runs.items() if exchange not in ended)
            self._runs = {exchange: run for exchange, run in remaining if run not in batch.finished_runs}
        self._has_erasures = self._has_erasures or bool(batch.erase)
        return any(entry is not None and entry.record.body_state == "no_bodies" for entry in ended.values())

    def positions(self) -> dict[str, RunPosition]:
        return read_positions(self._connection)

    def checkpoints(self, run: str) -> list[ExchangeCheckpoint]:
        rows = self._connection.execute(
            "SELECT exchange, number, state FROM checkpoints WHERE run = ? ORDER BY exchange", (run,)
        )
        return [
            ExchangeCheckpoint(run=run, exchange=exchange, number=number, state=state)
            for exchange, number, state in rows
        ]

    def erasures(self) -> list[Erasure]:
        """Return the unfinished erasures that earlier transactions requested."""
        if not self._has_erasures:
            return []
        found = list(self._connection.execute('SELECT pack, "offset", length FROM erasures'))
        self._has_erasures = bool(found)
        return found

    def mark_erased(self, pack: int, offset: int) -> None:
        self._connection.execute('DELETE FROM erasures WHERE pack = ? AND "offset" = ?', (pack, offset))

    def pack_lengths(self) -> dict[int, int]:
        return dict(self._connection.execute("SELECT pack, length FROM packs"))

    def register_pack(self, pack: int) -> None:
        """Add a pack to the database, in a separate transaction. Call this method before the pack's file is created."""
        self._connection.execute("INSERT OR IGNORE INTO packs (pack, length) VALUES (?, 0)", (pack,))

    def store_pack_lengths(self, lengths: Mapping[int, int]) -> None:
        self._connection.executemany(_SET_PACK, ((length, pack) for pack, length in lengths.items()))


def read_positions(connection: apsw.Connection) -> dict[str, RunPosition]:
    return {
        row[0]: RunPosition(
            read_to=(row[1], row[2], row[3]), replay_from=(row[4], row[5], row[6]), is_segment_start=bool(row[7])
        )
        for row in connection.execute("SELECT * FROM positions")
    }
