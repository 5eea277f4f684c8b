"""Open many idle connections to one relay, and many streams that are read to their end."""

import asyncio
from typing import Final, cast

from benchmarks.traffic.event_load import STREAM_REQUEST

_HEALTH: Final = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
_HEALTHY: Final = b"ok\n"
_EVENT: Final = b"data: "
#: Number of streams started per second. Each stream has one event per second, so the starts spread the events evenly.
_BEGIN_PER_SECOND: Final = 500


def unchunked(data: bytes) -> bytes | None:
    """Return the content of a chunked body, or `None` if the last chunk is missing."""
    pieces: list[bytes] = []
    while data:
        size, _, rest = data.partition(b"\r\n")
        length = int(size, 16)
        if not length:
            return b"".join(pieces) if rest == b"\r\n" else None
        pieces.append(rest[:length])
        data = rest[length + 2 :]
    return None


class IdleClients:
    """Connections that received one response and stay idle."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._open: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def connect(self, count: int) -> None:
        """Open this many more connections."""
        for _ in range(count):
            reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
            self._open.append((reader, writer))
            if not await _responds(reader, writer):
                raise ConnectionError("the relay closed a connection instead of answering /healthz")

    async def still_serving(self) -> int:
        """Return the number of connections on which the relay still responds."""
        return sum([await _responds(reader, writer) for reader, writer in self._open])

    def leave(self) -> None:
        """Close all connections."""
        for _, writer in self._open:
            writer.transport.abort()


async def _responds(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    try:
        writer.write(_HEALTH)
        async with asyncio.timeout(30):
            await reader.readuntil(_HEALTHY)
    except (OSError, asyncio.IncompleteReadError, TimeoutError):
        return False
    return True


class StreamReading(asyncio.Protocol):
    """One stream, from its request to its last chunk or the end of the connection."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.write(STREAM_REQUEST)

    def data_received(self, data: bytes) -> None:
        self.data += data
        if self.data.endswith(b"\r\n0\r\n\r\n"):
            self._transport.abort()

    def connection_lost(self, error: Exception | None) -> None:
        if not self.over.done():
            self.over.set_result(None)

    @property
    def events(self) -> int:
        """The number of events so far."""
        return self.data.count(_EVENT)

    @property
    def body(self) -> bytes | None:
        """The body of the response, or `None` if the response did not end cleanly."""
        return unchunked(bytes(self.data.partition(b"\r\n\r\n")[2]))


async def begin_streams(port: int, count: int) -> list[StreamReading]:
    """Open this many streams, each on its own connection.

    When the function returns, all streams have been requested.
    """
    loop = asyncio.get_running_loop()
    streams = []
    for _ in range(count):
        _, stream = await loop.create_connection(StreamReading, "127.0.0.1", port)
        streams.append(stream)
        await asyncio.sleep(1 / _BEGIN_PER_SECOND)
    return streams
