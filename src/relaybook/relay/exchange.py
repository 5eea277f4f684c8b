"""An exchange: one request and its response, from admission to its end.

Request and response proceed independently. The request is incomplete until its last byte arrived, or its rest is
dropped if the response came first. The response is in one of the states of ``ResponseState``. Every exchange ends in
``close``, exactly once; all ends except a complete response are in ``endings``. The exchange decides what is forwarded
and what is journaled; the sockets belong to ``downstream`` and ``upstream``.
"""

import asyncio
from enum import IntEnum
from typing import Protocol

from relaybook import clock
from relaybook.ids import id_text, new_id
from relaybook.journal.events import Answered, Closed, Opened, encode_event
from relaybook.journal.frame import FrameKind
from relaybook.relay import refuse
from relaybook.relay.client_framing import ClientFraming
from relaybook.relay.fingerprints import Fingerprints, keys_in
from relaybook.relay.gate import Gate
from relaybook.relay.limits import READ_BYTES
from relaybook.relay.peers import Client, Upstream
from relaybook.relay.request_head import RequestHead
from relaybook.relay.response_head import ResponseHead
from relaybook.relay.routes import Route
from relaybook.settings.definitions import Settings
from relaybook.tags import Tags


class ExchangeContext(Protocol):
    """What an exchange uses of its worker."""

    settings: Settings
    gate: Gate
    fingerprints: Fingerprints
    now: float
    retiring: bool

    def connect(self, exchange: "Exchange") -> None:
        """Assign an idle upstream connection, or dial a new one."""

    def dial(self, exchange: "Exchange") -> None:
        """Start dialing a new upstream connection."""

    def private_frame(self, kind: int, exchange: bytes, payload: bytes) -> None:
        """Append a frame that is deleted from the disk soon (``Service-Log: no-bodies``)."""

    def exchange_closed(self, exchange: "Exchange") -> None:
        """Forget an exchange that has closed."""

    def log_url(self, record_id: str) -> str | None:
        """Return the URL of the record, or `None` if the dashboard has no public URL."""


class ResponseState(IntEnum):
    """The progress of a response: nothing received, its head received, complete or given up."""

    WAITING = 0
    STARTED = 1
    DONE = 2


