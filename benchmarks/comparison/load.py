"""Read a fixed number of concurrent streams through any proxy, on uvloop. A stream that ends is restarted.

``python -m benchmarks.comparison.load --port P --streams N …`` prints one line of JSON about a window of time. The JSON
has the number of events, the CPU seconds of each given process, and the time to each stream's first event. The JSON
also has the deviation of gaps between events from the upstream's interval, and the number of streams that broke or
differed from the upstream's stream.
"""

import argparse
import asyncio
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import uvloop

from benchmarks.comparison.request import STREAM_BODY, ResponseReader, request_bytes
from benchmarks.process_cpu import cpu_seconds
from benchmarks.results.figures import percentile

#: Text that every event contains, and that occurs nowhere else in a response.
_MARK = b'" token"'
_AGAIN_S = 0.1


@dataclass
class Window:
    """The measurements of all clients during the window."""

    events_a_stream: int
    interval_ms: float
    is_open: bool = False
    events: int = 0
    whole: int = 0
    broken: int = 0
    first_ms: list[float] = field(default_factory=list)
    #: The deviation |gap − interval| of each event after the first event.
    off_ms: list[float] = field(default_factory=list)


class Client(asyncio.Protocol):
    """A client that always has a running stream, and reconnects if the proxy closes the connection."""

    def __init__(self, port: int, request: bytes, window: Window) -> None:
        self._port = port
        self._request = request
        self._window = window
        self._over = False

    async def connect(self) -> None:
        """Connect and request the first stream."""
        await asyncio.get_running_loop().create_connection(lambda: self, "127.0.0.1", self._port)

    def stop(self) -> None:
        """Close the connection."""
        self._over = True
        self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._reader = ResponseReader()
        self._send()

    def _send(self) -> None:
        self._running = True
        self._seen = 0
        self._last = 0.0
        self._tail = b""
        self._asked = time.perf_counter()
        self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        now = time.perf_counter()
        self._reader.feed(data)
        body = self._tail + b"".join(self._reader.chunks)
        self._reader.chunks.clear()
        if events := body.count(_MARK):
            self._note(events, now)
        self._tail = body[-len(_MARK) + 1 :]
        if self._reader.complete:
            self._end()

    def _note(self, events: int, now: float) -> None:
        window = self._window
        if window.is_open:
            window.events += events
            if self._seen == 0:
                window.first_ms.append((now - self._asked) * 1e3)
            else:
                window.off_ms.append(abs((now - self._last) * 1e3 - window.interval_ms))
            window.off_ms += [window.interval_ms] * (events - 1)
        self._seen += events
        self._last = now

    def _end(self) -> None:
        if self._reader.status != 200 or self._seen != self._window.events_a_stream:
            self._transport.abort()  # breaks a running stream
            return
        self._running = False
        self._window.whole += 1
        if self._reader.stays_open:
            self._reader.next()
            self._send()
        else:
            self._transport.close()

    def connection_lost(self, error: Exception | None) -> None:
        if not self._over:
            self._window.broken += self._running
            asyncio.get_running_loop().call_later(_AGAIN_S if self._running else 0, self._again)

    def _again(self) -> None:
        if not self._over:
            self._connecting = asyncio.ensure_future(self.connect())


async def _load(wanted: argparse.Namespace, extra: Mapping[str, str]) -> dict[str, Any]:
    window = Window(wanted.events, wanted.interval_ms)
    clients = []
    for _ in range(wanted.streams):
        clients.append(Client(wanted.port, request_bytes(extra, STREAM_BODY), window))
        await clients[-1].connect()
        await asyncio.sleep(wanted.spread_s / wanted.streams)
    before, started = {pid: cpu_seconds(pid) for pid in wanted.pids}, time.perf_counter()
    window.is_open = True
    await asyncio.sleep(wanted.seconds)
    window.is_open = False
    took = time.perf_counter() - started
    used = {pid: cpu_seconds(pid) - cpu for pid, cpu in before.items()}
    for client in clients:
        client.stop()
    found = {"events": window.events, "events_per_s": window.events / took, "cpu_s": used}
    found |= {"whole": window.whole, "broken": window.broken}
    for name, values in (("first", window.first_ms), ("off", window.off_ms)):
        if values:
            found |= {f"{name}_p{percent}_ms": round(percentile(values, percent), 3) for percent in (50, 99)}
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--streams", type=int, required=True)
    parser.add_argument("--events", type=int, required=True, help="of each stream")
    parser.add_argument("--interval-ms", type=float, required=True)
    parser.add_argument("--spread-s", type=float, required=True, help="over which the streams begin")
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--pids", type=int, nargs="*", default=[])
    parser.add_argument("--headers", type=json.loads, default={})
    sent = parser.parse_args()
    print(json.dumps(uvloop.run(_load(sent, sent.headers))))
