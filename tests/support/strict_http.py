"""Parse requests as strictly as RFC 9112 allows, to check how the relay parses a client's bytes.

This parser shares no code with the relay and does not use llhttp. The code favors clarity over speed. A careful server
would stop where this parser stops, so every request that the relay sends must be one of the parsed requests.
"""

import re
from dataclasses import dataclass, field
from typing import Final, NamedTuple

_TOKEN: Final = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_REQUEST_LINE: Final = re.compile(rb"(" + _TOKEN + rb") ([!-~\x80-\xff]+) HTTP/1\.([01])")
_HEADER: Final = re.compile(rb"(" + _TOKEN + rb"):[ \t]*([\t -~\x80-\xff]*?)[ \t]*")
#: A chunk size may have any number of leading zeros (RFC 9112 §7.1). The relay writes its own chunk headers.
_CHUNK_LINE: Final = re.compile(rb"([0-9A-Fa-f]+)[ \t]*(?:;[\t -~\x80-\xff]*)?")
_LENGTH: Final = re.compile(rb"[0-9]{1,64}")


@dataclass
class Request:
    """A request that may be truncated. ``complete`` is True if all bytes of the request were present."""

    method: bytes
    target: bytes
    headers: list[tuple[bytes, bytes]]
    body: bytes = b""
    complete: bool = False
    #: The framing is ``length``, ``chunked``, or empty for a request without a body.
    framing: str = ""

    def all(self, name: bytes) -> list[bytes]:
        """Return all values of a header. ``name`` is in lower case."""
        return [value for each, value in self.headers if each.lower() == name]


@dataclass
class Reading:
    """The requests that were parsed from some bytes.

    ``rest`` has the bytes that were not parsed. ``broken`` is True if parsing stopped at invalid HTTP.
    """

    requests: list[Request] = field(default_factory=list)
    rest: bytes = b""
    broken: bool = False


class BrokenHttp(Exception):
    """The bytes are not valid HTTP."""


def read_requests(data: bytes) -> Reading:
    """Parse all requests on a connection. The last request may be incomplete. Parsing stops at a broken request."""
    reading = Reading()
    try:
        while data:
            while data.startswith(b"\r\n"):
                data = data[2:]
            head, separator, rest = data.partition(b"\r\n\r\n")
            if not separator:
                break
            request = _read_head(head)
            reading.requests.append(request)
            data = _read_body(request, rest)
            if not request.complete:
                return reading
    except BrokenHttp:
        reading.broken = True
    reading.rest = data
    return reading


def _read_head(head: bytes) -> Request:
    first, *lines = head.split(b"\r\n")
    found = _REQUEST_LINE.fullmatch(first)
    if found is None:
        raise BrokenHttp
    request = Request(found[1], found[2], read_header_lines(lines))
    hosts, lengths, codings = (request.all(name) for name in (b"host", b"content-length", b"transfer-encoding"))
    if len(hosts) > 1 or (not hosts and found[3] == b"1"):
        raise BrokenHttp
    if len(lengths) > 1 or len(codings) > 1 or (lengths and codings) or (codings and found[3] == b"0"):
        raise BrokenHttp
    if codings:
        if codings[0].lower() != b"chunked":
            raise BrokenHttp
        request.framing = "chunked"
    elif lengths:
        if not _LENGTH.fullmatch(lengths[0]):
            raise BrokenHttp
        request.framing = "length"
    return request


def read_header_lines(lines: list[bytes]) -> list[tuple[bytes, bytes]]:
    """Return the name and value of each header line. Raises BrokenHttp if a line is invalid."""
    headers = []
    for line in lines:
        header = _HEADER.fullmatch(line)
        if header is None:
            raise BrokenHttp
        headers.append((header[1], header[2]))
    return headers


def _read_body(request: Request, data: bytes) -> bytes:
    """Parse the body, and return the bytes after the body. Raises BrokenHttp if the chunks are invalid."""
    if request.framing == "chunked":
        request.body, request.complete, broken, rest = read_chunks(data)
        if broken:
            raise BrokenHttp
        return rest
    length = int(request.all(b"content-length")[0]) if request.framing == "length" else 0
    request.body = data[:length]
    request.complete = len(request.body) == length
    return data[length:]


class Chunks(NamedTuple):
    """A chunked body that may be truncated or broken. ``rest`` has the bytes after the parsed bytes."""

    body: bytes
    complete: bool = False
    broken: bool = False
    rest: bytes = b""


def read_chunks(data: bytes) -> Chunks:
    """Parse a chunked body."""
    body = bytearray()
    while True:
        line, separator, rest = data.partition(b"\r\n")
        if not separator:
            return Chunks(bytes(body), rest=data)
        found = _CHUNK_LINE.fullmatch(line)
        if found is None:
            return Chunks(bytes(body), broken=True)
        size = int(found[1], 16)
        if size == 0:
            return _after_last_chunk(bytes(body), rest)
        body += rest[:size]
        if len(rest) < size + 2:
            return Chunks(bytes(body), broken=not b"\r\n".startswith(rest[size:]))
        if rest[size : size + 2] != b"\r\n":
            return Chunks(bytes(body), broken=True)
        data = rest[size + 2 :]


def _after_last_chunk(body: bytes, data: bytes) -> Chunks:
    while True:
        line, separator, data = data.partition(b"\r\n")
        if not separator:
            return Chunks(body, rest=line)
        if not line:
            return Chunks(body, complete=True, rest=data)
        if _HEADER.fullmatch(line) is None:
            return Chunks(body, broken=True)
