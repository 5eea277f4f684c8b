"""Request and list deletions, which ``deletion_pass.py`` carries out."""

from pathlib import Path
from typing import Any, Final

import apsw
import msgspec

from relaybook.log.deletions import Deletion, new_deletion
from relaybook.log.query.filters import Filter
from relaybook.log.store.sqlite.changes import transaction
from relaybook.log.store.sqlite.search.pages import last_seq

_COLUMNS: Final = "id, requested_at, requested_by, filter, requests, removed, state, removed_at, done_at, filter_digest"
_ADD: Final = """
INSERT INTO deletions (id, requested_at, requested_by, filter, requests, removed, state, up_to, position,
  filter_digest)
VALUES (?, ?, ?, ?, ?, 0, 'removing', ?, 0, ?)
"""

decode_filter: Final = msgspec.json.Decoder(Filter).decode
encode: Final = msgspec.json.Encoder().encode


def deletions(connection: apsw.Connection, limit: int) -> list[Deletion]:
    """Return the latest deletions, newest first."""
    sql = f"SELECT {_COLUMNS} FROM deletions ORDER BY rowid DESC LIMIT ?"  # noqa: S608 - our own columns
    return [_deletion(row) for row in connection.execute(sql, (limit,))]


def _deletion(row: tuple[Any, ...]) -> Deletion:
    id_, requested_at, requested_by, filter_, requests, removed, state, removed_at, done_at, digest = row
    return Deletion(
        id=id_,
        requested_at=requested_at,
        requested_by=requested_by,
        filter_=decode_filter(filter_),
        requests=requests,
        removed=removed,
        state=state,
        removed_at=removed_at,
        done_at=done_at,
        filter_digest=digest,
    )


class SqliteDeletions:
    """Requests deletions alongside the writer. Each call uses its own connection and a short transaction."""

    def __init__(self, directory: Path, *, busy_s: float = 2.0) -> None:
        self._directory = directory
        self._busy_s = busy_s

    def request(self, filter_: Filter, requests: int, by: str) -> Deletion:
        deletion = new_deletion(filter_, requests, by)
        with transaction(self._directory, self._busy_s) as connection:
            values = (deletion.id, deletion.requested_at, by, encode(filter_).decode(), requests)
            connection.execute(_ADD, (*values, last_seq(connection), deletion.filter_digest))
        return deletion
