"""Implement the interface in ``port.py`` in memory, for tests."""

from tests.support.memory_store.store import MemoryStore

__all__ = ["MemoryStore"]
