"""Store the running requests.

The recorder sends all running requests once a second. Most of the requests are unchanged, so only changes are written.
The record, the detail and the body bytes so far are in separate rows. So if only the response grows, the request is not
written again. Lists read only the records.
"""

from collections.abc import Mapping, Set
from typing import Final

import apsw
import msgspec

from relaybook.log.record import Detail, Record
from relaybook.log.store.port import Batch, Running

_encode: Final = msgspec.msgpack.Encoder().encode
decode_running: Final = msgspec.msgpack.Decoder(Record).decode
_decode_detail: Final = msgspec.msgpack.Decoder(Detail).decode

#: Key of a row: the request's id. In the table ``running_parts``, also ``detail``, ``request`` or ``response``.
_Key = tuple[str, ...]


class RunningTables:
    """Writes the running requests within the caller's transaction."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._records = _Rows(connection, "running", ("id",), "record")
        self._parts = _Rows(connection, "running_parts", ("id", "part"), "data")

    def store(self, batch: Batch) -> None:
        """Replace the stored running requests with those of the batch, except requests that are in ``batch.entries``.

        If ``batch.running`` is `None`, only the requests in ``batch.entries`` are removed.
        """
        running = batch.running
        recorded = {entry.record.id for entry in batch.entries}
        self._records.replace(self._records.stored if running is None else _records(running), recorded)
        self._parts.replace(self._parts.stored if running is None else _parts(running), recorded)

    def committed(self) -> None:
        """Update the cached state. Call this method after the commit of the transaction."""
        self._records.committed()
        self._parts.committed()


class _Rows:
    """A table of keys and bytes. The stored rows are cached, so a replacement writes only the differences."""

    def __init__(self, connection: apsw.Connection, table: str, keys: tuple[str, ...], value: str) -> None:
        self._execute_many = connection.executemany
        columns, placeholders = ", ".join((*keys, value)), ", ".join("?" for _ in (*keys, value))
        self._insert = f"INSERT OR REPLACE INTO {table} ({columns}) VALUES ({placeholders})"  # noqa: S608 - our own names
        self._delete = f"DELETE FROM {table} WHERE {' AND '.join(f'{key} = ?' for key in keys)}"  # noqa: S608
        rows = connection.execute(f"SELECT {columns} FROM {table}")  # noqa: S608
        self.stored: Mapping[_Key, bytes] = {tuple(key): data for *key, data in rows}
        self._pending = self.stored

    def replace(self, rows: Mapping[_Key, bytes], recorded: Set[str]) -> None:
        """Replace all stored rows with ``rows``, without the rows of the requests in ``recorded``."""
        self._pending = target = {key: data for key, data in rows.items() if key[0] not in recorded}
        removed = [key for key in self.stored if key not in target]
        changed: list[tuple[str | bytes, ...]] = [
            (*key, data) for key, data in target.items() if self.stored.get(key) != data
        ]
        self._execute_many(self._delete, removed)
        self._execute_many(self._insert, changed)

    def committed(self) -> None:
        self.stored = self._pending


def _records(running: list[Running]) -> dict[_Key, bytes]:
    return {(request.record.id,): _encode(request.record) for request in running}


def _parts(running: list[Running]) -> dict[_Key, bytes]:
    parts: dict[_Key, bytes] = {}
    for request in running:
        detail = None if request.detail is None else _encode(request.detail)
        for name, data in (("detail", detail), ("request", request.request), ("response", request.response)):
            if data is not None:
                parts[request.record.id, name] = data
    return parts


def read_running(connection: apsw.Connection, record_id: str) -> Running | None:
    """Return one running request with its data so far, or `None` if the request is not running."""
    data = connection.execute("SELECT record FROM running WHERE id = ?", (record_id,)).get
    if data is None:
        return None
    parts = dict(connection.execute("SELECT part, data FROM running_parts WHERE id = ?", (record_id,)))
    detail = parts.get("detail")
    record = decode_running(data)
    record.seq = None
    return Running(
        record=record,
        detail=None if detail is None else _decode_detail(detail),
        request=parts.get("request"),
        response=parts.get("response"),
    )
