"""Cross-origin calls from web pages the operator allows: preflights are answered here, answers are opened to the page.

Without allowed origins this is off, and whatever the provider says about origins crosses unchanged (Fetch standard,
CORS protocol).
"""

from collections.abc import Sequence

_EXPOSED = ("Request-Id", "Namespace", "Warning", "Error")
_A_DAY = 86400


class Cors:
    """The origins that may call; ``*`` is any."""

    def __init__(self, origins: Sequence[str], prefixes: Sequence[str]) -> None:
        self._origins = {origin.encode() for origin in origins}
        names = [f"{prefix}-{name}" for prefix in prefixes for name in _EXPOSED]
        self._exposed = ", ".join([*names, "x-request-id", "retry-after", "retry-after-ms"]).encode()

    def allows(self, origin: bytes) -> bool:
        """Whether pages of this origin may call; an empty one is no page's."""
        return bool(origin) and (b"*" in self._origins or origin in self._origins)

    def headers(self, origin: bytes) -> bytes:
        """Header lines for an answer to a page, each begun by a line end; empty for an origin that is not allowed."""
        if not self.allows(origin):
            return b""
        return b"\r\nAccess-Control-Allow-Origin: %b\r\nAccess-Control-Expose-Headers: %b\r\nVary: Origin" % (
            origin,
            self._exposed,
        )

    def preflight(self, origin: bytes, wanted_headers: bytes, *, is_last: bool = False) -> bytes:
        """The whole answer to a preflight; a page that is not allowed gets none of the headers it needs.

        ``is_last``: the connection closes after it.
        """
        allowed = self.headers(origin)
        if allowed:
            allowed += b"\r\nAccess-Control-Allow-Methods: GET, POST, PUT, PATCH, DELETE, HEAD\r\n"
            allowed += b"Access-Control-Allow-Headers: %b\r\nAccess-Control-Max-Age: %d" % (wanted_headers, _A_DAY)
        return b"HTTP/1.1 204 No Content%b%b\r\n\r\n" % (allowed, b"\r\nConnection: close" if is_last else b"")
