"""Run one role of the server in this child process: relay, recorder, dashboard, simulator or sample traffic.

The configuration is read from standard input. Each role imports its own modules, so a process loads only the modules
that it uses. For example, the recorder needs no ``asyncio``.
"""

import gc
import os
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial

import msgspec

from relaybook.server.data_directory import DataDirectory
from relaybook.server.operator_log import log_to_stderr
from relaybook.server.worker_config import WorkerConfig, decode_config
from relaybook.system.parent_pipe import is_closed
from relaybook.system.process import collect_rarely


def main() -> int:
    """Run the role that the configuration names, and return the exit code.

    Standard input stays open, so that the role notices when the supervisor dies or closes the connection.
    """
    # After `stty tostop`, SIGTTOU would suspend this process when it writes a warning to the terminal.
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    with os.fdopen(0, "rb", buffering=0, closefd=False) as supervisor_pipe:
        line = supervisor_pipe.readline()
    if not line.endswith(b"\n"):
        return 0  # the supervisor died before it sent the configuration
    try:
        return run_role(decode_config(line), 0)
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)  # another signal must not change the exit code
        gc.freeze()  # Python would examine all objects again when it ends, for 30 ms


def run_role(config: WorkerConfig, supervisor_pipe: int) -> int:
    """Run the role until it is told to stop. Return the exit code."""
    log_to_stderr()
    settings = config.settings
    if settings.data is None:
        raise ValueError("the configuration has no data directory")
    data = DataDirectory(settings.data)
    match config.role:
        case "relay":
            _relay(config, data, supervisor_pipe)
        case "recorder":
            from relaybook.server.recording import record

            return record(settings, data, supervisor_pipe)
        case "dashboard":
            _serve_dashboard(config, data, supervisor_pipe)
        case "simulator":
            _simulate(config, supervisor_pipe)
        case "traffic":
            _send_samples(config, supervisor_pipe)
        case _:
            raise ValueError(f"unknown role {config.role!r}")
    return 0


def _inherited(descriptor: int | None) -> socket.socket:
    if descriptor is None:
        raise ValueError("the configuration has no socket, but this role needs one")
    return socket.socket(fileno=descriptor)


def _relay(config: WorkerConfig, data: DataDirectory, supervisor_pipe: int) -> None:
    from relaybook.relay.worker import run_worker

    shared_secret = config.settings.fingerprint_secret
    run_worker(
        config.settings,
        _inherited(config.socket),
        supervisor_pipe,
        data.journal,
        shared_secret.encode() if shared_secret else data.secret(),
        base_url=config.base_url,
        dashboard_url=config.dashboard_url,
    )


def _simulate(config: WorkerConfig, supervisor_pipe: int) -> None:
    import asyncio

    from relaybook_demo.simulator import Simulator, SimulatorSettings

    async def serve() -> None:
        stopped = asyncio.Event()
        _on_end(supervisor_pipe, stopped.set)
        settings = SimulatorSettings(first_token_ms=250, tokens_per_second=60, ledger_mode="off")
        async with Simulator(settings) as simulator:
            await simulator.start(listener=_inherited(config.socket))
            await stopped.wait()

    asyncio.run(serve())


def _send_samples(config: WorkerConfig, supervisor_pipe: int) -> None:
    import asyncio

    for name in [name for name in os.environ if name.startswith("OPENAI_")]:
        del os.environ[name]  # the SDK must not read the user's settings

    async def send() -> None:
        task = asyncio.current_task()

        def stop() -> None:
            if task is not None:
                task.cancel()

        _on_end(supervisor_pipe, stop)
        from relaybook_demo.samples import send_samples

        routes = config.settings.resolved_routes()
        await send_samples({route.name: route.base_url(config.base_url) for route in routes})

    with suppress(asyncio.CancelledError):
        asyncio.run(send())


def _on_end(supervisor_pipe: int, end: Callable[[], None]) -> None:
    """Make the running event loop call ``end`` on SIGTERM or SIGINT, or when the supervisor dies or closes the pipe."""
    import asyncio

    loop = asyncio.get_running_loop()

    def on_readable() -> None:
        if is_closed(supervisor_pipe):
            loop.remove_reader(supervisor_pipe)
            end()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, end)
    loop.add_reader(supervisor_pipe, on_readable)


def _serve_dashboard(config: WorkerConfig, data: DataDirectory, supervisor_pipe: int) -> None:
    import asyncio

    from relaybook import __version__, program
    from relaybook.api.app import create_app
    from relaybook.api.options import ApiOptions
    from relaybook.api.uvicorn_server import DashboardServer
    from relaybook.log.ask.asker import Asker, Changes
    from relaybook.log.prices import Prices
    from relaybook.log.retention import Retention
    from relaybook.log.store import open_store
    from relaybook.page.page import load_page
    from relaybook.server.probe import DataProbe

    settings = config.settings
    store = open_store(data.store, settings)
    reader = store.open_reader()
    options = ApiOptions(
        relay_base_url=config.base_url,
        routes=settings.resolved_routes(),
        version=__version__,
        program=program(),
        token=settings.dashboard_token,
        feedback_token=settings.feedback_token,
        dashboard_url=settings.dashboard_url,
        trusted_proxies=settings.trusted_proxies,
        retention=Retention.of(settings),
        settings=settings.shown(),
        sample_data=config.sample_data,
        probe=DataProbe(data, settings, reader),
        page=load_page(),
    )
    changes = Changes(
        store.open_labels(),
        store.open_saved_filters(),
        store.open_feedback(),
        store.open_deletions(),
        store.open_rereads(),
    )
    asker = partial(Asker, reader, changes=changes, prices=Prices.of(settings))
    server = DashboardServer(create_app(asker, options))

    def stop() -> None:
        server.should_exit = True

    async def serve() -> None:
        _on_end(supervisor_pipe, stop)
        await server.serve(sockets=[_inherited(config.socket)])

    collect_rarely()
    asyncio.run(serve())
    reader.close()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except msgspec.DecodeError as error:
        sys.exit(f"relaybook: a child process received an invalid configuration: {error}")
