"""The state that the connections and exchanges of one worker share: settings, routes, parsers, the gate and counts.

Client connections, upstream connections and exchanges use the context. The context does not know their classes.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from typing import Any

from relaybook import clock
from relaybook.errors import RelayError
from relaybook.journal.events import RefusalCounts, encode_event
from relaybook.journal.frame import NO_EXCHANGE, FrameKind
from relaybook.journal.writer import JournalUnavailable, JournalWriter
from relaybook.relay import tls
from relaybook.relay.connection import Connection
from relaybook.relay.cors import Cors
from relaybook.relay.fingerprints import Fingerprints
from relaybook.relay.gate import Gate
from relaybook.relay.peers import Dial, RunningExchange
from relaybook.relay.pool import IdleConnections, Pool, UpstreamUrl
from relaybook.relay.proxy import find_proxy
from relaybook.relay.request_head import RequestHeadReader
from relaybook.relay.response_head import ResponseHeadReader
from relaybook.relay.routes import Route, RouteLimits, RouteTable
from relaybook.settings.addresses import is_loopback, split_address
from relaybook.settings.definitions import Settings
from relaybook.settings.routes import ResolvedRoute
from relaybook.tags import TagReader

log = logging.getLogger("relaybook.relay")


class RelayContext:
    """The state that all connections of one worker share.

    ``now`` is the event loop's time at the last timeout check. Timeouts are checked a few times a second, which is
    precise enough for timeouts of seconds.
    """

    def __init__(
        self,
        settings: Settings,
        journal: JournalWriter,
        secret: bytes,
        loop: asyncio.AbstractEventLoop,
        *,
        base_url: str,
        dashboard_url: str,
        dial: Callable[[Pool, Any], Dial | None],
    ) -> None:
        """``secret`` is the secret for fingerprints. ``dial`` is passed to the pools of all routes."""
        self.settings = settings
        self.base_url = base_url
        self.dashboard_url = dashboard_url
        self.prefix = settings.header_prefix[0]
        self.fingerprints = Fingerprints(secret)
        #: The routes as they are declared, and with what they need while the relay runs. Both have the same order.
        self.resolved = settings.resolved_routes()
        #: The running exchanges by id.
        self.exchanges: dict[bytes, RunningExchange] = {}
        all_idle = IdleConnections(settings.max_connections, lambda: len(self.exchanges))
        self.routes = RouteTable(_route(each, settings, dial, all_idle) for each in self.resolved)
        self.request_heads = RequestHeadReader(self.routes.all[0].tags.is_tag, self.fingerprints)
        self.cors = Cors(settings.cors_origins, settings.header_prefix) if settings.cors_origins else None
        self.response_heads = ResponseHeadReader(
            settings.header_prefix, self.fingerprints, drop_cors=bool(settings.cors_origins)
        )
        self.gate = Gate(loop, journal, durable=settings.durable, on_failure=self._log_failed)
        self.journal = journal
        self.now = loop.time()
        self.connections: set[Connection] = set()
        #: Whether new requests are refused.
        self.draining = False
        #: Whether each connection closes after its current or next response.
        self.retiring = False
        #: The reason why the log cannot be written, as a sentence for clients; `None` if the log can be written.
        self.log_problem: str | None = None
        #: The requests since the last COUNTED frame that were refused and have no record, by error code.
        self.refused: Counter[str] = Counter()
        self._unlogged = 0
        self._counts_since_ns = 0
        #: The Host names that are accepted besides loopback names, in lower case. `None` if every name is accepted,
        #: because the relay does not listen on a loopback address.
        self.host_names: frozenset[bytes] | None = None
        if is_loopback(split_address(settings.listen, "listen")[0]):
            self.host_names = frozenset(name.lower().encode() for name in settings.hosts)

    def private_frame(self, kind: int, exchange: bytes, payload: bytes) -> None:
        """Append a frame to the journal, for an exchange with ``log = no-bodies``.

        The journal seals (ends) the frame's segment soon, so that the recorder can delete the segment with the bodies.
        """
        self.gate.frame(kind, exchange, payload)
        self.journal.seal_soon()

    def log_url(self, record_id: str) -> str | None:
        """Return the URL of the record, or `None` if the setting ``dashboard_url`` is not set."""
        public_url = self.settings.dashboard_url
        return f"{public_url.rstrip('/')}/requests/{record_id}" if public_url else None

    def not_ready(self) -> str | None:
        """Return the reason why new requests are refused, or `None` if new requests are accepted."""
        if self.draining:
            return "stopping"
        return self.log_problem if self.settings.when_log_fails == "refuse" else None

    # -- requests without a record ---------------------------------------------------------------------------------

    def count_refused(self, error: RelayError, count: int = 1) -> None:
        """Count requests that were refused and have no record."""
        self._counts_since_ns = self._counts_since_ns or clock.wall_ns()
        self.refused[error.code] += count

    def count_unlogged(self, count: int = 1) -> None:
        """Count requests that are forwarded without a record (``when_log_fails = forward``)."""
        self._counts_since_ns = self._counts_since_ns or clock.wall_ns()
        self._unlogged += count

    def write_refusal_counts(self) -> None:
        """Append a COUNTED frame to the journal if requests were counted since the last such frame."""
        # wait until a spare segment is ready, except while draining: then there is no later chance
        if self._counts_since_ns and (self.journal.spare_ready or self.draining):
            counts = RefusalCounts(self._counts_since_ns, clock.wall_ns(), dict(self.refused), self._unlogged)
            self.gate.frame(FrameKind.COUNTED, NO_EXCHANGE, encode_event(counts))
            self.refused.clear()
            self._unlogged = 0
            self._counts_since_ns = 0

    # -- a journal that cannot be written --------------------------------------------------------------------------

    def _log_failed(self, error: JournalUnavailable) -> bool:
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
                self.journal.add_lost_end(exchange.id)


def _route(
    resolved: ResolvedRoute,
    settings: Settings,
    dial: Callable[[Pool, Any], Dial | None],
    all_idle: IdleConnections,
) -> Route:
    upstream = UpstreamUrl.parse(resolved.upstream)
    certificate = (resolved.upstream_ca_file, resolved.upstream_cert, resolved.upstream_key)
    pool = Pool(
        upstream,
        tls.client_context(*certificate) if upstream.tls else None,
        proxy=find_proxy(resolved.upstream_proxy, upstream.host, upstream.port, tls=upstream.tls),
        all_idle=all_idle,
        connect_timeout=resolved.connect_timeout,
        idle_seconds=resolved.upstream_idle,
        dial=dial,
    )
    log_by_pattern = {pattern: each.log or resolved.log for pattern, each in settings.namespaces.items()}
    tags = TagReader(
        settings.header_prefix,
        resolved.namespace,
        resolved.log,
        {} if resolved.is_private else log_by_pattern,
        resolved.properties,
    )
    limits = RouteLimits(resolved.max_in_flight, resolved.upstream_timeout, resolved.idle_timeout)
    return Route(resolved.name, resolved.mount.encode(), upstream, pool, tags, limits)
