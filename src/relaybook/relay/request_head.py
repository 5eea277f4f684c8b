"""Parse request heads, and decide what is forwarded to the upstream, what is dropped and what is logged.

A head is not decoded to text. First, llhttp checks the syntax. Then the head is split into lines, and each header name
is looked up in a table of handlers. This module refuses heads that llhttp accepts but that an upstream might interpret
differently (RFC 9110 §7.6.1, RFC 9112 §3 and §6). The module does no I/O.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final

import httptools

from relaybook.errors import RelayError
from relaybook.relay.fingerprints import Fingerprints, can_be_secret, client_key_in, keys_in, mask, protocol_key_in
from relaybook.relay.header_rules import HOP_BY_HOP, Handler, HeaderRules, drop, holds_secret, replace_line
from relaybook.relay.limits import (
    MAX_HEAD,
    MAX_HEADER_LINE,
    MAX_HEADERS,
    MAX_LENGTH_BYTES,
    MAX_REQUEST_LINE,
    MIN_KEY_BYTES,
)

_HOST: Final = re.compile(rb"(?:[A-Za-z0-9._~!$&'()*+,;=%-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?")
_EMPTY_LINES: Final = re.compile(rb"(?:\r\n)+")
_VERSION: Final = re.compile(rb"[A-Z-]+ [!-~]+ HTTP/(\d\.\d)\r\n")
_CONNECTION_OPTIONS: Final = HOP_BY_HOP | {b"", b"close", b"transfer-encoding"}
_DECODED: Final = {b"%2e": b".", b"%2f": b"/", b"%5c": b"\\"}


class HeadRefused(Exception):
    """A request is refused because of its head. The message says what is wrong and what to do."""

    def __init__(self, error: RelayError, message: str) -> None:
        super().__init__(message)
        self.error = error


class RequestHead:
    """A parsed request head. ``lines`` contains the header lines for the upstream.

    ``host_at`` is the index of the Host header in ``lines``, or -1 if the client sent no Host header. The route
    replaces the client's Host header with the upstream's.

    Only this module sets attributes of a head, and no attribute changes after ``RequestHeadReader.read``. The defaults
    are class attributes, so that creating an object for each request is cheap: most heads set few attributes.
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
    websocket = False
    forwarded_for = b""
    origin = b""
    fetch_site = b""
    preflight = b""
    key: bytes | None = None
    #: All API keys in the headers and the query that have at least ``MIN_KEY_BYTES``, longest first, because a key may
    #: begin with another key. ``logged`` is masked. The exchange masks these keys in the query and the response head.
    keys: Sequence[bytes] = ()
    #: The keys that can be secrets. The exchange also masks them in the path, the reason phrase and the bodies.
    secrets: Sequence[bytes] = ()
    tags: Sequence[tuple[bytes, bytes]] = ()

    def __init__(self) -> None:
        self.lines: list[bytes] = []

    def with_length(self, length: int, logged: bytes) -> "RequestHead":
        """Return a copy of this head with another Content-Length, which ``logged`` must already have.

        This head must be HTTP/1.1 with keep-alive, not chunked, and without Expect.
        """
        head = RequestHead()
        head.method = self.method
        head.target = self.target
        head.host = self.host
        head.host_at = self.host_at
        head.lines = self.lines
        head.forwarded_for = self.forwarded_for
        head.origin = self.origin
        head.fetch_site = self.fetch_site
        head.preflight = self.preflight
        head.key = self.key
        head.keys = self.keys
        head.secrets = self.secrets
        head.tags = self.tags
        head.length, head.logged = length, logged
        return head


