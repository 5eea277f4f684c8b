"""Raw sockets to a simulator of a test's own: what is sent and what comes back, byte for byte."""

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable
from typing import Any

from relaybook_demo.simulator import Simulator, SimulatorSettings
from relaybook_demo.simulator.ledger import Entry

QUESTION: Any = [{"role": "user", "content": "Can I get a refund?"}]


class Wire:
    """Raw connections to one simulator."""

    def __init__(self, simulator: Simulator, port: int) -> None:
        self.simulator = simulator
        self.port = port

    async def open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port, limit=2**27)

    async def ask(
        self, *directives: str, stream: bool = False, path: str = "/v1/chat/completions"
    ) -> tuple[bytes, str]:
        """All bytes until the end of the connection, and how it ended; the peer gives up after a silent moment."""
        reader, writer = await self.open()
        writer.write(post(*directives, stream=stream, path=path))
        received, how = await read_to_end(reader)
        await close(writer)
        return received, how

    def noted(self, event: str) -> list[Entry]:
        """The ledger's entries of one kind."""
        return [entry for entry in self.simulator.controls.ledger.entries if entry.event == event]

    async def until(self, event: str) -> Entry:
        """The last such entry, once there is one."""
        async with asyncio.timeout(5):
            while not self.noted(event):
                await asyncio.sleep(0.001)
        return self.noted(event)[-1]


def post(
    *directives: str, stream: bool = False, path: str = "/v1/chat/completions", body: bytes | None = None
) -> bytes:
    if body is None:
        body = json.dumps({"model": "gpt-4o-mini", "stream": stream, "messages": QUESTION}).encode()
    lines = [f"POST {path} HTTP/1.1", "Host: x", "Authorization: Bearer sk-test", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, *directives, "", ""]).encode() + body


async def read_to_end(reader: asyncio.StreamReader, silence_s: float = 10.0) -> tuple[bytes, str]:
    received = b""
    while True:
        try:
            async with asyncio.timeout(silence_s):
                data = await reader.read(2**20)
        except ConnectionResetError:
            return received, "rst"
        except TimeoutError:
            return received, "open"
        if not data:
            return received, "fin"
        received += data


async def close(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()


def with_simulator(test: Callable[["Wire"], Awaitable[None]], settings: SimulatorSettings | None = None) -> None:
    async def main() -> None:
        async with Simulator(settings) as simulator:
            await test(Wire(simulator, await simulator.start()))

    asyncio.run(main())


def body_of(received: bytes) -> bytes:
    """The content of a chunked or length-framed answer."""
    head, _, rest = received.partition(b"\r\n\r\n")
    if b"transfer-encoding: chunked" not in head:
        return rest
    body = b""
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        length = int(size, 16)
        if length == 0:
            break
        body += rest[:length]
        rest = rest[length + 2 :]
    return body
