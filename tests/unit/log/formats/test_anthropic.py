"""Test Anthropic's Messages API. The fixtures have the structure of the SDK's own types."""

import json
from typing import Any, Final

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relaybook.log import formats
from relaybook.log.formats import RequestFacts, ResponseFacts
from relaybook.log.formats.facts import MessageHashes

USAGE: Final[dict[str, Any]] = {
    "input_tokens": 10,
    "cache_creation_input_tokens": 5,
    "cache_read_input_tokens": 100,
    "cache_creation": {"ephemeral_5m_input_tokens": 5, "ephemeral_1h_input_tokens": 0},
    "output_tokens": 15,
    "output_tokens_details": {"thinking_tokens": 4},
    "server_tool_use": {"web_search_requests": 1},
    "service_tier": "standard",
}
HUGE_COMPACTION: Final = {"type": "compaction", "output_tokens": 2**62, "cache_creation": 5}
THINKING: Final[dict[str, Any]] = {"type": "thinking", "thinking": "Look it up.", "signature": "EqQB"}
TEXT: Final[dict[str, Any]] = {"type": "text", "text": "I will look.", "citations": None}
CALL: Final[dict[str, Any]] = {
    "type": "tool_use",
    "id": "toolu_1",
    "name": "weather",
    "input": {"city": "Rome", "days": 2},
}
RESULT: Final[dict[str, Any]] = {
    "type": "tool_result",
    "tool_use_id": "toolu_1",
    "content": [{"type": "text", "text": "18 °C"}],
    "is_error": False,
}
IMAGE: Final[dict[str, Any]] = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "A" * 45_000},
}
MESSAGE: Final[dict[str, Any]] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-5-20250929",
    "content": [THINKING, TEXT, CALL],
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": USAGE,
}
REQUEST: Final[dict[str, Any]] = {
    "model": "claude-sonnet-4-5",
    "max_tokens": 1024,
    "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
    "messages": [{"role": "user", "content": "The weather in Rome?"}],
    "metadata": {"user_id": "user-1"},
    "stream": True,
    "temperature": 0.5,
    "top_p": 0.9,
    "thinking": {"type": "enabled", "budget_tokens": 1024},
}


