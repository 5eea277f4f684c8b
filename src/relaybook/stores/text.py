"""The port of the text index: which records say which words. It is filled behind the log and can be made anew from it.

A reader of the store finds by it (terms named ``words``); what is not indexed yet is not found.
"""

from collections.abc import Sequence
from typing import Protocol


class TextIndex(Protocol):
    """The one writer's face. What it raises are the errors of ``stores/errors.py``."""

    def indexed_to(self) -> int:
        """The newest ``seq`` that was looked at; 0: none."""

    def add(self, texts: Sequence[tuple[int, str]], up_to: int) -> None:
        """Adds what records say, by ``seq``, rising; all up to ``up_to`` have been looked at then. All or nothing."""

    def close(self) -> None: ...
