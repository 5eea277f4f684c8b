"""A connection to the upstream. The connection sends one request at a time and reads the response.

If bytes arrive after the end of a response, or while the connection is idle, the connection is closed. So no response
can reach the wrong client (RFC 9112 §6.3). This module handles the framing and limits of responses. ``Exchange``
logs the responses and forwards them to the client.
"""

import os
import select
import ssl
from contextlib import suppress

from relaybook.errors import UPSTREAM_DID_RESET, RelayError
from relaybook.relay.connection import Connection
from relaybook.relay.context import RelayContext
from relaybook.relay.exchange import Exchange
from relaybook.relay.framing import Body, ChunkedBody, FramingError, LengthBody, NoBody, UntilClose
from relaybook.relay.limits import MAX_HEADERS_BYTES, MAX_INFORMATIONAL, READ_BYTES
from relaybook.relay.pool import Pool
from relaybook.relay.response_head import ResponseHead, ResponseHeadError, check_beginning


class UpstreamConnection(Connection):
    """A connection to the upstream. ``exchange`` is `None` while the connection is idle in the pool."""

    __slots__ = (
        *("body", "has_eof", "exchange", "fresh", "last_received_at", "idle_seconds", "idle_since", "informational"),
        *("partial", "poll", "pool", "relay", "reusable", "unwritten", "wrote"),
    )

    def __init__(self, relay: RelayContext, pool: Pool) -> None:
        super().__init__()
        self.relay = relay
        self.pool = pool
        self.exchange: Exchange | None = None
        #: Whether the connection was never in the pool. If the upstream has closed a pooled connection, the request is
        #: sent on a new connection.
        self.fresh = True
        #: Whether a byte of the current request was written to the socket.
        self.wrote = False
        #: The request bytes that are queued on a pooled connection, until a byte of the request is written to the
        #: socket. If the connection is lost before that, these bytes are sent on a new connection.
        self.unwritten: list[bytes] = []
        self.reusable = True
        #: Whether the upstream announced the end of its data, with a TCP FIN or with the TLS alert close_notify.
        self.has_eof = False
        self.body: Body | None = None
        self.partial = b""
        self.informational = 0
        self.last_received_at = relay.now
        self.idle_since = 0.0
        self.idle_seconds = pool.idle_seconds
        self.poll: select.poll | None = None

    def assign(self, exchange: Exchange) -> None:
        self.exchange = exchange
        exchange.connected(self)

    # -- sending -------------------------------------------------------------------------------------------------

    def send(self, data: bytes) -> None:
        """Queue request bytes, and send them when the journal contains every frame appended before this call."""
        self.queued_bytes += len(data)
        if not (self.wrote or self.fresh):
            self.unwritten.append(data)
        self.relay.gate.then(self.release, data)

    def release(self, data: bytes) -> None:
        """Write request bytes to the socket.

        ``relay.gate`` calls this method when the journal contains every frame that was appended before the call of
        ``send``. If a pooled connection has ended before a byte of the request is written, the request is sent on a
        new connection.
        """
        self.queued_bytes -= len(data)
        exchange = self.exchange
        if exchange is None:
            return  # the connection was closed
        if not (self.wrote or self.fresh):
            if self.lost or self._has_ended():
                self._return_request(exchange)
                return
            self.unwritten.clear()
        if self.lost:
            return
        try:
            self.transport.write(data)
        except RuntimeError:
            return  # the connection is closed, and connection_lost tells the exchange
        self.wrote = True
        exchange.request_written()

    def _return_request(self, exchange: Exchange) -> None:
        """Close this connection, and make the exchange send its request on a new connection.

        Call this method only if no byte of the request was written to this connection.
        """
        unwritten, self.unwritten = self.unwritten, []
        self.abort()
        exchange.reconnect(unwritten)

    def _has_ended(self) -> bool:
        """Return whether the upstream has closed this pooled connection, or sent bytes before it got the request."""
        if self.has_eof:
            return True
        if self.poll is None:
            sock = self.transport.get_extra_info("socket")
            if sock is None:
                return True
            self.poll = select.poll()
            self.poll.register(sock.fileno(), select.POLLIN)
        return bool(self.poll.poll(0))

    def pause_writing(self) -> None:
        self.write_paused = True
        if self.exchange is not None:
            self.exchange.upstream_paused()

    def resume_writing(self) -> None:
        self.write_paused = False
        if self.exchange is not None:
            self.exchange.send()

    # -- receiving -----------------------------------------------------------------------------------------------

    def received(self, data: bytes) -> None:
        exchange = self.exchange
        if exchange is None:
            self.abort()  # these bytes arrived while the connection was idle
            return
        if not self.wrote:
            self._unexpected_bytes(exchange)
            return
        self.last_received_at = self.relay.now
        body = self.body
        try:
            if body is None:
                self._read_heads(exchange, self.partial + data if self.partial else data)
                return
            chunk = body.feed(data)
        except (ResponseHeadError, FramingError) as error:
            if isinstance(error, FramingError) and error.chunk:
                exchange.response_chunk(error.chunk, False)
            sent = "The request was sent. Relaybook does not retry."
            message = f"The relay cannot read the upstream's response ({error}). {sent}"
            exchange.fail(RelayError.UPSTREAM_PROTOCOL_ERROR, message)
            return
        complete = body.complete
        if complete and body.surplus:
            self.reusable = False
        exchange.response_chunk(chunk, complete)

    def _unexpected_bytes(self, exchange: Exchange) -> None:
        """Handle bytes that arrived before the request was sent. The bytes must not reach the client.

        The request of a pooled connection is sent on a new connection. On a fresh connection, the exchange fails.
        """
        if self.fresh:
            message = "The upstream sent bytes before it received a request. The request was not sent."
            exchange.fail(RelayError.UPSTREAM_PROTOCOL_ERROR, message)
        else:
            self._return_request(exchange)

    def _read_heads(self, exchange: Exchange, data: bytes) -> None:
        """Parse informational heads and the final head, and the body bytes that arrived with the final head."""
        while True:
            end = data.find(b"\r\n\r\n")
            if end < 0:
                if len(data) > MAX_HEADERS_BYTES:
                    raise ResponseHeadError(f"a head of more than {MAX_HEADERS_BYTES} bytes")
                check_beginning(data)
                self.partial = data
                return
            head = self.relay.response_heads.read(data[: end + 4])
            data = data[end + 4 :]
            if head.status >= 200:
                break
            self.informational += 1
            if head.status == 101 or self.informational > MAX_INFORMATIONAL:
                raise ResponseHeadError(
                    f"informational response {self.informational} has status {head.status}; at most "
                    f"{MAX_INFORMATIONAL} informational responses are allowed, none with status 101"
                )
        self.partial = b""
        self.body = body = self._body_of(exchange, head)
        chunk = b""
        framing_error: FramingError | None = None
        try:
            if data:
                chunk = body.feed(data)
        except FramingError as error:
            chunk, framing_error = error.chunk, error
        # After a 204 response, the upstream may still send the body that its head announces, although it must not.
        has_forbidden_body = head.status == 204 and bool(head.chunked or head.length)
        self.reusable = not (head.close or has_forbidden_body or (body.complete and body.surplus))
        if head.idle_seconds is not None:
            self.idle_seconds = min(self.idle_seconds, max(head.idle_seconds - 1, 0))
        exchange.response_begin(head, chunk, body.complete)
        if framing_error is not None:
            raise FramingError(str(framing_error))  # its chunk has been passed on

    def _body_of(self, exchange: Exchange, head: ResponseHead) -> Body:
        if exchange.method == b"HEAD" or head.status in (204, 304):
            return NoBody()
        if head.chunked:
            return ChunkedBody()
        return UntilClose() if head.length is None else LengthBody(head.length)

    def finished(self, *, reusable: bool) -> None:
        self.exchange = None
        self.body = None
        self.informational = 0
        self.fresh = self.wrote = False
        self.reusable = reusable and self.reusable and self.queued_bytes == 0 and not self.write_paused
        if self.reusable:
            self.set_reading(True)
        self.pool.put(self, self.relay.now)

    # -- the end -------------------------------------------------------------------------------------------------

    def eof_received(self) -> bool:
        self.has_eof = True
        if self.exchange is not None and isinstance(self.body, UntilClose) and self.pool.tls is None:
            # Do not wait for connection_lost: it is called only when all request bytes are written, and the upstream
            # may never read them.
            self.reusable = False
            self.body.complete = True
            self.exchange.response_chunk(b"", True)
        return False  # makes the event loop close the connection and call connection_lost

    def _read_kernel_rest(self) -> None:
        """Read the bytes that are left in the kernel after an error, such as a failed write of request bytes.

        These bytes can be a response, because an upstream may refuse a request without reading its body, and close the
        connection. The transport would discard these bytes.
        """
        sock = self.transport.get_extra_info("socket")
        with suppress(OSError):  # raised if there is no more data
            while sock is not None and self.exchange is not None:
                data = os.read(sock.fileno(), READ_BYTES)
                if not data:
                    return
                self.received(data)

    def _read_tls_rest(self, tls: ssl.SSLObject) -> None:
        """Read the bytes that are left in the TLS buffer when the connection ends.

        The transport would discard these bytes.
        """
        with suppress(ssl.SSLError):  # raised if there is no more data and no close_notify
            while self.exchange is not None:
                data = tls.read(READ_BYTES)
                if not data:
                    self.has_eof = True
                    return
                self.received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost = True
        tls: ssl.SSLObject | None = self.transport.get_extra_info("ssl_object")
        if tls is not None:
            self._read_tls_rest(tls)
        elif exc is not None and self.wrote:
            self._read_kernel_rest()
        exchange = self.exchange
        if exchange is None:
            self.pool.discard(self)
            return
        if not self.wrote and not self.fresh:
            self._return_request(exchange)
            return
        # A TLS close notification proves the end of the response, even if the connection is then reset.
        if isinstance(self.body, UntilClose) and self.has_eof and (exc is None or tls is not None):
            self.body.complete = True
            exchange.response_chunk(b"", True)
            return
        if self.body is not None:
            where = "in the middle of its response. Relaybook does not retry."
        elif self.wrote:
            where = "before it responded. The request was sent. Relaybook does not retry."
        else:
            where = "before it responded. The request was not sent. Try again."
        was_reset = isinstance(exc, ConnectionResetError)
        message = f"{UPSTREAM_DID_RESET if was_reset else 'The upstream closed the connection'} {where}"
        exchange.fail(RelayError.UPSTREAM_RESET, message, was_reset=was_reset)

    def abort(self) -> None:
        self.exchange = None
        self.pool.discard(self)
        if not self.lost:
            self.transport.abort()
