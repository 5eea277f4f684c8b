"""Test whole and streamed chat completions, also those of providers that add to OpenAI's format."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.bodies import DONE, brief, check_storable, chunk, event, output_of, reading_of, request_of

from relaybook.log.formats import chat, lenient
from relaybook.log.formats.conversation import Error, Message, Output, Part, Response
from relaybook.log.formats.preview import characters, finish_reason, output_preview

USAGE = {"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 2}}
HEAD = {"id": "c1", "model": "gpt-4.1", "service_tier": "default", "obfuscation": "pad", "system_fingerprint": "fp"}
CALL = {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}}


def piece(delta: dict[str, Any], **choice: Any) -> bytes:
    return event(HEAD | {"usage": None, "choices": [{"index": 0, "delta": delta, "finish_reason": None} | choice]})


def whole(message: dict[str, Any], **more: Any) -> dict[str, Any]:
    message = {"role": "assistant"} | message
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    return HEAD | {"object": "chat.completion", "choices": [choice]} | more


def stream(data: bytes, *, complete: bool = True) -> Response:
    return reading_of(data, complete=complete).response


GOOD = (
    piece({"role": "assistant", "content": "", "refusal": None})
    + piece({"content": "Hello"})
    + piece({"content": " wörld"})
    + piece({}, finish_reason="stop")
    + event(HEAD | {"choices": [], "usage": USAGE})
    + DONE
)
GOOD_RESPONSE = Response(
    id="c1",
    model="gpt-4.1",
    outputs=[Output(0, [Part("text", "Hello wörld")], "stop")],
    usage=USAGE,
    tier="default",
    ending="done",
    other={"system_fingerprint": "fp"},
)


def test_a_stream_becomes_one_response() -> None:
    assert stream(GOOD) == GOOD_RESPONSE


def test_a_whole_response_is_read_into_the_same_model() -> None:
    response = reading_of(whole({"content": "Hello wörld"}, usage=USAGE)).response
    assert response.other.pop("object") == "chat.completion"
    response.ending = "done"
    assert response == GOOD_RESPONSE


#: A response as OpenAI sends it, in three levels.
MESSAGE = {"role": "assistant", "content": "Hello", "refusal": None, "annotations": []}
CHOICE = {"index": 0, "finish_reason": "stop", "logprobs": None}
BODY = {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "usage": USAGE, "system_fingerprint": "fp"}
VALUES = st.sampled_from([None, "", "x", [], ["x"], {}, {"x": 1}, 0, 1, 0.5, True, "stop", "error", "\ud800", "ö"])


def changed(fields: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Return a strategy for objects of which at most one field is missing or has another value."""
    missing = st.sampled_from(list(fields)).map(lambda name: {key: fields[key] for key in fields if key != name})
    names = st.sampled_from([*fields, "service_tier", "error", "tool_calls", "reasoning"])
    other = st.tuples(names, VALUES).map(lambda pair: fields | {pair[0]: pair[1]})
    return st.one_of(st.just(fields), missing, other)


@given(changed(MESSAGE), changed(CHOICE), changed(BODY), st.integers(0, 2))
def test_a_response_with_only_text_is_read_as_its_fields_are(
    message: dict[str, Any], choice: dict[str, Any], body: dict[str, Any], choices: int
) -> None:
    body = body | {"choices": [choice | {"message": message}] * choices}
    data = json.dumps(body).encode()
    stream = chat.Stream()
    stream.add(lenient.load(data))
    assert chat.read_text_response(data) in (None, stream.response())
    is_usual = (message, choice, body | {"choices": []}, choices) == (MESSAGE, CHOICE, BODY | {"choices": []}, 1)
    assert not is_usual or chat.read_text_response(data) is not None


