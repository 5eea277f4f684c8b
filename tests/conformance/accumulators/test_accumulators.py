"""Compare what the log reads from a stream with what the accumulators of the official SDKs make of the same bytes.

The streams have every type of event, block and part that the installed SDKs declare. They are split at random bytes.
"""

import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import anthropic
import httpx2
import msgspec
import openai
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conformance.accumulators.chat_streams import FIELDS, chat_stream
from tests.conformance.accumulators.message_streams import BETA, STABLE, Api, message_stream
from tests.conformance.accumulators.response_streams import ENDS, EVENTS, ITEMS, all_events, response_stream
from tests.conformance.accumulators.values import in_chunks
from tests.golden.exchange import STREAM_HEAD, GoldenExchange
from tests.golden.facts import entry_of

from relaybook.log.formats.conversation import Output, Part, Response
from relaybook.log.formats.reading import read_response
from relaybook.log.record import Record

#: Pydantic, in the SDKs, cannot tell all items and tools with random values apart.
pytestmark = pytest.mark.filterwarnings("ignore:Pydantic serializer warnings:UserWarning")
SEEDS = st.integers(0, 2**32 - 1).map(Random)
#: The model has kinds for these parts, so it does not have their types.
TEXT_PARTS = ("output_text", "refusal", "reasoning_text", "summary_text")
DONE = b"data: [DONE]\n\n"


def encode(events: list[dict[str, Any]], *, names: bool = False) -> bytes:
    """Return the bytes of a stream."""
    name = "event: {}\n" if names else ""
    lines = [f"{name.format(event.get('type'))}data: {json.dumps(event)}\n\n" for event in events]
    return "".join(lines).encode()


def transport(random: Random, data: bytes, *, breaks: bool = False) -> httpx2.MockTransport:
    """Return a transport that answers each request with an event stream, which can break off."""

    def chunks() -> Iterator[bytes]:
        yield from in_chunks(random, data)
        if breaks:
            raise httpx2.RemoteProtocolError("peer closed connection without sending complete message body")

    def handle(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=chunks())

    return httpx2.MockTransport(handle)


def openai_client(random: Random, data: bytes, **how: Any) -> openai.OpenAI:
    http = httpx2.Client(transport=transport(random, data, **how))
    return openai.OpenAI(api_key="x", base_url="http://localhost/v1", http_client=http, max_retries=0)


def anthropic_client(random: Random, data: bytes, **how: Any) -> anthropic.Anthropic:
    http = httpx2.Client(transport=transport(random, data, **how))
    return anthropic.Anthropic(api_key="x", base_url="http://localhost", http_client=http, max_retries=0)


def read(kind: str, data: bytes, *, complete: bool = True) -> Response:
    """Return what the log reads."""
    reading = read_response(data, kind, is_event_stream=True, complete=complete)  # type: ignore[arg-type]
    assert reading.is_stream
    return reading.response


def texts(output: Output, *kinds: str) -> str:
    return "".join(part.text or "" for part in output.parts if part.kind in kinds)


def calls(output: Output) -> list[Part]:
    return [part for part in output.parts if part.kind == "tool_call"]


def called(output: Output) -> list[tuple[str | None, str | None, str]]:
    return [(part.id, part.name, part.arguments or "") for part in calls(output)]


def value_of(arguments: str | None) -> Any:
    return json.loads(arguments) if arguments else {}


def stated(usage: Any) -> dict[str, Any] | None:
    """Return the counts of a usage that are not null."""
    return None if usage is None else _without_nulls(usage)


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(each) for name, each in value.items() if each is not None}
    return value


# Chat completions


def test_streams_have_every_field_of_a_chat_completion_chunk() -> None:
    for model, fields in FIELDS.items():
        assert set(model.model_fields) == fields


def chat_snapshot(client: openai.OpenAI) -> Any:
    with client.chat.completions.stream(model="gpt-5", messages=[]) as stream:
        stream.until_done()
        return stream.current_completion_snapshot


@settings(deadline=None)
@given(SEEDS)
def test_a_chat_stream_reads_as_the_sdk_accumulates_it(random: Random) -> None:
    data = encode(chat_stream(random)) + DONE
    expected, response = chat_snapshot(openai_client(random, data)), read("chat", data)
    assert (response.ending, response.error, response.id) == ("done", None, expected.id)
    assert stated(response.usage) == stated(expected.usage and expected.usage.to_dict())
    assert len(response.outputs) == len(expected.choices)
    for output, choice in zip(response.outputs, expected.choices, strict=True):
        message = choice.message
        assert (output.index, output.finish_reason) == (choice.index, choice.finish_reason)
        assert texts(output, "text") == (message.content or "")
        assert texts(output, "refusal") == (message.refusal or "")
        transcript = message.audio.transcript if message.audio else None
        assert texts(output, "audio") == (transcript or "")
        tools = [(call.id, call.function.name, call.function.arguments) for call in message.tool_calls or ()]
        legacy = message.function_call
        tools += [(None, legacy.name, legacy.arguments)] if legacy else []
        assert sorted(called(output), key=repr) == sorted(tools, key=repr)


