"""A request's head: what crosses to the provider, what stays here, and what the log may see of it. Pure.

A head stays bytes: it is split into lines, and each line's name, as it was spelled, is looked up in a table of what
to do with it. llhttp has the first word on syntax; what it lets pass and a provider might read differently is refused
here (RFC 9110 §7.6.1, RFC 9112 §3 and §6).
"""

import re
from collections.abc import Callable
from typing import Final

import httptools

from relaybook.errors import RelayError
from relaybook.relay.fingerprints import Fingerprints
from relaybook.relay.limits import MAX_HEADER_LINE, MAX_HEADERS, MAX_REQUEST_LINE
from relaybook.relay.names import HOP_BY_HOP, NameTable, Treatment, holds_secret

_HOST: Final = re.compile(rb"(?:[A-Za-z0-9._~!$&'()*+,;=%-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?")
_CONNECTION_OPTIONS: Final = HOP_BY_HOP | {b"close", b"transfer-encoding"}
_REQUEST_NAMES: Final = {
    b"host": Treatment.HOST,
    b"content-length": Treatment.LENGTH,
    b"transfer-encoding": Treatment.CHUNKED,
    b"connection": Treatment.CONNECTION,
    b"expect": Treatment.EXPECT,
    b"upgrade": Treatment.UPGRADE,
    b"authorization": Treatment.CALLER_KEY,
    b"api-key": Treatment.CALLER_KEY,
    b"x-api-key": Treatment.CALLER_KEY,
    b"cookie": Treatment.SECRET_DROP,
    b"proxy-authorization": Treatment.SECRET_DROP,
    b"x-forwarded-for": Treatment.FORWARDED_FOR,
    b"forwarded": Treatment.DROP,
    b"origin": Treatment.ORIGIN,
    b"access-control-request-headers": Treatment.PREFLIGHT,
}
_DECODED: Final = {b"%2e": b".", b"%2f": b"/", b"%5c": b"\\"}


class HeadRefused(Exception):
    """A request that is refused for its head; ``error`` says how, the text says what was wrong and what to do."""

    def __init__(self, error: RelayError, message: str) -> None:
        super().__init__(message)
        self.error = error


class RequestHead:
    """A request's head, taken apart. ``lines`` still has the caller's Host where the provider's goes (``host_at``)."""

    __slots__ = (
        *("chunked", "expect", "forwarded_for", "host", "host_at", "keep_alive", "key", "length", "lines", "logged"),
        *("method", "origin", "preflight", "tags", "target", "upgrade", "version_1_0"),
    )

    def __init__(self) -> None:
        self.method = b""
        self.target = b""
        self.version_1_0 = False
        self.keep_alive = True
        self.lines: list[bytes] = []
        self.logged: list[bytes] = []
        self.host = b""
        self.host_at = -1
        self.length: int | None = None
        self.chunked = False
        self.expect = b""
        self.upgrade = b""
        self.forwarded_for = b""
        self.origin = b""
        self.preflight = b""
        self.key: bytes | None = None
        self.tags: list[tuple[bytes, bytes]] = []


