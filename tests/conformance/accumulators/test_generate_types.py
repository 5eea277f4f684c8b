"""Compare what the log reads of Gemini's API with what the official SDK, google-genai, makes of the same bytes.

The streams have every type of part that the installed SDK declares. They are split at random bytes.
"""

import json
from collections.abc import Iterator
from random import Random
from typing import Any

import httpx2
import pytest
from google import genai
from google.genai import errors, types
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conformance.accumulators.generate_streams import (
    CANDIDATE,
    CONTENT,
    DESCRIBING,
    RESPONSE,
    SDK_ONLY,
    generate_stream,
)
from tests.conformance.accumulators.values import in_chunks
from tests.golden.exchange import STREAM_HEAD, GoldenExchange
from tests.golden.facts import entry_of

from relaybook.apis import match
from relaybook.log.formats import read_request, read_response
from relaybook.log.formats.conversation import Output, Response
from relaybook.log.formats.message_chain import build_chain
from relaybook.log.record import Record

SEEDS = st.integers(0, 2**32 - 1).map(Random)
KINDS = sorted(CONTENT - {"text"} | {"text", "thought"})
MODEL = "gemini-2.5-flash"


def encode(events: list[dict[str, Any]]) -> bytes:
    return b"".join(b"data: %b\r\n\r\n" % json.dumps(event).encode() for event in events)


class Upstream:
    """Answers requests of the SDK with event streams, one after the other, and keeps the bodies of the requests."""

    def __init__(self, random: Random, *streams: bytes, breaks: bool = False) -> None:
        self.requests: list[bytes] = []
        self._random, self._streams, self._breaks = random, list(streams), breaks
        http = httpx2.Client(transport=httpx2.MockTransport(self._answer))
        options = types.HttpOptions(base_url="http://localhost", httpx_client=http)
        self.client = genai.Client(api_key="x", http_options=options)

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request.content)
        data = self._streams.pop(0)
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=self._chunks(data))

    def _chunks(self, data: bytes) -> Iterator[bytes]:
        yield from in_chunks(self._random, data)
        if self._breaks:
            raise httpx2.RemoteProtocolError("peer closed connection without sending complete message body")

    def chunks(self) -> list[types.GenerateContentResponse]:
        """Return the events of a stream as the SDK gives them."""
        return list(self.client.models.generate_content_stream(model=MODEL, contents="Hi"))


def read(data: bytes, *, complete: bool = True) -> Response:
    reading = read_response(data, "generate", is_event_stream=data[:1] != b"[", complete=complete)
    assert reading.is_stream
    return reading.response


def candidates_of(chunks: list[types.GenerateContentResponse]) -> dict[int, list[types.Candidate]]:
    """Return what the events say about each candidate."""
    found: dict[int, list[types.Candidate]] = {}
    for chunk in chunks:
        for place, candidate in enumerate(chunk.candidates or ()):
            found.setdefault(place if candidate.index is None else candidate.index, []).append(candidate)
    return found


def same_output(output: Output, candidates: list[types.Candidate]) -> None:
    parts = [part for each in candidates if each.content for part in each.content.parts or ()]
    texts = [part for part in parts if part.text is not None]
    assert text_of(output, "text") == "".join(part.text or "" for part in texts if not part.thought)
    assert text_of(output, "reasoning") == "".join(part.text or "" for part in texts if part.thought)
    called = [part.function_call for part in parts if part.function_call]
    assert calls_of(output) == [(each.id, each.name, each.args or {}) for each in called]
    code = [part.executable_code.code or "{}" for part in parts if part.executable_code]
    assert [part.arguments for part in output.parts if part.type == "executableCode"] == code
    results = [part.code_execution_result for part in parts if part.code_execution_result]
    found = [part for part in output.parts if part.type == "codeExecutionResult"]
    assert [(part.id, part.text) for part in found] == [(each.id, each.output or None) for each in results]
    data = [part.inline_data.data for part in parts if part.inline_data and part.inline_data.data]
    assert [part.media.bytes for part in output.parts if part.media and part.media.bytes] == [
        len(each) for each in data
    ]
    reasons = [each.finish_reason.value for each in candidates if each.finish_reason]
    assert output.finish_reason == (reasons[-1] if reasons else None)


def text_of(output: Output, kind: str) -> str:
    return "".join(part.text or "" for part in output.parts if part.kind == kind)


def calls_of(output: Output) -> list[tuple[str | None, str | None, Any]]:
    calls = [part for part in output.parts if part.kind == "tool_call" and part.type is None]
    return [(part.id, part.name, json.loads(part.arguments or "{}")) for part in calls]


