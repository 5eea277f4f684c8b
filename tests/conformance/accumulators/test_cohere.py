"""Compare what the log reads from Cohere's chat API with the typed events that Cohere's SDK makes of the same bytes."""

import json
from collections.abc import Iterator
from random import Random
from typing import Any

import cohere
import httpx
import pytest
from cohere.v2.types import V2ChatStreamResponse
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conformance.accumulators.test_accumulators import called, texts
from tests.conformance.accumulators.values import by_type, cut, in_chunks, instance, json_object, text
from tests.golden.exchange import STREAM_HEAD, GoldenExchange
from tests.golden.facts import entry_of

from relaybook.log.formats import read_response
from relaybook.log.formats.usage import counts_of
from relaybook.log.record import Record

SEEDS = st.integers(0, 2**32 - 1).map(Random)
EVENTS = by_type(V2ChatStreamResponse)
OLD_EVENTS = {
    model.model_fields["event_type"].default: model
    for model in (
        cohere.StreamStartStreamedChatResponse,
        cohere.SearchQueriesGenerationStreamedChatResponse,
        cohere.SearchResultsStreamedChatResponse,
        cohere.TextGenerationStreamedChatResponse,
        cohere.CitationGenerationStreamedChatResponse,
        cohere.ToolCallsGenerationStreamedChatResponse,
        cohere.ToolCallsChunkStreamedChatResponse,
        cohere.StreamEndStreamedChatResponse,
        cohere.DebugStreamedChatResponse,
    )
}


def stream(random: Random) -> list[dict[str, Any]]:
    """Return the events of a response: a plan, blocks, citations and calls."""
    events: list[dict[str, Any]] = []

    def add(kind: str, message: dict[str, Any] | None = None, **fields: Any) -> None:
        more = {} if message is None else {"delta": {"message": message}}
        events.append(instance(random, EVENTS[kind], type=kind, **more, **fields))

    add("message-start", {"role": "assistant"}, id="c1")
    add("debug")
    for piece in cut(random, text(random)):
        add("tool-plan-delta", {"tool_plan": piece})
    for index in range(random.randrange(3)):
        kind = random.choice(("text", "thinking"))
        add("content-start", {"content": {"type": kind, kind: random.choice(("", "Begun. "))}}, index=index)
        for piece in cut(random, text(random)):
            add("content-delta", {"content": {kind: piece}}, index=index)
        citation = instance(random, cohere.Citation)
        add("citation-start", {"citations": citation}, index=index)
        add("citation-end", index=index)
        add("content-end", index=index)
    for index in range(random.randrange(3)):
        function = {"name": random.choice(("f", "get_weather")), "arguments": ""}
        call = {"id": f"call_{index}", "type": "function", "function": function}
        add("tool-call-start", {"tool_calls": call}, index=index)
        for piece in cut(random, json.dumps(json_object(random))):
            add("tool-call-delta", {"tool_calls": {"function": {"arguments": piece}}}, index=index)
        add("tool-call-end", index=index)
    usage = instance(random, cohere.Usage)
    add("message-end", id="c1", delta={"finish_reason": "COMPLETE", "usage": usage})
    return events


def encode(events: list[dict[str, Any]]) -> bytes:
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()


def transport(random: Random, data: bytes, content_type: str, *, breaks: bool = False) -> httpx.MockTransport:
    def chunks() -> Iterator[bytes]:
        yield from in_chunks(random, data)
        if breaks:
            raise httpx.RemoteProtocolError("peer closed connection without sending complete message body")

    def handle(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"content-type": content_type}, content=chunks())

    return httpx.MockTransport(handle)


def events_of(random: Random, data: bytes, **how: Any) -> list[Any]:
    """Return the events as the SDK reads them."""
    http = httpx.Client(transport=transport(random, data, "text/event-stream", **how))
    client = cohere.ClientV2("key", base_url="http://localhost", httpx_client=http)
    return list(client.chat_stream(model="m", messages=[]))


def test_streams_have_every_event_of_the_sdk() -> None:
    random = Random(1)
    assert {event["type"] for _ in range(20) for event in stream(random)} == EVENTS.keys()