class RequestHeadReader:
    """Takes requests' heads apart by an operator's settings."""

    def __init__(self, is_tag: Callable[[bytes], bool], fingerprints: Fingerprints) -> None:
        self._is_tag = is_tag
        self._fingerprints = fingerprints
        self._names = NameTable(self._decide)

    def read(self, raw: bytes) -> RequestHead:
        """Takes the head of a request apart; ``raw`` ends with its empty line. Raises HeadRefused."""
        parser = httptools.HttpRequestParser(None)
        try:
            parser.feed_data(raw)
        except httptools.HttpParserUpgrade:
            pass
        except httptools.HttpParserError as error:
            raise HeadRefused(RelayError.BAD_REQUEST, f"This is not a well-formed HTTP request: {error}.") from None
        lines = raw[:-4].split(b"\r\n")
        head = RequestHead()
        self._read_request_line(head, lines[0], parser.get_http_version())
        if len(lines) > MAX_HEADERS + 1:
            raise HeadRefused(
                RelayError.HEADERS_TOO_LARGE, f"The request has {len(lines) - 1} headers; {MAX_HEADERS} are the most."
            )
        if len(raw) > MAX_HEADER_LINE and max(map(len, lines)) > MAX_HEADER_LINE:
            raise HeadRefused(
                RelayError.HEADERS_TOO_LARGE, f"A header line is longer than {MAX_HEADER_LINE} bytes, the most allowed."
            )
        head.logged = lines[1:]
        self._read_request_headers(head)
        if head.version_1_0 and head.chunked:
            raise HeadRefused(RelayError.BAD_REQUEST, "HTTP/1.0 has no chunked requests: send a Content-Length.")
        return head

    def _read_request_line(self, head: RequestHead, line: bytes, version: str) -> None:
        words = line.split(b" ")
        if len(words) != 3:
            raise HeadRefused(RelayError.BAD_REQUEST, "The request line is not method, target and version.")
        if len(line) > MAX_REQUEST_LINE:
            raise HeadRefused(
                RelayError.URI_TOO_LONG, f"The request line has {len(line)} bytes; {MAX_REQUEST_LINE} are the most."
            )
        if version not in ("1.0", "1.1"):
            raise HeadRefused(RelayError.VERSION_NOT_SUPPORTED, f"HTTP/{version} is not spoken here: use HTTP/1.1.")
        head.method, head.target, _ = words
        head.version_1_0 = version == "1.0"
        head.keep_alive = not head.version_1_0

    def _read_request_headers(self, head: RequestHead) -> None:
        table = self._names
        keep = head.lines.append
        for index, line in enumerate(head.logged):
            name, _, value = line.partition(b":")
            treatment = table.get(name)
            if treatment is None:
                treatment = table.learn(name)
            if treatment == 0:
                keep(line)
            else:
                self._treat(head, treatment, index, line, value)

    def _treat(self, head: RequestHead, treatment: int, index: int, line: bytes, value: bytes) -> None:
        match treatment:
            case Treatment.HOST:
                self._read_host(head, value)
                head.lines.append(line)
            case Treatment.LENGTH:
                head.length = int(value)
                head.lines.append(b"%b: %d" % (line.partition(b":")[0], head.length))
            case Treatment.CHUNKED:
                if value.strip().lower() != b"chunked":
                    raise HeadRefused(
                        RelayError.BAD_REQUEST, "The only Transfer-Encoding spoken here is chunked, once and alone."
                    )
                head.chunked = True
                head.lines.append(line)
            case Treatment.SECRET | Treatment.CALLER_KEY:
                head.lines.append(line)
                head.logged[index] = self._fingerprints.line(line)
                if treatment == Treatment.CALLER_KEY and head.key is None:
                    head.key = value.strip().rpartition(b" ")[2]
            case Treatment.SECRET_DROP:
                head.logged[index] = self._fingerprints.line(line)
            case Treatment.TAG:
                head.tags.append((line.partition(b":")[0], value.strip(b" \t")))
            case Treatment.CONNECTION:
                self._read_connection(head, value)
            case Treatment.EXPECT:
                head.expect = value.strip().lower()
            case Treatment.UPGRADE:
                head.upgrade = value.strip().lower()
            case Treatment.ORIGIN:
                head.origin = value.strip()
                head.lines.append(line)
            case Treatment.PREFLIGHT:
                head.preflight = value.strip()
                head.lines.append(line)
            case Treatment.FORWARDED_FOR:
                head.forwarded_for += b"," + value

    def _read_host(self, head: RequestHead, value: bytes) -> None:
        host = value.strip(b" \t")
        if head.host_at >= 0:
            raise HeadRefused(RelayError.BAD_REQUEST, "The request has more than one Host header.")
        if not _HOST.fullmatch(host):
            raise HeadRefused(RelayError.BAD_REQUEST, "The Host header is not a host name with an optional port.")
        head.host = host
        head.host_at = len(head.lines)

    def _read_connection(self, head: RequestHead, value: bytes) -> None:
        for option in value.lower().split(b","):
            name = option.strip()
            if name == b"close":
                head.keep_alive = False
            elif name and name not in _CONNECTION_OPTIONS and self._is_sent(head, name):
                shown = name[:80].decode("latin-1")
                raise HeadRefused(
                    RelayError.BAD_REQUEST, f"Connection names {shown!r}, a header that is meant for the provider."
                )

    def _is_sent(self, head: RequestHead, name: bytes) -> bool:
        return any(line.partition(b":")[0].lower() == name for line in head.logged)

    def _decide(self, name: bytes) -> int:
        if name in _REQUEST_NAMES:
            return _REQUEST_NAMES[name]
        if self._is_tag(name):
            return Treatment.TAG
        secret = holds_secret(name)
        if name in HOP_BY_HOP or name.startswith((b"proxy-", b"x-forwarded-")):
            return Treatment.SECRET_DROP if secret else Treatment.DROP
        return Treatment.SECRET if secret else Treatment.KEEP


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
