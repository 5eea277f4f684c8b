"""``relaybook check``: check everything that ``serve`` needs, and say how to fix each problem.

The checks change nothing and do not create the data directory. ``repair`` implements ``--salvage`` and ``--requeue``.
"""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from itertools import chain
from pathlib import Path
from ssl import SSLContext
from typing import Final

from relaybook.cli.failure import FAILED, CommandFailed
from relaybook.cli.output import plural
from relaybook.cli.progress import progress_bar
from relaybook.journal.reader import list_runs
from relaybook.journal.segment import JournalDamaged, JournalTooNew, OldSegment, sequences
from relaybook.log.prices import check_price_as
from relaybook.relay import tls
from relaybook.relay.pool import UpstreamUrl
from relaybook.relay.proxy import find_proxy
from relaybook.server.data_directory import DataDirectory
from relaybook.server.listening import bind_error, listen
from relaybook.settings import BadSetting
from relaybook.settings.addresses import check_upstream, split_address
from relaybook.settings.configuration import Configuration
from relaybook.settings.routes import DEFAULT, ResolvedRoute
from relaybook.system import disk

_UPSTREAM_SECONDS: Final = 5.0
#: If a running server has not recorded data for this time, the journal may need attention.
_LONG_LAG_SECONDS: Final = 30.0


class _Doubtful(Exception):
    """The check found something that may need attention. The message describes what was found."""


