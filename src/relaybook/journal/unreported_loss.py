"""Keep frames that report lost batches. The writer appends these frames once the journal can be written again.

A batch consists of the frames that the writer writes together. A batch is lost if it cannot be written.
"""

from collections.abc import Set as AbstractSet
from typing import Final

from relaybook.journal.events import Closed, encode_event
from relaybook.journal.frame import NO_EXCHANGE, FrameKind

#: The arguments of ``JournalWriter.append``: kind, exchange and payload.
LossFrame = tuple[FrameKind, bytes, bytes]

_LOST: Final = encode_event(
    Closed(
        "interrupted",
        "log_incomplete",
        "The journal could not be written. The log does not contain the rest of this exchange.",
    )
)


class UnreportedLoss:
    """Collects the frames to write when the journal can be written again.

    A lost batch consists of frames that could not be written. Each exchange that ended in a lost batch gets a CLOSED
    frame. Each exchange that continues unlogged also gets a CLOSED frame. The COUNTED frames of lost batches are
    written again.
    """

    def __init__(self) -> None:
        self._frames: list[LossFrame] = []

    def add_end(self, exchange: bytes) -> None:
        """Add a CLOSED frame for an exchange whose last frames are not in the journal."""
        self._frames.append((FrameKind.CLOSED, exchange, _LOST))

    def add_lost(self, parts: list[bytes]) -> AbstractSet[bytes]:
        """Add frames that report a lost batch.

        ``parts`` has the head and the payload of each frame in the batch, in turn. Return the ids of the exchanges
        whose OPENED frame is in the batch. For each exchange that ended in the batch, add a CLOSED frame, because its
        earlier frames may have been written. The recorder ignores the CLOSED of an exchange whose OPENED was not
        written.
        """
        frames = [(head[16], head[17:33], payload) for head, payload in zip(parts[::2], parts[1::2], strict=True)]
        for kind, exchange, payload in frames:
            if kind == FrameKind.COUNTED:
                self._frames.append((FrameKind.COUNTED, NO_EXCHANGE, payload))
            elif kind == FrameKind.CLOSED:
                self.add_end(exchange)
        return {exchange for kind, exchange, _ in frames if kind == FrameKind.OPENED}

    def take(self) -> list[LossFrame]:
        """Return all collected frames and clear the collection."""
        frames, self._frames = self._frames, []
        return frames
