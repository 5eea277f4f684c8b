"""One connection of the simulated provider: requests in, answers out, and its end, wished or not."""

import asyncio
import contextlib
import socket
import struct
from collections import deque
from typing import Final, Literal, cast

from relaybook_demo.simulator import replies
from relaybook_demo.simulator.delivery import deliver
from relaybook_demo.simulator.directive_values import After
from relaybook_demo.simulator.directives import NO_DIRECTIVES
from relaybook_demo.simulator.exchange import Exchange
from relaybook_demo.simulator.incoming import MalformedRequest, Request, RequestReader
from relaybook_demo.simulator.plans import Plan
from relaybook_demo.simulator.responder import Responder

_CONTROL: Final = (b"GET /__sim/", b"PUT /__sim/", b"DELETE /__sim/")
_RESET: Final = struct.pack("ii", 1, 0)


class Connection(asyncio.Protocol):
    """Answers one request after another; those that come early wait."""

    def __init__(self, responder: Responder, open_connections: set["Connection"]) -> None:
        self._responder = responder
        self._open = open_connections
        self._number = responder.next_connection()
        self._reader = RequestReader(self._on_head, self._on_complete)
        self._coming: Exchange | None = None
        self._waiting: deque[Exchange] = deque()
        self._answering: Exchange | None = None
        self._task: asyncio.Task[None] | None = None
        self._writable: asyncio.Future[None] | None = None
        self._closing: asyncio.TimerHandle | None = None
        self._is_deaf = False
        self._has_left = False

    # Called by the event loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A peer connected."""
        self._transport = cast(asyncio.Transport, transport)
        self._open.add(self)
        how = self._responder.next_refusal()
        if how is not None:
            self._end(how)

    def data_received(self, data: bytes) -> None:
        """Bytes came."""
        if self._is_deaf:
            return
        if self._coming is None:
            self._begin(data.startswith(_CONTROL))
        try:
            self._reader.feed(data)
        except MalformedRequest as wrong:
            self._refuse_malformed(str(wrong))
            return
        if self._coming is None and self._reader.request is not None:
            self._begin()
        if self._coming is not None:
            self._coming.note_head()

    def eof_received(self) -> bool:
        """The peer sent its FIN: it is gone, as far as a provider cares."""
        self._leave("fin")
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is over."""
        self._open.discard(self)
        self._leave("fin" if exc is None else "rst")

    def pause_writing(self) -> None:
        """The socket is full."""
        self._writable = asyncio.get_running_loop().create_future()

    def resume_writing(self) -> None:
        """The socket takes more."""
        if self._writable is not None and not self._writable.done():
            self._writable.set_result(None)
        self._writable = None

    # Called by a delivery, and at the end of the simulator.

    def write(self, data: bytes) -> None:
        """Hand bytes to the socket."""
        self._transport.write(data)

    def count(self, content: bytes) -> None:
        """Content is about to be written."""
        if self._answering is not None:
            self._answering.count(content)

    async def drain(self) -> None:
        """Wait until the socket takes more."""
        if self._writable is not None:
            await self._writable

    def abort(self) -> asyncio.Task[None] | None:
        """End at once; returns what has yet to notice."""
        self._is_deaf = True
        self._transport.abort()
        if self._task is not None:
            self._task.cancel()
        return self._task

    # Requests.

    def _begin(self, is_control: bool = False) -> Exchange:
        if self._closing is not None:
            self._closing.cancel()
            self._closing = None
        self._coming = Exchange(self._responder.next_exchange(), self._number, self._responder.ledger, is_control)
        return self._coming

    def _on_head(self, request: Request) -> None:
        exchange = self._coming or self._begin()
        exchange.request = request
        directives = exchange.directives = self._responder.directives_of(request)
        if directives.read_delay_ms:
            self._transport.pause_reading()
            asyncio.get_running_loop().call_later(directives.read_delay_ms / 1000, self._resume_reading)
        if directives.when == "head":
            exchange.note_head()
            self._waiting.append(exchange)
            self._read_next_response()
        elif (request.header(b"expect") or b"").lower() == b"100-continue":
            self.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def _resume_reading(self) -> None:
        if not self._transport.is_closing():
            self._transport.resume_reading()

    def _on_complete(self, request: Request) -> None:
        exchange, self._coming = self._coming, None
        assert exchange is not None
        if b'"sim_' in request.body:
            exchange.directives = self._responder.directives_of(request)
        exchange.note_request()
        if exchange.directives.when != "head":
            self._waiting.append(exchange)
        elif exchange.is_ended and self._answering is exchange:
            self._answering = None  # its early answer was out before its body was in
        self._read_next_response()

    def _refuse_malformed(self, wrong: str) -> None:
        exchange = self._coming or self._begin()
        exchange.note_malformed()
        reply = replies.refuse(400, f"The request is not valid HTTP: {wrong}.")
        plan = self._responder.plan_reply(Request(is_complete=True, keeps_alive=False), NO_DIRECTIVES, reply)
        self.write(plan.head + b"".join(plan.parts))
        exchange.end("broken")
        self._end("fin")

    # Answers.

    def _read_next_response(self) -> None:
        while self._answering is None and self._waiting and not self._is_deaf:
            exchange = self._answering = self._waiting.popleft()
            assert exchange.request is not None
            plan = self._responder.plan(exchange.request)
            if not plan.is_at_once:
                self._task = asyncio.get_running_loop().create_task(self._deliver(exchange, plan))
                return
            body = b"".join(plan.parts)
            exchange.count(body)
            self.write(plan.head + body + plan.tail)
            self._finish(exchange, plan.after)

    async def _deliver(self, exchange: Exchange, plan: Plan) -> None:
        how = await deliver(self, plan)
        if how == "hang":
            await asyncio.get_running_loop().create_future()  # until the peer leaves
        if how == "rst" or plan.after.how == "rst":
            await self._flush()
        self._task = None
        if how == "whole":
            self._finish(exchange, plan.after)
            self._read_next_response()
        else:
            exchange.end("broken")
            self._end(how)

    async def _flush(self) -> None:
        """A reset throws away what is still to be written; let it go first."""
        while self._transport.get_write_buffer_size() and not self._transport.is_closing():
            await asyncio.sleep(0.001)
        await asyncio.sleep(0)

    def _finish(self, exchange: Exchange, after: After) -> None:
        exchange.end("sent")
        if exchange.request is not None and exchange.request.is_complete:
            self._answering = None
        if after.how == "keep":
            return
        how: Literal["fin", "rst"] = "rst" if after.how == "rst" else "fin"
        if after.delay_ms:
            self._closing = asyncio.get_running_loop().call_later(after.delay_ms / 1000, self._end, how)
        else:
            self._end(how)

    # Ends.

    def _end(self, how: Literal["fin", "rst", "hang"]) -> None:
        """We end it; ``hang`` stays silent until the peer leaves."""
        self._is_deaf = True
        if how == "rst":
            with contextlib.suppress(OSError):
                connected = self._transport.get_extra_info("socket")
                connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            self._transport.abort()
        elif how == "fin":
            self._transport.close()

    def _leave(self, how: Literal["fin", "rst"]) -> None:
        """The connection is over, by whichever side; an answer that was not out is its peer's loss."""
        if self._has_left:
            return
        self._has_left = True
        if self._closing is not None:
            self._closing.cancel()
        if self._task is not None:
            self._task.cancel()
        concerned = [found for found in (self._answering, *self._waiting, self._coming) if found is not None]
        if not self._is_deaf:
            number = concerned[0].number if concerned else 0
            self._responder.ledger.note("gone", self._number, number, how)
        for exchange in concerned:
            exchange.end("broken" if self._is_deaf else "client_gone")
