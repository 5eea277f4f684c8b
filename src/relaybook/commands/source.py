"""Where a command reads the log: a running server's API where one answers, else the data directory itself.

``--dashboard-url`` names the server (and then it must answer); else the dashboard's own address is tried.
"""

import sys
from collections.abc import Iterator
from typing import Any, Protocol

from relaybook.commands.failure import CommandFailed
from relaybook.commands.server_log import NoServer, ServerLog
from relaybook.commands.words import Row
from relaybook.configuration import Configuration
from relaybook.settings import split_address

#: Names and values of filters, as the API takes them.
Terms = list[tuple[str, str]]


class LogSource(Protocol):
    """A log to read. Rows are as the API writes them; every call may raise CommandFailed."""

    def latest(self, terms: Terms, limit: int) -> list[Row]:
        """The latest finished requests, oldest of them first."""

    def follow(self, terms: Terms, limit: int) -> Iterator[Row]:
        """The same, then each request as it is finished, for ever; none twice."""

    def find(self, text: str) -> dict[str, Any] | None:
        """The detail of the request with this id, ours or another's. None: there is none."""


def open_log(configuration: Configuration) -> LogSource:
    """The log to read; says on standard error which it is when it is not the usual one. Raises CommandFailed."""
    settings = configuration.settings
    server = ServerLog(settings.dashboard_url or own_address(settings.dashboard), settings.dashboard_token)
    try:
        server.greet()
    except NoServer as error:
        if settings.dashboard_url:
            raise CommandFailed(f"{error} Is the server running there?") from None
    else:
        return server
    from relaybook.commands.store_log import StoreLog

    log = StoreLog.open(configuration.data)
    print(f"No server answers at {settings.dashboard}; reading {configuration.data}", file=sys.stderr)
    return log


def own_address(dashboard: str) -> str:
    """The URL by which this machine reaches its own dashboard, also when that listens on every address."""
    host, port = split_address(dashboard, "dashboard")
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - read, not bound
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
