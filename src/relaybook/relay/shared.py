"""What the connections of one worker share: settings, readers, the gate, state and counts.

Knows exchanges, but neither kind of connection by its class; ``Relay`` adds those.
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
from relaybook.relay.request_head import RequestHeadReader
from relaybook.relay.response_head import ResponseHeadReader
from relaybook.relay.routes import Origin, Route
from relaybook.settings.definitions import Settings, is_loopback, split_address
from relaybook.tags import TagReader

_LOOPBACK_NAMES = (b"localhost", b"127.0.0.1", b"[::1]")


class Shared:
    """See the module. ``now`` is the loop's time as of the last sweep: exact enough for timeouts of seconds."""

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
        tags = TagReader(settings.header_prefix, settings.default_namespace, settings.log)
        self.request_heads = RequestHeadReader(tags.is_tag, self.fingerprints)
        self.cors = Cors(settings.cors_origins, settings.header_prefix) if settings.cors_origins else None
        self.response_heads = ResponseHeadReader(
            settings.header_prefix, self.fingerprints, drop_cors=bool(settings.cors_origins)
        )
        self.route = Route("default", b"/v1", Origin.parse(settings.upstream), tags)
        self.gate = Gate(loop, journal, durable=settings.durable, on_failure=self.log_failed)
        self.now = loop.time()
        self.connections: set[Connection] = set()
        self.exchanges: dict[bytes, Exchange] = {}
        #: New requests are refused.
        self.draining = False
        #: Each answer is the last one on its connection.
        self.leaving = False
        #: Why nothing can be logged now, a sentence that a caller may read; None while all is well.
        self.log_trouble: str | None = None
        self.refused: Counter[str] = Counter()
        self.unlogged = 0
        self.counted_from_ns = 0
        #: While bound to loopback: the names a caller may use for us, in lower case. Else None: any.
        self.host_names: frozenset[bytes] | None = None
        if is_loopback(split_address(settings.listen, "listen")[0]):
            self.host_names = frozenset([*_LOOPBACK_NAMES, *(name.lower().encode() for name in settings.hosts)])
        self._journal = journal

    def connect(self, exchange: Exchange) -> None:
        """Gives an exchange an idle connection, or begins to make one."""
        raise NotImplementedError

    def dial(self, exchange: Exchange) -> None:
        """Begins to make a connection for an exchange."""
        raise NotImplementedError

    def log_failed(self, error: JournalUnavailable) -> bool:
        """The journal lost a batch. Whether what waited for it is sent nevertheless."""
        raise NotImplementedError

    def private_frame(self, kind: int, exchange: bytes, payload: bytes) -> None:
        """Journals something that must not stay in the journal."""
        self.gate.frame(kind, exchange, payload)
        self._journal.seal_soon()

    def ended(self, exchange: Exchange) -> None:
        """An exchange has closed."""
        self.exchanges.pop(exchange.id, None)

    def route_of(self, target: bytes) -> Route | None:
        """The route a target is under."""
        return self.route if self.route.has(target) else None

    def log_url(self, record_id: str) -> str | None:
        """Where a person finds the record, when the dashboard has an outside address."""
        outside = self.settings.dashboard_url
        return f"{outside.rstrip('/')}/requests/{record_id}" if outside else None

    def not_ready(self) -> str | None:
        """Why no new request should be sent here; None when all is well."""
        if self.draining:
            return "stopping"
        return self.log_trouble if self.settings.when_log_fails == "refuse" else None

    def count_refused(self, error: RelayError, count: int = 1) -> None:
        """Requests that were not relayed and have no record."""
        self.counted_from_ns = self.counted_from_ns or clock.wall_ns()
        self.refused[error.code] += count

    def count_unlogged(self, count: int = 1) -> None:
        """Requests that are relayed without a record, by the operator's choice."""
        self.counted_from_ns = self.counted_from_ns or clock.wall_ns()
        self.unlogged += count
