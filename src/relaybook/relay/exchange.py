"""One exchange: a request and its answer, from admission to its one end.

Two halves run side by side. The request is *reading* until its last byte came (then *asked*, or *abandoned* when an
answer came first); the answer is *waiting*, *answering* and *done*. Whatever happens, the exchange ends in ``close``,
once. It decides what crosses and what is journaled; sockets belong to ``downstream`` and ``upstream``.
"""

import asyncio
from enum import IntEnum
from typing import TYPE_CHECKING

from relaybook import clock
from relaybook.errors import RelayError
from relaybook.ids import id_text, new_id
from relaybook.journal.events import Answered, Closed, Opened, encode_event
from relaybook.journal.frame import Kind
from relaybook.records import kind_of
from relaybook.relay import refuse
from relaybook.relay.limits import MAX_WARNING_HEADERS, READ_BYTES, SHORTEST_SECRET
from relaybook.relay.request_head import RequestHead
from relaybook.tags import Tags

if TYPE_CHECKING:
    from relaybook.relay.answer_head import AnswerHead
    from relaybook.relay.downstream import Downstream
    from relaybook.relay.relay import Relay
    from relaybook.relay.routes import Route
    from relaybook.relay.upstream import Upstream


class Answer(IntEnum):
    """How far the answer is."""

    WAITING = 0
    ANSWERING = 1
    DONE = 2


