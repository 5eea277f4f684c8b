"""Test how the relay enforces timeouts of running exchanges."""

from typing import Any

import pytest
from tests.support.fake_peers import World

from relaybook.journal.events import decode_closed
from relaybook.journal.frame import FrameKind


@pytest.fixture
def world() -> World:
    """Return a world whose upstream has stopped accepting bytes of the request."""
    world = World(b"Content-Length: 10").begin(b"first")
    world.exchange.send()
    upstream: Any = world.upstream
    upstream.stalled = lambda now, seconds: True
    return world


def error_codes(world: World) -> list[str | None]:
    return [decode_closed(payload).error_code for payload in world.payloads(FrameKind.CLOSED)]


def test_an_upstream_that_stops_accepting_the_request_before_it_responds_is_a_timeout(world: World) -> None:
    world.exchange.sweep(1.0)
    assert error_codes(world) == ["upstream_timeout"]


def test_a_response_continues_although_the_upstream_does_not_accept_the_rest_of_the_request(world: World) -> None:
    world.respond(b"Transfer-Encoding: chunked")
    world.exchange.sweep(world.settings.idle_timeout)
    assert error_codes(world) == []
    world.exchange.sweep(world.settings.idle_timeout + 1)  # the upstream has sent nothing since time 0
    assert error_codes(world) == ["upstream_timeout"]