def check(configuration: Configuration, *, bodies: bool = False) -> int:
    """Print one line per check, and return 1 if there is a problem, otherwise 0.

    Each line starts with ✓ (good), ? (may need attention) or ✗ (problem).

    With ``bodies``, every stored body is read, but ports and upstream are not checked. A missing log is then a problem.
    """
    steps: list[tuple[str, Callable[[Configuration], str]]] = [
        ("settings", _settings),
        ("data", _data),
        ("journal", _journal),
        ("store", _store),
        *([("bodies", _bodies)] if bodies else [("ports", _ports), ("upstream", _upstream)]),
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
        except OSError as error:
            failed = True
            print(f"✗ {name}: {error.filename} cannot be read: {error.strerror}", flush=True)
    return FAILED if failed else 0


def _settings(configuration: Configuration) -> str:
    try:
        check_price_as(configuration.settings.price_as)
    except BadSetting as error:
        raise CommandFailed(str(error)) from None
    changed = [name for name, source in configuration.sources.items() if source != "default"]
    if not changed:
        return "all settings have their default values"
    return f"{', '.join(changed)} set; all other settings have their default values"


def _data(configuration: Configuration) -> str:
    data = configuration.data
    nearest = next(path for path in (data, *data.parents) if path.exists())
    if not nearest.is_dir():
        raise CommandFailed(f"{nearest} is not a directory. Choose a directory with --data.")
    try:
        with tempfile.TemporaryFile(dir=nearest):
            pass
    except OSError as error:
        raise CommandFailed(
            f"{nearest} is not writable: {error.strerror}. Give the user that runs this command write access, "
            "or choose another directory with --data."
        ) from None
    if foreign := next(inaccessible(data), None):
        raise CommandFailed(
            f"{foreign} is not accessible for this user. If the server runs as another user, run this command as that "
            f"user. Otherwise, change the owner: chown -R USER {data}"
        )
    free, required = disk.free_bytes(nearest), configuration.settings.min_free
    if free < required:
        raise CommandFailed(
            f"{data} has {free:,} bytes of free disk space. To log new requests, the server needs at least "
            f"{required:,} bytes (min_free). Free some space, choose another directory with --data, or lower "
            "--min-free."
        )
    return f"{data} is writable" if nearest == data else f"{data} will be created"


def inaccessible(data: Path) -> Iterator[Path]:
    """Yield the files and directories in ``data``, and ``data`` itself, that this user cannot read or cannot write.

    ``lost+found`` is omitted: many file systems have this directory, and it belongs to the user root.
    """
    names = (Path(top, name) for top, directories, files in os.walk(data) for name in (*directories, *files))
    below = (path for path in names if path.name != "lost+found")
    for path in chain([data], below):
        needed = os.R_OK | os.W_OK | (os.X_OK if path.is_dir() else 0)
        if path.exists() and not os.access(path, needed):
            yield path


def _journal(configuration: Configuration) -> str:
    try:
        runs = list_runs(configuration.data / "journal")
        segments = sum(1 for run in runs for _ in _readable_segments(run))
    except (JournalDamaged, JournalTooNew) as error:
        raise CommandFailed(str(error)) from None
    except OSError as error:
        raise CommandFailed(
            f"{error.filename} could not be read: {error.strerror}. Run this command as the server's user."
        ) from None
    if not runs:
        return "empty"
    readable = f"{plural(segments, 'segment is', 'segments are')} readable"
    if (seconds := _lag_seconds(configuration)) > _LONG_LAG_SECONDS:
        raise _Doubtful(
            f"{readable}, but the log is {seconds:.0f} s behind. The recorder is stopped, or this machine is too slow. "
            "docs/how-to/operate.md says how to find the cause."
        )
    return readable


def _lag_seconds(configuration: Configuration) -> float:
    """Return the age of the oldest data that a running server has not recorded yet. 0 if the age is unknown."""
    from relaybook.log.store import open_store
    from relaybook.log.store.errors import StoreUnavailable, UnsupportedSchema
    from relaybook.server.probe import DataProbe

    data = DataDirectory(configuration.data)
    if not data.is_served():
        return 0.0
    try:
        reader = open_store(data.store, configuration.settings).open_reader()
        try:
            return DataProbe(data, configuration.settings, reader).read().journal_lag_seconds or 0.0
        finally:
            reader.close()
    except (UnsupportedSchema, StoreUnavailable):
        return 0.0  # the check of the store says why the log cannot be read


def _readable_segments(run: Path) -> Iterator[int]:
    for sequence in sequences(run):
        try:
            OldSegment(run, sequence).close()
        except FileNotFoundError:
            continue  # the recorder has just deleted the segment
        yield sequence


def _store(configuration: Configuration) -> str:
    from relaybook.cli.store_log import StoreLog
    from relaybook.log.store import open_store
    from relaybook.recorder.quarantine import list_quarantined

    summary = "no log yet"
    if StoreLog.exists(configuration.data, configuration.settings):
        count = StoreLog.open(configuration.data, configuration.settings).count()
        summary = f"{plural(count, 'request', 'requests')} in the log"
    problems = []
    files = open_store(configuration.data / "store", configuration.settings).files
    if files is not None and (set_aside := files.list_set_aside()):
        names = ", ".join(Path(each.location).name for each in set_aside)
        problems.append(f"damaged stores were set aside: {names}. Stop the server, then run relaybook check --salvage")
    if quarantined := list_quarantined(configuration.data / "quarantine"):
        are_in = plural(len(quarantined), "request is", "requests are")
        problems.append(f"{are_in} in the quarantine. Stop the server, then run relaybook check --requeue")
    if problems:
        raise _Doubtful(f"{summary}; {'; '.join(problems)}.")
    return summary


def _bodies(configuration: Configuration) -> str:
    from relaybook.cli.store_log import StoreLog
    from relaybook.log.store import open_store
    from relaybook.log.store.errors import StoreUnavailable, UnsupportedSchema

    if not StoreLog.exists(configuration.data, configuration.settings):
        raise CommandFailed(f"There is no log in {configuration.data}. Choose the directory of a log with --data.")
    try:
        with progress_bar() as on_progress:
            found = open_store(configuration.data / "store", configuration.settings).verify(on_progress)
    except (UnsupportedSchema, StoreUnavailable) as error:
        raise CommandFailed(str(error)) from None
    if found.problems:
        shown = "; ".join(found.problems[:3])
        raise CommandFailed(
            f"The store is damaged: {shown}. {found.damaged:,} of {found.records:,} requests have damaged bodies. Test "
            "the disk."
        )
    return f"the data of {plural(found.records, 'request', 'requests')} is readable"


def _ports(configuration: Configuration) -> str:
    addresses = {name: str(getattr(configuration.settings, name)) for name in ("listen", "dashboard")}
    both = " and ".join(addresses.values())
    if DataDirectory(configuration.data).is_served():
        return f"{both} were not checked, because a server is running on this data directory"
    for name, address in addresses.items():
        try:
            listen(*split_address(address, name)).close()
        except OSError as error:
            raise CommandFailed(bind_error(address, name, error)) from None
    return f"{both} are free"


def _upstream(configuration: Configuration) -> str:
    """Ask each upstream for its models."""
    settings = configuration.settings
    found: list[str] = []
    doubts: list[str] = []
    failures: list[str] = []
    for route in settings.resolved_routes():
        try:
            check_upstream(route.upstream, settings.listen)
            found.append(_ask_upstream(route))
        except (BadSetting, CommandFailed) as error:
            failures.append(str(error))
        except _Doubtful as error:
            doubts.append(str(error))
    if failures:
        raise CommandFailed("; ".join([*failures, *doubts, *found]))
    if doubts:
        raise _Doubtful("; ".join([*doubts, *found]))
    return "; ".join(found)


def _ask_upstream(route: ResolvedRoute) -> str:
    """Return how the upstream of a route responds. Raises _Doubtful and CommandFailed."""
    base = route.upstream.rstrip("/")
    url = f"{base}/models" if route.preset is None else base
    try:
        context = tls.client_context(route.upstream_ca_file, route.upstream_cert, route.upstream_key)
    except OSError as error:
        raise CommandFailed(
            f"The certificates for {url} could not be read: {error.strerror or error}. Check upstream_ca_file and "
            "upstream_cert."
        ) from None
    try:
        status = _status_of(UpstreamUrl.parse(url), route.upstream_proxy, context)
    except (OSError, HTTPException) as error:
        where = "--upstream" if route.name == DEFAULT else f"the upstream of routes.{route.name}"
        proxy = "" if route.upstream_proxy is None else ", upstream_proxy"
        raise CommandFailed(f"{url} could not be reached: {error}. Check {where}{proxy} and the network.") from None
    if status == 404 and route.preset is None:
        raise _Doubtful(f"{url} returned 404. Most providers have this path. Check the path in --upstream")
    if status >= 500:
        raise _Doubtful(f"{url} returned {status}, so the upstream may not be able to respond to requests")
    return f"{url} returned {status}{_status_note(status)}"


def _status_of(url: UpstreamUrl, proxy_setting: str | None, context: SSLContext) -> int:
    """Send a GET request in the way in which the relay connects, and return the status of the response.

    Raises OSError, HTTPException and BadSetting.
    """
    proxy = find_proxy(proxy_setting, url.host, url.port, tls=url.tls)
    host, port = (url.host, url.port) if proxy is None else (proxy.host, proxy.port)
    if url.tls:
        connection: HTTPConnection = HTTPSConnection(host, port, timeout=_UPSTREAM_SECONDS, context=context)
    else:
        connection = HTTPConnection(host, port, timeout=_UPSTREAM_SECONDS)
    if proxy is not None:
        authorization = proxy.authorization.decode()
        connection.set_tunnel(url.host, url.port, {"Proxy-Authorization": authorization} if authorization else None)
    with closing(connection):
        connection.request("GET", url.path.decode() or "/", headers={"User-Agent": "relaybook"})
        return connection.getresponse().status


def _status_note(status: int) -> str:
    if status == 401:
        return ", as expected without an API key"
    return "" if status < 300 else ", so it is reachable"
