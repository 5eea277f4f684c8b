"""Assemble exchanges from the journal's frames.

Every exchange is returned once: when its CLOSED frame is read, or when its run ends without this frame. After a
restart, exchanges that are already recorded are assembled again, but not returned. So no exchange is recorded twice.
This module does no I/O.
"""

from collections.abc import Iterable
from typing import Final

import msgspec

from relaybook.journal.events import (
    Closed,
    Opened,
    RefusalCounts,
    ResponseBegin,
    decode_closed,
    decode_opened,
    decode_refusal_counts,
    decode_response_begin,
)
from relaybook.journal.frame import Frame, FrameKind
from relaybook.log.store.entry import Body, BodyRef

_MAX_CHUNKS: Final = 100_000


class JournalExchange(msgspec.Struct, array_like=True):
    """The state of one exchange after the last frame that was read.

    The state is encoded as msgpack when it is moved to the store.
    """

    id: bytes
    opened: Opened
    opened_ns: int
    request: Body
    response: Body
    response_begin: ResponseBegin | None = None
    closed: Closed | None = None
    last_ns: int = 0
    request_end_ns: int | None = None
    request_bytes: int = 0
    response_bytes: int = 0
    #: For each chunk from the upstream, the time in microseconds since OPENED.
    chunk_at_us: list[int] = []
    #: For each chunk from the upstream, the size in bytes.
    chunk_bytes: list[int] = []
    chunks: int = 0
    #: Number of body bytes in memory. These bytes are in ``request.rest`` and ``response.rest``.
    held: int = 0
    #: The first frame that is needed to rebuild this state, as (segment, offset, number). `None` if the state is in the
    #: store.
    first: tuple[int, int, int] | None = None
    #: The state includes the frames up to this number.
    number: int = 0
    #: Number of ``refs`` in the last checkpoint, which is the state that was moved to the store.
    saved_refs: int = 0

    @property
    def refs(self) -> list[BodyRef]:
        """References to the parts of both bodies that were moved to the store."""
        return [*self.request.refs, *self.response.refs]


encode_exchange: Final = msgspec.msgpack.Encoder().encode
decode_exchange: Final = msgspec.msgpack.Decoder(JournalExchange).decode


class Fold:
    """Assembles the exchanges of one run from its frames.

    ``recorded_to`` is the number of the last frame that the recorder had read and committed before it restarted.
    ``checkpoints`` are open exchanges whose state was moved to the store.
    """

    def __init__(self, recorded_to: int = 0, checkpoints: Iterable[JournalExchange] = ()) -> None:
        self.open: dict[bytes, JournalExchange] = {exchange.id: exchange for exchange in checkpoints}
        self.refusal_counts: list[RefusalCounts] = []
        self._recorded_to = recorded_to

    def feed(self, frames: Iterable[Frame]) -> list[JournalExchange]:
        """Add frames to their exchanges. Return the exchanges that ended, in the order in which they ended.

        Exchanges that were recorded before a restart are not returned.
        """
        ended: list[JournalExchange] = []
        running = self.open
        for frame in frames:
            kind = frame.kind
            if kind == FrameKind.OPENED:
                if frame.exchange not in running:
                    running[frame.exchange] = _opened(frame)
                continue
            exchange = running.get(frame.exchange)
            if exchange is None:
                if kind == FrameKind.COUNTED and frame.number > self._recorded_to:
                    self.refusal_counts.append(decode_refusal_counts(frame.payload))
                continue
            if frame.number <= exchange.number:
                continue
            exchange.number = frame.number
            exchange.last_ns = frame.time_ns
            if exchange.first is None:
                exchange.first = (frame.segment, frame.offset, frame.number)
            if kind == FrameKind.RECEIVED:
                _received(exchange, frame, frame.payload)
            elif kind == FrameKind.SENT:
                _sent(exchange, frame.payload)
            elif kind == FrameKind.REQUEST_END:
                exchange.request_end_ns = frame.time_ns
            elif kind == FrameKind.RESPONSE_BEGIN:
                _response_begin(exchange, frame)
            elif kind == FrameKind.MADE:
                _made(exchange, frame)
            elif kind == FrameKind.CLOSED:
                exchange.closed = decode_closed(frame.payload)
                del running[frame.exchange]
                if frame.number > self._recorded_to:
                    ended.append(exchange)
        return ended

    def end(self) -> list[JournalExchange]:
        """Close all open exchanges as interrupted, because the run has ended. Return these exchanges."""
        interrupted = list(self.open.values())
        self.open.clear()
        for exchange in interrupted:
            exchange.closed = Closed("interrupted", None, "The relay process ended before the response was complete.")
        return interrupted

    def first_needed(self) -> tuple[int, int, int] | None:
        """Return the first frame that is needed to rebuild the open exchanges after a restart.

        The result is (segment, offset, number), or `None` if no frame is needed.
        """
        return min((exchange.first for exchange in self.open.values() if exchange.first is not None), default=None)


def _opened(frame: Frame) -> JournalExchange:
    opened = decode_opened(frame.payload)
    body, opened.body = opened.body, b""
    exchange = JournalExchange(
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
        exchange.request_end_ns = frame.time_ns
    return exchange


def _response_begin(exchange: JournalExchange, frame: Frame) -> None:
    begin = decode_response_begin(frame.payload)
    body, begin.body = begin.body, b""
    exchange.response_begin = begin
    if body:
        _received(exchange, frame, body)


def _sent(exchange: JournalExchange, chunk: bytes) -> None:
    size = len(chunk)
    exchange.request.rest.append(chunk)
    exchange.request_bytes += size
    exchange.held += size


def _received(exchange: JournalExchange, frame: Frame, chunk: bytes) -> None:
    size = len(chunk)
    exchange.response.rest.append(chunk)
    exchange.response_bytes += size
    exchange.held += size
    exchange.chunks += 1
    if exchange.chunks <= _MAX_CHUNKS:
        exchange.chunk_at_us.append((frame.time_ns - exchange.opened_ns) // 1000)
        exchange.chunk_bytes.append(size)


def _made(exchange: JournalExchange, frame: Frame) -> None:
    """Add bytes that the relay itself sent to the client.

    These bytes are part of the response, but are not a chunk from the upstream.
    """
    size = len(frame.payload)
    exchange.response.rest.append(frame.payload)
    exchange.response_bytes += size
    exchange.held += size
