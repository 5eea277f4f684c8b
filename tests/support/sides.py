"""An exchange between two fake connections, over a gate that opens at once."""

from collections.abc import Callable
from typing import Any

from relaybook.journal.frame import Kind
from relaybook.relay.exchange import Exchange
from relaybook.relay.fingerprints import Fingerprints
from relaybook.relay.request_head import RequestHeadReader
from relaybook.relay.response_head import ResponseHeadReader
from relaybook.relay.routes import Origin, Route
from relaybook.settings.definitions import Settings
from relaybook.tags import TagReader

TAGS = TagReader(["Service"], "default", "full")
FINGERPRINTS = Fingerprints(b"secret")


class FakeCaller:
    """A caller's connection that remembers what it was told."""

    def __init__(self) -> None:
        self.keep_alive = True
        self.version_1_0 = False
        self.reset_on_cut = False
        self.held = 0
        self.sent = b""
        self.told: list[str] = []
        self.reading = True

    def send(self, data: bytes) -> None:
        self.sent += data

    def feed_when(self, wanted: bool) -> None:
        self.reading = wanted

    def handed_over(self, _: bytes) -> None:
        self.told.append("handed over")

    def cut(self, _: bytes) -> None:
        self.told.append("cut")

    def abandon(self) -> None:
        self.told.append("abandoned")


class FakeProvider(FakeCaller):
    """A provider's connection that remembers what it was told."""

    def __init__(self) -> None:
        super().__init__()
        self.write_paused = False
        self.heard = 0.0

    def stalled(self, now: float, seconds: float) -> bool:
        return False

    def finished(self, *, reusable: bool) -> None:
        self.told.append("reusable" if reusable else "closed")

    def abort(self) -> None:
        self.told.append("aborted")


class FakeGate:
    """Opens at once; keeps frames and actions in one list."""

    def __init__(self) -> None:
        self.frames: list[tuple[int, bytes]] = []

    def frame(self, kind: int, exchange: bytes, payload: bytes) -> None:
        self.frames.append((kind, payload))

    def then(self, action: Callable[[bytes], None], data: bytes) -> None:
        action(data)


class World:
    """One exchange with both sides; ``up`` is connected unless told otherwise."""

    def __init__(self, *lines: bytes, method: bytes = b"POST", connected: bool = True, **settings: Any) -> None:
        self.settings = Settings(**settings)
        self.gate: Any = FakeGate()
        self.fingerprints = FINGERPRINTS
        self.now = 0.0
        self.leaving = False
        self.sealed = self.over = 0
        self.connected = connected
        self.down, self.up = FakeCaller(), FakeProvider()
        first = b"%b /v1/chat/completions HTTP/1.1" % method
        raw = b"\r\n".join([first, b"Host: here", *lines, b"", b""])
        self.head = RequestHeadReader(TAGS.is_tag, FINGERPRINTS).read(raw)
        route = Route("default", b"/v1", Origin.parse("http://there:8000/api/v1"), TAGS)
        self.exchange = Exchange(self, self.down, route, TAGS.read(self.head.tags), self.head)

    def connect(self, exchange: Exchange) -> None:
        if self.connected:
            exchange.connected(self.up)

    def dial(self, exchange: Exchange) -> None:
        self.connect(exchange)

    def private_frame(self, kind: int, exchange: bytes, payload: bytes) -> None:
        self.gate.frame(kind, exchange, payload)
        self.sealed += 1

    def ended(self, exchange: Exchange) -> None:
        self.over += 1

    def log_url(self, record_id: str) -> str | None:
        return None

    @property
    def kinds(self) -> list[str]:
        """The journal so far."""
        return [Kind(kind).name for kind, _ in self.gate.frames]

    def payloads(self, kind: Kind) -> list[bytes]:
        return [payload for found, payload in self.gate.frames if found == kind]

    def ask(self, *pieces: bytes) -> "World":
        """The request, whole."""
        self.begin(complete=not pieces)
        for piece in pieces:
            self.exchange.request_piece(piece)
        if pieces:
            self.exchange.request_end()
        self.exchange.send()
        return self

    def begin(self, body: bytes = b"", *, complete: bool = False) -> "World":
        """The request's head, with the body bytes that came in the same read."""
        self.exchange.open(self.head, "127.0.0.1", body, complete=complete)
        return self

    def answer(self, *lines: bytes, status: bytes = b"200 OK", body: bytes = b"", complete: bool = False) -> "World":
        """The head of the provider's answer, with the body bytes that came in the same read."""
        raw = b"\r\n".join([b"HTTP/1.1 " + status, *lines, b"", b""])
        self.exchange.answered(ResponseHeadReader(["Service"], FINGERPRINTS).read(raw), body, complete)
        return self