class RequestHeadReader:
    """Parses request heads according to the settings."""

    def __init__(self, is_tag: Callable[[bytes], bool], fingerprints: Fingerprints) -> None:
        self._is_tag = is_tag
        self._redacted = fingerprints.line
        self._fingerprint = fingerprints.of
        self._handlers: dict[bytes, Handler[RequestHead]] = {
            b"host": self._take_host,
            b"content-length": self._take_length,
            b"transfer-encoding": self._take_coding,
            b"connection": self._take_connection,
            b"expect": self._take_expect,
            b"upgrade": self._take_upgrade,
            b"authorization": self._take_client_key,
            b"api-key": self._take_client_key,
            b"x-api-key": self._take_client_key,
            b"x-goog-api-key": self._take_client_key,
            b"ocp-apim-subscription-key": self._take_client_key,
            b"sec-websocket-protocol": self._take_subprotocols,
            b"cookie": self._drop_secret,
            b"proxy-authorization": self._drop_secret,
            b"x-forwarded-for": self._take_forwarded_for,
            b"forwarded": drop,
            b"origin": self._take_origin,
            b"sec-fetch-site": self._take_fetch_site,
            b"access-control-request-headers": self._take_preflight,
        }
        self._rules = HeaderRules(self._decide)

    def read(self, raw: bytes) -> RequestHead:
        """Parse a request head. ``raw`` ends with the empty line. Raises HeadRefused."""
        parser = httptools.HttpRequestParser(None)
        try:
            parser.feed_data(raw)
        except httptools.HttpParserUpgrade:
            pass
        except httptools.HttpParserError as error:
            _check_version(raw)
            raise HeadRefused(RelayError.BAD_REQUEST, f"The request is not valid HTTP: {error}.") from None
        first, _, logged = raw[:-4].partition(b"\r\n")
        lines = logged.split(b"\r\n") if logged else []
        head = RequestHead()
        self._read_request_line(head, first)
        _check_sizes(raw, lines)
        head.logged = logged
        self._rules.apply(lines, head, head.lines)
        if not head.target.startswith(b"/") and head.target != b"*" and head.method != b"CONNECT":
            _make_origin_form(head)
        if b"?" in head.target or len(head.keys) > 1:
            head.keys = sorted({*head.keys, *keys_in(head.target)}, key=len, reverse=True)
            head.key = head.key or client_key_in(head.target)
        if head.keys:
            head.logged = mask(head.logged, head.keys)
            head.secrets = [key for key in head.keys if can_be_secret(key)]
        if head.version_1_0 and head.chunked:
            raise HeadRefused(
                RelayError.BAD_REQUEST, "HTTP/1.0 does not support chunked requests. Send a Content-Length."
            )
        return head

    def _read_request_line(self, head: RequestHead, line: bytes) -> None:
        # llhttp accepts CR and LF before the method, and protocols other than HTTP. Both are refused here.
        parts = line.split(b" ")
        if len(parts) != 3 or line.startswith((b"\r", b"\n")) or not parts[2].startswith(b"HTTP/"):
            raise HeadRefused(
                RelayError.BAD_REQUEST, "The request line must consist of a method, a target and an HTTP version."
            )
        if len(line) > MAX_REQUEST_LINE:
            raise HeadRefused(
                RelayError.URI_TOO_LONG, f"The request line has {len(line)} bytes. The limit is {MAX_REQUEST_LINE}."
            )
        head.method, head.target, version = parts
        if version != b"HTTP/1.1":
            _check_version(line + b"\r\n")
            head.version_1_0 = True
            head.keep_alive = False

    def _decide(self, name: bytes) -> Handler[RequestHead] | None:
        if name in self._handlers:
            return self._handlers[name]
        if self._is_tag(name):
            return self._take_tag
        secret = holds_secret(name)
        if name in HOP_BY_HOP or name.startswith((b"proxy-", b"x-forwarded-")):
            return self._drop_secret if secret else drop
        return self._take_secret if secret else None

    def _take_host(self, head: RequestHead, line: bytes, value: bytes) -> None:
        host = value.strip(b" \t")
        if head.host_at >= 0:
            raise HeadRefused(
                RelayError.BAD_REQUEST, "The request has more than one Host header. Send only one Host header."
            )
        if not _HOST.fullmatch(host):
            raise HeadRefused(RelayError.BAD_REQUEST, "The Host header must be a host name with an optional port.")
        head.host = host
        head.host_at = len(head.lines)
        head.lines.append(line)

    def _take_length(self, head: RequestHead, line: bytes, value: bytes) -> None:
        if len(value) > MAX_LENGTH_BYTES:
            raise HeadRefused(
                RelayError.BAD_REQUEST, f"The value of Content-Length has more than {MAX_LENGTH_BYTES} characters."
            )
        head.length = int(value)
        if value.lstrip()[:1] == b"0":
            line = b"%b: %d" % (line.partition(b":")[0], head.length)
        head.lines.append(line)

    def _take_coding(self, head: RequestHead, line: bytes, value: bytes) -> None:
        if head.chunked or value.strip().lower() != b"chunked":
            raise HeadRefused(RelayError.BAD_REQUEST, "Transfer-Encoding must be chunked, and must occur only once.")
        head.chunked = True
        head.lines.append(line)

    def _take_connection(self, head: RequestHead, line: bytes, value: bytes) -> None:
        options = {option.strip() for option in value.lower().split(b",")}
        if b"close" in options:
            head.keep_alive = False
        others = options - _CONNECTION_OPTIONS
        if others and (named := others & {line.partition(b":")[0].lower() for line in head.logged.split(b"\r\n")}):
            shown = min(named)[:80].decode("latin-1")
            raise HeadRefused(
                RelayError.BAD_REQUEST,
                f"The Connection header names {shown!r}, which the relay does not treat as a hop-by-hop header. "
                f"Remove {shown!r} from the Connection header.",
            )

    def _take_expect(self, head: RequestHead, line: bytes, value: bytes) -> None:
        # If there are several Expect lines, keep the first value that will be refused.
        if head.expect in (b"", b"100-continue"):
            head.expect = value.strip().lower()

    def _take_upgrade(self, head: RequestHead, line: bytes, value: bytes) -> None:
        protocols = value.lower().split(b",")
        head.websocket |= any(protocol.partition(b"/")[0].strip() == b"websocket" for protocol in protocols)

    def _take_client_key(self, head: RequestHead, line: bytes, value: bytes) -> None:
        self._take_secret(head, line, value)
        self._add_key(head, value.strip().rpartition(b" ")[2])

    def _add_key(self, head: RequestHead, key: bytes) -> None:
        head.key = head.key or key
        if len(key) >= MIN_KEY_BYTES:
            head.keys = [*head.keys, key]

    def _take_subprotocols(self, head: RequestHead, line: bytes, value: bytes) -> None:
        head.lines.append(line)
        keys = [key for each in value.split(b",") if (key := protocol_key_in(each.strip())) is not None]
        if keys:
            logged = b",".join(self._logged_protocol(each) for each in value.split(b","))
            head.logged = replace_line(head.logged, line, b"%b:%b" % (line.partition(b":")[0], logged))
        for key in keys:
            self._add_key(head, key)

    def _logged_protocol(self, protocol: bytes) -> bytes:
        """Return a WebSocket subprotocol with a fingerprint instead of its key."""
        key = protocol_key_in(protocol.strip())
        if key is None:
            return protocol
        return b"%bkey:%b" % (protocol.rstrip().removesuffix(key), self._fingerprint(key).encode())

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

    def _take_fetch_site(self, head: RequestHead, line: bytes, value: bytes) -> None:
        head.fetch_site = value.strip()
        head.lines.append(line)

    def _take_preflight(self, head: RequestHead, line: bytes, value: bytes) -> None:
        head.preflight = value.strip()
        head.lines.append(line)


