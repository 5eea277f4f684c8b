"""What the log must still be told of batches that could not be written, until there is room to tell it."""

from collections.abc import Set as AbstractSet
from typing import Final

from relaybook.journal.events import Closed, encode_event
from relaybook.journal.frame import NO_EXCHANGE, Kind

#: Kind, exchange, payload: what ``JournalWriter.append`` takes.
OwedFrame = tuple[Kind, bytes, bytes]

_LOST: Final = encode_event(
    Closed("interrupted", "log_unavailable", "The journal could not be written: the log lacks what came after this.")
)


class Owed:
    """Frames that stand for lost ones: the ends of exchanges that the log knows, and what was counted."""

    def __init__(self) -> None:
        self._frames: list[OwedFrame] = []

    def add_end(self, exchange: bytes) -> None:
        """The log lacks the rest of an exchange, and is to say so."""
        self._frames.append((Kind.CLOSED, exchange, _LOST))

    def add_lost(self, parts: list[bytes]) -> AbstractSet[bytes]:
        """A batch, heads and payloads by turns, was lost. Returns the exchanges that were to begin in it.

        Their ends are owed, too: a part of the batch may stand in a segment. Of others the recorder needs no end.
        """
        frames = [(head[16], head[17:33], payload) for head, payload in zip(parts[::2], parts[1::2], strict=True)]
        for kind, exchange, payload in frames:
            if kind == Kind.NOTED:
                self._frames.append((Kind.NOTED, NO_EXCHANGE, payload))
            elif kind == Kind.CLOSED:
                self.add_end(exchange)
        return {exchange for kind, exchange, _ in frames if kind == Kind.OPENED}

    def take(self) -> list[OwedFrame]:
        """All of it; nothing is owed any more."""
        frames, self._frames = self._frames, []
        return frames
