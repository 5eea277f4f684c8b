"""Compare what the log reads from Ollama's API with what Ollama's SDK makes of the same bytes.

The lines have every field of the SDK's types, and arrive in random splits.
"""

import json
from collections.abc import Iterator
from random import Random
from typing import Any

import httpx
import msgspec
import ollama
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conformance.accumulators.test_accumulators import called, texts
from tests.conformance.accumulators.test_request_types import json_or_none
from tests.conformance.accumulators.test_request_types import texts as all_texts
from tests.conformance.accumulators.values import cut, in_chunks, instance, json_object, text
from tests.golden.exchange import GoldenExchange
from tests.golden.facts import entry_of

from relaybook.apis import match
from relaybook.log.formats import read_request, read_response
from relaybook.log.formats.conversation import Response
from relaybook.log.formats.usage import counts_of

SEEDS = st.integers(0, 2**32 - 1).map(Random)
LINES_HEAD = "content-type: application/x-ndjson"
#: The fields of a message, which are made here because they are texts in pieces, images and calls. The SDK cannot read
#: images of a response.
MESSAGE_FIELDS = {"role", "content", "thinking", "images", "tool_name", "tool_calls"}
PNG = "iVBORw0KGgo="


def tool_calls(random: Random) -> list[dict[str, Any]]:
    return [
        {"function": {"name": random.choice(("f", "get_weather")), "arguments": json_object(random)}}
        for _ in range(random.randrange(3))
    ]


def messages(random: Random) -> list[dict[str, Any]]:
    """Return the messages of a streamed chat: thinking, then text and calls."""
    made: list[dict[str, Any]] = [{"thinking": piece, "content": ""} for piece in cut(random, text(random))]
    made += [{"content": piece} for piece in cut(random, text(random))]
    made.append({"content": text(random), "tool_calls": tool_calls(random)})
    return [{"role": "assistant"} | each for each in made]


def lines(random: Random, *, is_chat: bool) -> list[dict[str, Any]]:
    """Return the lines of a stream, each with random fields besides the texts."""
    model: Any = ollama.ChatResponse if is_chat else ollama.GenerateResponse
    last = {"done": True, "done_reason": "stop", "eval_count": 9}
    own: list[dict[str, Any]]
    if is_chat:
        own = [{"message": message} for message in messages(random)]
    else:
        own = [{"thinking": piece, "response": ""} for piece in cut(random, text(random))]
        own += [{"response": piece, "thinking": None, "image": None} for piece in cut(random, text(random))]
    usual = dict.fromkeys(("done_reason", "prompt_eval_count", "eval_count", "image"))
    fields = usual | {"model": "m", "done": False}
    made = [instance(random, model, **(fields | each)) for each in own]
    return [*made[:-1], instance(random, model, **(fields | own[-1] | last))]


