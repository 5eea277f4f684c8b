"""Test every row of the transition tables in the docstring of ``relay/exchange.py``, without sockets."""

import re
from collections.abc import Callable
from typing import Final

import pytest
from tests.support.fake_peers import World

from relaybook.errors import RelayError
from relaybook.journal.events import decode_closed
from relaybook.journal.frame import FrameKind
from relaybook.relay import exchange as module

_CHUNKED: Final = b"Transfer-Encoding: chunked"
_STREAM: Final = (_CHUNKED, b"Content-Type: text/event-stream")


def _tables() -> list[list[tuple[str, str, str]]]:
    """Return the rows of each table: the state before the event, the event, and the new state or the outcome."""
    blocks = re.findall(r"::\n\n((?:    \S.*\n)+)", module.__doc__ or "")
    return [[_columns(line) for line in block.splitlines()] for block in blocks]


def _columns(line: str) -> tuple[str, str, str]:
    before, event, after, *_ = re.split(r"\s{2,}", line.strip())
    return before, event, after


REQUEST, RESPONSE, UPSTREAM, ENDS = _tables()
_ANY_END: Final = ("fail", "refuse", "client_gone", "interrupt", "abandon")


def _world(**settings: str) -> World:
    return World(_CHUNKED, **settings)


def _reading() -> World:
    """Return a world in which the first chunk of a request was sent to the upstream."""
    world = _world().begin()
    world.exchange.request_chunk(b"first")
    world.exchange.send()
    return world


def _sent() -> World:
    return _world().request(b"all")


def _abandoned() -> World:
    return _reading().respond(*_STREAM)


def _streaming() -> World:
    return _sent().respond(*_STREAM)


def _done() -> World:
    return _sent().respond(*_STREAM, body=b"data: 1\n\n", complete=True)


def _unconnected() -> World:
    """Return a world in which a request is complete but not yet sent."""
    world = World(_CHUNKED, connected=False).begin()
    world.exchange.request_end()
    return world


def _dialing() -> World:
    world = _unconnected()
    world.exchange.send()
    return world


_STATES: Final[dict[str, Callable[[], World]]] = {
    "reading": _reading,
    "abandoned": _abandoned,
    "waiting": _sent,
    "streaming": _streaming,
    "done": _done,
    "none": _unconnected,
    "dialing": _dialing,
    "connected": _sent,
}

_EVENTS: Final[dict[str, Callable[[World], object]]] = {
    "request_chunk": lambda world: world.exchange.request_chunk(b"more"),
    "request_end": lambda world: world.exchange.request_end(),
    "response_begin": lambda world: world.respond(*_STREAM),
    "response_chunk": lambda world: world.exchange.response_chunk(b"data: 1\n\n", False),
    "last response_chunk": lambda world: world.exchange.response_chunk(b"", True),
    "response_sent": lambda world: world.exchange.response_sent(),
    "send": lambda world: world.exchange.send(),
    "connected": lambda world: world.exchange.connected(world.upstream),
    "reconnect": lambda world: world.exchange.reconnect([b"head"]),
    "dial_failed": lambda world: world.exchange.dial_failed("No."),
    "fail": lambda world: world.exchange.fail(RelayError.UPSTREAM_RESET, "It broke off."),
    "refuse": lambda world: world.exchange.refuse(RelayError.BAD_REQUEST, "No."),
    "client_gone": lambda world: world.exchange.client_gone(),
    "interrupt": lambda world: world.exchange.interrupt(),
    "abandon": lambda world: world.exchange.abandon(),
}


def _upstream_state(world: World) -> str:
    exchange = world.exchange
    if exchange.upstream is not None:
        assert exchange.dialing is None
        return "connected"
    return "none" if exchange.dialing is None else "dialing"


