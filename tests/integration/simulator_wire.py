"""Send and receive raw bytes on connections to a simulator that runs in the test."""

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable
from typing import Any

from relaybook_demo.simulator import Simulator, SimulatorSettings
from relaybook_demo.simulator.ledger import Entry

MESSAGES: Any = [{"role": "user", "content": "Can I get a refund?"}]


class Wire:
    """Raw connections to one simulator."""

    def __init__(self, simulator: Simulator, port: int) -> None:
        self.simulator = simulator
        self.port = port

    async def open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port, limit=2**27)

    async def post_and_read(
        self, *directives: str, stream: bool = False, path: str = "/v1/chat/completions"
    ) -> tuple[bytes, str]:
        """Send a POST request. Returns all bytes until the connection ends, and how the connection ended.

        Reading stops after ten seconds without data.
        """
        reader, writer = await self.open()
        writer.write(post(*directives, stream=stream, path=path))
        received, ending = await read_to_end(reader)
        await close(writer)
        return received, ending

    def ledger_entries(self, event: str) -> list[Entry]:
        """Return the ledger entries of one event type."""
        return [entry for entry in self.simulator.controls.ledger.entries if entry.event == event]

    async def wait_for(self, event: str) -> Entry:
        """Wait for a ledger entry of this event type, and return the last such entry."""
        async with asyncio.timeout(5):
            while not self.ledger_entries(event):
                await asyncio.sleep(0.001)
        return self.ledger_entries(event)[-1]


def post(
    *directives: str, stream: bool = False, path: str = "/v1/chat/completions", body: bytes | None = None
) -> bytes:
    if body is None:
        body = json.dumps({"model": "gpt-4o-mini", "stream": stream, "messages": MESSAGES}).encode()
    lines = [f"POST {path} HTTP/1.1", "Host: x", "Authorization: Bearer sk-test", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, *directives, "", ""]).encode() + body


async def read_to_end(reader: asyncio.StreamReader, read_timeout_s: float = 10.0) -> tuple[bytes, str]:
    received = b""
    while True:
        try:
            async with asyncio.timeout(read_timeout_s):
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
    """Return the body of a response that is chunked or has a length."""
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
