"""Start the server: open the data directory and sockets, start the children, and print the addresses."""

import errno
import logging
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Final

import msgspec

from relaybook import __version__, clock
from relaybook.server.child_process import Child, Predecessor
from relaybook.server.data_directory import DataDirectory, DataInUse, Serving
from relaybook.server.listening import BACKLOG, bind_error, listen
from relaybook.server.operator_log import log_to_stderr
from relaybook.server.reload import (
    HandedOver,
    ReloadRefused,
    RunningChild,
    hand_over,
    print_settings,
    rehearse,
    taken_over,
)
from relaybook.server.start_checks import UnsupportedData, check_data, check_settings
from relaybook.server.start_message import (
    has_openai_sdk,
    print_dashboard_start,
    print_demo_start,
    print_improvable,
    print_line,
    print_start,
)
from relaybook.server.supervisor import Supervisor
from relaybook.server.worker_config import WorkerConfig
from relaybook.settings import BAD_SETTINGS, BadSetting
from relaybook.settings.addresses import host_for_clients, split_address
from relaybook.settings.definitions import Settings
from relaybook.settings.routes import RouteSettings
from relaybook.system.process import process_identity

log = logging.getLogger("relaybook.server")

#: The exit code if, after a stop, the data directory still has requests that are not in ClickHouse.
_NOT_RECORDED: Final = 1
#: The presets of the demo. All of them lead to the simulated upstream.
_DEMO_ROUTES: Final = ("anthropic", "gemini", "ollama")
_PORT_WAIT_NS: Final = 60 * clock.NANOSECONDS


def serve(settings: Settings) -> int:
    """Run the relay, the recorder and the dashboard until a stop signal. Return the exit code."""
    return _serve(settings, print_start)


def dashboard(settings: Settings) -> int:
    """Run only the dashboard of a log in ClickHouse until a stop signal. Return the exit code."""
    if settings.store == "sqlite":
        raise BadSetting(
            "store",
            "relaybook dashboard needs a log in ClickHouse. Set --store clickhouse://USER@HOST/DATABASE. For a log in "
            "the data directory, run relaybook serve, which includes the dashboard.",
        )
    if settings.relay_url is None:
        raise BadSetting(
            "relay_url", "relay_url is not set. Set --relay-url to the base URL of the relays. The page shows this URL."
        )
    return _serve(settings, print_dashboard_start, relays=False)


def demo(settings: Settings) -> int:
    """Run ``serve`` with a simulated upstream and sample traffic. The log is in the subdirectory ``demo``."""
    if settings.data is None:
        raise BadSetting("data", "no data directory is set")
    with socket.socket() as upstream:
        upstream.bind(("127.0.0.1", 0))
        upstream.listen(BACKLOG)
        simulator = f"http://127.0.0.1:{upstream.getsockname()[1]}"
        settings = replace(
            settings,
            data=settings.data / "demo",
            store="sqlite",
            relay_url=None,
            upstream=f"{simulator}/v1",
            routes={name: RouteSettings(preset=name, upstream=simulator) for name in _DEMO_ROUTES},
            price_as="openai",
        )
        return _serve(settings, print_demo_start, upstream)