@pytest.mark.parametrize(
    "data",
    [
        GOOD.replace(b"\n", b"\r\n"),
        GOOD.replace(b"\n", b"\r"),
        GOOD.replace(b"data: ", b"data:"),
        GOOD.replace(b"data: ", b"event: chunk\nid: 7\ndata: "),
        GOOD.replace(b"data: ", b": OPENROUTER PROCESSING\n\ndata: "),
        GOOD.replace(b"\n\n", b"\n\n\n"),
        b"\xef\xbb\xbf" + GOOD,
        b"\n\n" + GOOD,
        GOOD + b"data: {not json\n\n",
        GOOD.replace(b"data: {", b"data: not json\n\ndata: {"),
        GOOD.replace(b'"choices": [{', b'"obfuscation": "\\ud800", "choices": [7, {'),
        GOOD.replace(b', "choices"', b', \ndata: "choices"'),
        GOOD.replace(b"}\n\n", b"}\n"),
        GOOD[:-2],
        GOOD[:-1],
    ],
)
def test_the_framing_of_a_stream_changes_nothing(data: bytes) -> None:
    assert stream(data) == GOOD_RESPONSE


def test_data_after_the_end_mark_is_ignored() -> None:
    assert stream(GOOD + piece({"content": "more"}) + event({"error": {"message": "late"}})) == GOOD_RESPONSE


def test_a_stream_truncated_anywhere_has_the_complete_events() -> None:
    texts = set()
    for length in range(len(GOOD) - len(DONE)):
        response = stream(GOOD[:length], complete=False)
        assert response.ending == ("done" if finish_reason(response) else "cut")
        assert response.usage in (None, USAGE)
        assert response.error is None
        texts.add(output_preview(response))
    assert texts == {None, "Hello", "Hello wörld"}


def test_an_empty_stream_has_no_output() -> None:
    assert stream(b"", complete=False) == Response(ending="cut")
    assert stream(b"") == Response(ending="no_done")


