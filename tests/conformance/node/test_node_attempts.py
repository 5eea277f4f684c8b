"""The official Node SDK makes as many attempts at a call that fails through the relay as without it."""

import pytest
from tests.conformance.node.node_sdk import Call, make
from tests.conformance.sdk.calls import World
from tests.conformance.sdk.failing_calls import (
    FAILURES,
    MOST_RETRIES,
    Attempts,
    Failure,
    count_attempts,
    count_with_patience,
)


def call_of(base_url: str, failure: Failure, way: str) -> Call:
    call = Call(base_url, failure.headers(way), {"stream": failure.streamed}, max_retries=MOST_RETRIES)
    call.timeout_ms = failure.timeout_ms or call.timeout_ms
    return call


def fail_both_ways(world: World, failures: list[Failure]) -> None:
    """Makes each call through the relay and without it, all at the same time: the SDK waits between attempts."""
    ways = (world.server.base_url, "relayed"), (world.provider.url, "direct")
    found = make(*(call_of(url, failure, way) for url, way in ways for failure in failures))
    for failure, said in zip(failures * 2, found, strict=True):
        assert "error" in said, (failure, said)


@pytest.fixture(scope="module")
def attempts(world: World) -> Attempts:
    fail_both_ways(world, FAILURES)
    return count_attempts(world)


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: failure.what)
def test_the_provider_sees_as_many_attempts_as_without_a_relay(attempts: Attempts, failure: Failure) -> None:
    relayed, direct = attempts.of(failure)
    assert relayed == direct == failure.node
    assert attempts.recorded[f"{failure.tag}-relayed"] == relayed, "each attempt is a record"


def test_a_caller_whose_timeout_passes_makes_as_many_attempts_as_without_a_relay(world: World) -> None:
    make(Call(world.server.base_url))  # the relay is up
    for failure, relayed, direct in count_with_patience(
        world, lambda failures: fail_both_ways(world, failures), lambda failure: failure.node
    ):
        assert relayed == direct == failure.node, failure.what
