"""Test Anthropic's Messages API. The bodies have the structure of the types of Anthropic's SDK."""

from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.bodies import brief, check_storable, data_of, event, reading_of, request_of

from relaybook.apis import BY_KIND, Match
from relaybook.log.formats import read_request, read_response
from relaybook.log.formats.conversation import Error, Media, Message, Output, Part, Request, Response
from relaybook.log.formats.lenient import sanitize
from relaybook.log.formats.message_chain import build_chain
from relaybook.log.formats.preview import characters, input_preview, output_preview
from relaybook.log.formats.usage import counts_of

USAGE: Final[dict[str, Any]] = {
    "input_tokens": 10,
    "cache_read_input_tokens": 100,
    "output_tokens": 15,
    "service_tier": "standard",
}
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
    "thinking": {"type": "enabled", "budget_tokens": 1024},
}


def of(kind: str, **fields: Any) -> bytes:
    return event({"type": kind} | fields, kind)


def delta(index: int, kind: str, **fields: Any) -> bytes:
    return of("content_block_delta", index=index, delta={"type": kind, **fields})


def begin(index: int, block: Any) -> bytes:
    return of("content_block_start", index=index, content_block=block)


START: Final = of(
    "message_start", message={**MESSAGE, "content": [], "stop_reason": None, "usage": {**USAGE, "output_tokens": 1}}
)
END: Final = of("message_delta", delta={"stop_reason": "tool_use", "stop_sequence": None}, usage={"output_tokens": 15})
STOP: Final = of("message_stop")
#: ``MESSAGE`` as a stream of events.
EVENTS: Final = [
    START,
    of("ping"),
    begin(0, {"type": "thinking", "thinking": "", "signature": ""}),
    delta(0, "thinking_delta", thinking="Look "),
    delta(0, "thinking_delta", thinking="it up."),
    delta(0, "signature_delta", signature="EqQB"),
    of("content_block_stop", index=0),
    begin(1, {"type": "text", "text": "", "citations": None}),
    delta(1, "text_delta", text="I will "),
    delta(1, "text_delta", text="look."),
    begin(2, {**CALL, "input": {}}),
    delta(2, "input_json_delta", partial_json=""),
    delta(2, "input_json_delta", partial_json='{"city":"Ro'),
    delta(2, "input_json_delta", partial_json='me","days":2}'),
    of("content_block_stop", index=2),
    END,
    STOP,
]
STREAM: Final = b"".join(EVENTS)


def whole(**changes: Any) -> Response:
    return reading_of(MESSAGE | changes, "message").response


def stream(data: bytes = STREAM, *, complete: bool = True) -> Response:
    return reading_of(data, "message", complete=complete).response


def asked(*messages: Any, **changes: Any) -> Request:
    return request_of(REQUEST | ({"messages": messages} if messages else {}) | changes, "message")


# -- responses --------------------------------------------------------------------------------------------------------


def test_a_whole_response_is_one_output() -> None:
    assert whole() == Response(
        id="msg_1",
        model="claude-sonnet-4-5-20250929",
        outputs=[
            Output(
                0,
                [
                    Part("reasoning", "Look it up.", other={"signature": "EqQB"}),
                    Part("text", "I will look."),
                    Part("tool_call", None, "weather", "toolu_1", '{"city":"Rome","days":2}'),
                ],
                "tool_use",
            )
        ],
        usage=USAGE,
        tier="standard",
        other={"stop_sequence": None},
    )


def test_a_stream_becomes_the_whole_response() -> None:
    found = stream()
    assert found.ending == "done"
    found.ending = None
    assert found == whole()


@pytest.mark.parametrize("separator", [b"\r\n", b"\r"])
def test_line_ends_do_not_matter(separator: bytes) -> None:
    assert stream(STREAM.replace(b"\n", separator)) == stream()


