"""Fills tables that came later than the records in them: once, when the new version opens an older log."""

import logging
from collections.abc import Iterator
from typing import Final

import apsw

from relaybook.log.record import Record
from relaybook.log.store.sqlite.rollups import RollupTables
from relaybook.log.store.sqlite.rows import SELECT_LIST, record_of
from relaybook.log.store.sqlite.schema import Fills
from relaybook.log.store.sqlite.zone_maps import split_zones

_log = logging.getLogger("relaybook.log.store")
_PORTION: Final = 10_000
_ROWS: Final = f"SELECT {SELECT_LIST} FROM requests AS r WHERE r.seq > ? ORDER BY r.seq LIMIT {_PORTION}"  # noqa: S608


def fill_rollups(connection: apsw.Connection) -> None:
    """About 20 s for a million records; the journal keeps what arrives meanwhile."""
    tables = RollupTables(connection)
    for portion in _portions(connection):
        _log.info("statistics_made", extra={"up_to": portion[-1].seq})
        tables.store(portion)
        tables.committed()


def _portions(connection: apsw.Connection) -> Iterator[list[Record]]:
    """The whole log, oldest first."""
    seq: int | None = 0
    while True:
        portion = [record_of(row) for row in connection.execute(_ROWS, (seq,))]
        if not portion:
            return
        yield portion
        seq = portion[-1].seq


FILLS: Final[Fills] = {3: fill_rollups, 5: split_zones}
