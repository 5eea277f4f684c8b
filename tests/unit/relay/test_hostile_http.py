"""Malformed, ambiguous and hostile HTTP is rejected, and never reaches the upstream as a request.

The tests send the tables of ``tests.support.hostile`` to the relay's connections without sockets.
``tests/integration/test_hostile_http.py`` sends the same tables to a real server.
"""

from collections.abc import Callable
from typing import Final

import pytest
from tests.support.each import check_each
from tests.support.hostile.cases import CASES, Case, name_of
from tests.support.hostile.more_cases import MORE_CASES
from tests.support.hostile.rejection import assert_rejected
from tests.support.raw_http import LENGTH, QUESTION, SMUGGLED, parse, request
from tests.support.relay_world import RelayWorld
from tests.support.strict_http import read_requests

ALL_CASES: Final = [*CASES, *MORE_CASES]
_ORDINARY: Final = request(LENGTH, body=QUESTION)


def halves(sent: bytes) -> list[bytes]:
    return [sent[: len(sent) // 2], sent[len(sent) // 2 :]]


def single_bytes(sent: bytes) -> list[bytes]:
    return [sent[at : at + 1] for at in range(len(sent))]


def test_hostile_http_is_rejected_and_does_not_affect_other_requests() -> None:
    world = RelayWorld()
    check_each(ALL_CASES, lambda case: check(world, case, [case.sent]), name_of)


@pytest.mark.parametrize("split", [halves, single_bytes])
def test_hostile_http_in_small_reads_is_rejected_the_same_way(split: Callable[[bytes], list[bytes]]) -> None:
    world = RelayWorld()
    small = [case for case in ALL_CASES if len(case.sent) < 4096]
    check_each(small, lambda case: check(world, case, split(case.sent)), name_of)


def check(world: RelayWorld, case: Case, reads: list[bytes]) -> None:
    """Send a case on a new connection, then an ordinary request on another."""
    _check_rejection(world, case, reads)
    _check_ordinary_request(world)


def _check_rejection(world: RelayWorld, case: Case, reads: list[bytes]) -> None:
    providers, refused, closed = len(world.providers), world.refused.copy(), set(world.fake_journal.closed)
    world.accept().receive(*reads)
    response = assert_rejected(world.transport.said, case)
    assert world.transport.ended, "the connection is not closed"
    world.receive(_ORDINARY)
    assert response == parse(world.transport.said), "bytes after the malformed request are served"
    forwarded, ends = (
        world.providers[providers:],
        [world.fake_journal.closed[each] for each in set(world.fake_journal.closed) - closed],
    )
    if case.kept == "counted":
        assert (world.refused - refused) == {case.code: 1}
        assert (forwarded, ends) == ([], [])
        return
    assert world.refused == refused
    assert [(end.outcome, end.error_code, end.error_message) for end in ends] == [
        ("refused", case.code, response.error["message"])
    ]
    for provider in forwarded:
        assert provider.aborted
        assert SMUGGLED.encode() not in provider.wire
        assert [each.complete for each in read_requests(provider.wire).requests] in ([], [False])


def _check_ordinary_request(world: RelayWorld) -> None:
    providers = len(world.providers)
    world.accept().feed(_ORDINARY)
    assert parse(world.transport.said).status == 200
    (provider,) = world.providers[providers:]
    (sent,) = read_requests(provider.wire).requests
    assert (sent.complete, sent.body) == (True, QUESTION)
