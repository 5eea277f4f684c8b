"""Change the labels of namespaces in the SQLite store.

Any process can change labels, not only the recorder. The writer pins the first namespaces of a new log automatically.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import apsw

from relaybook.log.namespaces import MAX_AUTO_PINNED, Label, LabelChange, NamespaceRow, apply_change, looks_like_id
from relaybook.log.record import Record
from relaybook.log.store.sqlite.changes import transaction
from relaybook.log.store.sqlite.search.lists import namespace

_LABEL: Final = 'SELECT pinned, color, "group", position FROM namespaces'
_SET: Final = """
INSERT INTO namespaces (namespace, pinned, color, "group", position, is_decided,
  requests, failed, input_tokens, output_tokens, cost_usd, first_at, last_at)
VALUES (?, ?, ?, ?, ?, 1, 0, 0, 0, 0, 0.0, 0, 0)
ON CONFLICT DO UPDATE SET pinned = excluded.pinned, color = excluded.color, "group" = excluded."group",
  position = excluded.position, is_decided = 1
"""


class SqliteLabels:
    """Changes labels independently of the writer, which may be running in another process.

    Each change uses a new connection and a short transaction.
    """

    def __init__(self, directory: Path, *, busy_s: float = 2.0) -> None:
        """Create the object without opening anything.

        ``busy_s`` is how long a change waits while other programs lock the database.
        """
        self._directory = directory
        self._busy_s = busy_s

    def change(self, change: LabelChange) -> NamespaceRow:
        with transaction(self._directory, self._busy_s) as connection:
            _change(connection, change)
            return namespace(connection, change.namespace)


def _change(connection: apsw.Connection, change: LabelChange) -> None:
    """Change a label within the caller's transaction."""
    name = (change.namespace,)
    current = next((_label(row) for row in connection.execute(f"{_LABEL} WHERE namespace = ?", name)), Label())
    others = [_label(row) for row in connection.execute(f"{_LABEL} WHERE pinned = 1 AND namespace <> ?", name)]
    updated = apply_change(current, change, others)
    connection.execute(_SET, (*name, updated.pinned, updated.color, updated.group, updated.position))


def _label(row: tuple[int, int | None, str | None, int | None]) -> Label:
    return Label(bool(row[0]), *row[1:])


class AutoPins:
    """Pins the first namespaces of a new log, in the writer's transactions."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._created: int = connection.execute("SELECT value FROM totals WHERE name = 'auto_pinned'").get
        #: Namespaces that committed transactions have pinned, or found to be pinned or unpinned earlier.
        self._examined: set[str] = set()
        self._pending = self._created, self._examined

    def store(self, records: Iterable[Record]) -> None:
        """Pin the namespaces of newly added records, except names that look like ids.

        In one log, at most MAX_AUTO_PINNED namespaces are pinned automatically. After that, the method does nothing.
        """
        created, examined = self._created, set[str]()
        if created < MAX_AUTO_PINNED:
            for name in dict.fromkeys(record.namespace for record in records):
                if created < MAX_AUTO_PINNED and name not in self._examined and not looks_like_id(name):
                    examined.add(name)
                    created += self._pin(name)
            if created > self._created:
                self._connection.execute("UPDATE totals SET value = ? WHERE name = 'auto_pinned'", (created,))
        self._pending = created, examined

    def _pin(self, name: str) -> bool:
        """Pin a namespace. Returns False if the namespace was pinned or unpinned before."""
        if self._connection.execute("SELECT is_decided FROM namespaces WHERE namespace = ?", (name,)).get:
            return False
        _change(self._connection, LabelChange(namespace=name, pinned=True))
        return True

    def committed(self) -> None:
        """Update the cached state. Call this method after the commit of the transaction."""
        self._created, examined = self._pending
        self._examined |= examined
