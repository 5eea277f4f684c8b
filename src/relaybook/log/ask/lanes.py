"""Return the lanes of a thread: when its models ran, and when its tools ran.

No client reports when a tool ran. A tool call runs from the end of the response that asks for it to the start of the
first request that brings its result. So the time of a call includes the time of the client, and calls of one response
end together, when the slowest of them has ended.
"""

from collections.abc import Iterable, Sequence
from typing import Annotated, Final

from msgspec import Meta, Struct

from relaybook import clock
from relaybook.clock import format_timestamp
from relaybook.log.ask import detail
from relaybook.log.ask.fields import TimestampText
from relaybook.log.conversations import Position, positions_of
from relaybook.log.formats.text import preview
from relaybook.log.query.filters import Cursor, Filter, Term
from relaybook.log.record import Record, decode_chain
from relaybook.log.row import Result, result_of
from relaybook.log.store.port import Page, Reader
from relaybook.log.tool_runs import ToolRun, tool_runs

#: Maximum number of requests, and of earlier requests that they are compared with.
MAX_REQUESTS: Final = 2000
_LOOKBACK: Final = 2000
#: Time limit for reading bodies.
_READ_NS: Final = 4 * clock.NANOSECONDS
#: Number of characters of arguments and results in calls. They are whole in the detail of their requests.
_SHORT: Final = 120
_NO_NAME: Final = "(no name)"
#: The property with which a subagent of Claude Code identifies itself.
_AGENT: Final = "agent"


class Lane(Struct, kw_only=True):
    """The requests of a conversation, or the calls of one of its tools."""

    conversation: Annotated[
        str | None,
        Meta(
            description="Id of the conversation's first request. `null` in the last lane, which has the requests that "
            "are no conversation: nothing continues them, and they call no tool."
        ),
    ]
    agent: Annotated[str | None, Meta(description="Value of the property `agent`, which subagents send.")]
    tool: Annotated[str | None, Meta(description="Name of the tool. `null` if the lane has requests.")]
    count: Annotated[int, Meta(description="Number of requests or calls.")]
    failed: Annotated[int, Meta(description="Number of failed requests, or of calls whose result looks like an error.")]
    total_ms: Annotated[float, Meta(description="Sum of the durations.")]


class LaneRequest(Struct, kw_only=True):
    """A request in a lane."""

    lane: Annotated[int, Meta(description="Index in `lanes`.")]
    id: str
    turn: Annotated[int, Meta(description="Position in the conversation, from 1.")]
    start_ms: Annotated[float, Meta(description="Milliseconds since `started_at`.")]
    end_ms: float
    failed: bool
    result: Result
    model: str | None
    input_tokens: int | None
    output_tokens: int | None
    tokens_estimated: bool
    cost_usd: float | None
    preview: Annotated[str | None, Meta(description="The first 80 characters of `input_preview`.")]


class LaneCall(Struct, kw_only=True):
    """A call of a tool that the client ran."""

    lane: Annotated[int, Meta(description="Index in `lanes`.")]
    name: str
    id: Annotated[str | None, Meta(description="Id of the call. `null` if the API has no such ids.")]
    request: Annotated[str, Meta(description="Id of the request whose response has the call.")]
    position: Annotated[int, Meta(description="Index among the tool calls of the response.")]
    turn: Annotated[int, Meta(description="Turn of the request whose response has the call.")]
    arguments: Annotated[str, Meta(description="The first 120 characters of the arguments.")]
    start_ms: Annotated[float, Meta(description="End of the response, in milliseconds since `started_at`.")]
    end_ms: Annotated[
        float | None,
        Meta(description="Start of the request that brings the result. `null` if no request has brought a result."),
    ]
    failed: Annotated[bool, Meta(description="Whether the result looks like an error.")]
    result: Annotated[
        str | None,
        Meta(description="The first 120 characters of the result. `null` if no request has brought a result."),
    ]
    result_lines: Annotated[int, Meta(description="Number of lines of the result.")]
    result_request: Annotated[str | None, Meta(description="Id of the request that brings the result.")]
    result_message: Annotated[
        int | None, Meta(description="Index of the message with the result among the messages of `result_request`.")
    ]


class ToolTotals(Struct, kw_only=True):
    """Totals of the calls of one tool, in all conversations."""

    name: str
    calls: int
    failed: Annotated[int, Meta(description="Number of calls whose result looks like an error.")]
    unanswered: Annotated[int, Meta(description="Number of calls without a result.")]
    total_ms: Annotated[float, Meta(description="Sum of the durations of the calls with a result.")]
    longest_ms: float | None


class LaneTotals(Struct, kw_only=True):
    """Totals of all lanes. Time in which several requests or calls ran counts once in the fields `…_wall_ms`."""

    requests: int
    failed: int
    calls: int
    failed_calls: int
    unanswered_calls: int
    model_ms: Annotated[float, Meta(description="Sum of the durations of the requests.")]
    model_wall_ms: float
    tool_ms: Annotated[float, Meta(description="Sum of the durations of the calls.")]
    tool_wall_ms: float
    wall_ms: Annotated[float, Meta(description="Time from the start of the first request to the end of the last one.")]
    idle_ms: Annotated[float, Meta(description="Time in which neither a request nor a call ran.")]
    input_tokens: int
    output_tokens: int
    tokens_estimated: bool
    cost_usd: Annotated[float | None, Meta(description="Sum of the known costs. `null` if no cost is known.")]


