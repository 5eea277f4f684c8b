"""Build error responses, and the relay's headers for every response. This module does no I/O.

The body of an error has OpenAI's format, so that every SDK shows the message. The header ``Service-Error``
distinguishes errors of the relay from errors of the upstream.
"""

import json
from http import HTTPStatus
from typing import Final

from relaybook.errors import RelayError
from relaybook.relay.limits import MAX_WARNING_HEADERS
from relaybook.tags import Tags

#: The value of ``retry-after-ms``, in milliseconds, when the relay is overloaded, is shutting down or cannot log.
RETRY_AFTER_MS: Final = 1000
#: The code of the warning on responses to requests that are not logged.
NOT_LOGGED: Final = "not_logged"
#: A 405 response must list the supported methods (RFC 9110 §15.5.6).
_ALLOW: Final = b"Allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
#: A 426 response must list the protocols to use (RFC 9110 §15.5.22). The header applies to one connection only, so
#: ``Connection`` must name it (§7.8).
_UPGRADE: Final = b"Upgrade: HTTP/1.1"
_RETRY: Final = (RelayError.OVERLOADED, RelayError.LOG_UNAVAILABLE, RelayError.SHUTTING_DOWN)


def error_json(error: RelayError, message: str, log_url: str | None = None, *, is_text: bool = False) -> bytes:
    """Return the error object in OpenAI's format, as JSON. With ``is_text``, the error is only the message."""
    if is_text:
        return json.dumps({"error": message}, ensure_ascii=False).encode()
    fields = {"message": message, "type": "relay_error", "param": None, "code": error.code}
    if log_url is not None:
        fields["log_url"] = log_url
    return json.dumps({"error": fields}, ensure_ascii=False).encode()


def error_lines(error: RelayError, body: bytes, prefix: str, request_id: str | None) -> list[bytes]:
    """Return the header lines of an error response. ``request_id`` is `None` if the request is not admitted."""
    lines = [
        b"Content-Type: application/json",
        b"Content-Length: %d" % len(body),
        f"{prefix}-Error: {error.code}".encode(),
    ]
    if request_id is not None:
        lines.append(f"x-request-id: {request_id}".encode())
    if error is RelayError.METHOD_NOT_ALLOWED:
        lines.append(_ALLOW)
    if error is RelayError.UPGRADE_REQUIRED:
        lines.append(_UPGRADE)
    if error in _RETRY:
        lines.append(b"retry-after-ms: %d" % RETRY_AFTER_MS)
    return lines


def relay_headers(tags: Tags, request_id: str, route: str) -> bytes:
    """Return the relay's header lines for the response to an admitted request, joined by CRLF."""
    prefix = tags.prefix.encode()
    text = b"%b-Request-Id: %b\r\n%b-Namespace: %b\r\n%b-Route: %b" % (
        *(prefix, request_id.encode()),
        *(prefix, tags.echo),
        *(prefix, route.encode()),
    )
    for tag_warning in tags.warnings[:MAX_WARNING_HEADERS]:
        text += warning(tags.prefix, tag_warning.code, tag_warning.message)
    return text


def warning(prefix: str, code: str, message: str) -> bytes:
    """Return the header line of a warning, preceded by CRLF. Characters outside printable ASCII become ``?``."""
    text = "".join(character if " " <= character <= "~" else "?" for character in f"{code}; {message}")
    return f"\r\n{prefix}-Warning: {text}".encode()


def status_line(status: int, reason: bytes | None = None) -> bytes:
    """Return the status line. If ``reason`` is `None`, the standard reason phrase is used."""
    return b"HTTP/1.1 %d %b" % (status, HTTPStatus(status).phrase.encode() if reason is None else reason)


def error_response(
    error: RelayError,
    message: str,
    prefix: str,
    cors_lines: bytes = b"",
    *,
    is_text: bool = False,
    head_only: bool = False,
) -> bytes:
    """Return the complete error response to a request that is not admitted.

    The connection closes after the response. ``cors_lines`` are CORS header lines, each preceded by CRLF. ``is_text``
    is passed to ``error_json``.
    """
    body = error_json(error, message, is_text=is_text)
    connection = b"Connection: close, upgrade" if error is RelayError.UPGRADE_REQUIRED else b"Connection: close"
    lines = [status_line(error.status), *error_lines(error, body, prefix, None), connection + cors_lines]
    return b"\r\n".join([*lines, b"", b"" if head_only else body])


def malformed_body(error: Exception) -> str:
    """Return the message for a request body with malformed framing."""
    return f"The framing of the request body is not valid HTTP: {error}."


def body_too_large(size: int, limit: int) -> str:
    """Return the message for a request body over the limit. ``size`` is the declared or received number of bytes."""
    return f"The request body has {size} bytes or more. The limit is {limit} (setting max_request_bytes)."


def body_too_slow(size: int, seconds: float, timeout: float) -> str:
    """Return the message for a request body that stalls or is too slow.

    ``seconds`` is the time since the start of the body, or since the relay last paused reading the body.
    """
    return (
        f"The request body stalled or arrived too slowly. {size} bytes arrived in {seconds:.0f} s (setting "
        f"body_timeout, {timeout:g} s)."
    )


def text_response(status: int, text: str, *, head_only: bool = False, is_last: bool = False) -> bytes:
    """Return a complete text/plain response. With ``is_last``, the connection closes after the response."""
    body = text.encode()
    lines = [status_line(status), b"Content-Type: text/plain; charset=utf-8", b"Content-Length: %d" % len(body)]
    if is_last:
        lines.append(b"Connection: close")
    return b"\r\n".join([*lines, b"", b"" if head_only else body])
