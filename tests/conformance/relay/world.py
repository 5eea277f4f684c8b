"""A relay in separate processes, with a scripted upstream and any number of clients on a test's event loop."""

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

from tests.conformance.relay.client import RawClient
from tests.conformance.relay.upstream import BASE_PATH, Received, Script, Upstream, UpstreamConnection
from tests.conformance.relay.wire import lines_of
from tests.support.server import Server

T = TypeVar("T")

TIMEOUT_S = 60.0


class World:
    """A relay, its upstream and its clients. ``run`` runs a coroutine for at most one minute."""

    def __init__(self, server: Server, provider: Upstream, runner: asyncio.Runner) -> None:
        self.server = server
        self.provider = provider
        self._runner = runner
        self._names = count(1)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        async def with_timeout() -> T:
            async with asyncio.timeout(TIMEOUT_S):
                return await work

        result = self._runner.run(with_timeout())
        assert self.provider.complaints == []
        return result

    def client(self) -> RawClient:
        """Return a client with a new connection, which ``async with`` closes."""
        return RawClient(self.server.port)

    def name(self) -> bytes:
        """Return a name that no earlier exchange has used."""
        return b"%d" % next(self._names)

    def script(self, script: Script, *, at_head: bool = False) -> bytes:
        """Set the upstream's script for one request. Returns the request's name for the header X-Exchange."""
        name = self.name()
        self.provider.respond(name, script, at_head=at_head)
        return name

    def responds(self, *chunks: bytes) -> bytes:
        """Make the upstream send these chunks in response to one request. Returns the request's name."""

        async def script(line: UpstreamConnection, _: Received) -> None:
            await line.send(*chunks)

        return self.script(script)


def ask(name: bytes, *lines: bytes, first: bytes = b"GET /v1/models HTTP/1.1", body: bytes | None = None) -> bytes:
    """Return a request as bytes. If there is a body, the request has a Content-Length."""
    pairs = [(b"Host", b" localhost"), (b"X-Exchange", b" " + name)]
    pairs += [(key, value) for key, _, value in (line.partition(b":") for line in lines)]
    if body is not None:
        pairs.append((b"Content-Length", b" %d" % len(body)))
    return lines_of(first, pairs) + (body or b"")


def whole(body: bytes, *lines: bytes, status: bytes = b"200 OK") -> bytes:
    """Return the bytes of a response with a Content-Length."""
    return b"\r\n".join([b"HTTP/1.1 " + status, b"Content-Length: %d" % len(body), *lines, b"", body])


@contextmanager
def new_world(directory: Path, *flags: str) -> Iterator[World]:
    """Run a relay and a separate upstream until the ``with`` block ends."""
    with asyncio.Runner() as runner:
        provider = Upstream()
        runner.run(provider.start())
        upstream = f"http://{provider.authority.decode()}{BASE_PATH.decode()}"
        try:
            with Server(directory, upstream, *flags) as server:
                yield World(server, provider, runner)
        finally:
            runner.run(provider.stop())