# Responses API


def response_events(client: openai.OpenAI) -> list[Any]:
    with client.responses.stream(model="gpt-5", input="Hi") as stream:
        return list(stream)


def expected_items(output: list[Any]) -> tuple[str, str, str, list[tuple[str, str, str]]]:
    """Return text, reasoning, refusals and calls of items."""
    text = reasoning = refusal = ""
    found = []
    for item in output:
        parts = [*(getattr(item, "summary", None) or ()), *(getattr(item, "content", None) or ())]
        for part in parts if item.type in ("message", "reasoning") else ():
            text += part.text if part.type == "output_text" else ""
            refusal += part.refusal if part.type == "refusal" else ""
            reasoning += part.text if part.type in ("reasoning_text", "summary_text") else ""
        if item.type in ("function_call", "custom_tool_call", "mcp_call"):
            arguments = item.input if item.type == "custom_tool_call" else item.arguments
            found.append((getattr(item, "call_id", None) or item.id, item.name, arguments))
    return text, reasoning, refusal, found


def read_items(response: Response) -> tuple[str, str, str, list[tuple[str | None, str | None, str]]]:
    (output,) = response.outputs or [Output(0)]
    named = [part for part in calls(output) if part.type in (None, "function_call", "custom_tool_call", "mcp_call")]
    found = [(part.id, part.name, part.arguments or "") for part in named]
    return texts(output, "text"), texts(output, "reasoning"), texts(output, "refusal"), found


def same_items(response: Response, output: list[Any]) -> None:
    text, reasoning, refusal, found = expected_items(output)
    read_text, read_reasoning, read_refusal, read_calls = read_items(response)
    assert (read_text, read_reasoning, read_refusal) == (text, reasoning, refusal)
    assert read_calls == found


def test_streams_have_every_event_of_the_responses_api() -> None:
    assert all_events(Random(1)) == set(EVENTS)


@pytest.mark.parametrize("kind", ITEMS)
@settings(deadline=None, max_examples=30)
@given(SEEDS)
def test_every_item_of_a_response_is_kept(kind: str, random: Random) -> None:
    """A streamed item reads as the item of a whole response, and all of its texts are kept."""
    events = response_stream(random, [kind], has_audio=False)
    final = events[-1]["response"]
    streamed = read("response", encode(events, names=True))
    whole = read_response(json.dumps(final).encode(), "response", is_event_stream=False, complete=True).response
    whole.ending = streamed.ending
    assert streamed == whole
    kept = set(leaves(msgspec.to_builtins(streamed)))
    kept |= {leaf for text in kept if text[:1] in ("{", "[") for leaf in leaves(value_or_none(text))}
    assert set(leaves(final["output"])) <= kept | {"", kind, "assistant"}


