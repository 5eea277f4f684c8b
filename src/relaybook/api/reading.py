"""Asks the store from asynchronous code: in a bounded number of threads, each question with its deadline."""

from collections.abc import Callable
from typing import Final, TypeVar

import anyio.to_thread
from anyio import CapacityLimiter
from starlette.requests import Request

from relaybook import clock
from relaybook.log.store.port import Reader

THREADS: Final = 8
_Answer = TypeVar("_Answer")


class Reading:
    """A reader, the threads that may ask it at a time, and how long one question may take."""

    def __init__(self, reader: Reader, query_seconds: float, threads: int = THREADS) -> None:
        self.reader = reader
        self._query_ns = int(query_seconds * clock.NANOSECONDS)
        self._limiter = CapacityLimiter(threads)

    def deadline_ns(self) -> int:
        """The moment (monotonic clock) at which a question asked now must end. Waiting for a thread counts too."""
        return clock.monotonic_ns() + self._query_ns

    async def ask(self, question: Callable[[Reader], _Answer]) -> _Answer:
        """Runs ``question`` on the reader in a thread; what it raises comes out here."""
        return await anyio.to_thread.run_sync(question, self.reader, limiter=self._limiter)


def reading_of(request: Request) -> Reading:
    """The reading of the application that handles the request."""
    reading = request.app.state.reading
    assert isinstance(reading, Reading)
    return reading
