"""Choose whether a command reads the log from a running server's API or from the data directory.

The first rule that applies decides:

1. If ``--data`` is passed, but neither ``--dashboard`` nor ``--dashboard-url``, the data directory is read. In this
   case, a ``dashboard_url`` from the environment is ignored.
2. If ``dashboard_url`` is set, the server at this URL must respond.
3. The address of ``dashboard`` is tried. If no server responds, the data directory is read.
"""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from relaybook.cli.failure import CommandFailed
from relaybook.cli.output import Row
from relaybook.cli.server_log import NoServer, ServerLog
from relaybook.log.query.filters import Sort
from relaybook.log.record import Side
from relaybook.settings.addresses import host_for_clients, is_loopback, split_address
from relaybook.settings.configuration import FILE_NAME, Configuration

if TYPE_CHECKING:
    from relaybook.log.ask.replay import ReplayablePage

#: Names and values of filters, as in the query string of the API.
Terms = list[tuple[str, str]]


class LogSource(Protocol):
    """A log to read. Rows have the same fields as in the API. Every method may raise CommandFailed."""

    @property
    def name(self) -> str:
        """The address of the server, or the path of the data directory."""

    def latest(self, terms: Terms, limit: int) -> tuple[list[Row], bool]:
        """Return the latest finished requests, oldest first, followed by the running requests.

        The boolean is False if the search was stopped at its deadline.
        """

    def follow(self, terms: Terms, limit: int) -> Iterator[Row]:
        """Yield the requests that ``latest`` finds (none if ``limit`` is 0), then new requests forever.

        A new request is yielded when it ends. If the log is read from a server, a request that runs for more than a
        second is yielded twice: while it runs and when it ends. A search for text yields only finished requests.
        """

    def top(self, terms: Terms, sort: Sort, limit: int) -> tuple[list[Row], bool]:
        """Return the finished requests with the highest or lowest values of a number.

        The boolean is False if the search was stopped at its deadline.
        """

    def find(self, text: str) -> dict[str, Any] | None:
        """Return the detail of a request, or `None` if no request has the id.

        ``text`` is the Relaybook id or a foreign id.
        """

    def body(self, record_id: str, side: Side) -> bytes | None:
        """Return a body of a finished request as it was transferred, or `None` if the body is not stored."""

    def replayable(self, terms: Terms, after: int, ignored: list[str]) -> "ReplayablePage":
        """Return the next requests that can be replayed (see ``Asker.replayable``). ``ignored`` are JSON fields."""

    def compare(self, a: str, b: str) -> dict[str, Any] | None:
        """Return the comparison of two requests (see ``GET /api/compare``), or `None` if no request has an id."""

    def last_good(self, text: str) -> dict[str, Any] | None:
        """Return the last successful request that is like a request (see ``GET /api/requests/{id}/last-good``).

        `None` if no request has the id.
        """

    def lanes(self, terms: Terms) -> dict[str, Any] | None:
        """Return the lanes of a thread, or `None` if the term ``conversation`` is the id of no request.

        ``terms`` are the parameters of ``GET /api/lanes``.
        """

    def cache(self, record_id: str) -> dict[str, Any]:
        """Return what the request with a Relaybook id sent again, and what was read from the provider's cache."""

    def values(self, field: str) -> list[str]:
        """Return up to 500 values of a field, most frequent first. The values of ``property`` are property names."""

    def is_indexed(self) -> bool:
        """Return whether the full-text index has all finished requests."""

    def lag_seconds(self) -> float:
        """Return the age of the oldest data in the journal that is not in the log yet. 0 if the age is unknown."""

    def count_matching(self, terms: Terms) -> int | None:
        """Return the number of matching finished requests, or `None` if counting takes too long."""

    def count_exactly(self, terms: Terms) -> int:
        """Return the exact number of matching finished requests. Raises CommandFailed if counting takes too long."""

    def request_deletion(self, terms: Terms, count: int) -> dict[str, Any]:
        """Request a deletion and return its row, as the API does.

        Raises CountChanged if the number of matching requests is not ``count``.
        """

    def follow_deletion(self, deletion_id: str, *, waits: bool) -> Iterator[dict[str, Any]]:
        """Yield the current row of the deletion repeatedly, until its requests are removed.

        With ``waits``, continue until the deletion is done. If no server is running, this method itself carries out the
        deletion and ignores ``waits``. In this case, the last state is ``done``, or ``erasing`` if the journal still
        contains bytes of the requests.
        """

    def request_reread(self, terms: Terms) -> dict[str, Any]:
        """Request that matching requests are read again, and return the row of the reread, as the API does."""

    def follow_reread(self, reread_id: str) -> Iterator[dict[str, Any]]:
        """Yield the current row of the reread repeatedly, until it is done.

        If no server is running, this method itself carries out the reread.
        """

    @property
    def pending_text(self) -> str:
        """Says why a deletion is not done yet, although its requests are removed."""

    def receipt_url(self, deletion_id: str, terms: Terms) -> str | None:
        """Return the address of the receipt of a deletion with this filter. `None` if no server is used."""

    def export(self, terms: Terms, options: Terms) -> Iterator[bytes]:
        """Begin an export, and return the chunks of its file. Reading a chunk may raise CommandFailed.

        ``options`` are parameters of ``GET /api/export`` that are not filters.
        """


