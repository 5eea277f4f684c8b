"""Where a command reads the log: a running server's API where one answers, else the data directory itself.

``dashboard_url`` names the server (and then it must answer); else the dashboard's own address is tried. ``--data`` as
the only one of these flags names the directory, whatever the environment says.
"""

import sys
from collections.abc import Iterator
from typing import Any, Protocol

from relaybook.cli.failure import CommandFailed
from relaybook.cli.output import Row
from relaybook.cli.server_log import NoServer, ServerLog
from relaybook.settings.configuration import Configuration
from relaybook.settings.definitions import split_address

#: Names and values of filters, as the API takes them.
Terms = list[tuple[str, str]]


class LogSource(Protocol):
    """A log to read. Rows are as the API writes them; every call may raise CommandFailed."""

    def latest(self, terms: Terms, limit: int) -> list[Row]:
        """The latest finished requests, oldest of them first, then those that run."""

    def follow(self, terms: Terms, limit: int) -> Iterator[Row]:
        """The same (0: none), then for ever each request when it has run for a second and when it ends; none twice."""

    def find(self, text: str) -> dict[str, Any] | None:
        """The detail of the request with this id, ours or another's. None: there is none."""

    def values(self, field: str) -> list[str]:
        """The 500 most frequent values of ``namespace``, or names of properties (``property``)."""


def open_log(configuration: Configuration) -> LogSource:
    """The log to read; says on standard error which it is when it is not the usual one. Raises CommandFailed."""
    from relaybook.cli.store_log import StoreLog

    settings = configuration.settings
    if _is_data_named(configuration):
        return StoreLog.open(configuration.data)
    server = ServerLog(settings.dashboard_url or own_address(settings.dashboard), settings.dashboard_token)
    try:
        server.greet()
    except NoServer as error:
        if settings.dashboard_url:
            source = configuration.sources["dashboard_url"]
            raise CommandFailed(
                f"{error} It is the setting dashboard_url ({source}): start the server there, or read a directory with "
                "--data."
            ) from None
    else:
        return server
    nobody = f"No server answers at {settings.dashboard}"
    if not StoreLog.exists(configuration.data):
        raise CommandFailed(f"{nobody}; name another by --dashboard. {StoreLog.missing(configuration.data)}")
    print(f"{nobody}; reading {configuration.data}", file=sys.stderr)
    return StoreLog.open(configuration.data)


def _is_data_named(configuration: Configuration) -> bool:
    """Whether the command was told a directory and no server: then nobody else's log will do."""
    told = {name for name in ("data", "dashboard", "dashboard_url") if configuration.sources[name] == "flag"}
    return told == {"data"}


def own_address(dashboard: str) -> str:
    """The URL by which this machine reaches its own dashboard, also when that listens on every address."""
    host, port = split_address(dashboard, "dashboard")
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - read, not bound
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
