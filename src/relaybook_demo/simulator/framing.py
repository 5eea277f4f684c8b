"""Choose the framing of a response, and write its head and the bytes after its body."""

from dataclasses import dataclass
from typing import Literal

from relaybook_demo.simulator import heads
from relaybook_demo.simulator.contents import Content
from relaybook_demo.simulator.directives import Directives
from relaybook_demo.simulator.incoming import Request
from relaybook_demo.simulator.replies import Header, Reply, Stamp
from relaybook_demo.simulator.settings import SimulatorSettings

Framing = Literal["length", "chunked", "close", "none"]


@dataclass(frozen=True, slots=True)
class ResponseContext:
    """The values that determine the head and the framing of a response, together with its content."""

    request: Request
    directives: Directives
    reply: Reply
    stamp: Stamp
    settings: SimulatorSettings

    @property
    def closes_connection(self) -> bool:
        """Whether the response has ``Connection: close``."""
        return self.directives.connection == "close" or self.directives.http == "1.0" or not self.request.keep_alive

    @property
    def has_body(self) -> bool:
        """Whether HTTP allows this response to have content (RFC 9110 §6.4.1)."""
        status = self.reply.status
        return self.request.method != "HEAD" and status >= 200 and status not in (204, 304)

    @property
    def first_token_ms(self) -> float:
        """Milliseconds before the first token, from the directive if it is set, otherwise from the setting."""
        requested = self.directives.first_token_ms
        return self.settings.first_token_ms if requested is None else requested

    @property
    def token_ms(self) -> float:
        """Milliseconds between tokens, or 0 if the speed is unlimited."""
        requested = self.directives.tokens_per_second
        speed = self.settings.tokens_per_second if requested is None else requested
        return 1000.0 / speed if speed else 0.0


def framing_of(context: ResponseContext, content: Content) -> Framing:
    """Return ``length`` if the length is known, otherwise ``chunked``, or ``close`` for HTTP/1.0.

    A directive can set another framing. For a status below 200 and for 204, the framing is ``none``.
    """
    if context.reply.status < 200 or context.reply.status == 204:
        return "none"
    requested = context.directives.framing
    if requested in ("chunked", "close"):
        return requested
    if content.length is not None:
        return "length"
    return "close" if "1.0" in (context.request.version, context.directives.http) else "chunked"


def head_of(context: ResponseContext, content: Content, framing: Framing) -> bytes:
    """Return the status line and all header lines."""
    line = context.directives.status_line
    if line is None:
        line = heads.status_line(context.reply.status, context.directives.http)
    is_openai = (context.directives.headers or context.settings.response_headers) == "openai"
    header_set = heads.openai_headers if is_openai else heads.few_headers
    content_type = b"" if framing == "none" else content.content_type
    usual = header_set(context.stamp, int(context.first_token_ms), content_type)
    headers = [
        *_with_request_id_header(usual, context.reply.request_id_header),
        *context.reply.headers,
        *_extra_headers(context.directives),
    ]
    if context.closes_connection or is_openai:
        headers.append((b"Connection", b"close" if context.closes_connection else b"keep-alive"))
    if framing == "length":
        headers.append((b"content-length", b"%d" % declared_length(context.directives, content)))
    elif framing == "chunked":
        headers.append((b"transfer-encoding", b"chunked"))
    return heads.write_head(line, headers)


def tail_of(directives: Directives, framing: Framing) -> bytes:
    """Return the bytes after the content: for a chunked body the last chunk with trailers, then any surplus bytes."""
    surplus = b"x" * directives.surplus
    if framing != "chunked":
        return surplus
    trailers = b"".join(b"%b: %b\r\n" % line for line in directives.trailer)
    return b"0\r\n%b\r\n%b" % (trailers, surplus)


def declared_length(directives: Directives, content: Content) -> int:
    """Return the length to declare: the true length, or a wrong length that a directive sets."""
    length = content.length or 0
    if directives.length is None:
        return length
    sign, number = directives.length
    return {"": number, "+": length + number, "-": max(0, length - number)}[sign]


def _with_request_id_header(headers: list[Header], id_header: bytes | None) -> list[Header]:
    """Return the headers with the request id in the header ``id_header``, or without it if that is `None`."""
    renamed = ((id_header if name == b"x-request-id" else name, value) for name, value in headers)
    return [(name, value) for name, value in renamed if name is not None]


def _extra_headers(directives: Directives) -> list[Header]:
    headers = [] if directives.encoding is None else [(b"content-encoding", directives.encoding.encode())]
    if directives.header_fill is not None:
        count, size = directives.header_fill
        headers += [(b"x-fill-%d" % number, b"x" * size) for number in range(count)]
    return [*headers, *directives.header]
