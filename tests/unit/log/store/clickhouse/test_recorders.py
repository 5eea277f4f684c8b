"""Test recorders that share a log in ClickHouse.

No two recorders use the same number. Readers never read beyond the mark of a live recorder.
"""

import random
from collections.abc import Iterator
from typing import Any

import pytest

from relaybook.log.store.clickhouse import recorders
from relaybook.log.store.clickhouse.recorders import Membership, Numbering, complete_to, live_recorders, recorder_states

SECOND_US = 1_000_000


class Server:
    """A fake of the server's clock, and of the operations on the table ``state`` that recorders use."""

    def __init__(self) -> None:
        self.now_us = 1_800_000_000 * SECOND_US
        self.values: dict[str, tuple[bytes, int]] = {}

    def state_of(self, name: str) -> Any:
        return State(self, name)

    def pass_seconds(self, seconds: float) -> None:
        self.now_us += int(seconds * SECOND_US)


class State:
    def __init__(self, server: Server, name: str) -> None:
        self._server, self._name = server, name

    def read_with_ages(self, kind: str) -> list[tuple[str, bytes, int]]:
        assert kind == "recorder"
        return [(name, value, self._server.now_us - at) for name, (value, at) in sorted(self._server.values.items())]

    def write(self, changes: dict[tuple[str, str], bytes]) -> None:
        self._server.values[self._name] = changes["recorder", ""], self._server.now_us


class Clock(Numbering):
    """Makes record numbers from the clock of the fake server."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def server_us(self) -> int:
        return self._server.now_us


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def late() -> Iterator[None]:
    """Make every recorder consider itself late, as after a long pause."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recorders, "_JOIN_AGAIN_NS", 0)
        yield


def member(server: Server, name: str) -> Membership:
    joined = Membership(server.state_of(name), name, "web-1", Clock(server))
    joined.load()
    joined.join()
    return joined


def mark(server: Server) -> int:
    return complete_to(server.state_of("reader"))


def test_numbers_ascend_differ_between_recorders_and_are_exact_in_javascript(server: Server) -> None:
    members = [member(server, name) for name in "abc"]
    taken = [number for _ in range(50) for each in members for number in each.take(random.randint(0, 40))]
    assert len(set(taken)) == len(taken)
    assert all(0 < number < 2**53 for number in taken)
    for each in members:
        numbers = each.take(100) + each.take(1)
        assert numbers == sorted(numbers)


def test_the_log_is_complete_up_to_the_lowest_mark_of_live_recorders(server: Server) -> None:
    first, second = member(server, "a"), member(server, "b")
    server.pass_seconds(1)
    numbers = second.take(3)
    second.write({})
    assert mark(server) < numbers[0]
    server.pass_seconds(1)
    first.write({})
    assert mark(server) >= numbers[-1]


def test_readers_do_not_wait_for_a_dead_recorder_which_returns_above_their_position(server: Server, late: None) -> None:
    dead, alive = member(server, "a"), member(server, "b")
    server.pass_seconds(31)
    alive.take(10_000)  # these numbers run ahead of the clock
    alive.write({})
    assert live_recorders(server.state_of("reader")) == ["b"]
    read_to = mark(server)
    dead.join_if_late()
    assert dead.take(1)[0] > read_to
    assert mark(server) <= read_to  # later requests of ``alive`` are not shown before those of ``dead``


def test_readers_do_not_wait_for_a_recorder_that_left(server: Server) -> None:
    leaving, staying = member(server, "a"), member(server, "b")
    server.pass_seconds(1)
    staying.write({})
    before = mark(server)
    leaving.leave()
    assert mark(server) > before
    staying.leave()
    assert mark(server) > before


def test_the_lag_of_a_recorder_is_that_of_its_last_commit_and_grows_until_the_next(server: Server) -> None:
    def states() -> list[tuple[str, bool, float]]:
        found = recorder_states(server.state_of("reader"))
        return [(each.server, each.is_live, each.lag_us / SECOND_US) for each in found]

    behind = member(server, "a")
    behind.write({}, 7 * SECOND_US)
    assert states() == [("web-1", True, 7)]
    server.pass_seconds(2)
    assert states() == [("web-1", True, 9)]
    behind.write({})
    assert states() == [("web-1", True, 0)]
    server.pass_seconds(31)
    assert states() == [("web-1", False, 31)]
    server.pass_seconds(3600)
    assert states() == []
    member(server, "b").leave()
    assert states() == []


def test_a_recorder_knows_whether_it_left_or_died(server: Server) -> None:
    first = Membership(server.state_of("a"), "a", "web-1", Clock(server))
    assert first.load()
    first.join()
    again = Membership(server.state_of("a"), "a", "web-1", Clock(server))
    assert not again.load()
    again.join()
    again.leave()
    assert Membership(server.state_of("a"), "a", "web-1", Clock(server)).load()


def test_a_copy_of_a_data_directory_is_refused_while_its_original_writes(server: Server) -> None:
    original = member(server, "a")
    copy = Membership(server.state_of("a"), "a", "web-2", Clock(server))
    with pytest.raises(recorders.StoreUnavailable, match="web-2 has the same data directory or a copy of it"):
        copy.load()
    server.pass_seconds(31)
    assert not copy.load()
    original.leave()
    assert copy.load()


def test_a_number_is_used_by_one_recorder_until_an_hour_after_its_last_mark(server: Server) -> None:
    class Few(Clock):
        slots = 2

    def join(name: str) -> None:
        Membership(server.state_of(name), name, "web-1", Few(server)).join()

    join("a")
    join("b")
    with pytest.raises(recorders.StoreUnavailable, match="maximum number of recorders, 2"):
        join("c")
    server.pass_seconds(3600)
    join("c")


def test_the_oldest_live_recorder_leads(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorders, "_MARK_EVERY_NS", 0)
    oldest, other = member(server, "a"), member(server, "b")
    assert (oldest.leads(), other.leads()) == (True, False)
    server.pass_seconds(31)
    other.write({})
    assert other.leads()
