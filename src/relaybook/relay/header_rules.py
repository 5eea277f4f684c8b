"""Which header lines need a closer look, decided by name and remembered by spelling. Pure.

A reader looks each line's name up as it was spelled: 40 ns, where deciding anew takes 500. Most names need nothing.
"""

import re
from collections.abc import Callable
from typing import Final, Generic, TypeVar

_SECRET: Final = re.compile(rb"auth|key|token|secret|cookie")
_NO_SECRET: Final = re.compile(rb"x-ratelimit-|openai-|.*-tokens")
_SPELLINGS_KEPT: Final = 4096
_LONGEST_KEPT: Final = 64
#: RFC 9110 §7.6.1, and what belongs to one connection by custom.
HOP_BY_HOP: Final = frozenset({b"keep-alive", b"proxy-connection", b"te", b"trailer", b"upgrade", b"http2-settings"})

H = TypeVar("H")
#: Takes a header line that needs a closer look: the head it belongs to, the line, and its value as it stands.
Handler = Callable[[H, bytes, bytes], None]


def holds_secret(name: bytes) -> bool:
    """Whether the value of a header of this name (lower case) may not be journaled."""
    return bool(_SECRET.search(name)) and not _NO_SECRET.match(name)


class NameTable(Generic[H]):
    """Spelling → look, learned; None for lines that cross as they are. ``decide`` gets a name in lower case."""

    def __init__(self, decide: Callable[[bytes], Handler[H] | None]) -> None:
        self._decide = decide
        #: Spellings seen before; a KeyError means ``learn``.
        self.known: dict[bytes, Handler[H] | None] = {}

    def sort(self, lines: list[bytes], head: H, crossing: list[bytes]) -> None:
        """Goes through a head's lines: those that cross as they are into ``crossing``, the others to their looks."""
        known = self.known
        keep = crossing.append
        for line in lines:
            name, _, value = line.partition(b":")
            try:
                look = known[name]
            except KeyError:
                look = self.learn(name)
            if look is None:
                keep(line)
            else:
                look(head, line, value)

    def learn(self, name: bytes) -> Handler[H] | None:
        """The look of a spelling not seen before."""
        look = self._decide(name.lower())
        if len(self.known) < _SPELLINGS_KEPT and len(name) <= _LONGEST_KEPT:
            self.known[name] = look
        return look


def replace_line(head: bytes, line: bytes, other: bytes) -> bytes:
    """A head's lines with one of them replaced, and no other that has it in itself."""
    return (b"\r\n%b\r\n" % head).replace(b"\r\n%b\r\n" % line, b"\r\n%b\r\n" % other, 1)[2:-2]


def drop(head: object, line: bytes, value: bytes) -> None:
    """The look of a line that does not cross."""
