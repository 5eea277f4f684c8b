"""Test how requests and responses of Google's Interactions API are read."""

import json
from typing import Any

import pytest
from tests.support.bodies import DONE, brief, event, output_of, reading_of, request_of

from relaybook.log.finish_reasons import finish_of
from relaybook.log.formats.conversation import Media, Message, Part
from relaybook.log.formats.preview import finish_reason
from relaybook.log.formats.usage import counts_of

CALL = {"type": "function_call", "id": "c1", "name": "f", "arguments": {"city": "Zürich"}}
SAID = {"type": "model_output", "content": [{"type": "text", "text": "Sunny.", "annotations": [{"type": "url"}]}]}
THOUGHT = {"type": "thought", "summary": [{"type": "text", "text": "Hm"}], "signature": "x"}
HEAD = {"id": "v1_x", "model": "gemini-3-flash", "status": "in_progress"}


def happened(kind: str, **fields: Any) -> bytes:
    return event({"event_type": kind, "event_id": "e"} | fields, kind)


@pytest.mark.parametrize(
    "value",
    [
        "Hi",
        {"type": "text", "text": "Hi"},
        ["Hi"],
        [{"type": "user_input", "content": [{"type": "text", "text": "Hi"}]}],
    ],
)
def test_the_input_is_a_text_contents_or_steps(value: Any) -> None:
    request = request_of({"model": "gemini-3-flash", "input": value, "system_instruction": "Be brief."}, "interaction")
    assert request.messages == [
        Message("system", [Part("text", text="Be brief.")]),
        Message("user", [Part("text", text="Hi")]),
    ]
    assert (request.model, request.is_conversation) == ("gemini-3-flash", True)
    assert request.parameters == {"model": "gemini-3-flash"}


def test_contents_in_a_row_are_one_message() -> None:
    image = {"type": "image", "data": "AAAA", "mime_type": "image/png", "resolution": "low"}
    file = {"type": "document", "uri": "https://a.org/b.pdf", "mime_type": "application/pdf"}
    (message,) = request_of({"input": [{"type": "text", "text": "Hi"}, image, file]}, "interaction").messages
    assert message.parts == [
        Part("text", text="Hi"),
        Part("image", media=Media("image/png", 3, None, "data:image/png;base64,AAAA"), other={"resolution": "low"}),
        Part("file", media=Media("application/pdf", None, None, "https://a.org/b.pdf")),
    ]


def test_steps_are_messages_and_results_of_functions_are_messages_of_tools() -> None:
    result = {"type": "function_result", "call_id": "c1", "name": "f", "result": {"n": 1}, "is_error": False}
    search = {"type": "google_search_call", "id": "s1", "arguments": {"queries": ["x"]}, "signature": "y"}
    found = {"type": "google_search_result", "call_id": "s1", "result": [{"url": "u"}]}
    steps = [THOUGHT, CALL, result, result | {"result": [{"type": "text", "text": "ok"}]}, search, found, SAID]
    request = request_of({"input": steps, "previous_interaction_id": "v1_w"}, "interaction")
    assert [message.role for message in request.messages] == [
        *("assistant", "assistant", "tool", "tool", "assistant", "assistant", "assistant")
    ]
    assert [message.parts for message in request.messages] == [
        [Part("reasoning", text="Hm", other={"signature": "x"})],
        [Part("tool_call", name="f", id="c1", arguments='{"city":"Zürich"}')],
        [Part("tool_result", name="f", id="c1", text='{"n":1}')],
        [Part("tool_result", name="f", id="c1", text="ok")],
        [
            Part(
                "tool_call",
                name="google_search",
                id="s1",
                arguments='{"queries":["x"]}',
                type="google_search_call",
                other={"signature": "y"},
            )
        ],
        [Part("tool_result", name="google_search", id="s1", text='[{"url":"u"}]', type="google_search_result")],
        [Part("text", text="Sunny.", other={"annotations": [{"type": "url"}]})],
    ]
    assert request.messages[2].other == {"is_error": False}
    assert request.previous == "v1_w"


def test_a_whole_response() -> None:
    usage = {"total_input_tokens": 9, "total_output_tokens": 4, "total_thought_tokens": 3, "total_tokens": 16}
    body = HEAD | {"status": "completed", "steps": [THOUGHT, SAID, CALL], "usage": usage, "created": "t"}
    response = reading_of(body, "interaction").response
    (output,) = response.outputs
    assert brief(output.parts) == [("reasoning", "Hm"), ("text", "Sunny."), ("tool_call", '{"city":"Zürich"}')]
    assert (response.id, response.model, output.finish_reason) == ("v1_x", "gemini-3-flash", "completed")
    assert (response.error, response.other) == (None, {"status": "completed", "created": "t"})
    assert counts_of(usage, "interaction").tokens == (9, 7, None, 3)


