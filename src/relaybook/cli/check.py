"""``relaybook check``: looks at everything ``serve`` will need, and says what to do about what is wrong.

Changes nothing: a data directory that does not exist is not made.
"""

import ssl
import tempfile
from collections.abc import Callable, Iterator
from http.client import HTTPException
from pathlib import Path
from typing import Final
from urllib.error import HTTPError, URLError
from urllib.request import HTTPSHandler, ProxyHandler, Request, build_opener

from relaybook.cli.failure import FAILED, CommandFailed
from relaybook.cli.server_log import NoRedirect
from relaybook.journal import disk
from relaybook.journal.reader import list_runs
from relaybook.journal.segment import JournalDamaged, JournalTooNew, OldSegment, sequences
from relaybook.server.data_directory import DataDirectory
from relaybook.server.listening import listen, why_not
from relaybook.settings.configuration import Configuration
from relaybook.settings.definitions import split_address

_UPSTREAM_SECONDS: Final = 5.0


class _Doubtful(Exception):
    """It may be right; the text says what to look at."""


def check(configuration: Configuration) -> int:
    """Prints one line each, ✓, ✗, or ? for what to look at; 1 if any is ✗. Bad settings never come this far."""
    steps: list[tuple[str, Callable[[Configuration], str]]] = [
        ("settings", _settings),
        ("data", _data),
        ("journal", _journal),
        ("store", _store),
        ("ports", _ports),
        ("upstream", _upstream),
    ]
    failed = False
    for name, step in steps:
        try:
            print(f"✓ {name}: {step(configuration)}", flush=True)
        except _Doubtful as error:
            print(f"? {name}: {error}", flush=True)
        except CommandFailed as error:
            failed = True
            print(f"✗ {name}: {error}", flush=True)
    return FAILED if failed else 0


def _settings(configuration: Configuration) -> str:
    changed = [name for name, source in configuration.sources.items() if source != "default"]
    return f"{', '.join(changed)} set, the others by default" if changed else "all by default"


def _data(configuration: Configuration) -> str:
    data = configuration.data
    nearest = next(path for path in (data, *data.parents) if path.exists())
    if not nearest.is_dir():
        raise CommandFailed(f"{nearest} is no directory: choose another --data.")
    try:
        with tempfile.TemporaryFile(dir=nearest):
            pass
    except OSError as error:
        raise CommandFailed(
            f"{nearest} cannot be written: {error.strerror}. Give this user the right to, or choose another --data."
        ) from None
    free, wanted = disk.free_bytes(nearest), configuration.settings.min_free
    if free < wanted:
        raise CommandFailed(
            f"{free:,} bytes are free where {data} lies, fewer than min_free, {wanted:,}: all requests would be "
            "refused. Make room, choose another --data, or lower --min-free."
        )
    return f"{data} can be written" if nearest == data else f"{data} will be made"


def _journal(configuration: Configuration) -> str:
    try:
        runs = list_runs(configuration.data / "journal")
        segments = sum(1 for run in runs for _ in _readable_segments(run))
    except (JournalDamaged, JournalTooNew) as error:
        raise CommandFailed(str(error)) from None
    except OSError as error:
        raise CommandFailed(f"{error.filename} cannot be read: {error.strerror}.") from None
    return f"{segments} files of {len(runs)} runs can be read" if runs else "nothing is waiting in it"


def _readable_segments(run: Path) -> Iterator[int]:
    for sequence in sequences(run):
        try:
            OldSegment(run, sequence).close()
        except FileNotFoundError:
            continue  # the recorder was done with it meanwhile
        yield sequence


def _store(configuration: Configuration) -> str:
    from relaybook.cli.store_log import StoreLog
    from relaybook.log.store.sqlite.set_aside import list_set_aside
    from relaybook.recorder.quarantine import list_quarantined

    if not StoreLog.exists(configuration.data):
        return "there is no log yet"
    told = f"{StoreLog.open(configuration.data).count():,} requests in the log"
    doubts = []
    if aside := list_set_aside(configuration.data / "store"):
        names = ", ".join(each.name for each in aside)
        doubts.append(f"set aside as damaged: {names}. Stop the server, and --salvage copies back what can be read")
    if refused := list_quarantined(configuration.data / "quarantine"):
        doubts.append(f"{len(refused):,} more wait in the quarantine. Stop the server, and --requeue tries them again")
    if doubts:
        raise _Doubtful(f"{told}; {'; '.join(doubts)}.")
    return told


def _ports(configuration: Configuration) -> str:
    addresses = {name: str(getattr(configuration.settings, name)) for name in ("listen", "dashboard")}
    both = " and ".join(addresses.values())
    if DataDirectory(configuration.data).is_served():
        return f"{both} were not tried, because a server runs with this data"
    for name, address in addresses.items():
        try:
            listen(*split_address(address, name)).close()
        except OSError as error:
            raise _Doubtful(why_not(address, name, error)) from None
    return f"{both} are free"


def _upstream(configuration: Configuration) -> str:
    settings = configuration.settings
    url = settings.upstream.rstrip("/") + "/models"
    try:
        context = ssl.create_default_context(cafile=settings.upstream_ca_file)
    except OSError as error:
        raise CommandFailed(f"{settings.upstream_ca_file} cannot be used: {error.strerror or error}.") from None
    opener = build_opener(ProxyHandler({}), NoRedirect(), HTTPSHandler(context=context))
    request = Request(url, headers={"User-Agent": "relaybook"})  # noqa: S310 - the setting was checked
    try:
        with opener.open(request, timeout=_UPSTREAM_SECONDS) as answer:
            status = answer.status
    except HTTPError as error:
        error.close()
        status = error.code
    except (OSError, HTTPException) as error:
        reason = error.reason if isinstance(error, URLError) else error
        raise CommandFailed(f"{url} cannot be reached: {reason}. Look at --upstream and the network.") from None
    if status == 404:
        raise _Doubtful(f"{url} answered 404; most providers have it, so look whether the path of --upstream is right")
    return f"{url} answered {status}{_remark(status)}"


def _remark(status: int) -> str:
    if status == 401:
        return ", as it should without a key"
    return "" if status < 300 else ", so it can be reached"
