"""Encode a response for the client: first the head, then the body in the framing that the head declares.

The upstream's framing is kept. So a body with a Content-Length keeps its Content-Length, and a chunked body stays
chunked. Each read from the upstream becomes one chunk. HTTP/1.0 clients do not support chunked bodies. They get the
body without chunks, and the connection closes after the body. This module does no I/O.
"""

from relaybook.relay import response_lines
from relaybook.relay.response_head import ResponseHead


class ClientFraming:
    """The framing of one response. With ``ends_with_close``, the body ends when the connection closes."""

    __slots__ = ("_chunked", "_head", "_lines", "_status_line", "ends_with_close")

    def __init__(self, head: ResponseHead, method: bytes, *, version_1_0: bool) -> None:
        no_body = method == b"HEAD" or head.status in (204, 304)
        self._chunked = head.chunked and not (no_body or version_1_0)
        self._lines = head.lines
        self._status_line = response_lines.status_line(head.status, head.reason)
        self.ends_with_close = not (no_body or self._chunked or head.length is not None)
        if head.chunked and version_1_0:
            self._lines = [line for line in head.lines if not line.lower().startswith(b"transfer-encoding:")]
        self._head = b""

    def begin(self, relay_headers: bytes, *, keep_alive: bool) -> None:
        """Prepare the head. The next call of ``encode`` returns the head, then the body bytes if there are any."""
        connection_line = b"" if keep_alive else b"\r\nConnection: close"
        self._head = b"%b\r\n%b%b\r\n\r\n" % (
            b"\r\n".join([self._status_line, *self._lines]),
            relay_headers,
            connection_line,
        )

    def encode(self, chunk: bytes, *, complete: bool = False) -> bytes:
        """Encode the body bytes of one read for sending. ``complete`` is true for the last body bytes."""
        if self._chunked:
            if not complete:
                chunk = b"%x\r\n%b\r\n" % (len(chunk), chunk) if chunk else b""
            elif chunk:
                chunk = b"%x\r\n%b\r\n0\r\n\r\n" % (len(chunk), chunk)
            else:
                chunk = b"0\r\n\r\n"
        if self._head:
            chunk = self._head + chunk
            self._head = b""
        return chunk
