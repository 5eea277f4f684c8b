"""A request's head: what crosses to the provider, what stays here, and what the log may see of it. Pure.

A head stays bytes: it is split into lines, and each line's name, as it was spelled, is looked up in a table of what
to do with it. llhttp has the first word on syntax; what it lets pass and a provider might read differently is refused
here (RFC 9110 §7.6.1, RFC 9112 §3 and §6).
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final

import httptools

from relaybook.errors import RelayError
from relaybook.relay.fingerprints import Fingerprints
from relaybook.relay.header_rules import HOP_BY_HOP, Handler, NameTable, drop, holds_secret, replace_line
from relaybook.relay.limits import (
    LONGEST_LENGTH,
    MAX_HEAD,
    MAX_HEADER_LINE,
    MAX_HEADERS,
    MAX_REQUEST_LINE,
    SHORTEST_SECRET,
)
from relaybook.relay.routes import Route
from relaybook.tags import Tags

_HOST: Final = re.compile(rb"(?:[A-Za-z0-9._~!$&'()*+,;=%-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?")
_EMPTY_LINES: Final = re.compile(rb"(?:\r\n)+")
_VERSION: Final = re.compile(rb"[A-Z-]+ [!-~]+ HTTP/(\d\.\d)\r\n")
_CONNECTION_OPTIONS: Final = HOP_BY_HOP | {b"", b"close", b"transfer-encoding"}
_DECODED: Final = {b"%2e": b".", b"%2f": b"/", b"%5c": b"\\"}


class HeadRefused(Exception):
    """A request that is refused for its head; ``error`` says how, the text says what was wrong and what to do.

    ``origin`` is the web page's that asks, where the head could be read.
    """

    def __init__(self, error: RelayError, message: str, origin: bytes = b"") -> None:
        super().__init__(message)
        self.error = error
        self.origin = origin


class RequestHead:
    """A request's head, taken apart. ``lines`` still has the caller's Host where the provider's goes (``host_at``).

    Class attributes are the defaults: most heads differ from few of them, and one is made for every request.
    """

    method = b""
    target = b""
    version_1_0 = False
    keep_alive = True
    logged = b""
    host = b""
    host_at = -1
    length: int | None = None
    chunked = False
    expect = b""
    upgrade = b""
    forwarded_for = b""
    origin = b""
    preflight = b""
    key: bytes | None = None
    #: Every key the caller sent that is long enough to be told from words: what is masked in bodies.
    keys: Sequence[bytes] = ()
    tags: Sequence[tuple[bytes, bytes]] = ()
    #: Where the request goes and how it is tagged, once that is found.
    destination: tuple[Route, Tags] | None = None
    #: The whole head as the provider gets it, once it is made.
    wire = b""

    def __init__(self) -> None:
        self.lines: list[bytes] = []

    def again(self, length: int, logged: bytes, wire: bytes) -> "RequestHead":
        """The same head with another length; one without chunks, Expect and Upgrade, on a connection that stays."""
        head = RequestHead()
        head.method = self.method
        head.target = self.target
        head.host = self.host
        head.host_at = self.host_at
        head.lines = self.lines
        head.forwarded_for = self.forwarded_for
        head.origin = self.origin
        head.preflight = self.preflight
        head.key = self.key
        head.keys = self.keys
        head.tags = self.tags
        head.destination = self.destination
        head.length, head.logged, head.wire = length, logged, wire
        return head


class RequestHeadReader:
    """Takes requests' heads apart by an operator's settings."""

    def __init__(self, is_tag: Callable[[bytes], bool], fingerprints: Fingerprints) -> None:
        self._is_tag = is_tag
        self._redacted = fingerprints.line
        self._looks: dict[bytes, Handler[RequestHead]] = {
            b"host": self._take_host,
            b"content-length": self._take_length,
            b"transfer-encoding": self._take_coding,
            b"connection": self._take_connection,
            b"expect": self._take_expect,
            b"upgrade": self._take_upgrade,
            b"authorization": self._take_caller_key,
            b"api-key": self._take_caller_key,
            b"x-api-key": self._take_caller_key,
            b"x-goog-api-key": self._take_caller_key,
            b"ocp-apim-subscription-key": self._take_caller_key,
            b"cookie": self._drop_secret,
            b"proxy-authorization": self._drop_secret,
            b"x-forwarded-for": self._take_forwarded_for,
            b"forwarded": drop,
            b"origin": self._take_origin,
            b"access-control-request-headers": self._take_preflight,
        }
        self._names = NameTable(self._decide)

    def read(self, raw: bytes) -> RequestHead:
        """Takes the head of a request apart; ``raw`` ends with its empty line. Raises HeadRefused."""
        parser = httptools.HttpRequestParser(None)
        try:
            parser.feed_data(raw)
        except httptools.HttpParserUpgrade:
            pass
        except httptools.HttpParserError as error:
            _check_version(raw)
            raise HeadRefused(RelayError.BAD_REQUEST, f"This is not a well-formed HTTP request: {error}.") from None
        first, _, logged = raw[:-4].partition(b"\r\n")
        lines = logged.split(b"\r\n") if logged else []
        head = RequestHead()
        self._read_request_line(head, first)
        _check_sizes(raw, lines)
        head.logged = logged
        self._names.sort(lines, head, head.lines)
        if head.version_1_0 and head.chunked:
            raise HeadRefused(RelayError.BAD_REQUEST, "HTTP/1.0 has no chunked requests: send a Content-Length.")
        return head

    def _read_request_line(self, head: RequestHead, line: bytes) -> None:
        # llhttp passes over CR and LF before the method, and knows protocols that are not HTTP
        words = line.split(b" ")
        if len(words) != 3 or line.startswith((b"\r", b"\n")) or not words[2].startswith(b"HTTP/"):
            raise HeadRefused(RelayError.BAD_REQUEST, "The request line is not method, target and version.")
        if len(line) > MAX_REQUEST_LINE:
            raise HeadRefused(
                RelayError.URI_TOO_LONG, f"The request line has {len(line)} bytes; {MAX_REQUEST_LINE} are the most."
            )
        head.method, head.target, version = words
        if version != b"HTTP/1.1":
            _check_version(line + b"\r\n")
            head.version_1_0 = True
            head.keep_alive = False

    def _decide(self, name: bytes) -> Handler[RequestHead] | None:
        if name in self._looks:
            return self._looks[name]
        if self._is_tag(name):
            return self._take_tag
        secret = holds_secret(name)
        if name in HOP_BY_HOP or name.startswith((b"proxy-", b"x-forwarded-")):
            return self._drop_secret if secret else drop
        return self._take_secret if secret else None

    def _take_host(self, head: RequestHead, line: bytes, value: bytes) -> None:
        host = value.strip(b" \t")
        if head.host_at >= 0:
            raise HeadRefused(RelayError.BAD_REQUEST, "The request has more than one Host header.")
        if not _HOST.fullmatch(host):
            raise HeadRefused(RelayError.BAD_REQUEST, "The Host header is not a host name with an optional port.")
        head.host = host
        head.host_at = len(head.lines)
        head.lines.append(line)

    def _take_length(self, head: RequestHead, line: bytes, value: bytes) -> None:
        if len(value) > LONGEST_LENGTH:
            raise HeadRefused(RelayError.BAD_REQUEST, "The Content-Length has more digits than a length can have.")
        head.length = int(value)
        if value.lstrip()[:1] == b"0":
            line = b"%b: %d" % (line.partition(b":")[0], head.length)
        head.lines.append(line)

    def _take_coding(self, head: RequestHead, line: bytes, value: bytes) -> None:
        if head.chunked or value.strip().lower() != b"chunked":
            raise HeadRefused(
                RelayError.BAD_REQUEST, "The only Transfer-Encoding spoken here is chunked, once and alone."
            )
        head.chunked = True
        head.lines.append(line)

    def _take_connection(self, head: RequestHead, line: bytes, value: bytes) -> None:
        options = {option.strip() for option in value.lower().split(b",")}
        if b"close" in options:
            head.keep_alive = False
        others = options - _CONNECTION_OPTIONS
        if others and (sent := others & {line.partition(b":")[0].lower() for line in head.logged.split(b"\r\n")}):
            shown = min(sent)[:80].decode("latin-1")
            raise HeadRefused(
                RelayError.BAD_REQUEST, f"Connection names {shown!r}, a header that is meant for the provider."
            )

    def _take_expect(self, head: RequestHead, line: bytes, value: bytes) -> None:
        head.expect = value.strip().lower()

    def _take_upgrade(self, head: RequestHead, line: bytes, value: bytes) -> None:
        head.upgrade = value.strip().lower()

    def _take_caller_key(self, head: RequestHead, line: bytes, value: bytes) -> None:
        self._take_secret(head, line, value)
        key = value.strip().rpartition(b" ")[2]
        head.key = head.key or key
        if len(key) >= SHORTEST_SECRET:
            head.keys = [*head.keys, key]

    def _take_secret(self, head: RequestHead, line: bytes, value: bytes) -> None:
        head.lines.append(line)
        head.logged = replace_line(head.logged, line, self._redacted(line))

    def _drop_secret(self, head: RequestHead, line: bytes, value: bytes) -> None:
        head.logged = replace_line(head.logged, line, self._redacted(line))

    def _take_tag(self, head: RequestHead, line: bytes, value: bytes) -> None:
        head.tags = [*head.tags, (line.partition(b":")[0], value.strip(b" \t"))]

    def _take_forwarded_for(self, head: RequestHead, line: bytes, value: bytes) -> None:
        head.forwarded_for += b"," + value

    def _take_origin(self, head: RequestHead, line: bytes, value: bytes) -> None:
        head.origin = value.strip()
        head.lines.append(line)

    def _take_preflight(self, head: RequestHead, line: bytes, value: bytes) -> None:
        head.preflight = value.strip()
        head.lines.append(line)


def _check_version(raw: bytes) -> None:
    """Refuses a version that is well-formed and not spoken here; of that, llhttp lets some pass and some not."""
    found = _VERSION.match(raw)
    if found is not None and found[1] not in (b"1.0", b"1.1"):
        version = found[1].decode()
        raise HeadRefused(RelayError.VERSION_NOT_SUPPORTED, f"HTTP/{version} is not spoken here: use HTTP/1.1.")


def _check_sizes(raw: bytes, lines: list[bytes]) -> None:
    if len(lines) > MAX_HEADERS:
        raise HeadRefused(
            RelayError.HEADERS_TOO_LARGE, f"The request has {len(lines)} headers; {MAX_HEADERS} are the most."
        )
    if len(raw) > MAX_HEADER_LINE and max(map(len, lines), default=0) > MAX_HEADER_LINE:
        raise HeadRefused(
            RelayError.HEADERS_TOO_LARGE, f"A header line is longer than {MAX_HEADER_LINE} bytes, the most allowed."
        )


def skip_empty_lines(data: bytes) -> bytes:
    """What stands behind the empty lines that may come before a request (RFC 9112 §2.2), all in one step."""
    return _EMPTY_LINES.sub(b"", data, 1) if data.startswith(b"\r\n") else data


def check_beginning(data: bytes) -> None:
    """Refuses a head that is not complete yet and can never be right. Raises HeadRefused."""
    if data.startswith(b"\x16\x03"):
        raise HeadRefused(RelayError.BAD_REQUEST, "This is TLS, and the relay speaks plain HTTP: use http:// here.")
    if data.count(b"\n") != data.count(b"\r\n"):
        raise HeadRefused(RelayError.BAD_REQUEST, "A line of the head ends without CR: every line ends with CR and LF.")
    if len(data) > MAX_REQUEST_LINE and b"\r\n" not in data[: MAX_REQUEST_LINE + 2]:
        raise HeadRefused(
            RelayError.URI_TOO_LONG, f"The request line is longer than {MAX_REQUEST_LINE} bytes, the most allowed."
        )
    if len(data) > MAX_HEAD:
        raise HeadRefused(
            RelayError.HEADERS_TOO_LARGE, f"The request's head is longer than {MAX_HEAD} bytes, the most allowed."
        )


@lru_cache(1024)
def check_target(target: bytes) -> None:
    """Raises HeadRefused for a path that a provider might read as another one than we do."""
    if b"\\" in target or not target.isascii():
        raise HeadRefused(RelayError.BAD_REQUEST, "The path holds a backslash or a byte that is not ASCII: encode it.")
    if b"#" in target:
        raise HeadRefused(RelayError.BAD_REQUEST, "The request target holds a fragment (#): leave it out.")
    if b"/." not in target and b"%" not in target:
        return
    path = target.partition(b"?")[0]
    decoded = re.sub(rb"(?i)%2e|%2f|%5c", lambda found: _DECODED[found[0].lower()], path)
    if any(segment in (b".", b"..") for segment in re.split(rb"[/\\]", decoded)):
        raise HeadRefused(RelayError.BAD_REQUEST, "The path holds a segment that is . or .. : send the path itself.")
