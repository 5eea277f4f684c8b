"""Claims about the ways an exchange ends that are not the good one."""

import json

import pytest
from tests.support.sides import World

from relaybook.errors import RelayError
from relaybook.journal.events import Closed, decode_closed
from relaybook.journal.frame import Kind
from relaybook.relay import endings

STREAM = (b"Transfer-Encoding: chunked", b"Content-Type: text/event-stream")


def closed(world: World) -> Closed:
    (payload,) = world.payloads(Kind.CLOSED)
    return decode_closed(payload)


def broken(world: World) -> None:
    endings.fail(world.exchange, RelayError.UPSTREAM_RESET, "It broke off.")


def test_before_the_head_the_caller_gets_an_answer_of_ours() -> None:
    world = World(b"Content-Length: 0").ask()
    broken(world)
    head, _, body = world.down.sent.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 502 ")
    assert b"Service-Error: upstream_reset" in head
    assert b"Service-Request-Id: " + world.exchange.id_text.encode() in head
    assert b"x-request-id: " + world.exchange.id_text.encode() in head
    assert json.loads(body)["error"]["message"] == "It broke off."
    assert world.payloads(Kind.MADE) == [body]
    end = closed(world)
    assert (end.outcome, end.error_code, end.error_message) == ("upstream_failed", "upstream_reset", "It broke off.")
    assert (world.up.told, world.down.keep_alive) == (["aborted"], True)


def test_between_two_events_a_broken_stream_gets_an_error_event_and_no_end() -> None:
    world = World().ask().answer(*STREAM)
    world.exchange.answer_piece(b"data: 1\n\n", False)
    broken(world)
    assert b"upstream_stream_interrupted" in world.down.sent
    assert not world.down.sent.endswith(b"0\r\n\r\n")
    assert world.down.told == ["cut"]
    assert closed(world).error_code == "upstream_stream_interrupted"


@pytest.mark.parametrize("lines", [STREAM, (b"Transfer-Encoding: chunked",), (b"Content-Length: 99",)])
def test_elsewhere_a_broken_answer_is_only_cut(lines: tuple[bytes, ...]) -> None:
    world = World().ask().answer(*lines)
    world.exchange.answer_piece(b"data: 1\n", False)
    before = world.down.sent
    broken(world)
    assert (world.down.sent, world.down.told) == (before, ["cut"])
    assert world.payloads(Kind.MADE) == []


def test_a_caller_who_leaves_ends_the_providers_work() -> None:
    world = World().ask().answer(*STREAM)
    endings.caller_gone(world.exchange)
    assert world.up.told == ["aborted"]
    assert closed(world).outcome == "client_closed"


def test_by_choice_the_answer_is_read_to_its_end_for_the_log() -> None:
    world = World(on_client_gone="finish").ask().answer(*STREAM)
    endings.caller_gone(world.exchange)
    world.exchange.answer_piece(b"data: 1\n\n", True)
    assert (world.up.told, closed(world).outcome) == (["reusable"], "client_closed")
    assert world.payloads(Kind.RECEIVED) == [b"data: 1\n\n"]


def test_a_caller_who_breaks_a_limit_is_told_and_the_connection_ends() -> None:
    world = World(b"Content-Length: 9")
    world.begin()
    world.exchange.send()
    endings.refuse_admitted(world.exchange, RelayError.REQUEST_TOO_LARGE, "Too large.")
    assert world.down.sent.startswith(b"HTTP/1.1 413 ")
    assert b"Connection: close" in world.down.sent
    assert (closed(world).outcome, world.down.keep_alive) == ("refused", False)


@pytest.mark.parametrize(("begun", "told"), [(False, ["handed over"]), (True, ["cut"])])
def test_when_we_stop_both_sides_are_told(begun: bool, told: list[str]) -> None:
    world = World().ask()
    if begun:
        world.answer(*STREAM)
    endings.interrupt(world.exchange)
    assert (world.down.told, world.up.told, closed(world).outcome) == (told, ["aborted"], "interrupted")


def test_an_answer_that_waits_to_be_taken_is_cut_when_we_stop() -> None:
    world = World().ask().answer(b"Content-Length: 2")
    world.exchange.answer_piece(b"ok", True)
    sent = world.down.sent
    endings.interrupt(world.exchange)
    assert (world.down.sent, world.down.told) == (sent, ["handed over", "cut"])


def test_when_the_journal_is_lost_nothing_more_is_said() -> None:
    world = World().ask().answer(*STREAM)
    sent = world.down.sent
    endings.abandon(world.exchange)
    assert (world.down.sent, world.down.told, world.up.told) == (sent, ["abandoned"], ["aborted"])


def test_there_is_one_end() -> None:
    world = World().ask()
    broken(world)
    before = list(world.gate.frames)
    broken(world)
    endings.refuse_admitted(world.exchange, RelayError.BAD_REQUEST, "x")
    endings.interrupt(world.exchange)
    endings.caller_gone(world.exchange)
    assert (world.gate.frames, world.over) == (before, 1)
