"""An exchange is one request and its response, from admission to the end. Its state machine does no I/O.

The exchange decides which bytes are forwarded and which are journaled. The client and upstream connections call the
methods of the exchange. The exchange has no socket and sends through the interfaces in ``peers``. Only methods of the
exchange change its state.

The request (``RequestState``)::

    reading      request_chunk          reading      journaled, and queued for the upstream
    reading      request_end            sent
    reading      response_begin         abandoned    an early response; the remaining request bytes are dropped
    reading      any end                abandoned
    abandoned    request_chunk          abandoned    dropped
    abandoned    request_end            abandoned

The response (``ResponseState``)::

    waiting      response_begin         streaming    journaled, and sent to the client
    streaming    response_chunk         streaming    journaled, and sent to the client
    streaming    last response_chunk    done
    waiting      any end                done
    streaming    any end                done

The connection to the upstream::

    none         send                   dialing      or connected, if the pool has an idle connection
    dialing      connected              connected    all queued bytes are sent
    connected    reconnect              dialing      a pooled connection was lost before a byte was written to it
    connected    last response_chunk    none         returned to the pool, or closed
    dialing      any end                none         canceled
    connected    any end                none         closed

The following calls end the exchange and close it with an outcome. If the table has no row for a call and the current
state, the call does nothing. After the exchange is closed, all calls do nothing::

    done         response_sent          complete         the whole response is sent
    waiting      fail                   upstream_failed  the client gets an error response
    waiting      dial_failed            upstream_failed  the client gets an error response
    streaming    fail                   upstream_failed  the response is cut
    waiting      refuse                 refused          the client gets an error response, and its connection closes
    streaming    refuse                 refused          the response is cut
    waiting      interrupt              interrupted      the client gets an error response, and its connection closes
    streaming    interrupt              interrupted      the response is cut
    done         interrupt              interrupted      the response is cut
    any          client_gone            client_closed    the client is gone
    any          abandon                interrupted      the client's connection is reset

If a response is cut, the client gets every byte that arrived, and its connection ends before the end of the body.
Nothing is added. So the client sees what it would see without the relay, and may retry.

There is one exception. With ``on_client_gone = finish``, if the whole request was sent and the response is not done,
``client_gone`` does not end the exchange. Instead, the response is read to its end for the log. The last
``response_chunk``, or ``fail``, then closes the exchange as ``client_closed``.
"""

from enum import IntEnum

import msgspec

from relaybook import clock
from relaybook.apis import expects_text_error
from relaybook.errors import RelayError
from relaybook.ids import id_text, new_id
from relaybook.journal.events import Closed, ClosedOutcome, Opened, ResponseBegin, encode_event
from relaybook.journal.frame import MAX_PAYLOAD, FrameKind
from relaybook.relay import response_lines
from relaybook.relay.client_framing import ClientFraming
from relaybook.relay.context import RelayContext
from relaybook.relay.fingerprints import mask
from relaybook.relay.limits import READ_BYTES
from relaybook.relay.peers import Client, Dial, Upstream
from relaybook.relay.request_head import RequestHead
from relaybook.relay.response_head import ResponseHead
from relaybook.relay.routes import Destination

_STOPPED = "Relaybook stopped before the response was complete."


class RequestState(IntEnum):
    """The progress of a request. The remaining bytes of an abandoned request are neither journaled nor forwarded."""

    READING = 0
    SENT = 1
    ABANDONED = 2


class ResponseState(IntEnum):
    """The progress of a response: before its head, after its head, or done. Done means complete or given up."""

    WAITING = 0
    STREAMING = 1
    DONE = 2


