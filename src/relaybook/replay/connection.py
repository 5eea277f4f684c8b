"""Handle one connection of a client: read requests, send logged responses in their rhythm, and end as they ended."""

import asyncio
import contextlib
import socket
import struct
from typing import Final, cast

import httptools

from relaybook.relay.origins import is_loopback_name, is_of_this_machine
from relaybook.relay.response_lines import status_line
from relaybook.replay.recording import Delivery, Ending, Step, delivery, paced
from relaybook.replay.replayer import Failure, Replayer
from relaybook.replay.source import ClientRequest

_MAX_BODY_BYTES: Final = 1 << 30
_LINGER_RESET: Final = struct.pack("ii", 1, 0)
_FOREIGN_PAGE: Final = b'{"error":{"message":"relaybook replay does not serve web pages of other sites."}}'
_FOREIGN_HOST: Final = (
    b'{"error":{"message":"relaybook replay listens on loopback, so the Host header must be a loopback name."}}'
)


class Pace:
    """How fast responses are replayed. Speed 0 has no pauses, and no pause is longer than ``max_wait`` seconds."""

    def __init__(self, speed: float, max_wait: float) -> None:
        self.speed = speed
        self.max_wait = max_wait


class _Incoming:
    """A request that is being read. ``began_at`` is the loop time at which its headers had arrived."""

    began_at = 0.0
    keep_alive = True
    version_1_0 = False
    method = ""

    def __init__(self) -> None:
        self.target = b""
        self.headers: dict[bytes, bytes] = {}
        self.body: list[bytes] = []
        self.size = 0


class Connection(asyncio.Protocol):
    """Answers one request after another."""

    def __init__(self, replayer: Replayer, pace: Pace, prefix: str, connections: set["Connection"]) -> None:
        self._replayer = replayer
        self._pace = pace
        self._prefix = prefix
        self._connections = connections
        self._parser = httptools.HttpRequestParser(self)
        self._incoming = _Incoming()
        self._requests: asyncio.Queue[_Incoming] = asyncio.Queue()
        self._writable = asyncio.Event()
        self._writable.set()

    # Called by the event loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._connections.add(self)
        self._task = asyncio.get_running_loop().create_task(self._serve())

    def data_received(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self._transport.write(status_line(400) + b"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.discard(self)
        self._task.cancel()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def abort(self) -> None:
        """Close the connection at once."""
        self._transport.abort()

    # Called by the parser

    def on_url(self, url: bytes) -> None:
        self._incoming.target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self._incoming.headers[name.lower()] = value

    def on_headers_complete(self) -> None:
        incoming = self._incoming
        incoming.began_at = asyncio.get_running_loop().time()
        incoming.method = self._parser.get_method().decode("latin-1")
        incoming.version_1_0 = self._parser.get_http_version() == "1.0"
        if incoming.headers.get(b"expect", b"").lower() == b"100-continue":
            self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def on_body(self, body: bytes) -> None:
        self._incoming.size += len(body)
        if self._incoming.size > _MAX_BODY_BYTES:
            raise ValueError("the body is too large")
        self._incoming.body.append(body)

    def on_message_complete(self) -> None:
        self._incoming.keep_alive = self._parser.should_keep_alive()
        self._requests.put_nowait(self._incoming)
        self._incoming = _Incoming()

    # Responses

    async def _serve(self) -> None:
        try:
            await self._respond()
        except BaseException:
            self._transport.abort()  # otherwise, the client would wait forever
            raise

    async def _respond(self) -> None:
        while not self._transport.is_closing():
            incoming = await self._requests.get()
            made = await self._delivery(incoming)
            for at, data in made.steps:
                await self._sleep_until(incoming.began_at + at)
                await self._writable.wait()
                self._transport.write(data)
            await self._sleep_until(incoming.began_at + made.ends_after)
            await self._end(made.ending, keep_alive=incoming.keep_alive)

    async def _delivery(self, incoming: _Incoming) -> Delivery:
        headers = incoming.headers
        if not is_of_this_machine(headers.get(b"origin", b""), headers.get(b"sec-fetch-site", b"")):
            return self._failed(Failure(403, _FOREIGN_PAGE), "none", incoming)
        if not self._is_own_name(headers.get(b"host", b"")):
            return self._failed(Failure(403, _FOREIGN_HOST), "none", incoming)
        request = ClientRequest(
            incoming.method,
            incoming.target.decode("latin-1"),
            b"".join(incoming.body),
            headers.get(b"content-encoding", b"").decode("latin-1") or None,
        )
        answer = await asyncio.to_thread(self._replayer.answer, request)
        if isinstance(answer.response, Failure):
            return self._failed(answer.response, answer.header, incoming)
        made = delivery(
            answer.response,
            incoming.method,
            self._header(answer.header),
            version_1_0=incoming.version_1_0,
            keep_alive=incoming.keep_alive,
        )
        return paced(made, self._pace.speed, self._pace.max_wait)

    def _is_own_name(self, host: bytes) -> bool:
        """Return whether a Host header is not from a web page that uses DNS rebinding to reach this machine."""
        own = self._transport.get_extra_info("sockname")[0].encode()
        if not host or not is_loopback_name(b"[%b]" % own if b":" in own else own):
            return True
        name, _, port = host.rpartition(b":")
        return is_loopback_name(name if port.isdigit() else host)

    def _header(self, value: str) -> bytes:
        return f"{self._prefix}-Replay: {value}".encode()

    def _failed(self, failure: Failure, header: str, incoming: _Incoming) -> Delivery:
        lines = [status_line(failure.status), b"Content-Type: application/json", self._header(header)]
        lines.append(b"Content-Length: %d" % len(failure.body))
        if not incoming.keep_alive:
            lines.append(b"Connection: close")
        head = b"\r\n".join([*lines, b"", b""])
        data = head if incoming.method == "HEAD" else head + failure.body
        return Delivery([Step(0.0, data)], "complete", 0.0)

    async def _sleep_until(self, at: float) -> None:
        await asyncio.sleep(max(0.0, at - asyncio.get_running_loop().time()))

    async def _end(self, ending: Ending, *, keep_alive: bool) -> None:
        if ending == "complete" and keep_alive:
            return
        if ending == "hang" and self._pace.speed:
            await asyncio.sleep(self._pace.max_wait)
        if ending == "reset":
            await self._reset()
        else:
            self._transport.close()

    async def _reset(self) -> None:
        """Reset the connection when the kernel has all bytes, because a reset discards the write buffer."""
        while self._transport.get_write_buffer_size() and not self._transport.is_closing():
            await asyncio.sleep(0.001)
        with contextlib.suppress(OSError):
            client_socket = self._transport.get_extra_info("socket")
            client_socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_RESET)
        self._transport.abort()
