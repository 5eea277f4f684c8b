"""Map request targets to upstreams. The mapping never depends on request headers."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from relaybook.apis import Kind, match
from relaybook.relay.pool import Pool, UpstreamUrl
from relaybook.relay.request_head import RequestHead
from relaybook.tags import TagReader, Tags

#: A target may have a namespace before the mount, for clients that cannot send headers: ``/ns/NAMESPACE/MOUNT/…``.
_NAMESPACE: Final = b"/ns/"


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

    def destination(self, head: RequestHead, target: bytes, namespace: bytes = b"") -> "Destination":
        """Return the destination of a request. ``target`` starts with the mount.

        ``namespace`` is from the target of the request, and applies if the client sends no other.
        """
        api_path = target.partition(b"?")[0][len(self.mount) :]
        api = match(head.method.decode("latin-1"), api_path.decode("latin-1")).api
        return Destination(self, self.tags.read(head.tags, namespace), target, api_path, api.kind)

    def upstream_head(self, head: RequestHead, target: bytes) -> bytes:
        """Return the head to send to the upstream, with the upstream's Host header."""
        host_line = self.upstream.host_line
        lines = head.lines.copy()
        if head.host_at >= 0:
            lines[head.host_at] = host_line
        else:
            lines.insert(0, host_line)
        return b"%b %b HTTP/1.1\r\n%b\r\n\r\n" % (head.method, self._map(target), b"\r\n".join(lines))

    def _map(self, target: bytes) -> bytes:
        mapped = self.upstream.path + target[len(self.mount) :]
        return mapped if mapped.startswith(b"/") else b"/" + mapped


class RouteTable:
    """The routes of a relay. No mount begins with another mount."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self.all = tuple(routes)
        self._by_first_segment: dict[bytes, list[Route]] = {}
        for route in self.all:
            self._by_first_segment.setdefault(_first_segment(route.mount), []).append(route)

    def find(self, target: bytes) -> Route | None:
        """Return the route whose mount the target starts with, or `None` if there is no such route."""
        for route in self._by_first_segment.get(_first_segment(target), ()):
            if route.has(target):
                return route
        return None


class Destination(NamedTuple):
    """The route of a request, and its tags.

    ``target`` is the request target without a namespace before the mount. ``api_path`` is its path below the mount,
    without query, and ``kind`` is the kind of its API.
    """

    route: Route
    tags: Tags
    target: bytes
    api_path: bytes
    kind: Kind


def split_namespace(target: bytes) -> tuple[bytes, bytes]:
    """Return the namespace before the mount, percent-encoded, and the rest of the target.

    The namespace is empty if the target has none, also if a variable in the base URL was empty (``/ns//v1``).
    """
    if not target.startswith(_NAMESPACE):
        return b"", target
    namespace, slash, rest = target[len(_NAMESPACE) :].partition(b"/")
    return (namespace, slash + rest) if slash and b"?" not in namespace else (b"", target)


def _first_segment(target: bytes) -> bytes:
    return target[1:].split(b"/", 1)[0].partition(b"?")[0]
