"""Pooled connections that receive bytes or end between being taken from the pool and being written to."""

import socket
from collections.abc import Callable
from typing import Any

import pytest
from tests.support.fake_peers import World

from relaybook.relay.upstream import UpstreamConnection

EVIL = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"


class LateGate:
    """Holds actions until it is opened."""

    def __init__(self) -> None:
        self.actions: list[tuple[Callable[[bytes], None], bytes]] = []

    def frame(self, kind: int, exchange: bytes, payload: bytes) -> None:
        return

    def then(self, action: Callable[[bytes], None], data: bytes) -> None:
        self.actions.append((action, data))

    def open(self) -> None:
        actions, self.actions = self.actions, []
        for action, data in actions:
            action(data)


class Wire:
    """A transport on one end of a socket pair."""

    def __init__(self, end: socket.socket) -> None:
        self.end = end
        self.written: list[bytes] = []
        self.aborted = False

    def set_write_buffer_limits(self, high: int, low: int) -> None:
        return

    def get_extra_info(self, name: str) -> Any:
        return self.end if name == "socket" else None

    def write(self, data: bytes) -> None:
        self.written.append(data)

    def abort(self) -> None:
        self.aborted = True


class Scenario(World):
    """An exchange with a pooled connection, while the gate is still closed."""

    def __init__(self) -> None:
        super().__init__(connected=False)
        self.gate = LateGate()
        self.exchange.frame = self.gate.frame
        self.upstream_end, relay_end = socket.socketpair()
        self.wire = Wire(relay_end)
        self.dialled = 0
        relay: Any = self
        self.old = UpstreamConnection(relay, self.route.pool)
        self.old.connection_made(self.wire)  # type: ignore[arg-type]
        self.old.fresh = False
        self.begin(complete=True)
        self.old.assign(self.exchange)

    def dial(self, pool: Any, exchange: Any) -> None:
        self.dialled += 1

    def close(self) -> None:
        self.upstream_end.close()
        self.wire.end.close()


@pytest.fixture
def scenario() -> Any:
    created = Scenario()
    yield created
    created.close()


def test_bytes_received_before_the_request_was_sent_reach_no_client(scenario: Scenario) -> None:
    scenario.old.received(EVIL)
    scenario.gate.open()
    assert (scenario.client.sent, scenario.wire.written) == (b"", [])
    assert (scenario.wire.aborted, scenario.dialled) == (True, 1)
    assert scenario.exchange.pending[0].startswith(b"POST /")


@pytest.mark.parametrize("sent", [b"", EVIL])
def test_a_connection_that_has_ended_or_received_bytes_is_not_used(scenario: Scenario, sent: bytes) -> None:
    scenario.upstream_end.sendall(sent)
    scenario.upstream_end.shutdown(socket.SHUT_WR)
    scenario.gate.open()
    assert (scenario.wire.written, scenario.dialled) == ([], 1)


def test_a_connection_lost_before_the_request_was_sent_has_no_effect(scenario: Scenario) -> None:
    scenario.old.connection_lost(ConnectionResetError())
    scenario.gate.open()
    assert (scenario.wire.written, scenario.dialled, scenario.client.sent) == ([], 1, b"")
    assert len(scenario.exchange.pending) == 1


def test_an_intact_connection_is_used(scenario: Scenario) -> None:
    scenario.gate.open()
    assert scenario.wire.written[0].startswith(b"POST /")
    assert scenario.dialled == 0
