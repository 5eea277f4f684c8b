"""One worker's relay: what its connections share, and what happens a few times a second.

Holds the exchanges that run, the pool, the gate, the counts of what was refused, and the relay's state (ready, cannot
log, draining). Opens no listening socket and handles no signal: that is the worker's.
"""

import asyncio
import logging
import ssl
from collections import Counter

from relaybook import clock
from relaybook.errors import RelayError
from relaybook.journal import disk
from relaybook.journal.events import Noted, encode_event
from relaybook.journal.frame import NO_EXCHANGE, Kind
from relaybook.journal.writer import JournalUnavailable, JournalWriter
from relaybook.relay import front
from relaybook.relay.answer_head import AnswerHeadReader
from relaybook.relay.downstream import Downstream
from relaybook.relay.exchange import Answer, Exchange
from relaybook.relay.fingerprints import Fingerprints
from relaybook.relay.gate import Gate
from relaybook.relay.pool import Pool
from relaybook.relay.request_head import RequestHeadReader
from relaybook.relay.routes import Origin, Route
from relaybook.relay.upstream import dial
from relaybook.settings import Settings, is_loopback, split_address
from relaybook.tags import TagReader

log = logging.getLogger("relaybook.relay")


class Relay:
    """See the module. ``now`` is the loop's time as of the last sweep: exact enough for timeouts of seconds."""

    def __init__(
        self,
        settings: Settings,
        journal: JournalWriter,
        secret: bytes,
        *,
        base_url: str,
        dashboard_url: str,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self.settings = settings
        self.journal = journal
        self.base_url = base_url
        self.dashboard_url = dashboard_url
        self.fingerprints = Fingerprints(secret)
        self.prefix = settings.header_prefix[0]
        tags = TagReader(settings.header_prefix, settings.default_namespace, settings.log)
        self.request_heads = RequestHeadReader(tags.is_tag, self.fingerprints)
        self.answer_heads = AnswerHeadReader(settings.header_prefix, self.fingerprints)
        origin = Origin.parse(settings.upstream)
        self._route = Route("default", b"/v1", origin, tags)
        self._pool = Pool(self, origin, self._tls() if origin.tls else None)
        self.gate = Gate(loop, journal, durable=settings.durable, on_failure=self._log_failed)
        self.loopback_only = is_loopback(split_address(settings.listen, "listen")[0])
        self.host_names = front.host_names(settings.hosts)
        self.connections: set[Downstream] = set()
        self.exchanges: dict[bytes, Exchange] = {}
        self.draining = False
        #: Why nothing can be logged now, as a caller is told; None while all is well.
        self.log_trouble: str | None = None
        self._loop = loop
        self.now = loop.time()
        self._refused: Counter[str] = Counter()
        self._unlogged = 0
        self._counted_from_ns = 0
        self._next_check = 0.0

    def _tls(self) -> ssl.SSLContext:
        file = self.settings.upstream_ca_file
        context = ssl.create_default_context(cafile=str(file) if file else None)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        return context

    # -- what exchanges ask ----------------------------------------------------------------------------------------

    def route_of(self, target: bytes) -> Route | None:
        """The route a target is under."""
        return self._route if self._route.has(target) else None

    def connect(self, exchange: Exchange) -> None:
        """Gives an exchange an idle connection, or begins to make one."""
        up = self._pool.take()
        if up is None:
            self.dial(exchange)
        else:
            exchange.connected(up)

    def dial(self, exchange: Exchange) -> None:
        """Begins to make a connection for an exchange."""
        exchange.dial = self._loop.create_task(dial(self, self._pool, exchange))

    def ended(self, exchange: Exchange) -> None:
        """An exchange has closed."""
        self.exchanges.pop(exchange.id, None)

    def log_url(self, record_id: str) -> str | None:
        """Where a person finds the record, when the dashboard has an outside address."""
        outside = self.settings.dashboard_url
        return f"{outside.rstrip('/')}/requests/{record_id}" if outside else None

    # -- what was not admitted -------------------------------------------------------------------------------------

    def count_refused(self, error: RelayError) -> None:
        """One more request that was answered without a record."""
        self._counted_from_ns = self._counted_from_ns or clock.wall_ns()
        self._refused[error.code] += 1

    def count_unlogged(self) -> None:
        """One more request that is relayed without a record, by the operator's choice."""
        self._counted_from_ns = self._counted_from_ns or clock.wall_ns()
        self._unlogged += 1

    def _note_counts(self) -> None:
        if self._counted_from_ns and self.log_trouble is None:
            noted = Noted(self._counted_from_ns, clock.wall_ns(), dict(self._refused), self._unlogged)
            self.gate.frame(Kind.NOTED, NO_EXCHANGE, encode_event(noted))
            self._refused.clear()
            self._unlogged = 0
            self._counted_from_ns = 0

    # -- state -----------------------------------------------------------------------------------------------------

    def not_ready(self) -> str | None:
        """Why no new request should be sent here; None when all is well."""
        if self.draining:
            return "stopping"
        return self.log_trouble if self.settings.when_log_fails == "refuse" else None

    def _log_failed(self, error: JournalUnavailable) -> None:
        """A batch was lost: nothing of it goes out, and every exchange that runs is cut, for its log has a hole."""
        log.error("journal_failed", extra={"reason": str(error)})
        self.log_trouble = "The log cannot be written now, so nothing is relayed: see the operator's log. Try again."
        for exchange in list(self.exchanges.values()):
            exchange.abandon()

    def check_log(self) -> None:
        """About once a second: may new requests be admitted?"""
        settings = self.settings
        trouble = None
        if not self.journal.mend():
            trouble = "no journal segment can be made on the disk"
        free = disk.free_bytes(self.journal.path)
        if free < settings.min_free:
            trouble = f"{free} bytes are free on the disk, fewer than min_free, {settings.min_free}"
        elif (used := disk.bytes_below(self.journal.path.parent)) > settings.max_journal:
            trouble = f"{used} bytes of the journal wait to be recorded, more than max_journal, {settings.max_journal}"
        if trouble and self.log_trouble is None:
            log.error("log_unavailable", extra={"reason": trouble})
        self.log_trouble = f"The log cannot take requests now: {trouble}. Try again." if trouble else None

    def sweep(self) -> None:
        """A few times a second: timeouts, the pool, the journal's own clockwork."""
        self.now = now = self._loop.time()
        for connection in list(self.connections):
            connection.sweep(now)
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
        if exchange.answer == Answer.WAITING:
            if exchange.request_complete and now - exchange.waiting_since > settings.upstream_timeout:
                seconds = settings.upstream_timeout
                message = f"The provider sent no answer within {seconds:g} s (setting upstream_timeout)."
                exchange.fail(RelayError.UPSTREAM_TIMEOUT, message)
        elif up.reading and now - up.heard > settings.idle_timeout:
            seconds = settings.idle_timeout
            message = f"The provider sent nothing for {seconds:g} s in the middle of its answer (setting idle_timeout)."
            exchange.fail(RelayError.UPSTREAM_TIMEOUT, message)

    # -- stopping --------------------------------------------------------------------------------------------------

    async def drain(self, seconds: float) -> None:
        """Lets running exchanges finish, then interrupts the rest. New requests are refused meanwhile."""
        self.draining = True
        for connection in list(self.connections):
            if connection.exchange is None and not connection.partial:
                connection.close_gently(linger=False)
        until = self._loop.time() + seconds
        while self.exchanges and self._loop.time() < until:
            await asyncio.sleep(0.02)
        for exchange in list(self.exchanges.values()):
            exchange.interrupt()
        self._note_counts()
        await asyncio.sleep(0)
        self.gate.close()
        await asyncio.sleep(0.05)
        self._pool.close()
        for connection in list(self.connections):
            connection.close_gently(linger=False)
        await asyncio.sleep(0)
