"""Add CORS headers to responses and respond to preflight requests, for web pages that the operator allows.

If no origin is allowed, the relay adds no CORS headers and passes the upstream's CORS headers through unchanged. The
Fetch standard defines the CORS protocol.
"""

import re
from collections.abc import Sequence

_EXPOSED = ("Request-Id", "Namespace", "Route", "Warning", "Error")
_MAX_AGE_SECONDS = 86400


class Cors:
    """The allowed origins, which ``check_origins`` has accepted. ``*`` allows every origin."""

    def __init__(self, origins: Sequence[str], prefixes: Sequence[str]) -> None:
        self._origins = {origin.encode() for origin in origins}
        self._patterns = re.compile("|".join(map(_pattern, origins)).encode())
        names = [f"{prefix}-{name}" for prefix in prefixes for name in _EXPOSED]
        self._exposed = ", ".join([*names, "x-request-id", "retry-after", "retry-after-ms"]).encode()

    def allows(self, origin: bytes) -> bool:
        """Return whether web pages of this origin are allowed; false for an empty origin."""
        if not origin:
            return False
        return not self._origins.isdisjoint((origin, b"*")) or self._patterns.fullmatch(origin) is not None

    def headers(self, origin: bytes) -> bytes:
        """Return the header lines for a response, each preceded by CRLF; empty if the origin is not allowed."""
        if not self.allows(origin):
            return b""
        return b"\r\nAccess-Control-Allow-Origin: %b\r\nAccess-Control-Expose-Headers: %b\r\nVary: Origin" % (
            origin,
            self._exposed,
        )

    def preflight(self, origin: bytes, requested_headers: bytes, *, is_last: bool = False) -> bytes:
        """Return the complete response to a preflight. The response has no CORS headers if the origin is not allowed.

        With ``is_last``, the connection closes after the response.
        """
        allowed = self.headers(origin)
        if allowed:
            allowed += b"\r\nAccess-Control-Allow-Methods: GET, POST, PUT, PATCH, DELETE, HEAD\r\n"
            allowed += b"Access-Control-Allow-Headers: %b\r\nAccess-Control-Max-Age: %d" % (
                requested_headers,
                _MAX_AGE_SECONDS,
            )
        return b"HTTP/1.1 204 No Content%b%b\r\n\r\n" % (allowed, b"\r\nConnection: close" if is_last else b"")


def _pattern(origin: str) -> str:
    """Return a regular expression for an origin with ``*``: any subdomains, or any port."""
    subdomains, port = r"(?:[a-z0-9_-]+\.)+", r"(?::\d{1,5})?"
    return re.escape(origin).replace(re.escape("*."), subdomains).replace(re.escape(":*"), port)