# -- the first token --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("delta", "is_token"),
    [
        ({"role": "assistant", "content": ""}, False),
        ({"role": "assistant", "content": None, "refusal": None}, False),
        ({}, False),
        ({"content": "a"}, True),
        ({"content": " "}, True),
        ({"content": [{"type": "text", "text": "a"}]}, True),
        ({"reasoning": "a"}, True),
        ({"reasoning_content": "a"}, True),
        ({"refusal": "a"}, True),
        ({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": ""}}]}, True),
        ({"audio": {"transcript": "a"}}, True),
        ({"images": [{"type": "image_url", "image_url": {"url": "u"}}]}, True),
    ],
)
def test_a_token_is_anything_generated(delta: dict[str, Any], is_token: bool) -> None:
    data = piece({"role": "assistant"}) + piece(delta)
    assert reading_of(data + DONE).first_token_end == (len(data) if is_token else None)


def test_usage_and_finish_reasons_are_no_tokens() -> None:
    assert reading_of(chunk({}, finish_reason="stop") + event({"choices": [], "usage": USAGE})).first_token_end is None
    assert reading_of(DONE + chunk({"content": "a"})).first_token_end is None


# -- tool calls -------------------------------------------------------------------------------------------------------


def call(index: Any = None, id_: str | None = None, name: str | None = None, arguments: Any = None) -> bytes:
    return chunk({"tool_calls": [{"index": index, "id": id_, "function": {"name": name, "arguments": arguments}}]})


@pytest.mark.parametrize(
    ("frames", "calls"),
    [
        (
            [call(0, "a", "f", ""), call(1, "b", "g", "{"), call(0, arguments='{"x"'), call(1, arguments="}")],
            [("a", "f", '{"x"'), ("b", "g", "{}")],
        ),
        ([call(None, "a", "f", "{"), call(arguments="}"), call(None, "b", "g", "1")],
         [("a", "f", "{}"), ("b", "g", "1")]),
        ([call(0, "a", "f", "1"), call(0, "b", "f", "2")], [("a", "f", "1"), ("b", "f", "2")]),
        ([call(0, "", "f", "1"), call(0, "", "g", "2")], [(None, "f", "1"), (None, "g", "2")]),
        ([call(0, "", "f", "{"), call(0, "", "f", "}")], [(None, "f", "{}")]),
        ([call(0, "a", "f", "{"), call(0, "a", "f", "}")], [("a", "f", "{}")]),
        ([call(0, "a", "f", '{"x":[1'), call(0, "b", None, "]}")], [("a", "f", '{"x":[1]}')]),
    ],
)  # fmt: skip
def test_fragments_are_joined_by_id_index_and_name(frames: list[bytes], calls: list[tuple[Any, ...]]) -> None:
    parts = output_of(b"".join(frames) + DONE).parts
    assert [(part.id, part.name, part.arguments) for part in parts] == calls


def test_calls_of_a_whole_message_need_no_index_and_no_id() -> None:
    calls = [{"function": {"name": "f", "arguments": "1"}}, {"function": {"name": "f", "arguments": {"x": 1}}}]
    assert brief(output_of(whole({"tool_calls": calls})).parts) == [("tool_call", "1"), ("tool_call", '{"x":1}')]


def test_custom_tools_and_the_older_form_of_a_call_are_tool_calls() -> None:
    custom = {"id": "c", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}
    assert output_of(whole({"tool_calls": [custom]})).parts == [
        Part("tool_call", name="sql", id="c", arguments="select 1", type="custom")
    ]
    old = [{"function_call": {"name": "f", "arguments": "{"}}, {"function_call": {"arguments": "}"}}]
    assert output_of(b"".join(map(chunk, old)) + DONE).parts == [
        Part("tool_call", name="f", arguments="{}", type="function_call")
    ]


def test_a_call_keeps_its_other_fields() -> None:
    signed = CALL | {"extra_content": {"google": {"thought_signature": "x"}}}
    for body in (whole({"tool_calls": [signed]}), chunk({"tool_calls": [signed]}) + DONE):
        (part,) = output_of(body).parts
        assert part.other == {"extra_content": {"google": {"thought_signature": "x"}}}


# -- other fields -----------------------------------------------------------------------------------------------------


def test_both_names_of_reasoning_are_read_and_counted_once() -> None:
    deltas = {"reasoning_content": "a"}, {"reasoning": "b"}, {"reasoning": "c", "reasoning_content": "c"}
    assert brief(output_of(b"".join(map(chunk, deltas)) + DONE).parts) == [("reasoning", "abc")]


def test_thinking_parts_are_reasoning() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    content = [thinking, {"type": "text", "text": "yes"}]
    for body in (whole({"content": content}), chunk({"content": content}) + chunk({"content": "!"}) + DONE):
        assert brief(output_of(body).parts)[0] == ("reasoning", "hm")
        assert (output_preview(reading_of(body).response) or "").startswith("yes")


def test_unknown_fields_of_chunks_are_merged() -> None:
    output = output_of(
        piece({"content": "a", "obfuscation": "x"}, logprobs={"content": [1]})
        + piece({"content": "b", "mood": "go"}, logprobs={"content": [2]})
        + piece({"mood": "od", "audio": {"id": "au", "data": "UklGR", "transcript": "ab"}})
        + DONE
    )
    assert output.other == {"logprobs": {"content": [1, 2]}, "mood": "good"}
    assert output.parts == [Part("text", "ab"), Part("audio", "ab", id="au")]


def test_texts_that_each_chunk_repeats_are_not_joined() -> None:
    filtered = {"content_filter_results": {"hate": {"filtered": False, "severity": "safe"}}}
    frames = [piece({"content": text, "channel": "final"}, **filtered) for text in "ab"]
    assert output_of(b"".join(frames) + DONE).other == filtered | {"channel": "final"}


def test_other_fields_of_a_whole_response_are_kept_once() -> None:
    message = {"content": "Hi", "tool_calls": [CALL], "annotations": [{"url": "u"}], "x": None}
    response = reading_of(whole(message, provider="P", citations=["u"])).response
    assert response.other == {
        "object": "chat.completion",
        "system_fingerprint": "fp",
        "provider": "P",
        "citations": ["u"],
    }
    assert response.outputs[0].other == {"annotations": [{"url": "u"}]}
    assert brief(response.outputs[0].parts) == [("text", "Hi"), ("tool_call", '{"x":1}')]


def test_a_text_beside_a_delta_is_not_counted_twice() -> None:
    data = b"".join(chunk({"content": text}, text=text) for text in ("Hel", "lo", ""))  # as Together sends it
    assert characters(stream(data + DONE)) == 5
    assert output_preview(stream(chunk({}, text="Hello") + DONE)) == "Hello"


def test_a_message_beside_a_delta_is_not_counted_twice() -> None:
    data = chunk({"content": "a"}, message={"content": "a"}) + chunk({"content": "b"}, message={"content": "ab"})
    assert output_preview(stream(data + DONE)) == "ab"


def message_stream(*texts: str) -> bytes:
    return b"".join(event({"choices": [{"index": 0, "message": {"content": text}}]}) for text in texts)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("Hello", " wor", "ld", "\n", "\n\n- a"), "Hello world\n\n\n- a"),
        (("", "Hello", "", " world"), "Hello world"),
        (("a", "aa", "b"), "aaab"),
        (("He", "Hello", "Hello world", "Hello world"), "Hello world"),
    ],
)
def test_streamed_messages_are_joined_unless_each_begins_with_the_one_before(
    texts: tuple[str, ...], expected: str
) -> None:
    assert "".join(part.text or "" for part in output_of(message_stream(*texts)).parts) == expected


