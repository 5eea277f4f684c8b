"""The state that the connections and exchanges of one worker share: settings, parsers, the gate and counts.

This module does not depend on the classes of client and upstream connections. ``Relay``, the subclass of
``RelayContext``, uses these classes.
"""

import asyncio
from collections import Counter

from relaybook import clock
from relaybook.errors import RelayError
from relaybook.journal.writer import JournalUnavailable, JournalWriter
from relaybook.relay.connection import Connection
from relaybook.relay.cors import Cors
from relaybook.relay.exchange import Exchange
from relaybook.relay.fingerprints import Fingerprints
from relaybook.relay.gate import Gate
from relaybook.relay.peers import Dial
from relaybook.relay.request_head import RequestHeadReader
from relaybook.relay.response_head import ResponseHeadReader
from relaybook.relay.routes import Route, UpstreamUrl
from relaybook.settings.addresses import is_loopback, split_address
from relaybook.settings.definitions import Settings
from relaybook.tags import TagReader

_LOOPBACK_NAMES = (b"localhost", b"127.0.0.1", b"[::1]")


class RelayContext:
    """The state that all connections of one worker share. The class implements ``ExchangeContext``.

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
    ) -> None:
        self.settings = settings
        self.base_url = base_url
        self.dashboard_url = dashboard_url
        self.prefix = settings.header_prefix[0]
        self.fingerprints = Fingerprints(secret)
        log_by_pattern = {pattern: each.log or settings.log for pattern, each in settings.namespaces.items()}
        tags = TagReader(settings.header_prefix, settings.default_namespace, settings.log, log_by_pattern)
        self.request_heads = RequestHeadReader(tags.is_tag, self.fingerprints)
        self.cors = Cors(settings.cors_origins, settings.header_prefix) if settings.cors_origins else None
        self.response_heads = ResponseHeadReader(
            settings.header_prefix, self.fingerprints, drop_cors=bool(settings.cors_origins)
        )
        self.route = Route("default", b"/v1", UpstreamUrl.parse(settings.upstream), tags)
        self.gate = Gate(loop, journal, durable=settings.durable, on_failure=self.log_failed)
        self.now = loop.time()
        self.connections: set[Connection] = set()
        self.exchanges: dict[bytes, Exchange] = {}
        #: Whether new requests are refused.
        self.draining = False
        #: Whether each connection closes after its current or next response.
        self.retiring = False
        #: The reason why the log cannot be written, as a sentence for clients; `None` if the log can be written.
        self.log_problem: str | None = None
        self.refused: Counter[str] = Counter()
        self.unlogged = 0
        self.counts_since_ns = 0
        #: The accepted Host names in lower case. `None` if every name is accepted, because the relay does not listen on
        #: a loopback address.
        self.host_names: frozenset[bytes] | None = None
        if is_loopback(split_address(settings.listen, "listen")[0]):
            self.host_names = frozenset([*_LOOPBACK_NAMES, *(name.lower().encode() for name in settings.hosts)])
        self._journal = journal

    def connect(self, exchange: Exchange) -> Dial | None:
        """Assign an idle upstream connection to the exchange and return `None`.

        If no connection is idle, dial a new connection and return the ``Dial``.
        """
        raise NotImplementedError

    def dial(self, exchange: Exchange) -> Dial:
        """Start dialing a new upstream connection."""
        raise NotImplementedError

    def log_failed(self, error: JournalUnavailable) -> bool:
        """Handle the loss of a journal batch. Return True if the bytes that waited for the batch are sent anyway."""
        raise NotImplementedError

    def private_frame(self, kind: int, exchange: bytes, payload: bytes) -> None:
        """Append a frame to the journal, for an exchange with ``log = no-bodies``.

        The journal seals (ends) the frame's segment soon, so that the recorder can delete the segment with the bodies.
        """
        self.gate.frame(kind, exchange, payload)
        self._journal.seal_soon()

    def exchange_closed(self, exchange: Exchange) -> None:
        """Remove a closed exchange from the running exchanges."""
        self.exchanges.pop(exchange.id, None)

    def route_of(self, target: bytes) -> Route | None:
        """Return the route whose prefix the target starts with, or `None` if there is no such route."""
        return self.route if self.route.has(target) else None

    def log_url(self, record_id: str) -> str | None:
        """Return the URL of the record, or `None` if the setting ``dashboard_url`` is not set."""
        public_url = self.settings.dashboard_url
        return f"{public_url.rstrip('/')}/requests/{record_id}" if public_url else None

    def not_ready(self) -> str | None:
        """Return the reason why new requests are refused, or `None` if new requests are accepted."""
        if self.draining:
            return "stopping"
        return self.log_problem if self.settings.when_log_fails == "refuse" else None

    def count_refused(self, error: RelayError, count: int = 1) -> None:
        """Count requests that were refused and have no record."""
        self.counts_since_ns = self.counts_since_ns or clock.wall_ns()
        self.refused[error.code] += count

    def count_unlogged(self, count: int = 1) -> None:
        """Count requests that are forwarded without a record (``when_log_fails = forward``)."""
        self.counts_since_ns = self.counts_since_ns or clock.wall_ns()
        self.unlogged += count
