"""A client that keeps one raw connection to the relay between exchanges."""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Self

from tests.conformance.relay.upstream import deliver
from tests.conformance.relay.wire import READ_LIMIT, Framing, Head, Malformed, read_body, read_head, reset


@dataclass
class Response:
    """A response as the client received it.

    ``framing`` is ``close`` if the body continues until the connection ends.
    """

    head: Head
    framing: Framing
    body: bytes

    @property
    def status(self) -> int:
        return int(self.head.first[9:12])

    @property
    def request_id(self) -> str:
        """The id of the exchange's record, from a response header."""
        found = self.head.one(b"service-request-id") or self.head.one(b"relaybook-request-id")
        assert found, f"no request id: {self.head.raw!r}"
        return found.decode()


class RawClient:
    """One connection to the relay, opened when it is first used."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self.port, limit=READ_LIMIT)
        return self._streams

    async def send(self, *chunks: bytes) -> None:
        """Write each chunk separately."""
        await self.send_all(chunks)

    async def send_all(self, chunks: Iterable[bytes]) -> None:
        """Write each chunk separately, and let other tasks run between two chunks."""
        _, writer = await self.open()
        await deliver(writer, chunks)

    async def head(self) -> Head:
        """Read the next response head, which may be the head of an interim response."""
        reader, _ = await self.open()
        head = await read_head(reader)
        if head is None:
            raise Malformed("the connection ended before a response")
        if not head.first.startswith(b"HTTP/1.1 "):
            raise Malformed(f"no status line: {head.first!r}")
        return head

    async def response(self, method: bytes = b"GET") -> Response:
        """Read the next complete response. An interim response fails the test, because the relay must discard it."""
        reader, _ = await self.open()
        head = await self.head()
        status = int(head.first[9:12])
        assert status >= 200, f"an interim response was forwarded: {head.raw!r}"
        framing: Framing = "none"
        if method != b"HEAD" and status not in (204, 304):
            framing = head.framing if head.framing != "none" else "close"
        body = await read_body(reader, framing, int(head.one(b"content-length") or 0))
        return Response(head, framing, body)

    async def body(self, head: Head) -> bytes:
        """Read the body that follows a response head."""
        reader, _ = await self.open()
        return await read_body(reader, head.framing, int(head.one(b"content-length") or 0))

    async def exchange(self, *chunks: bytes, method: bytes = b"GET") -> Response:
        """Send a request and read its response."""
        await self.send(*chunks)
        return await self.response(method)

    async def read(self) -> bytes:
        """Read at least one byte. Returns empty bytes at the end of the connection."""
        reader, _ = await self.open()
        return await reader.read(READ_LIMIT)

    async def read_exactly(self, size: int) -> bytes:
        """Read exactly this many bytes."""
        reader, _ = await self.open()
        return await reader.readexactly(size)

    async def rest(self) -> tuple[bytes, str]:
        """Read until the connection ends. Returns the bytes and how the connection ended: ``fin`` or ``rst``."""
        received = b""
        try:
            while data := await self.read():
                received += data
        except ConnectionResetError:
            return received, "rst"
        return received, "fin"

    async def ended(self) -> str:
        """Return how the connection ended: ``fin`` or ``rst``. Any further bytes fail the test."""
        received, ending = await self.rest()
        assert received == b"", f"bytes after the response: {received!r}"
        await self.close()
        return ending

    async def reset(self) -> None:
        """Close the connection with a reset."""
        _, writer = await self.open()
        self._streams = None
        reset(writer)

    async def close(self) -> None:
        """Close the connection."""
        if self._streams is not None:
            _, writer = self._streams
            self._streams = None
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
