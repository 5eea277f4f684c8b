"""Send requests at a constant rate, each on its own connection, without waiting for responses."""

import asyncio
import time
from dataclasses import dataclass
from typing import Final, cast

_PATIENCE_SECONDS: Final = 30.0


@dataclass
class Call:
    """One request. Times are monotonic nanoseconds. The response is all data received until the connection closed."""

    due_ns: int
    sent_ns: int = 0
    over_ns: int = 0
    answer: bytes = b""

    @property
    def status(self) -> int:
        """The status of a complete response, otherwise 0."""
        head, mark, body = self.answer.partition(b"\r\n\r\n")
        if not mark or len(body) < int(header(head, b"content-length") or -1):
            return 0
        return int(head.split(b" ", 2)[1])

    @property
    def is_refused(self) -> bool:
        """Whether the request was rejected because of overload, in the documented way."""
        head = self.answer.partition(b"\r\n\r\n")[0]
        told = header(head, b"service-error") == b"overloaded" and int(header(head, b"retry-after-ms") or 0) > 0
        return self.status == 503 and told

    @property
    def took_ms(self) -> float:
        """The milliseconds from the scheduled time of the request to the last byte of the response."""
        return (self.over_ns - self.due_ns) / 1e6


def header(head: bytes, name: bytes) -> bytes:
    """Return the value of a header, or empty bytes if the header is missing."""
    return head.lower().partition(b"\r\n" + name + b":")[2].partition(b"\r\n")[0].strip()


class _Connection(asyncio.Protocol):
    def __init__(self, call: Call, request: bytes) -> None:
        self._call = call
        self._request = request
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self._call.answer += data
        if self._call.status:
            self._end()
            self._transport.abort()

    def connection_lost(self, error: Exception | None) -> None:
        self._end()

    def _end(self) -> None:
        if not self.over.done():
            self._call.over_ns = time.monotonic_ns()
            self.over.set_result(None)


async def send_evenly(port: int, request: bytes, per_second: float, seconds: float) -> list[Call]:
    """Send ``per_second`` requests per second for ``seconds``.

    When all requests have ended, returns them in the order of their scheduled times.
    """
    start = time.monotonic_ns() + 50_000_000
    calls = [Call(start + int(number / per_second * 1e9)) for number in range(int(per_second * seconds))]
    async with asyncio.TaskGroup() as group:
        for call in calls:
            await asyncio.sleep((call.due_ns - time.monotonic_ns()) / 1e9)
            group.create_task(_make(port, request, call))
    return calls


async def _make(port: int, request: bytes, call: Call) -> None:
    call.sent_ns = call.over_ns = time.monotonic_ns()
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            _, calling = await loop.create_connection(lambda: _Connection(call, request), "127.0.0.1", port)
            await calling.over
    except (OSError, TimeoutError):
        call.over_ns = time.monotonic_ns()
