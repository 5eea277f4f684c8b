"""A connection to the provider: sends one request at a time and reads its answer.

Reads until the answer's end and not a byte further: a byte after it, or while idle, closes the connection, so that no
answer can reach another caller (RFC 9112 §6.3). Knows framing and limits of answers; what they mean is the exchange's.
"""

import select
import ssl
from contextlib import suppress
from typing import Protocol

from relaybook import clock
from relaybook.errors import RelayError
from relaybook.relay import endings
from relaybook.relay.connection import Connection
from relaybook.relay.exchange import Answer, Exchange, Surroundings
from relaybook.relay.framing import Body, ChunkedBody, FramingBroken, LengthBody, NoBody, UntilClose
from relaybook.relay.limits import MAX_HEADERS_BYTES, MAX_INFORMATIONAL, READ_BYTES
from relaybook.relay.pool import Pool
from relaybook.relay.response_head import ResponseBroken, ResponseHead, ResponseHeadReader


class UpstreamSurroundings(Surroundings, Protocol):
    """What a provider's connection needs of the worker it runs in."""

    response_heads: ResponseHeadReader


class Upstream(Connection):
    """One connection; ``exchange`` is None while it is idle in the pool."""

    __slots__ = (
        *("body", "end_told", "exchange", "fresh", "heard", "idle_seconds", "idle_since", "informational"),
        *("partial", "poll", "pool", "relay", "reusable", "wrote"),
    )

    def __init__(self, relay: UpstreamSurroundings, pool: "Pool[Upstream]") -> None:
        super().__init__()
        self.relay = relay
        self.pool = pool
        self.exchange: Exchange | None = None
        self.fresh = True
        self.wrote = False
        self.reusable = True
        #: Whether the provider said that it sends nothing more: by TCP, or where TLS is spoken by its close_notify.
        self.end_told = False
        self.body: Body | None = None
        self.partial = b""
        self.informational = 0
        self.heard = relay.now
        self.idle_since = 0.0
        self.idle_seconds = relay.settings.upstream_idle
        self.poll: select.poll | None = None

    def take_on(self, exchange: Exchange) -> None:
        """Serves an exchange from now on."""
        self.exchange = exchange
        exchange.connected(self)

    # -- sending -------------------------------------------------------------------------------------------------

    def send(self, data: bytes) -> None:
        """Queues bytes of the request behind the journal."""
        self.held += len(data)
        self.relay.gate.then(self.release, data)

    def release(self, data: bytes) -> None:
        """The gate lets bytes go. A pooled connection is looked at before its first byte, and never after."""
        self.held -= len(data)
        exchange = self.exchange
        if exchange is None:
            return  # closed meanwhile
        if not self.wrote and not self.fresh and (self.lost or self._has_ended()):
            self._give_back(exchange, data)
            return
        if self.lost:
            return
        try:
            self.transport.write(data)
        except RuntimeError:
            return  # closed meanwhile: connection_lost tells the exchange
        self.wrote = True
        exchange.sent_ns = clock.monotonic_ns()
        if exchange.down is not None and not exchange.down.reading and not self.write_paused:
            exchange.send()

    def _give_back(self, exchange: Exchange, data: bytes) -> None:
        exchange.reclaim()
        exchange.requeue(data)
        if self.held == 0:
            self.abort()
            exchange.lost_unused()

    def _has_ended(self) -> bool:
        """Whether the idle socket has something to read: an end, or bytes nobody asked for; or has had its end."""
        if self.end_told:
            return True
        if self.poll is None:
            found = self.transport.get_extra_info("socket")
            if found is None:
                return True
            self.poll = select.poll()
            self.poll.register(found.fileno(), select.POLLIN)
        return bool(self.poll.poll(0))

    def pause_writing(self) -> None:
        self.write_paused = True
        if self.exchange is not None and self.exchange.down is not None:
            self.exchange.down.feed_when(False)

    def resume_writing(self) -> None:
        self.write_paused = False
        if self.exchange is not None:
            self.exchange.send()

    # -- receiving -----------------------------------------------------------------------------------------------

    def received(self, data: bytes) -> None:
        exchange = self.exchange
        if exchange is None:
            self.abort()  # bytes while idle
            return
        if not self.wrote:
            self._spoke_unasked(exchange)
            return
        self.heard = self.relay.now
        body = self.body
        try:
            if body is None:
                self._read_heads(exchange, self.partial + data if self.partial else data)
                return
            piece = body.feed(data)
        except (ResponseBroken, FramingBroken) as error:
            if isinstance(error, FramingBroken) and error.piece and exchange.answer == Answer.ANSWERING:
                exchange.answer_piece(error.piece, False)
            endings.fail(
                exchange,
                RelayError.UPSTREAM_PROTOCOL_ERROR,
                f"The provider's answer is not valid HTTP ({error}). The request had been sent; it was not repeated.",
            )
            return
        complete = body.complete
        if complete and body.surplus:
            self.reusable = False
        exchange.answer_piece(piece, complete)

    def _spoke_unasked(self, exchange: Exchange) -> None:
        """Bytes before the request's first: they belong to nobody, least of all to this caller."""
        if self.fresh:
            message = "The provider sent bytes before it was asked anything. Nothing was sent to it."
            endings.fail(exchange, RelayError.UPSTREAM_PROTOCOL_ERROR, message)
        else:
            self.transport.abort()
            self._lost_unused(exchange)

    def _lost_unused(self, exchange: Exchange) -> None:
        """The request goes to another connection, once what the gate still holds for this one came back."""
        self.lost = True
        exchange.reclaim()
        if self.held == 0:
            self.exchange = None
            exchange.lost_unused()

    def _read_heads(self, exchange: Exchange, data: bytes) -> None:
        """Reads heads until the final one, and the body bytes that came with it."""
        while True:
            end = data.find(b"\r\n\r\n")
            if end < 0:
                if len(data) > MAX_HEADERS_BYTES:
                    raise ResponseBroken(f"a head over {MAX_HEADERS_BYTES} bytes")
                self.partial = data
                return
            head = self.relay.response_heads.read(data[: end + 4])
            data = data[end + 4 :]
            if head.status >= 200:
                break
            self.informational += 1
            if head.status == 101 or self.informational > MAX_INFORMATIONAL:
                raise ResponseBroken(f"status {head.status}, informational answer {self.informational}")
        self.partial = b""
        self.body = body = self._body_of(exchange, head)
        piece = body.feed(data) if data else b""
        self.reusable = not (head.close or (body.complete and body.surplus))
        if head.idle_seconds is not None:
            self.idle_seconds = min(self.idle_seconds, max(head.idle_seconds - 1, 0))
        exchange.answered(head, piece, body.complete)

    def _body_of(self, exchange: Exchange, head: ResponseHead) -> Body:
        if exchange.method == b"HEAD" or head.status in (204, 304):
            return NoBody()
        if head.chunked:
            return ChunkedBody()
        return UntilClose() if head.length is None else LengthBody(head.length)

    def finished(self, *, reusable: bool) -> None:
        self.exchange = None
        if reusable and self.reusable and self.held == 0 and not (self.lost or self.write_paused):
            self.body = None
            self.informational = 0
            self.fresh = self.wrote = False
            self.feed_when(True)
            self.pool.put(self, self.relay.now)
        else:
            self.abort()

    # -- the end -------------------------------------------------------------------------------------------------

    def eof_received(self) -> bool:
        self.end_told = True
        return False  # close; connection_lost follows

    def _read_rest(self) -> None:
        """Reads what TLS still holds when the connection ends: the transport would throw it away."""
        tls: ssl.SSLObject | None = self.transport.get_extra_info("ssl_object")
        with suppress(ssl.SSLError):  # there is no more of it, and no close_notify
            while tls is not None and self.exchange is not None:
                data = tls.read(READ_BYTES)
                if not data:
                    self.end_told = True
                    return
                self.received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost = True
        if exc is None:
            self._read_rest()
        exchange = self.exchange
        if exchange is None:
            self.pool.discard(self)
            return
        if not self.wrote and not self.fresh:
            self._lost_unused(exchange)
            return
        if isinstance(self.body, UntilClose) and exc is None and self.end_told:
            self.body.complete = True
            exchange.answer_piece(b"", True)
            return
        where = "in the middle of its answer" if self.body is not None else "before it answered"
        sent = "The request had been sent; it was not repeated." if self.wrote else "Nothing was sent; try again."
        endings.fail(exchange, RelayError.UPSTREAM_RESET, f"The provider closed the connection {where}. {sent}")

    def abort(self) -> None:
        self.exchange = None
        self.pool.discard(self)
        if not self.lost:
            self.transport.abort()
