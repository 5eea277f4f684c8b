"""Serve replayed responses on a listening socket until the process is told to stop."""

import asyncio
import signal
import socket
from collections.abc import Callable

from relaybook.replay.connection import Connection, Pace
from relaybook.replay.replayer import Replayer


def serve(listener: socket.socket, replayer: Replayer, pace: Pace, prefix: str, on_ready: Callable[[], None]) -> None:
    """Serve until SIGTERM or SIGINT. ``prefix`` is that of the header ``<prefix>-Replay``."""
    asyncio.run(_serve(listener, replayer, pace, prefix, on_ready))


async def _serve(
    listener: socket.socket, replayer: Replayer, pace: Pace, prefix: str, on_ready: Callable[[], None]
) -> None:
    is_stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, is_stopped.set)
    connections: set[Connection] = set()
    server = await loop.create_server(lambda: Connection(replayer, pace, prefix, connections), sock=listener)
    on_ready()
    await is_stopped.wait()
    server.close()
    for connection in list(connections):
        connection.abort()
    while connections:
        await asyncio.sleep(0)