def encode(values: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def client(random: Random, data: bytes, *, breaks: bool = False, sent: list[Any] | None = None) -> ollama.Client:
    def chunks() -> Iterator[bytes]:
        yield from in_chunks(random, data)
        if breaks:
            raise httpx.RemoteProtocolError("peer closed connection without sending complete message body")

    def handle(request: httpx.Request) -> httpx.Response:
        if sent is not None:
            sent.append((request.url.path, request.read()))
        return httpx.Response(200, headers={"content-type": "application/x-ndjson"}, content=chunks())

    return ollama.Client("http://localhost", transport=httpx.MockTransport(handle))


def read(data: bytes, *, is_stream: bool = True) -> Response:
    return read_response(data, "ollama", is_event_stream=is_stream, complete=True).response


def same_counts(response: Response, last: Any) -> None:
    tokens = counts_of(response.usage or {}, "ollama").tokens
    assert (tokens.input, tokens.output) == (last.prompt_eval_count, last.eval_count)
    assert response.outputs[0].finish_reason == last.done_reason


def test_messages_have_every_field_of_the_sdk() -> None:
    assert set(ollama.Message.model_fields) == MESSAGE_FIELDS


@settings(deadline=None)
@given(SEEDS)
def test_a_chat_reads_as_the_sdk_reads_it(random: Random) -> None:
    sent = lines(random, is_chat=True)
    data = encode(sent)
    parts = list(client(random, data).chat("m", [], stream=True))
    response = read(data)
    (output,) = response.outputs
    assert (response.ending, response.error, response.model) == ("done", None, "m")
    assert texts(output, "text") == "".join(part.message.content or "" for part in parts)
    assert texts(output, "reasoning") == "".join(part.message.thinking or "" for part in parts)
    calls = [call.function for part in parts for call in part.message.tool_calls or ()]
    found = [(name, json.loads(arguments)) for _, name, arguments in called(output)]
    assert found == [(call.name, dict(call.arguments)) for call in calls]
    same_counts(response, parts[-1])


@settings(deadline=None)
@given(SEEDS)
def test_a_generated_text_reads_as_the_sdk_reads_it(random: Random) -> None:
    data = encode(lines(random, is_chat=False))
    parts = list(client(random, data).generate("m", "Hi", stream=True))
    response = read(data)
    (output,) = response.outputs
    assert texts(output, "text") == "".join(part.response or "" for part in parts)
    assert texts(output, "reasoning") == "".join(part.thinking or "" for part in parts)
    same_counts(response, parts[-1])


@settings(deadline=None)
@given(SEEDS, st.booleans())
def test_a_line_loses_no_text(random: Random, is_chat: bool) -> None:
    sent = lines(random, is_chat=is_chat)[-1]
    response = read(json.dumps(sent).encode(), is_stream=False)
    kept = list(all_texts(msgspec.to_builtins(response), omitted=()))
    kept += [each for one in kept if one[:1] in ("{", "[") for each in all_texts(json_or_none(one), omitted=())]
    assert [each for each in all_texts(sent) if each and not any(each in one for one in kept)] == []


@settings(deadline=None)
@given(SEEDS)
def test_a_whole_response_reads_as_the_sdk_reads_it(random: Random) -> None:
    data = json.dumps(lines(random, is_chat=True)[-1]).encode()
    expected = client(random, data).chat("m", [])
    response = read(data, is_stream=False)
    (output,) = response.outputs
    assert texts(output, "text") == (expected.message.content or "")
    assert len(called(output)) == len(expected.message.tool_calls or ())
    same_counts(response, expected)


@settings(deadline=None)
@given(SEEDS, st.sampled_from(["error", "cut", "cut_in_line"]))
def test_a_stream_that_makes_the_sdk_raise_has_failed(random: Random, kind: str) -> None:
    sent = lines(random, is_chat=True)
    data = encode(sent[: random.randrange(1, len(sent))])
    breaks = kind != "error"
    if kind == "error":
        data += b'{"error": "the runner has terminated"}\n'
    elif kind == "cut_in_line":
        data = data[: random.randrange(1, len(data))]
    with pytest.raises((ollama.ResponseError, httpx.RemoteProtocolError, ValueError)):
        list(client(random, data, breaks=breaks).chat("m", [], stream=True))
    exchange = GoldenExchange("ollama", "/v1/api/chat", b"{}", (data,), response_head=LINES_HEAD)
    if breaks:
        reset = ("upstream_reset", "The upstream closed the connection.")
        exchange = exchange._replace(outcome="upstream_failed", error=reset)
    record = entry_of(exchange).record
    assert (record.failed, record.stream) == (True, True)
    assert record.error_message


@settings(deadline=None)
@given(SEEDS)
def test_what_the_sdk_sends_is_read_without_loss(random: Random) -> None:
    asked = [message | {"role": random.choice(("user", "assistant", "tool"))} for message in messages(random)]
    asked.append({"role": "user", "content": text(random), "images": [PNG] * random.randrange(3)})
    asked.append({"role": "tool", "content": text(random), "tool_name": "get_weather"})
    sent: list[Any] = []
    answering = client(random, encode(lines(random, is_chat=True)), sent=sent)
    list(answering.chat("m", asked, stream=True, options={"num_ctx": 9}, think=True))
    answering = client(random, encode(lines(random, is_chat=False)), sent=sent)
    list(answering.generate("m", text(random), system="Be brief.", context=[1, 2], images=[PNG], stream=True))
    for path, data in sent:
        request = read_request(data, match("POST", path))
        assert (request.model, request.stream, request.understood) == ("m", True, True)
        kept = list(all_texts([request.model, msgspec.to_builtins(request.messages), request.parameters], omitted=()))
        kept += [each for one in kept if one[:1] in ("{", "[") for each in all_texts(json_or_none(one), omitted=())]
        assert [each for each in all_texts(json.loads(data)) if each and not any(each in one for one in kept)] == []


@pytest.mark.parametrize("vectors", [1, 3])
def test_embeddings_are_counted_as_the_sdk_reads_them(vectors: int) -> None:
    random = Random(vectors)
    data = json.dumps({"model": "m", "embeddings": [[0.5, 0.25]] * vectors, "prompt_eval_count": 8}).encode()
    expected = client(random, data).embed("m", ["Hi"] * vectors)
    response = read(data, is_stream=False)
    shown = f"{len(expected.embeddings)} vector{'s' if vectors > 1 else ''} of {len(expected.embeddings[0])} numbers"
    assert [part.text for part in response.outputs[0].parts] == [shown]
    assert counts_of(response.usage or {}).tokens.input == expected.prompt_eval_count
