"""A relay without sockets. The test sends bytes as the client, and a fake upstream records the forwarded bytes."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, Final, cast

from tests.support.strict_http import Reading, read_requests

from relaybook.journal.events import Closed, decode_closed
from relaybook.journal.frame import FrameKind
from relaybook.relay.client_connection import ClientConnection
from relaybook.relay.connection import Connection
from relaybook.relay.context import RelayContext
from relaybook.relay.exchange import Exchange, RequestState, ResponseState
from relaybook.relay.fingerprints import Fingerprints
from relaybook.relay.limits import READ_BYTES
from relaybook.relay.pool import Pool
from relaybook.relay.response_head import ResponseHeadReader
from relaybook.settings.definitions import Settings

_RESPONSE: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n"
_HEADS: Final = ResponseHeadReader(["Service"], Fingerprints(b"secret"))
_MAX_TURNS: Final = 100_000


class Loop:
    """A fake event loop that runs only when the test calls ``turn``."""

    def __init__(self) -> None:
        self._waiting: deque[Callable[[], None]] = deque()

    def time(self) -> float:
        return 0.0

    def call_soon(self, callback: Callable[..., None], *given: Any) -> None:
        self._waiting.append(lambda: callback(*given))

    def turn(self) -> bool:
        """Run all waiting callbacks, and return whether any callback was waiting."""
        for _ in range(len(self._waiting)):
            self._waiting.popleft()()
            if not self._waiting:
                return True
        return bool(self._waiting)


class _Journal:
    """A fake journal that stores the kinds of all frames of each exchange, and how each exchange ended."""

    def __init__(self) -> None:
        self.kinds: dict[bytes, list[int]] = {}
        self.closed: dict[bytes, Closed] = {}
        self.waiting = False

    def append(self, kind: int, exchange: bytes, payload: bytes) -> None:
        self.kinds.setdefault(exchange, []).append(kind)
        if kind == FrameKind.CLOSED:
            self.closed[exchange] = decode_closed(payload)
        self.waiting = True

    def write(self) -> None:
        self.waiting = False

    def seal_soon(self) -> None:
        """Do nothing, because this journal has no segments."""


class Transport:
    """A fake socket that accepts all bytes at once and closes one turn of the loop later."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self.protocol: Connection | None = None
        self.said = b""
        self.reading = True
        #: Whether the peer receives no more bytes.
        self.ended = False
        self.closed = False

    def set_write_buffer_limits(self, high: int, low: int) -> None:
        """Do nothing, because this socket has no buffer."""

    def get_write_buffer_size(self) -> int:
        return 0

    def get_extra_info(self, name: str) -> Any:
        return ("127.0.0.1", 5) if name == "peername" else None

    def write(self, data: bytes) -> None:
        assert not self.ended, "written to after its end"
        self.said += data

    def write_eof(self) -> None:
        """End this direction. The peer can still send bytes."""
        self.ended = True

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.ended = True
        if not self.closed:
            self.closed = True
            assert self.protocol is not None
            self._loop.call_soon(self.protocol.connection_lost, None)

    abort = close


class Upstream:
    """A fake upstream that records the bytes of one exchange. ``RelayWorld`` creates the response."""

    queued_bytes = 0
    reading = True
    write_paused = False
    last_received_at = 0.0

    def __init__(self) -> None:
        self.wire = b""
        self.aborted = False

    def send(self, data: bytes) -> None:
        self.wire += data

    def set_reading(self, wanted: bool) -> None:
        self.reading = wanted

    def stalled(self, now: float, seconds: float) -> bool:
        return False

    def finished(self, *, reusable: bool) -> None:
        """Do nothing, because there is no pool."""

    def abort(self) -> None:
        self.aborted = True


class RelayWorld(RelayContext):
    """A relay with one client at a time. All bytes that the relay sends are recorded.

    ``max_buffered`` is the largest number of bytes that the relay buffered at one time.
    """

    def __init__(self, **settings: Any) -> None:
        self.loop = Loop()
        self.fake_journal = _Journal()
        super().__init__(
            Settings(**{"upstream": "http://there:8000/v1", **settings}),  # without TLS, whose certificates load slowly
            cast(Any, self.fake_journal),
            b"secret",
            cast(asyncio.AbstractEventLoop, self.loop),
            base_url="http://127.0.0.1:4100/v1",
            dashboard_url="http://127.0.0.1:4101",
            dial=self.dial,
        )
        self.providers: list[Upstream] = []
        self.max_buffered = 0
        self._asked: deque[Exchange] = deque()
        self.accept()

    def accept(self) -> "RelayWorld":
        """Continue with the connection of a new client."""
        self.transport = Transport(self.loop)
        self.transport.protocol = self.client = ClientConnection(self)
        self.client.connection_made(cast(asyncio.Transport, self.transport))
        return self

    def dial(self, pool: Pool, exchange: Exchange) -> None:
        """Connect the exchange to a new fake upstream."""
        provider = Upstream()
        self.providers.append(provider)
        self._asked.append(exchange)
        exchange.connected(provider)

    def feed(self, *reads: bytes) -> "RelayWorld":
        """Send these bytes as the client, then disconnect."""
        self.receive(*reads)
        if not self.client.lost:
            self.client.connection_lost(None)
        self.turn()
        return self

    def receive(self, *reads: bytes) -> None:
        """Send these bytes as the client until the relay stops reading."""
        waiting = deque(read[at : at + READ_BYTES] for read in reads for at in range(0, len(read), READ_BYTES))
        while waiting and not self.transport.closed:
            if self.transport.reading:
                self.client.received(waiting.popleft())
            elif not self.turn():
                break
            self.max_buffered = max(self.max_buffered, len(self.client.partial) + self.client.queued_bytes)
            self.turn()
        self.turn()

    def turn(self) -> bool:
        """Run the loop and the upstream's responses until both are idle, and return whether anything ran."""
        for turns in range(_MAX_TURNS):
            if not self.loop.turn() and not self._respond():
                return turns > 0
        raise AssertionError("the relay never comes to rest")

    def _respond(self) -> bool:
        waiting = [each for each in self._asked if not each.closed and each.response_state == ResponseState.WAITING]
        self._asked = deque(waiting)
        for exchange in waiting:
            if exchange.request_state == RequestState.SENT and exchange.upstream is not None:
                exchange.response_begin(_HEADS.read(_RESPONSE), b"ok", True)
                return True
        return False

    @property
    def sent(self) -> list[Reading]:
        """Return the parsed requests of each connection to the upstream."""
        return [read_requests(provider.wire) for provider in self.providers]

    @property
    def unclosed(self) -> list[bytes]:
        """Return the exchanges that do not have exactly one beginning and one end."""
        callback_args = (int(FrameKind.OPENED), int(FrameKind.CLOSED))
        return [
            each
            for each, kinds in self.fake_journal.kinds.items()
            if [kinds.count(kind) for kind in callback_args] != [1, 1]
        ]