@pytest.mark.parametrize("reason", ["error", "network_error", "insufficient_system_resource"])
def test_a_finish_reason_can_be_an_error(reason: str) -> None:
    found = stream(chunk({"content": "He"}, finish_reason=reason) + DONE)
    assert found.error == Error(reason, f"The finish reason is {reason}.")


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "reasoning_text"])
def test_reasoning_has_several_names(field: str) -> None:
    """``reasoning_text`` is GitHub Copilot's."""
    data = b"".join(chunk({"content": None, field: text}) for text in ("Let ", "me")) + chunk({"content": "Hi"}) + DONE
    assert output_of(data).parts == [Part("reasoning", "Let me"), Part("text", "Hi")]
    (message,) = request_of({"messages": [{"role": "assistant", "content": "Hi", field: "Let me"}]}).messages
    assert (message.parts, message.other) == ([Part("reasoning", "Let me"), Part("text", "Hi")], {})


def test_a_list_that_chunks_repeat_is_kept_once() -> None:
    """Perplexity repeats its citations. A last chunk may have none."""
    more = [{"citations": ["a"]}, {"citations": ["a", "b"]}, {"citations": []}]
    data = b"".join(event({"choices": [{"index": 0, "delta": {"content": "x"}}]} | fields) for fields in more)
    assert stream(data + DONE).other["citations"] == ["a", "b"]


def test_all_choices_are_counted_and_the_first_is_shown() -> None:
    response = stream(
        chunk({"content": "B1"}, index=1)
        + chunk({"content": "A1"}, index=0)
        + chunk({"content": "B2"}, index=1)
        + chunk({}, index=1, finish_reason="length")
        + chunk({}, index=0, finish_reason="stop")
        + chunk({}, index=2, finish_reason="stop")
        + DONE
    )
    assert (output_preview(response), finish_reason(response), characters(response)) == ("A1", "stop,length", 6)


@pytest.mark.parametrize("index", [-1, 2**31, 2**63, 2**70, "x", "9" * 400, "²", None, True, 1.5, [1]])
def test_a_choice_with_an_odd_index_is_found_by_its_place(index: Any) -> None:
    assert output_of(chunk({"content": "a"}, index=index) + chunk({"content": "b"}, index=index)).parts[0].text == "ab"


def test_the_number_of_choices_is_limited() -> None:
    choices = [{"index": index, "message": {"content": "a", "mood": "good"}} for index in range(1000)]
    assert [output.index for output in reading_of({"choices": choices}).response.outputs] == list(range(128))
    data = b"".join(chunk({"content": "a"}, index) for index in range(1000))
    assert len(stream(data + DONE).outputs) == 128


# -- usage and errors -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "last",
    [
        chunk({}, finish_reason="stop", usage=USAGE),  # Moonshot
        event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "x_groq": {"usage": USAGE}}),
        event({"usage": {"completion_tokens": 1}}) + event({"usage": USAGE}),
    ],
)
def test_usage_is_found_where_providers_send_it(last: bytes) -> None:
    assert stream(piece({"content": "Hello"}) + last + DONE).usage == USAGE


