"""Map request targets to the upstream. The mapping never depends on request headers."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from relaybook.tags import TagReader


@dataclass(frozen=True)
class UpstreamUrl:
    """The parsed base URL of an upstream. In request targets, ``path`` replaces the route's prefix ``/v1``."""

    url: str
    host: str
    port: int
    tls: bool
    path: bytes
    host_line: bytes

    @classmethod
    def parse(cls, url: str) -> "UpstreamUrl":
        """Parse a base URL that ``check_base_url`` has accepted."""
        parts = urlsplit(url)
        tls = parts.scheme == "https"
        host = parts.hostname or ""
        port = parts.port or (443 if tls else 80)
        shown = f"[{host}]" if ":" in host else host
        if parts.port is not None:
            shown += f":{parts.port}"
        return cls(url, host, port, tls, parts.path.rstrip("/").encode(), b"Host: " + shown.encode())


@dataclass(frozen=True)
class Route:
    """A path prefix of the relay. Requests with this prefix are sent to ``upstream``."""

    name: str
    prefix: bytes
    upstream: UpstreamUrl
    tags: TagReader

    def has(self, target: bytes) -> bool:
        """Return whether a request target is this route's prefix, or starts with the prefix and ``/`` or ``?``."""
        return target.startswith(self.prefix) and target[len(self.prefix) :][:1] in b"/?"

    def map(self, target: bytes) -> bytes:
        """Return the target for the upstream: ``upstream.path`` replaces the prefix, and the rest is unchanged."""
        mapped = self.upstream.path + target[len(self.prefix) :]
        return mapped if mapped.startswith(b"/") else b"/" + mapped
