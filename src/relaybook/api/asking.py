"""Ask questions about the log from asynchronous code, in a bounded number of threads and with a deadline each."""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Final, TypeVar

import anyio.to_thread
from anyio import CapacityLimiter
from starlette.requests import Request

from relaybook import clock
from relaybook.log.ask.asker import Asker
from relaybook.log.ask.scope import Scope

THREADS: Final = 8
_Answer = TypeVar("_Answer")


class AsyncAsker:
    """Asks questions in at most ``threads`` threads.

    ``open_asker`` returns an asker for a deadline (monotonic clock). ``run`` has no time limit: a question that must
    end within ``query_seconds`` stops at its deadline itself.
    """

    def __init__(self, open_asker: Callable[[int], Asker], query_seconds: float, threads: int = THREADS) -> None:
        self._open_asker = open_asker
        self._query_ns = int(query_seconds * clock.NANOSECONDS)
        self._limiter = CapacityLimiter(threads)

    @property
    def scope(self) -> Scope:
        """The namespaces that the questions are about."""
        return self._open_asker(0).scope

    async def run(self, question: Callable[[Asker], _Answer]) -> _Answer:
        """Ask the question in a thread. Returns its answer and propagates its exceptions.

        ``query_seconds`` includes the time in which the question waits for a thread.
        """
        asker = self._open_asker(clock.monotonic_ns() + self._query_ns)
        return await anyio.to_thread.run_sync(question, asker, limiter=self._limiter)

    async def stream(self, first: bytes, rest: Iterator[bytes]) -> AsyncIterator[bytes]:
        """Yield ``first``, then the chunks from ``rest``.

        The chunks from ``rest`` are taken in a thread, because this iterator reads the store.
        """
        chunk: bytes | None = first
        while chunk is not None:
            yield chunk
            chunk = await self.run(lambda _: next(rest, None))


def async_asker_of(request: Request) -> AsyncAsker:
    """Return the asker of the application that handles the request."""
    async_asker = request.app.state.async_asker
    assert isinstance(async_asker, AsyncAsker)
    return async_asker