class Lanes(Struct, kw_only=True):
    """The lanes of a thread: its requests and the calls of its tools, with their times."""

    started_at: Annotated[
        TimestampText | None, Meta(description="Start of the first request. `null` without requests.")
    ]
    lanes: Annotated[
        list[Lane],
        Meta(
            description="Conversations in the order of their first requests. The lane with the requests of a "
            "conversation is followed by the lanes of its tools, in the order of their first calls."
        ),
    ]
    requests: Annotated[list[LaneRequest], Meta(description="The requests, in the order of recording.")]
    calls: Annotated[list[LaneCall], Meta(description="The calls, in the order of the responses that have them.")]
    tools: Annotated[list[ToolTotals], Meta(description="The tools, by the sum of the durations of their calls.")]
    totals: LaneTotals
    has_older: Annotated[bool, Meta(description="`true` if older requests of the thread are left out.")]
    complete: Annotated[
        bool, Meta(description="`false` if the search was stopped at its deadline, so that calls may be missing.")
    ]


def lanes(reader: Reader, selected: Filter | str, deadline_ns: int) -> Lanes:
    """Return the lanes of the latest requests of a thread, or of the conversation of the request with an id.

    A running request has no lanes yet. Raises RequestNotFound.
    """
    of = None if isinstance(selected, Filter) else detail.view(reader, selected)[0].record
    filter_ = selected if isinstance(selected, Filter) else _thread_of(of)
    page, cursor = _page(reader, filter_, of, deadline_ns)
    found = reader.links(filter_, len(page.records) + _LOOKBACK, cursor, deadline_ns)
    positions = positions_of(reversed(found))
    chains = {link.id: decode_chain(link.chain) for link in found if link.chain is not None}
    records = [record for record in page.records[::-1] if record.id in positions]
    is_complete = page.complete and len(records) == len(page.records)
    has_older = page.next_cursor is not None
    if of is not None:
        own = positions.get(of.id)  # `None` for a running request
        records = [each for each in records if own is not None and positions[each.id].conversation == own.conversation]
        has_older = has_older and bool(records) and positions[records[0].id].turn > 1
    read_until = min(deadline_ns, clock.monotonic_ns() + _READ_NS)
    runs, are_read = tool_runs(reader, records, chains, positions, read_until)
    return _Layout(records, positions, runs).lanes(has_older=has_older, complete=is_complete and are_read)


def _thread_of(record: Record | None) -> Filter:
    assert record is not None
    if record.session is not None:
        return Filter((Term("session", (record.session,)),))
    return Filter((Term("namespace", (record.namespace,)),))


def _page(reader: Reader, filter_: Filter, of: Record | None, deadline_ns: int) -> tuple[Page, Cursor | None]:
    """Return the latest requests, or those around a request, and a cursor that starts at the newest of them."""
    page = None if of is None or of.seq is None else reader.around(of.id, filter_, MAX_REQUESTS, deadline_ns)
    if page is not None and page.records:
        return page, Cursor("older", (page.records[0].seq or 0) + 1)
    return reader.page(filter_, MAX_REQUESTS, None, deadline_ns), None


