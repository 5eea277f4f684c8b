"""Remembers the latest ids that were printed, so that none is printed twice."""

from collections import OrderedDict
from typing import Final

_KEPT: Final = 10_000


class Recent:
    """A set of ids that forgets the oldest beyond 10,000."""

    def __init__(self) -> None:
        self._ids: OrderedDict[str, None] = OrderedDict()

    def is_new(self, text: str) -> bool:
        """Whether the id was not seen yet; from now on it was."""
        if text in self._ids:
            return False
        self._ids[text] = None
        if len(self._ids) > _KEPT:
            self._ids.popitem(last=False)
        return True
