"""Test how request targets are mapped to the upstream."""

import pytest
from tests.support.fake_peers import FINGERPRINTS, TAGS, a_pool

from relaybook.relay.pool import UpstreamUrl
from relaybook.relay.request_head import RequestHead, RequestHeadReader
from relaybook.relay.routes import Route, RouteLimits, RouteTable, split_namespace


def route_to(url: str) -> Route:
    pool = a_pool(url, lambda pool, exchange: None)
    return Route("default", b"/v1", pool.upstream, pool, TAGS, RouteLimits(1, 1.0, 1.0))


def head_of(target: bytes, method: bytes = b"POST") -> RequestHead:
    raw = b"%b %b HTTP/1.1\r\nA: 1\r\nhost: here\r\nService-Namespace: ios\r\n\r\n" % (method, target)
    return RequestHeadReader(TAGS.is_tag, FINGERPRINTS).read(raw)


@pytest.mark.parametrize(
    ("url", "target", "mapped"),
    [
        ("https://api.openai.com/v1", b"/v1/chat/completions", b"/v1/chat/completions"),
        ("https://openrouter.ai/api/v1", b"/v1/chat/completions?x=%2F", b"/api/v1/chat/completions?x=%2F"),
        ("http://127.0.0.1:8000", b"/v1/models", b"/models"),
        ("http://127.0.0.1:8000/v1/", b"/v1/models/a%2Fb", b"/v1/models/a%2Fb"),
        ("http://127.0.0.1:8000", b"/v1", b"/"),
        ("http://127.0.0.1:8000", b"/v1?x=1", b"/?x=1"),
    ],
)
def test_the_upstreams_base_url_replaces_v1(url: str, target: bytes, mapped: bytes) -> None:
    first, *lines = route_to(url).upstream_head(head_of(target), target).split(b"\r\n")
    assert first == b"POST %b HTTP/1.1" % mapped
    assert lines[:2] == [b"A: 1", route_to(url).upstream.host_line]


@pytest.mark.parametrize(
    ("target", "api_path", "kind"),
    [
        (b"/v1/chat/completions?a=/v1/embeddings", b"/chat/completions", "chat"),
        (b"/v1/v1/messages", b"/v1/messages", "message"),
        (b"/v1", b"", "other"),
    ],
)
def test_the_destination_has_the_path_below_the_mount_and_the_kind_of_its_api(
    target: bytes, api_path: bytes, kind: str
) -> None:
    route = route_to("http://a")
    destination = route.destination(head_of(target), target)
    assert (destination.route, destination.api_path, destination.kind) == (route, api_path, kind)
    assert destination.tags.namespace == "ios"


def test_the_head_for_the_upstream_does_not_change_the_parsed_head() -> None:
    head = head_of(b"/v1/models")
    before = head.lines.copy()
    route = route_to("http://a")
    assert route.upstream_head(head, head.target) == route.upstream_head(head, head.target)
    assert head.lines == before


@pytest.mark.parametrize(("target", "has"), [(b"/v1/x", True), (b"/v1", True), (b"/v1?x", True), (b"/v10/x", False)])
def test_a_route_has_only_targets_with_its_prefix(target: bytes, has: bool) -> None:
    assert route_to("http://a").has(target) is has


def test_an_upstream_has_a_default_port_and_may_be_an_ipv6_address() -> None:
    assert UpstreamUrl.parse("https://a.example/v1").port == 443
    six = UpstreamUrl.parse("http://[::1]:8000/v1")
    assert (six.host, six.host_line) == ("::1", b"Host: [::1]:8000")


def table_of(*mounts: bytes) -> RouteTable:
    pool = a_pool("http://a", lambda pool, exchange: None)
    limits = RouteLimits(1, 1.0, 1.0)
    return RouteTable(Route(mount.decode(), mount, pool.upstream, pool, TAGS, limits) for mount in mounts)


@pytest.mark.parametrize(
    ("target", "name"),
    [
        (b"/v1/chat/completions", "/v1"),
        (b"/anthropic/v1/messages", "/anthropic"),
        (b"/anthropic", "/anthropic"),
        (b"/anthropic?beta=true", "/anthropic"),
        (b"/a/b/x", "/a/b"),
        (b"/a/c", "/a/c"),
        (b"/a/cd", None),
        (b"/a", None),
        (b"/anthropics/v1", None),
        (b"/", None),
        (b"*", None),
        (b"v1/x", None),
    ],
)
def test_a_target_belongs_to_the_route_whose_mount_it_starts_with(target: bytes, name: str | None) -> None:
    found = table_of(b"/v1", b"/anthropic", b"/a/b", b"/a/c").find(target)
    assert (None if found is None else found.name) == name


@pytest.mark.parametrize(
    ("target", "split"),
    [
        (b"/ns/ios/v1/chat/completions?x=1", (b"ios", b"/v1/chat/completions?x=1")),
        (b"/ns/tenant%2F42/anthropic/v1/messages", (b"tenant%2F42", b"/anthropic/v1/messages")),
        (b"/ns/ios", (b"", b"/ns/ios")),
        (b"/ns//v1/models", (b"", b"/v1/models")),
        (b"/ns/?x/v1", (b"", b"/ns/?x/v1")),
        (b"/nsx/ios/v1", (b"", b"/nsx/ios/v1")),
        (b"/v1/ns/ios/v1", (b"", b"/v1/ns/ios/v1")),
    ],
)
def test_a_namespace_can_stand_before_the_mount(target: bytes, split: tuple[bytes, bytes]) -> None:
    assert split_namespace(target) == split


def test_the_namespace_in_the_path_applies_if_no_header_has_one() -> None:
    route = route_to("http://a")
    raw = b"POST /ns/tenant%2F42/v1/chat/completions HTTP/1.1\r\nhost: here\r\n\r\n"
    plain = RequestHeadReader(TAGS.is_tag, FINGERPRINTS).read(raw)
    assert route.destination(plain, b"/v1/chat/completions", b"tenant%2F42").tags.namespace == "tenant/42"
    assert route.destination(head_of(b"/v1/x"), b"/v1/x", b"tenant%2F42").tags.namespace == "ios"
