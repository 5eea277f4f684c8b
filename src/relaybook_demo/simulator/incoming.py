"""Parse requests from the bytes of a connection, without a socket or a clock.

llhttp parses the requests. The target and the headers are stored as received, including the case, order and duplicates
of headers.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import httptools

from relaybook_demo.simulator.replies import Header

_MAX_STORED_BYTES = 64 * 1024
#: The beginnings of the paths whose bodies are parsed or sent back.
_PARSED_PATHS = (
    *("/v1/chat/completions", "/v1/responses", "/v1/messages", "/v1/echo", "/__sim/"),
    *("/v1/fim/completions", "/v1/images/generations", "/v1/audio/"),
    *("/v1/models/", "/v1/projects/", "/v1beta/", "/v1beta1/", "/api/"),
    *("/v2/chat", "/v2/embed", "/v2/rerank", "/v1/embed", "/v1/rerank", "/openai/"),
)


class MalformedRequest(ValueError):
    """The received bytes are not an HTTP/1.1 request. The bytes after them cannot be parsed either."""


@dataclass
class Request:
    """One request, which may be incomplete. The whole body is stored only if the response depends on it."""

    method: str = ""
    target: bytes = b""
    headers: list[Header] = field(default_factory=list)
    version: str = "1.1"
    keep_alive: bool = True
    is_complete: bool = False
    body_bytes: int = 0

    def __post_init__(self) -> None:
        self.has_head = False
        self._stores_body = False
        self._chunks: list[bytes] = []
        self._hash = hashlib.sha256()

    @cached_property
    def path(self) -> str:
        """The target without its query. If the target is absolute, the scheme and the authority are also removed."""
        path = self.target.partition(b"?")[0].decode("latin-1")
        if path.startswith(("http://", "https://")):
            return "/" + path.split("/", 3)[3] if path.count("/") > 2 else "/"
        return path

    @cached_property
    def query(self) -> str:
        """The part of the target after the question mark."""
        return self.target.partition(b"?")[2].decode("latin-1")

    @property
    def body(self) -> bytes:
        """The stored part of the body."""
        if len(self._chunks) > 1:
            self._chunks = [b"".join(self._chunks)]
        return self._chunks[0] if self._chunks else b""

    @property
    def body_sha256(self) -> str:
        """The SHA-256 of all received body bytes, including bytes that are not stored."""
        return self._hash.hexdigest()

    def translated(self, target: bytes, headers: list[Header], body: bytes) -> "Request":
        """Return the same request with another target, other headers and another body."""
        request = Request(self.method, target, headers, self.version, self.keep_alive, self.is_complete, len(body))
        request._chunks = [body]
        return request

    def header(self, name: bytes) -> bytes | None:
        """Return the first value of a header, or `None` if it is missing. ``name`` is in lower case."""
        return next((value for key, value in self.headers if key.lower() == name), None)

    def begin_body(self) -> None:
        """Mark the head as complete, and decide whether the whole body will be stored."""
        self.has_head = True
        self._stores_body = self.path.startswith(_PARSED_PATHS)

    def add_body(self, data: bytes) -> None:
        """Add received body bytes."""
        self.body_bytes += len(data)
        self._hash.update(data)
        if self._stores_body or self.body_bytes <= _MAX_STORED_BYTES:
            self._chunks.append(data)


class RequestReader:
    """Feeds llhttp and calls ``on_head`` and ``on_complete`` for each request, including pipelined requests."""

    def __init__(self, on_head: Callable[[Request], None], on_complete: Callable[[Request], None]) -> None:
        self._on_head = on_head
        self._on_complete = on_complete
        self._parser = httptools.HttpRequestParser(self)
        self.request: Request | None = None

    def feed(self, data: bytes) -> None:
        """Parse more bytes. Raises MalformedRequest if the bytes are not HTTP/1.1."""
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            # Upgrades are not supported. llhttp has already reported the request, which has no body.
            self._parser = httptools.HttpRequestParser(self)
        except httptools.HttpParserError as error:
            raise MalformedRequest(str(error)) from None

    # Called by httptools

    def on_message_begin(self) -> None:
        """Start a request."""
        self.request = Request()

    def on_url(self, url: bytes) -> None:
        """Append to the target, which may arrive in chunks."""
        assert self.request is not None
        self.request.target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Add one header line."""
        assert self.request is not None
        if not self.request.has_head:  # trailers are dropped
            self.request.headers.append((name, value.rstrip(b" \t")))  # llhttp does not strip trailing whitespace

    def on_headers_complete(self) -> None:
        """Complete the head and call ``on_head``."""
        assert self.request is not None
        self.request.method = self._parser.get_method().decode("latin-1")
        self.request.version = self._parser.get_http_version()
        self.request.keep_alive = self._parser.should_keep_alive()
        self.request.begin_body()
        self._on_head(self.request)

    def on_body(self, data: bytes) -> None:
        """Add body bytes."""
        assert self.request is not None
        self.request.add_body(data)

    def on_message_complete(self) -> None:
        """Complete the request and call ``on_complete``."""
        request, self.request = self.request, None
        assert request is not None
        request.is_complete = True
        self._on_complete(request)
