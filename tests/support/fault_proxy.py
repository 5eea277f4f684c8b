"""A TCP proxy that does to a connection what networks do: delays, throttles, stalls, cuts and half-closes it.

Knows no protocol: faults strike at numbers of bytes, each direction by itself. Otherwise it is faithful: an end or a
reset of one side reaches the other. Belongs to one event loop.
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
#: In so many steps a second a throttled direction moves on.
_STEPS_PER_SECOND: Final = 50

#: ``fin`` and ``rst`` end the whole connection, for both sides. ``half`` ends this direction alone. ``hang``: nothing
#: more passes in this direction, and nobody is told.
Ending = Literal["fin", "rst", "half", "hang"]


@dataclass(frozen=True)
class Fault:
    """What happens to one direction. After ``after`` bytes nothing passes for ``stall_seconds``, then ``ending`` comes.

    Without an ending the direction goes on after the stall.
    """

    latency_seconds: float = 0.0
    bytes_per_second: float = math.inf
    after: int | None = None
    stall_seconds: float = 0.0
    ending: Ending | None = None


@dataclass(frozen=True)
class Plan:
    """The faults of one connection: ``forth`` from the side that connected, ``back`` to it."""

    forth: Fault = Fault()
    back: Fault = Fault()


FAITHFUL: Final = Plan()


class _Ended(Exception):
    """A fault ends the connection."""

    def __init__(self, ending: Ending) -> None:
        self.ending = ending


@dataclass
class _Side:
    """One of the two sockets."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def __post_init__(self) -> None:
        self.writer.transport.set_write_buffer_limits(0)  # so that what was drained has left

    async def send(self, data: bytes) -> None:
        """Returns once the bytes have left. Raises OSError if the other side has closed."""
        self._raise_if_closed()
        self.writer.write(data)
        await self.writer.drain()

    def send_end(self) -> None:
        """Half-closes. Raises OSError if the other side has closed."""
        self._raise_if_closed()
        self.writer.write_eof()

    def _raise_if_closed(self) -> None:
        """uvloop itself raises RuntimeError for what has closed while nobody looked."""
        if self.writer.transport.is_closing():
            raise ConnectionResetError

    async def end(self, ending: Ending) -> None:
        """Closes the socket, with a reset if that is wished. What has not left is lost."""
        found = self.writer.get_extra_info("socket")
        if ending == "rst" and found is not None:
            with suppress(OSError, ValueError):  # closed already; ValueError is uvloop's
                found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_ZERO)
        if ending == "rst" or self.writer.transport.get_write_buffer_size():
            self.writer.transport.abort()
        else:
            self.writer.close()
        await asyncio.shield(self._closed())  # to cancel this wait would cancel all waits for the same end

    async def _closed(self) -> None:
        with suppress(OSError):
            await self.writer.wait_closed()


class FaultProxy:
    """Listens on ``port`` (once started) and connects each connection with ``target``.

    ``choose`` gives the plan of the next connection; until it is set, connections are faithful.
    """

    def __init__(self, target: int) -> None:
        self.target = target
        self.port = 0
        self.choose: Callable[[], Plan] = lambda: FAITHFUL
        #: How many connections have met an ending.
        self.struck = 0
        self._server: asyncio.Server | None = None
        self._links: dict[asyncio.Task[None], list[_Side]] = {}

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, backlog=512)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Accepts no more and resets what is open."""
        if self._server is not None:
            self._server.close()
        await self.end_all("rst")

    async def end_all(self, ending: Ending = "fin") -> None:
        """Ends every open connection; the next ones get new plans."""
        links = dict(self._links)
        for task in links:
            task.cancel()
        await asyncio.gather(*links, return_exceptions=True)
        for side in [side for sides in links.values() for side in sides]:
            await side.end(ending)

    def once(self, plan: Plan) -> None:
        """The next connection gets this plan, those after it none."""

        def choose() -> Plan:
            self.choose = lambda: FAITHFUL
            return plan

        self.choose = choose

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        near = _Side(reader, writer)
        sides = [near]
        task = asyncio.get_running_loop().create_task(self._link(near, self.choose(), sides))
        self._links[task] = sides
        task.add_done_callback(self._links.pop)

    async def _link(self, near: _Side, plan: Plan, sides: list[_Side]) -> None:
        try:
            far = _Side(*await asyncio.open_connection("127.0.0.1", self.target))
        except OSError:
            await near.end("rst")
            return
        sides.append(far)
        loop = asyncio.get_running_loop()
        ways = [loop.create_task(_carry(plan.forth, near, far)), loop.create_task(_carry(plan.back, far, near))]
        ending: Ending = "fin"
        try:
            await asyncio.gather(*ways)
        except _Ended as ended:
            self.struck += 1
            ending = ended.ending
        except OSError:
            ending = "rst"
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
        for side in sides:
            await side.end(ending)


async def _carry(fault: Fault, source: _Side, sink: _Side) -> None:
    """Passes one direction on to its end. Raises _Ended where a fault ends the connection, OSError where a side did."""
    if fault.after is None:
        await _pass(fault, source, sink, math.inf)
    elif await _pass(fault, source, sink, fault.after):
        await asyncio.sleep(fault.stall_seconds)
        match fault.ending:
            case "fin" | "rst":
                raise _Ended(fault.ending)
            case "hang":
                await asyncio.get_running_loop().create_future()
            case None:
                await _pass(fault, source, sink, math.inf)
    sink.send_end()
    while await source.reader.read(_READ_BYTES):  # of what is half closed
        pass


async def _pass(fault: Fault, source: _Side, sink: _Side, most: float) -> bool:
    """Passes on up to so many bytes. Whether it were as many; else the source has ended."""
    step = min(_READ_BYTES, max(1.0, fault.bytes_per_second / _STEPS_PER_SECOND))
    while most > 0:
        data = await source.reader.read(int(min(step, most)))
        if not data:
            return False
        await asyncio.sleep(fault.latency_seconds + len(data) / fault.bytes_per_second)
        await sink.send(data)
        most -= len(data)
    return True
