"""Puts the program together: sockets, data directory, children, and what a person is told at the start."""

import errno
import logging
import os
import resource
import shutil
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

import msgspec

from relaybook import __version__, clock
from relaybook.journal import disk
from relaybook.server.child_process import Child, Predecessor
from relaybook.server.data_directory import DataDirectory, DataInUse, Serving, days_left
from relaybook.server.listening import BACKLOG, listen, why_not
from relaybook.server.operator_log import log_to_stderr
from relaybook.server.reload import HandedOver, Left, hand_over, rehearse, taken_over
from relaybook.server.supervisor import Supervisor
from relaybook.server.worker_config import WorkerConfig
from relaybook.settings.definitions import BadSetting, Settings, is_loopback, split_address

log = logging.getLogger("relaybook.server")

_BAD_SETTINGS: Final = 2
#: Addresses that stand for all of a machine can be listened on, not dialled.
_ON_THIS_MACHINE: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - not bound here
_WAIT_FOR_PORT_NS: Final = 60 * clock.NANOSECONDS


def serve(settings: Settings) -> int:
    """Runs relay, recorder and dashboard until a signal; the exit code."""
    return _serve(settings, _told)


def demo(settings: Settings) -> int:
    """Like ``serve``, on a simulated provider and with sample traffic, in a data directory of its own."""
    if settings.data is None:
        raise BadSetting("data", "no data directory is set")
    with socket.socket() as provider:
        provider.bind(("127.0.0.1", 0))
        provider.listen(BACKLOG)
        port = provider.getsockname()[1]
        settings = replace(
            settings, data=settings.data / "demo", upstream=f"http://127.0.0.1:{port}/v1", price_as="openai"
        )
        return _serve(settings, _told_demo, provider)


def _serve(
    settings: Settings, tell: Callable[[Settings, str, str], None], provider: socket.socket | None = None
) -> int:
    log_to_stderr()
    if settings.data is None:
        raise BadSetting("data", "no data directory is set")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # all processes inherit it: token, keys and bodies are in memory
    handed = taken_over()
    data = DataDirectory(settings.data)
    try:
        _check_authorities(settings)
        if handed:
            _check_unmoved(settings, data, handed)
        data.open(handed.serve_lock if handed else None)
        _check_stored(data)
        relay = _listener(settings, "listen", data, handed)
        dashboard = _listener(settings, "dashboard", data, handed)
    except (BadSetting, DataInUse, LaterVersion) as error:
        print(f"relaybook: {error}", file=sys.stderr)
        return _BAD_SETTINGS
    if handed and handed.is_rehearsal:
        _import_roles()
        return 0
    base_url = f"http://{_address(settings.listen, relay)}/v1"
    here = f"http://{_address(settings.dashboard, dashboard)}"
    dashboard_url = settings.dashboard_url or here

    def config(role: str) -> WorkerConfig:
        return WorkerConfig(role, settings, base_url, dashboard_url, sample_data=provider is not None)

    def reload(left: list[Left]) -> None:
        listeners = {_name(settings, "listen"): relay.fileno(), _name(settings, "dashboard"): dashboard.fileno()}
        handing = HandedOver(listeners, data.lock, held, left)
        reason = "a demo is not reloaded: stop it and start it again" if provider else rehearse(handing)
        reason = reason or hand_over(handing, lambda: supervisor.is_stopping)
        log.error("reload_refused", extra={"reason": reason})
        said = _said(data)
        data.say(msgspec.structs.replace(said, refusals=said.refusals + 1, reason=reason))

    def is_replaced() -> None:
        said = _said(data)
        data.say(msgspec.structs.replace(said, version=__version__, reloads=said.reloads + 1))
        log.info("reloaded", extra={"version": __version__})

    held = handed.children_lock if handed else data.hold_for_children()
    if not handed:
        data.say(Serving(os.getpid(), __version__))
    children = [Child(config("relay"), relay, held) for _ in range(settings.workers)]
    children += [Child(config("recorder"), None, held), Child(config("dashboard"), dashboard, held)]
    if provider is not None:
        children += [Child(config("simulator"), provider, held), Child(config("traffic"), None, held)]
    predecessors = [Predecessor(left) for left in handed.children] if handed else []
    supervisor = Supervisor(predecessors, settings.drain_timeout, reload, is_replaced)
    code = supervisor.run(children, lambda: tell(settings, base_url, here))
    data.close()
    return code


def _check_unmoved(settings: Settings, data: DataDirectory, handed: HandedOver) -> None:
    """Raises BadSetting for what only a restart can change: where requests come in, and where they are written."""
    for name in ("listen", "dashboard"):
        if _name(settings, name) not in handed.listeners:
            (before,) = (each for each in handed.listeners if each.startswith(f"{name} "))
            raise BadSetting(
                name,
                f"{name} was {before.removeprefix(f'{name} ')} and is {getattr(settings, name)} now, which a reload "
                "cannot change: set it back, or restart the server.",
            )
    if not data.is_locked_by(handed.serve_lock):
        raise BadSetting(
            "data", f"data is {data.path} now, which a reload cannot change: set it back, or restart the server."
        )


def _import_roles() -> None:
    """What a server's children will import when they start: a rehearsal."""
    import relaybook.api.app
    import relaybook.relay.worker
    import relaybook.server.recording
    import relaybook.server.roles  # noqa: F401


def _said(data: DataDirectory) -> Serving:
    """What was written down last; a file that somebody has changed is no reason to fall over."""
    try:
        return data.said()
    except (OSError, msgspec.MsgspecError):
        return Serving(os.getpid(), __version__)