def _make_origin_form(head: RequestHead) -> None:
    """Remove the scheme and the authority from an absolute target (RFC 9112 §3.2.2).

    The authority must equal the Host header. Admission refuses a head without the Host header.
    """
    if head.host_at < 0 and not head.version_1_0:
        return
    scheme, mark, rest = head.target.partition(b"://")
    authority, slash, path = rest.partition(b"/")
    if not mark or scheme.lower() not in (b"http", b"https"):
        raise HeadRefused(RelayError.BAD_REQUEST, "The request target is not a path. It must start with a slash.")
    if authority.lower() != head.host.lower():
        raise HeadRefused(
            RelayError.BAD_REQUEST, "The request target and the Host header name different hosts. Send only the path."
        )
    head.target = slash + path or b"/"


def _check_version(raw: bytes) -> None:
    """Raise HeadRefused if the HTTP version is well-formed but unsupported.

    This check is needed even for requests that llhttp accepts, because llhttp accepts some unsupported versions.
    """
    match = _VERSION.match(raw)
    if match is not None and match[1] not in (b"1.0", b"1.1"):
        version = match[1].decode()
        raise HeadRefused(RelayError.VERSION_NOT_SUPPORTED, f"HTTP/{version} is not supported. Use HTTP/1.1.")


def _check_sizes(raw: bytes, lines: list[bytes]) -> None:
    if len(lines) > MAX_HEADERS:
        raise HeadRefused(
            RelayError.HEADERS_TOO_LARGE, f"The request has {len(lines)} headers. The limit is {MAX_HEADERS}."
        )
    if len(raw) > MAX_HEADER_LINE and max(map(len, lines), default=0) > MAX_HEADER_LINE:
        raise HeadRefused(
            RelayError.HEADERS_TOO_LARGE, f"A header line is longer than the limit of {MAX_HEADER_LINE} bytes."
        )


