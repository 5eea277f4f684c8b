"""Measure the memory of every proxy when idle, with idle connections and with streams.

Proxies are restarted one at a time.
"""

import asyncio
import resource
import time
from contextlib import ExitStack
from typing import Any

import uvloop

from benchmarks.comparison.field import Field, rest
from benchmarks.comparison.request import STREAM_BODY, ResponseReader, request_bytes
from benchmarks.peers.catalogue import Entry
from benchmarks.peers.peer import NotInstalled, Peer, resident_mib
from benchmarks.traffic.messages import REQUEST_BODY

IDLE, STREAMS = (1_000, 10_000), (1_000, 5_000)
INTERVAL_MS = 2000.0
#: Time limits for reaching the first and the second number of connections. If a limit passes, the cell shows the number
#: that was reached.
PATIENCE_S = (15.0, 20.0)
_AT_A_TIME = 64
_SPARE_DESCRIPTORS = 500
_LONG_S = 600.0


def raise_descriptor_limit() -> None:
    """Raise the limit of open files to the maximum, for this process and its child processes."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def measure_memory(field: Field) -> None:
    """Measure one proxy after another, with one instance for connections and one for streams.

    No other program may run at the same time.
    """
    field.provider.events(1_000_000, INTERVAL_MS / 20 if field.bench.quick else INTERVAL_MS)
    for entry in field.to_start_anew():
        with ExitStack() as stack:
            started = {what: field.start(entry, f"memory-{what}") for what in ("idle", "stream")}
            for what, peer in started.items():
                if peer is not None and _enter(field, entry, what, peer, stack):
                    _measure(field, entry, what, peer)


def _enter(field: Field, entry: Entry, what: str, peer: Peer, stack: ExitStack) -> bool:
    try:
        stack.enter_context(peer)
    except (NotInstalled, OSError, AssertionError) as error:
        field.result.note(f"memory with {_counts(field, what)[0]:,} {_name(what)}", entry.name, f"no start: {error}")
        return False
    return True


def _counts(field: Field, what: str) -> tuple[int, ...]:
    if field.bench.quick:
        return (50, 100)
    return IDLE if what == "idle" else STREAMS


def _measure(field: Field, entry: Entry, what: str, peer: Peer) -> None:
    counts = _counts(field, what)
    found = uvloop.run(_grow(peer, what, counts))
    field.result.rounds.append({"what": "memory", "with": what, "proxy": entry.name} | found)
    if what == "idle":
        field.result.cell("memory without connections", entry.name, found["mib"][0], "MiB")
    for index, count in enumerate(counts, 1):
        row = f"memory with {count:,} {_name(what)}"
        if index < len(found["mib"]):
            field.result.cell(row, entry.name, found["mib"][index], "MiB")
        elif index == len(found["mib"]) and found["reached"]:
            field.result.note(row, entry.name, f"only {found['reached']:,} after {PATIENCE_S[index - 1]:g} s")
        else:
            field.result.note(row, entry.name, "not measured")


def _name(what: str) -> str:
    return "idle connections" if what == "idle" else "streams"


async def _grow(peer: Peer, what: str, counts: tuple[int, ...]) -> dict[str, Any]:
    """Measure the memory at each number of connections.

    ``mib`` has the memory when idle and at each count that was reached. ``reached`` is the final count.
    """
    await _Connection(peer, REQUEST_BODY).ask(whole=True)
    rest(peer)
    mib, connections = [resident_mib(peer)], list[_Connection]()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0] - _SPARE_DESCRIPTORS
    for count, patience_s in zip(counts, PATIENCE_S, strict=True):
        if count > most:
            break
        body = REQUEST_BODY if what == "idle" else STREAM_BODY
        await _add(peer, body, count - len(connections), connections, patience_s)
        if sum(each.is_there for each in connections) < count:
            break
        mib.append(resident_mib(peer))
    reached = sum(each.is_there for each in connections)
    for each in connections:
        each.leave()
    return {"mib": mib, "reached": reached}


async def _add(peer: Peer, body: bytes, count: int, connections: "list[_Connection]", patience_s: float) -> None:
    """Open this many connections, a few at a time.

    A connection counts once it has received its response or the first event of its stream.
    """
    until = time.monotonic() + patience_s
    opening = asyncio.Semaphore(_AT_A_TIME if body is REQUEST_BODY else count)

    async def add() -> None:
        async with opening:
            if time.monotonic() < until:
                connections.append(_Connection(peer, body))
                await connections[-1].ask(whole=body is REQUEST_BODY)

    waiting = [asyncio.ensure_future(add()) for _ in range(count)]
    await asyncio.wait(waiting, timeout=patience_s)
    for each in waiting:
        each.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)


class _Connection(asyncio.Protocol):
    """A client's connection. ``is_there`` is True after a response, as long as the connection is open."""

    def __init__(self, peer: Peer, body: bytes) -> None:
        self.is_there = False
        self._peer = peer
        self._request = request_bytes(peer.headers, body)
        self._reader = ResponseReader()
        self._answered = asyncio.Event()
        self._transport: asyncio.Transport | None = None

    async def ask(self, *, whole: bool) -> None:
        """Connect and send a request.

        With ``whole``, returns after the complete response. Otherwise, returns after the first bytes of the response
        body.
        """
        self._whole = whole
        loop = asyncio.get_running_loop()
        self._transport, _ = await loop.create_connection(lambda: self, "127.0.0.1", self._peer.port)
        self._transport.write(self._request)
        await asyncio.wait_for(self._answered.wait(), _LONG_S)

    def leave(self) -> None:
        """Abort the connection."""
        if self._transport is not None:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        if self._answered.is_set():
            return  # further events are ignored
        self._reader.feed(data)
        if self._reader.complete or (self._reader.chunks and not self._whole):
            self.is_there = self._reader.status == 200
            self._answered.set()

    def connection_lost(self, error: Exception | None) -> None:
        self.is_there = False
        self._answered.set()
