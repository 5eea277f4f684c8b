"""Start and stop the simulated upstream, in this process or as a separate process."""

import asyncio
import signal
import socket
from types import TracebackType

from relaybook_demo.simulator.connection import Connection
from relaybook_demo.simulator.control import Controls
from relaybook_demo.simulator.responder import Responder
from relaybook_demo.simulator.settings import SimulatorSettings

_BACKLOG = 4096


class Simulator:
    """A simulated upstream on a local port. An instance can be started and closed only once."""

    def __init__(self, settings: SimulatorSettings | None = None) -> None:
        self._responder = Responder(settings or SimulatorSettings())
        self._connections: set[Connection] = set()
        self._server: asyncio.Server | None = None

    @property
    def controls(self) -> Controls:
        """The ledger, scripts and refusals, for direct access without ``/__sim/``."""
        return self._responder.controls

    async def start(self, host: str = "127.0.0.1", port: int = 0, *, listener: socket.socket | None = None) -> int:
        """Listen on an address, or on the bound socket ``listener``. Return the port. Raises OSError on failure."""
        loop = asyncio.get_running_loop()
        if listener is not None:
            self._server = await loop.create_server(self._connect, sock=listener, backlog=_BACKLOG)
        else:
            self._server = await loop.create_server(self._connect, host, port, backlog=_BACKLOG)
        bound: int = self._server.sockets[0].getsockname()[1]
        return bound

    async def close(self) -> None:
        """Stop listening and abort every connection. Further calls do nothing."""
        if self._server is None:
            return
        self._server.close()
        tasks = [connection.abort() for connection in list(self._connections)]
        await asyncio.gather(*(task for task in tasks if task is not None), return_exceptions=True)
        while self._connections:
            await asyncio.sleep(0)
        await self._server.wait_closed()
        self._server = None
        self._responder.ledger.close()

    async def __aenter__(self) -> "Simulator":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _connect(self) -> Connection:
        return Connection(self._responder, self._connections)


def run(settings: SimulatorSettings) -> None:
    """Serve until SIGTERM or SIGINT. Print one line when the server is listening."""
    with asyncio.Runner(loop_factory=_fast_loop) as runner:
        runner.run(_serve(settings))


async def _serve(settings: SimulatorSettings) -> None:
    stop_requested = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop_requested.set)
    async with Simulator(settings) as simulator:
        port = await simulator.start(settings.host, settings.port)
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        print(f"simulated upstream on http://{host}:{port}/v1", flush=True)
        await stop_requested.wait()


def _fast_loop() -> asyncio.AbstractEventLoop:
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()
