"""Find the end of message bodies and remove the framing (RFC 9112 §6–7). This module does no I/O.

``feed`` takes the bytes of one read and returns the body bytes among these bytes. Afterwards, ``complete`` is true if
the body has ended. ``surplus`` contains the bytes after the end of the body. After a chunked body, ``surplus`` is
incomplete: it contains one byte if any bytes followed, and is empty otherwise.
"""

from typing import Final

import httptools

from relaybook.relay.limits import FRAMING_BASE, FRAMING_RATIO, MAX_FRAMING_RUN

_CHUNKED_HEAD: Final = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


class FramingError(Exception):
    """The body is malformed. ``chunk`` has the valid body bytes before the error."""

    def __init__(self, message: str, chunk: bytes = b"") -> None:
        super().__init__(message)
        self.chunk = chunk


class LengthBody:
    """A body with a Content-Length."""

    __slots__ = ("complete", "remaining", "surplus")

    def __init__(self, length: int) -> None:
        self.remaining = length
        self.complete = length == 0
        self.surplus = b""

    def feed(self, data: bytes) -> bytes:
        self.remaining -= len(data)
        if self.remaining > 0:
            return data
        self.complete = True
        if self.remaining == 0:
            return data
        end = len(data) + self.remaining
        self.surplus = data[end:]
        self.remaining = 0
        return data[:end]


class ChunkedBody:
    """A chunked body. Chunk extensions and trailers are dropped, and their size is limited.

    The parser, llhttp, cannot parse a body without a head. So the parser gets ``_CHUNKED_HEAD`` before the body.
    """

    __slots__ = (
        "_body_chunks",
        "_budget",
        "_chunks",
        "_framing_run",
        "_messages_begun",
        "_parser",
        "complete",
        "on_body",
        "surplus",
    )

    def __init__(self) -> None:
        self._chunks: list[bytes] = []
        self.on_body = self._chunks.append
        self.complete = False
        self.surplus = b""
        self._messages_begun = 0
        self._body_chunks = 0
        self._framing_run = 0
        self._budget = FRAMING_BASE
        self._parser = httptools.HttpResponseParser(self)
        self._parser.feed_data(_CHUNKED_HEAD)

    def on_message_begin(self) -> None:
        self._messages_begun += 1

    def on_message_complete(self) -> None:
        if not self.complete:
            self.complete = True
            self._body_chunks = len(self._chunks)

    def feed(self, data: bytes) -> bytes:
        """Decode the bytes of one read, and return the body bytes in them.

        Raises FramingError if a chunk is malformed, or if extensions and trailers exceed their limits.
        """
        chunks = self._chunks
        chunks.clear()
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            if not self.complete:
                raise FramingError(f"malformed chunk: {error}", b"".join(chunks)) from None
            self._messages_begun = 2
        if self._messages_begun > 1:
            self.surplus = data[-1:]
        if self.complete:
            del chunks[self._body_chunks :]  # llhttp parsed bytes after the body as another message
        body = chunks[0] if len(chunks) == 1 else b"".join(chunks)
        framing = len(data) - len(body)
        if framing > 32:
            self._count(framing, body)
        return body

    def _count(self, framing: int, body: bytes) -> None:
        self._framing_run = 0 if body else self._framing_run + framing
        self._budget += FRAMING_RATIO * len(body) - framing
        if not self.complete and (self._framing_run > MAX_FRAMING_RUN or self._budget < 0):
            raise FramingError("too many bytes of chunk extensions or trailers", body)


class UntilClose:
    """A body that ends when the connection closes."""

    __slots__ = ("complete", "surplus")

    def __init__(self) -> None:
        self.complete = False
        self.surplus = b""

    def feed(self, data: bytes) -> bytes:
        return data


class NoBody:
    """The message has no body."""

    __slots__ = ("complete", "surplus")

    def __init__(self) -> None:
        self.complete = True
        self.surplus = b""

    def feed(self, data: bytes) -> bytes:
        self.surplus = data
        return b""


Body = LengthBody | ChunkedBody | UntilClose | NoBody