def open_log(configuration: Configuration) -> LogSource:
    """Open the log of a server or of the data directory, whichever the settings and flags select.

    If no server responds at the address of ``dashboard``, print a message on standard error and open the log in the
    data directory. If ``dashboard_url`` is set, raise CommandFailed instead. Also raises CommandFailed if the log
    cannot be read.
    """
    from relaybook.cli.store_log import StoreLog

    settings = configuration.settings
    if _is_data_only(configuration):
        check_store_password(configuration)
        return StoreLog.open(configuration.data, settings)
    _check_token(configuration)
    server = ServerLog(settings.dashboard_url or own_address(settings.dashboard), settings.dashboard_token)
    try:
        server.connect()
    except NoServer as error:
        if settings.dashboard_url:
            source = configuration.sources["dashboard_url"]
            raise CommandFailed(
                f"{error} The address is set in dashboard_url ({source}). Start the server at this address, or read a "
                "directory with --data."
            ) from None
    else:
        return server
    check_store_password(configuration)
    no_server = f"No server responds at {settings.dashboard}"
    if not StoreLog.exists(configuration.data, settings):
        raise CommandFailed(
            f"{no_server}. Choose another address with --dashboard. {StoreLog.missing(configuration.data)}"
        )
    where = configuration.data if settings.store == "sqlite" else settings.store
    print(f"{no_server}. Reading {where}", file=sys.stderr)
    return StoreLog.open(configuration.data, settings)


def _check_token(configuration: Configuration) -> None:
    """Raise CommandFailed if the token must not be sent to the dashboard (see ``_check_secret``)."""
    settings = configuration.settings
    name = "dashboard_url" if settings.dashboard_url else "dashboard"
    url = settings.dashboard_url or own_address(settings.dashboard)
    _check_secret(configuration, name, url, "token", "dashboard_token")


def check_store_password(configuration: Configuration) -> None:
    """Raise CommandFailed if the password must not be sent to the ClickHouse server (see ``_check_secret``).

    Every command that uses the store must call this function first.
    """
    _check_secret(configuration, "store", configuration.settings.store, "password", "store_password")


def _check_secret(configuration: Configuration, name: str, url: str, noun: str, secret: str) -> None:
    """Raise CommandFailed if the address comes from ./relaybook.toml, but the secret comes from the environment.

    Otherwise, a ``relaybook.toml`` that somebody else wrote could send the secret to any address. Loopback addresses
    are always allowed. ``name`` and ``secret`` are settings.
    """
    sources = configuration.sources
    is_elsewhere = not is_loopback(urlsplit(url).hostname or "")
    if is_elsewhere and sources[name] == FILE_NAME and sources[secret].startswith("environment"):
        raise CommandFailed(
            f"{name} comes from {FILE_NAME} in this directory, but the {noun} comes from the environment. To send the "
            f"{noun} to {url}, add --config ./{FILE_NAME}."
        )


def _is_data_only(configuration: Configuration) -> bool:
    """Return whether ``--data`` is passed, but neither ``--dashboard`` nor ``--dashboard-url``."""
    flags = {name for name in ("data", "dashboard", "dashboard_url") if configuration.sources[name] == "flag"}
    return flags == {"data"}


def own_address(dashboard: str) -> str:
    """Return the URL of the dashboard on this machine. Wildcard addresses are replaced by loopback addresses."""
    host, port = split_address(dashboard, "dashboard")
    host = host_for_clients(host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
