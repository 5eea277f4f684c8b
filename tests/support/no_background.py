"""Provide background work that does nothing, for tests of a recorder without text search or retention."""

from relaybook.log.retention import Retention
from relaybook.log.store.memory import MemoryStore
from relaybook.recorder.retention_schedule import DiskUse, RetentionSchedule
from relaybook.recorder.text_pass import TextPass


def no_text() -> TextPass:
    """Return a text pass over an empty log."""
    return TextPass(MemoryStore(), MemoryStore())


def no_retention() -> RetentionSchedule:
    """Return a retention schedule for an empty log, without rules and without a disk budget."""
    return RetentionSchedule(Retention(), MemoryStore(), MemoryStore(), lambda: DiskUse(0, None))
