"""The official Node SDK makes as many attempts at a failing call through the relay as it makes directly."""

import pytest
from tests.conformance.node.node_sdk import Call, make
from tests.conformance.sdk.calls import World
from tests.conformance.sdk.failing_calls import (
    FAILURES,
    MAX_RETRIES,
    Attempts,
    Failure,
    count_attempts,
    count_with_longer_timeouts,
)


def call_of(base_url: str, failure: Failure, route: str) -> Call:
    call = Call(base_url, failure.headers(route), {"stream": failure.streamed}, max_retries=MAX_RETRIES)
    call.timeout_ms = failure.timeout_ms or call.timeout_ms
    return call


def fail_both_ways(world: World, failures: list[Failure]) -> None:
    """Make each call through the relay and directly. Calls run concurrently, because the SDK waits between attempts."""
    routes = (world.server.base_url, "relayed"), (world.provider.url, "direct")
    found = make(*(call_of(url, failure, route) for url, route in routes for failure in failures))
    for failure, results in zip(failures * 2, found, strict=True):
        assert "error" in results, (failure, results)


@pytest.fixture(scope="module")
def attempts(world: World) -> Attempts:
    fail_both_ways(world, FAILURES)
    return count_attempts(world)


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: failure.what)
def test_the_upstream_gets_as_many_attempts_as_without_a_relay(attempts: Attempts, failure: Failure) -> None:
    relayed, direct = attempts.of(failure)
    assert relayed == direct == failure.node
    assert attempts.recorded[f"{failure.tag}-relayed"] == relayed, "each attempt is a record"


def test_a_client_that_times_out_makes_as_many_attempts_as_without_a_relay(world: World) -> None:
    make(Call(world.server.base_url))  # ensures that the relay is running
    for failure, relayed, direct in count_with_longer_timeouts(
        world, lambda failures: fail_both_ways(world, failures), lambda failure: failure.node
    ):
        assert relayed == direct == failure.node, failure.what
