"""Read a fixed number of concurrent streams, on uvloop. A stream that ends is restarted.

``python -m benchmarks.traffic.event_load --port P --streams N --stream-seconds T --seconds S --pid PID`` prints one
line of JSON about a window of S seconds. The JSON has the numbers of events and reads, the CPU time of the process PID
in the window, and the time to each stream's first event. Streams last T seconds, and their starts are spread evenly
over T seconds.
"""

import argparse
import asyncio
import json
import time
from typing import cast

import uvloop

from benchmarks.process_cpu import cpu_seconds
from benchmarks.results.figures import percentile
from benchmarks.traffic.messages import FIVE, REQUEST_BODY

STREAM_REQUEST = FIVE.request_head("127.0.0.1") + REQUEST_BODY.replace(b"{", b'{"stream":true,', 1)
STREAM_REQUEST = STREAM_REQUEST.replace(
    b"Content-Length: %d" % len(REQUEST_BODY), b"Content-Length: %d" % (len(REQUEST_BODY) + 14)
)
_END = b"\r\n0\r\n\r\n"
_END_BYTES = len(_END)


class Counts:
    """The measurements of all clients."""

    def __init__(self) -> None:
        self.events = 0
        self.reads = 0
        self.broken = 0
        self.first_ms: list[float] = []


class Client(asyncio.Protocol):
    """A connection that always has a running stream."""

    def __init__(self, counts: Counts) -> None:
        self._counts = counts

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._last = b""
        self._send()

    def _send(self) -> None:
        self._asked = time.perf_counter()
        self._waiting = True
        self._transport.write(STREAM_REQUEST)

    def data_received(self, data: bytes) -> None:
        events = data.count(b"data: ")
        self._counts.events += events
        self._counts.reads += events > 0
        if events and self._waiting:
            self._waiting = False
            self._counts.first_ms.append((time.perf_counter() - self._asked) * 1e3)
        self._last = data if len(data) >= _END_BYTES else (self._last + data)[-_END_BYTES:]
        if self._last.endswith(_END):  # nginx writes the last chunk separately
            self._send()

    def connection_lost(self, error: Exception | None) -> None:
        self._counts.broken += 1


async def _load(port: int, streams: int, stream_seconds: float, seconds: float, pid: int) -> dict[str, float]:
    loop = asyncio.get_running_loop()
    counts = Counts()
    for _ in range(streams):
        await loop.create_connection(lambda: Client(counts), "127.0.0.1", port)
        await asyncio.sleep(stream_seconds / streams)
    counts.first_ms.clear()
    events, reads, used, started = counts.events, counts.reads, cpu_seconds(pid), loop.time()
    await asyncio.sleep(seconds)
    events, reads = counts.events - events, counts.reads - reads
    used, took = cpu_seconds(pid) - used, loop.time() - started
    return {
        "events": events,
        "events_per_s": events / took,
        "reads_per_event": reads / max(events, 1),
        "cpu_us": used / max(events, 1) * 1e6,
        "broken": counts.broken,
        "first_p50_ms": percentile(counts.first_ms, 50),
        "first_p99_ms": percentile(counts.first_ms, 99),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--streams", type=int, required=True)
    parser.add_argument("--stream-seconds", type=float, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--pid", type=int, required=True)
    wanted = parser.parse_args()
    found = _load(wanted.port, wanted.streams, wanted.stream_seconds, wanted.seconds, wanted.pid)
    print(json.dumps(uvloop.run(found)))
