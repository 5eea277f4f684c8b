"""Test how request targets are mapped to the upstream."""

import pytest

from relaybook.relay.routes import Route, UpstreamUrl
from relaybook.tags import TagReader


def route_to(url: str) -> Route:
    return Route("default", b"/v1", UpstreamUrl.parse(url), TagReader(["Service"], "default", "full"))


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
    assert route_to(url).map(target) == mapped


@pytest.mark.parametrize(("target", "has"), [(b"/v1/x", True), (b"/v1", True), (b"/v1?x", True), (b"/v10/x", False)])
def test_a_route_has_only_targets_with_its_prefix(target: bytes, has: bool) -> None:
    assert route_to("http://a").has(target) is has


def test_an_upstream_has_a_default_port_and_may_be_an_ipv6_address() -> None:
    assert UpstreamUrl.parse("https://a.example/v1").port == 443
    six = UpstreamUrl.parse("http://[::1]:8000/v1")
    assert (six.host, six.host_line) == ("::1", b"Host: [::1]:8000")
