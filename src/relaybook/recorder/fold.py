"""Puts an exchange together again from the journal's frames. Pure: frames in, exchanges out.

Every exchange comes out once: when its CLOSED is read, or when its run is over without one. What was recorded before a
restart is folded again and dropped, so that nothing is recorded twice.
"""

from collections.abc import Iterable
from typing import Final

import msgspec

from relaybook.journal.events import (
    Answered,
    Closed,
    Noted,
    Opened,
    decode_answered,
    decode_closed,
    decode_noted,
    decode_opened,
)
from relaybook.journal.frame import Frame, Kind
from relaybook.log.store.port import Body, Extent

_MOST_CHUNKS: Final = 100_000


class Exchange(msgspec.Struct, array_like=True):
    """What the journal tells of one exchange so far. Also how it is kept when it is moved aside (msgpack)."""

    id: bytes
    opened: Opened
    opened_ns: int
    request: Body
    response: Body
    answered: Answered | None = None
    closed: Closed | None = None
    last_ns: int = 0
    asked_ns: int | None = None
    request_bytes: int = 0
    response_bytes: int = 0
    #: Microseconds since OPENED, and bytes, of each piece of the provider's answer.
    chunk_at_us: list[int] = []
    chunk_bytes: list[int] = []
    chunks: int = 0
    #: Bytes in memory, that is in ``rest`` of both bodies.
    held: int = 0
    #: The first frame that is needed to build this again: (segment, offset, number). None when all was moved aside.
    first: tuple[int, int, int] | None = None
    #: Frames up to this number are in here already.
    number: int = 0

    @property
    def extents(self) -> list[Extent]:
        """What was set aside of both bodies."""
        return [*self.request.extents, *self.response.extents]


encode_exchange: Final = msgspec.msgpack.Encoder().encode
decode_exchange: Final = msgspec.msgpack.Decoder(Exchange).decode


class Fold:
    """One run's exchanges. ``recorded_to`` is the number of the last frame that was folded before a restart."""

    def __init__(self, recorded_to: int = 0, moved: Iterable[Exchange] = ()) -> None:
        self.open: dict[bytes, Exchange] = {exchange.id: exchange for exchange in moved}
        self.notes: list[Noted] = []
        self._recorded_to = recorded_to

    def feed(self, frames: Iterable[Frame]) -> list[Exchange]:
        """Exchanges that ended in these frames, in the order of their ends."""
        ended: list[Exchange] = []
        running = self.open
        for frame in frames:
            kind = frame.kind
            if kind == Kind.OPENED:
                if frame.exchange not in running:
                    running[frame.exchange] = _opened(frame)
                continue
            exchange = running.get(frame.exchange)
            if exchange is None:
                if kind == Kind.NOTED and frame.number > self._recorded_to:
                    self.notes.append(decode_noted(frame.payload))
                continue
            if frame.number <= exchange.number:
                continue
            exchange.number = frame.number
            exchange.last_ns = frame.time_ns
            if exchange.first is None:
                exchange.first = (frame.segment, frame.offset, frame.number)
            if kind == Kind.RECEIVED:
                _received(exchange, frame, frame.payload)
            elif kind == Kind.SENT:
                _sent(exchange, frame.payload)
            elif kind == Kind.ASKED:
                exchange.asked_ns = frame.time_ns
            elif kind == Kind.ANSWERED:
                _answered(exchange, frame)
            elif kind == Kind.MADE:
                _made(exchange, frame)
            elif kind == Kind.CLOSED:
                exchange.closed = decode_closed(frame.payload)
                del running[frame.exchange]
                if frame.number > self._recorded_to:
                    ended.append(exchange)
        return ended

    def end(self) -> list[Exchange]:
        """The run is over: what is still open was interrupted. It is not open any more afterwards."""
        cut = list(self.open.values())
        self.open.clear()
        for exchange in cut:
            exchange.closed = Closed("interrupted", None, "The relay process ended before the answer was complete.")
        return cut

    def first_needed(self) -> tuple[int, int, int] | None:
        """The first frame that some open exchange still needs."""
        return min((exchange.first for exchange in self.open.values() if exchange.first is not None), default=None)


def _opened(frame: Frame) -> Exchange:
    opened = decode_opened(frame.payload)
    body, opened.body = opened.body, b""
    exchange = Exchange(
        frame.exchange,
        opened,
        frame.time_ns,
        Body([], []),
        Body([], []),
        last_ns=frame.time_ns,
        chunk_at_us=[],
        chunk_bytes=[],
        first=(frame.segment, frame.offset, frame.number),
        number=frame.number,
    )
    if body:
        _sent(exchange, body)
    if opened.complete:
        exchange.asked_ns = frame.time_ns
    return exchange


def _answered(exchange: Exchange, frame: Frame) -> None:
    answered = decode_answered(frame.payload)
    body, answered.body = answered.body, b""
    exchange.answered = answered
    if body:
        _received(exchange, frame, body)


def _sent(exchange: Exchange, piece: bytes) -> None:
    size = len(piece)
    exchange.request.rest.append(piece)
    exchange.request_bytes += size
    exchange.held += size


def _received(exchange: Exchange, frame: Frame, piece: bytes) -> None:
    size = len(piece)
    exchange.response.rest.append(piece)
    exchange.response_bytes += size
    exchange.held += size
    exchange.chunks += 1
    if exchange.chunks <= _MOST_CHUNKS:
        exchange.chunk_at_us.append((frame.time_ns - exchange.opened_ns) // 1000)
        exchange.chunk_bytes.append(size)


def _made(exchange: Exchange, frame: Frame) -> None:
    """Bytes of our own that the caller got: part of the answer, but no chunk of the provider's."""
    size = len(frame.payload)
    exchange.response.rest.append(frame.payload)
    exchange.response_bytes += size
    exchange.held += size
