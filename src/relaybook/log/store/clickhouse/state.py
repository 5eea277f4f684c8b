"""Store small values by kind, recorder and key. The latest version of a value replaces all others.

Values are replaced and deleted in one insert, so all changes of a call become visible together. Concurrent changes of
the same key are not merged, and the later change wins.
"""

from collections.abc import Collection, Mapping
from typing import Final

from relaybook.log.store.clickhouse.connection import Database, Parameters

COLUMNS: Final = {
    "kind": "LowCardinality(String)",
    "recorder": "LowCardinality(String)",
    "key": "String",
    "value": "String",
    "is_deleted": "UInt8",
    "version": "UInt64",
}
#: Kinds for which each recorder has its own values. Values of all other kinds belong to the whole log.
_OF_RECORDERS: Final = frozenset(
    ("recorder", "position", "checkpoint", "running", "running_content", "erasure", "refused", "last_chunk")
)
#: New values by kind and key. `None` deletes a value.
Changes = Mapping[tuple[str, str], bytes | None]


class State:
    """The table ``state`` of a database.

    Some values belong to one recorder, and all others to the whole log. If the values of a kind belong to recorders,
    ``write`` and ``read_own`` use only the values of the recorder named ``recorder``. ``recorder`` may be empty if only
    values of the whole log are written.
    """

    def __init__(self, database: Database, recorder: str = "") -> None:
        self._database = database
        self._recorder = recorder

    def exists(self) -> bool:
        """Return whether the table was created."""
        return bool(self._database.query("EXISTS TABLE state")[0][0])

    def create(self) -> None:
        """Create the table if it is missing."""
        columns = ", ".join(f"{name} {type_}" for name, type_ in COLUMNS.items())
        self._database.execute(
            f"CREATE TABLE IF NOT EXISTS state ({columns}, written_at DateTime64(6) DEFAULT now64(6)) "
            "ENGINE = ReplacingMergeTree(version, is_deleted) ORDER BY (kind, recorder, key) "
            "SETTINGS old_parts_lifetime = 0, fsync_after_insert = 1, fsync_part_directory = 1, "
            "min_rows_to_fsync_after_merge = 1"
        )

    def read(
        self, kind: str, recorders: Collection[str] | None = None, deadline_ns: int | None = None
    ) -> dict[str, bytes]:
        """Return all values of a kind, sorted by key. With ``recorders``, return only the values of these recorders."""
        parameters = Parameters()
        sql = f"SELECT key, value FROM state FINAL WHERE kind = {parameters.add(kind)}"
        if recorders is not None:
            sql += f" AND recorder IN {parameters.add(sorted(recorders), 'Array(String)')}"
        return dict(
            self._database.query(f"{sql} ORDER BY key", parameters.values, deadline_ns=deadline_ns, as_bytes=("value",))
        )

    def read_all(self, kind: str) -> list[tuple[str, bytes]]:
        """Return pairs of key and value of a kind. If several recorders wrote a key, all their values are returned."""
        parameters = Parameters()
        sql = f"SELECT key, value FROM state FINAL WHERE kind = {parameters.add(kind)}"
        return self._database.query(sql, parameters.values, as_bytes=("value",))

    def read_own(self, kind: str) -> dict[str, bytes]:
        """Return the values of a kind that this recorder wrote, sorted by key."""
        return self.read(kind, [self._recorder])

    def read_with_ages(self, kind: str) -> list[tuple[str, bytes, int]]:
        """Return all values of a kind as recorder, value, and age in microseconds by the server's clock."""
        parameters = Parameters()
        sql = (
            "SELECT recorder, value, dateDiff('microsecond', written_at, now64(6)) FROM state FINAL "
            f"WHERE kind = {parameters.add(kind)} ORDER BY recorder"
        )
        return self._database.query(sql, parameters.values, as_bytes=("value",))

    def get(
        self, kind: str, key: str, recorders: Collection[str] | None = None, deadline_ns: int | None = None
    ) -> bytes | None:
        """Return one value. With ``recorders``, return only a value of these recorders. `None` if there is no value."""
        parameters = Parameters()
        sql = f"SELECT value FROM state FINAL WHERE kind = {parameters.add(kind)} AND key = {parameters.add(key)}"
        if recorders is not None:
            sql += f" AND recorder IN {parameters.add(sorted(recorders), 'Array(String)')}"
        rows = self._database.query(sql, parameters.values, deadline_ns=deadline_ns, as_bytes=("value",))
        return rows[0][0] if rows else None

    def write(self, changes: Changes) -> None:
        """Make all changes.

        Raises StoreUnavailable. In this case, ClickHouse makes either all changes, perhaps later, or none.
        """
        version = self._database.next_version()
        rows = [
            (
                kind,
                self._recorder if kind in _OF_RECORDERS else "",
                key,
                value or b"",
                int(value is None),
                version,
            )
            for (kind, key), value in changes.items()
        ]
        self._database.insert("state", COLUMNS, rows)
