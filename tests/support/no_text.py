"""A pass over the log that has no words to index: for recorders whose tests ask for none."""

from relaybook.log.store.memory import MemoryStore
from relaybook.recorder.text_pass import TextPass


def no_text() -> TextPass:
    """Finds nothing to do."""
    return TextPass(MemoryStore(), MemoryStore())