class _Layout:
    """Puts requests and calls into lanes."""

    def __init__(self, records: Sequence[Record], positions: dict[str, Position], runs: Sequence[ToolRun]) -> None:
        self._records = records
        self._positions = positions
        self._runs = runs
        self._start_us = min((record.started_at for record in records), default=0)
        self._lanes: list[Lane] = []
        self._indexes: dict[tuple[str | None, str | None], int] = {}

    def lanes(self, *, has_older: bool, complete: bool) -> Lanes:
        self._add_lanes()
        requests = [self._request(record) for record in self._records]
        calls = [self._call(run) for run in self._runs]
        return Lanes(
            started_at=format_timestamp(self._start_us) if self._records else None,
            lanes=self._lanes,
            requests=requests,
            calls=calls,
            tools=_tools(calls),
            totals=_totals(requests, calls),
            has_older=has_older,
            complete=complete,
        )

    def _add_lanes(self) -> None:
        members: dict[str, list[Record]] = {}
        tools: dict[str, dict[str, None]] = {}
        for record in self._records:
            members.setdefault(self._positions[record.id].conversation, []).append(record)
        for run in self._runs:
            tools.setdefault(self._positions[run.request.id].conversation, {})[run.call.name or _NO_NAME] = None
        for conversation, group in members.items():
            if len(group) == 1 and self._positions[group[0].id].turn == 1 and conversation not in tools:
                continue
            agent = next((record.properties[_AGENT] for record in group if _AGENT in record.properties), None)
            self._add_lane(conversation, agent, None)
            for tool in tools.get(conversation, ()):
                self._add_lane(conversation, agent, tool)
        if any((conversation, None) not in self._indexes for conversation in members):
            self._add_lane(None, None, None)

    def _add_lane(self, conversation: str | None, agent: str | None, tool: str | None) -> None:
        self._indexes[conversation, tool] = len(self._lanes)
        self._lanes.append(Lane(conversation=conversation, agent=agent, tool=tool, count=0, failed=0, total_ms=0.0))

    def _count(self, conversation: str | None, tool: str | None, *, failed: bool, ms: float) -> int:
        """Count a request or a call in its lane, and return the index of the lane."""
        index = self._indexes.get((conversation, tool), len(self._lanes) - 1)
        lane = self._lanes[index]
        lane.count += 1
        lane.failed += failed
        lane.total_ms = round(lane.total_ms + ms, 3)
        return index

    def _ms(self, at_us: int) -> float:
        return (at_us - self._start_us) / 1000

    def _request(self, record: Record) -> LaneRequest:
        position = self._positions[record.id]
        start_ms, end_ms = self._ms(record.started_at), self._ms(_end_us(record))
        return LaneRequest(
            lane=self._count(position.conversation, None, failed=record.failed, ms=end_ms - start_ms),
            id=record.id,
            turn=position.turn,
            start_ms=start_ms,
            end_ms=end_ms,
            failed=record.failed,
            result=result_of(record),
            model=record.model or record.response_model,
            input_tokens=record.input_tokens,
            output_tokens=record.output_tokens,
            tokens_estimated=record.tokens_estimated,
            cost_usd=record.cost_usd,
            preview=None if record.input_preview is None else record.input_preview[:80],
        )

    def _call(self, run: ToolRun) -> LaneCall:
        position = self._positions[run.request.id]
        name, text = run.call.name or _NO_NAME, "" if run.result is None else run.result.part.text or ""
        start_us, end_us = _end_us(run.request), None
        if run.result_request is not None:
            end_us = run.result_request.started_at
            start_us = min(start_us, end_us)
        start_ms, end_ms = self._ms(start_us), None if end_us is None else self._ms(end_us)
        failed = run.result is not None and run.result.failed
        ms = 0.0 if end_ms is None else end_ms - start_ms
        return LaneCall(
            lane=self._count(position.conversation, name, failed=failed, ms=ms),
            name=name,
            id=run.call.id,
            request=run.request.id,
            position=run.position,
            turn=position.turn,
            arguments=_short(run.call.arguments),
            start_ms=start_ms,
            end_ms=end_ms,
            failed=failed,
            result=None if run.result is None else _short(text),
            result_lines=len(text.splitlines()),
            result_request=None if run.result_request is None else run.result_request.id,
            result_message=None if run.result is None else run.result.message,
        )


def _short(text: str | None) -> str:
    return (preview(text) or "")[:_SHORT]


def _end_us(record: Record) -> int:
    return max(record.started_at, record.ended_at or record.started_at)


def _tools(calls: Iterable[LaneCall]) -> list[ToolTotals]:
    by_name: dict[str, list[LaneCall]] = {}
    for call in calls:
        by_name.setdefault(call.name, []).append(call)
    found = []
    for name, group in by_name.items():
        durations = [call.end_ms - call.start_ms for call in group if call.end_ms is not None]
        found.append(
            ToolTotals(
                name=name,
                calls=len(group),
                failed=sum(call.failed for call in group),
                unanswered=len(group) - len(durations),
                total_ms=round(sum(durations), 3),
                longest_ms=round(max(durations), 3) if durations else None,
            )
        )
    return sorted(found, key=lambda tool: (-tool.total_ms, tool.name))


def _totals(requests: Sequence[LaneRequest], calls: Sequence[LaneCall]) -> LaneTotals:
    models = [(request.start_ms, request.end_ms) for request in requests]
    tools = [(call.start_ms, call.end_ms) for call in calls if call.end_ms is not None]
    wall_ms = max((end for _, end in models), default=0.0)
    costs = [request.cost_usd for request in requests if request.cost_usd is not None]
    return LaneTotals(
        requests=len(requests),
        failed=sum(request.failed for request in requests),
        calls=len(calls),
        failed_calls=sum(call.failed for call in calls),
        unanswered_calls=len(calls) - len(tools),
        model_ms=_sum_ms(models),
        model_wall_ms=wall_of(models),
        tool_ms=_sum_ms(tools),
        tool_wall_ms=wall_of(tools),
        wall_ms=wall_ms,
        idle_ms=round(wall_ms - wall_of([*models, *tools]), 3),
        input_tokens=sum(request.input_tokens or 0 for request in requests),
        output_tokens=sum(request.output_tokens or 0 for request in requests),
        tokens_estimated=any(request.tokens_estimated for request in requests),
        cost_usd=round(sum(costs), 10) if costs else None,
    )


def _sum_ms(spans: Iterable[tuple[float, float]]) -> float:
    return round(sum(end - start for start, end in spans), 3)


def wall_of(spans: Iterable[tuple[float, float]]) -> float:
    """Return the time that spans cover. Time in several spans counts once."""
    covered = 0.0
    reached = float("-inf")
    for start, end in sorted(spans):
        covered += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return round(covered, 3)
