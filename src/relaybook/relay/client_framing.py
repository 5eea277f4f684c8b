"""How an answer is put on a caller's wire: its head once, then its body in the framing its head announced. Pure.

The kind of framing is kept (a length stays a length, chunks stay chunks); only HTTP/1.0 callers, who know no chunks,
get those as a body that ends with the connection. Chunk sizes are those of the reads.
"""

from relaybook.relay import refuse
from relaybook.relay.response_head import ResponseHead


class CallerFraming:
    """One answer's framing. ``endless``: its end is the connection's end."""

    __slots__ = ("_chunked", "_head", "_last", "_lines", "_status_line", "endless", "is_event_stream")

    def __init__(self, head: ResponseHead, method: bytes, *, version_1_0: bool) -> None:
        mute = method == b"HEAD" or head.status in (204, 304)
        self._chunked = head.chunked and not (mute or version_1_0)
        self._lines = head.lines
        self._status_line = refuse.status_line(head.status, head.reason)
        self.endless = not (mute or self._chunked or head.length is not None)
        if head.chunked and version_1_0:
            self._lines = [line for line in head.lines if not line.lower().startswith(b"transfer-encoding:")]
        #: An event of our own can be put into it: its bytes are the events themselves, chunk by chunk.
        self.is_event_stream = head.event_stream and self._chunked and not head.encoded
        self._last = b""
        self._head = b""

    def begin(self, our_headers: bytes, *, keep_alive: bool) -> None:
        """Makes the head; it goes out with the first body bytes, or by an empty ``wire``."""
        closing = b"" if keep_alive else b"\r\nConnection: close"
        self._head = b"%b\r\n%b%b\r\n\r\n" % (b"\r\n".join([self._status_line, *self._lines]), our_headers, closing)

    def wire(self, piece: bytes, *, complete: bool = False) -> bytes:
        """What goes on the wire for body bytes of one read; ``complete`` with the last."""
        if self.is_event_stream and piece:
            self._last = piece[-4:] if len(piece) >= 4 else (self._last + piece)[-4:]
        if self._chunked:
            if not complete:
                piece = b"%x\r\n%b\r\n" % (len(piece), piece) if piece else b""
            elif piece:
                piece = b"%x\r\n%b\r\n0\r\n\r\n" % (len(piece), piece)
            else:
                piece = b"0\r\n\r\n"
        if self._head:
            piece = self._head + piece
            self._head = b""
        return piece

    @property
    def between_events(self) -> bool:
        """Whether the stream so far ends with a whole event, so that another may follow."""
        return not self._last or self._last.endswith((b"\n\n", b"\r\n\r\n", b"\r\r"))