@settings(deadline=None)
@given(SEEDS)
def test_a_stream_reads_as_the_sdk_reads_its_events(random: Random) -> None:
    data = encode(stream(random))
    found: dict[str, str] = {"text": "", "thinking": "", "tool_plan": ""}
    calls: list[list[str]] = []
    for event in events_of(random, data):
        message = event.delta.message if hasattr(event, "delta") and hasattr(event.delta, "message") else None
        if event.type in ("content-start", "content-delta"):
            found["text"] += message.content.text or ""
            found["thinking"] += message.content.thinking or ""
        elif event.type == "tool-plan-delta":
            found["tool_plan"] += message.tool_plan
        elif event.type == "tool-call-start":
            calls.append([message.tool_calls.id, message.tool_calls.function.name, ""])
        elif event.type == "tool-call-delta":
            calls[-1][2] += message.tool_calls.function.arguments
        elif event.type == "message-end":
            usage = event.delta.usage
    response = read_response(data, "cohere", is_event_stream=True, complete=True).response
    (output,) = response.outputs
    assert (response.ending, response.error, response.id) == ("done", None, "c1")
    assert texts(output, "text") == found["text"]
    assert texts(output, "reasoning") == found["tool_plan"] + found["thinking"]
    assert [list(call) for call in called(output)] == calls
    tokens = counts_of(response.usage or {}, "cohere").tokens
    counted = usage.billed_units if usage.tokens is None else usage.tokens
    expected = None if counted is None else counted.input_tokens
    assert tokens.input == (int(expected) if expected is not None and float(expected).is_integer() else None)


@settings(deadline=None)
@given(SEEDS)
def test_a_stream_of_the_first_version_reads_as_the_sdk_reads_it(random: Random) -> None:
    events: list[dict[str, Any]] = []

    def add(kind: str, **fields: Any) -> None:
        events.append(instance(random, OLD_EVENTS[kind], event_type=kind, is_finished=False, **fields))

    add("stream-start", generation_id="g1")
    add("search-queries-generation")
    add("search-results")
    add("debug")
    for piece in cut(random, text(random)):
        add("text-generation", text=piece)
    add("tool-calls-chunk", text=None)
    calls = [{"name": "f", "parameters": json_object(random)} for _ in range(random.randrange(1, 3))]
    add("tool-calls-generation", tool_calls=calls, text=None)
    add("citation-generation")
    whole = "".join(event.get("text") or "" for event in events)
    end = {"text": whole, "tool_calls": calls, "finish_reason": "COMPLETE"}
    add("stream-end", finish_reason="COMPLETE", response=instance(random, cohere.NonStreamedChatResponse, **end))
    assert {event["event_type"] for event in events} == OLD_EVENTS.keys()
    data = b"".join(json.dumps(event).encode() + b"\n" for event in events)
    http = httpx.Client(transport=transport(random, data, "application/stream+json"))
    client = cohere.Client("key", base_url="http://localhost", httpx_client=http)
    last = list(client.chat_stream(message="Hi"))[-1]
    response = read_response(data, "cohere", is_event_stream=True, complete=True).response
    (output,) = response.outputs
    assert response.ending == "done"
    assert texts(output, "text") == last.response.text
    found = [(name, json.loads(arguments)) for _, name, arguments in called(output)]
    assert found == [(call.name, call.parameters) for call in last.response.tool_calls]


@settings(deadline=None)
@given(SEEDS, st.sampled_from(["error", "cut", "cut_in_event"]))
def test_a_stream_that_breaks_off_or_ends_with_an_error_has_failed(random: Random, kind: str) -> None:
    events = stream(random)
    data = encode(events[: random.randrange(1, len(events))])
    if kind == "cut_in_event":
        data = data[: random.randrange(1, len(data))]
    if kind == "error":
        end = {"type": "message-end", "delta": {"finish_reason": "ERROR", "error": "internal error"}}
        data += encode([end])
        assert events_of(random, data)[-1].delta.error == "internal error"
    else:
        with pytest.raises((httpx.RemoteProtocolError, ValueError)):
            events_of(random, data, breaks=True)
    record = record_of(data, breaks=kind != "error")
    assert (record.failed, record.stream) == (True, True)
    assert record.error_message


def record_of(data: bytes, *, breaks: bool) -> Record:
    exchange = GoldenExchange("cohere", "/v1/v2/chat", b"{}", (data,), response_head=STREAM_HEAD)
    if breaks:
        reset = ("upstream_reset", "The upstream closed the connection.")
        exchange = exchange._replace(outcome="upstream_failed", error=reset)
    return entry_of(exchange).record
