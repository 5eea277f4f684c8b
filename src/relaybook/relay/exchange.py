"""One exchange: a request and its answer, from admission to its one end.

Two halves run side by side. The request is *reading* until its last byte came (then *asked*, or *abandoned* when an
answer came first); the answer is *waiting*, *answering* and *done*. Whatever happens, the exchange ends in ``close``,
once; the ways there other than a complete answer are in ``endings``. It decides what crosses and what is journaled;
sockets belong to ``downstream`` and ``upstream``.
"""

import asyncio
from enum import IntEnum
from typing import Protocol

from relaybook import clock
from relaybook.ids import id_text, new_id
from relaybook.journal.events import Answered, Closed, Opened, encode_event
from relaybook.journal.frame import Kind
from relaybook.relay import refuse
from relaybook.relay.client_framing import CallerFraming
from relaybook.relay.fingerprints import Fingerprints, keys_in
from relaybook.relay.gate import Gate
from relaybook.relay.limits import READ_BYTES
from relaybook.relay.peers import Caller, Provider
from relaybook.relay.request_head import RequestHead
from relaybook.relay.response_head import ResponseHead
from relaybook.relay.routes import Route
from relaybook.settings.definitions import Settings
from relaybook.tags import Tags


class Surroundings(Protocol):
    """What an exchange needs of the worker it runs in."""

    settings: Settings
    gate: Gate
    fingerprints: Fingerprints
    now: float
    leaving: bool

    def connect(self, exchange: "Exchange") -> None:
        """Gives the exchange an idle connection, or begins to make one."""

    def dial(self, exchange: "Exchange") -> None:
        """Begins to make a connection for the exchange."""

    def private_frame(self, kind: int, exchange: bytes, payload: bytes) -> None:
        """Journals something that must not stay in the journal."""

    def ended(self, exchange: "Exchange") -> None:
        """The exchange has closed."""

    def log_url(self, record_id: str) -> str | None:
        """Where a person finds the record, if there is such an address."""


class Answer(IntEnum):
    """How far the answer is."""

    WAITING = 0
    ANSWERING = 1
    DONE = 2


