"""Make short changes to the database alongside the writer, from any process."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from relaybook.log.store.errors import StoreUnavailable
from relaybook.log.store.files import DATABASE
from relaybook.log.store.sqlite.connection import open_for_change
from relaybook.log.store.sqlite.failures import translated
from relaybook.log.store.sqlite.schema import is_created


@contextmanager
def transaction(directory: Path, busy_s: float) -> Iterator[apsw.Connection]:
    """Run the ``with`` block in a transaction on a new connection. An exception rolls the transaction back.

    Raises StoreUnavailable if there is no log yet, or if other programs hold the database for longer than ``busy_s``.
    """
    path = directory / DATABASE
    with translated(path):
        connection = open_for_change(directory, busy_s)
        try:
            if not is_created(connection, str(path)):
                raise StoreUnavailable(f"{path} does not contain a log yet. Start `relaybook serve` once.")
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")
        finally:
            connection.close()