class Exchange:
    """The state machine of one exchange.

    ``client`` is `None` once the client is gone. ``upstream`` is `None` while no connection is assigned.
    """

    request_state = RequestState.READING
    response_state = ResponseState.WAITING
    closed = False
    #: Whether the log will contain the exchange. Its record may be incomplete.
    has_record = True
    #: Whether response bytes arrived after the client was gone (``on_client_gone = finish``).
    client_missed = False
    #: Number of request bytes that wait for a connection, or for the next ``send``.
    pending_bytes = 0
    dialing: Dial | None = None
    upstream: Upstream | None = None
    framing: ClientFraming | None = None
    #: Whether the response is an event stream, according to its Content-Type.
    is_event_stream = False
    request_end_ns = 0
    sent_ns = 0
    waiting_since = 0.0

    def __init__(self, relay: RelayContext, client: Client, destination: Destination, head: RequestHead) -> None:
        self.relay = relay
        self.client: Client | None = client
        self.destination = destination
        self.route = destination.route
        self.tags = tags = destination.tags
        self.id = new_id()
        self.id_text = id_text(self.id)
        self.method = head.method
        self.request_chunked = head.chunked
        self.keys = head.keys
        self.secrets = head.secrets
        self.pending: list[bytes] = []
        self.relay_headers = response_lines.relay_headers(tags, self.id_text, self.route.name)
        #: Appends a frame to the journal: ``frame(kind, id, payload)``.
        self.frame = relay.gate.frame if tags.log == "full" else relay.private_frame

    # -- the request ---------------------------------------------------------------------------------------------

    def open(self, head: RequestHead, wire: bytes, client_address: str, body: bytes, *, complete: bool) -> None:
        """Journal the request head and the body bytes that arrived with the head, and queue both for the upstream.

        ``wire`` is the head for the upstream. With ``complete``, the body bytes are the whole body.
        """
        relay, tags, route = self.relay, self.tags, self.route
        opened = Opened(
            clock.wall_ns(),
            head.method,
            self._masked_target(self.destination.target),
            head.logged,
            tags.namespace,
            tags.properties,
            [(warning.code, warning.message) for warning in tags.warnings] if tags.warnings else [],
            route.name,
            route.upstream.url,
            client_address,
            tags.log,
            relay.fingerprints.of(head.key) if head.key else None,
            self.destination.api_path,
            self.destination.kind,
            mask(body, self.secrets),
            complete,
        )
        payload = encode_event(opened)
        if len(payload) <= MAX_PAYLOAD:
            self.frame(FrameKind.OPENED, self.id, payload)
        else:  # a reader would skip the frame
            self.frame(
                FrameKind.OPENED, self.id, encode_event(msgspec.structs.replace(opened, body=b"", complete=False))
            )
            self.frame(FrameKind.SENT, self.id, opened.body)
            if complete:
                self.frame(FrameKind.REQUEST_END, self.id, b"")
        if head.chunked and (body or complete):
            body = b"%x\r\n%b\r\n" % (len(body), body) if body else b""
            if complete:
                body += b"0\r\n\r\n"
        self._queue_for_upstream(wire + body)
        if complete:
            self._request_received()

    def _masked_target(self, target: bytes) -> bytes:
        if b"?" not in target:
            return mask(target, self.secrets)
        path, mark, query = self.relay.fingerprints.target(target).partition(b"?")
        return mask(path, self.secrets) + mark + mask(query, self.keys)

    def _request_received(self) -> None:
        self.request_state = RequestState.SENT
        self.request_end_ns = clock.monotonic_ns()
        self.waiting_since = self.relay.now

    def request_chunk(self, chunk: bytes) -> None:
        """Journal the request body bytes of one read, and queue them for the next ``send``.

        After an early response, the bytes are dropped.
        """
        if self.request_state == RequestState.READING:
            self.frame(FrameKind.SENT, self.id, mask(chunk, self.secrets))
            self._queue_for_upstream(b"%x\r\n%b\r\n" % (len(chunk), chunk) if self.request_chunked else chunk)

    def request_end(self) -> None:
        """Journal the end of the request body. For a chunked body, also queue the last chunk for the next ``send``."""
        if self.request_state == RequestState.READING:
            self._request_received()
            self.frame(FrameKind.REQUEST_END, self.id, b"")
            if self.request_chunked:
                self._queue_for_upstream(b"0\r\n\r\n")

    def _queue_for_upstream(self, wire: bytes) -> None:
        self.pending.append(wire)
        self.pending_bytes += len(wire)

    # -- the connection to the upstream --------------------------------------------------------------------------

    def send(self) -> None:
        """Send all queued bytes to the upstream in one write. If there is no connection, connect first.

        While too many bytes wait, stop reading from the client.
        """
        upstream = self.upstream
        if upstream is None:
            # after an early response, the rest of the request is dropped, so no connection is needed
            if self.response_state == ResponseState.WAITING and self.dialing is None:
                self.dialing = self.route.pool.connect(self)
        elif self.pending:
            data = self.pending[0] if len(self.pending) == 1 else b"".join(self.pending)
            self.pending.clear()
            self.pending_bytes = 0
            upstream.send(data)
        client = self.client
        if client is not None and (
            self.pending or not client.reading or upstream is None or upstream.queued_bytes > READ_BYTES
        ):
            client.set_reading(self._has_room())

    def _has_room(self) -> bool:
        """Return whether more bytes from the client can be buffered."""
        upstream = self.upstream
        return self.pending_bytes <= READ_BYTES and (
            upstream is None or (upstream.queued_bytes <= READ_BYTES and not upstream.write_paused)
        )

    def connected(self, upstream: Upstream) -> None:
        """Assign this upstream connection, which comes from the pool or was just dialed, and send the queued bytes."""
        self.dialing = None
        self.upstream = upstream
        if self.request_state == RequestState.SENT:
            self.request_end_ns = clock.monotonic_ns()  # the time to connect does not count as time spent in the relay
        self.waiting_since = self.relay.now
        self.send()

    def reconnect(self, unwritten: list[bytes]) -> None:
        """Dial a new connection for the request, because its pooled connection was lost.

        Call this method only if no byte of the request was written to the pooled connection. ``unwritten`` contains the
        bytes that were queued on the pooled connection.
        """
        self.upstream = None
        self.pending[:0] = unwritten
        self.pending_bytes += sum(map(len, unwritten))
        self.dialing = self.route.pool.dial(self)

    def request_written(self) -> None:
        """Set the time of the last write to the upstream's socket, and resume reading from the client if possible."""
        self.sent_ns = clock.monotonic_ns()
        client, upstream = self.client, self.upstream
        if client is not None and not client.reading and upstream is not None and not upstream.write_paused:
            self.send()

    def upstream_paused(self) -> None:
        """Stop reading from the client, because the upstream does not accept more bytes for now."""
        if self.client is not None:
            self.client.set_reading(False)

    def client_ready(self, is_ready: bool) -> None:
        """Start or stop reading from the upstream, depending on whether the client accepts more bytes."""
        if self.upstream is not None:
            self.upstream.set_reading(is_ready)

    # -- the response --------------------------------------------------------------------------------------------

    def response_begin(self, head: ResponseHead, chunk: bytes, complete: bool) -> None:
        """Journal the final head of the response and the body bytes that arrived with it, and send both to the client.

        ``complete`` is true if these bytes are the whole body.
        """
        self.response_state = ResponseState.STREAMING
        self.is_event_stream = head.event_stream
        if self.request_state == RequestState.READING:
            self.request_state = RequestState.ABANDONED
        keys, secrets = self.keys, self.secrets
        reason, body = mask(head.reason, secrets), mask(chunk, secrets)
        begin = ResponseBegin(head.status, reason, mask(head.logged, keys), False, body)
        self.frame(FrameKind.RESPONSE_BEGIN, self.id, encode_event(begin))
        client = self.client
        if client is not None:
            self.framing = framing = ClientFraming(head, self.method, version_1_0=client.version_1_0)
            if framing.ends_with_close or self.request_state != RequestState.SENT or self.relay.retiring:
                client.keep_alive = False
            client.reset_on_cut = framing.ends_with_close
            framing.begin(self.relay_headers, keep_alive=client.keep_alive)
            self._send_to_client(client, framing.encode(chunk, complete=complete))
        else:
            self.client_missed = True
        if complete:
            self._response_complete()

    def response_chunk(self, chunk: bytes, complete: bool) -> None:
        """Journal the response body bytes of one read, and send them to the client.

        ``complete`` is true for the last body bytes.
        """
        if chunk:
            self.frame(FrameKind.RECEIVED, self.id, mask(chunk, self.secrets))
        client = self.client
        if client is not None and self.framing is not None:
            wire = self.framing.encode(chunk, complete=complete)
            if wire:
                self._send_to_client(client, wire)
        elif chunk:
            self.client_missed = True
        if complete:
            self._response_complete()

    def _send_to_client(self, client: Client, wire: bytes) -> None:
        client.send(wire)
        if client.queued_bytes > READ_BYTES and self.upstream is not None:
            self.upstream.set_reading(False)

    def _response_complete(self) -> None:
        self.response_state = ResponseState.DONE
        upstream, self.upstream = self.upstream, None
        if upstream is not None:
            upstream.finished(reusable=self.request_state == RequestState.SENT and not self.pending)
        client = self.client
        if client is None:
            self._close("client_closed")
        else:
            self.relay.gate.then(client.response_sent, b"")

    # -- the ends ------------------------------------------------------------------------------------------------

    def response_sent(self) -> None:
        """End the exchange as complete. Call this method when the kernel has the last byte of the response."""
        self._close("complete")

    def fail(self, error: RelayError, message: str, *, was_reset: bool = False) -> None:
        """End the exchange because the upstream failed.

        The client gets an error response. If the response has already begun, it is cut instead. With ``was_reset``, the
        upstream has reset its connection, so the client's connection is reset too.
        """
        if self.closed or self.response_state == ResponseState.DONE:
            return
        before = self._give_up()
        if self.client is None:  # the response was read for the log only
            self._close("client_closed", error.code, message)
            return
        if before == ResponseState.WAITING:
            self._send_error_response(error, message)
        else:
            if self.is_event_stream:
                error = RelayError.UPSTREAM_STREAM_INTERRUPTED
            self.client.reset_on_cut |= was_reset
            self._cut_response()
        self._close("upstream_failed", error.code, message)

    def dial_failed(self, message: str) -> None:
        """End the exchange because no connection to the upstream could be established."""
        self.dialing = None
        self.fail(RelayError.UPSTREAM_UNREACHABLE, message)

    def refuse(self, error: RelayError, message: str) -> None:
        """End the exchange because the request exceeds a limit or is malformed.

        If the response is already complete, it is still sent and the exchange does not change.
        """
        if self.closed or self.response_state == ResponseState.DONE:
            return
        self._end_response(self._give_up(), error, message)
        self._close("refused", error.code, message)

    def refuse_large(self, size: int) -> None:
        """End the exchange because the request body is too large. ``size`` is the number of bytes known so far."""
        message = response_lines.body_too_large(size, self.relay.settings.max_request_bytes)
        self.refuse(RelayError.REQUEST_TOO_LARGE, message)

    def client_gone(self) -> None:
        """Drop the client, because its connection is lost.

        With ``on_client_gone = finish``, if the whole request was sent, read the response to its end for the log.
        Otherwise, end the exchange.
        """
        client, self.client = self.client, None
        if self.closed:
            return
        if client is not None and client.write_paused:  # the kernel has not taken all bytes that were written
            self.client_missed = True
        is_sent = self.request_state == RequestState.SENT and self.upstream is not None
        if is_sent and self.response_state != ResponseState.DONE and self.relay.settings.on_client_gone == "finish":
            self.client_ready(True)
            return
        self._give_up()
        self._close("client_closed")

    def interrupt(self) -> None:
        """End the exchange because the relay stops.

        The client gets an error response. If the response has already begun, it is cut instead.
        """
        if self.closed:
            return
        self._end_response(self._give_up(), RelayError.SHUTTING_DOWN, _STOPPED)
        self._close("interrupted", RelayError.SHUTTING_DOWN.code, _STOPPED)

    def abandon(self) -> None:
        """End the exchange because journal frames were lost.

        Nothing more is sent. The upstream connection is closed at once, and the client connection is reset.
        """
        client, self.client = self.client, None
        self._give_up()
        self._close("interrupted", RelayError.LOG_UNAVAILABLE.code, "The journal could not be written.")
        if client is not None:
            client.abandon()

    def _give_up(self) -> ResponseState:
        """Stop the request and the response, and close the upstream connection. Return the previous response state."""
        if self.dialing is not None:
            self.dialing.cancel()
            self.dialing = None
        upstream, self.upstream = self.upstream, None
        if upstream is not None:
            upstream.abort()
        if self.request_state == RequestState.READING:
            self.request_state = RequestState.ABANDONED
        before, self.response_state = self.response_state, ResponseState.DONE
        return before

    def _close(self, outcome: ClosedOutcome, error_code: str | None = None, message: str | None = None) -> None:
        """Close the exchange and append the CLOSED frame. Bytes already queued for the client are still sent."""
        if self.closed:
            return
        self.closed = True
        # If the last bytes of the request were not sent, the time that the relay needed is unknown.
        is_sent = 0 < self.request_end_ns <= self.sent_ns
        relay_ns = self.sent_ns - self.request_end_ns if is_sent else None
        closed = Closed(outcome, error_code, message, relay_ns, self.client_missed)
        self.frame(FrameKind.CLOSED, self.id, encode_event(closed))
        self.relay.exchanges.pop(self.id, None)
        self.route.running -= 1

    def _send_error_response(self, error: RelayError, message: str) -> None:
        client = self.client
        if client is None:
            return
        log_url = self.relay.log_url(self.id_text) if self.has_record else None
        is_text = expects_text_error(self.destination.api_path.decode("latin-1"))
        body = response_lines.error_json(error, message, log_url, is_text=is_text)
        lines = response_lines.error_lines(error, body, self.tags.prefix, self.id_text)
        begin = ResponseBegin(error.status, b"", b"\r\n".join(lines), made=True)
        self.frame(FrameKind.RESPONSE_BEGIN, self.id, encode_event(begin))
        if self.method != b"HEAD":
            self.frame(FrameKind.MADE, self.id, body)
        if self.request_state != RequestState.SENT or self.relay.retiring:
            client.keep_alive = False
        lines.append(self.relay_headers)
        if not client.keep_alive:
            lines.append(b"Connection: close")
        head = b"\r\n".join([response_lines.status_line(error.status), *lines, b"", b""])
        client.send(head if self.method == b"HEAD" else head + body)
        self.relay.gate.then(client.response_sent, b"")

    def _end_response(self, before: ResponseState, error: RelayError, message: str) -> None:
        """Send an error response, or cut the response if it has already begun. Then close the client's connection.

        ``before`` is the state of the response before the exchange was given up.
        """
        client = self.client
        if client is None:
            return
        client.keep_alive = False
        if before == ResponseState.WAITING:
            self._send_error_response(error, message)
        else:
            self._cut_response()

    def _cut_response(self) -> None:
        """Close the client's connection after all bytes that arrived. Nothing is added to the response."""
        if self.client is not None:
            self.client.keep_alive = False
            self.relay.gate.then(self.client.cut, b"")

    # -- timeouts ------------------------------------------------------------------------------------------------

    def sweep(self, now: float) -> None:
        """Enforce the timeouts of the upstream, which are limits of the route. ``now`` is the event loop's time."""
        upstream, limits = self.upstream, self.route.limits
        if upstream is None:
            return
        if self.response_state == ResponseState.WAITING:
            if upstream.stalled(now, limits.idle_timeout):
                seconds = limits.idle_timeout
                message = f"The upstream accepted no bytes of the request for {seconds:g} s (setting idle_timeout)."
                self.fail(RelayError.UPSTREAM_TIMEOUT, message)
            elif self.request_state == RequestState.SENT and now - self.waiting_since > limits.upstream_timeout:
                seconds = limits.upstream_timeout
                message = f"The upstream sent no response within {seconds:g} s (setting upstream_timeout)."
                self.fail(RelayError.UPSTREAM_TIMEOUT, message)
        elif not upstream.reading:
            upstream.last_received_at = now  # reading is paused because the client is slow
        elif now - upstream.last_received_at > limits.idle_timeout:
            seconds = limits.idle_timeout
            message = (
                f"The upstream sent nothing for {seconds:g} s in the middle of its response (setting idle_timeout)."
            )
            self.fail(RelayError.UPSTREAM_TIMEOUT, message)

    # -- helpers -------------------------------------------------------------------------------------------------

    def add_relay_headers(self, lines: bytes) -> None:
        """Add header lines to the response, each preceded by CRLF."""
        self.relay_headers += lines

    def forward_without_record(self, problem: str) -> None:
        """Forward this exchange without journaling it, and add the warning ``not_logged`` to its response."""
        self.frame = _unlogged
        self.has_record = False
        self.add_relay_headers(response_lines.warning(self.tags.prefix, response_lines.NOT_LOGGED, problem))

    def stop_logging(self) -> bool:
        """Stop journaling this exchange (``when_log_fails = forward``).

        Return whether the exchange was journaled before.
        """
        before, self.frame = self.frame, _unlogged
        return before is not _unlogged


def _unlogged(kind: int, exchange: bytes, payload: bytes) -> None:
    """Discard a frame."""
