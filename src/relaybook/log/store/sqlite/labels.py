"""Labels in the SQLite store: changes by people, from any process, and those a new log makes by itself."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import apsw

from relaybook.log.namespaces import FIRST, Label, LabelChange, changed, looks_like_id
from relaybook.log.record import Record
from relaybook.log.store.errors import StoreUnavailable
from relaybook.log.store.port import NamespaceRow
from relaybook.log.store.sqlite.connection import DATABASE, open_for_a_change
from relaybook.log.store.sqlite.failures import translated
from relaybook.log.store.sqlite.lists import namespace
from relaybook.log.store.sqlite.schema import check_upgraded

_LABEL: Final = 'SELECT pinned, color, "group", position FROM namespaces'
_SET: Final = """
INSERT INTO namespaces (namespace, pinned, color, "group", position, is_decided,
  requests, failed, input_tokens, output_tokens, cost_usd, first_at, last_at)
VALUES (?, ?, ?, ?, ?, 1, 0, 0, 0, 0, 0.0, 0, 0)
ON CONFLICT DO UPDATE SET pinned = excluded.pinned, color = excluded.color, "group" = excluded."group",
  position = excluded.position, is_decided = 1
"""


class SqliteLabels:
    """Changes labels beside the writer: each change is a connection and a short transaction of its own."""

    def __init__(self, directory: Path, *, busy_s: float = 2.0) -> None:
        """Opens nothing yet. ``busy_s`` is how long a change waits for other programs that hold the database."""
        self._directory = directory
        self._path = directory / DATABASE
        self._busy_s = busy_s

    def change(self, change: LabelChange) -> NamespaceRow:
        with translated(self._path):
            connection = open_for_a_change(self._directory, self._busy_s)
            try:
                if not check_upgraded(connection, str(self._path)):
                    raise StoreUnavailable(f"{self._path} holds no log yet: start `relaybook serve` once.")
                connection.execute("BEGIN IMMEDIATE")
                _change(connection, change)
                row = namespace(connection, change.namespace)
                connection.execute("COMMIT")
            finally:
                connection.close()
        return row


def _change(connection: apsw.Connection, change: LabelChange) -> None:
    """Within the caller's transaction."""
    name = (change.namespace,)
    now = next((_label(row) for row in connection.execute(f"{_LABEL} WHERE namespace = ?", name)), Label())
    others = [_label(row) for row in connection.execute(f"{_LABEL} WHERE pinned = 1 AND namespace <> ?", name)]
    after = changed(now, change, others)
    connection.execute(_SET, (*name, after.pinned, after.color, after.group, after.position))


def _label(row: tuple[int, int | None, str | None, int | None]) -> Label:
    return Label(bool(row[0]), *row[1:])


class FirstLabels:
    """Pins the first namespaces of a new log, within the writer's transactions. There is one writer."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._made: int = connection.execute("SELECT value FROM totals WHERE name = 'first_labels'").get
        #: Names that need no second look.
        self._seen: set[str] = set()
        self._pending = self._made, self._seen

    def store(self, records: Iterable[Record]) -> None:
        """Looks at the namespaces of records that were just added; at none once all first labels were made."""
        made, seen = self._made, set[str]()
        if made < FIRST:
            for name in dict.fromkeys(record.namespace for record in records):
                if made < FIRST and name not in self._seen and not looks_like_id(name):
                    seen.add(name)
                    made += self._pin(name)
            if made > self._made:
                self._connection.execute("UPDATE totals SET value = ? WHERE name = 'first_labels'", (made,))
        self._pending = made, seen

    def _pin(self, name: str) -> bool:
        """False: it was decided before, by a person or by the log."""
        if self._connection.execute("SELECT is_decided FROM namespaces WHERE namespace = ?", (name,)).get:
            return False
        _change(self._connection, LabelChange(namespace=name, pinned=True))
        return True

    def committed(self) -> None:
        """The transaction has ended well."""
        self._made, seen = self._pending
        self._seen |= seen
