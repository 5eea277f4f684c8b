"""Print the start message of the server: its addresses, its data directory, the retention, and the disk."""

import os
import shutil
import sys
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from relaybook import __version__, clock, program
from relaybook.server.data_directory import DataDirectory, days_left
from relaybook.settings.addresses import is_loopback, split_address
from relaybook.settings.definitions import Settings
from relaybook.settings.presets import BY_NAME
from relaybook.system import disk

#: Time limit for counting requests after an upgrade.
_COUNT_NS: Final = 2 * clock.NANOSECONDS


def print_start(settings: Settings, base_url: str, dashboard: str) -> None:
    """Print the start message of ``relaybook serve``. ``dashboard`` is the local URL of the dashboard."""
    data = DataDirectory(settings.data or Path())
    free = disk.free_bytes(data.path)
    days = days_left(data, settings, free)
    estimate = f" (about {days:.0f} days at last week's rate)" if days is not None else ""
    disk_full = (
        "requests are refused (with --when-log-fails forward, requests are forwarded unlogged)"
        if settings.when_log_fails == "refuse"
        else "requests are forwarded unlogged (with --when-log-fails refuse, requests are refused)"
    )
    public_url = f"  (public: {settings.dashboard_url})" if settings.dashboard_url else ""
    listens = f"  (the relay listens on {settings.listen})" if settings.relay_url else ""
    policy = _retention_text(settings)
    policy = f"survives power failures, {policy}" if settings.durable else policy
    policy = f"without bodies, {policy}" if settings.log == "no-bodies" else policy
    _warn_if_public(settings)
    print_line(
        f"Relaybook {__version__}{_program_text(program())}\n"
        f"base URL   {base_url}{listens}  →  {settings.upstream}\n"
        f"{_routes_text(settings, base_url)}"
        f"dashboard  {dashboard}{public_url}\n"
        f"data       {data.path}{'' if settings.store == 'sqlite' else f', log in {settings.store}'}\n"
        f"log        {policy}\n"
        f"disk       {free / 1e9:.0f} GB free{estimate}; when the disk is full, {disk_full}"
    )


def print_improvable(settings: Settings, earlier_version: str | None) -> None:
    """After an upgrade, print how many requests this version may read or price better, if there are such requests."""
    from relaybook.log.ask.asker import Asker  # not at the top, because these modules are needed only after an upgrade
    from relaybook.log.ask.rereads import UNREAD
    from relaybook.log.store import open_store
    from relaybook.log.store.errors import DeadlinePassed, StoreUnavailable

    with suppress(StoreUnavailable, DeadlinePassed, OSError):
        reader = open_store(DataDirectory(settings.data or Path()).store, settings).open_reader()
        try:
            found = Asker(reader, clock.monotonic_ns() + _COUNT_NS).improvable()
        finally:
            reader.close()
        for term, count in found:
            filters = " ".join(f"{term.name}={value}" for value in term.values)
            is_one = count == 1
            if term == UNREAD:
                text = f"{'request was' if is_one else 'requests were'} not read completely by earlier versions"
            else:
                text = f"{'request has' if is_one else 'requests have'} a model or count that had no price"
            print_line(
                f"upgraded   from {earlier_version}; {count:,} {text}. To read {'it' if is_one else 'them'} again, run "
                f"relaybook reread {filters}"
            )


def print_dashboard_start(settings: Settings, base_url: str, dashboard: str) -> None:
    """Print the start message of ``relaybook dashboard``."""
    public_url = f"  (public: {settings.dashboard_url})" if settings.dashboard_url else ""
    print_line(
        f"Relaybook {__version__}, only the dashboard\n"
        f"dashboard  {dashboard}{public_url}\n"
        f"log        {settings.store}\n"
        f"base URL   {base_url}  (of the relays, which run elsewhere)\n"
        f"data       {settings.data}"
    )


