"""Knows a caller's next head when it differs from an earlier one in its length only. Pure.

Most callers send the same head again and again on a connection, and reading one anew costs a quarter of a request's
Python. What was found out about a head holds for every head of the same bytes around the digits of Content-Length; so
a memory belongs to one connection, and only a head that was read, checked and admitted gets into it.
"""

import re
from typing import Final

from relaybook.relay.request_head import RequestHead

_LENGTH: Final = re.compile(rb"(?i)\r\ncontent-length:[ \t]*([1-9]\d{0,11})[ \t]*\r\n")
_MOST_DIGITS: Final = 12
_LARGEST_HEAD: Final = 4096
_LONGEST_WAIT: Final = 63

Around = tuple[bytes, bytes]


class HeadCache:
    """One connection's memory of one head. Callers whose heads always differ are left alone for longer and longer."""

    __slots__ = ("_after", "_before", "_head", "_logged", "_misses_to_wait", "_wait", "_wire")

    def __init__(self) -> None:
        self._before = b""
        self._after = b""
        self._head = RequestHead()
        self._logged: Around = (b"", b"")
        self._wire: Around = (b"", b"")
        self._wait = 0
        self._misses_to_wait = 0

    def recall(self, data: bytes) -> tuple[RequestHead, int] | None:
        """The head that ``data`` begins with and where its body begins; None when it has to be read."""
        before = self._before
        if not before or not data.startswith(before):
            return None
        start = len(before)
        end = data.find(b"\r", start, start + _MOST_DIGITS + 1)
        digits = data[start:end] if end > start else b""  # compiled, a slice that ends before it begins is an error
        if not digits.isdigit() or digits[0] == 0x30 or not data.startswith(self._after, end):
            return None
        head = self._head.again(int(digits), digits.join(self._logged), digits.join(self._wire))
        return head, end + len(self._after)

    def remember(self, raw: bytes, head: RequestHead) -> None:
        """Keeps a head that was admitted and whose ``wire`` was made; ``raw`` is all of its bytes."""
        if self._misses_to_wait:
            self._misses_to_wait -= 1
            return
        self._wait = min(2 * self._wait + 1, _LONGEST_WAIT)
        self._misses_to_wait = self._wait
        whole = _around_length(raw)
        logged = _around_length(b"\r\n%b\r\n" % head.logged)
        wire = _around_length(head.wire)
        plain = head.keep_alive and not (head.chunked or head.expect or head.upgrade or head.version_1_0)
        if whole is None or logged is None or wire is None or not plain or len(raw) > _LARGEST_HEAD:
            return
        self._before, self._after = whole
        self._logged = (logged[0][2:], logged[1][:-2])
        self._wire = wire
        self._head = head


def _around_length(text: bytes) -> Around | None:
    """What stands before and after the digits of Content-Length; None where it has none or an odd one."""
    found = _LENGTH.search(text)
    return (text[: found.start(1)], text[found.end(1) :]) if found else None
