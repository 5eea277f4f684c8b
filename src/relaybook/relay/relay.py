"""One worker's relay: gives exchanges their connections, and does what happens a few times a second.

Opens no listening socket and handles no signal: that is the worker's.
"""

import asyncio
import logging
import ssl
from collections.abc import Iterator
from typing import Final

from relaybook import clock
from relaybook.errors import RelayError
from relaybook.journal import disk
from relaybook.journal.events import Noted, encode_event
from relaybook.journal.frame import NO_EXCHANGE, Kind
from relaybook.journal.writer import JournalUnavailable, JournalWriter
from relaybook.relay import endings
from relaybook.relay.dial import dial
from relaybook.relay.downstream import Downstream
from relaybook.relay.exchange import Answer, Exchange
from relaybook.relay.pool import Pool
from relaybook.relay.shared import Shared
from relaybook.relay.upstream import Upstream
from relaybook.settings.definitions import Settings

log = logging.getLogger("relaybook.relay")

#: Connections that are looked at in one go: some 0.2 ms.
_SLICE: Final = 256


class Relay(Shared):
    """See the module."""

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
        self._pool: Pool[Upstream] = Pool(self.route.upstream, self._tls() if self.route.upstream.tls else None)
        self._next_check = 0.0

    def _tls(self) -> ssl.SSLContext:
        file = self.settings.upstream_ca_file
        context = ssl.create_default_context(cafile=str(file) if file else None)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        return context

    def accept(self) -> Downstream:
        """The protocol of a caller's new connection."""
        return Downstream(self)

    def connect(self, exchange: Exchange) -> None:
        up = self._pool.take()
        if up is None:
            self.dial(exchange)
        else:
            up.take_on(exchange)

    def dial(self, exchange: Exchange) -> None:
        exchange.dial = self._loop.create_task(dial(self, self._pool, exchange))

    # -- the log's state -------------------------------------------------------------------------------------------

    def log_failed(self, error: JournalUnavailable) -> bool:
        """A batch was lost, so that the log of every exchange that runs may have a hole.

        They are cut and nothing of the batch goes out, or they go on unlogged, by the operator's choice.
        """
        log.error("journal_failed", extra={"reason": str(error)})
        self.log_trouble = "The log cannot be written now: see the operator's log."
        if self.settings.when_log_fails == "forward":
            self._go_on_unlogged(error)
            return True
        if error.opened:
            self.count_refused(RelayError.LOG_UNAVAILABLE, len(error.opened))
        for exchange in list(self.exchanges.values()):
            endings.abandon(exchange)
        for connection in list(self.connections):
            connection.abandon()
        return False

    def _go_on_unlogged(self, error: JournalUnavailable) -> None:
        if error.opened:
            self.count_unlogged(len(error.opened))
        for exchange in self.exchanges.values():
            if exchange.stop_logging():
                self._journal.owe_end(exchange.id)

    def _note_counts(self) -> None:
        if self.counted_from_ns and (self.log_trouble is None or self.draining):  # the last moment to tell of it
            noted = Noted(self.counted_from_ns, clock.wall_ns(), dict(self.refused), self.unlogged)
            self.gate.frame(Kind.NOTED, NO_EXCHANGE, encode_event(noted))
            self.refused.clear()
            self.unlogged = 0
            self.counted_from_ns = 0

    def check_log(self) -> None:
        """About once a second: may new requests be admitted?"""
        settings = self.settings
        trouble = None
        if failed := self._journal.mend():
            trouble = f"no journal segment can be made: {failed}"
        directory = self._journal.path.parent
        try:
            free = disk.free_bytes(directory)
        except OSError as error:
            trouble = f"the journal's directory {directory} cannot be looked at: {error.strerror}"
        else:
            if free < settings.min_free:
                trouble = f"{free} bytes are free on the disk, fewer than min_free, {settings.min_free}"
            elif (used := disk.bytes_below(directory)) > settings.max_journal:
                trouble = (
                    f"{used} bytes of the journal wait to be recorded, more than max_journal, {settings.max_journal}"
                )
        if trouble and self.log_trouble is None:
            log.error("log_unavailable", extra={"reason": trouble})
        self.log_trouble = f"The log cannot take requests now: {trouble}." if trouble else None

    def sweep(self) -> Iterator[None]:
        """A few times a second: timeouts, the pool, the journal's own clockwork. Goes on only when it is asked to.

        Between two slices the loop serves those who have something to say: ten thousand idle connections are several
        milliseconds (benchmarks/parts/idle.py).
        """
        self.now = now = self._loop.time()
        for place, connection in enumerate(list(self.connections), 1):
            if not connection.lost:
                connection.sweep(now)
            if not place % _SLICE:
                yield
        for exchange in list(self.exchanges.values()):
            self._sweep_exchange(exchange, now)
        self._pool.sweep(now)
        if now >= self._next_check:
            self._next_check = now + 1.0
            self.check_log()
            self._note_counts()
            self.gate.tick()

    def _sweep_exchange(self, exchange: Exchange, now: float) -> None:
        up, settings = exchange.up, self.settings
        if up is None:
            return
        if up.stalled(now, settings.idle_timeout):
            seconds = settings.idle_timeout
            message = f"The provider took nothing of the request for {seconds:g} s (setting idle_timeout)."
            endings.fail(exchange, RelayError.UPSTREAM_TIMEOUT, message)
            return
        if exchange.answer == Answer.WAITING:
            if exchange.request_complete and now - exchange.waiting_since > settings.upstream_timeout:
                seconds = settings.upstream_timeout
                message = f"The provider sent no answer within {seconds:g} s (setting upstream_timeout)."
                endings.fail(exchange, RelayError.UPSTREAM_TIMEOUT, message)
        elif not up.reading:
            up.heard = now  # it may say nothing while the caller takes nothing
        elif now - up.heard > settings.idle_timeout:
            seconds = settings.idle_timeout
            message = f"The provider sent nothing for {seconds:g} s in the middle of its answer (setting idle_timeout)."
            endings.fail(exchange, RelayError.UPSTREAM_TIMEOUT, message)

    # -- stopping --------------------------------------------------------------------------------------------------

    async def retire(self, seconds: float) -> None:
        """Serves the connections there are until each has had one more answer, or was idle for too long to get one.

        Others take the new connections, so no caller is refused and no stream is cut. Ends after ``seconds`` at last.
        """
        self.leaving = True
        until = self._loop.time() + seconds
        while self.connections and self._loop.time() < until:
            await asyncio.sleep(0.1)

    async def drain(self, seconds: float) -> None:
        """Lets running exchanges finish, then interrupts the rest. New requests are refused meanwhile."""
        self.draining = self.leaving = True
        for connection in list(self.connections):
            connection.drain()
        until = self._loop.time() + seconds
        while self.exchanges and self._loop.time() < until:
            await asyncio.sleep(0.02)
        for exchange in list(self.exchanges.values()):
            endings.interrupt(exchange)
        self._note_counts()
        await asyncio.sleep(0)
        self.gate.close()
        await asyncio.sleep(0.05)
        self._pool.close()
        for connection in list(self.connections):
            connection.close()
        await asyncio.sleep(0)
