"""Generate mixed traffic for long runs, with plain responses, streams, clients that cancel, and upstream failures.

Directives tell the simulated upstream how to respond (docs/reference/simulator.md), so the expected result is known.
"""

import asyncio
import json
import random
from collections import Counter
from dataclasses import dataclass
from typing import Final

CALLERS: Final = 8
_PATIENCE_SECONDS: Final = 60.0
_READ_LIMIT: Final = 1 << 20
_LAST_CHUNK: Final = b"\r\n0\r\n\r\n"


@dataclass(frozen=True)
class Kind:
    """One kind of request, with its percentage, its directives and the expected response.

    If ``status`` is `None`, the client closes the connection after some bytes. If ``is_cut``, the response breaks off.
    """

    name: str
    share: int
    directives: tuple[str, ...] = ()
    streamed: bool = False
    status: int | None = 200
    is_cut: bool = False
    leaves_after: int = 0


_SPOKEN: Final = ("Sim-Answer-Tokens: 60", "Sim-Event-Interval-Ms: 10")
KINDS: Final = (
    Kind("whole", 55, ("Sim-First-Token-Ms: 20",)),
    Kind("streamed", 25, _SPOKEN, streamed=True),
    Kind("left mid-stream", 6, _SPOKEN, streamed=True, status=None, leaves_after=1500),
    Kind("left before the answer", 4, ("Sim-Delay-Ms: 5000",), status=None),
    Kind("refused by the provider", 4, ("Sim-Status: 500",), status=500),
    Kind("provider dies before it answers", 3, ("Sim-Break: head rst",), status=502),
    Kind("provider dies inside an event", 3, (*_SPOKEN, "Sim-Break: event:9:5 rst"), streamed=True, is_cut=True),
)


class Traffic:
    """Clients with a constant total rate. ``expected`` and ``unexpected`` count responses by kind."""

    def __init__(self, port: int, per_second: float) -> None:
        self.expected: Counter[str] = Counter()
        self.unexpected: Counter[str] = Counter()
        self._port = port
        self._pause = CALLERS / per_second
        self._random = random.Random(1)

    async def run(self, seconds: float) -> None:
        """Send requests for ``seconds``. Returns when all requests have ended."""
        until = asyncio.get_running_loop().time() + seconds
        await asyncio.gather(*(self._ask_on(until) for _ in range(CALLERS)))

    async def _ask_on(self, until: float) -> None:
        loop = asyncio.get_running_loop()
        client = _Client(self._port)
        due = loop.time() + self._random.random() * self._pause
        while due < until:
            await asyncio.sleep(due - loop.time())
            kind = self._random.choices(KINDS, [each.share for each in KINDS])[0]
            counted = self.expected if await client.send(kind, self._request(kind)) else self.unexpected
            counted[kind.name] += 1
            due = max(due + self._pause * (0.5 + self._random.random()), loop.time())
        client.leave()

    def _request(self, kind: Kind) -> bytes:
        user = self._random.randrange(500)
        question = f"Question {self._random.randrange(10**6)}: " + "what became of it? " * self._random.randrange(1, 40)
        asked = {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": question}], "stream": kind.streamed}
        body = json.dumps(asked).encode()
        lines = (
            "POST /v1/chat/completions HTTP/1.1",
            "Host: 127.0.0.1",
            "Authorization: Bearer sk-test-1234567890",
            "Content-Type: application/json",
            f"Service-Namespace: app-{user % 20}",
            f"Service-Property-User-Id: {user}",
            *kind.directives,
            f"Content-Length: {len(body)}",
        )
        return "\r\n".join((*lines, "", "")).encode() + body


class _Client:
    """A client that reuses its connection if possible."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._connection: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def send(self, kind: Kind, request: bytes) -> bool:
        """Send a request, and return whether the result is as expected for this kind."""
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                return await self._send(kind, request)
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            self.leave()
            return False

    async def _send(self, kind: Kind, request: bytes) -> bool:
        if self._connection is None:
            self._connection = await asyncio.open_connection("127.0.0.1", self._port, limit=_READ_LIMIT)
        reader, writer = self._connection
        writer.write(request)
        if kind.status is None:
            await self._disconnect_midway(reader, kind)
            return True
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        try:
            await self._read_body(reader, head)
            is_cut = False
        except (asyncio.IncompleteReadError, ConnectionResetError):
            is_cut = True
        if is_cut or b"\r\nconnection: close" in head:
            self.leave()
        return int(head.split(b" ", 2)[1]) == kind.status and is_cut == kind.is_cut

    async def _read_body(self, reader: asyncio.StreamReader, head: bytes) -> None:
        length = head.partition(b"\r\ncontent-length:")[2].partition(b"\r\n")[0]
        if length:
            await reader.readexactly(int(length))
        else:
            await reader.readuntil(_LAST_CHUNK)

    async def _disconnect_midway(self, reader: asyncio.StreamReader, kind: Kind) -> None:
        if kind.leaves_after:
            await reader.readexactly(kind.leaves_after)
        else:
            await asyncio.sleep(0.05)
        self.leave()

    def leave(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection[1].transport.abort()
            self._connection = None
