"""Plans: moments and endings."""

from typing import Any

import pytest

from relaybook_demo.simulator.directive_values import After, Break
from relaybook_demo.simulator.directives import NO_DIRECTIVES, Directives
from relaybook_demo.simulator.framing import Case
from relaybook_demo.simulator.incoming import Request
from relaybook_demo.simulator.plans import CLOSE, KEEP, Plan, plan_answer, plan_raw
from relaybook_demo.simulator.replies import Event, Reply, Stamp
from relaybook_demo.simulator.settings import SimulatorSettings

STREAM = Reply(events=[Event(b"{}")])
WHOLE = Reply(body=b"{}", output_tokens=10)
SLOW = SimulatorSettings(first_token_ms=100, tokens_per_second=50)


def plan(
    reply: Reply = WHOLE,
    directives: Directives = NO_DIRECTIVES,
    settings: SimulatorSettings | None = None,
    **request: Any,
) -> Plan:
    return plan_answer(
        Case(Request(**request), directives, reply, Stamp("a", 0), settings or SimulatorSettings()), lambda: 0
    )


def test_whole_answer_takes_as_long_as_its_stream() -> None:
    found = plan(settings=SLOW)
    assert (found.delay_ms, found.first_ms, found.interval_ms) == (300, 0, 0)


def test_stream_waits_for_its_first_token_and_between() -> None:
    found = plan(STREAM, settings=SLOW)
    assert (found.delay_ms, found.first_ms, found.interval_ms) == (0, 100, 20)


def test_request_sets_its_own_pace() -> None:
    found = plan(STREAM, Directives(delay_ms=1, first_token_ms=2, tokens_per_second=0, event_interval_ms=3), SLOW)
    assert (found.delay_ms, found.first_ms, found.interval_ms) == (1, 2, 3)


def test_errors_are_not_slow() -> None:
    assert plan(Reply(404, b"{}"), settings=SLOW).delay_ms == 0


def test_plain_answer_goes_at_once_and_keeps_the_connection() -> None:
    found = plan()
    assert found.is_at_once
    assert found.after == KEEP


@pytest.mark.parametrize(
    "directives",
    [
        Directives(delay_ms=1),
        Directives(interim=(100,)),
        Directives(break_=Break("end", 0, 0, "fin")),
        Directives(after=After("rst", 0)),
    ],
)
def test_anything_odd_does_not_go_at_once(directives: Directives) -> None:
    assert not plan(directives=directives).is_at_once
    assert not plan(STREAM).is_at_once


@pytest.mark.parametrize(
    ("directives", "request_parts", "after"),
    [
        (Directives(connection="close"), {}, CLOSE),
        (Directives(http="1.0"), {}, CLOSE),
        (Directives(framing="close"), {}, CLOSE),
        (Directives(framing="close"), {"method": "HEAD"}, KEEP),
        (Directives(length=("+", 1)), {}, CLOSE),
        (Directives(length=("-", 1)), {}, KEEP),
        (NO_DIRECTIVES, {"keeps_alive": False}, CLOSE),
        (Directives(length=("+", 1), after=After("keep", 0)), {}, KEEP),
    ],
)
def test_connection_ends_when_it_must(directives: Directives, request_parts: dict[str, Any], after: After) -> None:
    assert plan(directives=directives, **request_parts).after == after


def test_head_request_gets_the_length_and_no_body() -> None:
    found = plan(method="HEAD")
    assert b"content-length: 2\r\n" in found.head
    assert (list(found.parts), found.tail) == ([], b"")


def test_raw_bytes_are_all_there_is() -> None:
    found = plan_raw(b"nonsense", NO_DIRECTIVES)
    assert (found.head, list(found.parts), found.framing, found.after) == (b"", [b"nonsense"], "none", CLOSE)
