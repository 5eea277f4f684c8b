"""What happens to a header line, decided by its name and remembered by its spelling. Pure.

The table of a reader is filled as names come: a look-up costs 40 ns, the decision itself is made once a spelling.
"""

import re
from collections.abc import Callable
from enum import IntEnum
from typing import Final

_SECRET: Final = re.compile(rb"auth|key|token|secret|cookie")
_NO_SECRET: Final = re.compile(rb"x-ratelimit-|openai-|.*-tokens")
_SPELLINGS_KEPT: Final = 4096
_LONGEST_KEPT: Final = 64
#: RFC 9110 §7.6.1, and what belongs to one connection by custom.
HOP_BY_HOP: Final = frozenset({b"keep-alive", b"proxy-connection", b"te", b"trailer", b"upgrade", b"http2-settings"})


class Treatment(IntEnum):
    """What happens to a header line, by its name."""

    KEEP = 0
    DROP = 1
    SECRET = 2
    SECRET_DROP = 3
    CALLER_KEY = 4
    HOST = 5
    LENGTH = 6
    CHUNKED = 7
    CONNECTION = 8
    EXPECT = 9
    UPGRADE = 10
    TAG = 11
    FORWARDED_FOR = 12
    KEEP_ALIVE = 13
    TYPE = 14
    ENCODING = 15
    ORIGIN = 16
    PREFLIGHT = 17


def holds_secret(name: bytes) -> bool:
    """Whether the value of a header of this name (lower case) may not be journaled."""
    return bool(_SECRET.search(name)) and not _NO_SECRET.match(name)


class NameTable:
    """Spelling → treatment, learned. ``decide`` gets a name in lower case."""

    def __init__(self, decide: Callable[[bytes], int]) -> None:
        self._decide = decide
        self._known: dict[bytes, int] = {}
        #: The treatment of a spelling seen before, else None.
        self.get = self._known.get

    def learn(self, name: bytes) -> int:
        """The treatment of a spelling not seen before."""
        treatment = self._decide(name.lower())
        if len(self._known) < _SPELLINGS_KEPT and len(name) <= _LONGEST_KEPT:
            self._known[name] = treatment
        return treatment
