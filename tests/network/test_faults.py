"""Check the response and the record for one fault at a time, in each direction of each network."""

import asyncio
from collections.abc import Iterator
from typing import Final

import pytest
from tests.crash.load import Choice
from tests.network.network import Network, Observed, new_network
from tests.support.fault_proxy import Ending, Fault, Plan

#: A stream of two seconds, which is long enough for every fault to occur before its end.
STREAM: Final[Choice] = ("stream", 200, None)
SHORT_STREAM: Final[Choice] = ("stream", 30, None)
LARGE: Final[Choice] = ("large", 200_000, None)
UPLOAD: Final[Choice] = ("upload", 300, None)
#: Offsets in the head of a request or response, and in the body of an upload, a stream or a large response.
IN_HEAD: Final = 60
IN_UPLOAD: Final = 100_000
IN_RESPONSE: Final = 3_000
ENDINGS: Final = ("fin", "rst", "half")


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Network, asyncio.Runner]]:
    with new_network(tmp_path_factory.mktemp("network")) as created:
        yield created


def send(network: tuple[Network, asyncio.Runner], choice: Choice, **plans: Plan) -> Observed:
    """Send one request over connections with these plans, and assert that later requests are not affected."""
    world, runner = network
    seen, *later = runner.run(world.send(choice, **plans))
    assert {(each.call.complete, each.call.status, each.outcome) for each in later} == {(True, 200, "complete")}
    return seen


# -- between relay and upstream ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("after", [0, IN_HEAD])
def test_a_response_cut_before_its_body_is_a_502_without_a_retry(
    network: tuple[Network, asyncio.Runner], after: int, ending: Ending
) -> None:
    # Without the stall, the reset could arrive before the relay knows that it is connected. In that case the upstream
    # would count as not reached.
    fault = Fault(after=after, ending=ending, stall_seconds=0.2)
    seen = send(network, STREAM, far=Plan(downstream=fault))
    assert (seen.call.status, seen.call.complete, seen.outcome) == (502, True, "upstream_failed")
    assert seen.record is not None
    assert seen.record.error_code == "upstream_reset"


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("choice", [STREAM, LARGE], ids=["stream", "whole"])
def test_a_response_cut_in_its_body_never_ends_cleanly_and_what_arrived_is_stored(
    network: tuple[Network, asyncio.Runner], choice: Choice, ending: Ending
) -> None:
    seen = send(network, choice, far=Plan(downstream=Fault(after=IN_RESPONSE, ending=ending)))
    assert (seen.call.status, seen.call.complete, seen.outcome) == (200, False, "upstream_failed")
    assert seen.served is not None
    assert 0 < len(seen.stored) <= min(IN_RESPONSE, len(seen.served.sent))


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("after", [IN_HEAD, IN_UPLOAD])
def test_a_request_cut_on_its_way_to_the_upstream_is_a_502_without_a_retry(
    network: tuple[Network, asyncio.Runner], after: int, ending: Ending
) -> None:
    seen = send(network, UPLOAD, far=Plan(upstream=Fault(after=after, ending=ending)))
    assert (seen.call.status, seen.outcome) == (502, "upstream_failed")
    assert (seen.served is None) == (after == IN_HEAD)
    if seen.served is not None:
        assert seen.served.received < len(seen.call.request)


# -- between client and relay ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_request_cut_in_its_head_does_not_reach_the_upstream(
    network: tuple[Network, asyncio.Runner], ending: Ending
) -> None:
    seen = send(network, STREAM, near=Plan(upstream=Fault(after=IN_HEAD, ending=ending)))
    assert (seen.call.status, seen.record, seen.served) == (None, None, None)


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_request_cut_in_its_body_is_recorded_as_far_as_it_arrived(
    network: tuple[Network, asyncio.Runner], ending: Ending
) -> None:
    seen = send(network, UPLOAD, near=Plan(upstream=Fault(after=IN_UPLOAD, ending=ending)))
    assert (seen.call.status, seen.outcome) == (None, "client_closed")
    assert seen.record is not None
    assert 0 < seen.record.request_bytes < IN_UPLOAD
    assert seen.served is None or not seen.served.whole


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_client_cut_off_from_its_stream_is_recorded_as_closed_and_everything_it_got_is_stored(
    network: tuple[Network, asyncio.Runner], ending: Ending
) -> None:
    seen = send(network, STREAM, near=Plan(downstream=Fault(after=IN_RESPONSE, ending=ending)))
    assert (seen.call.status, seen.call.complete, seen.outcome) == (200, False, "client_closed")
    assert len(seen.stored) >= len(seen.call.received) > 0


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_client_cut_off_from_a_large_response_got_nothing_that_is_not_stored(
    network: tuple[Network, asyncio.Runner], ending: Ending
) -> None:
    seen = send(network, LARGE, near=Plan(downstream=Fault(after=IN_RESPONSE, ending=ending)))
    assert (seen.call.status, seen.call.complete) == (200, False)
    # The kernel may have accepted the whole response before it noticed the disconnect.
    assert seen.outcome in ("client_closed", "complete")


# -- slow in both directions -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", ["near", "far"])
@pytest.mark.parametrize("choice", [SHORT_STREAM, LARGE, UPLOAD], ids=["stream", "whole", "upload"])
@pytest.mark.parametrize(
    "fault",
    [
        Fault(latency_seconds=0.02),
        Fault(bytes_per_second=600_000),
        Fault(after=IN_HEAD, stall_seconds=0.3),
        Fault(after=IN_RESPONSE, stall_seconds=0.3),
    ],
    ids=["latency", "throttle", "stall in the head", "stall in the body"],
)
def test_a_slow_network_changes_nothing(
    network: tuple[Network, asyncio.Runner], side: str, choice: Choice, fault: Fault
) -> None:
    seen = send(network, choice, **{side: Plan(fault, fault)})
    assert (seen.call.status, seen.call.complete, seen.outcome) == (200, True, "complete")
