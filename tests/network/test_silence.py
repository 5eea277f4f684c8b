"""If a network becomes silent, timeouts end its requests, and the records show which peer was silent."""

import asyncio
from collections.abc import Iterator
from typing import Final

import pytest
from tests.crash.load import Choice
from tests.network.network import Network, Observed, new_network
from tests.support.fault_proxy import Fault, Plan

STREAM: Final[Choice] = ("stream", 30, None)
UPLOAD: Final[Choice] = ("upload", 300, None)
IN_HEAD: Final = 60
IN_UPLOAD: Final = 100_000
IN_RESPONSE: Final = 1_000
LIMITS: Final = tuple(
    part
    for name in ("header-timeout", "body-timeout", "upstream-timeout", "idle-timeout")
    for part in (f"--{name}", "1")
)


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Network, asyncio.Runner]]:
    with new_network(tmp_path_factory.mktemp("network"), *LIMITS) as created:
        yield created


def send(network: tuple[Network, asyncio.Runner], choice: Choice, **plans: Plan) -> Observed:
    world, runner = network
    return runner.run(world.send(choice, **plans))[0]


def silent(after: int) -> Fault:
    return Fault(after=after, ending="hang")


@pytest.mark.parametrize("after", [0, IN_HEAD])
def test_an_upstream_that_is_not_heard_is_a_504(network: tuple[Network, asyncio.Runner], after: int) -> None:
    seen = send(network, STREAM, far=Plan(downstream=silent(after)))
    assert (seen.call.status, seen.call.complete, seen.outcome) == (504, True, "upstream_failed")
    assert seen.record is not None
    assert seen.record.error_code == "upstream_timeout"


@pytest.mark.parametrize("after", [IN_HEAD, IN_UPLOAD])
def test_an_upstream_that_does_not_receive_the_request_is_a_504(
    network: tuple[Network, asyncio.Runner], after: int
) -> None:
    seen = send(network, UPLOAD, far=Plan(upstream=silent(after)))
    assert (seen.call.status, seen.call.complete, seen.outcome) == (504, True, "upstream_failed")


def test_a_stream_that_becomes_silent_never_ends_cleanly(network: tuple[Network, asyncio.Runner]) -> None:
    seen = send(network, STREAM, far=Plan(downstream=silent(IN_RESPONSE)))
    assert (seen.call.status, seen.call.complete, seen.outcome) == (200, False, "upstream_failed")
    assert seen.stored


def test_a_request_that_stops_in_its_head_is_a_408_and_does_not_reach_the_upstream(
    network: tuple[Network, asyncio.Runner],
) -> None:
    seen = send(network, STREAM, near=Plan(upstream=silent(IN_HEAD)))
    assert (seen.call.status, seen.record, seen.served) == (408, None, None)


def test_a_request_that_stops_in_its_body_is_a_408_and_recorded_as_refused(
    network: tuple[Network, asyncio.Runner],
) -> None:
    seen = send(network, UPLOAD, near=Plan(upstream=silent(IN_UPLOAD)))
    assert (seen.call.status, seen.outcome) == (408, "refused")
    assert seen.served is None or not seen.served.whole
