"""Provide a text pass without work, for tests of recorders that do not search text."""

from relaybook.log.store.memory import MemoryStore
from relaybook.recorder.text_pass import TextPass


def no_text() -> TextPass:
    """Return a text pass over an empty log."""
    return TextPass(MemoryStore(), MemoryStore())
