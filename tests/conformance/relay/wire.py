"""Parse HTTP/1.1 strictly from a raw stream. Malformed input fails the test. The parser is independent of Relaybook."""

import asyncio
import re
import socket
from contextlib import suppress
from dataclasses import dataclass
from struct import pack
from typing import Literal

Pair = tuple[bytes, bytes]
Framing = Literal["none", "length", "chunked", "close"]

#: Larger than any head or chunk in the tests.
READ_LIMIT = 1 << 20
_CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,16})[ \t]*(?:;[^\r\n]*)?\r\n")
_LINE = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):([\t\x20-\x7e\x80-\xff]*)")


class Malformed(AssertionError):
    """The bytes are not valid HTTP."""


@dataclass(frozen=True)
class Head:
    """The head of a message: its first line and its headers, without the white space around values."""

    raw: bytes
    first: bytes
    pairs: tuple[Pair, ...]

    @classmethod
    def parse(cls, raw: bytes) -> "Head":
        """Parse the bytes of a head, including the empty line at the end."""
        first, *lines = raw[:-4].split(b"\r\n")
        pairs = []
        for line in lines:
            found = _LINE.fullmatch(line)
            if found is None:
                raise Malformed(f"no header line: {line!r}")
            pairs.append((found[1], found[2].strip(b" \t")))
        return cls(raw, first, tuple(pairs))

    def all(self, name: bytes) -> list[bytes]:
        """Return all values of a header, in order."""
        return [value for key, value in self.pairs if key.lower() == name]

    def one(self, name: bytes) -> bytes | None:
        """Return the value of a header that may occur at most once, or `None` if the header is absent."""
        values = self.all(name)
        if len(values) > 1:
            raise Malformed(f"{name!r} stands {len(values)} times: {self.raw!r}")
        return values[0] if values else None

    @property
    def framing(self) -> Framing:
        """Return the framing that the head declares for the body."""
        length, coding = self.one(b"content-length"), self.one(b"transfer-encoding")
        if length is not None and coding is not None:
            raise Malformed(f"both Content-Length and Transfer-Encoding: {self.raw!r}")
        return "chunked" if coding is not None else "length" if length is not None else "none"


async def read_head(reader: asyncio.StreamReader) -> Head | None:
    """Read the next head. Returns `None` if the connection ends before a head begins."""
    try:
        return Head.parse(await reader.readuntil(b"\r\n\r\n"))
    except asyncio.IncompleteReadError as error:
        if error.partial:
            raise
        return None


async def read_body(reader: asyncio.StreamReader, framing: Framing, length: int = 0) -> bytes:
    """Read the body that follows a head. Raises IncompleteReadError if the body is truncated."""
    match framing:
        case "none":
            return b""
        case "length":
            return await reader.readexactly(length)
        case "close":
            return await reader.read(-1)
        case "chunked":
            return await _read_chunks(reader)


async def _read_chunks(reader: asyncio.StreamReader) -> bytes:
    body = bytearray()
    while True:
        line = await reader.readuntil(b"\r\n")
        size = _CHUNK_SIZE.fullmatch(line)
        if size is None:
            raise Malformed(f"no chunk size: {line!r}")
        data = await reader.readexactly(int(size[1], 16) + 2)
        if not data.endswith(b"\r\n"):
            raise Malformed(f"a chunk ends with {data[-2:]!r}" if len(data) > 2 else "trailers after the last chunk")
        if len(data) == 2:
            return bytes(body)
        body += data[:-2]


def lines_of(first: bytes, pairs: list[Pair]) -> bytes:
    """Return a head as bytes. Values keep the white space around them."""
    return b"\r\n".join([first, *(name + b":" + value for name, value in pairs), b"", b""])


def reset(writer: asyncio.StreamWriter) -> None:
    """Close a connection with a reset. Unsent bytes are discarded."""
    with suppress(OSError):  # the socket may already be closed
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, pack("ii", 1, 0))
    writer.transport.abort()