def stream() -> list[bytes]:
    def delta(index: int, kind: str, **fields: Any) -> bytes:
        return happened("step.delta", index=index, delta={"type": kind} | fields)

    return [
        happened("interaction.created", interaction=HEAD),
        happened("step.start", index=0, step={"type": "thought"}),
        delta(0, "thought_summary", content={"type": "text", "text": "Look "}),
        delta(0, "thought_summary", content={"type": "text", "text": "up"}),
        delta(0, "thought_signature", signature="x"),
        happened("step.stop", index=0),
        happened("step.start", index=1, step={"type": "model_output"}),
        delta(1, "text", text="Sun"),
        delta(1, "text", text="ny."),
        delta(1, "text_annotation_delta", annotations=[{"type": "url"}]),
        delta(1, "image", data="AAAA", mime_type="image/png"),
        happened("step.start", index=2, step=CALL | {"arguments": {}}),
        delta(2, "arguments_delta", arguments='{"city": "Zü'),
        delta(2, "arguments_delta", arguments='rich"}'),
        happened("step.start", index=3, step={"type": "url_context_call", "id": "u1", "arguments": {}}),
        delta(3, "url_context_call", arguments={"urls": ["u"]}, signature="y"),
        happened(
            "interaction.completed", interaction=HEAD | {"status": "requires_action", "usage": {"total_tokens": 1}}
        ),
    ]


def test_a_stream_is_put_together() -> None:
    reading = reading_of(b"".join(stream()) + DONE, "interaction")
    (output,) = reading.response.outputs
    assert output.parts == [
        Part("reasoning", text="Look up", other={"signature": "x"}),
        Part("text", text="Sunny.", other={"annotations": [{"type": "url"}]}),
        Part("image", media=Media("image/png", 3, None, "data:image/png;base64,AAAA")),
        Part("tool_call", name="f", id="c1", arguments='{"city": "Zürich"}'),
        Part(
            "tool_call",
            name="url_context",
            id="u1",
            arguments='{"urls":["u"]}',
            type="url_context_call",
            other={"signature": "y"},
        ),
    ]
    response = reading.response
    assert (response.ending, response.id, response.usage) == ("done", "v1_x", {"total_tokens": 1})
    assert finish_of(finish_reason(response)) == "tool_calls"
    assert reading.first_token_end == len(b"".join(stream()[:3]))


def test_the_steps_of_the_last_event_replace_those_before() -> None:
    last = happened("interaction.completed", interaction=HEAD | {"status": "completed", "steps": [THOUGHT, SAID]})
    assert brief(output_of(b"".join([*stream()[:9], last]), "interaction").parts) == [
        ("reasoning", "Hm"),
        ("text", "Sunny."),
    ]


@pytest.mark.parametrize("count", [1, 3, 9, 16])
def test_a_stream_that_breaks_off_is_not_done(count: int) -> None:
    for complete in (False, True):
        reading = reading_of(b"".join(stream()[:count]), "interaction", complete=complete)
        assert reading.response.ending == ("no_done" if complete else "cut")


def test_errors_are_read() -> None:
    error = {"code": "resource_exhausted", "message": "Quota exceeded."}
    bodies: list[Any] = [
        b"".join(stream()[:8]) + happened("error", error=error),
        HEAD | {"status": "failed", "steps": [SAID], "error": error},
        {"error": error},
    ]
    for body in bodies:
        found = reading_of(body, "interaction").response.error
        assert found is not None
        assert (found.code, found.message) == ("resource_exhausted", "Quota exceeded.")


@pytest.mark.parametrize("value", [None, 5, [], [None], [[]], [{"type": 5}], [{"type": "new", "x": 1}]])
def test_malformed_steps_are_read(value: Any) -> None:
    assert request_of({"input": value}, "interaction").understood
    reading = reading_of({"id": "x", "status": "completed", "steps": value}, "interaction")
    assert reading.response.error is None


@pytest.mark.parametrize("odd", [{}, [], [1], {"a": 1}, 7, None, True])
def test_types_that_are_no_texts_are_read(odd: Any) -> None:
    for item in ({"type": odd}, {"type": "user_input", "content": [{"type": odd}]}):
        assert request_of(json.dumps({"input": [item]}).encode(), "interaction").understood
    delta = happened("step.delta", index=0, delta={"type": odd})
    assert reading_of(delta + DONE, "interaction").is_known
    whole = {"status": "completed", "steps": [{"type": "model_output", "content": [{"type": odd}]}]}
    assert reading_of(json.dumps(whole).encode(), "interaction", streamed=False).is_known
