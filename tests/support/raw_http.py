"""Send raw bytes as HTTP requests over a socket, and parse the responses."""

import json
import socket
from dataclasses import dataclass
from typing import Any, Final

PATH: Final = "/v1/chat/completions"
QUESTION: Final = json.dumps({"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Hello"}]}).encode()
#: A part of every request that must not reach the upstream.
SMUGGLED: Final = "smuggled"
#: A second request, hidden behind a first one whose length is ambiguous.
HIDDEN: Final = f"POST /v1/{SMUGGLED} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n".encode()
CHUNKED: Final = b"Transfer-Encoding: chunked"
LENGTH: Final = b"Content-Length: %d" % len(QUESTION)
#: ``QUESTION`` as one chunk.
FIRST: Final = b"%x\r\n%b\r\n" % (len(QUESTION), QUESTION)


@dataclass(frozen=True)
class Response:
    """A parsed response. Header names are in lower case."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes
    #: Bytes after the response on the connection.
    rest: bytes = b""

    def header(self, name: str) -> str | None:
        """Return the first value of a header, or `None` if it is missing."""
        return next((value for key, value in self.headers if key == name.lower()), None)

    def all(self, name: str) -> list[str]:
        """Return all values of a header."""
        return [value for key, value in self.headers if key == name.lower()]

    @property
    def error(self) -> dict[str, Any]:
        """The ``error`` object of a JSON body."""
        found: dict[str, Any] = json.loads(self.body)["error"]
        return found


def request(*lines: bytes, body: bytes = b"", first: bytes = b"POST /v1/chat/completions HTTP/1.1") -> bytes:
    """Return a request with a Host header, an API key and these header lines, followed by the raw body."""
    lines_before = [first, b"Host: 127.0.0.1", b"Authorization: Bearer sk-hostile-caller"]
    return b"\r\n".join([*lines_before, *lines, b"", body])


def framed(*lines: bytes, body: bytes = QUESTION + HIDDEN) -> bytes:
    """Return a chat request with these header lines, which declare its length, and with a hidden request after it."""
    return request(b"Content-Type: application/json", *lines, body=body)


def chunks(body: bytes) -> bytes:
    """Return a chunked request with this raw body."""
    return request(b"Content-Type: application/json", CHUNKED, body=body)


def from_line(first: bytes) -> bytes:
    """Return an ordinary request, but with this request line."""
    return request(b"Content-Length: 0", first=first)


def with_host(*hosts: bytes) -> bytes:
    """Return a chat request with exactly these Host lines."""
    lines = [b"POST /v1/chat/completions HTTP/1.1", *hosts, b"Authorization: Bearer sk-hostile-caller"]
    return b"\r\n".join([*lines, b"Content-Length: %d" % len(QUESTION), b"", QUESTION])


def at(target: bytes, method: bytes = b"GET") -> bytes:
    """Return a request for a target, without a body."""
    return request(first=method + b" " + target + b" HTTP/1.1")


def send_raw(port: int, *parts: bytes, seconds: float = 15.0) -> bytes:
    """Send these bytes and return everything received until the connection is closed or reset."""
    received = b""
    with socket.create_connection(("127.0.0.1", port), seconds) as connection:
        try:
            for part in parts:
                connection.sendall(part)
        except OSError:
            pass  # closed before everything was sent; the response can still be read
        while True:
            try:
                data = connection.recv(1 << 16)
            except ConnectionResetError:
                return received
            if not data:
                return received
            received += data


def parse(received: bytes) -> Response:
    """Parse the first response in the received bytes. The body may be chunked or have a length."""
    head, _, rest = received.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = [(name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines)]
    fields = dict(headers)
    if fields.get("transfer-encoding") == "chunked":
        body, rest = _unchunked(rest)
    else:
        length = int(fields.get("content-length", "0"))
        body, rest = rest[:length], rest[length:]
    return Response(int(first.split(" ")[1]), headers, body, rest)


def _unchunked(data: bytes) -> tuple[bytes, bytes]:
    body = b""
    while True:
        size, _, data = data.partition(b"\r\n")
        length = int(size, 16)
        if length == 0:
            return body, data[2:]
        body, data = body + data[:length], data[length + 2 :]


def send_request(port: int, *lines: bytes, body: bytes = QUESTION, path: str = PATH) -> Response:
    """Send an ordinary request on a new connection and return the response."""
    first = f"POST {path} HTTP/1.1".encode()
    head = request(
        b"Content-Type: application/json", b"Content-Length: %d" % len(body), b"Connection: close", *lines, first=first
    )
    return parse(send_raw(port, head + body))
