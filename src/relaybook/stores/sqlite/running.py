"""The table of running requests: replaced as a whole, written only where it changed.

The recorder sends all running requests four times a second, most of them unchanged.
"""

from typing import Final

import apsw
import msgspec

from relaybook.records import Record

_encode: Final = msgspec.msgpack.Encoder().encode
decode_running: Final = msgspec.msgpack.Decoder(Record).decode


class RunningTable:
    """Remembers what is stored, so that a replacement becomes a few changes."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._stored: dict[str, bytes] = dict(connection.execute("SELECT id, record FROM running"))
        self._pending: dict[str, bytes] | None = None

    def replace(self, records: list[Record] | None) -> None:
        """Within the caller's transaction. None leaves the table as it is."""
        self._pending = None
        if records is None or not (records or self._stored):
            return
        wanted = {record.id: _encode(record) for record in records}
        gone = [(known,) for known in self._stored if known not in wanted]
        changed = [(known, data) for known, data in wanted.items() if self._stored.get(known) != data]
        self._connection.executemany("DELETE FROM running WHERE id = ?", gone)
        self._connection.executemany("INSERT OR REPLACE INTO running (id, record) VALUES (?, ?)", changed)
        self._pending = wanted

    def committed(self) -> None:
        if self._pending is not None:
            self._stored, self._pending = self._pending, None
