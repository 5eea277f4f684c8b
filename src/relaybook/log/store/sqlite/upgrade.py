"""Fill tables that were added in a later version.

This happens once, when that version first opens an older log.
"""

import logging
from collections.abc import Iterator
from typing import Final

import apsw

from relaybook.log.record import Record
from relaybook.log.store.sqlite.rollups import RollupTables
from relaybook.log.store.sqlite.rows import SELECT_LIST, record_of
from relaybook.log.store.sqlite.schema import Backfills
from relaybook.log.store.sqlite.zone_maps import split_zones

_log = logging.getLogger("relaybook.log.store")
_CHUNK_RECORDS: Final = 10_000
_ROWS: Final = f"SELECT {SELECT_LIST} FROM requests AS r WHERE r.seq > ? ORDER BY r.seq LIMIT {_CHUNK_RECORDS}"  # noqa: S608


def fill_rollups(connection: apsw.Connection) -> None:
    """Compute the rollups: about 20 s for a million records.

    The journal keeps new requests in the meantime. The journal keeps new requests in the meantime.
    """
    tables = RollupTables(connection)
    for chunk in _chunks(connection):
        _log.info("statistics_made", extra={"up_to": chunk[-1].seq})
        tables.store(chunk)
        tables.committed()


def _chunks(connection: apsw.Connection) -> Iterator[list[Record]]:
    """Yield the whole log in chunks, oldest first."""
    seq: int | None = 0
    while True:
        chunk = [record_of(row) for row in connection.execute(_ROWS, (seq,))]
        if not chunk:
            return
        yield chunk
        seq = chunk[-1].seq


BACKFILLS: Final[Backfills] = {3: fill_rollups, 5: split_zones}
