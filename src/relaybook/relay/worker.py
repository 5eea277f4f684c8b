"""One relay process: an event loop, an inherited listening socket, signals, and the pipe to the supervisor.

Ends in one way: SIGTERM, SIGINT, or the supervisor's end of the pipe closing make it drain; a second signal ends the
wait. Whatever happens to it, the journal has what the wire had.
"""

import asyncio
import os
import resource
import signal
import socket
from pathlib import Path

import uvloop

from relaybook.journal.writer import JournalWriter
from relaybook.relay.relay import Relay
from relaybook.settings import Settings

_SWEEPS_PER_SECOND = 4


def run_worker(
    settings: Settings,
    listener: socket.socket,
    supervisor_pipe: int,
    journal_directory: Path,
    secret: bytes,
    *,
    base_url: str,
    dashboard_url: str,
) -> None:
    """Relays until told to stop. Raises JournalUnavailable when there can be no journal from the start."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # keys pass through this process's memory
    _raise_descriptor_limit()
    journal = JournalWriter(journal_directory, settings.segment_bytes, durable=settings.durable)
    work = _work(settings, listener, supervisor_pipe, journal, secret, base_url, dashboard_url)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(work)
    journal.close()


def _raise_descriptor_limit() -> None:
    """Two descriptors a request: as many as the system lets us have."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 1 << 20 if hard == resource.RLIM_INFINITY else hard
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    except (ValueError, OSError):
        return  # macOS refuses more than its own maximum: what we have stays


async def _work(
    settings: Settings,
    listener: socket.socket,
    supervisor_pipe: int,
    journal: JournalWriter,
    secret: bytes,
    base_url: str,
    dashboard_url: str,
) -> None:
    loop = asyncio.get_running_loop()
    relay = Relay(settings, journal, secret, loop, base_url=base_url, dashboard_url=dashboard_url)
    stop, stop_now = asyncio.Event(), asyncio.Event()

    def stopping() -> None:
        (stop_now if stop.is_set() else stop).set()

    def supervisor_gone() -> None:
        if not os.read(supervisor_pipe, 1):
            loop.remove_reader(supervisor_pipe)
            stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping)
    loop.add_reader(supervisor_pipe, supervisor_gone)
    relay.check_log()
    server = await loop.create_server(relay.accept, sock=listener, backlog=4096)
    sweeping = loop.create_task(_sweep(relay))
    await stop.wait()
    server.close()
    listener.close()
    drain = loop.create_task(relay.drain(settings.drain_timeout))
    hurry = loop.create_task(stop_now.wait())
    await asyncio.wait({drain, hurry}, return_when=asyncio.FIRST_COMPLETED)
    if not drain.done():
        drain.cancel()
        await relay.drain(0)
    hurry.cancel()
    sweeping.cancel()


async def _sweep(relay: Relay) -> None:
    settings = relay.settings
    shortest = min(
        settings.header_timeout,
        settings.body_timeout,
        settings.keep_alive_timeout,
        settings.write_timeout,
        settings.upstream_timeout,
        settings.idle_timeout,
        settings.upstream_idle,
    )
    pause = min(1 / _SWEEPS_PER_SECOND, shortest / 4)
    while True:
        relay.sweep()
        await asyncio.sleep(pause)