def test_missing_usage_is_unknown() -> None:
    assert stream(chunk({"content": "abcde"}) + DONE).usage is None


def test_an_error_of_groq_fails_the_stream() -> None:
    response = stream(chunk({"content": "Hel"}) + event({"x_groq": {"id": "r", "error": "over_capacity"}}) + DONE)
    assert response.error == Error(None, "over_capacity", "over_capacity")


def test_an_error_of_a_choice_is_read_and_its_text_stays() -> None:
    error = {"code": 502, "message": "Provider failed"}
    for body in (
        HEAD | {"choices": [{"message": {"content": "Hel"}, "finish_reason": "error", "error": error}]},
        chunk({"content": "Hel"}, error=error) + DONE,
    ):
        response = reading_of(body).response
        assert (response.error, output_preview(response)) == (Error("502", "Provider failed", error), "Hel")
    assert stream(chunk({"content": "Hel"}, error=None) + DONE).error is None


def test_only_the_first_error_of_a_stream_is_kept() -> None:
    response = stream(event({"error": {"message": "first"}}) + event({"error": {"message": "second"}}))
    assert response.error is not None
    assert response.error.message == "first"


def test_an_event_with_over_a_million_lists_is_not_parsed() -> None:
    data = b'data: {"error":[' + b"[]," * 1_000_000 + b"[]]}\n\n"
    response = stream(chunk({"content": "a"}) + data + chunk({"content": "b"}) + DONE)
    assert (response.error, output_preview(response), response.ending) == (None, "ab", "done")


# -- messages of a request --------------------------------------------------------------------------------------------


def messages_of(*items: Any) -> list[Message]:
    return request_of({"messages": items}).messages


def test_a_message_has_parts_name_and_other_fields() -> None:
    assert messages_of(
        {"role": "user", "content": "Hi\n there", "name": "ann", "text": "odd", "weight": 0},
        {"role": "assistant", "content": None, "tool_calls": [CALL], "reasoning_content": "hm", "refusal": "no"},
        {"role": "tool", "tool_call_id": "a", "name": "f", "content": "3"},
        {"role": "assistant", "content": "b", "audio": {"id": "au"}},
        "Hi",
    ) == [
        Message("user", [Part("text", "Hi\n there")], "ann", {"text": "odd", "weight": 0}),
        Message(
            "assistant",
            [Part("reasoning", "hm"), Part("refusal", "no"), Part("tool_call", None, "f", "a", '{"x":1}')],
        ),
        Message("tool", [Part("tool_result", "3", id="a")], "f"),
        Message("assistant", [Part("text", "b")], other={"audio": {"id": "au"}}),
        Message("user", [Part("text", "Hi")]),
    ]


def test_a_tool_result_has_all_texts_in_one_part_and_media_after_it() -> None:
    image = {"type": "image_url", "image_url": {"url": "u"}}
    content = [{"type": "text", "text": "a"}, image, {"type": "text", "text": "b"}]
    (message,) = messages_of({"role": "tool", "tool_call_id": "x", "content": content})
    assert [(part.kind, part.text) for part in message.parts] == [("tool_result", "a\nb"), ("image", None)]


def test_custom_calls_and_the_older_form_are_read_from_requests() -> None:
    custom = {"id": "c", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}
    (message,) = messages_of({"role": "assistant", "tool_calls": [custom], "function_call": CALL["function"]})
    assert message.parts == [
        Part("tool_call", None, "sql", "c", "select 1", type="custom"),
        Part("tool_call", None, "f", None, '{"x":1}', type="function_call"),
    ]


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [chunk({"content": "é"}), DONE, b"data: 5\n\n", b": c\n\n", b"data: {}\n", b"\r\n", b"event: error\n"]
        )
    )
)
def test_any_mixture_of_events_is_read(chunks: list[bytes]) -> None:
    check_storable(reading_of(b"".join(chunks)).response)
