"""Every setting, once: its name, type, default and what it does.

Flags (``--idle-timeout``), variables (``RELAYBOOK_IDLE_TIMEOUT``), keys of ``relaybook.toml`` and the table in
docs/reference/settings.md derive from the fields of ``Settings`` by rule. Reading them from those places is the command line's
work; checking them is done here. Durations are seconds, sizes bytes.
"""

import ipaddress
import re
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


class BadSetting(ValueError):
    """A setting that cannot be used; ``name`` is its field, the text is one line on what to change."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


def setting(default: Any, text: str, *, secret: bool = False, flag: bool = True) -> Any:
    """Declares a setting: its default and its one-line description. ``flag=False``: environment or file only."""
    metadata = {"help": text, "secret": secret, "flag": flag}
    if isinstance(default, list):
        return field(default_factory=lambda: list(default), metadata=metadata)
    return field(default=default, metadata=metadata)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """All settings of ``relaybook serve``; other commands use some of them."""

    listen: str = setting("127.0.0.1:4100", "Where the relay listens, host:port; port 0 takes a free one")
    dashboard: str = setting("127.0.0.1:4101", "Where the dashboard and its API listen, host:port")
    dashboard_url: str | None = setting(None, "The dashboard's outside address, when a proxy stands before it")
    dashboard_token: str | None = setting(None, "The token that signs in to the dashboard", secret=True, flag=False)
    upstream: str = setting("https://api.openai.com/v1", "The provider's base URL; it stands in for /v1")
    upstream_ca_file: Path | None = setting(None, "Certificate authorities to trust, instead of the system's")
    default_namespace: str = setting("default", "The namespace of a request that names none")
    log: Literal["full", "no-bodies"] = setting("full", "What is kept of each request at most")
    data: Path | None = setting(None, "Where journal and log are kept; default ./relaybook-data where it exists")
    workers: int = setting(1, "Relay processes")
    header_prefix: list[str] = setting(["Service", "Relaybook"], "First words of our headers; each of them is read")
    durability: Literal["process", "power"] = setting("process", "What the log survives: a killed program, a power cut")
    when_log_fails: Literal["refuse", "forward"] = setting(
        "refuse", "Refuse requests that cannot be logged, or forward"
    )
    on_client_gone: Literal["cancel", "finish"] = setting(
        "cancel", "Stop the provider when a caller leaves, or read on"
    )
    hosts: list[str] = setting([], "More names the relay accepts in Host while it is bound to loopback")
    trusted_proxies: list[str] = setting([], "Addresses whose X-Forwarded-For is believed")
    cors_origins: list[str] = setting([], "Origins whose pages may call the relay; * for any")
    max_request_bytes: int = setting(1 * GIB, "The largest request body that is relayed")
    max_in_flight: int = setting(10_000, "Requests at a time, per worker")
    max_connections: int = setting(50_000, "Open callers' connections, per worker")
    keep_other_bodies: int = setting(16 * MIB, "Larger bodies on paths that are not understood keep their first 64 KiB")
    header_timeout: float = setting(10.0, "For a request's head to arrive")
    body_timeout: float = setting(30.0, "For the next byte of a request's body to arrive")
    keep_alive_timeout: float = setting(75.0, "A caller's idle connection is closed after it")
    write_timeout: float = setting(60.0, "For a caller to take some of what is sent")
    connect_timeout: float = setting(5.0, "To reach the provider, all addresses and TLS included")
    upstream_timeout: float = setting(600.0, "For the head of the provider's answer to arrive")
    idle_timeout: float = setting(600.0, "For the next byte of the provider's answer to arrive")
    upstream_idle: float = setting(4.0, "An unused connection to the provider is closed after it")
    drain_timeout: float = setting(30.0, "For running requests to finish after SIGTERM")
    reload_timeout: float = setting(900.0, "For requests of before a reload to finish")
    segment_bytes: int = setting(64 * MIB, "Size of a journal file")
    seal_after: float = setting(60.0, "A journal file with bodies that must not stay is closed after it, then removed")
    min_free: int = setting(1 * GIB, "New requests are refused while less than this is free on the disk")
    max_journal: int = setting(10 * GIB, "New requests are refused while more than this is unrecorded")
    price_as: str | None = setting(None, "Provider whose prices hold for an upstream that has none of its own")

    def __post_init__(self) -> None:
        split_address(self.listen, "listen")
        host, port = split_address(self.dashboard, "dashboard")
        if port and split_address(self.listen, "listen") == (host, port):
            raise BadSetting(
                "dashboard", f"dashboard is {self.dashboard}, and so is listen: give it a port of its own."
            )
        if not is_loopback(host) and not self.dashboard_token:
            raise BadSetting(
                "dashboard",
                f"dashboard is {self.dashboard}, which other machines can reach, and no token is set: the log would be "
                "open to them. Set RELAYBOOK_DASHBOARD_TOKEN, or listen on 127.0.0.1.",
            )
        check_upstream(self.upstream)
        for name in POSITIVE:
            if getattr(self, name) <= 0:
                raise BadSetting(name, f"{name} is {getattr(self, name)}: it takes a number above 0.")
        if self.segment_bytes < MIB:
            raise BadSetting("segment_bytes", f"segment_bytes is {self.segment_bytes}: the least is {MIB} (1 MiB).")
        for prefix in self.header_prefix:
            if not re.fullmatch(r"[A-Za-z][A-Za-z0-9]{0,31}", prefix):
                raise BadSetting(
                    "header_prefix", f"header_prefix {prefix!r}: a prefix is up to 32 letters and digits, like Service."
                )
        if not self.header_prefix:
            raise BadSetting("header_prefix", "header_prefix is empty: name at least one, like Service.")

    def shown(self) -> dict[str, Any]:
        """Every setting as a person may see it: secrets only as set or not."""
        return {
            each.name: ("set, not shown" if value else None) if each.metadata["secret"] else _plain(value)
            for each in fields(self)
            for value in [getattr(self, each.name)]
        }

    @property
    def durable(self) -> bool:
        """Whether a power cut may lose nothing either."""
        return self.durability == "power"


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else value


POSITIVE = (
    *("workers", "max_request_bytes", "max_in_flight", "max_connections", "header_timeout", "body_timeout"),
    *("keep_alive_timeout", "write_timeout", "connect_timeout", "upstream_timeout", "idle_timeout", "upstream_idle"),
    *("drain_timeout", "reload_timeout", "segment_bytes", "seal_after", "max_journal"),
)


def split_address(text: str, name: str) -> tuple[str, int]:
    """Host and port of ``host:port``; an IPv6 host stands in brackets. Raises BadSetting."""
    host, colon, port = text.rpartition(":")
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if not colon or not bare or (":" in bare and bare == host) or not (port.isascii() and port.isdigit()):
        raise BadSetting(name, f"{name} is {text!r}: write host:port, like 127.0.0.1:4100.")
    if int(port) > 65535:
        raise BadSetting(name, f"{name} is {text!r}: a port is at most 65535.")
    return bare, int(port)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_upstream(url: str) -> None:
    """Raises BadSetting for a base URL the relay cannot use."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    clean = url.isascii() and url.isprintable() and " " not in url
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or port == 0 or not clean:
        wrong = "" if "://" in url else " It lacks the https:// or http:// at its beginning."
        raise BadSetting("upstream", f"upstream is {url!r}: write a base URL like https://api.openai.com/v1.{wrong}")
    if parts.query or parts.fragment:
        raise BadSetting("upstream", f"upstream is {url!r}: a base URL has no ? and no #.")
