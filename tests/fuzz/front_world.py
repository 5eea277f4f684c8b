"""A relay without a socket: a caller's connection is fed bytes, and a provider without one notes what would be sent."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, Final, cast

from tests.fuzz.strict_http import Reading, read_requests

from relaybook.journal.frame import FrameKind
from relaybook.journal.writer import JournalUnavailable
from relaybook.relay.connection import Connection
from relaybook.relay.context import RelayContext
from relaybook.relay.downstream import ClientConnection
from relaybook.relay.exchange import Exchange, RequestState, ResponseState
from relaybook.relay.fingerprints import Fingerprints
from relaybook.relay.limits import READ_BYTES
from relaybook.relay.response_head import ResponseHeadReader
from relaybook.settings.definitions import Settings

_ANSWER: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n"
_HEADS: Final = ResponseHeadReader(["Service"], Fingerprints(b"secret"))
_MOST_TURNS: Final = 100_000


class Loop:
    """An event loop that turns when it is told to."""

    def __init__(self) -> None:
        self._waiting: deque[Callable[[], None]] = deque()

    def time(self) -> float:
        return 0.0

    def call_soon(self, callback: Callable[..., None], *given: Any) -> None:
        self._waiting.append(lambda: callback(*given))

    def turn(self) -> bool:
        """Runs what waits; whether there was anything."""
        for _ in range(len(self._waiting)):
            self._waiting.popleft()()
            if not self._waiting:
                return True
        return bool(self._waiting)


class _Journal:
    """Keeps the kinds of frames by exchange."""

    def __init__(self) -> None:
        self.kinds: dict[bytes, list[int]] = {}
        self.wake: Callable[[], None] = lambda: None
        self.waiting = False

    def append(self, kind: int, exchange: bytes, payload: bytes) -> None:
        self.kinds.setdefault(exchange, []).append(kind)
        if not self.waiting:
            self.waiting = True
            self.wake()

    def write(self) -> None:
        self.waiting = False

    def seal_soon(self) -> None:
        """There are no segments here."""


class Transport:
    """A connection's socket: takes everything at once, and closes a turn later."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self.protocol: Connection | None = None
        self.said = b""
        self.reading = True
        self.closed = False

    def set_write_buffer_limits(self, high: int, low: int) -> None:
        """There is no buffer."""

    def get_write_buffer_size(self) -> int:
        return 0

    def get_extra_info(self, name: str) -> Any:
        return ("127.0.0.1", 5) if name == "peername" else None

    def write(self, data: bytes) -> None:
        assert not self.closed, "written to after it was closed"
        self.said += data

    def write_eof(self) -> None:
        """The other side sees an end; its bytes are still read."""

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            assert self.protocol is not None
            self._loop.call_soon(self.protocol.connection_lost, None)

    abort = close


class Upstream:
    """Notes one exchange's bytes, and answers when the exchange says that it has asked."""

    queued_bytes = 0
    reading = True
    write_paused = False
    last_received_at = 0.0

    def __init__(self) -> None:
        self.wire = b""

    def send(self, data: bytes) -> None:
        self.wire += data

    def set_reading(self, wanted: bool) -> None:
        self.reading = wanted

    def stalled(self, now: float, seconds: float) -> bool:
        return False

    def finished(self, *, reusable: bool) -> None:
        """Nothing is pooled here."""

    def abort(self) -> None:
        """There is no socket to close."""


class FrontWorld(RelayContext):
    """One relay, one caller, and everything the caller's bytes made the relay send. ``most_held``: bytes it held."""

    def __init__(self, **settings: Any) -> None:
        self.loop = Loop()
        self.journal = _Journal()
        super().__init__(
            Settings(**settings),
            cast(Any, self.journal),
            b"secret",
            cast(asyncio.AbstractEventLoop, self.loop),
            base_url="http://127.0.0.1:4100/v1",
            dashboard_url="http://127.0.0.1:4101",
        )
        self.providers: list[Upstream] = []
        self.most_held = 0
        self._asked: deque[Exchange] = deque()
        self.transport = Transport(self.loop)
        self.transport.protocol = self.client = ClientConnection(self)
        self.client.connection_made(cast(asyncio.Transport, self.transport))

    def connect(self, exchange: Exchange) -> None:
        provider = Upstream()
        self.providers.append(provider)
        self._asked.append(exchange)
        exchange.connected(provider)

    def log_failed(self, error: JournalUnavailable) -> bool:
        raise AssertionError("this journal cannot fail")

    def feed(self, *reads: bytes) -> "FrontWorld":
        """The caller sends this and then leaves."""
        self.hear(*reads)
        if not self.client.lost:
            self.client.connection_lost(None)
        self.turn()
        return self

    def hear(self, *reads: bytes) -> None:
        """The caller sends this, as far as the relay reads it."""
        waiting = deque(read[at : at + READ_BYTES] for read in reads for at in range(0, len(read), READ_BYTES))
        while waiting and not self.transport.closed:
            if self.transport.reading:
                self.client.received(waiting.popleft())
            elif not self.turn():
                break
            self.most_held = max(self.most_held, len(self.client.partial) + self.client.queued_bytes)
            self.turn()
        self.turn()

    def turn(self) -> bool:
        """Turns the loop, and the provider answers, until nothing happens any more; whether anything did."""
        for turns in range(_MOST_TURNS):
            if not self.loop.turn() and not self._answer():
                return turns > 0
        raise AssertionError("the relay never comes to rest")

    def _answer(self) -> bool:
        waiting = [each for each in self._asked if not each.closed and each.response_state == ResponseState.WAITING]
        self._asked = deque(waiting)
        for exchange in waiting:
            if exchange.request_state == RequestState.SENT and exchange.upstream is not None:
                exchange.response_begin(_HEADS.read(_ANSWER), b"ok", True)
                return True
        return False

    @property
    def sent(self) -> list[Reading]:
        """What was sent to the provider, a connection each."""
        return [read_requests(provider.wire) for provider in self.providers]

    @property
    def unclosed(self) -> list[bytes]:
        """Exchanges without exactly one beginning and one end."""
        once = (int(FrameKind.OPENED), int(FrameKind.CLOSED))
        return [each for each, kinds in self.journal.kinds.items() if [kinds.count(kind) for kind in once] != [1, 1]]
