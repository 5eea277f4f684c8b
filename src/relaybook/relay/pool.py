"""Idle connections to one provider: last in, first out, closed before the provider would."""

import ssl
from collections import deque
from typing import TYPE_CHECKING

from relaybook.relay.routes import Origin

if TYPE_CHECKING:
    from relaybook.relay.relay import Relay
    from relaybook.relay.upstream import Upstream

_MOST_IDLE = 1024


class Pool:
    """Connections to ``origin``. A connection in it has no exchange and nothing unread."""

    def __init__(self, relay: "Relay", origin: Origin, tls: ssl.SSLContext | None) -> None:
        self.origin = origin
        self.tls = tls
        self._relay = relay
        self._idle: deque[Upstream] = deque()

    def take(self) -> "Upstream | None":
        """The connection used last, or None."""
        return self._idle.pop() if self._idle else None

    def put(self, up: "Upstream") -> None:
        """Keeps a connection for the next exchange."""
        if up.lost or self._relay.draining or len(self._idle) >= _MOST_IDLE:
            up.abort()
            return
        up.idle_since = self._relay.now
        self._idle.append(up)

    def discard(self, up: "Upstream") -> None:
        """Forgets a connection that is lost."""
        if up.exchange is None and up in self._idle:
            self._idle.remove(up)

    def sweep(self, now: float) -> None:
        """Closes what has been idle too long."""
        for up in [up for up in self._idle if now - up.idle_since > up.idle_seconds]:
            up.abort()

    def close(self) -> None:
        """Closes all that is idle."""
        while self._idle:
            self._idle.pop().abort()
