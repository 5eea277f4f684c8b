"""Provide passes that do nothing, for tests of a recorder without text search, imports or retention."""

from pathlib import Path

from tests.support.memory_store import MemoryStore

from relaybook.log.prices import Prices
from relaybook.log.retention import Retention
from relaybook.log.store.port import Writer
from relaybook.recorder.disk_reserve import DiskReserve
from relaybook.recorder.entry_builder import EntryBuilder
from relaybook.recorder.passes.imports import ImportPass
from relaybook.recorder.passes.reread import RereadPass
from relaybook.recorder.passes.retain import DiskUse, RetainPass
from relaybook.recorder.passes.schedule import Passes
from relaybook.recorder.passes.text import TextPass


def no_passes(store: Writer) -> Passes:
    """Return passes on an empty log, which only carry out the deletions of ``store``."""
    empty = MemoryStore()
    text = TextPass(empty, empty)
    imports = ImportPass(Path("missing"), empty, empty, text, 0)
    retention = RetainPass(Retention(), empty, empty, lambda: DiskUse(0, None))
    return Passes(store, text, imports, retention, a_reread_pass(empty), DiskReserve(Path("missing"), 0))


def a_reread_pass(store: Writer) -> RereadPass:
    """Return a pass that rereads the requests of ``store`` with the prices of the default settings."""
    return RereadPass(store, EntryBuilder(Prices(), store.read_body))
