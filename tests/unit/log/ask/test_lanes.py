"""Test that lanes have the times, calls and totals of a ledger, in all formats."""

from collections import Counter
from functools import cache
from typing import Any, get_args

import msgspec
import pytest
from tests.support.agent_session import AgentSession, Format, agent_session
from tests.support.api_log import client_of, entry_of, open_of, record_of
from tests.support.memory_store import MemoryStore

from relaybook import clock
from relaybook.log.ask import lanes
from relaybook.log.ask.asker import Asker
from relaybook.log.ask.lanes import LaneCall, Lanes, wall_of
from relaybook.log.query.filters import Filter, Term
from relaybook.log.request_view import RequestView
from relaybook.log.store.port import Batch

_SESSION = Filter((Term("session", ("s1",)),))


#: No test changes these sessions, because generating one takes a quarter of a second.
long_session = cache(agent_session)


def store_of(session: AgentSession) -> MemoryStore:
    store = MemoryStore()
    store.commit(Batch(entries=session.entries))
    return store


def lanes_of(session: AgentSession, selected: Filter | str = _SESSION) -> Lanes:
    return Asker(store_of(session), clock.monotonic_ns() + 10 * clock.NANOSECONDS).lanes(selected)


@pytest.mark.parametrize("format_", get_args(Format))
def test_totals_equal_the_ledger(format_: Format) -> None:
    session = long_session(format_)
    found = lanes_of(session)
    starts, ends, inputs, outputs, costs = zip(*session.requests, strict=True)
    done = [(call.start_ms, call.end_ms) for call in session.calls if call.end_ms is not None]
    totals = found.totals
    assert (totals.requests, totals.failed) == (120, 1)
    assert (totals.calls, totals.failed_calls, totals.unanswered_calls) == (
        len(session.calls),
        sum(call.failed for call in session.calls),
        1,
    )
    assert totals.model_ms == sum(ends) - sum(starts)
    assert totals.tool_ms == sum(end - start for start, end in done)
    assert totals.tool_wall_ms == wall_of(done)
    assert totals.wall_ms == max(ends)
    assert totals.idle_ms == max(ends) - wall_of([*done, *zip(starts, ends, strict=True)])
    assert (totals.input_tokens, totals.output_tokens) == (sum(inputs), sum(outputs))
    assert totals.cost_usd == pytest.approx(sum(costs))
    assert (found.complete, found.has_older) == (True, False)


@pytest.mark.parametrize("format_", get_args(Format))
def test_each_call_has_its_arguments_its_result_and_its_time(format_: Format) -> None:
    session = long_session(format_)
    found = lanes_of(session)
    assert [facts(call) for call in found.calls] == [
        (
            call.name,
            call.start_ms,
            call.end_ms,
            call.failed,
            next(iter(call.arguments.values())) in shown.arguments,
            call.end_ms is None or call.result.split("\n")[0][:40] in (shown.result or ""),
        )
        for call, shown in zip(session.calls, found.calls, strict=True)
    ]
    names = Counter(call.name for call in session.calls)
    assert {tool.name: tool.calls for tool in found.tools} == names
    assert found.tools[0].total_ms == max(tool.total_ms for tool in found.tools)


def facts(call: LaneCall) -> tuple[Any, ...]:
    return call.name, call.start_ms, call.end_ms, call.failed, True, True


@pytest.mark.parametrize("format_", get_args(Format))
def test_a_subagent_has_lanes_of_its_own(format_: Format) -> None:
    found = lanes_of(long_session(format_))
    models = [lane for lane in found.lanes if lane.tool is None]
    assert [lane.count for lane in models] == [115, 5]
    assert [(lane.tool, lane.count) for lane in found.lanes[-2:]] == [(None, 5), ("grep", 4)]
    assert sum(lane.count for lane in found.lanes) == found.totals.requests + found.totals.calls
    assert sum(lane.total_ms for lane in found.lanes) == pytest.approx(found.totals.model_ms + found.totals.tool_ms)


def test_an_id_selects_its_conversation() -> None:
    session = long_session("chat")
    main, subagent = (lane.conversation for lane in lanes_of(session).lanes if lane.tool is None)
    for conversation, requests in ((main, 115), (subagent, 5)):
        found = lanes_of(session, conversation or "")
        assert found.totals.requests == requests
        assert {lane.conversation for lane in found.lanes} == {conversation}


def test_a_whole_conversation_has_no_older_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "MAX_REQUESTS", 8)
    session = AgentSession("chat")
    for number in range(20):
        session.ask(session.agent(f"Question {number}"), "Answer", [])
    agent = session.agent("Fix it")
    session.ask(agent, "How?", [])
    session.say(agent, "Well", 10)
    session.ask(agent, "Done", [])
    found = lanes_of(session, session.entries[-1].record.id)
    assert (found.totals.requests, found.has_older) == (2, False)
    assert lanes_of(session).has_older


def test_a_running_request_has_no_lanes() -> None:
    store = store_of(long_session("chat"))
    running = open_of(9_000, namespace="default", session="s1")
    store.commit(Batch(running=[running]))
    asker = Asker(store, clock.monotonic_ns() + 10 * clock.NANOSECONDS)
    assert asker.lanes(running.record.id).requests == []


@pytest.mark.parametrize("format_", ["chat", "response", "message"])
def test_only_the_last_request_of_each_conversation_is_read(format_: Format, monkeypatch: pytest.MonkeyPatch) -> None:
    session = long_session(format_)
    read: list[str] = []
    request = RequestView.request

    def counting(view: RequestView) -> Any:
        read.append(view.record.id)
        return request(view)

    monkeypatch.setattr(RequestView, "request", counting)
    lanes_of(session)
    assert len(read) == 2


def test_a_shortened_history_is_read_request_by_request() -> None:
    session = AgentSession("chat")
    agent = session.agent("Fix it")
    for turn in range(6):
        call = session.call("grep", pattern=f"p{turn}")
        session.ask(agent, "", [call])
        call.result = f"result {turn}"
        session.run(agent, [call], 100)
        if turn == 3:  # the client clears old results
            agent.messages = [
                message | {"content": "[cleared]"} if message["role"] == "tool" and at < 5 else message
                for at, message in enumerate(agent.messages)
            ]
    session.ask(agent, "Done", [])
    assert [call.result for call in lanes_of(session).calls] == [f"result {turn}" for turn in range(6)]


def test_calls_are_missing_but_not_requests_if_bodies_are_not_stored() -> None:
    session = agent_session("chat", 10)
    for entry in session.entries:
        entry.request = entry.response = None
        entry.record = msgspec.structs.replace(entry.record, body_state="no_bodies")
    found = lanes_of(session)
    assert (found.totals.requests, found.totals.calls) == (10, 0)


def test_single_requests_share_the_last_lane() -> None:
    session = agent_session("chat", 10)
    for number in (101, 102):
        session.entries.append(entry_of(record_of(number, session="s1", namespace="agents")))
    found = lanes_of(session)
    assert (found.lanes[-1].conversation, found.lanes[-1].tool, found.lanes[-1].count) == (None, None, 2)


def test_the_api_answers_and_explains_what_is_wrong() -> None:
    client = client_of(store_of(agent_session("chat", 10)))
    assert client.get("/api/lanes?session=s1").json()["totals"]["requests"] == 10
    assert client.get("/api/lanes?namespace=nobody").json()["started_at"] is None
    both = client.get("/api/lanes?session=s1&namespace=agents")
    assert (both.status, both.json()["error"]["param"]) == (400, "namespace")
    assert client.get("/api/lanes?conversation=nobody").status == 404
