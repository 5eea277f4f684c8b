"""Run the API under uvicorn, on sockets that the caller has bound."""

import asyncio
import contextlib
import socket
from collections.abc import Iterator
from typing import Final

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from relaybook.api.app import DashboardApi

#: Time limit for running responses when the server stops.
DRAIN_SECONDS = 5
#: Interval of the checks whether a client makes progress.
CHECK_SECONDS: Final = 60.0
#: A connection is closed if this many checks find no progress while a response is being sent. The number is high,
#: because people read an export in a pager.
_CHECKS_OF_RESPONSE: Final = 15


class _Connection(H11Protocol):
    """A connection that is closed if its client does not complete a request head, or does not read the response.

    uvicorn has no time limits for these clients. Without limits, a client without a token could open the maximum number
    of connections, and all other clients would get 503.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._times_drained = self._checks_without_progress = 0
        self._progress = self._client_progress()
        self._check = self.loop.call_later(CHECK_SECONDS, self._check_client)

    def connection_lost(self, exc: Exception | None) -> None:
        self._check.cancel()
        super().connection_lost(exc)

    def resume_writing(self) -> None:
        self._times_drained += 1
        super().resume_writing()

    def _check_client(self) -> None:
        before, self._progress = self._progress, self._client_progress()
        self._checks_without_progress = self._checks_without_progress + 1 if before == self._progress else 0
        if self._checks_without_progress >= (_CHECKS_OF_RESPONSE if self._is_responding else 1):
            self.transport.abort()
        else:
            self._check = self.loop.call_later(CHECK_SECONDS, self._check_client)

    @property
    def _is_responding(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _client_progress(self) -> object:
        """Return a value that changes when a request head is complete, or when the client accepts written bytes.

        If the client waits for the server, each call returns a different value.
        """
        waiting_bytes = self.transport.get_write_buffer_size()
        if self._is_responding and not waiting_bytes:
            return object()
        return self.cycle, self._times_drained, waiting_bytes


class DashboardServer(uvicorn.Server):
    """A uvicorn server without proxy headers and websockets, and with a limited header size.

    ``serve(sockets=[…])`` runs the server, and ``should_exit = True`` stops it. The caller handles signals.
    """

    def __init__(self, app: DashboardApi, max_connections: int = 1000) -> None:
        self._broadcaster = app.state.broadcaster
        super().__init__(
            uvicorn.Config(
                app,
                http=_Connection,
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