def test_cached_tokens_of_dashscope_are_not_counted_twice() -> None:
    end = {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 3000, "output_tokens": 878}
    end |= {"prompt_tokens_details": {"cached_tokens": 3000}}
    data = event({"type": "message_start", "message": MESSAGE | {"usage": {"input_tokens": 3602, "output_tokens": 0}}})
    data += event({"type": "message_delta", "usage": end}) + event({"type": "message_stop"})
    counts = counts_of(reading_of(data, "message").response.usage or {}, "message")
    assert (counts.tokens[:3]) == (3602, 878, 3000)


def test_fields_at_the_end_of_a_stream_are_kept() -> None:
    edits = {"applied_edits": [{"type": "clear_tool_uses_20250919", "cleared_input_tokens": 50_000}]}
    delta = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}}
    data = event({"type": "message_start", "message": MESSAGE | {"content": []}})
    data += event(delta | {"context_management": edits}) + event({"type": "message_stop"})
    assert reading_of(data, "message").response.other["context_management"] == edits


def test_a_stream_ends_at_message_stop_or_with_a_stop_reason() -> None:
    assert stream(complete=False).ending == "done"
    assert stream(b"".join(EVENTS[:-1])).ending == "done"
    assert stream(b"".join(EVENTS[:-2])).ending == "no_done"
    assert stream(b"".join(EVENTS[:-2]), complete=False).ending == "cut"
    assert not reading_of(b"".join(EVENTS[:-1]), "message").has_end_mark


def test_the_output_tokens_at_the_start_of_a_stream_are_a_placeholder() -> None:
    found = stream(b"".join(EVENTS[:10]), complete=False)
    assert found.usage == {name: value for name, value in USAGE.items() if name != "output_tokens"}
    assert (output_preview(found), found.outputs[0].finish_reason) == ("I will look.", None)


def test_the_later_usage_replaces_only_what_it_has() -> None:
    usage = {"output_tokens": 7, "input_tokens": 11, "cache_read_input_tokens": None}
    assert stream(START + of("message_delta", delta={}, usage=usage)).usage == USAGE | {
        "output_tokens": 7,
        "input_tokens": 11,
    }


def test_the_number_of_tokens_is_a_preview_and_no_usage() -> None:
    reading = reading_of({"input_tokens": 2095}, "message")
    assert (output_preview(reading.response), reading.response.usage) == ("2,095 input tokens", None)
    assert (reading.is_known, reading.notes) == (True, [])


def test_the_model_of_a_stream_is_the_one_that_took_over() -> None:
    taken_over = [
        begin(3 + number, {"type": "fallback", "from": {"model": "claude-sonnet-4-5"}, "to": to})
        for number, to in enumerate(({"model": "claude-opus-5"}, {"model": "claude-haiku-4-5"}, {}, None))
    ]
    assert stream(b"".join([*EVENTS[:-2], *taken_over, END, STOP])).model == "claude-haiku-4-5"


@pytest.mark.parametrize("streamed", [False, True])
def test_an_error_is_read(streamed: bool) -> None:
    error = {"type": "overloaded_error", "message": "Overloaded"}
    body = {"type": "error", "error": error, "request_id": "req_1"}
    found = (
        stream(STREAM[: -len(STOP)] + of("error", error=error)) if streamed else reading_of(body, "message").response
    )
    assert found.error == Error("overloaded_error", "Overloaded", error)
    assert len(found.outputs) == streamed


def test_only_the_first_error_of_a_stream_is_kept() -> None:
    errors = [of("error", error={"type": kind, "message": kind}) for kind in ("overloaded_error", "api_error")]
    found = stream(START + b"".join(errors))
    assert found.error is not None
    assert found.error.code == "overloaded_error"


def test_an_error_event_without_a_text_is_an_error() -> None:
    assert stream(START + of("error")).error is not None
    assert stream(START + of("error", error={})).error is not None


