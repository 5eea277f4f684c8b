"""The relay of one worker. It accepts connections, enforces timeouts and checks the log.

``worker`` handles the listening socket and signals.
"""

import asyncio
import logging
from collections.abc import Iterator
from typing import Final

from relaybook.relay.client_connection import ClientConnection
from relaybook.relay.context import RelayContext
from relaybook.system import disk

log = logging.getLogger("relaybook.relay")

#: Number of connections per step of a sweep. A step takes about 0.2 ms.
_SWEEP_BATCH: Final = 256


class Relay:
    """Accepts connections, enforces timeouts, checks the log, and stops. ``context`` has the state of the worker."""

    def __init__(self, context: RelayContext, loop: asyncio.AbstractEventLoop) -> None:
        self._context = context
        self._loop = loop
        self._next_check = 0.0

    @property
    def is_idle(self) -> bool:
        """Whether no client is connected."""
        return not self._context.connections

    def accept(self) -> ClientConnection:
        """Return the protocol object for a new client connection."""
        return ClientConnection(self._context)

    def check_log(self) -> None:
        """Check whether the log can take new requests, and set ``log_problem``.

        The sweep calls this method about once a second.
        """
        settings, journal = self._context.settings, self._context.journal
        problem = None
        if spare_error := journal.mend():
            problem = f"no journal segment can be created: {spare_error}. Check the disk and its permissions"
        directory = journal.path.parent
        try:
            free = disk.free_bytes(directory)
        except OSError as error:
            problem = f"the journal directory {directory} cannot be read: {error.strerror}. Check the disk"
        else:
            if free < settings.min_free:
                problem = (
                    f"{free} bytes are free on the disk, which is less than min_free = {settings.min_free}. Free some "
                    "disk space"
                )
            elif (journal_bytes := disk.bytes_below(directory)) > settings.max_journal:
                problem = (
                    f"the journal takes {journal_bytes} bytes, which is more than max_journal = {settings.max_journal}"
                    ". The recorder must catch up first"
                )
        if problem and self._context.log_problem is None:
            log.error("log_unavailable", extra={"reason": problem})
        self._context.log_problem = f"The log cannot take new requests: {problem}." if problem else None

    def sweep(self) -> Iterator[None]:
        """Enforce timeouts, clean up the pool and check the log. A sweep starts a few times a second and runs in steps.

        The sweep yields after each step, so that the event loop can serve connections. A sweep over ten thousand idle
        connections takes several milliseconds (benchmarks/parts/idle.py).
        """
        context = self._context
        context.now = now = self._loop.time()
        for index, connection in enumerate(list(context.connections), 1):
            if not connection.lost:
                connection.sweep(now)
            if not index % _SWEEP_BATCH:
                yield
        for exchange in list(context.exchanges.values()):
            exchange.sweep(now)
        for route in context.routes.all:
            route.pool.sweep(now)
        if now >= self._next_check:
            self._next_check = now + 1.0
            self.check_log()
            context.write_refusal_counts()
            context.gate.tick()

    # -- stopping --------------------------------------------------------------------------------------------------

    async def retire(self, seconds: float) -> None:
        """Wait up to ``seconds`` until all connections are closed and all exchanges have ended.

        Each connection is closed after one more response, or when it is idle for too long. No stream is cut and no
        request is refused. Other workers accept new connections. An exchange without a client may still be running,
        because its response is read for the log.
        """
        context = self._context
        context.retiring = True
        deadline = self._loop.time() + seconds
        while (context.connections or context.exchanges) and self._loop.time() < deadline:
            await asyncio.sleep(0.1)

    async def drain(self, seconds: float) -> None:
        """Wait up to ``seconds`` for running exchanges, then interrupt the remaining exchanges.

        Meanwhile, new requests are refused. This method also waits for clients that are still sending the rest of a
        refused request, or have not received the rest of a cut response. If their connections were closed at once, a
        reset could destroy the responses.
        """
        context = self._context
        context.draining = context.retiring = True
        for connection in list(context.connections):
            connection.drain()
        deadline = self._loop.time() + seconds
        while (context.exchanges or self._has_lingering()) and self._loop.time() < deadline:
            await asyncio.sleep(0.02)
        for exchange in list(context.exchanges.values()):
            exchange.interrupt()
        context.write_refusal_counts()
        await asyncio.sleep(0)
        context.gate.close()
        await asyncio.sleep(0.05)
        for route in context.routes.all:
            route.pool.close()
        for connection in list(context.connections):
            connection.close()
        await asyncio.sleep(0)

    def _has_lingering(self) -> bool:
        return any(connection.is_ending for connection in self._context.connections)