def skip_empty_lines(data: bytes) -> bytes:
    """Remove the empty lines that may precede a request (RFC 9112 §2.2)."""
    return _EMPTY_LINES.sub(b"", data, 1) if data.startswith(b"\r\n") else data


def check_beginning(data: bytes) -> None:
    """Raise HeadRefused if the received part of a head is already invalid."""
    if data.startswith(b"\x16\x03"):
        raise HeadRefused(
            RelayError.BAD_REQUEST, "The relay does not use TLS on this port. Use http:// instead of https://."
        )
    if data.count(b"\n") != data.count(b"\r\n"):
        raise HeadRefused(
            RelayError.BAD_REQUEST, "A line of the request head ends with LF only. Every line must end with CR LF."
        )
    if len(data) > MAX_REQUEST_LINE and b"\r\n" not in data[: MAX_REQUEST_LINE + 2]:
        raise HeadRefused(
            RelayError.URI_TOO_LONG, f"The request line is longer than the limit of {MAX_REQUEST_LINE} bytes."
        )
    if len(data) > MAX_HEAD:
        raise HeadRefused(
            RelayError.HEADERS_TOO_LARGE, f"The request head is longer than the limit of {MAX_HEAD} bytes."
        )


@lru_cache(1024)
def check_target(target: bytes) -> None:
    """Raise HeadRefused if an upstream could interpret the target differently than the relay does."""
    if b"\\" in target or not target.isascii():
        raise HeadRefused(
            RelayError.BAD_REQUEST,
            "The request target contains a backslash or a non-ASCII byte. Percent-encode these bytes.",
        )
    if b"#" in target:
        raise HeadRefused(RelayError.BAD_REQUEST, "The request target contains a fragment (#). Remove the fragment.")
    if b"/." not in target and b"%" not in target:
        return
    path = target.partition(b"?")[0]
    decoded = re.sub(rb"(?i)%2e|%2f|%5c", lambda match: _DECODED[match[0].lower()], path)
    if any(segment in (b".", b"..") for segment in re.split(rb"[/\\]", decoded)):
        raise HeadRefused(RelayError.BAD_REQUEST, "The path contains the segment . or .., which is not allowed.")
