"""Open, back up, verify and set aside the SQLite store, and compute the bytes that it stores per day.

Modules that need ``apsw`` are imported when a method needs them, so that a process loads only the modules that it uses.
"""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from relaybook import clock
from relaybook.log.deletions import Deletions
from relaybook.log.feedback import FeedbackLog
from relaybook.log.namespaces import Labels
from relaybook.log.rereads import Rereads
from relaybook.log.retention import DAY_US
from relaybook.log.saved_filters import SavedFilters
from relaybook.log.store.errors import StoreMisconfigured, StoreUnavailable
from relaybook.log.store.file_store import Backup, FileStore, SetAside
from relaybook.log.store.files import BODIES, DATABASE, RECORDER
from relaybook.log.store.port import Durability, Reader, TextIndex, Verification, Writer

_DAYS: Final = 7
_MIN_BYTES: Final = 1 << 20


class SqliteStore:
    """The store in a directory. Implements ``Store`` and ``FileStore``."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.files: FileStore | None = self

    def check(self) -> None:
        self._reject_shared()
        reader = self.open_reader()
        try:
            reader.last_seq()
        finally:
            reader.close()

    def _reject_shared(self) -> None:
        """Raise StoreMisconfigured if this machine records to a shared log in ClickHouse.

        If the machine also recorded to this store, the log would be split between two stores.
        """
        if (self._directory / RECORDER).exists():
            raise StoreMisconfigured(
                f"The log of {self._directory.parent} is in ClickHouse. Set --store to the database's URL, or choose "
                f"another directory with --data. To start a log in SQLite, delete {self._directory / RECORDER}."
            )

    def exists(self) -> bool:
        return (self._directory / DATABASE).exists()

    def open_writer(self, *, durability: Durability = "process", lock_wait_s: float = 5.0) -> Writer:
        from relaybook.log.store.sqlite.writer import SqliteWriter

        self._reject_shared()
        return SqliteWriter(self._directory, durability=durability, lock_wait_s=lock_wait_s)

    def open_reader(self) -> Reader:
        from relaybook.log.store.sqlite.reader import SqliteReader

        return SqliteReader(self._directory)

    def open_text_index(self) -> TextIndex:
        from relaybook.log.store.sqlite.index.text_index import SqliteTextIndex

        return SqliteTextIndex(self._directory)

    def open_deletions(self) -> Deletions:
        from relaybook.log.store.sqlite.removal.deletions import SqliteDeletions

        return SqliteDeletions(self._directory)

    def open_rereads(self) -> Rereads:
        from relaybook.log.store.sqlite.rereading.rereads import SqliteRereads

        return SqliteRereads(self._directory)

    def open_labels(self) -> Labels:
        from relaybook.log.store.sqlite.labels import SqliteLabels

        return SqliteLabels(self._directory)

    def open_saved_filters(self) -> SavedFilters:
        from relaybook.log.store.sqlite.saved_filters import SqliteSavedFilters

        return SqliteSavedFilters(self._directory)

    def open_feedback(self) -> FeedbackLog:
        from relaybook.log.store.sqlite.feedback import SqliteFeedbackLog

        return SqliteFeedbackLog(self._directory)

    def bytes_per_day(self, oldest_us: int | None) -> float | None:
        from relaybook.log.store.sqlite.packs.pack_writer import first_pack_of_day, pack_number

        now_us = clock.wall_us()
        week_us = now_us - now_us % DAY_US - (_DAYS - 1) * DAY_US
        sizes = {}
        with suppress(OSError):
            for path in (self._directory / BODIES).iterdir():
                if (number := pack_number(path.name)) is not None:
                    sizes[number] = path.stat().st_blocks * 512
        first = first_pack_of_day(week_us)
        written = sum(size for number, size in sizes.items() if number >= first)
        if written <= _MIN_BYTES:
            return None
        if oldest_us is None:
            days = [week_us + day * DAY_US for day in range(_DAYS)]
            oldest_us = next((day for day in days if min(sizes) < first_pack_of_day(day + DAY_US)), now_us)
            if now_us - oldest_us < DAY_US:
                return None
        return written * DAY_US / max(DAY_US / 24, now_us - max(week_us, oldest_us))

    def forget_server(self, server: str) -> None:
        raise StoreUnavailable("The log is in the data directory, so no other server writes to the log.")

    def back_up(self, target: Path, on_progress: Callable[[int, int], object]) -> Backup:
        from relaybook.log.store.sqlite.backup import back_up

        return back_up(self._directory, target, on_progress)

    def verify(self, on_progress: Callable[[int, int], object]) -> Verification:
        from relaybook.log.store.sqlite.verify import verify

        return verify(self._directory, on_progress)

    def damage(self) -> str | None:
        from relaybook.log.store.sqlite.verify import structure_damage

        return structure_damage(self._directory)

    def set_aside(self) -> str | None:
        from relaybook.log.store.sqlite.set_aside import set_aside

        path = set_aside(self._directory)
        return None if path is None else str(path)

    def list_set_aside(self) -> list[SetAside]:
        from relaybook.log.store.sqlite.set_aside import DamagedStore, list_set_aside

        return [DamagedStore(path) for path in list_set_aside(self._directory)]
