"""This part measures the memory that a connection or stream takes in the relay.

Memory is the growth of the resident memory (RSS) of the relay process, compared with the process without connections.
Each active stream sends one event of 280 bytes per second.
"""

import asyncio
import resource
from typing import Any

from benchmarks.bench import Bench, Relaybook
from benchmarks.parts.streams import start_event_provider
from benchmarks.process_cpu import resident_kib
from benchmarks.results.figures import Result
from benchmarks.traffic.event_load import STREAM_REQUEST

STREAMS, IDLE = 1000, 10_000
_SPARE_DESCRIPTORS = 200
_EVENTS_SEEN, _EVENTS_MORE = 3, 60
METHOD = (
    f"RSS of the relay process. Streams: {STREAMS:,} concurrent streams with one event of 280 bytes per second each, "
    f"measured after {_EVENTS_SEEN} events per stream and again {_EVENTS_MORE} events later. Idle: {IDLE:,} client "
    "connections (fewer if the descriptor limit is lower) that each received one response before. Each measurement "
    "has its own server. Both connections of a stream, to the client and to the upstream, count."
)


def run(bench: Bench) -> Result:
    """Measure streams, then idle connections."""
    result = Result("memory", METHOD)
    provider, port = start_event_provider(bench.place("provider"), events=1_000_000, interval_ms=1000)
    for what, count in (("stream", STREAMS), ("idle connection", _most_idle())):
        with Relaybook(bench, what.replace(" ", "-"), f"http://127.0.0.1:{port}/v1", "--drain-timeout", "1") as relay:
            result.rounds.append({"what": what} | asyncio.run(_grow(relay, what, count)))
    provider.kill()
    streams, idle = result.rounds
    result.add("without connections", streams["empty_kib"] / 1024, "MiB")
    result.add(f"with {streams['count']:,} streams", streams["full_kib"] / 1024, "MiB")
    result.add("per active stream", _each(streams), "KiB", 16)
    grown = (streams["later_kib"] - streams["full_kib"]) / streams["count"]
    result.add(f"growth per stream after {_EVENTS_MORE} more events", grown, "KiB", 1)
    result.add(f"with {idle['count']:,} idle connections", idle["full_kib"] / 1024, "MiB")
    result.add("per idle connection", _each(idle), "KiB", 8)
    return result


def _each(found: dict[str, Any]) -> float:
    return float((found["full_kib"] - found["empty_kib"]) / found["count"])


def _most_idle() -> int:
    """Return the number of idle connections that the relay accepts. It needs two descriptors for each."""
    return min(IDLE, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2 - _SPARE_DESCRIPTORS)


async def _grow(relay: Relaybook, what: str, count: int) -> dict[str, Any]:
    empty = resident_kib(relay.pid)
    writers: list[asyncio.StreamWriter] = []
    readers: list[asyncio.StreamReader] = []
    for _ in range(count):
        reader, writer = await asyncio.open_connection("127.0.0.1", relay.port)
        writers.append(writer)
        if what == "stream":
            writer.write(STREAM_REQUEST)
            readers.append(reader)
        else:
            writer.write(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            await reader.readuntil(b"ok\n")
    await asyncio.gather(*(_see(reader, _EVENTS_SEEN) for reader in readers))
    full = resident_kib(relay.pid)
    await asyncio.gather(*(_see(reader, _EVENTS_MORE) for reader in readers))
    later = resident_kib(relay.pid)
    for writer in writers:
        writer.transport.abort()
    return {"count": count, "empty_kib": empty, "full_kib": full, "later_kib": later}


async def _see(reader: asyncio.StreamReader, events: int) -> None:
    for _ in range(events):
        await reader.readuntil(b"\n\n")
