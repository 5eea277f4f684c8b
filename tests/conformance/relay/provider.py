"""A provider that keeps the exact bytes it got and answers the exact bytes it was told to, piece by piece.

A request finds its script by the header ``X-Exchange``. One process, one loop: that of the callers.
"""

import asyncio
from collections.abc import AsyncIterable, Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field

from tests.conformance.relay.wire import READ_LIMIT, Framing, Head, read_body, read_head, reset

NAME = b"x-exchange"
#: Replaces /v1 of the relay's paths.
BASE_PATH = b"/behind/api"


@dataclass
class Seen:
    """A request as the provider got it."""

    connection: int
    head: Head
    framing: Framing
    body: bytes = b""


class Line:
    """The provider's end of one connection."""

    def __init__(self, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.number = number
        self.reader = reader
        self.writer = writer
        self.ended = False
        #: Bytes that left this end, as far as the transport tells.
        self.sent = 0

    async def send(self, *pieces: bytes) -> None:
        """Writes each piece by itself."""
        for piece in pieces:
            self.writer.write(piece)
            await self.writer.drain()
            self.sent += len(piece)

    async def send_all(self, pieces: Iterable[bytes] | AsyncIterable[bytes]) -> None:
        """Writes each piece by itself, and lets everybody else run between two of them."""
        await deliver(self.writer, pieces)

    async def close(self) -> None:
        """Ends the connection with a FIN, after what was sent. Returns when the socket is closed."""
        self.ended = True
        self.writer.close()
        with suppress(OSError):
            await self.writer.wait_closed()

    async def reset(self) -> None:
        """Ends the connection with a reset. Returns when the socket is closed."""
        self.ended = True
        reset(self.writer)
        with suppress(OSError):
            await self.writer.wait_closed()

    async def peer_gone(self) -> None:
        """Returns once the other side has closed, or reset, the connection."""
        with suppress(ConnectionError):
            while await self.reader.read(READ_LIMIT):
                pass


Script = Callable[[Line, Seen], Awaitable[None]]


async def deliver(writer: asyncio.StreamWriter, pieces: Iterable[bytes] | AsyncIterable[bytes]) -> None:
    """Writes pieces so that each is a write of its own."""
    if isinstance(pieces, AsyncIterable):
        async for piece in pieces:
            writer.write(piece)
            await writer.drain()
        return
    for piece in pieces:
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(0)


@dataclass
class Provider:
    """``seen`` has every request by its name; ``complaints`` what was no HTTP."""

    port: int = 0
    seen: dict[bytes, list[Seen]] = field(default_factory=dict)
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
        """What the relay must send as Host."""
        return b"127.0.0.1:%d" % self.port

    def answer(self, name: bytes, script: Script, *, at_head: bool = False) -> None:
        """What to do with the request of this name: after its last byte, or ``at_head`` before its body is read."""
        self._scripts[name] = (script, at_head)

    def got(self, name: bytes) -> Seen:
        """The one request of a name."""
        found = self.seen.get(name, [])
        assert len(found) == 1, f"the provider got {name!r} {len(found)} times"
        return found[0]

    def forget(self, name: bytes) -> None:
        """Frees what is kept of an exchange that was checked."""
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
        task = asyncio.get_running_loop().create_task(self._serve(Line(self._connections, reader, writer)))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, line: Line) -> None:
        try:
            while not line.ended:
                head = await read_head(line.reader)
                if head is None:
                    break
                await self._take(line, head)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the relay left: the test that cares looks
        except (AssertionError, asyncio.LimitOverrunError) as error:
            self.complaints.append(f"{error!r} on connection {line.number}")
        finally:
            line.writer.close()

    async def _take(self, line: Line, head: Head) -> None:
        self.requests += 1
        name = head.one(NAME)
        if name not in self._scripts:
            raise AssertionError(f"nobody expects {head.raw!r}")
        script, at_head = self._scripts[name]
        seen = Seen(line.number, head, head.framing)
        self.seen.setdefault(name, []).append(seen)
        if not at_head:
            seen.body = await read_body(line.reader, seen.framing, int(head.one(b"content-length") or 0))
        await script(line, seen)
