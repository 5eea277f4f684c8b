"""Run a TCP proxy that injects network faults: latency, limited bandwidth, stalls, resets and half-closed connections.

Faults are independent of the protocol. They occur after a number of bytes, in each direction separately. A close or
reset by one peer is passed on to the other peer. Each ``FaultProxy`` belongs to one event loop.
"""

import asyncio
import math
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from struct import pack
from typing import Final, Literal, Self

_READ_BYTES: Final = 1 << 16
_LINGER_ZERO: Final = pack("ii", 1, 0)
#: Number of writes per second in a throttled direction.
_STEPS_PER_SECOND: Final = 50

#: ``fin`` and ``rst`` close the connection for both peers. ``half`` closes only this direction. ``hang`` silently stops
#: forwarding in this direction.
Ending = Literal["fin", "rst", "half", "hang"]


@dataclass(frozen=True)
class Fault:
    """The fault of one direction: after ``after`` bytes, a pause of ``stall_seconds``, then ``ending``.

    Without an ending, forwarding continues after the pause. Latency and bandwidth apply to all bytes.
    """

    latency_seconds: float = 0.0
    bytes_per_second: float = math.inf
    after: int | None = None
    stall_seconds: float = 0.0
    ending: Ending | None = None


@dataclass(frozen=True)
class Plan:
    """The faults of one connection: ``upstream`` from client to target, ``downstream`` from target to client."""

    upstream: Fault = Fault()
    downstream: Fault = Fault()


NO_FAULTS: Final = Plan()


class _Ended(Exception):
    """Raised when a fault closes the connection."""

    def __init__(self, ending: Ending) -> None:
        self.ending = ending


@dataclass
class _Peer:
    """The connection to the client or to the target."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def __post_init__(self) -> None:
        self.writer.transport.set_write_buffer_limits(0)  # so that ``drain`` returns when everything was sent

    async def send(self, data: bytes) -> None:
        """Send bytes and return when the kernel has them. Raises OSError if the peer closed the connection."""
        self._raise_if_closed()
        self.writer.write(data)
        await self.writer.drain()

    def send_end(self) -> None:
        """Close the sending direction. Raises OSError if the peer closed the connection."""
        self._raise_if_closed()
        self.writer.write_eof()

    def _raise_if_closed(self) -> None:
        """Raise OSError if the connection is closed. uvloop would raise RuntimeError."""
        if self.writer.transport.is_closing():
            raise ConnectionResetError

    async def end(self, ending: Ending) -> None:
        """Close the socket, with a reset if ``ending`` is ``rst``. Unsent bytes are discarded."""
        peer_socket = self.writer.get_extra_info("socket")
        if ending == "rst" and peer_socket is not None:
            with suppress(OSError, ValueError):  # already closed (uvloop raises ValueError)
                peer_socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_ZERO)
        if ending == "rst" or self.writer.transport.get_write_buffer_size():
            self.writer.transport.abort()
        else:
            self.writer.close()
        await asyncio.shield(self._closed())  # cancelling this wait would cancel all waits for the same close

    async def _closed(self) -> None:
        with suppress(OSError):
            await self.writer.wait_closed()


class FaultProxy:
    """Listens on ``port``, once started, and forwards each connection to the port ``target``.

    ``choose`` returns the plan of the next connection. By default, connections have no faults.
    """

    def __init__(self, target: int) -> None:
        self.target = target
        self.port = 0
        self.choose: Callable[[], Plan] = lambda: NO_FAULTS
        #: Number of connections that a fault has closed.
        self.closed_by_faults = 0
        self._server: asyncio.Server | None = None
        self._links: dict[asyncio.Task[None], list[_Peer]] = {}

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, backlog=512)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Stop listening and reset all connections."""
        if self._server is not None:
            self._server.close()
        await self.end_all("rst")

    async def end_all(self, ending: Ending = "fin") -> None:
        """Close all connections. Later connections get new plans."""
        links = dict(self._links)
        for task in links:
            task.cancel()
        await asyncio.gather(*links, return_exceptions=True)
        for peer in [peer for peers in links.values() for peer in peers]:
            await peer.end(ending)

    def once(self, plan: Plan) -> None:
        """Use this plan for the next connection only. Later connections have no faults."""

        def choose() -> Plan:
            self.choose = lambda: NO_FAULTS
            return plan

        self.choose = choose

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        client_peer = _Peer(reader, writer)
        peers = [client_peer]
        task = asyncio.get_running_loop().create_task(self._link(client_peer, self.choose(), peers))
        self._links[task] = peers
        task.add_done_callback(self._links.pop)

    async def _link(self, client_peer: _Peer, plan: Plan, peers: list[_Peer]) -> None:
        try:
            target_peer = _Peer(*await asyncio.open_connection("127.0.0.1", self.target))
        except OSError:
            await client_peer.end("rst")
            return
        peers.append(target_peer)
        loop = asyncio.get_running_loop()
        directions = [
            loop.create_task(_forward(plan.upstream, client_peer, target_peer)),
            loop.create_task(_forward(plan.downstream, target_peer, client_peer)),
        ]
        ending: Ending = "fin"
        try:
            await asyncio.gather(*directions)
        except _Ended as ended:
            self.closed_by_faults += 1
            ending = ended.ending
        except OSError:
            ending = "rst"
        finally:
            for direction in directions:
                direction.cancel()
            await asyncio.gather(*directions, return_exceptions=True)
        for peer in peers:
            await peer.end(ending)


async def _forward(fault: Fault, source: _Peer, sink: _Peer) -> None:
    """Forward one direction until it ends.

    Raises _Ended if a fault closes the connection, and OSError if a peer has closed it.
    """
    if fault.after is None:
        await _copy(fault, source, sink, math.inf)
    elif await _copy(fault, source, sink, fault.after):
        await asyncio.sleep(fault.stall_seconds)
        match fault.ending:
            case "fin" | "rst":
                raise _Ended(fault.ending)
            case "hang":
                await asyncio.get_running_loop().create_future()
            case None:
                await _copy(fault, source, sink, math.inf)
    sink.send_end()
    while await source.reader.read(_READ_BYTES):  # discard bytes that arrive after a half-close
        pass


async def _copy(fault: Fault, source: _Peer, sink: _Peer, limit: float) -> bool:
    """Forward up to ``limit`` bytes. Returns false if the source ended before the limit."""
    chunk_bytes = min(_READ_BYTES, max(1.0, fault.bytes_per_second / _STEPS_PER_SECOND))
    while limit > 0:
        data = await source.reader.read(int(min(chunk_bytes, limit)))
        if not data:
            return False
        await asyncio.sleep(fault.latency_seconds + len(data) / fault.bytes_per_second)
        await sink.send(data)
        limit -= len(data)
    return True
