"""Split a JSON array that arrives piece by piece into its elements.

Google's APIs stream one JSON array if the client does not ask for server-sent events: each element is an event. The
elements of an array that broke off are read as far as they arrived. Brackets are only counted, so the array may contain
anything. The time is linear: each bracket takes one step of Python, all other bytes take none.
"""

import re
from collections.abc import Iterator
from typing import Final

_BOM: Final = b"\xef\xbb\xbf"
#: Everything up to the next bracket that is not in a string, or up to the end. A string without an end reaches to the
#: end. The pattern matches at any place, so that nothing is scanned twice.
_TO_BRACKET: Final = re.compile(rb'(?:[^"{}\[\]]++|"(?:[^"\\]++|\\.)*+"?)*+([{}\[\]]|\Z)', re.DOTALL)


def starts_as_array(data: bytes) -> bool:
    """Return whether a body begins like a JSON array."""
    return data[:1024].removeprefix(_BOM).lstrip(b" \t\r\n").startswith(b"[")


class JsonArray:
    """The elements of an array that are objects or lists. ``is_closed`` is set when the end of the array was read."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.is_closed = False

    def elements(self) -> Iterator[tuple[bytes, int]]:
        """Yield each complete element, and the offset in the data after it."""
        depth = start = 0
        for found in _TO_BRACKET.finditer(self._data):
            end = found.end()
            if not found[1]:
                return
            if found[1] in b"{[":
                depth += 1
                if depth == 2:
                    start = end - 1
                continue
            depth -= 1
            if depth == 1:
                yield self._data[start:end], end
            elif depth <= 0:
                self.is_closed = True
                return
