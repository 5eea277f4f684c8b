"""Where requests go: the provider's address, and how a path here maps to one there. Only configuration decides it."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from relaybook.tags import TagReader


@dataclass(frozen=True)
class Origin:
    """A provider: its base URL taken apart. ``path`` stands in for ``/v1``."""

    url: str
    host: str
    port: int
    tls: bool
    path: bytes
    host_line: bytes

    @classmethod
    def parse(cls, url: str) -> "Origin":
        """Of a base URL that ``settings.check_upstream`` let pass."""
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
    """A base URL of ours (``prefix``) and what it stands for."""

    name: str
    prefix: bytes
    upstream: Origin
    tags: TagReader

    def has(self, target: bytes) -> bool:
        """Whether a target is below this route."""
        return target.startswith(self.prefix) and target[len(self.prefix) :][:1] in b"/?"

    def map(self, target: bytes) -> bytes:
        """The provider's target for one of ours, byte for byte."""
        mapped = self.upstream.path + target[len(self.prefix) :]
        return mapped if mapped.startswith(b"/") else b"/" + mapped

    def below(self, target: bytes) -> str:
        """The path below the base URL, without the query: ``/chat/completions``."""
        return target[len(self.prefix) :].partition(b"?")[0].decode("latin-1")