def test_the_first_token_is_text_thinking_or_a_tool_call() -> None:
    def first(*events: bytes) -> int | None:
        return reading_of(b"".join(events), "message").first_token_end

    assert first(STREAM) == len(b"".join(EVENTS[:4]))
    assert first(START, EVENTS[7], EVENTS[8]) == len(START + EVENTS[7] + EVENTS[8])
    assert first(START, EVENTS[10], EVENTS[11]) == len(START + EVENTS[10])
    assert first(START, EVENTS[1], EVENTS[5]) is None


def test_all_other_blocks_and_citations_are_kept() -> None:
    search = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "Rome"}}
    found = [{"type": "web_search_result", "url": "https://example.org", "title": "Rome"}]
    result = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": found}
    redacted = {"type": "redacted_thinking", "data": "EmwK"}
    citations = [{"type": "web_search_result_location", "url": "https://example.org"}] * 2
    content = [redacted, search, result, {"type": "text", "text": "Sunny.", "citations": citations}]
    data = START + b"".join(begin(index, block) for index, block in enumerate(content[:3]))
    data += begin(3, {"type": "text", "text": "", "citations": []})
    data += b"".join(delta(3, "citations_delta", citation=each) for each in citations)
    data += delta(3, "text_delta", text="Sunny.") + END + STOP
    expected = [
        Part("other", type="redacted_thinking", other={"data": "EmwK"}),
        Part("tool_call", None, "web_search", "srvtoolu_1", '{"query":"Rome"}', type="server_tool_use"),
        Part("tool_result", id="srvtoolu_1", type="web_search_tool_result", other={"content": found}),
        Part("text", "Sunny.", other={"citations": citations}),
    ]
    assert stream(data).outputs[0].parts == whole(content=content).outputs[0].parts == expected


def test_a_call_without_arguments_has_an_empty_object() -> None:
    for found in (stream(START + begin(0, {**CALL, "input": {}}) + END), whole(content=[{**CALL, "input": {}}])):
        assert brief(found.outputs[0].parts) == [("tool_call", "{}")]


def test_truncated_arguments_are_kept_as_text() -> None:
    assert brief(stream(b"".join(EVENTS[:13])).outputs[0].parts)[2] == ("tool_call", '{"city":"Ro')


# -- requests ---------------------------------------------------------------------------------------------------------


def test_the_system_prompt_is_the_first_message() -> None:
    found = asked()
    assert found == Request(
        model="claude-sonnet-4-5",
        messages=[
            Message("system", [Part("text", "Be brief.", other={"cache_control": {"type": "ephemeral"}})]),
            Message("user", [Part("text", "The weather in Rome?")]),
        ],
        parameters={name: value for name, value in REQUEST.items() if name not in ("system", "messages")},
        is_conversation=True,
        stream=True,
        user="user-1",
        understood=True,
    )
    assert asked(system="Be brief.").messages[0] == Message("system", [Part("text", "Be brief.")])
    assert asked(system=None, messages=[]).messages == []
    assert asked(system=None).parameters["system"] is None


@pytest.mark.parametrize("wrong", [5, [[]], {"a": 1}, True, "text", None, -1.5])
@pytest.mark.parametrize("field", sorted(REQUEST))
def test_a_field_of_the_wrong_type_hides_no_other(field: str, wrong: Any) -> None:
    found = asked(**{field: wrong})
    assert found.understood
    assert found.model == (REQUEST["model"] if field != "model" else wrong if isinstance(wrong, str) else None)


def test_metadata_other_than_the_user_is_kept() -> None:
    found = asked(metadata={"user_id": "u", "team": "red"})
    assert (found.user, found.metadata) == ("u", {"team": "red"})


def test_a_request_that_only_counts_tokens_is_not_part_of_a_conversation() -> None:
    found = request_of({name: value for name, value in REQUEST.items() if name != "max_tokens"}, "message")
    assert (found.is_conversation, build_chain(found, None)) == (False, None)
    assert input_preview(found.messages) == "The weather in Rome?"