class Exchange:
    """See the module. ``down`` is None once the caller is gone; ``up`` is None before and after the provider."""

    answer = Answer.WAITING
    request_complete = False
    closed = False
    #: Request bytes that wait for a connection, or for the end of the tick.
    pending_bytes = 0
    requeued = 0
    reclaiming = False
    dial: asyncio.Task[None] | None = None
    up: Provider | None = None
    framing: CallerFraming | None = None
    asked_ns = 0
    sent_ns = 0
    waiting_since = 0.0

    def __init__(self, relay: Surroundings, down: Caller, route: Route, tags: Tags, head: RequestHead) -> None:
        self.relay = relay
        self.down: Caller | None = down
        self.route = route
        self.tags = tags
        self.id = new_id()
        self.id_text = id_text(self.id)
        self.method = head.method
        self.target = head.target
        self.request_chunked = head.chunked
        self.keys = [*head.keys, *keys_in(head.target)] if b"?" in head.target else head.keys
        self.pending: list[bytes] = []
        self.our_headers = refuse.our_headers(tags, self.id_text)
        #: Journals something: ``frame(kind, id, payload)``.
        self.frame = relay.gate.frame if tags.log == "full" else relay.private_frame

    # -- the request ---------------------------------------------------------------------------------------------

    def open(self, head: RequestHead, client_address: str, body: bytes, *, complete: bool) -> None:
        """Journals the request's head with the body bytes that came with it, and queues both for the provider.

        ``complete`` when they are the whole body: then the request is asked.
        """
        relay, tags, route = self.relay, self.tags, self.route
        opened = Opened(
            clock.wall_ns(),
            head.method,
            relay.fingerprints.target(head.target) if b"?" in head.target else head.target,
            head.logged,
            tags.namespace,
            tags.properties,
            [(note.code, note.message) for note in tags.warnings] if tags.warnings else [],
            route.name,
            route.upstream.url,
            client_address,
            tags.log,
            relay.fingerprints.of(head.key) if head.key else None,
            self._masked(body),
            complete,
        )
        self.frame(Kind.OPENED, self.id, encode_event(opened))
        if not head.wire:
            head.wire = self._wire_head(head)
        if head.chunked and (body or complete):
            body = b"%x\r\n%b\r\n" % (len(body), body) if body else b""
            if complete:
                body += b"0\r\n\r\n"
        self._to_provider(head.wire + body)
        if complete:
            self._asked()

    def _wire_head(self, head: RequestHead) -> bytes:
        """The head as the provider gets it: its own host in the place of ours."""
        host_line = self.route.upstream.host_line
        lines = head.lines
        if head.host_at >= 0:
            lines[head.host_at] = host_line
        else:
            lines.insert(0, host_line)
        return b"%b %b HTTP/1.1\r\n%b\r\n\r\n" % (head.method, self.route.map(head.target), b"\r\n".join(lines))

    def _asked(self) -> None:
        self.request_complete = True
        self.asked_ns = clock.monotonic_ns()
        self.waiting_since = self.relay.now

    def request_piece(self, piece: bytes) -> None:
        """Body bytes of one read."""
        if self.answer == Answer.WAITING:
            self.frame(Kind.SENT, self.id, self._masked(piece))
            self._to_provider(b"%x\r\n%b\r\n" % (len(piece), piece) if self.request_chunked else piece)

    def request_end(self) -> None:
        """The request's last byte came."""
        self._asked()
        self.frame(Kind.ASKED, self.id, b"")
        if self.request_chunked and self.answer == Answer.WAITING:
            self._to_provider(b"0\r\n\r\n")

    def _to_provider(self, wire: bytes) -> None:
        self.pending.append(wire)
        self.pending_bytes += len(wire)

    def send(self) -> None:
        """Sends what is waiting for the provider in one write, connecting first where needed."""
        up = self.up
        if up is None:
            is_wanted = self.answer == Answer.WAITING and not self.closed  # not for the rest of one answered early
            if is_wanted and self.dial is None and not self.reclaiming:
                self.relay.connect(self)
        elif self.pending:
            data = self.pending[0] if len(self.pending) == 1 else b"".join(self.pending)
            self.pending.clear()
            self.pending_bytes = self.requeued = 0
            up.send(data)
        down = self.down
        if down is not None and (self.pending or not down.reading or up is None or up.held > READ_BYTES):
            down.feed_when(self._may_feed())

    def _may_feed(self) -> bool:
        """Whether the caller's next bytes have room."""
        up = self.up
        return self.pending_bytes <= READ_BYTES and (up is None or (up.held <= READ_BYTES and not up.write_paused))

    def requeue(self, data: bytes) -> None:
        """Takes back bytes no part of which reached a connection that was lost before it was used."""
        self.pending.insert(self.requeued, data)
        self.requeued += 1
        self.pending_bytes += len(data)

    def reclaim(self) -> None:
        """A pooled connection turns out to be gone: nothing is sent until what waits for it was taken back."""
        self.up = None
        self.reclaiming = True

    def lost_unused(self) -> None:
        """A pooled connection was gone before a byte of the request went into it: one more try, on a new one."""
        self.reclaiming = False
        if self.closed:
            return
        self.relay.dial(self)

    def connected(self, up: Provider) -> None:
        """A connection is there for this exchange."""
        self.dial = None
        self.up = up
        if self.request_complete:
            self.asked_ns = clock.monotonic_ns()  # waiting for the provider to connect is not our share
        self.waiting_since = self.relay.now
        self.send()

    # -- the answer ----------------------------------------------------------------------------------------------

    def answered(self, head: ResponseHead, piece: bytes, complete: bool) -> None:
        """The final head of the provider's answer, with the body bytes that came with it."""
        self.answer = Answer.ANSWERING
        answered = Answered(head.status, head.reason, head.logged, False, self._masked(piece))
        self.frame(Kind.ANSWERED, self.id, encode_event(answered))
        down = self.down
        if down is not None:
            self.framing = framing = CallerFraming(head, self.method, version_1_0=down.version_1_0)
            if framing.endless or not self.request_complete or self.relay.leaving:
                down.keep_alive = False
            down.reset_on_cut = framing.endless
            framing.begin(self.our_headers, keep_alive=down.keep_alive)
            self._to_caller(down, framing.wire(piece, complete=complete))
        if complete:
            self._response_complete()

    def answer_piece(self, piece: bytes, complete: bool) -> None:
        """Body bytes of one read of the provider's answer; ``complete`` with its last."""
        if piece:
            self.frame(Kind.RECEIVED, self.id, self._masked(piece))
        down = self.down
        if down is not None and self.framing is not None:
            wire = self.framing.wire(piece, complete=complete)
            if wire:
                self._to_caller(down, wire)
        if complete:
            self._response_complete()

    def _to_caller(self, down: Caller, wire: bytes) -> None:
        down.send(wire)
        if down.held > READ_BYTES and self.up is not None:
            self.up.feed_when(False)

    def _response_complete(self) -> None:
        self.answer = Answer.DONE
        up, self.up = self.up, None
        if up is not None:
            up.finished(reusable=self.request_complete and not self.pending)
        down = self.down
        if down is None:
            self.close("client_closed")
        else:
            self.relay.gate.then(down.handed_over, b"")

    def handed_over(self) -> None:
        """The kernel has the answer's last byte."""
        self.close("complete")

    # -- the end -------------------------------------------------------------------------------------------------

    def drop_provider(self) -> None:
        """Nothing more is asked of the provider, and nothing of it is heard."""
        if self.dial is not None:
            self.dial.cancel()
            self.dial = None
        up, self.up = self.up, None
        if up is not None:
            up.abort()

    def close(self, outcome: str, error_code: str | None = None, message: str | None = None) -> None:
        """The one end. What was queued for the caller still goes out; CLOSED is journaled."""
        if self.closed:
            return
        self.closed = True
        relay_ns = self.sent_ns - self.asked_ns if self.sent_ns and self.asked_ns else None
        self.frame(Kind.CLOSED, self.id, encode_event(Closed(outcome, error_code, message, relay_ns)))  # type: ignore[arg-type]
        self.relay.ended(self)

    # -- small parts ---------------------------------------------------------------------------------------------

    def stop_logging(self) -> bool:
        """Nothing more of it is journaled, by the operator's choice. Returns whether something was till now."""
        before, self.frame = self.frame, _unlogged
        return before is not _unlogged

    def _masked(self, piece: bytes) -> bytes:
        for key in self.keys:
            if piece.find(key) >= 0:  # ``in`` first tries to take the key for a number, and fails: dearer by a half
                piece = piece.replace(key, b"*" * len(key))
        return piece


def _unlogged(kind: int, exchange: bytes, payload: bytes) -> None:
    """Journals nothing."""
