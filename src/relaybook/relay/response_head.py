"""Parse response heads, and decide which headers are forwarded to the client and which are logged.

This module works like ``request_head`` and does no I/O. Upstreams are not trusted, so heads that are not valid HTTP, or
that two readers could understand differently, are rejected.
"""

import re
from collections.abc import Sequence
from typing import Final

import httptools

from relaybook.relay.fingerprints import Fingerprints
from relaybook.relay.header_rules import HOP_BY_HOP, Handler, HeaderRules, drop, holds_secret, replace_line
from relaybook.relay.limits import MAX_HEADERS, MAX_LENGTH_BYTES

_STATUS_LINE: Final = re.compile(rb"HTTP/1\.[01] [1-9]\d\d(?: [\t -~\x80-\xff]*)?")
_IDLE_SECONDS: Final = re.compile(rb"timeout=(\d{1,6})")
_IGNORED_OPTIONS: Final = frozenset({b"", b"close", b"keep-alive", b"content-length", b"transfer-encoding"})
_NO_STATUS_LINE: Final = "its first line is not a status line of HTTP/1.1 or HTTP/1.0"
_RELAY_HEADERS: Final = (b"request-id", b"namespace", b"route", b"warning", b"error")


class ResponseHeadError(Exception):
    """The head of a response cannot be used. The message says why."""


class ResponseHead:
    """A parsed response head. ``lines`` are forwarded to the client, and ``logged`` goes to the journal.

    Only this module sets attributes. The defaults are class attributes, as in ``RequestHead``.
    """

    status = 0
    reason = b""
    logged = b""
    length: int | None = None
    chunked = False
    close = False
    event_stream = False
    idle_seconds: float | None = None
    #: Header names, in lower case, from the upstream's Connection header. The named headers are not forwarded.
    connection_options: frozenset[bytes] = frozenset()

    def __init__(self) -> None:
        self.lines: list[bytes] = []


class ResponseHeadReader:
    """Parses response heads, and drops headers that only the relay may set, such as ``<prefix>-Error``."""

    def __init__(self, prefixes: Sequence[str], fingerprints: Fingerprints, *, drop_cors: bool = False) -> None:
        self._drop_cors = drop_cors
        self._relay_headers = {f"{prefix.lower()}-".encode() + name for prefix in prefixes for name in _RELAY_HEADERS}
        self._redacted = fingerprints.line
        self._handlers: dict[bytes, Handler[ResponseHead]] = {
            b"content-length": self._take_length,
            b"transfer-encoding": self._take_coding,
            b"connection": self._take_connection,
            b"keep-alive": self._take_keep_alive,
            b"content-type": self._take_type,
        }
        self._rules = HeaderRules(self._decide)

    def read(self, raw: bytes) -> ResponseHead:
        """Parse a response head. ``raw`` ends with the empty line. Raises ResponseHeadError."""
        parser = httptools.HttpResponseParser(None)
        try:
            parser.feed_data(raw)
        except httptools.HttpParserUpgrade:
            pass
        except httptools.HttpParserError as error:
            raise ResponseHeadError(str(error)) from None
        first, _, logged = raw[:-4].partition(b"\r\n")
        # llhttp accepts CR and LF before the status line, and control characters in the reason phrase. Both are refused
        # here.
        if not _STATUS_LINE.fullmatch(first):
            raise ResponseHeadError(_NO_STATUS_LINE)
        lines = logged.split(b"\r\n") if logged else []
        if len(lines) > MAX_HEADERS:
            raise ResponseHeadError(f"{len(lines)} headers; at most {MAX_HEADERS} are allowed")
        head = ResponseHead()
        head.status = parser.get_status_code()
        head.reason = first[13:]  # after "HTTP/1.1 200 ", which llhttp has checked
        if first.startswith(b"HTTP/1.0"):
            head.close = True
        head.logged = logged
        self._rules.apply(lines, head, head.lines)
        if head.connection_options:
            head.lines = [line for line in head.lines if line.partition(b":")[0].lower() not in head.connection_options]
        return head

    def _decide(self, name: bytes) -> Handler[ResponseHead] | None:
        if name in self._handlers:
            return self._handlers[name]
        if (
            name in HOP_BY_HOP
            or name in self._relay_headers
            or (self._drop_cors and name.startswith(b"access-control-"))
        ):
            return drop
        return self._take_secret if holds_secret(name) else None

    def _take_length(self, head: ResponseHead, line: bytes, value: bytes) -> None:
        if len(value) > MAX_LENGTH_BYTES:
            raise ResponseHeadError(f"a Content-Length of more than {MAX_LENGTH_BYTES} characters")
        head.length = int(value)
        if value.lstrip()[:1] == b"0":
            line = b"%b: %d" % (line.partition(b":")[0], head.length)
        head.lines.append(line)

    def _take_coding(self, head: ResponseHead, line: bytes, value: bytes) -> None:
        if head.chunked or value.strip().lower() != b"chunked":
            only_chunked = all(coding.strip() == b"chunked" for coding in value.lower().split(b","))
            raise ResponseHeadError(
                "chunked occurs more than once in Transfer-Encoding"
                if only_chunked
                else "Transfer-Encoding must be exactly chunked"
            )
        head.chunked = True
        head.lines.append(line)

    def _take_connection(self, head: ResponseHead, line: bytes, value: bytes) -> None:
        options = {option.strip() for option in value.lower().split(b",")}
        head.close = head.close or b"close" in options
        head.connection_options |= options - _IGNORED_OPTIONS

    def _take_keep_alive(self, head: ResponseHead, line: bytes, value: bytes) -> None:
        if found := _IDLE_SECONDS.search(value):
            head.idle_seconds = float(found[1])

    def _take_type(self, head: ResponseHead, line: bytes, value: bytes) -> None:
        head.lines.append(line)
        head.event_stream = value.lstrip()[:17].lower() == b"text/event-stream"

    def _take_secret(self, head: ResponseHead, line: bytes, value: bytes) -> None:
        head.lines.append(line)
        head.logged = replace_line(head.logged, line, self._redacted(line))


def check_beginning(data: bytes) -> None:
    """Raise ResponseHeadError if the received part of a head is already invalid."""
    if not b"HTTP/".startswith(data[:5]):
        raise ResponseHeadError(_NO_STATUS_LINE)
    if data.count(b"\n") != data.count(b"\r\n"):
        raise ResponseHeadError("a line of its head ends with LF only")
