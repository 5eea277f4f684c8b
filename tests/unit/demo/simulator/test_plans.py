"""Test the delays and endings of response plans."""

from typing import Any

import pytest

from relaybook_demo.simulator.directive_values import After, Break
from relaybook_demo.simulator.directives import NO_DIRECTIVES, Directives
from relaybook_demo.simulator.framing import ResponseContext
from relaybook_demo.simulator.incoming import Request
from relaybook_demo.simulator.plans import CLOSE, KEEP, Plan, plan_raw, plan_response
from relaybook_demo.simulator.replies import Event, Reply, Stamp
from relaybook_demo.simulator.settings import SimulatorSettings

STREAM = Reply(events=[Event(b"{}")])
SINGLE = Reply(body=b"{}", output_tokens=10)
SLOW = SimulatorSettings(first_token_ms=100, tokens_per_second=50)


def plan(
    reply: Reply = SINGLE,
    directives: Directives = NO_DIRECTIVES,
    settings: SimulatorSettings | None = None,
    **request: Any,
) -> Plan:
    return plan_response(
        ResponseContext(Request(**request), directives, reply, Stamp("a", 0), settings or SimulatorSettings()),
        lambda: 0,
    )


def test_a_single_response_takes_as_long_as_its_stream() -> None:
    actual = plan(settings=SLOW)
    assert (actual.delay_ms, actual.first_ms, actual.interval_ms) == (300, 0, 0)


def test_a_stream_waits_before_and_between_tokens() -> None:
    actual = plan(STREAM, settings=SLOW)
    assert (actual.delay_ms, actual.first_ms, actual.interval_ms) == (0, 100, 20)


def test_directives_set_the_delays() -> None:
    actual = plan(STREAM, Directives(delay_ms=1, first_token_ms=2, tokens_per_second=0, event_interval_ms=3), SLOW)
    assert (actual.delay_ms, actual.first_ms, actual.interval_ms) == (1, 2, 3)


def test_errors_are_not_delayed() -> None:
    assert plan(Reply(404, b"{}"), settings=SLOW).delay_ms == 0


def test_an_ordinary_response_is_one_write_and_keeps_the_connection() -> None:
    actual = plan()
    assert actual.is_single_write
    assert actual.after == KEEP


@pytest.mark.parametrize(
    "directives",
    [
        Directives(delay_ms=1),
        Directives(interim=(100,)),
        Directives(break_=Break("end", 0, 0, "fin")),
        Directives(after=After("rst", 0)),
    ],
)
def test_special_responses_are_not_one_write(directives: Directives) -> None:
    assert not plan(directives=directives).is_single_write
    assert not plan(STREAM).is_single_write


@pytest.mark.parametrize(
    ("directives", "request_parts", "after"),
    [
        (Directives(connection="close"), {}, CLOSE),
        (Directives(http="1.0"), {}, CLOSE),
        (Directives(framing="close"), {}, CLOSE),
        (Directives(framing="close"), {"method": "HEAD"}, KEEP),
        (Directives(length=("+", 1)), {}, CLOSE),
        (Directives(length=("-", 1)), {}, KEEP),
        (NO_DIRECTIVES, {"keep_alive": False}, CLOSE),
        (Directives(length=("+", 1), after=After("keep", 0)), {}, KEEP),
    ],
)
def test_the_connection_is_closed_when_required(
    directives: Directives, request_parts: dict[str, Any], after: After
) -> None:
    assert plan(directives=directives, **request_parts).after == after


def test_a_head_request_gets_the_length_and_no_body() -> None:
    actual = plan(method="HEAD")
    assert b"content-length: 2\r\n" in actual.head
    assert (list(actual.parts), actual.tail) == ([], b"")


def test_a_raw_plan_writes_only_these_bytes() -> None:
    actual = plan_raw(b"nonsense", NO_DIRECTIVES)
    assert (actual.head, list(actual.parts), actual.framing, actual.after) == (b"", [b"nonsense"], "none", CLOSE)
