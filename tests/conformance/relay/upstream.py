"""An upstream that stores the exact bytes it receives, and sends the exact bytes of a script, chunk by chunk.

The request header ``X-Exchange`` selects the script. The upstream runs on the same event loop as the clients.
"""

import asyncio
from collections.abc import AsyncIterable, Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field

from tests.conformance.relay.wire import READ_LIMIT, Framing, Head, read_body, read_head, reset

NAME = b"x-exchange"
#: The upstream's base path. It replaces /v1 in request paths.
BASE_PATH = b"/behind/api"


@dataclass
class Received:
    """A request as the upstream received it."""

    connection: int
    head: Head
    framing: Framing
    body: bytes = b""


class UpstreamConnection:
    """The upstream's end of one connection."""

    def __init__(self, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.number = number
        self.reader = reader
        self.writer = writer
        self.ended = False
        #: The number of bytes that the transport has accepted.
        self.sent = 0

    async def send(self, *chunks: bytes) -> None:
        """Write each chunk separately."""
        for chunk in chunks:
            self.writer.write(chunk)
            await self.writer.drain()
            self.sent += len(chunk)

    async def send_all(self, chunks: Iterable[bytes] | AsyncIterable[bytes]) -> None:
        """Write each chunk separately, and let other tasks run between two chunks."""
        await deliver(self.writer, chunks)

    async def close(self) -> None:
        """Close the connection with a FIN after the sent bytes. Returns when the socket is closed."""
        self.ended = True
        self.writer.close()
        with suppress(OSError):
            await self.writer.wait_closed()

    async def reset(self) -> None:
        """Close the connection with a reset. Returns when the socket is closed."""
        self.ended = True
        reset(self.writer)
        with suppress(OSError):
            await self.writer.wait_closed()

    async def peer_gone(self) -> None:
        """Return once the peer has closed or reset the connection."""
        with suppress(ConnectionError):
            while await self.reader.read(READ_LIMIT):
                pass


Script = Callable[[UpstreamConnection, Received], Awaitable[None]]


async def deliver(writer: asyncio.StreamWriter, chunks: Iterable[bytes] | AsyncIterable[bytes]) -> None:
    """Write each chunk separately, and let other tasks run between two chunks."""
    if isinstance(chunks, AsyncIterable):
        async for chunk in chunks:
            writer.write(chunk)
            await writer.drain()
        return
    for chunk in chunks:
        writer.write(chunk)
        await writer.drain()
        await asyncio.sleep(0)


@dataclass
class Upstream:
    """The upstream's server. ``seen`` contains all requests by name, and ``complaints`` the errors in requests."""

    port: int = 0
    seen: dict[bytes, list[Received]] = field(default_factory=dict)
    complaints: list[str] = field(default_factory=list)
    requests: int = 0
    _scripts: dict[bytes, tuple[Script, bool]] = field(default_factory=dict)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _server: asyncio.Server | None = None
    _connections: int = 0

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=READ_LIMIT, backlog=512)
        self.port = self._server.sockets[0].getsockname()[1]

    @property
    def authority(self) -> bytes:
        """The required value of the Host header."""
        return b"127.0.0.1:%d" % self.port

    def respond(self, name: bytes, script: Script, *, at_head: bool = False) -> None:
        """Set the script for the request with this name.

        The script runs after the request's last byte or, with ``at_head``, before the body is read.
        """
        self._scripts[name] = (script, at_head)

    def received(self, name: bytes) -> Received:
        """Return the only request with this name."""
        found = self.seen.get(name, [])
        assert len(found) == 1, f"the upstream got {name!r} {len(found)} times"
        return found[0]

    def forget(self, name: bytes) -> None:
        """Forget a checked exchange, to free its memory."""
        self.seen.pop(name, None)
        self._scripts.pop(name, None)

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections += 1
        task = asyncio.get_running_loop().create_task(
            self._serve(UpstreamConnection(self._connections, reader, writer))
        )
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, line: UpstreamConnection) -> None:
        try:
            while not line.ended:
                head = await read_head(line.reader)
                if head is None:
                    break
                await self._take(line, head)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the relay disconnected; tests check disconnections if necessary
        except (AssertionError, asyncio.LimitOverrunError) as error:
            self.complaints.append(f"{error!r} on connection {line.number}")
        finally:
            line.writer.close()

    async def _take(self, line: UpstreamConnection, head: Head) -> None:
        self.requests += 1
        name = head.one(NAME)
        if name not in self._scripts:
            raise AssertionError(f"nobody expects {head.raw!r}")
        script, at_head = self._scripts[name]
        seen = Received(line.number, head, head.framing)
        self.seen.setdefault(name, []).append(seen)
        if not at_head:
            seen.body = await read_body(line.reader, seen.framing, int(head.one(b"content-length") or 0))
        await script(line, seen)
