"""Read requests from a client in order, pass them to admission, and write the responses.

This module handles framing, limits and the order of requests. ``Exchange`` handles the request itself. If a request is
refused before admission, this module responds to the request and counts it. The request is not journaled.
"""

import asyncio

from relaybook.apis import expects_text_error
from relaybook.errors import RelayError
from relaybook.relay import admission, response_lines
from relaybook.relay.connection import Connection
from relaybook.relay.context import RelayContext
from relaybook.relay.exchange import Exchange, RequestState
from relaybook.relay.framing import Body, ChunkedBody, FramingError, LengthBody, NoBody
from relaybook.relay.head_cache import HeadCache
from relaybook.relay.limits import LINGER_BYTES, LINGER_SECONDS, MAX_HEAD, MIN_BODY_RATE, READ_BYTES
from relaybook.relay.request_head import HeadRefused, RequestHead, check_beginning, skip_empty_lines


class ClientConnection(Connection):
    """A connection to a client. ``exchange`` is `None` between requests."""

    __slots__ = (
        *("address", "body", "body_bytes", "body_since", "bytes_before", "deadline", "exchange", "head_cache"),
        *("keep_alive", "partial", "relay", "reset_on_cut", "reset_when_sent", "version_1_0", "waiting_for_flush"),
    )

    def __init__(self, relay: RelayContext) -> None:
        super().__init__()
        self.relay = relay
        self.exchange: Exchange | None = None
        self.body: Body = NoBody()
        self.partial = b""
        self.keep_alive = True
        self.version_1_0 = self.reset_on_cut = self.waiting_for_flush = False
        #: Whether a response was cut and the connection is reset as soon as the client has received the written bytes.
        self.reset_when_sent = False
        self.head_cache = HeadCache()
        self.address = ""
        #: ``body_bytes`` is the number of body bytes received so far. ``bytes_before`` is the number of body bytes
        #: received before ``body_since`` (loop time).
        self.body_bytes, self.bytes_before, self.body_since = 0, 0, 0.0
        #: Loop time by which the client must send the next bytes, or the rest of a head.
        self.deadline = relay.now + relay.settings.header_timeout

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        peername = transport.get_extra_info("peername")
        self.address = peername[0] if isinstance(peername, tuple) else ""
        self.relay.connections.add(self)
        limit = self.relay.settings.max_connections
        if len(self.relay.connections) > limit:
            message = (
                f"{limit} connections are open, which is the limit (setting max_connections). Try again in a second."
            )
            self._refuse(RelayError.OVERLOADED, message)

    def received(self, data: bytes) -> None:
        exchange = self.exchange
        if self.lingering >= 0:
            self.discard(data)
        elif exchange is None:
            self._read_heads(self.partial + data if self.partial else data)
        elif not self.body.complete:
            self._read_body(exchange, data)
            if exchange.request_state != RequestState.ABANDONED:
                exchange.send()
        else:
            self._hold(self.partial + data)

    def _hold(self, data: bytes) -> None:
        """Keep the bytes of the next requests until the running exchange ends. Stop reading if there are many."""
        self.partial = data
        if len(data) > READ_BYTES:
            self.set_reading(False)

    def set_reading(self, enabled: bool) -> None:
        """Start or stop reading, but do not start while the held bytes of the next requests are many."""
        is_full = self.exchange is not None and self.body.complete and len(self.partial) > READ_BYTES
        super().set_reading(enabled and not is_full)

    def _read_heads(self, data: bytes) -> None:
        """Parse heads until a request is admitted or refused, or the connection closes.

        One read can contain a thousand heads, for example of requests for ``/healthz``. Parsing stops while the client
        does not read its responses.
        """
        while data and not self.write_paused:
            data = self._read_head(data)
        if data:
            self.partial = data
            self.set_reading(False)

    def _read_head(self, data: bytes) -> bytes:
        data = skip_empty_lines(data)
        cached = self.head_cache.lookup(data)
        start = cached.end if cached else data.find(b"\r\n\r\n") + 4
        if start < 4 or start > MAX_HEAD:
            self._wait_for_head(data[:start] if start > MAX_HEAD else data)
            return b""
        self.partial, self.keep_alive = b"", False
        head = destination = None
        wire = b""
        if cached is not None:
            head, destination, wire, _ = cached
        try:
            if head is None:
                head = self.relay.request_heads.read(data[:start])
                admission.check(self.relay, head)
                destination = admission.find_destination(self.relay, head)
            self.keep_alive, self.version_1_0 = head.keep_alive, head.version_1_0
            if destination is None:
                return self._send_own_response(head, data[start:])
            self.exchange = exchange = admission.admit(self.relay, self, head, destination)
        except HeadRefused as refused:
            self._refuse(refused.error, str(refused), head, head_only=data.startswith(b"HEAD "))
            return b""
        if cached is None:
            wire = destination.route.upstream_head(head, destination.target)
        self._begin_body(exchange, head, wire, data[start:])
        if cached is None:
            self.head_cache.store(data[:start], head, destination, wire)
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

    def _begin_body(self, exchange: Exchange, head: RequestHead, wire: bytes, rest: bytes) -> None:
        relay = self.relay
        self.reset_on_cut = False
        self.body = body = ChunkedBody() if head.chunked else LengthBody(head.length) if head.length else NoBody()
        self.body_since, self.bytes_before = relay.now, 0
        self.deadline = relay.now + relay.settings.body_timeout
        chunk, framing_message = b"", ""
        try:
            if rest and not body.complete:
                chunk = body.feed(rest)
        except FramingError as error:
            framing_message = response_lines.malformed_body(error)
        self.body_bytes = len(chunk)
        address = admission.address_of_client(relay, self.address, head)
        exchange.open(head, wire, address, chunk, complete=body.complete)
        if framing_message:
            exchange.refuse(RelayError.BAD_REQUEST, framing_message)
        elif (head.length or len(chunk)) > relay.settings.max_request_bytes:
            exchange.refuse_large(head.length or len(chunk))
        else:
            if body.complete:
                self._end_body(body, rest if isinstance(body, NoBody) else body.surplus)
            elif head.expect and not rest and not head.version_1_0:
                relay.gate.then(self.release_continue, b"")
            exchange.send()

    def _end_body(self, body: Body, surplus: bytes) -> None:
        """Keep the bytes after a request as the start of the next request.

        If bytes follow a chunked body, the connection closes after the response, because the parser of chunked bodies
        does not return these bytes.
        """
        if isinstance(body, ChunkedBody) and surplus:
            self.keep_alive = False
        else:
            self._hold(surplus)

    def _read_body(self, exchange: Exchange, data: bytes) -> None:
        body = self.body
        try:
            chunk = body.feed(data)
        except FramingError as error:
            exchange.refuse(RelayError.BAD_REQUEST, response_lines.malformed_body(error))
            return
        self.deadline = self.relay.now + self.relay.settings.body_timeout
        self.body_bytes += len(chunk)
        if exchange.request_state == RequestState.ABANDONED:
            # after an early response, continue reading: closing a connection with unread bytes causes a TCP reset,
            # which could destroy the response
            self.set_reading(self.body_bytes <= LINGER_BYTES)
        elif self.body_bytes > self.relay.settings.max_request_bytes:
            exchange.refuse_large(self.body_bytes)
            return
        elif chunk:
            exchange.request_chunk(chunk)
        if body.complete:
            self._end_body(body, body.surplus)
            exchange.request_end()

    def send(self, data: bytes) -> None:
        """Send response bytes once the journal contains all earlier frames."""
        self.queued_bytes += len(data)
        self.relay.gate.then(self.release, data)

    def release(self, data: bytes) -> None:
        self.queued_bytes -= len(data)
        if self.lost:
            return
        try:
            self.transport.write(data)
        except RuntimeError:
            return  # the connection is closed, and connection_lost tells the exchange
        if self.exchange is not None:
            self.exchange.client_ready(self.queued_bytes <= READ_BYTES and not self.write_paused)

    def release_continue(self, _: bytes) -> None:
        """Send 100 Continue, because the client sent ``Expect: 100-continue`` and waits (RFC 9110 §10.1.1)."""
        if not self.lost and self.exchange is not None and self.exchange.request_state == RequestState.READING:
            self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def pause_writing(self) -> None:
        self.write_paused = True
        if self.exchange is not None:
            self.exchange.client_ready(False)

    def resume_writing(self) -> None:
        self.write_paused = False
        if self.waiting_for_flush:
            self.waiting_for_flush = False
            self.response_sent(b"")
        elif self.exchange is None:
            self._resume()
        else:
            self.exchange.client_ready(True)

    def response_sent(self, _: bytes) -> None:
        """End the exchange once the kernel has the last byte of the response, then read the next request."""
        if self.lost or self.transport.is_closing():
            return  # the last write failed, and connection_lost will be called
        if self.write_paused:
            self.waiting_for_flush = True
            return
        exchange, self.exchange = self.exchange, None
        if exchange is not None:
            exchange.response_sent()
        self._next_request()

    def _next_request(self) -> None:
        if not self.keep_alive or self.relay.draining:
            self.close_gently(linger=bool(self.partial) or not self.body.complete)
            return
        self.deadline = self.relay.now + self.relay.settings.keep_alive_timeout
        self._resume()

    def _resume(self) -> None:
        """Parse bytes that arrived during the last response, and continue reading."""
        if self.lingering < 0 and not (self.reset_when_sent or self.transport.is_closing()):
            rest, self.partial = self.partial, b""
            self.set_reading(True)
            self._read_heads(rest)

    def close_gently(self, *, linger: bool) -> None:
        """Close the connection after all written bytes are sent.

        With ``linger``, input is first read and discarded for a while. Closing a connection with unread input causes a
        TCP reset, which could destroy the response.
        """
        if not linger:
            self.close()
        elif self.lingering < 0:
            self.partial, self.deadline = b"", self.relay.now + LINGER_SECONDS
            self.linger(LINGER_BYTES)

    def _refuse(
        self, error: RelayError, message: str, head: RequestHead | None = None, *, head_only: bool = False
    ) -> None:
        # close after the response, because the following bytes may be the body of this request
        self.relay.count_refused(error)
        if not self.lost:
            cors_lines = self.relay.cors.headers(head.origin if head else b"") if self.relay.cors else b""
            is_text = head is not None and expects_text_error(head.target.partition(b"?")[0].decode("latin-1"))
            response = response_lines.error_response(
                error, message, self.relay.prefix, cors_lines, is_text=is_text, head_only=head_only
            )
            self.transport.write(response)
        self.close_gently(linger=True)

    def _send_own_response(self, head: RequestHead, rest: bytes) -> bytes:
        is_last = bool(head.length or head.chunked or not head.keep_alive or self.relay.retiring)
        self.transport.write(admission.own_response(self.relay, head, is_last=is_last))
        if is_last:
            self.close_gently(linger=True)
            return b""
        self.deadline = self.relay.now + self.relay.settings.keep_alive_timeout
        return rest

    def cut(self, _: bytes) -> None:
        """End a broken response so that the client cannot mistake it for a complete response.

        All written bytes are still sent. With ``reset_on_cut``, the connection is then reset. A reset discards unsent
        bytes, so it waits until the client has received them, or for ``write_timeout``.
        """
        self.partial = b""
        self.exchange = None
        if self.lost:
            return
        if self.reset_on_cut:
            self.reset_when_sent = True
            self.deadline = self.relay.now + self.relay.settings.write_timeout
            self.set_reading(False)
            self._reset_if_sent()
        else:
            self.transport.close()

    def _reset_if_sent(self) -> None:
        if not self.write_paused and not self.bytes_in_kernel():
            self.reset()

    @property
    def is_ending(self) -> bool:
        return super().is_ending or self.reset_when_sent

    def close(self) -> None:
        if self.reset_when_sent:
            self.reset()
        else:
            super().close()

    def abandon(self) -> None:
        if self.exchange is not None:
            self.exchange = None
            self.reset()

    def drain(self) -> None:
        if self.exchange is None and not (self.partial or self.reset_when_sent) and self.lingering < 0:
            self.close()

    def eof_received(self) -> bool:
        return False  # close the connection, because a half-closed client is treated as gone

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost = True
        self.relay.connections.discard(self)
        exchange, self.exchange = self.exchange, None
        if exchange is not None:
            exchange.client_gone()

    def sweep(self, now: float) -> None:
        settings = self.relay.settings
        if self.stalled(now, settings.write_timeout):
            self.reset()
        elif self.exchange is None:
            if now > self.deadline:
                self._deadline_passed()
            elif self.reset_when_sent:
                self._reset_if_sent()
        elif not self.body.complete and not self.waiting_for_flush:
            if self.reading:
                self._sweep_body(self.exchange, now)
            else:  # reading is paused because the upstream is slow, so restart the time limit of the body
                self.body_since, self.deadline = now, now + settings.body_timeout
                self.bytes_before = self.body_bytes

    def _deadline_passed(self) -> None:
        if self.lingering >= 0 or not self.partial:
            self.close()
        else:
            seconds = self.relay.settings.header_timeout
            message = f"The request headers did not arrive within {seconds:g} s (setting header_timeout)."
            self._refuse(RelayError.REQUEST_TIMEOUT, message)

    def _sweep_body(self, exchange: Exchange, now: float) -> None:
        seconds = self.relay.settings.body_timeout
        seconds_elapsed = now - self.body_since
        received = self.body_bytes - self.bytes_before
        slow = seconds_elapsed > seconds and received < MIN_BODY_RATE * (seconds_elapsed - seconds)
        if exchange.request_state == RequestState.READING and (now > self.deadline or slow):
            message = response_lines.body_too_slow(received, seconds_elapsed, seconds)
            exchange.refuse(RelayError.REQUEST_TIMEOUT, message)
