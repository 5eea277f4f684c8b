"""Define the bytes of the requests to every proxy, and parse the responses."""

from collections.abc import Mapping

import httptools

from benchmarks.traffic.messages import FIVE, REQUEST_BODY

STREAM_BODY = REQUEST_BODY.replace(b"{", b'{"stream":true,', 1)


def request_bytes(extra: Mapping[str, str], body: bytes) -> bytes:
    """Return a complete request with the headers of ``FIVE`` and the ``extra`` headers."""
    headers = FIVE.request | dict(extra) | {"Host": "127.0.0.1", "Content-Length": str(len(body))}
    lines = [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join(["POST /v1/chat/completions HTTP/1.1", *lines, "", ""]).encode() + body


class ResponseReader:
    """Parses the responses of one connection, which have a Content-Length or are chunked."""

    def __init__(self) -> None:
        self.complete = False
        #: Chunks of the body that arrived since the chunks were last taken.
        self.chunks: list[bytes] = []
        self._parser = httptools.HttpResponseParser(self)

    def feed(self, data: bytes) -> None:
        """Parse more bytes. Afterwards, ``complete`` tells whether the response is complete."""
        self._parser.feed_data(data)

    @property
    def status(self) -> int:
        """The status of the complete response."""
        return int(self._parser.get_status_code())

    @property
    def stays_open(self) -> bool:
        """Whether the connection can be reused. Known only when a response is complete."""
        return bool(self._parser.should_keep_alive())

    def next(self) -> None:
        """Start the next response."""
        self.complete = False
        self.chunks.clear()
        self._parser = httptools.HttpResponseParser(self)

    def on_body(self, body: bytes) -> None:
        """Called by the parser."""
        self.chunks.append(body)

    def on_message_complete(self) -> None:
        """Called by the parser."""
        self.complete = True
