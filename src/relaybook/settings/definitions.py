"""Declare the name, type, default and description of every setting.

Flags (``--idle-timeout``), variables (``RELAYBOOK_IDLE_TIMEOUT``), keys of ``relaybook.toml`` and the table in
docs/reference/settings.md are derived from the fields of ``Settings``. ``configuration`` reads the values, and this
module checks them. Durations are in seconds, and sizes are in bytes.
"""

import re
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, Final, Literal

from relaybook.settings import BadSetting
from relaybook.settings.addresses import (
    check_base_url,
    check_origins,
    check_proxies,
    check_sub_path,
    is_loopback,
    split_address,
)
from relaybook.settings.routes import ResolvedRoute, RouteSettings, resolve_routes
from relaybook.settings.store_url import parse_store_url
from relaybook.settings.typed_values import Count, Days, Dollars, Table, without_password

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
_MIN_SECRET_CHARACTERS: Final = 32


def setting(default: Any, text: str, *, secret: bool = False, flag: bool = True) -> Any:
    """Declare a setting with its default and one-line description. With ``flag=False``, the setting has no flag."""
    metadata = {"help": text, "secret": secret, "flag": flag}
    if isinstance(default, list | dict):
        return field(default_factory=default.copy, metadata=metadata)
    return field(default=default, metadata=metadata)


@dataclass(frozen=True, kw_only=True)
class NamespaceSettings(Table):
    """Settings of the namespaces that match a pattern. `None` means that the general setting applies."""

    example: ClassVar[str] = '[namespaces."dev-*"]'

    keep_bodies_days: Days | None = None
    keep_days: Days | None = None
    log: Literal["full", "no-bodies"] | None = None


@dataclass(frozen=True, kw_only=True)
class PriceSettings(Table):
    """Prices of the models that match a pattern, in US dollars. The names are those of genai-prices.

    A price whose name ends in ``mtok`` is per million tokens. A price whose name ends in ``kcount`` is per thousand. If
    a price is `None`, its kind of tokens costs what is said in docs/explanation/reading-bodies.md.
    """

    example: ClassVar[str] = '[prices."my-model"]'

    input_mtok: Dollars
    output_mtok: Dollars
    cache_read_mtok: Dollars | None = None
    cache_write_mtok: Dollars | None = None
    cache_write_1h_mtok: Dollars | None = None
    output_reasoning_mtok: Dollars | None = None
    input_audio_mtok: Dollars | None = None
    cache_audio_read_mtok: Dollars | None = None
    output_audio_mtok: Dollars | None = None
    input_image_mtok: Dollars | None = None
    output_image_mtok: Dollars | None = None
    web_searches_kcount: Dollars | None = None
    requests_kcount: Dollars | None = None


