"""The in-memory store: the simplest implementation of the port, for tests."""

from relaybook.log.store.memory.store import MemoryStore

__all__ = ["MemoryStore"]
