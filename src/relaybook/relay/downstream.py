"""A caller's connection: reads requests one after the other, decides whether they are admitted, writes answers.

Knows framing, limits and the order of requests; what a request means is the exchange's. A request that is not
admitted is answered here and never journaled, only counted.
"""

import asyncio

from relaybook.errors import RelayError
from relaybook.relay import admission, endings, refuse
from relaybook.relay.connection import Connection
from relaybook.relay.exchange import Answer, Exchange
from relaybook.relay.framing import Body, ChunkedBody, FramingBroken, LengthBody, NoBody
from relaybook.relay.head_cache import HeadCache
from relaybook.relay.limits import LINGER_BYTES, LINGER_SECONDS, MAX_HEAD, READ_BYTES, SLOWEST_BODY
from relaybook.relay.request_head import HeadRefused, RequestHead, check_beginning, skip_empty_lines
from relaybook.relay.shared import Shared


class Downstream(Connection):
    """One caller's connection; ``exchange`` is None between requests."""

    __slots__ = (
        *("address", "body", "body_bytes", "body_since", "deadline", "exchange", "keep_alive", "memory", "partial"),
        *("relay", "reset_on_cut", "version_1_0", "waiting_drain"),
    )

    def __init__(self, relay: Shared) -> None:
        super().__init__()
        self.relay = relay
        self.exchange: Exchange | None = None
        self.body: Body = NoBody()
        self.partial = b""
        self.keep_alive = True
        self.version_1_0 = self.reset_on_cut = self.waiting_drain = False
        self.memory = HeadCache()
        self.address = ""
        self.body_bytes, self.body_since = 0, 0.0
        #: The moment by which the next bytes, or the rest of a head, must have come.
        self.deadline = relay.now + relay.settings.header_timeout

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        peer = transport.get_extra_info("peername")
        self.address = peer[0] if isinstance(peer, tuple) else ""
        self.relay.connections.add(self)
        most = self.relay.settings.max_connections
        if len(self.relay.connections) > most:
            self._refuse(RelayError.OVERLOADED, f"More than {most} connections are open: try again in a second.")

    def received(self, data: bytes) -> None:
        exchange = self.exchange
        if self.lingering >= 0:
            self.discard(data)
        elif exchange is None:
            self._read_heads(self.partial + data if self.partial else data)
        elif not self.body.complete:
            self._read_body(exchange, data)
            if exchange.answer == Answer.WAITING:
                exchange.send()
        else:
            self.partial += data
            if len(self.partial) > READ_BYTES:
                self.feed_when(False)

    def _read_heads(self, data: bytes) -> None:
        """Reads heads while the front answers, a thousand in one read; none while the caller takes no answer."""
        while data and not self.write_paused:
            data = self._read_head(data)
        if data:
            self.partial = data
            self.feed_when(False)

    def _read_head(self, data: bytes) -> bytes:
        data = skip_empty_lines(data)
        known = self.memory.recall(data)
        start = known[1] if known else data.find(b"\r\n\r\n") + 4
        if start < 4 or start > MAX_HEAD:
            self._wait_for_head(data)
            return b""
        self.partial, self.keep_alive = b"", False
        try:
            head = known[0] if known else admission.read(self.relay, data[:start])
            self.keep_alive, self.version_1_0 = head.keep_alive, head.version_1_0
            exchange = admission.admit(self.relay, self, head)
        except HeadRefused as refused:
            self._refuse(refused.error, str(refused), refused.origin)
            return b""
        self.exchange = exchange
        if exchange is None:
            return self._answer_front(head, data[start:])
        self._begin_body(exchange, head, data[start:])
        if known is None:
            self.memory.remember(data[:start], head)
        return b""

    def _wait_for_head(self, data: bytes) -> None:
        try:
            check_beginning(data)
        except HeadRefused as refused:
            self._refuse(refused.error, str(refused))
            return
        if data and not self.partial:
            self.deadline = self.relay.now + self.relay.settings.header_timeout
        self.partial = data

    def _begin_body(self, exchange: Exchange, head: RequestHead, rest: bytes) -> None:
        relay = self.relay
        self.reset_on_cut = False
        self.body = body = ChunkedBody() if head.chunked else LengthBody(head.length) if head.length else NoBody()
        self.body_since = relay.now
        self.deadline = relay.now + relay.settings.body_timeout
        piece, broken = b"", ""
        try:
            if rest and not body.complete:
                piece = body.feed(rest)
        except FramingBroken as error:
            broken = refuse.body_broken(error)
        self.body_bytes = len(piece)
        exchange.open(head, admission.client_address(relay, self.address, head), piece, complete=body.complete)
        if broken:
            endings.refuse_admitted(exchange, RelayError.BAD_REQUEST, broken)
        elif (head.length or len(piece)) > relay.settings.max_request_bytes:
            endings.refuse_large(exchange, head.length or len(piece))
        else:
            if body.complete:
                self._body_over(body, rest if isinstance(body, NoBody) else body.surplus)
            elif head.expect and not rest and not head.version_1_0:
                relay.gate.then(self.release_continue, b"")
            exchange.send()

    def _body_over(self, body: Body, surplus: bytes) -> None:
        """What came after the request's end is the next one, unless chunks have hidden where it began."""
        if isinstance(body, ChunkedBody) and surplus:
            self.keep_alive = False
        else:
            self.partial = surplus

    def _read_body(self, exchange: Exchange, data: bytes) -> None:
        body = self.body
        try:
            piece = body.feed(data)
        except FramingBroken as error:
            endings.refuse_admitted(exchange, RelayError.BAD_REQUEST, refuse.body_broken(error))
            return
        self.deadline = self.relay.now + self.relay.settings.body_timeout
        self.body_bytes += len(piece)
        if exchange.answer != Answer.WAITING:
            self.feed_when(self.body_bytes <= LINGER_BYTES)  # answered early: some of the rest, lest a reset eats it
        elif self.body_bytes > self.relay.settings.max_request_bytes:
            endings.refuse_large(exchange, self.body_bytes)
            return
        elif piece:
            exchange.request_piece(piece)
        if body.complete:
            self._body_over(body, body.surplus)
            if exchange.answer == Answer.WAITING:
                exchange.request_end()

    def send(self, data: bytes) -> None:
        """Queues bytes of the answer behind the journal."""
        self.held += len(data)
        self.relay.gate.then(self.release, data)

    def release(self, data: bytes) -> None:
        self.held -= len(data)
        if self.lost:
            return
        try:
            self.transport.write(data)
        except RuntimeError:
            return  # closed meanwhile: connection_lost tells the exchange
        exchange = self.exchange
        if exchange is not None and exchange.up is not None:
            exchange.up.feed_when(self.held <= READ_BYTES and not self.write_paused)

    def release_continue(self, _: bytes) -> None:
        """The caller waits for our word before it sends the body (RFC 9110 §10.1.1)."""
        if not self.lost and self.exchange is not None and self.exchange.answer == Answer.WAITING:
            self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def pause_writing(self) -> None:
        self.write_paused = True
        if self.exchange is not None and self.exchange.up is not None:
            self.exchange.up.feed_when(False)

    def resume_writing(self) -> None:
        self.write_paused = False
        if self.waiting_drain:
            self.waiting_drain = False
            self.handed_over(b"")
        elif self.exchange is None:
            self._read_on()
        elif self.exchange.up is not None:
            self.exchange.up.feed_when(True)

    def handed_over(self, _: bytes) -> None:
        """The answer's last byte was written: ends the exchange once the kernel has it, and goes on."""
        if self.lost:
            return
        if self.write_paused:
            self.waiting_drain = True
            return
        exchange, self.exchange = self.exchange, None
        if exchange is not None:
            exchange.handed_over()
        self._next_request()

    def _next_request(self) -> None:
        if not self.keep_alive or self.relay.draining:
            self.close_gently(linger=not self.body.complete)
            return
        self.deadline = self.relay.now + self.relay.settings.keep_alive_timeout
        self._read_on()

    def _read_on(self) -> None:
        """Reads what came behind an answer before that was taken, and what comes."""
        if self.lingering < 0 and not self.transport.is_closing():
            rest, self.partial = self.partial, b""
            self.feed_when(True)
            self._read_heads(rest)

    def close_gently(self, *, linger: bool) -> None:
        """Closes after what was written; with ``linger`` the caller's rest is read a while, lest a reset eats it."""
        if not linger:
            self.close()
        elif self.lingering < 0:
            self.partial, self.deadline = b"", self.relay.now + LINGER_SECONDS
            self.linger(LINGER_BYTES)

    def _refuse(self, error: RelayError, message: str, origin: bytes = b"") -> None:
        # not admitted: answered and closed, for what follows may be its body
        self.relay.count_refused(error)
        if not self.lost:
            opened = self.relay.cors.headers(origin) if self.relay.cors else b""
            self.transport.write(refuse.answer(error, message, self.relay.prefix, opened))
        self.close_gently(linger=True)

    def _answer_front(self, head: RequestHead, rest: bytes) -> bytes:
        is_last = bool(head.length or head.chunked or not head.keep_alive or self.relay.leaving)
        self.transport.write(admission.answer(self.relay, head, is_last=is_last))
        if is_last:
            self.close_gently(linger=True)
            return b""
        self.deadline = self.relay.now + self.relay.settings.keep_alive_timeout
        return rest

    def cut(self, _: bytes) -> None:
        """Ends a broken answer: no clean end is possible after it. What was written before still goes out."""
        self.partial = b""
        if self.exchange is not None:
            self.exchange.down, self.exchange = None, None
        if self.reset_on_cut:
            self.reset()
        elif not self.lost:
            self.transport.close()

    def abandon(self) -> None:
        if self.exchange is not None:
            self.exchange = None
            self.reset()

    def drain(self) -> None:
        if self.exchange is None and not self.partial:
            self.close()

    def eof_received(self) -> bool:
        return False  # a caller that half-closes is gone: connection_lost follows

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost = True
        self.relay.connections.discard(self)
        exchange, self.exchange = self.exchange, None
        if exchange is not None:
            endings.caller_gone(exchange)

    def sweep(self, now: float) -> None:
        settings = self.relay.settings
        if self.stalled(now, settings.write_timeout):
            self.reset()
        elif self.exchange is None:
            if now > self.deadline:
                self._end_waiting()
        elif not self.body.complete and self.reading and not self.waiting_drain:
            self._sweep_body(self.exchange, now)

    def _end_waiting(self) -> None:
        if self.lingering >= 0 or not self.partial:
            self.close()
        else:
            message = f"The request's head did not arrive within {self.relay.settings.header_timeout:g} s."
            self._refuse(RelayError.REQUEST_TIMEOUT, message)

    def _sweep_body(self, exchange: Exchange, now: float) -> None:
        seconds = self.relay.settings.body_timeout
        ran = now - self.body_since
        slow = ran > seconds and self.body_bytes < SLOWEST_BODY * (ran - seconds)
        if exchange.answer == Answer.WAITING and (now > self.deadline or slow):
            message = refuse.body_too_slow(self.body_bytes, ran, seconds)
            endings.refuse_admitted(exchange, RelayError.REQUEST_TIMEOUT, message)
