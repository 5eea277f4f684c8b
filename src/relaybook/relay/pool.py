"""Pool idle connections to one upstream: last in, first out.

Only reusable connections are pooled (see ``Pooled.reusable``). The pool closes an idle connection before the upstream
would close it.
"""

import ssl
from typing import Final, Generic, Protocol, TypeVar

from relaybook.relay.routes import UpstreamUrl

_MAX_IDLE: Final = 1024


class Pooled(Protocol):
    """A connection that can be pooled."""

    #: Whether another request may be sent on the connection. For this, the request and the response must be complete.
    #: No bytes may be left in either direction, and the connection must stay open after the response.
    reusable: bool
    lost: bool
    idle_since: float
    idle_seconds: float

    def abort(self) -> None:
        """Close the connection now."""


C = TypeVar("C", bound=Pooled)


class Pool(Generic[C]):
    """Holds idle connections to ``upstream``. An idle connection has no exchange and no unread bytes."""

    def __init__(self, upstream: UpstreamUrl, tls: ssl.SSLContext | None) -> None:
        self.upstream = upstream
        self.tls = tls
        #: The connections, in the order in which they became idle.
        self._idle: dict[C, None] = {}
        self._closed = False

    def take(self) -> C | None:
        """Remove and return the most recently used connection, or `None` if the pool is empty."""
        return self._idle.popitem()[0] if self._idle else None

    def put(self, connection: C, now: float) -> None:
        """Add a connection, or close it if it is lost or not reusable, or if the pool is full or closed."""
        if not connection.reusable or connection.lost or self._closed or len(self._idle) >= _MAX_IDLE:
            connection.abort()
            return
        connection.idle_since = now
        self._idle[connection] = None

    def discard(self, connection: C) -> None:
        """Remove a connection that is lost or closed."""
        self._idle.pop(connection, None)

    def sweep(self, now: float) -> None:
        """Close connections that have been idle for too long."""
        for connection in [
            connection for connection in self._idle if now - connection.idle_since > connection.idle_seconds
        ]:
            connection.abort()

    def close(self) -> None:
        """Close all connections, and every connection that is added later."""
        self._closed = True
        while self._idle:
            self._idle.popitem()[0].abort()