def _rows(table: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """Replace each row for ``any end`` with one row for each possible end."""
    return [
        (before, each, after)
        for before, event, after in table
        for each in (_ANY_END if event == "any end" else (event,))
    ]


def test_the_tables_have_every_state_and_every_event() -> None:
    requests, responses = (
        {state.name.lower() for state in states} for states in (module.RequestState, module.ResponseState)
    )
    assert {name for before, _, after in REQUEST for name in (before, after)} == requests
    assert {name for before, _, after in RESPONSE for name in (before, after)} == responses
    assert {name for before, _, after in UPSTREAM for name in (before, after)} == {"none", "dialing", "connected"}
    assert {event for table in (REQUEST, RESPONSE, UPSTREAM, ENDS) for _, event, _ in table} == {*_EVENTS, "any end"}


@pytest.mark.parametrize(("before", "event", "after"), _rows(REQUEST))
def test_the_request_follows_its_table(before: str, event: str, after: str) -> None:
    world = _STATES[before]()
    frames, sent = len(world.kinds), world.upstream.sent
    _EVENTS[event](world)
    assert world.exchange.request_state.name.lower() == after
    if before == "abandoned":
        world.exchange.send()
        assert (len(world.kinds), world.upstream.sent) == (frames, sent)


@pytest.mark.parametrize(("before", "event", "after"), _rows(RESPONSE))
def test_the_response_follows_its_table(before: str, event: str, after: str) -> None:
    world = _STATES[before]()
    _EVENTS[event](world)
    assert world.exchange.response_state.name.lower() == after


@pytest.mark.parametrize(("before", "event", "after"), _rows(UPSTREAM))
def test_the_upstream_connection_follows_its_table(before: str, event: str, after: str) -> None:
    world = _STATES[before]()
    dials = len(world.dials)
    _EVENTS[event](world)
    assert _upstream_state(world) == after
    if event in _ANY_END:
        assert [dial.canceled for dial in world.dials] == [True] * dials
        assert world.upstream.calls == ([] if before == "dialing" else ["aborted"])


def test_an_idle_connection_of_the_pool_is_used_at_once() -> None:
    world = World(_CHUNKED).begin()
    world.exchange.send()
    assert _upstream_state(world) == "connected"


@pytest.mark.parametrize(
    ("before", "event", "outcome"),
    [
        (state, event, outcome)
        for before, event, outcome in ENDS
        for state in (("waiting", "streaming", "done") if before == "any" else (before,))
    ],
)
def test_each_end_closes_the_exchange_with_its_outcome(before: str, event: str, outcome: str) -> None:
    world = _STATES["dialing" if event == "dial_failed" else before]()
    _EVENTS[event](world)
    (payload,) = world.payloads(FrameKind.CLOSED)
    assert (decode_closed(payload).outcome, world.exchange.closed, world.over) == (outcome, True, 1)
    frames, calls = len(world.kinds), list(world.upstream.calls)
    for end in (*_ANY_END, "response_sent"):
        _EVENTS[end](world)
    assert (len(world.kinds), world.upstream.calls, world.over) == (frames, calls, 1)


@pytest.mark.parametrize("event", ["fail", "refuse"])
def test_an_end_that_its_table_does_not_have_does_nothing(event: str) -> None:
    assert ("done", event) not in {(before, name) for before, name, _ in ENDS}
    world = _done()
    _EVENTS[event](world)
    assert not world.exchange.closed
    assert "CLOSED" not in world.kinds


@pytest.mark.parametrize("event", ["last response_chunk", "fail"])
@pytest.mark.parametrize("before", ["waiting", "streaming"])
def test_with_finish_the_response_is_read_to_its_end_for_the_log(before: str, event: str) -> None:
    world = _world(on_client_gone="finish").request(b"all")
    if before == "streaming":
        world.respond(*_STREAM)
    world.exchange.client_gone()
    assert not world.exchange.closed
    if before == "waiting":
        world.respond(*_STREAM)
    _EVENTS[event](world)
    (payload,) = world.payloads(FrameKind.CLOSED)
    assert decode_closed(payload).outcome == "client_closed"
