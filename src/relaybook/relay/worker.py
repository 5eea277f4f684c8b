"""One relay process: an event loop, an inherited listening socket, signals, and the pipe to the supervisor.

Ends in one way: SIGTERM, SIGINT, or the supervisor's end of the pipe closing make it drain; a second signal ends the
wait. SIGHUP says that others listen now: it serves the connections it has, then ends the same way. Whatever happens to
it, the journal has what the wire had.
"""

import asyncio
import os
import resource
import signal
import socket
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any

import uvloop

from relaybook.journal.writer import JournalWriter
from relaybook.parent_pipe import is_cut
from relaybook.relay import last_resort
from relaybook.relay.relay import Relay
from relaybook.settings.definitions import Settings

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
    """Relays until told to stop."""
    _raise_descriptor_limit()
    journal = JournalWriter(
        journal_directory,
        settings.segment_bytes,
        durable=settings.durable,
        seal_after_seconds=settings.seal_after,
    )
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
    last_resort.watch(loop)
    relay = Relay(settings, journal, secret, loop, base_url=base_url, dashboard_url=dashboard_url)
    stop, stop_now, retire = asyncio.Event(), asyncio.Event(), asyncio.Event()

    def stopping() -> None:
        (stop_now if stop.is_set() else stop).set()

    def supervisor_gone() -> None:
        if is_cut(supervisor_pipe):
            loop.remove_reader(supervisor_pipe)
            stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping)
    loop.add_signal_handler(signal.SIGHUP, retire.set)
    loop.add_reader(supervisor_pipe, supervisor_gone)
    relay.check_log()
    server = await loop.create_server(relay.accept, sock=listener, backlog=4096)
    sweeping = loop.create_task(_sweep(relay))
    sweeping.add_done_callback(last_resort.must_not_fail)
    with suppress(OSError):
        os.write(supervisor_pipe, b"\n")  # we listen
    await _until(retire.wait(), stop)
    server.close()
    listener.close()
    await _until(relay.retire(settings.reload_timeout), stop)
    if not await _until(relay.drain(settings.drain_timeout), stop_now):
        await relay.drain(0)
    sweeping.cancel()


async def _until(work: Coroutine[Any, Any, Any], stop: asyncio.Event) -> bool:
    """Does the work, unless told to stop; whether it was done to its end."""
    working, stopping = asyncio.create_task(work), asyncio.create_task(stop.wait())
    await asyncio.wait({working, stopping}, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    return working.done() or not working.cancel()


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
        for _ in relay.sweep():
            await asyncio.sleep(0)
        await asyncio.sleep(pause)
