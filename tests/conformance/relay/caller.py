"""A caller on a raw connection that is kept from one exchange to the next."""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Self

from tests.conformance.relay.provider import deliver
from tests.conformance.relay.wire import READ_LIMIT, Framing, Head, Malformed, read_body, read_head, reset


@dataclass
class Answer:
    """An answer as the caller got it. ``framing`` of a body that has no end but the connection's is ``close``."""

    head: Head
    framing: Framing
    body: bytes

    @property
    def status(self) -> int:
        return int(self.head.first[9:12])

    @property
    def request_id(self) -> str:
        """The id of the record."""
        found = self.head.one(b"service-request-id") or self.head.one(b"relaybook-request-id")
        assert found, f"no request id: {self.head.raw!r}"
        return found.decode()


class Caller:
    """One connection to the relay; opens it when there is none."""

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

    async def send(self, *pieces: bytes) -> None:
        """Writes each piece by itself."""
        await self.send_all(pieces)

    async def send_all(self, pieces: Iterable[bytes]) -> None:
        """Writes each piece by itself, and lets everybody else run between two of them."""
        _, writer = await self.open()
        await deliver(writer, pieces)

    async def head(self) -> Head:
        """The next head of an answer, informational ones included."""
        reader, _ = await self.open()
        head = await read_head(reader)
        if head is None:
            raise Malformed("the connection ended before an answer")
        if not head.first.startswith(b"HTTP/1.1 "):
            raise Malformed(f"no status line: {head.first!r}")
        return head

    async def answer(self, method: bytes = b"GET") -> Answer:
        """The next answer, whole. Informational answers fail the test: the relay swallows them."""
        reader, _ = await self.open()
        head = await self.head()
        status = int(head.first[9:12])
        assert status >= 200, f"an informational answer crossed: {head.raw!r}"
        framing: Framing = "none"
        if method != b"HEAD" and status not in (204, 304):
            framing = head.framing if head.framing != "none" else "close"
        body = await read_body(reader, framing, int(head.one(b"content-length") or 0))
        return Answer(head, framing, body)

    async def body(self, head: Head) -> bytes:
        """The body that follows a head of an answer."""
        reader, _ = await self.open()
        return await read_body(reader, head.framing, int(head.one(b"content-length") or 0))

    async def exchange(self, *pieces: bytes, method: bytes = b"GET") -> Answer:
        """Sends a request and reads its answer."""
        await self.send(*pieces)
        return await self.answer(method)

    async def read(self) -> bytes:
        """Some bytes; none at the end of the connection."""
        reader, _ = await self.open()
        return await reader.read(READ_LIMIT)

    async def read_exactly(self, size: int) -> bytes:
        """So many bytes."""
        reader, _ = await self.open()
        return await reader.readexactly(size)

    async def rest(self) -> tuple[bytes, str]:
        """All that comes until the end of the connection, and how it ended: ``fin`` or ``rst``."""
        got = b""
        try:
            while data := await self.read():
                got += data
        except ConnectionResetError:
            return got, "rst"
        return got, "fin"

    async def ended(self) -> str:
        """How the connection ended, without another byte."""
        got, how = await self.rest()
        assert got == b"", f"bytes after the answer: {got!r}"
        await self.close()
        return how

    async def reset(self) -> None:
        """Leaves by a reset."""
        _, writer = await self.open()
        self._streams = None
        reset(writer)

    async def close(self) -> None:
        """Leaves."""
        if self._streams is not None:
            _, writer = self._streams
            self._streams = None
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
