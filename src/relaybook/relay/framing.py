"""Bodies on the wire: where one ends, and its bytes without the framing. Pure: one read's bytes in, body bytes out.

``feed`` gives the body bytes of one read. Afterwards ``complete`` says whether the body ended in it, ``surplus`` what
came after its end: for a length the bytes themselves, for chunks only that there were any (RFC 9112 §6–7).
"""

from typing import Final

import httptools

from relaybook.relay.limits import FRAMING_BASE, FRAMING_RATIO, MAX_FRAMING_RUN

_CHUNKED_HEAD: Final = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


class FramingBroken(Exception):
    """The bytes are not a body of this framing; the text says what is wrong. ``piece``: sound bytes before that."""

    def __init__(self, message: str, piece: bytes = b"") -> None:
        super().__init__(message)
        self.piece = piece


class LengthBody:
    """A body of a declared length."""

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
    """A chunked body. Extensions and trailers are read, bounded and dropped.

    llhttp does the reading: a parser of its own that was told of a chunked message.
    """

    __slots__ = ("_began", "_ours", "_parser", "_pieces", "_run", "_spent", "complete", "on_body", "surplus")

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self.on_body = self._pieces.append
        self.complete = False
        self.surplus = b""
        self._began = 0
        self._ours = 0
        self._run = 0
        self._spent = FRAMING_BASE
        self._parser = httptools.HttpResponseParser(self)
        self._parser.feed_data(_CHUNKED_HEAD)

    def on_message_begin(self) -> None:
        self._began += 1

    def on_message_complete(self) -> None:
        if not self.complete:
            self.complete = True
            self._ours = len(self._pieces)

    def feed(self, data: bytes) -> bytes:
        """Raises FramingBroken for bad chunks, and for extensions and trailers beyond their limits."""
        pieces = self._pieces
        pieces.clear()
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            if not self.complete:
                raise FramingBroken(f"bad chunk: {error}", b"".join(pieces)) from None
            self._began = 2
        if self._began > 1:
            self.surplus = data[-1:]
        if self.complete:
            del pieces[self._ours :]  # what llhttp took for the body of another message
        body = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        framing = len(data) - len(body)
        if framing > 32:
            self._count(framing, len(body))
        return body

    def _count(self, framing: int, body: int) -> None:
        self._run = 0 if body else self._run + framing
        self._spent += FRAMING_RATIO * body - framing
        if not self.complete and (self._run > MAX_FRAMING_RUN or self._spent < 0):
            raise FramingBroken("too many bytes of chunk extensions or trailers")


class UntilClose:
    """A body that ends with its connection."""

    __slots__ = ("complete", "surplus")

    def __init__(self) -> None:
        self.complete = False
        self.surplus = b""

    def feed(self, data: bytes) -> bytes:
        return data


class NoBody:
    """No body at all: the message ended with its head."""

    __slots__ = ("complete", "surplus")

    def __init__(self) -> None:
        self.complete = True
        self.surplus = b""

    def feed(self, data: bytes) -> bytes:
        self.surplus = data
        return b""


Body = LengthBody | ChunkedBody | UntilClose | NoBody
