"""Map request targets to upstreams. The mapping never depends on request headers."""

from typing import NamedTuple

from relaybook.apis import Kind, match
from relaybook.relay.pool import Pool, UpstreamUrl
from relaybook.relay.request_head import RequestHead
from relaybook.tags import TagReader, Tags


class RouteLimits(NamedTuple):
    """The limits of a route, with the meaning of the settings of the same names. Timeouts are in seconds."""

    max_in_flight: int
    upstream_timeout: float
    idle_timeout: float


class Route:
    """A base URL of the relay, the upstream that it stands for, and the limits and tags of its requests."""

    def __init__(
        self, name: str, mount: bytes, upstream: UpstreamUrl, pool: Pool, tags: TagReader, limits: RouteLimits
    ) -> None:
        """``mount`` is the path of the base URL. ``upstream.path`` replaces it in request targets."""
        self.name = name
        self.mount = mount
        self.upstream = upstream
        self.pool = pool
        self.tags = tags
        self.limits = limits
        #: Number of running exchanges.
        self.running = 0

    def has(self, target: bytes) -> bool:
        """Return whether a request target is the mount, or starts with the mount and ``/`` or ``?``."""
        return target.startswith(self.mount) and target[len(self.mount) :][:1] in b"/?"

    def destination(self, head: RequestHead) -> "Destination":
        """Return the destination of a request whose target this route has."""
        api_path = head.target.partition(b"?")[0][len(self.mount) :]
        api = match(head.method.decode("latin-1"), api_path.decode("latin-1")).api
        return Destination(self, self.tags.read(head.tags), api_path, api.kind)

    def upstream_head(self, head: RequestHead) -> bytes:
        """Return the head to send to the upstream, with the upstream's Host header."""
        host_line = self.upstream.host_line
        lines = head.lines.copy()
        if head.host_at >= 0:
            lines[head.host_at] = host_line
        else:
            lines.insert(0, host_line)
        return b"%b %b HTTP/1.1\r\n%b\r\n\r\n" % (head.method, self._map(head.target), b"\r\n".join(lines))

    def _map(self, target: bytes) -> bytes:
        mapped = self.upstream.path + target[len(self.mount) :]
        return mapped if mapped.startswith(b"/") else b"/" + mapped


class Destination(NamedTuple):
    """The route of a request, its tags, its path below the mount (without query), and the kind of its API."""

    route: Route
    tags: Tags
    api_path: bytes
    kind: Kind
