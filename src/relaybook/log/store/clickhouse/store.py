"""Open writers, readers and other interfaces of a log in ClickHouse.

The store directory of a Relaybook server has only two files. The writer locks the file ``store.lock``. The file
``recorder`` contains the name of this server's recorder in the database. The name is an id that this server creates.
"""

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Final

from relaybook import clock, ids
from relaybook.log.deletions import Deletions
from relaybook.log.feedback import FeedbackLog
from relaybook.log.namespaces import Labels
from relaybook.log.rereads import Rereads
from relaybook.log.saved_filters import SavedFilters
from relaybook.log.store.clickhouse.connection import Database
from relaybook.log.store.clickhouse.deletions import ClickHouseDeletions
from relaybook.log.store.clickhouse.feedback import ClickHouseFeedbackLog
from relaybook.log.store.clickhouse.labels import ClickHouseLabels
from relaybook.log.store.clickhouse.reader import ClickHouseReader
from relaybook.log.store.clickhouse.recorders import lost_recorders
from relaybook.log.store.clickhouse.rereads import ClickHouseRereads
from relaybook.log.store.clickhouse.saved_filters import ClickHouseSavedFilters
from relaybook.log.store.clickhouse.schema import TABLE_NAMES, VERSION, create_tables
from relaybook.log.store.clickhouse.state import State
from relaybook.log.store.clickhouse.writer import ClickHouseWriter
from relaybook.log.store.errors import StoreMisconfigured, StoreUnavailable, until_writable
from relaybook.log.store.file_store import FileStore
from relaybook.log.store.files import DATABASE, LOCK, RECORDER
from relaybook.log.store.port import Batch, Durability, Reader, TextIndex, Verification, Writer
from relaybook.settings.store_url import DatabaseAddress
from relaybook.system import disk

_MAX_CLOCK_DIFFERENCE_US: Final = 5 * 60_000_000


class ClickHouseStore:
    """The log in a database. Implements ``Store``.

    ``directory`` is the store directory of this server.
    """

    def __init__(self, directory: Path, address: DatabaseAddress) -> None:
        self.files: FileStore | None = None
        self._directory = directory
        self._address = address

    def check(self) -> None:
        self._reject_sqlite()
        database = Database(self._address)
        try:
            state = State(database)
            create_tables(database, state)
            state.write({("meta", "version"): b"%d" % VERSION})  # fails if the user may only read
            if abs(database.server_us() - clock.wall_us()) > _MAX_CLOCK_DIFFERENCE_US:
                raise StoreMisconfigured(
                    f"The clock of this machine differs by more than {_MAX_CLOCK_DIFFERENCE_US // 60_000_000} minutes "
                    f"from the clock of ClickHouse at {database.address}. Correct the clock, for example with NTP."
                )
        finally:
            database.close()

    def _reject_sqlite(self) -> None:
        """Raise StoreMisconfigured if the directory has a SQLite log.

        If this server also recorded to ClickHouse, the log would be split between two stores.
        """
        if (self._directory / DATABASE).exists():
            data = self._directory.parent
            raise StoreMisconfigured(
                f"The log of {data} is in SQLite. To move the log to ClickHouse, run relaybook import --data {data} "
                "with the same --store. Otherwise, choose another directory with --data."
            )

    def exists(self) -> bool:
        """Return whether the log was created.

        Also returns True if ClickHouse does not respond, so that a reader reports the error.
        """
        database = Database(self._address)
        try:
            return State(database).exists()
        except StoreUnavailable:
            return True
        finally:
            database.close()

    def open_writer(self, *, durability: Durability = "process", lock_wait_s: float = 5.0) -> Writer:
        """Open the log for this server's recorder.

        ``durability`` has no effect, because ClickHouse always syncs commits.
        """
        self._reject_sqlite()
        try:
            disk.make_directory(self._directory)
            lock = disk.lock(self._directory / LOCK, lock_wait_s)
            if lock is None:
                raise StoreUnavailable(
                    f"{self._directory} is in use by another Relaybook. Stop that Relaybook, or choose another "
                    "directory with --data."
                )
            try:
                name = self._name() or self._create_name()
                # Two servers on one machine have different data directories.
                server = f"{socket.gethostname()}:{self._directory.parent}"
                return ClickHouseWriter(self._address, name, server=server, lock=lock)
            except BaseException:
                os.close(lock)
                raise
        except OSError as error:
            raise StoreUnavailable(f"{self._directory} is not usable: {error.strerror}.") from error

    def _name(self) -> str | None:
        """Return the name of this server's recorder. `None` if this server has never recorded in ClickHouse."""
        path = self._directory / RECORDER
        return path.read_text("ascii") if path.exists() else None

    def _create_name(self) -> str:
        name = ids.id_text(ids.new_id())
        new = self._directory / f".new-{RECORDER}"
        new.unlink(missing_ok=True)
        fd = disk.open_file(new)
        try:
            disk.write_at(fd, name.encode(), 0)
            disk.sync(fd)
        finally:
            os.close(fd)
        new.rename(self._directory / RECORDER)
        disk.sync_directory(self._directory)
        return name

    def open_reader(self) -> Reader:
        return ClickHouseReader(self._address)

    def open_text_index(self) -> TextIndex | None:
        """Return `None`, because the table of requests contains the text index."""
        return None

    def open_deletions(self) -> Deletions:
        return ClickHouseDeletions(self._address)

    def open_rereads(self) -> Rereads:
        return ClickHouseRereads(self._address)

    def open_labels(self) -> Labels:
        return ClickHouseLabels(self._address)

    def open_saved_filters(self) -> SavedFilters:
        return ClickHouseSavedFilters(self._address)

    def open_feedback(self) -> FeedbackLog:
        return ClickHouseFeedbackLog(self._address)

    def forget_server(self, server: str) -> None:
        """Mark a lost server's recorders as ended, so that no deletion waits for their journals.

        A recorder is lost if it has written nothing for 30 seconds and was not closed.
        """
        database = Database(self._address)
        try:
            create_tables(database, state := State(database))
            for name in lost_recorders(state, server):
                self._end(name, server)
        finally:
            database.close()

    def _end(self, name: str, server: str) -> None:
        writer = ClickHouseWriter(self._address, name, server=server)
        try:
            batch = Batch(running=[], finished_runs=list(writer.positions()))
            until_writable(lambda: writer.commit(batch))
        finally:
            writer.close()

    def verify(self, on_progress: Callable[[int, int], object]) -> Verification:
        """Let ClickHouse read all parts of the tables and verify their checksums."""
        database = Database(self._address)
        try:
            problems, damaged = [], 0
            ((records,),) = database.query("SELECT count() FROM requests WHERE NOT removed")
            for table in TABLE_NAMES:
                for part, message in database.damaged_parts(table):
                    rows = (
                        "SELECT sum(rows) FROM system.parts "
                        "WHERE database = currentDatabase() AND table = %(table)s AND name = %(part)s"
                    )
                    damaged += database.query(rows, {"table": table, "part": part})[0][0]
                    problems.append(f"{table}, part {part}: {message}")
            on_progress(records, records)
            return Verification(records=records, damaged=damaged, problems=problems)
        finally:
            database.close()
