"""Provide background work that does nothing, for tests of a recorder without text search, imports or retention."""

from pathlib import Path

from relaybook.log.retention import Retention
from relaybook.log.store.memory import MemoryStore
from relaybook.log.store.port import Writer
from relaybook.recorder.background import BackgroundWork
from relaybook.recorder.disk_reserve import DiskReserve
from relaybook.recorder.import_queue import ImportQueue
from relaybook.recorder.retention_schedule import DiskUse, RetentionSchedule
from relaybook.recorder.text_pass import TextPass


def no_background(store: Writer) -> BackgroundWork:
    """Return background work on an empty log, which only carries out the deletions of ``store``."""
    empty = MemoryStore()
    text = TextPass(empty, empty)
    imports = ImportQueue(Path("missing"), empty, empty, text, 0)
    retention = RetentionSchedule(Retention(), empty, empty, lambda: DiskUse(0, None))
    return BackgroundWork(store, text, imports, retention, DiskReserve(Path("missing"), 0))
