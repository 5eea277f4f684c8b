"""Keep idle connections to one upstream, and reuse them: last in, first out.

Only reusable connections are pooled (see ``Pooled.reusable``). The pool closes an idle connection before the upstream
would close it.
"""

import ssl
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

from relaybook.relay.peers import Dial
from relaybook.relay.proxy import Proxy
from relaybook.relay.resolver import Resolver

_MAX_IDLE: Final = 1024


class Pooled(Protocol):
    """A connection that can be pooled."""

    #: Whether another request may be sent on the connection. For this, the request and the response must be complete.
    #: No bytes may be left in either direction, and the connection must stay open after the response.
    reusable: bool
    lost: bool
    idle_since: float
    idle_seconds: float

    def assign(self, exchange: Any) -> None:
        """Assign the connection to an exchange, which sends its queued request bytes on the connection."""

    def abort(self) -> None:
        """Close the connection now."""


@dataclass(frozen=True)
class UpstreamUrl:
    """The parsed base URL of an upstream."""

    url: str
    host: str
    port: int
    tls: bool
    path: bytes
    host_line: bytes

    @classmethod
    def parse(cls, url: str) -> "UpstreamUrl":
        """Parse a base URL that ``check_base_url`` has accepted."""
        parts = urlsplit(url)
        tls = parts.scheme == "https"
        host = parts.hostname or ""
        port = parts.port or (443 if tls else 80)
        shown = f"[{host}]" if ":" in host else host
        if parts.port is not None:
            shown += f":{parts.port}"
        return cls(url, host, port, tls, parts.path.rstrip("/").encode(), b"Host: " + shown.encode())


class IdleConnections:
    """The idle connections of all pools of a worker, in the order in which they became idle.

    Idle connections and the connections that are in use (``in_use``) together are at most ``limit``, because each needs
    a file descriptor. If there are more, those that have been idle longest are closed.
    """

    def __init__(self, limit: int, in_use: Callable[[], int]) -> None:
        self._limit = limit
        self._in_use = in_use
        self._connections: dict[Pooled, None] = {}

    def add(self, connection: Pooled) -> None:
        """Add a connection that became idle."""
        self._connections[connection] = None

    def remove(self, connection: Pooled) -> None:
        """Remove a connection that is in use, lost or closed."""
        self._connections.pop(connection, None)

    def make_room(self) -> None:
        """Close idle connections until another connection can be dialed, if that is possible."""
        while self._connections and len(self._connections) + self._in_use() > self._limit:
            connection = next(iter(self._connections))
            self.remove(connection)
            connection.abort()


class Pool:
    """The connections to ``upstream``. An idle connection has no exchange and no unread bytes.

    The pool passes exchanges on to its connections, and does not use them.
    """

    def __init__(
        self,
        upstream: UpstreamUrl,
        tls: ssl.SSLContext | None,
        *,
        proxy: Proxy | None = None,
        all_idle: IdleConnections,
        connect_timeout: float,
        idle_seconds: float,
        dial: "Callable[[Pool, Any], Dial | None]",
    ) -> None:
        """``dial`` starts to dial a new connection for an exchange. ``all_idle`` is shared by the pools of a worker.

        A connection is closed after it was idle for ``idle_seconds``, or earlier if the upstream announced that.
        """
        self.upstream = upstream
        self.tls = tls
        self.proxy = proxy
        self.connect_timeout = connect_timeout
        self.idle_seconds = idle_seconds
        first_hop = proxy or upstream
        self.resolver = Resolver(first_hop.host, first_hop.port)
        self._dial = dial
        self._all_idle = all_idle
        #: The connections, in the order in which they became idle.
        self._idle: dict[Pooled, None] = {}
        self._closed = False

    def connect(self, exchange: Any) -> Dial | None:
        """Assign an idle connection to the exchange and return `None`.

        If no connection is idle, dial a new connection and return the ``Dial``.
        """
        connection = self.take()
        if connection is None:
            return self.dial(exchange)
        connection.assign(exchange)
        return None

    def dial(self, exchange: Any) -> Dial | None:
        """Start dialing a new connection for an exchange."""
        self._all_idle.make_room()
        return self._dial(self, exchange)

    def take(self) -> Pooled | None:
        """Remove and return the most recently used connection, or `None` if the pool is empty."""
        if not self._idle:
            return None
        connection = self._idle.popitem()[0]
        self._all_idle.remove(connection)
        return connection

    def put(self, connection: Pooled, now: float) -> None:
        """Add a connection, or close it if it is lost or not reusable, or if the pool is full or closed."""
        if not connection.reusable or connection.lost or self._closed or len(self._idle) >= _MAX_IDLE:
            connection.abort()
            return
        connection.idle_since = now
        self._idle[connection] = None
        self._all_idle.add(connection)

    def discard(self, connection: Pooled) -> None:
        """Remove a connection that is lost or closed."""
        self._idle.pop(connection, None)
        self._all_idle.remove(connection)

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