def test_streams_have_every_field_of_a_part_a_candidate_and_a_response() -> None:
    assert set(types.Part.model_fields) == CONTENT | DESCRIBING
    assert set(types.Candidate.model_fields) == CANDIDATE
    assert set(types.GenerateContentResponse.model_fields) == RESPONSE | SDK_ONLY


@settings(deadline=None)
@given(random=SEEDS, kinds=st.lists(st.sampled_from(KINDS), max_size=6))
def test_a_stream_reads_as_the_sdk_gives_it(random: Random, kinds: list[str]) -> None:
    events = generate_stream(random, kinds)
    data = encode(events)
    chunks = Upstream(random, data).chunks()
    response = read(data)
    expected = candidates_of(chunks)
    assert [output.index for output in response.outputs] == sorted(expected)
    for output in response.outputs:
        same_output(output, expected[output.index])
    assert (response.ending, response.id, response.model) == ("done", chunks[-1].response_id, chunks[-1].model_version)
    usage = chunks[-1].usage_metadata
    stated = usage.model_dump(mode="json", by_alias=True, exclude_none=True) if usage else {}
    assert {name: each for name, each in (response.usage or {}).items() if each is not None} == stated


@settings(deadline=None, max_examples=20)
@given(random=SEEDS)
def test_a_stream_with_every_part_reads_the_same_in_both_framings(random: Random) -> None:
    events = generate_stream(random, KINDS)
    array = json.dumps(events, indent=random.choice((None, 2))).encode()
    assert read(array) == read(encode(events))


@settings(deadline=None)
@given(random=SEEDS, kinds=st.lists(st.sampled_from(KINDS), min_size=1, max_size=4), is_cut=st.booleans())
def test_a_stream_that_makes_the_sdk_raise_has_failed(random: Random, kinds: list[str], is_cut: bool) -> None:
    data = encode(generate_stream(random, kinds)[:-1])
    if is_cut:
        data = data[: random.randrange(len(data) + 1)]
    else:
        error = {"error": {"code": 503, "message": "Overloaded", "status": "UNAVAILABLE"}}
        data += random.choice((encode([error]), json.dumps(error, indent=2).encode() + b"\n"))
    upstream = Upstream(random, data, breaks=is_cut)
    try:
        upstream.chunks()
    except (errors.APIError, errors.UnknownApiResponseError, httpx2.HTTPError):
        record = record_of(data, breaks=is_cut)
        assert record.failed
        cut_code = "upstream_stream_interrupted" if record.stream_ended == "cut" else "upstream_reset"
        assert record.error_code == (cut_code if is_cut else "UNAVAILABLE")
    else:
        pytest.fail("the SDK raised no error")


def record_of(data: bytes, *, breaks: bool) -> Record:
    path = f"/v1/v1beta/models/{MODEL}:streamGenerateContent?alt=sse"
    exchange = GoldenExchange("x", path, b'{"contents": "Hi"}', (data,) if data else (), response_head=STREAM_HEAD)
    if breaks:
        error = ("upstream_reset", "The upstream closed the connection.")
        exchange = exchange._replace(outcome="upstream_failed", error=error)
    return entry_of(exchange).record


@settings(deadline=None)
@given(
    random=SEEDS,
    kinds=st.lists(st.sampled_from(["text", "thought", "function_call", "executable_code", "code_execution_result"])),
)
def test_the_next_turn_of_a_chat_of_the_sdk_is_linked(random: Random, kinds: list[str]) -> None:
    """The SDK sends the parts of all events again, so that a text is in many parts."""
    events = generate_stream(random, kinds)
    for event in events:  # the SDK forgets a turn with empty parts, or without a successful end
        event["candidates"] = [each | {"index": 0} for each in event["candidates"] if not each.get("index")]
        for candidate in event["candidates"]:
            parts = candidate.setdefault("content", {"role": "model", "parts": []})["parts"]
            candidate["content"]["parts"] = [
                each | {"text": random.choice(("Sunny ", "21 °C"))} if "text" in each else each
                for each in [*parts, {"text": ""}]
            ]
            if "finishReason" in candidate:
                candidate["finishReason"] = "STOP"
    events = [event for event in events if event["candidates"]]
    answer = encode(events)
    upstream = Upstream(random, answer, answer)
    chat = upstream.client.chats.create(model=MODEL)
    for message in ("Hi", "And tomorrow?"):
        list(chat.send_message_stream(message))
    sent = match("POST", f"/v1beta/models/{MODEL}:streamGenerateContent")
    first, second = (read_request(body, sent) for body in upstream.requests)
    before, after = build_chain(first, read(answer)), build_chain(second, None)
    assert before is not None
    assert after is not None
    assert [message.role for message in second.messages] == ["user", "assistant", "user"]
    assert before.after[0].all in [origin.keys.all for origin in after.origins]