class Exchange:
    """See the module. ``down`` is None once the caller is gone; ``up`` is None before and after the provider."""

    __slots__ = (
        *("answer", "asked_ns", "chunked_down", "closed", "dial", "down", "event_stream", "head_out", "id", "id_text"),
        *("key", "last", "logged", "method", "mute", "pending", "pending_bytes", "relay", "request_chunked"),
        *(
            "reclaiming",
            "request_complete",
            "requeued",
            "retried",
            "route",
            "sent_ns",
            "tags",
            "target",
            "text_headers",
        ),
        *("up", "waiting_since"),
    )

    def __init__(self, relay: "Relay", down: "Downstream", route: "Route", head: RequestHead, tags: Tags) -> None:
        self.relay = relay
        self.down: Downstream | None = down
        self.up: Upstream | None = None
        self.route = route
        self.tags = tags
        self.id = new_id()
        self.id_text = id_text(self.id)
        self.method = head.method
        self.target = head.target
        self.request_chunked = head.chunked
        self.key = head.key if head.key and len(head.key) >= SHORTEST_SECRET else None
        self.answer = Answer.WAITING
        self.request_complete = False
        self.closed = False
        self.logged = True
        self.pending: list[bytes] = []
        self.pending_bytes = 0
        self.requeued = 0
        self.retried = False
        self.reclaiming = False
        self.dial: asyncio.Task[None] | None = None
        self.head_out = b""
        self.chunked_down = False
        self.event_stream = False
        self.mute = False
        self.last = b""
        self.asked_ns = 0
        self.sent_ns = 0
        self.waiting_since = 0.0
        self.text_headers = self._our_headers()

    # -- the request ---------------------------------------------------------------------------------------------

    def open(self, head: RequestHead, client_address: str) -> None:
        """Journals the request's head, and queues its head for the provider."""
        relay, tags, route = self.relay, self.tags, self.route
        key = relay.fingerprints.of(head.key) if head.key else None
        opened = Opened(
            clock.wall_ns(),
            head.method,
            relay.fingerprints.target(head.target) if b"?" in head.target else head.target,
            b"\r\n".join(head.logged),
            tags.namespace,
            tags.properties,
            [(note.code, note.message) for note in tags.warnings],
            route.name,
            route.upstream.url,
            client_address,
            tags.log,
            key,
        )
        self._frame(Kind.OPENED, encode_event(opened))
        if tags.log == "no-bodies":
            relay.journal.seal_soon()
        host = route.upstream.host_line
        if head.host_at >= 0:
            head.lines[head.host_at] = host
        else:
            head.lines.insert(0, host)
        self._to_provider(
            b"%b %b HTTP/1.1\r\n%b\r\n\r\n" % (head.method, route.map(head.target), b"\r\n".join(head.lines))
        )

    def request_piece(self, piece: bytes) -> None:
        """Body bytes of one read."""
        if self.answer == Answer.WAITING:
            self._frame(Kind.SENT, self._masked(piece))
            self._to_provider(b"%x\r\n%b\r\n" % (len(piece), piece) if self.request_chunked else piece)

    def request_end(self) -> None:
        """The request's last byte came."""
        self.request_complete = True
        self.asked_ns = clock.monotonic_ns()
        self.waiting_since = self.relay.now
        self._frame(Kind.ASKED, b"")
        if self.request_chunked and self.answer == Answer.WAITING:
            self._to_provider(b"0\r\n\r\n")

    def _to_provider(self, wire: bytes) -> None:
        self.pending.append(wire)
        self.pending_bytes += len(wire)

    def send(self) -> None:
        """Sends what is waiting for the provider in one write, connecting first where needed."""
        up = self.up
        if up is None:
            if self.dial is None and not self.reclaiming and not self.closed:
                self.relay.connect(self)
        elif self.pending:
            data = self.pending[0] if len(self.pending) == 1 else b"".join(self.pending)
            self.pending.clear()
            self.pending_bytes = self.requeued = 0
            up.send(data)
        if self.down is not None:
            self.down.feed_when(self._may_feed())

    def _may_feed(self) -> bool:
        """Whether the caller's next bytes have room."""
        up = self.up
        return self.pending_bytes <= READ_BYTES and (up is None or (up.held <= READ_BYTES and not up.write_paused))

    def requeue(self, data: bytes) -> None:
        """Takes back bytes no part of which reached a connection that was lost before it was used."""
        self.pending.insert(self.requeued, data)
        self.requeued += 1
        self.pending_bytes += len(data)

    def lost_unused(self) -> None:
        """A pooled connection was gone before a byte of the request went into it: one more try, on a new one."""
        self.reclaiming = False
        if self.closed:
            return
        self.relay.dial(self)

    def connected(self, up: "Upstream") -> None:
        """A connection is there for this exchange."""
        self.dial = None
        self.up = up
        up.exchange = self
        if self.request_complete:
            self.asked_ns = clock.monotonic_ns()  # waiting for the provider to connect is not our share
        self.waiting_since = self.relay.now
        self.send()

    # -- the answer ----------------------------------------------------------------------------------------------

    def answered(self, head: "AnswerHead") -> None:
        """The final head of the provider's answer: journaled, and queued with the first bytes of its body."""
        self.answer = Answer.ANSWERING
        self._frame(Kind.ANSWERED, encode_event(Answered(head.status, head.reason, b"\r\n".join(head.logged))))
        down = self.down
        if down is None:
            return
        lines = head.lines
        self.mute = self.method == b"HEAD" or head.status in (204, 304)
        endless = not (self.mute or head.chunked or head.length is not None)
        self.chunked_down = head.chunked and not self.mute
        if head.chunked and down.version_1_0:
            self.chunked_down = False
            lines = [line for line in lines if not line.lower().startswith(b"transfer-encoding:")]
            endless = True
        if endless or not self.request_complete or self.relay.draining:
            down.keep_alive = False
        down.reset_on_cut = endless
        self.event_stream = head.event_stream and self.chunked_down and not head.encoded and self._is_understood()
        closing = b"" if down.keep_alive else b"\r\nConnection: close"
        self.head_out = b"%b\r\n%b\r\n%b%b\r\n\r\n" % (
            refuse.status_line(head.status, head.reason or b" "),
            b"\r\n".join(lines),
            self.text_headers,
            closing,
        )

    def answer_piece(self, piece: bytes, complete: bool) -> None:
        """Body bytes of one read of the provider's answer; ``complete`` with its last."""
        if piece:
            self._frame(Kind.RECEIVED, self._masked(piece))
        down = self.down
        if down is not None:
            if self.event_stream and piece:
                self.last = piece[-4:] if len(piece) >= 4 else (self.last + piece)[-4:]
            wire = piece
            if self.chunked_down:
                if piece:
                    wire = (
                        b"%x\r\n%b\r\n0\r\n\r\n" % (len(piece), piece)
                        if complete
                        else b"%x\r\n%b\r\n" % (len(piece), piece)
                    )
                elif complete:
                    wire = b"0\r\n\r\n"
            if self.head_out:
                wire = self.head_out + wire
                self.head_out = b""
            if wire:
                down.send(wire)
                if down.held > READ_BYTES and self.up is not None:
                    self.up.feed_when(False)
        if complete:
            self._answer_complete()

    def _answer_complete(self) -> None:
        self.answer = Answer.DONE
        up, self.up = self.up, None
        if up is not None:
            up.exchange = None
            up.finished(reusable=self.request_complete and not self.pending)
        down = self.down
        if down is None:
            self.close("client_closed")
        else:
            self.relay.gate.then(down.handed_over, b"")

    def handed_over(self) -> None:
        """The kernel has the answer's last byte."""
        self.close("complete")

    # -- failures ------------------------------------------------------------------------------------------------

    def fail(self, error: RelayError, message: str) -> None:
        """The provider failed us. Before its head the caller gets an answer of ours, after it a broken stream."""
        if self.closed or self.answer == Answer.DONE:
            return
        self._drop_provider()
        started = self.answer == Answer.ANSWERING
        self.answer = Answer.DONE
        if started:
            self._break_stream(message)
        elif self.down is not None:
            self._answer_ourselves(error, message)
        if self.down is None:
            self.close("client_closed", error.code, message)
            return
        code = RelayError.UPSTREAM_STREAM_INTERRUPTED.code if started and self.event_stream else error.code
        self.close("upstream_failed", code, message)

    def refuse(self, error: RelayError, message: str) -> None:
        """The caller broke a rule after admission: an answer of ours, or a cut where the answer has begun."""
        if self.closed:
            return
        self._drop_provider()
        started = self.answer == Answer.ANSWERING
        self.answer = Answer.DONE
        if self.down is not None:
            self.down.keep_alive = False
            if started:
                self.relay.gate.then(self.down.cut, b"")
            else:
                self._answer_ourselves(error, message)
        self.close("refused", error.code, message)

    def caller_gone(self) -> None:
        """The caller's connection is lost. The provider is told at once, or read to the end by choice."""
        self.down = None
        if self.closed:
            return
        finish = self.relay.settings.on_client_gone == "finish" and self.request_complete
        if finish and self.answer != Answer.DONE and (self.up is not None or self.dial is not None):
            if self.up is not None:
                self.up.feed_when(True)
            return
        self._drop_provider()
        self.close("client_closed")

    def interrupt(self) -> None:
        """We stop, or cannot log any more: both sides are cut, the record says interrupted."""
        if self.closed:
            return
        self._drop_provider()
        started = self.answer == Answer.ANSWERING
        self.answer = Answer.DONE
        message = "Relaybook stopped before the answer was complete."
        if self.down is not None and started:
            self._break_stream(message)
        elif self.down is not None:
            self.down.keep_alive = False
            self._answer_ourselves(RelayError.SHUTTING_DOWN, message)
        self.close("interrupted", RelayError.SHUTTING_DOWN.code, message)

    def abandon(self) -> None:
        """The journal is lost for this exchange: nothing more is said, both connections are reset."""
        if self.closed:
            return
        self._drop_provider()
        down, self.down = self.down, None
        self.close("interrupted", RelayError.LOG_UNAVAILABLE.code, "The journal could not be written.")
        if down is not None:
            down.exchange = None
            down.reset()

    def _drop_provider(self) -> None:
        if self.dial is not None:
            self.dial.cancel()
            self.dial = None
        up, self.up = self.up, None
        if up is not None:
            up.exchange = None
            up.abort()

    def _break_stream(self, message: str) -> None:
        """After the head has gone: an error event between two events of a stream, and never a clean end."""
        down = self.down
        if down is None:
            return
        down.keep_alive = False
        if self.head_out:
            down.send(self.head_out)
            self.head_out = b""
        if self.event_stream and (not self.last or self.last.endswith((b"\n\n", b"\r\n\r\n", b"\r\r"))):
            event = refuse.stream_error_event(message)
            self._frame(Kind.MADE, event)
            down.send(b"%x\r\n%b\r\n" % (len(event), event))
        self.relay.gate.then(down.cut, b"")

    def _answer_ourselves(self, error: RelayError, message: str) -> None:
        down = self.down
        if down is None:
            return
        body = refuse.error_json(error, message, self.relay.log_url(self.id_text))
        lines = refuse.error_lines(error, body, self.tags.prefix, self.id_text)
        self._frame(Kind.ANSWERED, encode_event(Answered(error.status, b"", b"\r\n".join(lines), made=True)))
        self._frame(Kind.MADE, body)
        if not self.request_complete or self.relay.draining:
            down.keep_alive = False
        lines.append(self.text_headers)
        if not down.keep_alive:
            lines.append(b"Connection: close")
        head = b"\r\n".join([refuse.status_line(error.status), *lines, b"", b""])
        down.send(head if self.method == b"HEAD" else head + body)
        self.relay.gate.then(down.handed_over, b"")

    # -- the end -------------------------------------------------------------------------------------------------

    def close(self, outcome: str, error_code: str | None = None, message: str | None = None) -> None:
        """The one end. What was queued for the caller still goes out; CLOSED is journaled."""
        if self.closed:
            return
        self.closed = True
        relay_ns = self.sent_ns - self.asked_ns if self.sent_ns and self.asked_ns else None
        self._frame(Kind.CLOSED, encode_event(Closed(outcome, error_code, message, relay_ns)))  # type: ignore[arg-type]
        self.relay.ended(self)

    def _is_understood(self) -> bool:
        """Whether an error event of ours makes sense in a stream of this path."""
        return kind_of(self.route.below(self.target)) in ("chat", "completion", "response")

    # -- small parts ---------------------------------------------------------------------------------------------

    def _frame(self, kind: int, payload: bytes) -> None:
        if self.logged:
            self.relay.gate.frame(kind, self.id, payload)

    def _masked(self, piece: bytes) -> bytes:
        key = self.key
        if key is not None and key in piece:
            return piece.replace(key, b"*" * len(key))
        return piece

    def _our_headers(self) -> bytes:
        tags = self.tags
        prefix = tags.prefix.encode()
        text = b"%b-Request-Id: %b\r\n%b-Namespace: %b" % (prefix, self.id_text.encode(), prefix, tags.echo)
        for note in tags.warnings[:MAX_WARNING_HEADERS]:
            shown = f"{note.code}; {note.message}".encode("ascii", "replace").replace(b"\r", b" ").replace(b"\n", b" ")
            text += b"\r\n%b-Warning: %b" % (prefix, shown)
        return text
