"""An answer's head: what the caller gets of the provider's, and what the log does. Pure.

Built like ``request_head``; a provider's bytes are as hostile as a caller's.
"""

import re
from collections.abc import Sequence
from typing import Final

import httptools

from relaybook.relay.fingerprints import Fingerprints
from relaybook.relay.header_rules import HOP_BY_HOP, Handler, NameTable, drop, holds_secret, replace_line
from relaybook.relay.limits import LONGEST_LENGTH, MAX_HEADERS

_STATUS_LINE: Final = re.compile(rb"HTTP/1\.[01] [1-9]\d\d(?: [\t -~\x80-\xff]*)?")
_IDLE_SECONDS: Final = re.compile(rb"timeout=(\d{1,6})")
_NOT_FOR_US: Final = frozenset({b"", b"close", b"keep-alive", b"content-length", b"transfer-encoding"})
_OUR_NAMES: Final = (b"request-id", b"namespace", b"warning", b"error")


class ResponseBroken(Exception):
    """An answer's head that is not HTTP; the text says what is wrong."""


class ResponseHead:
    """An answer's head, taken apart. ``lines`` are what the caller gets of it, ``logged`` what the log does.

    Class attributes are the defaults, as in ``RequestHead``.
    """

    status = 0
    reason = b""
    logged = b""
    length: int | None = None
    chunked = False
    close = False
    event_stream = False
    encoded = False
    idle_seconds: float | None = None
    #: Names (lower case) that the provider's Connection names: they are for us alone.
    for_us: frozenset[bytes] = frozenset()

    def __init__(self) -> None:
        self.lines: list[bytes] = []


class ResponseHeadReader:
    """Takes providers' heads apart. ``prefixes`` are those of our own headers, which no provider may set."""

    def __init__(self, prefixes: Sequence[str], fingerprints: Fingerprints, *, drop_cors: bool = False) -> None:
        self._drop_cors = drop_cors
        self._ours = {f"{prefix.lower()}-".encode() + name for prefix in prefixes for name in _OUR_NAMES}
        self._redacted = fingerprints.line
        self._looks: dict[bytes, Handler[ResponseHead]] = {
            b"content-length": self._take_length,
            b"transfer-encoding": self._take_coding,
            b"connection": self._take_connection,
            b"keep-alive": self._take_keep_alive,
            b"content-type": self._take_type,
            b"content-encoding": self._take_encoding,
        }
        self._names = NameTable(self._decide)

    def read(self, raw: bytes) -> ResponseHead:
        """Takes the head of an answer apart; ``raw`` ends with its empty line. Raises AnswerBroken."""
        parser = httptools.HttpResponseParser(None)
        try:
            parser.feed_data(raw)
        except httptools.HttpParserUpgrade:
            pass
        except httptools.HttpParserError as error:
            raise ResponseBroken(str(error)) from None
        first, _, logged = raw[:-4].partition(b"\r\n")
        if not _STATUS_LINE.fullmatch(first):  # llhttp passes over CR and LF before it, and over controls in the reason
            raise ResponseBroken("its first line is no status line of HTTP/1.1 or HTTP/1.0")
        lines = logged.split(b"\r\n") if logged else []
        if len(lines) > MAX_HEADERS:
            raise ResponseBroken(f"{len(lines)} headers; {MAX_HEADERS} are the most")
        head = ResponseHead()
        head.status = parser.get_status_code()
        head.reason = first[13:]  # behind "HTTP/1.1 200 ", which llhttp has seen
        if first.startswith(b"HTTP/1.0"):
            head.close = True
        head.logged = logged
        self._names.sort(lines, head, head.lines)
        if head.for_us:
            head.lines = [line for line in head.lines if line.partition(b":")[0].lower() not in head.for_us]
        return head

    def _decide(self, name: bytes) -> Handler[ResponseHead] | None:
        if name in self._looks:
            return self._looks[name]
        if name in HOP_BY_HOP or name in self._ours or (self._drop_cors and name.startswith(b"access-control-")):
            return drop
        return self._take_secret if holds_secret(name) else None

    def _take_length(self, head: ResponseHead, line: bytes, value: bytes) -> None:
        if len(value) > LONGEST_LENGTH:
            raise ResponseBroken("a Content-Length with more digits than a length can have")
        head.length = int(value)
        if value.lstrip()[:1] == b"0":
            line = b"%b: %d" % (line.partition(b":")[0], head.length)
        head.lines.append(line)

    def _take_coding(self, head: ResponseHead, line: bytes, value: bytes) -> None:
        if head.chunked or value.strip().lower() != b"chunked":
            raise ResponseBroken("a Transfer-Encoding other than chunked")
        head.chunked = True
        head.lines.append(line)

    def _take_connection(self, head: ResponseHead, line: bytes, value: bytes) -> None:
        options = {option.strip() for option in value.lower().split(b",")}
        head.close = head.close or b"close" in options
        head.for_us |= options - _NOT_FOR_US

    def _take_keep_alive(self, head: ResponseHead, line: bytes, value: bytes) -> None:
        if found := _IDLE_SECONDS.search(value):
            head.idle_seconds = float(found[1])

    def _take_type(self, head: ResponseHead, line: bytes, value: bytes) -> None:
        head.lines.append(line)
        head.event_stream = value.lstrip()[:17].lower() == b"text/event-stream"

    def _take_encoding(self, head: ResponseHead, line: bytes, value: bytes) -> None:
        head.lines.append(line)
        head.encoded = value.strip().lower() != b"identity"

    def _take_secret(self, head: ResponseHead, line: bytes, value: bytes) -> None:
        head.lines.append(line)
        head.logged = replace_line(head.logged, line, self._redacted(line))
