"""The relay process: an event loop, an inherited listening socket, signal handlers, and the pipe to the supervisor.

On SIGTERM or SIGINT, or when the supervisor closes the pipe, the process drains: it stops listening and waits up to
``drain_timeout`` for running requests. A second SIGTERM or SIGINT ends the wait. After a reload, the supervisor sends
SIGHUP when the new relay processes listen. The process then stops listening, serves its existing connections for up to
``reload_timeout``, and drains. Whenever the process ends, the journal contains all bytes that were sent.
"""

import asyncio
import logging
import os
import signal
import socket
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import uvloop

from relaybook.journal.writer import JournalWriter
from relaybook.relay import dial, last_resort
from relaybook.relay.context import RelayContext
from relaybook.relay.relay import Relay
from relaybook.settings.definitions import Settings
from relaybook.settings.typed_values import Count
from relaybook.system.parent_pipe import is_closed
from relaybook.system.process import raise_descriptor_limit

log = logging.getLogger("relaybook.relay")

_SWEEPS_PER_SECOND = 4
_BACKLOG = 4096
#: After a stop signal, the relay still accepts requests on open connections for this many seconds, because a client
#: that has just connected may be about to send a request.
_FIRST_REQUEST_SECONDS = 0.1
#: Number of descriptors that are not connections: segments of the journal, pipes, and files that libraries open.
_OTHER_DESCRIPTORS = 64
#: Warn if the limit on open files allows fewer connections than this.
_FEW_CONNECTIONS = 1000


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
    """Run a relay process until it is stopped. ``secret`` is the secret for the fingerprints of API keys."""
    settings = _with_descriptors(settings, raise_descriptor_limit())
    journal = JournalWriter(
        journal_directory,
        settings.segment_bytes,
        durable=settings.durable,
        seal_after_seconds=settings.seal_after,
    )
    work = _serve(settings, listener, supervisor_pipe, journal, secret, base_url, dashboard_url)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(work)
    journal.close()


def _with_descriptors(settings: Settings, limit: int) -> Settings:
    """Lower ``max_connections`` and ``max_in_flight`` if the limit on open files requires it.

    Otherwise, the journal could not open its files. Half of the descriptors are for client connections, and the other
    half for upstream connections, of which each running request needs one.
    """
    allowed = max(1, (limit - _OTHER_DESCRIPTORS) // 2)
    if allowed < min(settings.max_connections, _FEW_CONNECTIONS):
        log.warning("few_descriptors", extra={"limit": limit, "connections": allowed})
    lowered: Settings = replace(
        settings,
        max_connections=Count(min(settings.max_connections, allowed)),
        max_in_flight=Count(min(settings.max_in_flight, allowed)),
    )
    return lowered


async def _serve(
    settings: Settings,
    listener: socket.socket,
    supervisor_pipe: int,
    journal: JournalWriter,
    secret: bytes,
    base_url: str,
    dashboard_url: str,
) -> None:
    loop = asyncio.get_running_loop()
    last_resort.install(loop)
    context = RelayContext(
        settings, journal, secret, loop, base_url=base_url, dashboard_url=dashboard_url, dial=dial.start
    )
    relay = Relay(context, loop)
    stop, stop_now, retire = asyncio.Event(), asyncio.Event(), asyncio.Event()

    def on_stop_signal() -> None:
        (stop_now if stop.is_set() else stop).set()

    def on_supervisor_pipe() -> None:
        if is_closed(supervisor_pipe):
            loop.remove_reader(supervisor_pipe)
            stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, on_stop_signal)
    loop.add_signal_handler(signal.SIGHUP, retire.set)
    loop.add_reader(supervisor_pipe, on_supervisor_pipe)
    relay.check_log()
    server = await loop.create_server(relay.accept, sock=listener, backlog=_BACKLOG)
    sweep_task = loop.create_task(_sweep(relay, settings))
    sweep_task.add_done_callback(last_resort.exit_on_failure)
    with suppress(OSError):
        os.write(supervisor_pipe, b"\n")  # tell the supervisor that the socket is listening
    await _run_until(retire.wait(), stop)
    for connection in await stop_listening(server, listener):
        await loop.connect_accepted_socket(relay.accept, connection)
    await _run_until(relay.retire(settings.reload_timeout), stop)
    if not relay.is_idle:
        await _run_until(asyncio.sleep(_FIRST_REQUEST_SECONDS), stop_now)
    if not await _run_until(relay.drain(settings.drain_timeout), stop_now):
        await relay.drain(0)
    sweep_task.cancel()


async def stop_listening(server: asyncio.Server, listener: socket.socket) -> list[socket.socket]:
    """Close the listening socket. Return the connections that were established but not accepted yet.

    Without this function, the kernel would reset these connections, even if a client has already sent its request.
    """
    last = listener.dup()
    last.setblocking(False)
    server.close()
    listener.close()
    await asyncio.sleep(0)  # uvloop closes its socket in the next iteration
    accepted: list[socket.socket] = []
    with last, suppress(OSError):
        while len(accepted) < _BACKLOG:
            accepted.append(last.accept()[0])
    return accepted


async def _run_until(work: Coroutine[Any, Any, Any], stop: asyncio.Event) -> bool:
    """Run ``work`` until it is done, or cancel it when ``stop`` is set. Return whether ``work`` has finished."""
    work_task, stop_task = asyncio.create_task(work), asyncio.create_task(stop.wait())
    await asyncio.wait({work_task, stop_task}, return_when=asyncio.FIRST_COMPLETED)
    stop_task.cancel()
    return work_task.done() or not work_task.cancel()


async def _sweep(relay: Relay, settings: Settings) -> None:
    shortest_timeout = min(
        settings.header_timeout,
        settings.body_timeout,
        settings.keep_alive_timeout,
        settings.write_timeout,
        *(min(each.upstream_timeout, each.idle_timeout, each.upstream_idle) for each in settings.resolved_routes()),
    )
    pause = min(1 / _SWEEPS_PER_SECOND, shortest_timeout / 4)
    while True:
        for _ in relay.sweep():
            await asyncio.sleep(0)
        await asyncio.sleep(pause)
