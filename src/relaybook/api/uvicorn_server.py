"""Run the API under uvicorn, on sockets that the caller has bound."""

import contextlib
import socket
from collections.abc import Iterator

import uvicorn

from relaybook.api.app import DashboardApi

#: Time limit for running responses when the server stops.
DRAIN_SECONDS = 5


class DashboardServer(uvicorn.Server):
    """A uvicorn server without proxy headers and websockets, and with a limited header size.

    ``serve(sockets=[…])`` runs the server, and ``should_exit = True`` stops it. The caller handles signals.
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
        """Install no signal handlers, because the caller handles signals."""
        yield

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the responses of `/api/live`, which do not end by themselves, then shut down as uvicorn does."""
        self._broadcaster.close()
        await super().shutdown(sockets)