def event(kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


def delta(index: int, kind: str, **fields: Any) -> bytes:
    return event("content_block_delta", index=index, delta={"type": kind, **fields})


START: Final = event(
    "message_start", message={**MESSAGE, "content": [], "stop_reason": None, "usage": {**USAGE, "output_tokens": 1}}
)
#: ``MESSAGE`` as a stream of events.
EVENTS: Final = [
    START,
    event("ping"),
    event("content_block_start", index=0, content_block={"type": "thinking", "thinking": "", "signature": ""}),
    delta(0, "thinking_delta", thinking="Look "),
    delta(0, "thinking_delta", thinking="it up."),
    delta(0, "signature_delta", signature="EqQB"),
    event("content_block_stop", index=0),
    event("content_block_start", index=1, content_block={"type": "text", "text": "", "citations": None}),
    delta(1, "text_delta", text="I will "),
    delta(1, "text_delta", text="look."),
    event("content_block_stop", index=1),
    event("content_block_start", index=2, content_block={**CALL, "input": {}}),
    delta(2, "input_json_delta", partial_json=""),
    delta(2, "input_json_delta", partial_json='{"city": "Ro'),
    delta(2, "input_json_delta", partial_json='me", "days": 2}'),
    event("content_block_stop", index=2),
    event("message_delta", delta={"stop_reason": "tool_use", "stop_sequence": None}, usage={"output_tokens": 15}),
    event("message_stop"),
]
STREAM: Final = b"".join(EVENTS)


def request_facts(**changes: Any) -> RequestFacts:
    return formats.read_request("message", json.dumps(REQUEST | changes).encode())


def whole(**changes: Any) -> ResponseFacts:
    return formats.read_response("message", json.dumps(MESSAGE | changes).encode(), streamed=False, complete=True)


def stream(data: bytes = STREAM, *, complete: bool = True) -> ResponseFacts:
    return formats.read_response("message", data, streamed=True, complete=complete)


def assembled(data: bytes, streamed: bool = True) -> dict[str, Any]:
    return formats.assemble_response(data, streamed, "message")


def hashes(messages: list[Any], **changes: Any) -> MessageHashes:
    found = request_facts(messages=messages, **changes).message_hashes
    assert found is not None
    return found


def shown(*messages: Any, **changes: Any) -> list[dict[str, Any]]:
    return formats.messages(json.dumps(REQUEST | {"messages": messages} | changes).encode(), "message")


def test_all_facts_of_a_request_are_extracted() -> None:
    facts = request_facts()
    assert facts.message_hashes is not None
    assert facts == RequestFacts(
        model="claude-sonnet-4-5",
        stream_requested=True,
        user="user-1",
        input_preview="The weather in Rome?",
        temperature=0.5,
        top_p=0.9,
        max_tokens=1024,
        message_hashes=facts.message_hashes,
        understood=True,
    )


@pytest.mark.parametrize("wrong", [5, [[]], {"a": 1}, True, "text", None, -1.5])
@pytest.mark.parametrize("field", sorted(REQUEST))
def test_a_field_of_the_wrong_type_hides_no_other(field: str, wrong: Any) -> None:
    facts = request_facts(**{field: wrong})
    assert facts.understood
    assert facts.model == (REQUEST["model"] if field != "model" else wrong if isinstance(wrong, str) else None)


def test_metadata_other_than_the_user_is_kept() -> None:
    facts = request_facts(metadata={"user_id": "u", "team": "red"})
    assert (facts.user, facts.metadata) == ("u", {"team": "red"})


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a b"),
        ([IMAGE, {"type": "text", "text": "What is it?"}], "[image png 34 kB] What is it?"),
        ([{"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}], "[image]"),
        ([{"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "A" * 4000}}],
         "[document pdf 3.0 kB]"),
        ([{"type": "document", "source": {"type": "file", "file_id": "file_1"}}], "[document]"),
        ([RESULT], "18 °C"),
    ],
)  # fmt: skip
def test_the_preview_shows_the_last_user_message(content: Any, expected: str) -> None:
    assert request_facts(messages=[{"role": "user", "content": content}]).input_preview == expected


def test_a_request_that_only_counts_tokens_is_not_part_of_a_conversation() -> None:
    body = {name: value for name, value in REQUEST.items() if name != "max_tokens"}
    facts = formats.read_request("message", json.dumps(body).encode())
    assert (facts.message_hashes, facts.input_preview) == (None, "The weather in Rome?")


def test_all_facts_of_a_whole_response_are_extracted() -> None:
    facts = whole()
    assert facts == ResponseFacts(
        response_model="claude-sonnet-4-5-20250929",
        completion_id="msg_1",
        finish_reason="tool_use",
        input_tokens=115,
        output_tokens=15,
        cached_tokens=100,
        reasoning_tokens=4,
        usage=USAGE,
        service_tier="standard",
        output_preview="I will look.",
        output_characters=len("Look it up.I will look.weather") + len('{"city":"Rome","days":2}'),
        output_keys=facts.output_keys,
        understood=True,
    )


def test_a_stream_has_the_facts_of_the_whole_response() -> None:
    facts, expected = stream(), whole()
    expected.stream_ended = "done"
    expected.output_characters = facts.output_characters  # only the white space in the arguments differs
    assert facts == expected


@pytest.mark.parametrize("separator", ["\n", "\r\n", "\r"])
def test_line_ends_do_not_matter(separator: str) -> None:
    assert stream(STREAM.replace(b"\n", separator.encode())) == stream()


def test_a_stream_is_complete_at_message_stop() -> None:
    assert stream(complete=False).stream_ended == "done"
    assert stream(b"".join(EVENTS[:-1])).stream_ended == "no_done"
    assert stream(b"".join(EVENTS[:-1]), complete=False).stream_ended == "cut"


def test_a_stream_that_broke_off_has_a_known_input_and_an_estimated_output() -> None:
    facts = stream(b"".join(EVENTS[:10]), complete=False)
    assert (facts.input_tokens, facts.output_tokens, facts.cached_tokens) == (115, None, 100)
    assert (facts.output_preview, facts.finish_reason) == ("I will look.", None)
    assert formats.estimate_usage("message", facts, json.dumps(REQUEST).encode())
    assert (facts.input_tokens, facts.output_tokens) == (115, 6)
    assert facts.usage is not None
    assert (facts.usage["input_tokens"], facts.usage["output_tokens"]) == (10, 6)


def test_a_response_without_usage_is_estimated() -> None:
    facts = whole(usage=None, content=[{"type": "text", "text": "x" * 40}])
    body = json.dumps(REQUEST | {"messages": [{"role": "user", "content": "y" * 31}]}).encode()
    assert formats.estimate_usage("message", facts, body)
    assert (facts.input_tokens, facts.output_tokens) == (10, 10)  # "Be brief." adds nine characters to the input


def test_stated_tokens_are_not_estimated() -> None:
    assert not formats.estimate_usage("message", whole(), json.dumps(REQUEST).encode())
    assert not formats.estimate_usage("message", stream(), json.dumps(REQUEST).encode())


def test_the_number_of_tokens_is_a_preview_and_no_usage() -> None:
    facts = formats.read_response("message", b'{"input_tokens":2095}', streamed=False, complete=True)
    assert facts == ResponseFacts(output_preview="2,095 input tokens", understood=True)
    assert not formats.estimate_usage("message", facts, b"{}")


def test_the_later_usage_replaces_only_what_it_has() -> None:
    end = event(
        "message_delta", delta={}, usage={"output_tokens": 7, "input_tokens": 11, "cache_read_input_tokens": None}
    )
    facts = stream(START + end)
    assert (facts.input_tokens, facts.output_tokens, facts.cached_tokens) == (116, 7, 100)


def test_the_model_of_a_stream_is_the_one_that_took_over() -> None:
    taken_over = [
        event(
            "content_block_start",
            index=3 + number,
            content_block={"type": "fallback", "from": {"model": "claude-sonnet-4-5"}, "to": to, "trigger": {}},
        )
        for number, to in enumerate(({"model": "claude-opus-5"}, {"model": "claude-haiku-4-5"}, {}, None))
    ]
    data = b"".join([*EVENTS[:-2], *taken_over, *EVENTS[-2:]])
    assert stream(data).response_model == "claude-haiku-4-5"
    assert assembled(data)["model"] == "claude-haiku-4-5"
    block = {"type": "fallback", "to": {"model": "claude-sonnet-4-5-20250929"}}
    assert whole(content=[block, TEXT]).response_model == MESSAGE["model"]


def test_tokens_of_compactions_are_added_because_the_totals_omit_them() -> None:
    compaction = {"type": "compaction", **USAGE, "input_tokens": 1000, "output_tokens": 200}
    iterations = [compaction, {"type": "message", **USAGE}, {"type": "advisor_message", **USAGE}]
    facts = whole(usage={**USAGE, "iterations": iterations})
    assert (facts.input_tokens, facts.output_tokens, facts.cached_tokens) == (
        1000 + USAGE["input_tokens"] + 2 * (5 + USAGE["cache_read_input_tokens"]),
        200 + USAGE["output_tokens"],
        2 * USAGE["cache_read_input_tokens"],
    )
    assert facts.usage is not None
    assert facts.usage["cache_creation"] == {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 0}
    streamed = stream(START + event("message_delta", delta={}, usage={"output_tokens": 15, "iterations": iterations}))
    assert streamed.output_tokens == 215


@pytest.mark.parametrize("wrong", [None, -1, "9", 1.5, {}, [], 2**63, True])
def test_invalid_token_counts_are_unknown(wrong: Any) -> None:
    facts = whole(usage={"input_tokens": wrong, "output_tokens": wrong, "cache_read_input_tokens": wrong})
    assert (facts.input_tokens, facts.output_tokens, facts.cached_tokens) == (None, None, None)


@pytest.mark.parametrize("streamed", [False, True])
def test_an_error_is_extracted(streamed: bool) -> None:
    error = {"type": "overloaded_error", "message": "Overloaded"}
    body = json.dumps({"type": "error", "error": error, "request_id": "req_1"}).encode()
    data = STREAM[: -len(EVENTS[-1])] + event("error", error=error) if streamed else body
    facts = formats.read_response("message", data, streamed=streamed, complete=True)
    assert (facts.error_code, facts.error_message) == ("overloaded_error", "Overloaded")
    assert (facts.has_error, facts.understood) == (True, True)
    assert formats.read_error(body) == ("overloaded_error", "Overloaded")
    answer = assembled(data, streamed)
    assert answer["error"] == error
    assert len(answer["choices"]) == streamed


def test_only_the_first_error_of_a_stream_is_kept() -> None:
    errors = [event("error", error={"type": kind, "message": kind}) for kind in ("overloaded_error", "api_error")]
    assert stream(START + b"".join(errors)).error_code == "overloaded_error"
    assert assembled(START + b"".join(errors))["error"]["type"] == "overloaded_error"


def test_the_first_token_is_text_thinking_or_a_tool_call() -> None:
    ends = [len(b"".join(EVENTS[: count + 1])) for count in range(len(EVENTS))]
    assert formats.first_token_offset(STREAM, "message") == ends[3]
    assert formats.first_token_offset(START + EVENTS[7] + EVENTS[8], "message") == len(START + EVENTS[7] + EVENTS[8])
    assert formats.first_token_offset(START + EVENTS[11], "message") == len(START + EVENTS[11])
    assert formats.first_token_offset(START + EVENTS[1] + EVENTS[5], "message") is None


def test_a_stream_is_assembled_to_the_whole_response() -> None:
    answer = assembled(STREAM)
    assert answer == assembled(json.dumps(MESSAGE).encode(), streamed=False) | {
        "choices": [
            {
                "index": 0,
                "text": "I will look.",
                "reasoning": "Look it up.",
                "refusal": None,
                "tool_calls": [
                    {"id": "toolu_1", "type": "tool_use", "name": "weather", "arguments": '{"city": "Rome", "days": 2}'}
                ],
                "finish_reason": "tool_use",
            }
        ]
    }
    assert answer["content"] == MESSAGE["content"]


def test_all_other_blocks_and_citations_are_kept() -> None:
    search = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "Rome"}}
    result = {
        "type": "web_search_tool_result",
        "tool_use_id": "srvtoolu_1",
        "content": [{"type": "web_search_result", "url": "https://example.org", "title": "Rome"}],
    }
    redacted = {"type": "redacted_thinking", "data": "EmwK"}
    citations = [{"type": "web_search_result_location", "url": "https://example.org"}] * 2
    content = [redacted, search, result, {"type": "text", "text": "Sunny.", "citations": citations}]
    data = START
    for index, block in enumerate(content[:3]):
        data += event("content_block_start", index=index, content_block=block)
    data += event("content_block_start", index=3, content_block={"type": "text", "text": "", "citations": []})
    data += b"".join(delta(3, "citations_delta", citation=each) for each in citations)
    data += delta(3, "text_delta", text="Sunny.") + EVENTS[-2] + EVENTS[-1]
    answer = assembled(data)
    assert answer["content"] == content
    (choice,) = answer["choices"]
    assert (choice["text"], [call["name"] for call in choice["tool_calls"]]) == ("Sunny.", ["web_search"])
    facts = stream(data)
    assert facts.output_keys == whole(content=content).output_keys


def test_a_call_without_arguments_has_an_empty_object() -> None:
    data = START + event("content_block_start", index=0, content_block={**CALL, "input": {}}) + EVENTS[-2]
    assert assembled(data)["choices"][0]["tool_calls"][0]["arguments"] == "{}"
    assert stream(data).output_keys == whole(content=[{**CALL, "input": {}}]).output_keys


def test_truncated_arguments_are_kept_as_text() -> None:
    answer = assembled(b"".join(EVENTS[:14]))
    assert answer["content"][2]["input"] == '{"city": "Ro'
    assert answer["choices"][0]["tool_calls"][0]["arguments"] == '{"city": "Ro'


def test_the_system_prompt_is_the_first_message() -> None:
    system, user = shown(*REQUEST["messages"])
    assert (system["role"], system["text"]) == ("system", "Be brief.")
    assert user == {"role": "user", "text": "The weather in Rome?", "parts": []}
    assert shown(system="Be brief.")[0] == {"role": "system", "text": "Be brief.", "parts": []}
    assert shown(system=None) == []
    parameters = formats.parameters(json.dumps(REQUEST).encode(), "message")
    assert parameters == {name: value for name, value in REQUEST.items() if name not in ("system", "messages")}


def test_blocks_become_text_parts_calls_and_messages_of_tools() -> None:
    redacted = {"type": "redacted_thinking", "data": "EmwK"}
    _, assistant, tool, user = shown(
        {"role": "assistant", "content": [THINKING, redacted, {"type": "text", "text": "Wait."}, CALL]},
        {"role": "user", "content": [RESULT, {"type": "text", "text": "And now?"}, IMAGE]},
    )
    assert (assistant["text"], assistant["reasoning"]) == ("Wait.", "Look it up.")
    assert [part["type"] for part in assistant["parts"]] == ["redacted_thinking", "text"]
    function = {"name": "weather", "arguments": '{"city":"Rome","days":2}'}
    assert assistant["tool_calls"] == [{"id": "toolu_1", "type": "tool_use", "function": function}]
    assert (tool["role"], tool["tool_call_id"], tool["text"]) == ("tool", "toolu_1", "18 °C")
    assert tool["other"] == {"is_error": False}
    assert (user["role"], user["text"]) == ("user", "And now?")
    assert user["parts"][1] == {"type": "image", "text": None, "shown": "[image png 34 kB]", "raw": IMAGE}


def test_newest_first_has_the_same_messages() -> None:
    body = json.dumps(REQUEST | {"messages": [{"role": "user", "content": [RESULT, TEXT]}] * 3}).encode()
    assert list(formats.newest_first(body, "message")) == formats.messages(body, "message")[::-1]


@pytest.mark.parametrize(
    "messages",
    [
        REQUEST["messages"],
        [{"role": "user", "content": []}],
        [{"role": "user", "content": [RESULT]}],
        [{"role": "user", "content": [RESULT, RESULT, TEXT]}],
        [{"role": "assistant", "content": [THINKING]}, {"role": "user", "content": [TEXT, RESULT]}],
    ],
)
@pytest.mark.parametrize("system", [None, "", "Be brief.", []])
def test_conversations_count_the_messages_that_are_shown(messages: list[Any], system: Any) -> None:
    assert hashes(messages, system=system).messages == len(shown(*messages, system=system))


@pytest.mark.parametrize("facts", [whole(), stream()], ids=["whole", "streamed"])
def test_a_request_continues_the_response_that_it_contains(facts: ResponseFacts) -> None:
    first = REQUEST["messages"]
    # Some clients sort the arguments, and omit thinking and citations.
    echo = [{"type": "text", "text": "I will look."}, {**CALL, "input": {"days": 2, "city": "Rome"}}]
    for content in (MESSAGE["content"], echo):
        messages = [*first, {"role": "assistant", "content": content}, {"role": "user", "content": [RESULT]}]
        chain = formats.build_chain(hashes(first), facts.output_keys)
        (origin,) = hashes(messages, system="Another system prompt.").origins
        assert [key for key, _ in chain.after] == [origin.key]
        assert shown(*messages)[origin.new_from :][0]["role"] == "tool"


def test_text_and_one_text_block_are_the_same_message() -> None:
    assert hashes([{"role": "user", "content": "Hi"}]).chain == hashes([
        {"role": "user", "content": [{"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}}]}
    ]).chain  # fmt: skip


POISON: Final = [
    b"",
    b"null",
    b"[]",
    b"<html>",
    STREAM[:-30],
    STREAM.replace(b'"index": 2', b'"index": "x"'),
    STREAM.replace(b'"index": 2', b'"index": 1e400'),
    STREAM.replace(b'"delta": {', b'"delta": [{'),
    STREAM.replace(b'"usage": {', b'"usage": 5, "x": {'),
    START.replace(b'"content": []', b'"content": {"a": 1}'),
    START.replace(b'"content": []', b'"content": ' + b"[" * 100_000),
    delta(2**70, "text_delta", text="a"),
    delta(0, "input_json_delta", partial_json="["),
    delta(0, "input_json_delta", partial_json="[" * 100_000),
    event("content_block_start", index=0, content_block={"type": "tool_use", "name": 5, "input": [1]}),
    event("message_delta", delta=None, usage={"output_tokens": 9e300}),
    event("message_start", message={"usage": {"input_tokens": 2**62, "cache_read_input_tokens": 2**62}}),
    event("message_delta", delta={}, usage={"output_tokens": 2**62, "iterations": 2 * [HUGE_COMPACTION]}),
]


@pytest.mark.parametrize("data", POISON, ids=range(len(POISON)))
@pytest.mark.parametrize("streamed", [False, True])
def test_malformed_bodies_give_facts_that_can_be_stored(data: bytes, streamed: bool) -> None:
    everything(data, streamed)


def everything(data: bytes, streamed: bool) -> None:
    msgspec.json.encode(formats.read_request("message", data))
    facts = formats.read_response("message", data, streamed=streamed, complete=False)
    formats.estimate_usage("message", facts, data)
    for count in (facts.input_tokens, facts.output_tokens, facts.cached_tokens, facts.reasoning_tokens):
        assert count is None or 0 <= count < 2**63
    msgspec.json.encode(facts)
    msgspec.json.encode(assembled(data, streamed))
    msgspec.json.encode([formats.messages(data, "message"), formats.parameters(data, "message")])
    offset = formats.first_token_offset(data, "message")
    assert offset is None or 0 < offset <= len(data)


TYPES: Final = [
    *("message_start", "content_block_start", "content_block_delta", "message_delta", "message_stop", "error", "ping"),
    *("tool_use", "tool_result", "text", "thinking", "image", "text_delta", "input_json_delta", "citations_delta"),
]
NAMES: Final = [
    *("type", "message", "content", "content_block", "delta", "index", "usage", "error", "name", "input", "messages"),
    *("text", "thinking", "partial_json", "citation", "source", "system", "role", "metadata", "tool_use_id", "id"),
]
JUNK: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(TYPES),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5),
    max_leaves=25,
)


@settings(deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from(NAMES), JUNK, max_size=5), max_size=4), st.booleans())
def test_json_of_any_structure_gives_facts_that_can_be_stored(values: list[Any], streamed: bool) -> None:
    everything(b"".join(b"data: " + json.dumps(value).encode() + b"\n\n" for value in values), streamed)
    for value in values:
        everything(json.dumps(value).encode(), streamed)


@settings(deadline=None)
@given(st.binary(), st.booleans())
def test_no_bytes_raise(data: bytes, streamed: bool) -> None:
    everything(data, streamed)
