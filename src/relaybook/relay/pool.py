"""Idle connections to one provider: last in, first out, closed before the provider would."""

import ssl
from collections import deque
from typing import Final, Generic, Protocol, TypeVar

from relaybook.relay.routes import Origin

_MOST_IDLE: Final = 1024


class Pooled(Protocol):
    """A connection that can wait for its next exchange."""

    lost: bool
    idle_since: float
    idle_seconds: float

    def abort(self) -> None:
        """Closes at once."""


C = TypeVar("C", bound=Pooled)


class Pool(Generic[C]):
    """Connections to ``origin``. A connection in it has no exchange and nothing unread."""

    def __init__(self, origin: Origin, tls: ssl.SSLContext | None) -> None:
        self.origin = origin
        self.tls = tls
        self._idle: deque[C] = deque()
        self._closed = False

    def take(self) -> C | None:
        """The connection used last, or None."""
        return self._idle.pop() if self._idle else None

    def put(self, up: C, now: float) -> None:
        """Keeps a connection for the next exchange, or closes it where there is no use for it."""
        if up.lost or self._closed or len(self._idle) >= _MOST_IDLE:
            up.abort()
            return
        up.idle_since = now
        self._idle.append(up)

    def discard(self, up: C) -> None:
        """Forgets a connection that is lost."""
        if up in self._idle:
            self._idle.remove(up)

    def sweep(self, now: float) -> None:
        """Closes what has been idle too long."""
        for up in [up for up in self._idle if now - up.idle_since > up.idle_seconds]:
            up.abort()

    def close(self) -> None:
        """Closes all that is idle, and from now on whatever is put."""
        self._closed = True
        while self._idle:
            self._idle.pop().abort()
