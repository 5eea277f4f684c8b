"""Runs the API under uvicorn, on sockets its caller bound."""

import contextlib
import socket
from collections.abc import Iterator

import uvicorn

from relaybook.api.app import DashboardApi

#: How long running answers may take once the server is told to stop.
DRAIN_SECONDS = 5


class DashboardServer(uvicorn.Server):
    """uvicorn set up for a listener that people reach directly: no proxy headers, no websockets, bounded heads.

    ``serve(sockets=[…])`` runs it; ``should_exit = True`` stops it. Signals are left to the caller's process.
    """

    def __init__(self, app: DashboardApi, max_connections: int = 1000) -> None:
        self._broadcaster = app.state.broadcaster
        super().__init__(
            uvicorn.Config(
                app,
                http="h11",
                ws="none",
                lifespan="off",
                proxy_headers=False,
                server_header=False,
                access_log=False,
                log_config=None,
                limit_concurrency=max_connections,
                timeout_graceful_shutdown=DRAIN_SECONDS,
                h11_max_incomplete_event_size=64 * 1024,
            )
        )

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Captures none."""
        yield

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Ends live connections first, which otherwise would last for ever, then as uvicorn does."""
        self._broadcaster.close()
        await super().shutdown(sockets)
