"""Reads requests off a connection's bytes: bytes in, requests out; no socket and no clock.

The bytes of a request are kept as they came: target, header names, order and repeats. Parsing is llhttp's.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import httptools

from relaybook_demo.simulator.replies import Header

_KEPT_BYTES = 64 * 1024
_UNDERSTOOD = (b"/v1/chat/completions", b"/v1/responses", b"/v1/embeddings", b"/v1/echo", b"/__sim/")


class MalformedRequest(ValueError):
    """Bytes that are no HTTP/1.1 request; nothing after them can be read."""


@dataclass
class Request:
    """One request, from its first byte on. Body bytes are kept whole only where an answer depends on them."""

    method: str = ""
    target: bytes = b""
    headers: list[Header] = field(default_factory=list)
    version: str = "1.1"
    keeps_alive: bool = True
    is_complete: bool = False
    body_bytes: int = 0

    def __post_init__(self) -> None:
        self.has_head = False
        self._keeps_body = False
        self._chunks: list[bytes] = []
        self._hash = hashlib.sha256()

    @cached_property
    def path(self) -> str:
        """The target without its query; an absolute target without scheme and authority too."""
        path = self.target.partition(b"?")[0].decode("latin-1")
        if path.startswith(("http://", "https://")):
            return "/" + path.split("/", 3)[3] if path.count("/") > 2 else "/"
        return path

    @cached_property
    def query(self) -> str:
        """The target after its question mark."""
        return self.target.partition(b"?")[2].decode("latin-1")

    @property
    def body(self) -> bytes:
        """The body as far as it is kept."""
        if len(self._chunks) > 1:
            self._chunks = [b"".join(self._chunks)]
        return self._chunks[0] if self._chunks else b""

    @property
    def body_sha256(self) -> str:
        """Of every body byte that came, kept or not."""
        return self._hash.hexdigest()

    def header(self, name: bytes) -> bytes | None:
        """The first value of a header; ``name`` in lower case."""
        return next((value for key, value in self.headers if key.lower() == name), None)

    def begin_body(self) -> None:
        """The head is whole."""
        self.has_head = True
        self._keeps_body = self.target.startswith(_UNDERSTOOD)

    def add_body(self, data: bytes) -> None:
        """More of the body came."""
        self.body_bytes += len(data)
        self._hash.update(data)
        if self._keeps_body or self.body_bytes <= _KEPT_BYTES:
            self._chunks.append(data)


class RequestReader:
    """Feeds llhttp; tells ``on_head`` and ``on_complete`` about each request, pipelined ones included."""

    def __init__(self, on_head: Callable[[Request], None], on_complete: Callable[[Request], None]) -> None:
        self._tell_head = on_head
        self._tell_complete = on_complete
        self._parser = httptools.HttpRequestParser(self)
        self.request: Request | None = None

    def feed(self, data: bytes) -> None:
        """Read on. Raises MalformedRequest."""
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            # An upgrade is never taken up; llhttp has given the request, and no body comes with it.
            self._parser = httptools.HttpRequestParser(self)
        except httptools.HttpParserError as wrong:
            raise MalformedRequest(str(wrong)) from None

    # What follows is called by httptools.

    def on_message_begin(self) -> None:
        """A request begins."""
        self.request = Request()

    def on_url(self, url: bytes) -> None:
        """The target, perhaps in pieces."""
        assert self.request is not None
        self.request.target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """One header line."""
        assert self.request is not None
        if not self.request.has_head:  # trailers are dropped
            self.request.headers.append((name, value.rstrip(b" \t")))  # llhttp keeps the white space behind

    def on_headers_complete(self) -> None:
        """The head is whole."""
        assert self.request is not None
        self.request.method = self._parser.get_method().decode("latin-1")
        self.request.version = self._parser.get_http_version()
        self.request.keeps_alive = self._parser.should_keep_alive()
        self.request.begin_body()
        self._tell_head(self.request)

    def on_body(self, data: bytes) -> None:
        """Some of the body."""
        assert self.request is not None
        self.request.add_body(data)

    def on_message_complete(self) -> None:
        """The body is whole."""
        request, self.request = self.request, None
        assert request is not None
        request.is_complete = True
        self._tell_complete(request)
