"""Exchanges that do not complete."""

import json

import pytest
from tests.support.sides import World

from relaybook.errors import RelayError
from relaybook.journal.events import Closed, decode_closed
from relaybook.journal.frame import FrameKind
from relaybook.relay import endings

STREAM = (b"Transfer-Encoding: chunked", b"Content-Type: text/event-stream")


def closed(world: World) -> Closed:
    (payload,) = world.payloads(FrameKind.CLOSED)
    return decode_closed(payload)


def broken(world: World) -> None:
    endings.fail(world.exchange, RelayError.UPSTREAM_RESET, "It broke off.")


def test_before_the_response_head_the_client_gets_an_error_response() -> None:
    world = World(b"Content-Length: 0").request()
    broken(world)
    head, _, body = world.client.sent.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 502 ")
    assert b"Service-Error: upstream_reset" in head
    assert b"Service-Request-Id: " + world.exchange.id_text.encode() in head
    assert b"x-request-id: " + world.exchange.id_text.encode() in head
    assert json.loads(body)["error"]["message"] == "It broke off."
    assert world.payloads(FrameKind.MADE) == [body]
    end = closed(world)
    assert (end.outcome, end.error_code, end.error_message) == ("upstream_failed", "upstream_reset", "It broke off.")
    assert (world.upstream.calls, world.client.keep_alive) == (["aborted"], True)


def test_a_stream_broken_between_two_events_gets_an_error_event_and_no_clean_end() -> None:
    world = World().request().respond(*STREAM)
    world.exchange.response_chunk(b"data: 1\n\n", False)
    broken(world)
    assert b"upstream_stream_interrupted" in world.client.sent
    assert not world.client.sent.endswith(b"0\r\n\r\n")
    assert world.client.calls == ["cut"]
    assert closed(world).error_code == "upstream_stream_interrupted"


@pytest.mark.parametrize("lines", [STREAM, (b"Transfer-Encoding: chunked",), (b"Content-Length: 99",)])
def test_any_other_broken_response_is_only_cut(lines: tuple[bytes, ...]) -> None:
    world = World().request().respond(*lines)
    world.exchange.response_chunk(b"data: 1\n", False)
    before = world.client.sent
    broken(world)
    assert (world.client.sent, world.client.calls) == (before, ["cut"])
    assert world.payloads(FrameKind.MADE) == []


def test_a_lost_client_connection_closes_the_upstream_connection() -> None:
    world = World().request().respond(*STREAM)
    endings.client_gone(world.exchange)
    assert world.upstream.calls == ["aborted"]
    assert closed(world).outcome == "client_closed"


def test_with_on_client_gone_finish_the_response_is_read_to_its_end() -> None:
    world = World(on_client_gone="finish").request().respond(*STREAM)
    endings.client_gone(world.exchange)
    world.exchange.response_chunk(b"data: 1\n\n", True)
    assert (world.upstream.calls, closed(world).outcome) == (["reusable"], "client_closed")
    assert world.payloads(FrameKind.RECEIVED) == [b"data: 1\n\n"]


def test_a_request_over_a_limit_gets_an_error_and_the_connection_closes() -> None:
    world = World(b"Content-Length: 9")
    world.begin()
    world.exchange.send()
    endings.refuse_admitted(world.exchange, RelayError.REQUEST_TOO_LARGE, "Too large.")
    assert world.client.sent.startswith(b"HTTP/1.1 413 ")
    assert b"Connection: close" in world.client.sent
    assert (closed(world).outcome, world.client.keep_alive) == ("refused", False)


@pytest.mark.parametrize(("begun", "calls"), [(False, ["handed over"]), (True, ["cut"])])
def test_on_shutdown_both_connections_are_ended(begun: bool, calls: list[str]) -> None:
    world = World().request()
    if begun:
        world.respond(*STREAM)
    endings.interrupt(world.exchange)
    assert (world.client.calls, world.upstream.calls, closed(world).outcome) == (calls, ["aborted"], "interrupted")


def test_on_shutdown_a_response_that_waits_for_the_client_is_cut() -> None:
    world = World().request().respond(b"Content-Length: 2")
    world.exchange.response_chunk(b"ok", True)
    sent = world.client.sent
    endings.interrupt(world.exchange)
    assert (world.client.sent, world.client.calls) == (sent, ["handed over", "cut"])


def test_when_the_journal_fails_nothing_more_is_sent() -> None:
    world = World().request().respond(*STREAM)
    sent = world.client.sent
    endings.abandon(world.exchange)
    assert (world.client.sent, world.client.calls, world.upstream.calls) == (sent, ["abandoned"], ["aborted"])


def test_an_exchange_ends_once() -> None:
    world = World().request()
    broken(world)
    before = list(world.gate.frames)
    broken(world)
    endings.refuse_admitted(world.exchange, RelayError.BAD_REQUEST, "x")
    endings.interrupt(world.exchange)
    endings.client_gone(world.exchange)
    assert (world.gate.frames, world.over) == (before, 1)
