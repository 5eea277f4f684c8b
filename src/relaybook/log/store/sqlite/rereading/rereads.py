"""Request and list rereads, which ``rereader.py`` carries out."""

from pathlib import Path
from typing import Any, Final

import apsw

from relaybook import clock, ids
from relaybook.log.query.filters import Filter
from relaybook.log.rereads import Reread
from relaybook.log.store.sqlite.changes import transaction
from relaybook.log.store.sqlite.removal.deletions import decode_filter, encode
from relaybook.log.store.sqlite.search.pages import last_seq

_COLUMNS: Final = "id, requested_at, requested_by, filter, requests, read, changed, state, done_at"
_ADD: Final = """
INSERT INTO rereads (id, requested_at, requested_by, filter, requests, read, changed, state, up_to, position)
VALUES (?, ?, ?, ?, ?, 0, 0, 'reading', ?, 0)
"""


def rereads(connection: apsw.Connection, limit: int) -> list[Reread]:
    """Return the latest rereads, newest first."""
    sql = f"SELECT {_COLUMNS} FROM rereads ORDER BY rowid DESC LIMIT ?"  # noqa: S608 - our own columns
    return [_reread(row) for row in connection.execute(sql, (limit,))]


def _reread(row: tuple[Any, ...]) -> Reread:
    id_, requested_at, requested_by, filter_, requests, read, changed, state, done_at = row
    return Reread(
        id=id_,
        requested_at=requested_at,
        requested_by=requested_by,
        filter_=decode_filter(filter_),
        requests=requests,
        read=read,
        changed=changed,
        state=state,
        done_at=done_at,
    )


class SqliteRereads:
    """Requests rereads alongside the writer. Each call uses its own connection and a short transaction."""

    def __init__(self, directory: Path, *, busy_s: float = 2.0) -> None:
        self._directory = directory
        self._busy_s = busy_s

    def request_reread(self, filter_: Filter, requests: int, by: str) -> Reread:
        reread = Reread(
            id=ids.id_text(ids.new_id()),
            requested_at=clock.wall_us(),
            requested_by=by,
            filter_=filter_,
            requests=requests,
        )
        with transaction(self._directory, self._busy_s) as connection:
            values = (reread.id, reread.requested_at, by, encode(filter_).decode(), requests)
            connection.execute(_ADD, (*values, last_seq(connection)))
        return reread
