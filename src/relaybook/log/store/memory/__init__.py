"""Implement the interface in ``port.py`` in memory, for tests."""

from relaybook.log.store.memory.store import MemoryStore

__all__ = ["MemoryStore"]
