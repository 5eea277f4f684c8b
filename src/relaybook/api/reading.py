"""Query the store from asynchronous code, in a bounded number of threads and with a deadline per query."""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Final, TypeVar

import anyio.to_thread
from anyio import CapacityLimiter
from starlette.requests import Request

from relaybook import clock
from relaybook.log.store.port import Reader

THREADS: Final = 8
_Result = TypeVar("_Result")


class AsyncReader:
    """Runs queries with the store's ``Reader`` in at most ``threads`` threads.

    ``run`` has no time limit. If a query must end within ``query_seconds``, it must stop at ``deadline_ns`` itself.
    """

    def __init__(self, reader: Reader, query_seconds: float, threads: int = THREADS) -> None:
        self.reader = reader
        self._query_ns = int(query_seconds * clock.NANOSECONDS)
        self._limiter = CapacityLimiter(threads)

    def deadline_ns(self) -> int:
        """Return the deadline (monotonic clock) of a query that starts now.

        ``query_seconds`` includes the time in which the query waits for a thread.
        """
        return clock.monotonic_ns() + self._query_ns

    async def run(self, query: Callable[[Reader], _Result]) -> _Result:
        """Run ``query`` with the reader in a thread. Returns its result and propagates its exceptions."""
        return await anyio.to_thread.run_sync(query, self.reader, limiter=self._limiter)

    async def stream(self, first: bytes, rest: Iterator[bytes]) -> AsyncIterator[bytes]:
        """Yield ``first``, then the chunks from ``rest``.

        The chunks from ``rest`` are taken in a thread, because this iterator reads the store.
        """
        chunk: bytes | None = first
        while chunk is not None:
            yield chunk
            chunk = await self.run(lambda _: next(rest, None))


def async_reader_of(request: Request) -> AsyncReader:
    """Return the reader of the application that handles the request."""
    async_reader = request.app.state.async_reader
    assert isinstance(async_reader, AsyncReader)
    return async_reader
