"""This part measures the delay of streamed events.

The delay is the time from the upstream's write to the client's read of an event. *direct* is without a proxy, and
*relay* is through the relay.
"""

import asyncio
import re
import time

import uvloop
from tests.support.server import SimulatorProcess

from benchmarks.bench import Bench, Relaybook
from benchmarks.results.figures import Result, percentile

STREAMS, EVENTS = 25, 40
METHOD = (
    f"The simulated upstream sends an event every 200 ms that contains its send timestamp: {STREAMS} concurrent "
    f"streams of {EVENTS} events, started at different times. The delay is the arrival at the client minus that "
    "timestamp (one machine, one clock), direct and through the relay."
)
_BODY = b'{"model":"gpt-4o-mini","stream":true,"messages":[{"role":"user","content":"Hello"}]}'
_REQUEST = (
    b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer sk-test-1234567890\r\n"
    b"Content-Type: application/json\r\nSim-Timestamps: yes\r\nSim-Event-Interval-Ms: 200\r\n"
    b"Sim-Answer-Tokens: %d\r\nContent-Length: %d\r\n\r\n%b"
)
_SENT_AT = re.compile(rb'"sent_at_ns": ?(\d+)')
_LATEST_MS = 10.0


def run(bench: Bench) -> Result:
    """Measure the delay without a proxy, then through the relay."""
    result = Result("chunk_delay", METHOD)
    events = 5 if bench.quick else EVENTS
    with SimulatorProcess(bench.place("provider"), "--ledger-mode", "off") as provider:
        port = int(provider.url.removesuffix("/v1").rpartition(":")[2])
        with Relaybook(bench, "relay", provider.url) as relay:
            for name, at in (("direct", port), ("relay", relay.port)):
                delays = uvloop.run(_read_streams(at, events))
                result.rounds.append({"way": name, "delays_ms": [round(each, 3) for each in delays]})
                result.add(f"{name}: events", len(delays), "")
                result.add(f"{name}: median", percentile(delays, 50), "ms")
                result.add(f"{name}: p99", percentile(delays, 99), "ms")
                result.add(f"{name}: maximum", max(delays), "ms", _LATEST_MS if name == "relay" else None)
    return result


async def _read_streams(port: int, events: int) -> list[float]:
    delays: list[float] = []
    running = []
    for _ in range(STREAMS):
        running.append(asyncio.create_task(_read_stream(port, events, delays)))
        await asyncio.sleep(0.2 / STREAMS)
    await asyncio.gather(*running)
    return delays


async def _read_stream(port: int, events: int, delays: list[float]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(_REQUEST % (events, len(_BODY), _BODY))
    seen = b""
    while b"data: [DONE]" not in seen:
        data = await reader.read(65536)
        now = time.time_ns()
        if not data:
            raise ConnectionError("a stream ended before its time")
        delays += [(now - int(at)) / 1e6 for at in _SENT_AT.findall(data)]
        seen = data
    writer.close()
