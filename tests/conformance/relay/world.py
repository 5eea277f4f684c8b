"""One relay as processes, one scripted provider and any number of callers, on one loop that runs when a test says."""

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

from tests.conformance.relay.caller import Caller
from tests.conformance.relay.provider import BASE_PATH, Line, Provider, Script, Seen
from tests.conformance.relay.wire import lines_of
from tests.support.server import Server

T = TypeVar("T")

PATIENCE_S = 60.0


class World:
    """See the module. ``run`` gives a coroutine a minute."""

    def __init__(self, server: Server, provider: Provider, runner: asyncio.Runner) -> None:
        self.server = server
        self.provider = provider
        self._runner = runner
        self._names = count(1)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        async def patiently() -> T:
            async with asyncio.timeout(PATIENCE_S):
                return await work

        result = self._runner.run(patiently())
        assert self.provider.complaints == []
        return result

    def caller(self) -> Caller:
        """A new connection; ``async with`` closes it."""
        return Caller(self.server.port)

    def name(self) -> bytes:
        """A name no exchange had before."""
        return b"%d" % next(self._names)

    def script(self, script: Script, *, at_head: bool = False) -> bytes:
        """Makes the provider answer one request so; its name, for the header X-Exchange."""
        name = self.name()
        self.provider.answer(name, script, at_head=at_head)
        return name

    def answers(self, *pieces: bytes) -> bytes:
        """Makes the provider answer one request with these writes; its name."""

        async def script(line: Line, _: Seen) -> None:
            await line.send(*pieces)

        return self.script(script)


def ask(name: bytes, *lines: bytes, first: bytes = b"GET /v1/models HTTP/1.1", body: bytes | None = None) -> bytes:
    """A request as bytes; with a body its length is told."""
    pairs = [(b"Host", b" localhost"), (b"X-Exchange", b" " + name)]
    pairs += [(key, value) for key, _, value in (line.partition(b":") for line in lines)]
    if body is not None:
        pairs.append((b"Content-Length", b" %d" % len(body)))
    return lines_of(first, pairs) + (body or b"")


def whole(body: bytes, *lines: bytes, status: bytes = b"200 OK") -> bytes:
    """An answer of a told length as bytes."""
    return b"\r\n".join([b"HTTP/1.1 " + status, b"Content-Length: %d" % len(body), *lines, b"", body])


@contextmanager
def a_world(directory: Path, *flags: str) -> Iterator[World]:
    """A relay before a provider of its own; all of it ends with the block."""
    with asyncio.Runner() as runner:
        provider = Provider()
        runner.run(provider.start())
        upstream = f"http://{provider.authority.decode()}{BASE_PATH.decode()}"
        try:
            with Server(directory, upstream, *flags) as server:
                yield World(server, provider, runner)
        finally:
            runner.run(provider.stop())