def print_demo_start(settings: Settings, base_url: str, dashboard: str) -> None:
    """Print the start message of ``relaybook demo``."""
    _warn_if_public(settings)
    samples = (
        "The log contains sample data: requests from a tea shop, its customers and other programs, some with errors."
    )
    if not has_openai_sdk():
        samples = (
            "There is no sample data, because it needs the OpenAI SDK. To install the SDK, run pip install 'openai>=3'"
        )
    print_line(
        f"Relaybook {__version__}, demo\n"
        f"dashboard  {dashboard}  ←  open this in a browser\n"
        f"base URL   {base_url}  →  a simulated upstream; accepts any API key\n"
        f"{_routes_text(settings, base_url, is_simulated=True)}"
        f"data       {DataDirectory(settings.data or Path()).path}\n\n"
        f"{samples}\n"
        "Your own requests appear at the top. Send one:\n\n"
        f"  curl {base_url}/chat/completions -H 'Authorization: Bearer demo' -H 'Content-Type: application/json' \\\n"
        "    -H 'Service-Namespace: my-app' \\\n"
        """    -d '{"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "A haiku about tea?"}]}'\n"""
        f"  {_program_name()} tail --follow --dashboard {dashboard.removeprefix('http://')} namespace=my-app\n\n"
        "Press Ctrl+C to stop."
    )


def print_line(text: str) -> None:
    """Print text. Errors are ignored, so that a closed standard output or a full disk does not stop the server."""
    try:
        print(text, flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # otherwise, Python would fail when it flushes stdout at exit


def _routes_text(settings: Settings, base_url: str, *, is_simulated: bool = False) -> str:
    """Return one line for each route but the default route, with what its clients need."""
    lines = []
    for route in settings.resolved_routes()[1:]:
        preset = BY_NAME[route.preset] if route.preset else None
        variable = f"{preset.variable}=" if preset else ""
        upstream = f"the same, for clients of {preset.label}" if is_simulated and preset else route.upstream
        lines.append(f"route      {variable}{route.base_url(base_url)}  →  {upstream}\n")
    return "".join(lines)


def _program_text(kind: str) -> str:
    """Return the note that the program is plain Python, for the start message; empty if the program is compiled."""
    note = ", in plain Python (make compiled builds a wheel that takes up to a third less CPU)"
    return "" if kind == "compiled" else note


def _retention_text(settings: Settings) -> str:
    """Return how long the log is kept, as text for the start message."""
    budget = settings.disk_budget
    limit = f"it takes {budget / 1e9:.3g} GB" if isinstance(budget, int) else "the disk is nearly full"
    own = [
        f"{name} {days}"
        for name, each in settings.namespaces.items()
        if (days := _days_text(each.keep_bodies_days, each.keep_days))
    ]
    days = _days_text(settings.keep_bodies_days or None, settings.keep_days or None) or _count_text(0)
    until = "" if budget == "none" else f"; the oldest requests are removed when {limit}"
    return f"kept {'; '.join([days, *own])}{until}"


def _days_text(body_days: int | None, days: int | None) -> str:
    """Return the text that says how long bodies and requests are kept. `None` is omitted, and 0 means no limit."""
    kept = [("bodies", body_days), ("requests", days)]
    return ", ".join(f"{what} {_count_text(count)}" for what, count in kept if count is not None)


def _count_text(days: int) -> str:
    return f"{days} {'day' if days == 1 else 'days'}" if days else "without an age limit"


def has_openai_sdk() -> bool:
    """Return whether the OpenAI SDK is installed. The demo needs the SDK for sample traffic."""
    return find_spec("openai") is not None


def _program_name() -> str:
    """Return the shell command for this program: its name if the program is on PATH, otherwise the relative path."""
    path = Path(sys.argv[0])
    is_on_path = path.name != "relaybook" or shutil.which("relaybook") is not None
    return "relaybook" if is_on_path else os.path.relpath(path)


def _warn_if_public(settings: Settings) -> None:
    if not is_loopback(split_address(settings.listen, "listen")[0]):
        print_line("note: other machines can reach the relay and use the upstream with their own API keys")