def _name(settings: Settings, name: str) -> str:
    return f"{name} {getattr(settings, name)}"


def _listener(settings: Settings, name: str, data: DataDirectory, handed: HandedOver | None) -> socket.socket:
    """The listening socket of a setting: the one there is already, or a new one."""
    if handed:
        return socket.socket(fileno=handed.listeners[_name(settings, name)])
    return _bind(getattr(settings, name), name, data)


class LaterVersion(Exception):
    """The data was written by a later version; the text says which and what to do."""


def _check_authorities(settings: Settings) -> None:
    """Raises BadSetting for a file that holds no certificate authorities."""
    file = settings.upstream_ca_file
    if file is None:
        return
    import ssl

    try:
        ssl.create_default_context(cafile=str(file))
    except OSError as error:  # also what TLS itself finds wrong
        raise BadSetting(
            "upstream_ca_file",
            f"upstream_ca_file is {file}, which holds no certificate authorities: {error.strerror or error}. "
            "Name a PEM file, or leave the setting out to trust the system's.",
        ) from error


def _check_stored(data: DataDirectory) -> None:
    """Looks at what is there before anything runs: a later version's data is left alone."""
    from relaybook.journal.reader import list_runs
    from relaybook.journal.segment import JournalDamaged, JournalTooNew, OldSegment, sequences
    from relaybook.log.store.errors import StoreTooNew, StoreUnavailable
    from relaybook.log.store.sqlite import SqliteReader

    try:
        for run in list_runs(data.journal):
            for sequence in sequences(run)[:1]:
                OldSegment(run, sequence).close()
        reader = SqliteReader(data.store)
        reader.last_seq()
        reader.close()
    except (JournalTooNew, StoreTooNew) as error:
        raise LaterVersion(str(error)) from error
    except (JournalDamaged, FileNotFoundError, StoreUnavailable):
        return  # the recorder passes over damage, counts it and says so


def _bind(address: str, name: str, data: DataDirectory) -> socket.socket:
    """A listening socket. An earlier server that still finishes its requests is waited for."""
    host, port = split_address(address, name)
    until_ns = clock.monotonic_ns() + _WAIT_FOR_PORT_NS
    told = False
    while True:
        try:
            return listen(host, port)
        except OSError as error:
            if error.errno == errno.EADDRINUSE and data.children_live() and clock.monotonic_ns() < until_ns:
                if not told:
                    print(f"relaybook: waiting for an earlier server to finish its requests on {address}", flush=True)
                told = True
                time.sleep(0.1)
                continue
            raise BadSetting(name, why_not(address, name, error)) from error


def _address(asked: str, listener: socket.socket) -> str:
    """Host and port a person can use, with the port that was really taken."""
    host, _ = split_address(asked, "listen")
    host = _ON_THIS_MACHINE.get(host, host)
    port = listener.getsockname()[1]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _told(settings: Settings, base_url: str, dashboard: str) -> None:
    data = DataDirectory(settings.data or Path())
    free = disk.free_bytes(data.path)
    days = days_left(data, free)
    pace = f", about {days:.0f} days at the last week's rate" if days is not None else ""
    full = (
        "when the disk is full requests are refused (--when-log-fails forward relays them unlogged)"
        if settings.when_log_fails == "refuse"
        else "when the disk is full requests are relayed unlogged (--when-log-fails refuse refuses them)"
    )
    outside = f"  (for others {settings.dashboard_url})" if settings.dashboard_url else ""
    kept = "kept for ever"
    kept = f"survives power cuts, {kept}" if settings.durable else kept
    kept = f"without bodies, {kept}" if settings.log == "no-bodies" else kept
    _warn_of_others(settings)
    print(
        f"Relaybook {__version__}\n"
        f"base URL   {base_url}  →  {settings.upstream}\n"
        f"dashboard  {dashboard}{outside}\n"
        f"data       {data.path}\n"
        f"log: {kept}, {free / 1e9:.0f} GB free{pace}; {full}",
        flush=True,
    )


def _told_demo(settings: Settings, base_url: str, dashboard: str) -> None:
    _warn_of_others(settings)
    print(
        f"Relaybook {__version__}, demo\n"
        f"dashboard  {dashboard}  ←  open this\n"
        f"base URL   {base_url}  →  a simulated provider; any key will do\n"
        f"data       {DataDirectory(settings.data or Path()).path}\n\n"
        "What fills the log is sample data: a tea shop, its customers and a few other programs, errors and all.\n"
        "Your own requests appear on top; try one:\n\n"
        f"  curl {base_url}/chat/completions -H 'Authorization: Bearer demo' -H 'Content-Type: application/json' \\\n"
        "    -H 'Service-Namespace: my-app' \\\n"
        """    -d '{"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "A haiku about tea?"}]}'\n"""
        f"  {_own_name()} tail --follow --dashboard {dashboard.removeprefix('http://')} namespace=my-app\n\n"
        "Ctrl-C stops it.",
        flush=True,
    )


def _own_name() -> str:
    """How a shell calls this program: by its name, or where that is not found by the path it was called by."""
    called = Path(sys.argv[0])
    is_known = called.name != "relaybook" or shutil.which("relaybook") is not None
    return "relaybook" if is_known else os.path.relpath(called)


def _warn_of_others(settings: Settings) -> None:
    if not is_loopback(split_address(settings.listen, "listen")[0]):
        print("note: other machines can reach the relay; whoever does can use the provider with a key of their own")
