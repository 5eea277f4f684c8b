"""Frames an answer: how its end is told, its head, and what follows its body."""

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
class Case:
    """All that an answer depends on, but its content."""

    request: Request
    directives: Directives
    reply: Reply
    stamp: Stamp
    settings: SimulatorSettings

    @property
    def is_last(self) -> bool:
        """Whether ``Connection: close`` is announced."""
        return self.directives.connection == "close" or self.directives.http == "1.0" or not self.request.keeps_alive

    @property
    def has_body(self) -> bool:
        """Whether HTTP lets this answer have content (RFC 9110 §6.4.1)."""
        status = self.reply.status
        return self.request.method != "HEAD" and status >= 200 and status not in (204, 304)

    @property
    def first_token_ms(self) -> float:
        """The request's wish, or the setting."""
        wished = self.directives.first_token_ms
        return self.settings.first_token_ms if wished is None else wished

    @property
    def token_ms(self) -> float:
        """Milliseconds from token to token."""
        wished = self.directives.tokens_per_second
        speed = self.settings.tokens_per_second if wished is None else wished
        return 1000.0 / speed if speed else 0.0


def framing_of(case: Case, content: Content) -> Framing:
    """A known length is declared; anything else is chunked, or ends with the connection for HTTP/1.0."""
    if case.reply.status < 200 or case.reply.status == 204:
        return "none"
    wished = case.directives.framing
    if wished in ("chunked", "close"):
        return wished
    if content.length is not None:
        return "length"
    return "close" if "1.0" in (case.request.version, case.directives.http) else "chunked"


def head_of(case: Case, content: Content, framing: Framing) -> bytes:
    """Status line and all header lines."""
    line = case.directives.status_line
    if line is None:
        line = heads.status_line(case.reply.status, case.directives.http)
    is_full = (case.directives.headers or case.settings.response_headers) == "openai"
    known = heads.openai_headers if is_full else heads.few_headers
    content_type = b"" if framing == "none" else content.content_type
    headers = [
        *known(case.stamp, int(case.first_token_ms), content_type),
        *case.reply.headers,
        *_wished(case.directives),
    ]
    if case.is_last or is_full:
        headers.append((b"Connection", b"close" if case.is_last else b"keep-alive"))
    if framing == "length":
        headers.append((b"content-length", b"%d" % declared_length(case.directives, content)))
    elif framing == "chunked":
        headers.append((b"transfer-encoding", b"chunked"))
    return heads.write_head(line, headers)


def tail_of(directives: Directives, framing: Framing) -> bytes:
    """The last chunk with its trailers, and surplus bytes."""
    surplus = b"x" * directives.surplus
    if framing != "chunked":
        return surplus
    trailers = b"".join(b"%b: %b\r\n" % line for line in directives.trailer)
    return b"0\r\n%b\r\n%b" % (trailers, surplus)


def declared_length(directives: Directives, content: Content) -> int:
    """The true length, or the wrong one that was wished for."""
    length = content.length or 0
    if directives.length is None:
        return length
    sign, number = directives.length
    return {"": number, "+": length + number, "-": max(0, length - number)}[sign]


def _wished(directives: Directives) -> list[Header]:
    headers = [] if directives.encoding is None else [(b"content-encoding", directives.encoding.encode())]
    if directives.header_fill is not None:
        count, size = directives.header_fill
        headers += [(b"x-fill-%d" % at, b"x" * size) for at in range(count)]
    return [*headers, *directives.header]
