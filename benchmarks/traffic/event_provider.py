"""Run an upstream that streams events of about 280 bytes at a constant rate. The upstream runs on uvloop for low
overhead.

``python -m benchmarks.traffic.event_provider --port P --events N --interval-ms T``. The response to every request is a
stream.
"""

import argparse
import asyncio
from typing import cast

import uvloop

_HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nCache-Control: no-cache\r\n"
    b"x-request-id: req_6f2a8b8bd1c94d0f8a4e3f0f5b1c2d3e\r\nTransfer-Encoding: chunked\r\n\r\n"
)
_EVENT = (
    b'data: {"id":"chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT","object":"chat.completion.chunk","created":1741569952,'
    b'"model":"gpt-4o-mini-2024-07-18","service_tier":"default","system_fingerprint":"fp_0ba0d124f1",'
    b'"choices":[{"index":0,"delta":{"content":" token"},"logprobs":null,"finish_reason":null}]}\n\n'
)


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


class EventStream(asyncio.Protocol):
    """A connection that responds to each request with a stream. Requests are not pipelined."""

    chunk = _chunk(_EVENT)
    end = _chunk(b"data: [DONE]\n\n") + b"0\r\n\r\n"

    def __init__(self, events: int, interval: float) -> None:
        self._events = events
        self._interval = interval
        self._unread = b""
        self._loop = asyncio.get_running_loop()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._unread += data
        head, mark, body = self._unread.partition(b"\r\n\r\n")
        if not mark:
            return
        length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0] or 0)
        if len(body) < length:
            return
        self._unread = b""
        self._transport.write(_HEAD)
        self._left = self._events
        self._due = self._loop.time() + self._interval
        self._loop.call_at(self._due, self._send)

    def _send(self) -> None:
        if self._transport.is_closing():
            return
        if self._left == 0:
            self._transport.write(self.end)
            return
        self._left -= 1
        self._transport.write(self.chunk)
        self._due += self._interval
        self._loop.call_at(self._due, self._send)


async def _serve(port: int, events: int, interval: float) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: EventStream(events, interval), "127.0.0.1", port, backlog=8192)
    print("ready", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--events", type=int, required=True)
    parser.add_argument("--interval-ms", type=float, required=True)
    wanted = parser.parse_args()
    uvloop.run(_serve(wanted.port, wanted.events, wanted.interval_ms / 1000))