class Exchange:
    """One exchange. ``client`` is `None` once it is gone, ``upstream`` is `None` while no connection is assigned."""

    response_state = ResponseState.WAITING
    request_complete = False
    closed = False
    #: Number of request bytes that wait for a connection, or for the next ``send``.
    pending_bytes = 0
    requeued = 0
    reclaiming = False
    dial: asyncio.Task[None] | None = None
    upstream: Upstream | None = None
    framing: ClientFraming | None = None
    request_end_ns = 0
    sent_ns = 0
    waiting_since = 0.0

    def __init__(self, relay: ExchangeContext, client: Client, route: Route, tags: Tags, head: RequestHead) -> None:
        self.relay = relay
        self.client: Client | None = client
        self.route = route
        self.tags = tags
        self.id = new_id()
        self.id_text = id_text(self.id)
        self.method = head.method
        self.target = head.target
        self.request_chunked = head.chunked
        self.keys = [*head.keys, *keys_in(head.target)] if b"?" in head.target else head.keys
        self.pending: list[bytes] = []
        self.relay_headers = refuse.relay_headers(tags, self.id_text)
        #: Appends a frame to the journal: ``frame(kind, id, payload)``.
        self.frame = relay.gate.frame if tags.log == "full" else relay.private_frame

    # -- the request ---------------------------------------------------------------------------------------------

    def open(self, head: RequestHead, client_address: str, body: bytes, *, complete: bool) -> None:
        """Journal the request head with the body bytes that arrived with it, and queue both for the upstream.

        ``complete``: they are the whole body.
        """
        relay, tags, route = self.relay, self.tags, self.route
        opened = Opened(
            clock.wall_ns(),
            head.method,
            relay.fingerprints.target(head.target) if b"?" in head.target else head.target,
            head.logged,
            tags.namespace,
            tags.properties,
            [(warning.code, warning.message) for warning in tags.warnings] if tags.warnings else [],
            route.name,
            route.upstream.url,
            client_address,
            tags.log,
            relay.fingerprints.of(head.key) if head.key else None,
            self._masked(body),
            complete,
        )
        self.frame(FrameKind.OPENED, self.id, encode_event(opened))
        if not head.wire:
            head.wire = self._upstream_head(head)
        if head.chunked and (body or complete):
            body = b"%x\r\n%b\r\n" % (len(body), body) if body else b""
            if complete:
                body += b"0\r\n\r\n"
        self._queue_for_upstream(head.wire + body)
        if complete:
            self._request_received()

    def _upstream_head(self, head: RequestHead) -> bytes:
        """Return the head to send to the upstream, with the upstream's Host."""
        host_line = self.route.upstream.host_line
        lines = head.lines
        if head.host_at >= 0:
            lines[head.host_at] = host_line
        else:
            lines.insert(0, host_line)
        return b"%b %b HTTP/1.1\r\n%b\r\n\r\n" % (head.method, self.route.map(head.target), b"\r\n".join(lines))

    def _request_received(self) -> None:
        self.request_complete = True
        self.request_end_ns = clock.monotonic_ns()
        self.waiting_since = self.relay.now

    def request_chunk(self, chunk: bytes) -> None:
        """Handle the body bytes of one read. After the response has started they are dropped."""
        if self.response_state == ResponseState.WAITING:
            self.frame(FrameKind.SENT, self.id, self._masked(chunk))
            self._queue_for_upstream(b"%x\r\n%b\r\n" % (len(chunk), chunk) if self.request_chunked else chunk)

    def request_end(self) -> None:
        """Handle the end of the request body."""
        self._request_received()
        self.frame(FrameKind.ASKED, self.id, b"")
        if self.request_chunked and self.response_state == ResponseState.WAITING:
            self._queue_for_upstream(b"0\r\n\r\n")

    def _queue_for_upstream(self, wire: bytes) -> None:
        self.pending.append(wire)
        self.pending_bytes += len(wire)

    def send(self) -> None:
        """Send all queued bytes to the upstream in one write. Connects first if there is no connection."""
        upstream = self.upstream
        if upstream is None:
            # the rest of a request that got an early response needs no connection
            needs_connection = self.response_state == ResponseState.WAITING and not self.closed
            if needs_connection and self.dial is None and not self.reclaiming:
                self.relay.connect(self)
        elif self.pending:
            data = self.pending[0] if len(self.pending) == 1 else b"".join(self.pending)
            self.pending.clear()
            self.pending_bytes = self.requeued = 0
            upstream.send(data)
        client = self.client
        if client is not None and (
            self.pending or not client.reading or upstream is None or upstream.queued_bytes > READ_BYTES
        ):
            client.set_reading(self._has_room())

    def _has_room(self) -> bool:
        """Return whether more bytes of the client can be buffered."""
        upstream = self.upstream
        return self.pending_bytes <= READ_BYTES and (
            upstream is None or (upstream.queued_bytes <= READ_BYTES and not upstream.write_paused)
        )

    def requeue(self, data: bytes) -> None:
        """Queue bytes again: their pooled connection was lost before any byte was written to it."""
        self.pending.insert(self.requeued, data)
        self.requeued += 1
        self.pending_bytes += len(data)

    def reclaim(self) -> None:
        """Stop sending until all bytes queued for a lost pooled connection are requeued."""
        self.upstream = None
        self.reclaiming = True

    def lost_unused(self) -> None:
        """Dial a new connection: the pooled one was lost before any byte of the request was written to it."""
        self.reclaiming = False
        if self.closed:
            return
        self.relay.dial(self)

    def connected(self, upstream: Upstream) -> None:
        """Use this upstream connection."""
        self.dial = None
        self.upstream = upstream
        if self.request_complete:
            self.request_end_ns = clock.monotonic_ns()  # the time to connect does not count as time spent in the relay
        self.waiting_since = self.relay.now
        self.send()

    # -- the response --------------------------------------------------------------------------------------------

    def response_begin(self, head: ResponseHead, chunk: bytes, complete: bool) -> None:
        """Handle the final head of the response, with the body bytes that arrived with it."""
        self.response_state = ResponseState.STARTED
        answered = Answered(head.status, head.reason, head.logged, False, self._masked(chunk))
        self.frame(FrameKind.ANSWERED, self.id, encode_event(answered))
        client = self.client
        if client is not None:
            self.framing = framing = ClientFraming(head, self.method, version_1_0=client.version_1_0)
            if framing.ends_with_close or not self.request_complete or self.relay.retiring:
                client.keep_alive = False
            client.reset_on_cut = framing.ends_with_close
            framing.begin(self.relay_headers, keep_alive=client.keep_alive)
            self._send_to_client(client, framing.encode(chunk, complete=complete))
        if complete:
            self._response_complete()

    def response_chunk(self, chunk: bytes, complete: bool) -> None:
        """Handle the response body bytes of one read. ``complete``: they are the last ones."""
        if chunk:
            self.frame(FrameKind.RECEIVED, self.id, self._masked(chunk))
        client = self.client
        if client is not None and self.framing is not None:
            wire = self.framing.encode(chunk, complete=complete)
            if wire:
                self._send_to_client(client, wire)
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
            upstream.finished(reusable=self.request_complete and not self.pending)
        client = self.client
        if client is None:
            self.close("client_closed")
        else:
            self.relay.gate.then(client.response_sent, b"")

    def response_sent(self) -> None:
        """Close the exchange: the kernel has the last byte of the response."""
        self.close("complete")

    # -- the end -------------------------------------------------------------------------------------------------

    def drop_upstream(self) -> None:
        """Cancel dialing and close the upstream connection."""
        if self.dial is not None:
            self.dial.cancel()
            self.dial = None
        upstream, self.upstream = self.upstream, None
        if upstream is not None:
            upstream.abort()

    def close(self, outcome: str, error_code: str | None = None, message: str | None = None) -> None:
        """End the exchange and append CLOSED. Bytes already queued for the client are still sent."""
        if self.closed:
            return
        self.closed = True
        relay_ns = self.sent_ns - self.request_end_ns if self.sent_ns and self.request_end_ns else None
        self.frame(FrameKind.CLOSED, self.id, encode_event(Closed(outcome, error_code, message, relay_ns)))  # type: ignore[arg-type]
        self.relay.exchange_closed(self)

    # -- helpers -------------------------------------------------------------------------------------------------

    def stop_logging(self) -> bool:
        """Stop journaling this exchange (``when_log_fails = forward``). Return whether it was journaled until now."""
        before, self.frame = self.frame, _unlogged
        return before is not _unlogged

    def _masked(self, chunk: bytes) -> bytes:
        for key in self.keys:
            if chunk.find(key) >= 0:  # ``in`` first tries to convert the key to an int, and takes 1.5 times as long
                chunk = chunk.replace(key, b"*" * len(key))
        return chunk


def _unlogged(kind: int, exchange: bytes, payload: bytes) -> None:
    """Discard a frame."""
