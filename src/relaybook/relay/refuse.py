"""What the relay itself says to a caller: its headers on every answer, and answers of its own. Pure.

The body is OpenAI's error shape, so that every SDK shows the message; ``Service-Error`` tells it from a provider's.
"""

import json
from http import HTTPStatus
from typing import Final

from relaybook.errors import RelayError
from relaybook.relay.limits import MAX_WARNING_HEADERS
from relaybook.tags import Tags

#: After how long a caller may try again when we are full, draining or cannot log: milliseconds.
RETRY_AFTER_MS: Final = 1000
#: The warning on the answer of a request that is relayed without a record.
NOT_LOGGED: Final = "not_logged"
_RETRY: Final = (RelayError.OVERLOADED, RelayError.LOG_UNAVAILABLE, RelayError.SHUTTING_DOWN)


def error_json(error: RelayError, message: str, log_url: str | None = None) -> bytes:
    """The error object of OpenAI's shape."""
    fields = {"message": message, "type": "relay_error", "param": None, "code": error.code}
    if log_url is not None:
        fields["log_url"] = log_url
    return json.dumps({"error": fields}, ensure_ascii=False).encode()


def error_lines(error: RelayError, body: bytes, prefix: str, request_id: str | None) -> list[bytes]:
    """Header lines of a refusal; ``request_id`` only where there is a record."""
    lines = [
        b"Content-Type: application/json",
        b"Content-Length: %d" % len(body),
        f"{prefix}-Error: {error.code}".encode(),
    ]
    if request_id is not None:
        lines.append(f"x-request-id: {request_id}".encode())
    if error in _RETRY:
        lines.append(b"retry-after-ms: %d" % RETRY_AFTER_MS)
    return lines


def our_headers(tags: Tags, request_id: str) -> bytes:
    """Header lines that every answer of an admitted request carries, without a line end at the end."""
    prefix = tags.prefix.encode()
    text = b"%b-Request-Id: %b\r\n%b-Namespace: %b" % (prefix, request_id.encode(), prefix, tags.echo)
    for note in tags.warnings[:MAX_WARNING_HEADERS]:
        text += warning(tags.prefix, note.code, note.message)
    return text


def warning(prefix: str, code: str, message: str) -> bytes:
    """The header line of one warning, begun by a line end."""
    shown = "".join(letter if " " <= letter <= "~" else "?" for letter in f"{code}; {message}")
    return f"\r\n{prefix}-Warning: {shown}".encode()


def status_line(status: int, reason: bytes | None = None) -> bytes:
    """The first line of an answer, with the standard's reason phrase unless there is another, be it empty."""
    return b"HTTP/1.1 %d %b" % (status, HTTPStatus(status).phrase.encode() if reason is None else reason)


def answer(error: RelayError, message: str, prefix: str, opened: bytes = b"", *, head_only: bool = False) -> bytes:
    """A whole refusal of a request that was not admitted; the connection closes after it.

    ``opened``: the lines that open it to a web page, each begun by a line end.
    """
    body = error_json(error, message)
    lines = [status_line(error.status), *error_lines(error, body, prefix, None), b"Connection: close" + opened]
    return b"\r\n".join([*lines, b"", b"" if head_only else body])


def body_broken(error: Exception) -> str:
    """Says that a request's body is not what its framing promised."""
    return f"The request's body is not well-formed HTTP: {error}."


def body_too_large(size: int, most: int) -> str:
    """Says that a request's body is over the limit."""
    return f"The request's body has {size} bytes or more; {most} are the most allowed (setting max_request_bytes)."


def body_too_slow(size: int, ran: float, timeout: float) -> str:
    """Says that a request's body stopped arriving, or trickles."""
    return (
        f"The request's body stopped arriving: {size} bytes came in {ran:.0f} s (setting body_timeout, {timeout:g} s)."
    )


def stream_error_event(message: str) -> bytes:
    """One server-sent event that makes both official SDKs raise, for a stream that broke between two events."""
    return b"data: %b\n\n" % error_json(RelayError.UPSTREAM_STREAM_INTERRUPTED, message)


def text_answer(status: int, text: str, *, head_only: bool = False, is_last: bool = False) -> bytes:
    """A short plain text of our own: health and the front page. ``is_last``: the connection closes after it."""
    body = text.encode()
    lines = [status_line(status), b"Content-Type: text/plain; charset=utf-8", b"Content-Length: %d" % len(body)]
    if is_last:
        lines.append(b"Connection: close")
    return b"\r\n".join([*lines, b"", b"" if head_only else body])