def _serve(
    settings: Settings,
    say_start: Callable[[Settings, str, str], None],
    simulator: socket.socket | None = None,
    *,
    relays: bool = True,
) -> int:
    """Run all child processes, or only the dashboard if ``relays`` is False. Return the exit code.

    ``say_start`` prints the start message. ``simulator`` is the listening socket of the demo's simulated upstream.
    """
    # Block these signals until the supervisor handles them. Otherwise, they would end the server.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGHUP, signal.SIGUSR1))
    try:
        return _run(settings, say_start, simulator, relays=relays)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _run(
    settings: Settings,
    say_start: Callable[[Settings, str, str], None],
    simulator: socket.socket | None,
    *,
    relays: bool,
) -> int:
    log_to_stderr()
    if settings.data is None:
        raise BadSetting("data", "no data directory is set")
    handed = taken_over()
    data = DataDirectory(settings.data)
    try:
        listeners = _open(settings, data, handed, relays=relays, is_demo=simulator is not None)
    except (BadSetting, DataInUse, UnsupportedData) as error:
        print(f"relaybook: {error}", file=sys.stderr)
        return BAD_SETTINGS
    if handed and handed.is_rehearsal:
        _import_roles()
        print_settings(settings)
        return 0
    local_url = f"http://{_address(settings.dashboard, listeners['dashboard'])}"
    base_url = settings.relay_url or f"http://{_address(settings.listen, listeners['listen'])}/v1"
    dashboard_url = settings.dashboard_url or local_url

    def config(role: str) -> WorkerConfig:
        return WorkerConfig(role, settings, base_url, dashboard_url, sample_data=simulator is not None)

    children_lock = handed.children_lock if handed else data.lock_for_children()
    if not handed:
        data.write_serving(_new_serving(has_recorder=relays))
    children = [Child(config("dashboard"), listeners["dashboard"], children_lock)]
    if relays:
        workers = [Child(config("relay"), listeners["listen"], children_lock) for _ in range(settings.workers)]
        children = [*workers, Child(config("recorder"), None, children_lock), *children]
    if simulator is not None:
        children.append(Child(config("simulator"), simulator, children_lock))
        if has_openai_sdk():
            children.append(Child(config("traffic"), None, children_lock))
    predecessors = [Predecessor(running) for running in handed.children] if handed else []
    reloading = _Reloading(settings, data, listeners, children_lock, has_recorder=relays, is_demo=simulator is not None)
    supervisor = Supervisor(predecessors, settings.drain_timeout, reloading.reload, reloading.completed)

    def say() -> None:
        say_start(settings, base_url, local_url)
        if relays and data.earlier_version not in (None, __version__):
            print_improvable(settings, data.earlier_version)

    code = supervisor.run(children, say)
    data.close()
    if code == 0 and settings.store != "sqlite" and _has_unrecorded(data):
        log.error("not_recorded", extra={"data": str(data.path), "store": settings.store})
        return _NOT_RECORDED
    return code


def _open(
    settings: Settings, data: DataDirectory, handed: HandedOver | None, *, relays: bool, is_demo: bool
) -> dict[str, socket.socket]:
    """Check the settings and the data, lock the data directory, and return the listening sockets by setting.

    A program that takes over after a reload makes no checks, because the rehearsal of the reload has made them (see
    ``reload``). Raises BadSetting, DataInUse and UnsupportedData.
    """
    is_checked = handed is not None and not handed.is_rehearsal
    if not is_checked:
        check_settings(settings, relays=relays, is_demo=is_demo)
    if handed and handed.is_rehearsal:
        _check_unchanged(settings, data, handed)
    data.open(handed.serve_lock if handed else None)
    if not is_checked:
        check_data(settings, data, relays=relays)
    names = ("listen", "dashboard") if relays else ("dashboard",)
    return {name: _listener(settings, name, data, handed) for name in names}