@dataclass(frozen=True, kw_only=True)
class Settings:
    """All settings of ``relaybook serve``. Other commands use some of these settings."""

    listen: str = setting("127.0.0.1:4100", "Address of the relay, host:port. Port 0 picks a free port")
    relay_url: str | None = setting(
        None, "Base URL for clients, such as https://llm.example.com/v1, if they do not use the address in --listen"
    )
    dashboard: str = setting("127.0.0.1:4101", "Address of the dashboard and its API, host:port")
    dashboard_url: str | None = setting(None, "Public URL of the dashboard, if the dashboard is behind a reverse proxy")
    dashboard_token: str | None = setting(None, "Token for signing in to the dashboard", secret=True, flag=False)
    feedback_token: str | None = setting(
        None, "Token that allows programs to send feedback and nothing else", secret=True, flag=False
    )
    fingerprint_secret: str | None = setting(
        None,
        "Secret for computing the fingerprints of API keys. Default: the content of the file named secret in the data "
        "directory. Servers that share a log need the same secret",
        secret=True,
        flag=False,
    )
    upstream: str = setting(
        "https://api.openai.com/v1",
        "Base URL of the upstream. A request for /v1/models is sent to this URL followed by /models",
    )
    routes: dict[str, RouteSettings] = setting(
        {},
        "Further upstreams: a list of presets such as anthropic,gemini,ollama, or tables in relaybook.toml. Each route "
        "has a base URL of its own, such as http://127.0.0.1:4100/anthropic",
    )
    upstream_ca_file: Path | None = setting(
        None,
        "PEM file with certificate authorities. The relay trusts these instead of the system's certificate authorities",
    )
    upstream_cert: Path | None = setting(
        None, "PEM file with the certificate that the relay shows to each upstream that asks for one (mutual TLS)"
    )
    upstream_key: Path | None = setting(
        None, "PEM file with the private key of upstream_cert. Default: the key is in the same file"
    )
    upstream_proxy: str | None = setting(
        None,
        "HTTP proxy between the relay and its upstreams, such as http://user:password@proxy.example:3128. With "
        "environment, the variables HTTPS_PROXY, HTTP_PROXY and NO_PROXY apply. Upstreams on this machine are reached "
        "without this proxy",
        flag=False,
    )
    default_namespace: str = setting("default", "Namespace of requests that do not set a namespace")
    log: Literal["full", "no-bodies"] = setting(
        "full",
        "With full, everything is logged. With no-bodies, everything except prompts and responses is logged. To "
        "override this setting for some namespaces, use the setting namespaces. A request can change full to "
        "no-bodies, but not no-bodies to full",
    )
    data: Path | None = setting(
        None,
        "Directory of the journal and the store. Default: ./relaybook-data if that directory exists, otherwise your "
        "user's directory for application data",
    )
    store: str = setting(
        "sqlite",
        "Where the log is stored: sqlite for the data directory, or the URL of a ClickHouse database, such as "
        "clickhouse://user@host:8443/database?secure=1",
    )
    store_password: str | None = setting(
        None, "Password of the ClickHouse user in the URL of --store", secret=True, flag=False
    )
    workers: Count = setting(1, "Number of relay processes")
    header_prefix: list[str] = setting(
        ["Service", "Relaybook"],
        "Prefixes of tag headers, such as Service in Service-Namespace. Headers with any of these prefixes are tags",
    )
    durability: Literal["process", "power"] = setting(
        "process",
        "With process, the log survives crashes of the program. With power, the log also survives power failures",
    )
    when_log_fails: Literal["refuse", "forward"] = setting(
        "refuse", "Whether requests that cannot be logged are refused or forwarded"
    )
    on_client_gone: Literal["cancel", "finish"] = setting(
        "cancel",
        "With cancel, the relay cancels the upstream request when a client disconnects. With finish, the relay still "
        "reads the upstream's response to the end",
    )
    hosts: list[str] = setting(
        [],
        "If the relay listens on loopback, a request's Host header must be a loopback name or one of these names",
    )
    trusted_proxies: list[str] = setting([], "Addresses or networks of proxies whose X-Forwarded-For header is trusted")
    cors_origins: list[str] = setting(
        [],
        "Origins of web pages that may call the relay, such as https://app.example, https://*.app.example for all "
        "subdomains, or http://localhost:* for all ports. * allows every origin",
    )
    max_request_bytes: int = setting(1 * GIB, "Maximum size of a request body")
    max_in_flight: Count = setting(10_000, "Maximum number of concurrent requests per route and worker")
    max_connections: Count = setting(50_000, "Maximum number of client connections per worker")
    keep_other_bodies: int = setting(
        16 * MIB,
        "A body in an unsupported format is logged in full up to this size. If the body is larger, only its first 64 "
        "KiB are logged",
    )
    header_timeout: float = setting(10.0, "Maximum time to wait for a request's headers")
    body_timeout: float = setting(
        30.0,
        "Maximum time to wait for the next bytes of a request body. If the whole body takes longer than this, at least "
        "1 KiB must have arrived for each further second",
    )
    keep_alive_timeout: float = setting(75.0, "Idle client connections are closed after this time")
    write_timeout: float = setting(60.0, "Clients that accept no bytes of a response for this time are disconnected")
    connect_timeout: float = setting(
        5.0,
        "Maximum time to connect to the upstream, including TLS. If the upstream has several addresses, this is the "
        "time for all of them together",
    )
    upstream_timeout: float = setting(600.0, "Maximum time to wait for the upstream's response headers")
    idle_timeout: float = setting(600.0, "Maximum time to wait for the next bytes of the upstream's response")
    upstream_idle: float = setting(4.0, "Idle upstream connections are closed after this time")
    drain_timeout: float = setting(30.0, "Maximum time for running requests to finish after SIGTERM")
    reload_timeout: float = setting(900.0, "Maximum time for running requests to finish after a reload")
    segment_bytes: int = setting(64 * MIB, "Size of a journal segment")
    seal_after: float = setting(
        60.0,
        "A journal segment that receives bytes of a no-bodies request is closed (sealed) after this time. Other "
        "segments are closed after ten times this time. Only closed segments can be deleted",
    )
    min_free: int = setting(
        1 * GIB, "If less disk space than this is free, new requests cannot be logged, and when_log_fails applies"
    )
    max_journal: int = setting(
        10 * GIB,
        "If the journal takes more disk space than this, new requests cannot be logged, and when_log_fails applies",
    )
    keep_bodies_days: Days = setting(0, "Days until the content of a request is removed. 0 means no age limit")
    keep_days: Days = setting(0, "Days until a request is removed. 0 means no age limit")
    keep_aggregates_days: Days = setting(0, "Days until the aggregates for charts are removed. 0 keeps them forever")
    disk_budget: Literal["auto", "none"] | int = setting(
        "auto",
        "Maximum disk space for the journal and the store together. If they take more space, data of all namespaces is "
        "removed: first the oldest content, then the oldest requests",
    )
    namespaces: dict[str, NamespaceSettings] = setting(
        {},
        "Tables that set `keep_days`, `keep_bodies_days` and `log` for one namespace, or for all namespaces that match "
        "a pattern",
        flag=False,
    )
    headers_as_properties: dict[str, str] = setting(
        {},
        "Table of request headers whose values are logged as properties, for clients that cannot send tags, such as "
        '`"X-Team" = "team"`. The headers are also forwarded',
        flag=False,
    )
    fields_as_properties: dict[str, str] = setting(
        {},
        "Table of fields of request bodies whose values are logged as properties, such as "
        '`"client_metadata.team" = "team"`',
        flag=False,
    )
    price_as: str | None = setting(
        None,
        "Provider whose prices are used for the models that it has. For other models, and by default, the prices of "
        "the upstream are used if its URL is known, otherwise those of the model's maker",
    )
    prices: dict[str, PriceSettings] = setting(
        {},
        "Tables with your own prices of one model, or of all models that match a pattern, in US dollars per million "
        "tokens: `input_mtok`, `output_mtok`, and others. They apply before all other prices, except a cost that the "
        "response states",
        flag=False,
    )

    def __post_init__(self) -> None:
        self._check_addresses()
        self._check_secrets()
        if self.data is not None and not is_utf8(str(self.data)):
            raise BadSetting(
                "data", f"data is {str(self.data)!r}, which is not UTF-8 text. Choose another directory with --data."
            )
        check_store(self.store, self.disk_budget)
        self._check_numbers()
        self._check_header_prefix()

    def _check_addresses(self) -> None:
        host, port = split_address(self.dashboard, "dashboard")
        if split_address(self.listen, "listen") == (host, port) and port:
            raise BadSetting(
                "dashboard", f"dashboard and listen are both {self.dashboard}. Choose another port for one of them."
            )
        if not is_loopback(host) and not self.dashboard_token:
            raise BadSetting(
                "dashboard",
                f"dashboard is {self.dashboard}, so other machines could read the log without a token. "
                "Set RELAYBOOK_DASHBOARD_TOKEN, or use 127.0.0.1.",
            )
        check_base_url("upstream", self.upstream)
        self.resolved_routes()
        if self.relay_url is not None:
            check_base_url("relay_url", self.relay_url)
        if self.dashboard_url is not None:
            check_base_url("dashboard_url", self.dashboard_url)
            check_sub_path(self.dashboard_url)
        check_proxies(self.trusted_proxies)
        check_origins(self.cors_origins)

    def _check_secrets(self) -> None:
        for name in ("dashboard_token", "feedback_token"):
            token = getattr(self, name)
            if token == "":
                raise BadSetting(name, f"{name} is empty. Set a token, or omit the setting.")
            if token and token != token.strip():
                raise BadSetting(name, f"{name} begins or ends with white space, such as a line break. Remove it.")
        if self.feedback_token and self.feedback_token == self.dashboard_token:
            raise BadSetting(
                "feedback_token",
                "feedback_token and dashboard_token are the same, so programs that send feedback could read the log. "
                "Choose another feedback_token.",
            )
        if self.fingerprint_secret is not None and len(self.fingerprint_secret) < _MIN_SECRET_CHARACTERS:
            raise BadSetting(
                "fingerprint_secret",
                f"fingerprint_secret has {len(self.fingerprint_secret)} characters. The minimum is "
                f"{_MIN_SECRET_CHARACTERS}, so that nobody can guess the secret. To make one, run openssl rand -hex "
                "32.",
            )

    def _check_numbers(self) -> None:
        for name in POSITIVE:
            if getattr(self, name) <= 0:
                raise BadSetting(name, f"{name} is {getattr(self, name)}: expected a number above 0.")
        if self.segment_bytes < MIB:
            raise BadSetting("segment_bytes", f"segment_bytes is {self.segment_bytes}. The minimum is {MIB} (1 MiB).")
        if isinstance(self.disk_budget, int) and self.disk_budget < self.min_disk_budget:
            raise BadSetting(
                "disk_budget",
                f"disk_budget is {self.disk_budget}. The minimum is {self.min_disk_budget} (256 MiB, plus four "
                "segments per worker).",
            )
        if self.max_journal < self.min_max_journal:
            raise BadSetting(
                "max_journal",
                f"max_journal is {self.max_journal}. The minimum is {self.min_max_journal} (four segments per worker).",
            )

    def _check_header_prefix(self) -> None:
        if not self.header_prefix:
            raise BadSetting("header_prefix", "header_prefix is empty. Set at least one prefix, such as Service.")
        for prefix in self.header_prefix:
            if not re.fullmatch(r"[A-Za-z][A-Za-z0-9]{0,31}", prefix):
                raise BadSetting(
                    "header_prefix",
                    f"header_prefix contains {prefix!r}: expected a letter, then at most 31 letters or digits, "
                    "such as Service.",
                )

    def shown(self) -> dict[str, Any]:
        """Return all settings by name. Secrets are replaced by "set, not shown"."""
        return {
            each.name: ("set, not shown" if value else None) if each.metadata["secret"] else _plain(value)
            for each in fields(self)
            for value in [getattr(self, each.name)]
        }

    def resolved_routes(self) -> list[ResolvedRoute]:
        """Return all routes with all of their values. The first is that of the setting ``upstream``."""
        return resolve_routes(self.routes, vars(self))

    @property
    def min_max_journal(self) -> int:
        """The smallest allowed ``max_journal``.

        Each worker has two segments. During a reload, there are twice as many workers.
        """
        return 4 * self.workers * self.segment_bytes

    @property
    def min_disk_budget(self) -> int:
        """The smallest allowed ``disk_budget``: room for the journal and for the store's write-ahead logs."""
        return 256 * MIB + self.min_max_journal

    @property
    def durable(self) -> bool:
        """Whether the log must survive a power failure."""
        return self.durability == "power"


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, Table):
        return {name: _plain(each) for name, each in vars(value).items() if each is not None}
    if isinstance(value, str):
        return without_password(value)
    return str(value) if isinstance(value, Path) else value


POSITIVE = (
    *("workers", "max_request_bytes", "max_in_flight", "max_connections", "header_timeout", "body_timeout"),
    *("keep_alive_timeout", "write_timeout", "connect_timeout", "upstream_timeout", "idle_timeout", "upstream_idle"),
    *("drain_timeout", "reload_timeout", "segment_bytes", "seal_after"),
)


def is_utf8(text: str) -> bool:
    """Return whether the text can be encoded as UTF-8. Text from the system can contain bytes that are not UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def check_store(store: str, budget: str | int) -> None:
    """Raise BadSetting if ``store`` is invalid or does not support the disk budget."""
    if store == "sqlite":
        return
    try:
        parse_store_url(store)
    except ValueError as error:
        raise BadSetting("store", f"store is {store.rpartition('@')[2]!r}: {error}.") from None
    if isinstance(budget, int):
        raise BadSetting(
            "disk_budget", "disk_budget limits a log in the data directory, but store is ClickHouse. Omit disk_budget."
        )