def test_blocks_become_parts_and_tool_results_become_messages_of_tools() -> None:
    redacted = {"type": "redacted_thinking", "data": "EmwK"}
    _, assistant, tool, user = asked(
        {"role": "assistant", "content": [THINKING, redacted, {"type": "text", "text": "Wait."}, CALL]},
        {"role": "user", "content": [RESULT, {"type": "text", "text": "And now?"}, IMAGE]},
    ).messages
    assert brief(assistant.parts) == [
        ("reasoning", "Look it up."),
        ("other", None),
        ("text", "Wait."),
        ("tool_call", '{"city":"Rome","days":2}'),
    ]
    assert tool == Message("tool", [Part("tool_result", "18 °C", id="toolu_1")], other={"is_error": False})
    url = "data:image/png;base64," + "A" * 45_000
    assert user == Message(
        "user", [Part("text", "And now?"), Part("image", media=Media("image/png", 33_750, None, url))]
    )


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a b"),
        ([IMAGE, {"type": "text", "text": "What is it?"}], "[image png 34 kB] What is it?"),
        ([{"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}], "[image]"),
        ([{"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "A" * 4000}}],
         "[file pdf 3.0 kB]"),
        ([{"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "é" * 300}}],
         "[file plain 600 B]"),
        ([{"type": "document", "source": {"type": "file", "file_id": "file_1"}}], "[file file_1]"),
        ([RESULT], "tool: 18 °C"),
    ],
)  # fmt: skip
def test_the_preview_shows_the_last_user_message(content: Any, expected: str) -> None:
    assert input_preview(asked({"role": "user", "content": content}).messages) == expected


@pytest.mark.parametrize("found", [whole(), stream()], ids=["whole", "streamed"])
def test_a_request_continues_the_response_that_it_contains(found: Response) -> None:
    first = asked()
    # Some clients sort the arguments, and omit thinking and citations.
    echo = [{"type": "text", "text": "I will look."}, {**CALL, "input": {"days": 2, "city": "Rome"}}]
    for content in (MESSAGE["content"], echo):
        later = asked(
            *REQUEST["messages"],
            {"role": "assistant", "content": content},
            {"role": "user", "content": [RESULT]},
            system="Another system prompt.",
        )
        earlier_chain, later_chain = build_chain(first, found), build_chain(later, None)
        assert earlier_chain is not None
        assert later_chain is not None
        assert [keys.all for keys in earlier_chain.after] == [later_chain.origins[0].keys.all]
        assert later.messages[later_chain.origins[0].new_from].role == "tool"


def test_text_and_one_text_block_are_the_same_message() -> None:
    block = {"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}}
    chains = [build_chain(asked({"role": "user", "content": content}), None) for content in ("Hi", [block])]
    assert chains[0] == chains[1]


# -- malformed bodies -------------------------------------------------------------------------------------------------

POISON: Final = [
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
    begin(0, {"type": "tool_use", "name": 5, "input": [1]}),
    of("message_delta", delta=None, usage={"output_tokens": 9e300}),
    of("message_delta", delta={"stop_reason": 5, "usage": [], "id": {}}),
]
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


def everything(data: bytes) -> None:
    request = read_request(data, Match(BY_KIND["message"]))
    reading = read_response(data, "message", is_event_stream=False, complete=False)
    request.parameters = sanitize(request.parameters)
    check_storable((request, reading.response, build_chain(request, reading.response)))
    input_preview(request.messages)
    characters(reading.response)


@pytest.mark.parametrize("data", POISON, ids=range(len(POISON)))
def test_malformed_bodies_can_be_stored(data: bytes) -> None:
    everything(data)


@settings(deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from(NAMES), JUNK, max_size=5), max_size=4))
def test_json_of_any_structure_can_be_stored(values: list[Any]) -> None:
    everything(b"".join(map(event, values)))
    for value in values:
        everything(data_of(value))
