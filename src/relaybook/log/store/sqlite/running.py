"""The running requests: replaced as a whole, written only where they changed.

The recorder sends all of them once a second, most of them unchanged. Lists read the records; detail and body bytes so
far are rows of their own, so that an answer that grows does not write its question again.
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

#: The request's id, and of a part its name.
_Key = tuple[str, ...]


class RunningTables:
    """Writes them within the caller's transaction."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._records = _Rows(connection, "running", ("id",), "record")
        self._parts = _Rows(connection, "running_parts", ("id", "part"), "data")

    def store(self, batch: Batch) -> None:
        """What runs now, without what is recorded now."""
        running = batch.running
        recorded = {entry.record.id for entry in batch.entries}
        self._records.replace(self._records.stored if running is None else _records(running), recorded)
        self._parts.replace(self._parts.stored if running is None else _parts(running), recorded)

    def committed(self) -> None:
        """The transaction has ended well."""
        self._records.committed()
        self._parts.committed()


class _Rows:
    """A table of keys and bytes that remembers what is stored, so that a replacement becomes a few changes."""

    def __init__(self, connection: apsw.Connection, table: str, keys: tuple[str, ...], value: str) -> None:
        self._execute_many = connection.executemany
        columns, places = ", ".join((*keys, value)), ", ".join("?" for _ in (*keys, value))
        self._insert = f"INSERT OR REPLACE INTO {table} ({columns}) VALUES ({places})"  # noqa: S608 - our own names
        self._delete = f"DELETE FROM {table} WHERE {' AND '.join(f'{key} = ?' for key in keys)}"  # noqa: S608
        rows = connection.execute(f"SELECT {columns} FROM {table}")  # noqa: S608
        self.stored: Mapping[_Key, bytes] = {tuple(key): data for *key, data in rows}
        self._pending = self.stored

    def replace(self, rows: Mapping[_Key, bytes], recorded: Set[str]) -> None:
        """Leaves these rows but those of the requests that are recorded."""
        self._pending = wanted = {key: data for key, data in rows.items() if key[0] not in recorded}
        gone = [key for key in self.stored if key not in wanted]
        changed = [(*key, data) for key, data in wanted.items() if self.stored.get(key) != data]
        self._execute_many(self._delete, gone)
        self._execute_many(self._insert, changed)

    def committed(self) -> None:
        self.stored = self._pending


def _records(running: list[Running]) -> dict[_Key, bytes]:
    return {(one.record.id,): _encode(one.record) for one in running}


def _parts(running: list[Running]) -> dict[_Key, bytes]:
    parts: dict[_Key, bytes] = {}
    for one in running:
        detail = None if one.detail is None else _encode(one.detail)
        for name, data in (("detail", detail), ("request", one.request), ("response", one.response)):
            if data is not None:
                parts[one.record.id, name] = data
    return parts


def read_running(connection: apsw.Connection, record_id: str) -> Running | None:
    """One running request with what there is of it."""
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
