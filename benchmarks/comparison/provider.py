"""Run the upstream of the comparison, which sends a stream if the request asks for one, otherwise a completion.

``python -m benchmarks.comparison.provider --port P --events N --interval-ms T --answer-bytes B``. Streams are the same
as in ``benchmarks.traffic.event_provider``. A request is read completely before the response is sent. Request bodies
need a Content-Length.
"""

import argparse
import asyncio
import json

import uvloop

from benchmarks.traffic.event_provider import EventStream
from benchmarks.traffic.messages import ANSWER_BODY

#: Text that the body of a request for a stream has near its start or end, in either formatting.
_STREAM = (b'"stream":true', b'"stream": true')
_NEAR = 600
#: The end of a request without a body, which makes ``EventStream`` start a stream.
_HEAD_ALONE = b"\r\n\r\n"


def completion(length: int) -> bytes:
    """Return a completion of about this many bytes, or the fixed completion of ``messages`` if it is long enough."""
    if length <= len(ANSWER_BODY):
        return ANSWER_BODY
    response = json.loads(ANSWER_BODY)
    message = response["choices"][0]["message"]
    message["content"] = words(length - len(ANSWER_BODY), 2)
    return json.dumps(response, separators=(",", ":")).encode()


def words(length: int, seed: int) -> str:
    """Return this many characters of random words, which are about as compressible as real prompts."""
    state, parts, size = seed, [], 0
    while size < length:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        parts.append(f"w{state >> 48:x}")
        size += len(parts[-1]) + 1
    return " ".join(parts)[:length]


class AnyResponse(EventStream):
    """A connection that responds to each request with a stream or the completion."""

    def __init__(self, events: int, interval: float, response: bytes) -> None:
        super().__init__(events, interval)
        self._answer = response
        self._body = bytearray()
        self._awaited = -1

    def data_received(self, data: bytes) -> None:
        self._body += data
        if self._awaited < 0:
            at = self._body.find(b"\r\n\r\n")
            if at < 0:
                return
            head = bytes(self._body[:at]).lower() + b"\r\n"
            self._awaited = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0] or 0)
            del self._body[: at + 4]
            if b"expect: 100-continue" in head:
                self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if len(self._body) < self._awaited:
            return
        ends = bytes(self._body[:_NEAR] + self._body[-_NEAR:])
        self._body.clear()
        self._awaited = -1
        if any(mark in ends for mark in _STREAM):
            super().data_received(_HEAD_ALONE)
        else:
            self._transport.write(self._answer)


async def _serve(port: int, events: int, interval: float, answer_bytes: int) -> None:
    loop = asyncio.get_running_loop()
    body = completion(answer_bytes)
    response = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    server = await loop.create_server(lambda: AnyResponse(events, interval, response), "127.0.0.1", port, backlog=8192)
    print("ready", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--events", type=int, required=True)
    parser.add_argument("--interval-ms", type=float, required=True)
    parser.add_argument("--answer-bytes", type=int, default=0)
    wanted = parser.parse_args()
    uvloop.run(_serve(wanted.port, wanted.events, wanted.interval_ms / 1000, wanted.answer_bytes))
