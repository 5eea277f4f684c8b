"""Handle one connection to the simulated upstream: read requests, send responses, and close or break the connection."""

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

_CONTROL_PREFIXES: Final = (b"GET /__sim/", b"PUT /__sim/", b"DELETE /__sim/")
_LINGER_RESET: Final = struct.pack("ii", 1, 0)


class Connection(asyncio.Protocol):
    """Responds to one request after another. Pipelined requests wait for their turn."""

    def __init__(self, responder: Responder, open_connections: set["Connection"]) -> None:
        self._responder = responder
        self._open = open_connections
        self._number = responder.next_connection()
        self._reader = RequestReader(self._on_head, self._on_complete)
        self._incoming: Exchange | None = None
        self._pending: deque[Exchange] = deque()
        self._current: Exchange | None = None
        self._task: asyncio.Task[None] | None = None
        self._writable: asyncio.Future[None] | None = None
        self._close_timer: asyncio.TimerHandle | None = None
        self._ignores_input = False
        self._is_disconnected = False

    # Called by the event loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Register the connection, and refuse it if a control request asked for that (see ``Controls.refusals``)."""
        self._transport = cast(asyncio.Transport, transport)
        self._open.add(self)
        ending = self._responder.next_refusal()
        if ending is not None:
            self._close(ending)

    def data_received(self, data: bytes) -> None:
        """Parse received bytes."""
        if self._ignores_input:
            return
        if self._incoming is None:
            self._begin_exchange(data.startswith(_CONTROL_PREFIXES))
        try:
            self._reader.feed(data)
        except MalformedRequest as error:
            self._reject_malformed(str(error))
            return
        if self._incoming is None and self._reader.request is not None:
            self._begin_exchange()
        if self._incoming is not None:
            self._incoming.log_head()

    def eof_received(self) -> bool:
        """Treat a FIN from the peer as the end of the connection, even if the peer still reads."""
        self._disconnect("fin")
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """Log the end of the connection and stop the response."""
        self._open.discard(self)
        self._disconnect("fin" if exc is None else "rst")

    def pause_writing(self) -> None:
        """Make ``drain`` wait, because the socket's write buffer is full."""
        self._writable = asyncio.get_running_loop().create_future()

    def resume_writing(self) -> None:
        """Wake ``drain``, because the socket's write buffer has room again."""
        if self._writable is not None and not self._writable.done():
            self._writable.set_result(None)
        self._writable = None

    # Called by a delivery, and when the simulator stops

    def write(self, data: bytes) -> None:
        """Write bytes to the socket."""
        self._transport.write(data)

    def count(self, content: bytes) -> None:
        """Count response content for the ledger, before the content is written to the socket."""
        if self._current is not None:
            self._current.count(content)

    async def drain(self) -> None:
        """Wait until the socket accepts more data."""
        if self._writable is not None:
            await self._writable

    def abort(self) -> asyncio.Task[None] | None:
        """Close the connection at once. Return the canceled task of the response, if there is a task."""
        self._ignores_input = True
        self._transport.abort()
        if self._task is not None:
            self._task.cancel()
        return self._task

    # Requests

    def _begin_exchange(self, is_control: bool = False) -> Exchange:
        if self._close_timer is not None:
            self._close_timer.cancel()
            self._close_timer = None
        self._incoming = Exchange(self._responder.next_exchange(), self._number, self._responder.ledger, is_control)
        return self._incoming

    def _on_head(self, request: Request) -> None:
        exchange = self._incoming or self._begin_exchange()
        exchange.request = request
        directives = exchange.directives = self._responder.directives_of(request)
        if directives.read_delay_ms:
            self._transport.pause_reading()
            asyncio.get_running_loop().call_later(directives.read_delay_ms / 1000, self._resume_reading)
        if directives.when == "head":
            exchange.log_head()
            self._pending.append(exchange)
            self._send_next_response()
        elif (request.header(b"expect") or b"").lower() == b"100-continue":
            self.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def _resume_reading(self) -> None:
        if not self._transport.is_closing():
            self._transport.resume_reading()

    def _on_complete(self, request: Request) -> None:
        exchange, self._incoming = self._incoming, None
        assert exchange is not None
        if b'"sim_' in request.body:
            exchange.directives = self._responder.directives_of(request)
        exchange.log_request()
        if exchange.directives.when != "head":
            self._pending.append(exchange)
        elif exchange.is_ended and self._current is exchange:
            self._current = None  # the early response was sent before the body arrived
        self._send_next_response()

    def _reject_malformed(self, error: str) -> None:
        exchange = self._incoming or self._begin_exchange()
        exchange.log_malformed()
        reply = replies.invalid_request(400, f"The request is not valid HTTP: {error}.")
        plan = self._responder.plan_reply(Request(is_complete=True, keep_alive=False), NO_DIRECTIVES, reply)
        self.write(plan.head + b"".join(plan.parts))
        exchange.end("broken")
        self._close("fin")

    # Responses

    def _send_next_response(self) -> None:
        while self._current is None and self._pending and not self._ignores_input:
            exchange = self._current = self._pending.popleft()
            assert exchange.request is not None
            plan = self._responder.plan(exchange.request)
            if not plan.is_single_write:
                self._task = asyncio.get_running_loop().create_task(self._deliver(exchange, plan))
                return
            body = b"".join(plan.parts)
            exchange.count(body)
            self.write(plan.head + body + plan.tail)
            self._finish(exchange, plan.after)

    async def _deliver(self, exchange: Exchange, plan: Plan) -> None:
        ending = await deliver(self, plan)
        if ending == "hang":
            await asyncio.get_running_loop().create_future()  # when the peer disconnects, this task is canceled
        if ending == "rst" or plan.after.ending == "rst":
            await self._flush()
        self._task = None
        if ending == "complete":
            self._finish(exchange, plan.after)
            self._send_next_response()
        else:
            exchange.end("broken")
            self._close(ending)

    async def _flush(self) -> None:
        """Wait until the kernel has all written bytes, because a reset discards the write buffer."""
        while self._transport.get_write_buffer_size() and not self._transport.is_closing():
            await asyncio.sleep(0.001)
        await asyncio.sleep(0)

    def _finish(self, exchange: Exchange, after: After) -> None:
        exchange.end("sent")
        if exchange.request is not None and exchange.request.is_complete:
            self._current = None
        if after.ending == "keep":
            return
        ending: Literal["fin", "rst"] = "rst" if after.ending == "rst" else "fin"
        if after.delay_ms:
            self._close_timer = asyncio.get_running_loop().call_later(after.delay_ms / 1000, self._close, ending)
        else:
            self._close(ending)

    # Closing

    def _close(self, ending: Literal["fin", "rst", "hang"]) -> None:
        """Close the connection from this side. With ``hang``, leave it open, but ignore all further input."""
        self._ignores_input = True
        if ending == "rst":
            with contextlib.suppress(OSError):
                client_socket = self._transport.get_extra_info("socket")
                client_socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_RESET)
            self._transport.abort()
        elif ending == "fin":
            self._transport.close()

    def _disconnect(self, ending: Literal["fin", "rst"]) -> None:
        """End all open exchanges because the connection is closed. Further calls do nothing.

        Unfinished exchanges are logged as ``broken`` if this side closed the connection, otherwise as ``client_gone``.
        """
        if self._is_disconnected:
            return
        self._is_disconnected = True
        if self._close_timer is not None:
            self._close_timer.cancel()
        if self._task is not None:
            self._task.cancel()
        exchanges = [exchange for exchange in (self._current, *self._pending, self._incoming) if exchange is not None]
        if not self._ignores_input:
            number = exchanges[0].number if exchanges else 0
            self._responder.ledger.log_event("gone", self._number, number, ending)
        for exchange in exchanges:
            exchange.end("broken" if self._ignores_input else "client_gone")