class _Reloading:
    """Reloads the server, and writes the numbers of reloads and refused reloads to the lock file."""

    def __init__(
        self,
        settings: Settings,
        data: DataDirectory,
        listeners: dict[str, socket.socket],
        children_lock: int,
        *,
        has_recorder: bool,
        is_demo: bool,
    ) -> None:
        self._settings = settings
        self._data = data
        self._listeners = listeners
        self._children_lock = children_lock
        self._has_recorder = has_recorder
        self._is_demo = is_demo

    def reload(self, running: list[RunningChild], is_stopping: Callable[[], bool]) -> None:
        """Replace this program by the installed program. Returns only if the reload is refused."""
        sockets = {_listener_key(self._settings, name): each.fileno() for name, each in self._listeners.items()}
        handover = HandedOver(sockets, self._data.lock, self._children_lock, running)
        try:
            if self._is_demo:
                raise ReloadRefused("a demo cannot be reloaded. Stop the demo and start it again")
            handover.settings = rehearse(handover)
            hand_over(handover, is_stopping)
        except ReloadRefused as refused:
            log.error("reload_refused", extra={"reason": str(refused)})
            serving = self._serving()
            changed = msgspec.structs.replace(serving, refusals=serving.refusals + 1, reason=str(refused))
            self._data.write_serving(changed)

    def completed(self) -> None:
        """Count a reload. Call this method when the previous program's children were told to finish."""
        serving = self._serving()
        changed = msgspec.structs.replace(serving, version=__version__, reloads=serving.reloads + 1)
        self._data.write_serving(changed)
        log.info("reloaded", extra={"version": __version__})

    def _serving(self) -> Serving:
        """Return the server's state from the lock file, or a new state if the lock file is unreadable."""
        try:
            return self._data.read_serving()
        except (OSError, msgspec.MsgspecError):
            return _new_serving(has_recorder=self._has_recorder)


def _check_unchanged(settings: Settings, data: DataDirectory, handed: HandedOver) -> None:
    """Raise BadSetting if ``listen``, ``dashboard`` or ``data`` changed.

    A reload cannot change these settings.
    """
    for each in handed.listeners:
        name, _, before = each.partition(" ")
        if each != _listener_key(settings, name):
            raise BadSetting(
                name,
                f"{name} changed from {before} to {getattr(settings, name)}, which requires a "
                "restart. Restart the server, or restore the setting.",
            )
    if not data.is_locked_by(handed.serve_lock):
        raise BadSetting(
            "data",
            f"data changed to {data.path}, which requires a restart. Restart the server, or restore the setting.",
        )


def _has_unrecorded(data: DataDirectory) -> bool:
    from relaybook.journal.reader import list_runs
    from relaybook.recorder.quarantine import list_quarantined

    return bool(list_runs(data.journal) or list_quarantined(data.quarantine))


def _import_roles() -> None:
    """Import the modules of the children, so that the rehearsal of a reload finds import errors."""
    import relaybook.api.app
    import relaybook.relay.worker
    import relaybook.server.child
    import relaybook.server.recording  # noqa: F401


def _new_serving(*, has_recorder: bool) -> Serving:
    return Serving(os.getpid(), __version__, process_identity(os.getpid()), has_recorder=has_recorder)


def _listener_key(settings: Settings, name: str) -> str:
    return f"{name} {getattr(settings, name)}"


def _listener(settings: Settings, name: str, data: DataDirectory, handed: HandedOver | None) -> socket.socket:
    """Return the listening socket of a setting: after a reload the inherited socket, otherwise a new socket."""
    if handed:
        return socket.socket(fileno=handed.listeners[_listener_key(settings, name)])
    return _bind(getattr(settings, name), name, data)


def _bind(address: str, name: str, data: DataDirectory) -> socket.socket:
    """Return a listening socket. Wait up to 60 s for an earlier server that is finishing its requests."""
    host, port = split_address(address, name)
    deadline_ns = clock.monotonic_ns() + _PORT_WAIT_NS
    is_announced = False
    while True:
        try:
            return listen(host, port)
        except OSError as error:
            if error.errno == errno.EADDRINUSE and data.has_children() and clock.monotonic_ns() < deadline_ns:
                if not is_announced:
                    print_line(f"relaybook: waiting for the previous server to finish its requests on {address}")
                is_announced = True
                time.sleep(0.1)
                continue
            raise BadSetting(name, bind_error(address, name, error)) from error


def _address(setting: str, listener: socket.socket) -> str:
    """Return the host and port for clients, with the actual port of the socket."""
    host, _ = split_address(setting, "listen")
    host = host_for_clients(host)
    port = listener.getsockname()[1]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
