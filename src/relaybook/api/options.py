"""Define the options of the dashboard application, and the metrics that do not come from the store."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol
from urllib.parse import urlsplit

from relaybook.log.aggregate.histograms import Histogram
from relaybook.log.retention import Retention
from relaybook.page.page import BuiltPage
from relaybook.settings.client_address import client_address
from relaybook.settings.routes import ResolvedRoute

if TYPE_CHECKING:  # every process imports this module; only the dashboard needs Starlette
    from starlette.requests import Request

LOOPBACK_NAMES: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})


@dataclass(frozen=True, kw_only=True)
class LogMetrics:
    """Metrics of the log that do not come from the store. If a metric is unknown, its field has its default value."""

    journal_lag_bytes: int | None = None
    journal_lag_seconds: float | None = None
    disk_free_bytes: int | None = None
    #: Disk space that the journal and the store use.
    disk_used_bytes: int | None = None
    #: Disk space that the journal and the store may use. `None` if there is no limit or it is unknown.
    disk_budget_bytes: int | None = None
    days_left: float | None = None
    data_path: str | None = None
    #: Number of requests in the quarantine, which has the requests that the store rejected.
    quarantined: int | None = None
    #: Number of requests that ended since the recorder started, by route and outcome.
    requests: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    #: Number of requests that ended since the recorder started and that failed, by route.
    requests_failed: Mapping[str, int] = field(default_factory=dict)
    #: Histograms by name: relay_overhead, upstream_latency, commit.
    histograms: Mapping[str, Histogram] = field(default_factory=dict)


class LogProbe(Protocol):
    """Source of metrics of the journal and the disk."""

    def read(self) -> LogMetrics:
        """Return the current metrics, which may require reading the disk.

        This method is called in a worker thread, at most a few times a second.
        """


class NullProbe:
    """The probe of an API that runs without a journal. All metrics are unknown."""

    def read(self) -> LogMetrics:
        """Return metrics that are all unknown."""
        return LogMetrics()


@dataclass(frozen=True, kw_only=True)
class ApiOptions:
    """The options of the dashboard application. This class does not check them: they come from checked settings."""

    relay_base_url: str
    #: The routes of the relay.
    routes: Sequence[ResolvedRoute] = ()
    version: str
    #: Whether the modules that handle requests are compiled or plain Python.
    program: Literal["compiled", "plain"] = "plain"
    #: ``None`` allows access without a token. The server accepts ``None`` only if it listens on a loopback address.
    token: str | None = field(default=None, repr=False)
    #: A token that only allows giving feedback.
    feedback_token: str | None = field(default=None, repr=False)
    #: Public URL of the dashboard, optionally with a sub-path: ``https://relaybook.corp.example/logs``.
    dashboard_url: str | None = None
    #: Addresses of proxies whose X-Forwarded-For is trusted.
    trusted_proxies: Sequence[str] = ()
    #: Time limit for a query of the store, from the start of the request.
    query_seconds: float = 2.0
    retention: Retention = Retention()
    #: Effective settings without secrets, returned by /api/status.
    settings: dict[str, Any] = field(default_factory=dict)
    #: Whether ``relaybook demo`` fills the log.
    sample_data: bool = False
    probe: LogProbe = field(default_factory=NullProbe)
    #: ``None`` if the page is not built.
    page: BuiltPage | None = field(default=None, repr=False)
    poll_seconds: float = 0.25
    ping_seconds: float = 15.0

    @property
    def prefix(self) -> str:
        """The sub-path of ``dashboard_url`` without a trailing slash, or an empty text if there is no sub-path."""
        return urlsplit(self.dashboard_url or "").path.rstrip("/")

    @property
    def public_host(self) -> str | None:
        """The host name of ``dashboard_url`` in lower case. `None` if ``dashboard_url`` is not set.

        An IPv6 address is in brackets.
        """
        name = urlsplit(self.dashboard_url or "").hostname
        return f"[{name}]" if name and ":" in name else name

    @property
    def is_public_https(self) -> bool:
        """Whether browsers connect over TLS, so that cookies can be marked ``Secure``."""
        return (self.dashboard_url or "").startswith("https://")


def options_of(request: "Request") -> ApiOptions:
    """Return the options of the application that handles the request."""
    options = request.app.state.options
    assert isinstance(options, ApiOptions)
    return options


def address_of(request: "Request") -> str:
    """Return the address of the client, from X-Forwarded-For if a trusted proxy sent the request."""
    remote_address = request.client.host if request.client else ""
    forwarded_for = ",".join(request.headers.getlist("x-forwarded-for"))
    return client_address(remote_address, forwarded_for, options_of(request).trusted_proxies)