def leaves(value: Any) -> Iterator[str]:
    """Yield the texts in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        is_text_part = isinstance(value, dict) and value.get("type") in TEXT_PARTS
        for name, each in value.items() if isinstance(value, dict) else enumerate(value):
            if not (is_text_part and name == "type"):
                yield from leaves(each)


def value_or_none(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


@settings(deadline=None)
@given(
    SEEDS, st.lists(st.sampled_from(list(ITEMS)), max_size=5), st.sampled_from(["as_is", "null", "missing", "empty"])
)
def test_a_response_stream_reads_as_the_sdk_accumulates_it(random: Random, kinds: list[str], output: str) -> None:
    """The final response may lack its output. Then both take it from the finished items."""
    events = response_stream(random, kinds)
    final = events[-1]["response"]
    items = final["output"]
    if output == "missing":
        del final["output"]
    elif output != "as_is":
        final["output"] = None if output == "null" else []
    data = encode(events, names=True)
    accumulated = response_events(openai_client(random, data))[-1].response
    response = read("response", data)
    if output == "empty":  # the SDK has no output then
        final["output"] = items
        accumulated = response_events(openai_client(random, encode(events, names=True)))[-1].response
    same_items(response, accumulated.output)
    assert (response.ending, response.error, response.id) == ("done", None, accumulated.id)
    assert stated(response.usage) == stated(accumulated.usage.to_dict())


@settings(deadline=None)
@given(SEEDS, st.lists(st.sampled_from(["message", "function_call"]), min_size=1, max_size=4))
def test_a_response_stream_that_breaks_off_has_the_text_of_the_sdks_snapshot(random: Random, kinds: list[str]) -> None:
    events = response_stream(random, kinds)
    has_deltas = any(event["type"].endswith(".delta") and "audio" not in event["type"] for event in events)
    if not has_deltas:
        return
    events = events[: random.randrange(3, len(events))]
    data = encode(events, names=True)
    client = openai_client(random, data, breaks=True)
    with client.responses.stream(model="gpt-5", input="Hi") as stream, pytest.raises(openai.APIConnectionError):
        stream.until_done()
    snapshot = stream._state._ResponseStreamState__current_snapshot  # type: ignore[attr-defined]
    response = read("response", data, complete=False)
    assert response.ending == "cut"
    text, _, _, found = expected_items([item for item in snapshot.output if item.type != "message"])
    for item in snapshot.output:
        for part in item.content if item.type == "message" else ():
            text += part.text if part.type == "output_text" else ""
    assert read_items(response)[0] == text
    assert read_items(response)[3] == found


# Messages API


def message_snapshot(client: anthropic.Anthropic, api: Api) -> Any:
    messages = client.beta.messages if api is BETA else client.messages
    with messages.stream(model="claude-x", max_tokens=9, messages=[]) as stream:
        return stream.get_final_message()


@pytest.mark.parametrize("api", [STABLE, BETA], ids=["stable", "beta"])
def test_streams_have_every_event_and_delta_of_the_messages_api(api: Api) -> None:
    random = Random(1)
    events = [event for _ in range(50) for event in message_stream(random, api, list(api.blocks))]
    assert {event["type"] for event in events} - {"ping"} == set(api.events)
    assert {event["delta"]["type"] for event in events if event["type"] == "content_block_delta"} == set(api.deltas)


@pytest.mark.parametrize("api", [STABLE, BETA], ids=["stable", "beta"])
@settings(deadline=None)
@given(random=SEEDS, data=st.data())
def test_a_message_stream_reads_as_the_sdk_accumulates_it(api: Api, random: Random, data: st.DataObject) -> None:
    kinds = data.draw(st.lists(st.sampled_from(list(api.blocks)), max_size=5))
    stream = encode(message_stream(random, api, kinds), names=True)
    same_message(read("message", stream), message_snapshot(anthropic_client(random, stream), api))


@pytest.mark.parametrize("api", [STABLE, BETA], ids=["stable", "beta"])
@settings(deadline=None, max_examples=20)
@given(random=SEEDS)
def test_a_message_with_every_block_reads_as_the_sdk_accumulates_it(api: Api, random: Random) -> None:
    stream = encode(message_stream(random, api, list(api.blocks)), names=True)
    same_message(read("message", stream), message_snapshot(anthropic_client(random, stream), api))


def same_message(response: Response, expected: Any) -> None:
    (output,) = response.outputs
    blocks = expected.content
    assert (response.ending, response.error, response.id) == ("done", None, expected.id)
    assert response.model == expected.model
    assert output.finish_reason == expected.stop_reason
    assert texts(output, "text") == "".join(block.text for block in blocks if block.type == "text")
    assert texts(output, "reasoning") == "".join(block.thinking for block in blocks if block.type == "thinking")
    found = [(call.id, call.name, value_of(call.arguments)) for call in calls(output)]
    assert found == [(block.id, block.name, block.input) for block in blocks if block.type.endswith("tool_use")]
    assert stated(response.usage) == stated(expected.usage.to_dict())


# Errors


BROKEN: dict[str, tuple[str, Callable[[Random], list[dict[str, Any]]]]] = {
    "chat": ("chat", chat_stream),
    "response": ("response", lambda random: response_stream(random, ["message", "function_call"], random.choice(ENDS))),
    "message": ("message", lambda random: message_stream(random, STABLE, ["text", "tool_use"])),
}
ERROR = {"type": "server_error", "code": "overloaded", "message": "Overloaded"}


@pytest.mark.parametrize("name", BROKEN)
@settings(deadline=None)
@given(random=SEEDS, kind=st.sampled_from(["error", "error_event", "cut", "cut_in_event", "closed"]))
def test_a_stream_that_makes_the_sdk_raise_is_failed_or_incomplete(name: str, random: Random, kind: str) -> None:
    api, build = BROKEN[name]
    events = build(random)
    events = events[: random.randrange(1, len(events))]
    data = encode(events, names=api != "chat")
    if kind == "error":
        data += f"event: error\ndata: {json.dumps({'type': 'error', 'error': ERROR})}\n\n".encode()
    elif kind == "error_event":
        data += f"event: error\ndata: {json.dumps(ERROR | {'type': 'error'})}\n\n".encode()
    elif kind == "cut_in_event":
        data = data[: random.randrange(len(data))]
    breaks = kind in ("cut", "cut_in_event")
    try:
        if api == "chat":
            chat_snapshot(openai_client(random, data, breaks=breaks))
        elif api == "response":
            response_events(openai_client(random, data, breaks=breaks))
        else:
            message_snapshot(anthropic_client(random, data, breaks=breaks), STABLE)
    except (openai.OpenAIError, anthropic.AnthropicError, httpx2.HTTPError, RuntimeError, ValueError, AssertionError):
        record = record_of(api, data, breaks=breaks)
        assert record.failed
        assert record.error_code or record.error_message


def record_of(api: str, data: bytes, *, breaks: bool) -> Record:
    """Return the record of an exchange with a streamed response."""
    path = {"chat": "/v1/chat/completions", "response": "/v1/responses", "message": "/v1/messages"}[api]
    exchange = GoldenExchange(api, path, b"{}", (data,) if data else (), response_head=STREAM_HEAD)
    if breaks:
        error = ("upstream_reset", "The upstream closed the connection.")
        exchange = exchange._replace(outcome="upstream_failed", error=error)
    return entry_of(exchange).record
