"""The relay of one worker. It assigns upstream connections and enforces timeouts.

``worker`` handles the listening socket and signals.
"""

import asyncio
import logging
import ssl
from collections.abc import Iterator
from typing import Final

from relaybook import clock
from relaybook.errors import RelayError
from relaybook.journal.events import RefusalCounts, encode_event
from relaybook.journal.frame import NO_EXCHANGE, FrameKind
from relaybook.journal.writer import JournalUnavailable, JournalWriter
from relaybook.relay.client_connection import ClientConnection
from relaybook.relay.context import RelayContext
from relaybook.relay.dial import dial
from relaybook.relay.exchange import Exchange, RequestState, ResponseState
from relaybook.relay.peers import Dial
from relaybook.relay.pool import Pool
from relaybook.relay.upstream import UpstreamConnection
from relaybook.settings.definitions import Settings
from relaybook.system import disk

log = logging.getLogger("relaybook.relay")

#: Number of connections per step of a sweep. A step takes about 0.2 ms.
_SWEEP_BATCH: Final = 256


class Relay(RelayContext):
    """Assigns upstream connections to the exchanges of one worker, enforces timeouts and checks the log."""

    def __init__(
        self,
        settings: Settings,
        journal: JournalWriter,
        secret: bytes,
        loop: asyncio.AbstractEventLoop,
        *,
        base_url: str,
        dashboard_url: str,
    ) -> None:
        super().__init__(settings, journal, secret, loop, base_url=base_url, dashboard_url=dashboard_url)
        self._loop = loop
        self._pool: Pool[UpstreamConnection] = Pool(
            self.route.upstream, self._tls() if self.route.upstream.tls else None
        )
        self._next_check = 0.0

    def _tls(self) -> ssl.SSLContext:
        file = self.settings.upstream_ca_file
        context = ssl.create_default_context(cafile=str(file) if file else None)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        return context

    def accept(self) -> ClientConnection:
        """Return the protocol object for a new client connection."""
        return ClientConnection(self)

    def connect(self, exchange: Exchange) -> Dial | None:
        upstream = self._pool.take()
        if upstream is None:
            return self.dial(exchange)
        upstream.assign(exchange)
        return None

    def dial(self, exchange: Exchange) -> Dial:
        return self._loop.create_task(dial(self, self._pool, exchange))

    # -- state of the log ------------------------------------------------------------------------------------------

    def log_failed(self, error: JournalUnavailable) -> bool:
        """Handle the loss of a journal batch. The log of each running exchange may now be incomplete.

        With ``when_log_fails = forward``, continue all exchanges unlogged and send the bytes of the batch. Otherwise,
        cut all exchanges and do not send the bytes. Return whether the bytes are sent.
        """
        log.error("journal_failed", extra={"reason": str(error)})
        self.log_problem = "Requests cannot be logged. See the operator's log for the reason."
        if self.settings.when_log_fails == "forward":
            self._continue_unlogged(error, self.log_problem)
            return True
        if error.opened:
            self.count_refused(RelayError.LOG_UNAVAILABLE, len(error.opened))
        for exchange in list(self.exchanges.values()):
            exchange.abandon()
        for connection in list(self.connections):
            connection.abandon()
        return False

    def _continue_unlogged(self, error: JournalUnavailable, problem: str) -> None:
        if error.opened:
            self.count_unlogged(len(error.opened))
        for exchange in self.exchanges.values():
            if exchange.id in error.opened:
                exchange.forward_without_record(problem)
            elif exchange.stop_logging():
                self._journal.add_lost_end(exchange.id)

    def _write_refusal_counts(self) -> None:
        # wait until a spare segment is ready, except while draining: then there is no later chance
        if self.counts_since_ns and (self._journal.spare_ready or self.draining):
            counts = RefusalCounts(self.counts_since_ns, clock.wall_ns(), dict(self.refused), self.unlogged)
            self.gate.frame(FrameKind.COUNTED, NO_EXCHANGE, encode_event(counts))
            self.refused.clear()
            self.unlogged = 0
            self.counts_since_ns = 0

    def check_log(self) -> None:
        """Check whether the log can take new requests, and set ``log_problem``.

        The sweep calls this method about once a second.
        """
        settings = self.settings
        problem = None
        if spare_error := self._journal.mend():
            problem = f"no journal segment can be created: {spare_error}. Check the disk and its permissions"
        directory = self._journal.path.parent
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
        if problem and self.log_problem is None:
            log.error("log_unavailable", extra={"reason": problem})
        self.log_problem = f"The log cannot take new requests: {problem}." if problem else None

    def sweep(self) -> Iterator[None]:
        """Enforce timeouts, clean up the pool and check the log. A sweep starts a few times a second and runs in steps.

        The sweep yields after each step, so that the event loop can serve connections. A sweep over ten thousand idle
        connections takes several milliseconds (benchmarks/parts/idle.py).
        """
        self.now = now = self._loop.time()
        for index, connection in enumerate(list(self.connections), 1):
            if not connection.lost:
                connection.sweep(now)
            if not index % _SWEEP_BATCH:
                yield
        for exchange in list(self.exchanges.values()):
            self._sweep_exchange(exchange, now)
        self._pool.sweep(now)
        if now >= self._next_check:
            self._next_check = now + 1.0
            self.check_log()
            self._write_refusal_counts()
            self.gate.tick()

    def _sweep_exchange(self, exchange: Exchange, now: float) -> None:
        upstream, settings = exchange.upstream, self.settings
        if upstream is None:
            return
        if exchange.response_state == ResponseState.WAITING:
            if upstream.stalled(now, settings.idle_timeout):
                seconds = settings.idle_timeout
                message = f"The upstream accepted no bytes of the request for {seconds:g} s (setting idle_timeout)."
                exchange.fail(RelayError.UPSTREAM_TIMEOUT, message)
            elif (
                exchange.request_state == RequestState.SENT and now - exchange.waiting_since > settings.upstream_timeout
            ):
                seconds = settings.upstream_timeout
                message = f"The upstream sent no response within {seconds:g} s (setting upstream_timeout)."
                exchange.fail(RelayError.UPSTREAM_TIMEOUT, message)
        elif not upstream.reading:
            upstream.last_received_at = now  # reading is paused because the client is slow
        elif now - upstream.last_received_at > settings.idle_timeout:
            seconds = settings.idle_timeout
            message = (
                f"The upstream sent nothing for {seconds:g} s in the middle of its response (setting idle_timeout)."
            )
            exchange.fail(RelayError.UPSTREAM_TIMEOUT, message)

    # -- stopping --------------------------------------------------------------------------------------------------

    async def retire(self, seconds: float) -> None:
        """Wait up to ``seconds`` until all connections are closed and all exchanges have ended.

        Each connection is closed after one more response, or when it is idle for too long. No stream is cut and no
        request is refused. Other workers accept new connections. An exchange without a client may still be running,
        because its response is read for the log.
        """
        self.retiring = True
        deadline = self._loop.time() + seconds
        while (self.connections or self.exchanges) and self._loop.time() < deadline:
            await asyncio.sleep(0.1)

    async def drain(self, seconds: float) -> None:
        """Wait up to ``seconds`` for running exchanges, then interrupt the remaining exchanges.

        Meanwhile, new requests are refused. This method also waits for clients that are still sending the rest of a
        refused request. If their connections were closed at once, a reset could destroy the responses.
        """
        self.draining = self.retiring = True
        for connection in list(self.connections):
            connection.drain()
        deadline = self._loop.time() + seconds
        while (self.exchanges or self._has_lingering()) and self._loop.time() < deadline:
            await asyncio.sleep(0.02)
        for exchange in list(self.exchanges.values()):
            exchange.interrupt()
        self._write_refusal_counts()
        await asyncio.sleep(0)
        self.gate.close()
        await asyncio.sleep(0.05)
        self._pool.close()
        for connection in list(self.connections):
            connection.close()
        await asyncio.sleep(0)

    def _has_lingering(self) -> bool:
        return any(connection.lingering >= 0 for connection in self.connections)
