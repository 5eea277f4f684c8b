"""Run an exchange between two fake connections, with a gate that opens at once."""

from collections.abc import Callable
from typing import Any

from relaybook.journal.frame import FrameKind
from relaybook.relay.exchange import Exchange
from relaybook.relay.fingerprints import Fingerprints
from relaybook.relay.peers import Dial
from relaybook.relay.pool import IdleConnections, Pool, UpstreamUrl
from relaybook.relay.request_head import RequestHeadReader
from relaybook.relay.response_head import ResponseHeadReader
from relaybook.relay.routes import Route, RouteLimits
from relaybook.settings.definitions import Settings
from relaybook.tags import TagReader

TAGS = TagReader(["Service"], "default", "full")
FINGERPRINTS = Fingerprints(b"secret")
UPSTREAM_URL = "http://there:8000/api/v1"


def a_pool(url: str, dial: Callable[[Pool, Exchange], Dial | None]) -> Pool:
    """Return the pool of an upstream without TLS, with the timeouts of the default settings."""
    settings = Settings()
    return Pool(
        UpstreamUrl.parse(url),
        None,
        all_idle=IdleConnections(1024, lambda: 0),
        connect_timeout=settings.connect_timeout,
        idle_seconds=settings.upstream_idle,
        dial=dial,
    )


class FakeClient:
    """A client's connection that records the calls it receives."""

    def __init__(self) -> None:
        self.keep_alive = True
        self.version_1_0 = False
        self.reset_on_cut = False
        self.write_paused = False
        self.queued_bytes = 0
        self.sent = b""
        self.calls: list[str] = []
        self.reading = True

    def send(self, data: bytes) -> None:
        self.sent += data

    def set_reading(self, wanted: bool) -> None:
        self.reading = wanted

    def response_sent(self, _: bytes) -> None:
        self.calls.append("handed over")

    def cut(self, _: bytes) -> None:
        self.calls.append("cut")

    def abandon(self) -> None:
        self.calls.append("abandoned")


class FakeUpstream(FakeClient):
    """An upstream connection that records the calls it receives."""

    def __init__(self) -> None:
        super().__init__()
        self.last_received_at = 0.0
        self.reusable, self.lost = True, False
        self.idle_since = self.idle_seconds = 0.0

    def assign(self, exchange: Exchange) -> None:
        exchange.connected(self)

    def stalled(self, now: float, seconds: float) -> bool:
        return False

    def finished(self, *, reusable: bool) -> None:
        self.calls.append("reusable" if reusable else "closed")

    def abort(self) -> None:
        self.calls.append("aborted")


class FakeGate:
    """A gate that opens at once. It stores frames and runs actions immediately."""

    def __init__(self) -> None:
        self.frames: list[tuple[int, bytes]] = []

    def frame(self, kind: int, exchange: bytes, payload: bytes) -> None:
        self.frames.append((kind, payload))

    def then(self, action: Callable[[bytes], None], data: bytes) -> None:
        action(data)


class FakeDial:
    """A connection attempt that stays open until it is canceled."""

    def __init__(self) -> None:
        self.canceled = False

    def cancel(self) -> None:
        self.canceled = True


class World:
    """One exchange with both connections. If ``connected`` is false, ``upstream`` is not in the pool."""

    def __init__(
        self,
        *lines: bytes,
        method: bytes = b"POST",
        target: bytes = b"/v1/chat/completions",
        connected: bool = True,
        **settings: Any,
    ) -> None:
        self.settings = Settings(**settings)
        self.gate: Any = FakeGate()
        self.fingerprints = FINGERPRINTS
        self.now = 0.0
        self.retiring = False
        self.sealed = 0
        self.exchanges: dict[bytes, Exchange] = {}
        self.dials: list[FakeDial] = []
        self.client, self.upstream = FakeClient(), FakeUpstream()
        first = b"%b %b HTTP/1.1" % (method, target)
        raw = b"\r\n".join([first, b"Host: here", *lines, b"", b""])
        self.head = RequestHeadReader(TAGS.is_tag, FINGERPRINTS).read(raw)
        limits = RouteLimits(self.settings.max_in_flight, self.settings.upstream_timeout, self.settings.idle_timeout)
        pool = a_pool(UPSTREAM_URL, self.dial)
        if connected:
            pool.put(self.upstream, 0.0)
        self.route = Route("default", b"/v1", pool.upstream, pool, TAGS, limits)
        relay: Any = self
        self.exchange = Exchange(relay, self.client, self.route.destination(self.head, self.head.target), self.head)

    def dial(self, pool: Pool, exchange: Exchange) -> Dial | None:
        self.dials.append(FakeDial())
        return self.dials[-1]

    def private_frame(self, kind: int, exchange: bytes, payload: bytes) -> None:
        self.gate.frame(kind, exchange, payload)
        self.sealed += 1

    @property
    def over(self) -> int:
        """How often the exchange was closed."""
        return -self.route.running

    def log_url(self, record_id: str) -> str | None:
        return None

    @property
    def kinds(self) -> list[str]:
        """The kinds of all journal frames so far."""
        return [FrameKind(kind).name for kind, _ in self.gate.frames]

    def payloads(self, kind: FrameKind) -> list[bytes]:
        return [payload for found, payload in self.gate.frames if found == kind]

    def request(self, *chunks: bytes) -> "World":
        """Send a complete request."""
        self.begin(complete=not chunks)
        for chunk in chunks:
            self.exchange.request_chunk(chunk)
        if chunks:
            self.exchange.request_end()
        self.exchange.send()
        return self

    def begin(self, body: bytes = b"", *, complete: bool = False) -> "World":
        """Send the head of a request, and the body bytes that arrive in the same read."""
        wire = self.route.upstream_head(self.head, self.head.target)
        self.exchange.open(self.head, wire, "127.0.0.1", body, complete=complete)
        return self

    def respond(self, *lines: bytes, status: bytes = b"200 OK", body: bytes = b"", complete: bool = False) -> "World":
        """Receive the head of the upstream's response, and the body bytes that arrive in the same read."""
        raw = b"\r\n".join([b"HTTP/1.1 " + status, *lines, b"", b""])
        self.exchange.response_begin(ResponseHeadReader(["Service"], FINGERPRINTS).read(raw), body, complete)
        return self
