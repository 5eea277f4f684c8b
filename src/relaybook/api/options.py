"""What the API is told when it starts: addresses, the token, and the figures only its host process knows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol
from urllib.parse import urlsplit

from relaybook.log.aggregate.histograms import Histogram
from relaybook.page.page import Page

if TYPE_CHECKING:  # every process imports this module; only the dashboard needs Starlette
    from starlette.requests import Request

LOOPBACK_NAMES: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
#: First path segments that programs ask for, and those the page has addresses under. A sub-path of the outside address
#: must not look like one of them.
PROGRAM_SEGMENTS: Final = frozenset({"api", "v1", "metrics", "openapi.json", "healthz", "readyz", "assets"})
_PAGE_SEGMENTS: Final = frozenset({"requests", "namespaces", "overview", "thread", "connect"})


@dataclass(frozen=True, kw_only=True)
class LogMetrics:
    """What is known of the log besides the store. None: unknown."""

    journal_lag_bytes: int | None = None
    journal_lag_seconds: float | None = None
    disk_free_bytes: int | None = None
    days_left: float | None = None
    data_path: str | None = None
    #: Requests no store would take, which wait in the quarantine.
    quarantined: int | None = None
    #: By name: relay_overhead, upstream_latency, commit.
    histograms: Mapping[str, Histogram] = field(default_factory=dict)


class LogProbe(Protocol):
    """Tells the journal's and the disk's figures."""

    def figures(self) -> LogMetrics:
        """The figures of this moment. Called in a worker thread, at most a few times a second; may read the disk."""


class UnknownLog:
    """The probe of an API that runs without a journal beside it: everything is unknown."""

    def figures(self) -> LogMetrics:
        """Nothing is known."""
        return LogMetrics()


@dataclass(frozen=True, kw_only=True)
class ApiOptions:
    """How the API answers. Raises ValueError for a token or address that cannot be meant."""

    relay_base_url: str
    version: str
    #: None: everything is open, for loopback only (whoever binds the listener sees to that).
    token: str | None = field(default=None, repr=False)
    #: The address people use from outside, maybe with a sub-path: ``https://relaybook.corp.example/logs``.
    dashboard_url: str | None = None
    #: How long a question to the store may take, from the request's start.
    query_seconds: float = 2.0
    #: Effective settings without secrets, shown by /api/status.
    settings: dict[str, Any] = field(default_factory=dict)
    #: Whether the demo fills the log.
    sample_data: bool = False
    probe: LogProbe = field(default_factory=UnknownLog)
    #: None: it was not built.
    page: Page | None = field(default=None, repr=False)
    poll_seconds: float = 0.25
    ping_seconds: float = 15.0

    def __post_init__(self) -> None:
        if self.token is not None and (not self.token or self.token != self.token.strip()):
            raise ValueError("the dashboard token is blank or has white space around it: set one, or none at all")
        if self.dashboard_url is None:
            return
        if not _is_web_address(self.dashboard_url):
            raise ValueError(f"dashboard_url is {self.dashboard_url!r}: write it like https://relaybook.example/path")
        if self.prefix.lstrip("/").partition("/")[0] in PROGRAM_SEGMENTS | _PAGE_SEGMENTS:
            raise ValueError(f"dashboard_url has the path {self.prefix!r}, which Relaybook uses itself: choose another")

    @property
    def prefix(self) -> str:
        """The sub-path of the outside address, without a slash at its end; empty when it has none."""
        return urlsplit(self.dashboard_url or "").path.rstrip("/")

    @property
    def outside_host(self) -> str | None:
        """The outside address's host name in lower case, in brackets for IPv6."""
        name = urlsplit(self.dashboard_url or "").hostname
        return f"[{name}]" if name and ":" in name else name

    @property
    def is_outside_https(self) -> bool:
        """Whether browsers come over TLS, so that cookies may be marked Secure."""
        return (self.dashboard_url or "").startswith("https://")


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        is_port_right = parts.port is None or parts.port > 0
    except ValueError:
        return False
    is_bare = not (parts.query or parts.fragment or parts.username)
    return parts.scheme in ("http", "https") and bool(parts.hostname) and is_port_right and is_bare


def options_of(request: "Request") -> ApiOptions:
    """The options of the application that handles the request."""
    options = request.app.state.options
    assert isinstance(options, ApiOptions)
    return options
