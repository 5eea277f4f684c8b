"""Test the Responses API."""

from typing import Any

import pytest
from tests.support.bodies import brief, data_of, event, output_of, reading_of, request_of

from relaybook.apis import match
from relaybook.log.formats import read_request
from relaybook.log.formats.conversation import Error, Message, Output, Part, Response
from relaybook.log.formats.preview import finish_reason, output_preview

RESPONSE: dict[str, Any] = {
    "id": "resp_1",
    "object": "response",
    "model": "gpt-5",
    "status": "completed",
    "service_tier": "flex",
    "output": [
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm."}]},
        {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "Hello"}]},
    ],
    "usage": {"input_tokens": 9, "output_tokens": 4},
}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": "{}"}


def of(kind: str, **fields: Any) -> bytes:
    return event({"type": kind} | fields, kind)


CREATED = of("response.created", response=RESPONSE | {"output": [], "usage": None, "status": "in_progress"})
DELTAS = of("response.output_text.delta", delta="Hel") + of("response.output_text.delta", delta="lo")
COMPLETED = of("response.completed", response=RESPONSE)


def response_of(body: Any, **more: Any) -> Response:
    return reading_of(body, "response", **more).response


def test_a_whole_response_is_one_output() -> None:
    assert response_of(RESPONSE) == Response(
        id="resp_1",
        model="gpt-5",
        outputs=[Output(0, [Part("reasoning", "Hm."), Part("text", "Hello")], "completed")],
        usage=RESPONSE["usage"],
        tier="flex",
        other={"status": "completed", "output": {"0": {"id": "rs_1"}, "1": {"id": "msg_1"}}},
    )


@pytest.mark.parametrize("deltas", [b"", DELTAS])
def test_a_stream_has_the_model_of_its_last_object(deltas: bytes) -> None:
    message = RESPONSE["output"][1]
    added = of("response.output_item.added", output_index=1, item=message | {"content": []}) if deltas else b""
    found = response_of(CREATED + added + deltas + COMPLETED)
    assert found.ending == "done"
    found.ending = None
    found.other["status"] = "completed"
    assert found == response_of(RESPONSE)


def test_a_stream_that_breaks_off_has_its_deltas() -> None:
    found = response_of(CREATED + DELTAS, complete=False)
    assert (output_preview(found), found.ending, found.model, found.usage) == ("Hello", "cut", "gpt-5", None)
    assert finish_reason(found) is None


def test_a_text_whose_index_differs_from_the_whole_item_is_read_once() -> None:
    """vLLM numbers the parts of a stream through all items."""
    item = {"id": "msg_b", "type": "message", "content": []}
    whole = item | {"content": [{"type": "output_text", "text": "Hello"}]}
    at = {"item_id": "msg_b", "output_index": 1, "content_index": 1}
    data = CREATED + of("response.output_item.added", output_index=1, item=item)
    data += of("response.output_text.delta", delta="Hello", **at) + of("response.output_text.done", text="Hello", **at)
    assert output_of(data, "response").parts == [Part("text", "Hello")]
    assert output_of(data + of("response.output_item.done", output_index=1, item=whole), "response").parts == [
        Part("text", "Hello")
    ]


def test_a_summary_that_is_repeated_as_content_is_read_once() -> None:
    """LiteLLM streams the reasoning of a chat model as a summary, and then sends it as the content of the item."""
    streamed = {"type": "reasoning", "id": "rs_a", "summary": [{"type": "summary_text", "text": "Hm"}]}
    whole = {"type": "reasoning", "id": "rs_a", "content": [{"type": "output_text", "text": "Hm"}]}
    data = CREATED + of("response.reasoning_summary_text.delta", delta="Hm", item_id="rs_a", output_index=0)
    data += of("response.output_item.done", item=streamed, output_index=0)
    data += of("response.completed", response=RESPONSE | {"output": [whole]})
    assert output_of(data, "response").parts == [Part("reasoning", "Hm")]


def test_the_screenshot_of_a_computer_is_an_image() -> None:
    output = {"type": "computer_screenshot", "image_url": "data:image/png;base64,iVBORw0KGgo="}
    item = {"type": "computer_call_output", "call_id": "c", "output": output}
    (message,) = read_request(data_of({"input": [item]}), match("POST", "/v1/responses")).messages
    assert [part.kind for part in message.parts] == ["tool_result", "image"]


def test_the_first_token_is_the_first_delta() -> None:
    first = of("response.output_text.delta", delta="Hel")
    assert reading_of(CREATED + DELTAS, "response").first_token_end == len(CREATED + first)
    assert reading_of(CREATED, "response").first_token_end is None


def test_function_calls_are_joined() -> None:
    data = CREATED + of("response.output_item.added", item=CALL | {"arguments": ""})
    data += of("response.function_call_arguments.delta", delta='{"x"')
    data += of("response.function_call_arguments.delta", delta=":1}")
    assert output_preview(response_of(data)) == 'f({"x":1})'


@pytest.mark.parametrize("identity", ["output_index", "item_id"])
def test_arguments_of_parallel_calls_are_joined_by_index_or_id(identity: str) -> None:
    def at(number: int) -> dict[str, Any]:
        return {"item_id": f"fc_{number}"} if identity == "item_id" else {"output_index": number}

    added = [
        of("response.output_item.added", item=CALL | {"id": f"fc_{n}", "name": name, "arguments": ""}, **at(n))
        for n, name in enumerate("fg", 1)
    ]
    deltas = [
        of("response.function_call_arguments.delta", delta=text, **at(n))
        for n, text in ((2, "[2"), (1, "[1"), (2, "]"), (1, "]"))
    ]
    assert output_preview(response_of(CREATED + b"".join([*added, *deltas]))) == "f([1]) g([2])"


@pytest.mark.parametrize(
    ("item", "name", "arguments"),
    [
        ({"type": "shell_call", "action": {"commands": ["ls"]}}, "shell", '{"commands":["ls"]}'),
        ({"type": "apply_patch_call", "operation": {"type": "delete_file"}}, "apply_patch", '{"type":"delete_file"}'),
        ({"type": "code_interpreter_call", "code": "1 + 1"}, "code_interpreter", "1 + 1"),
        ({"type": "file_search_call", "queries": ["tea"], "results": None}, "file_search", '["tea"]'),
        ({"type": "image_generation_call", "result": "AAAA"}, "image_generation", ""),
    ],
)
def test_calls_of_openais_own_tools_are_tool_calls(item: dict[str, Any], name: str, arguments: str) -> None:
    found = response_of(RESPONSE | {"output": [CALL, item | {"id": "x_1"}]})
    assert output_preview(found) == f"f({{}}) {name}({arguments})"
    assert found.outputs[0].parts[1] == Part("tool_call", name=name, id="x_1", arguments=arguments, type=item["type"])


def test_items_of_other_types_are_kept_whole() -> None:
    items = [{"type": "compaction", "id": "c", "encrypted_content": "gAAA"}, {"type": "future", "n": 1}]
    assert output_of(RESPONSE | {"output": items}, "response").parts == [
        Part("other", type="compaction", other=items[0]),
        Part("other", type="future", other=items[1]),
    ]


def test_annotations_of_a_text_are_kept() -> None:
    text = {"type": "output_text", "text": "Hi", "annotations": [{"url": "u"}], "logprobs": []}
    item = {"type": "message", "id": "m", "content": [text]}
    for body in (RESPONSE | {"output": [item]}, of("response.completed", response=RESPONSE | {"output": [item]})):
        assert output_of(body, "response").parts == [Part("text", "Hi", other={"annotations": [{"url": "u"}]})]


def test_failed_and_incomplete_responses_have_a_reason() -> None:
    failed = RESPONSE | {"status": "failed", "error": {"code": "server_error", "message": "Oops"}}
    for body in (failed, CREATED + of("response.failed", response=failed)):
        found = response_of(body)
        assert found.error == Error("server_error", "Oops", failed["error"])
        assert found.ending == ("done" if isinstance(body, bytes) else None)
    incomplete = RESPONSE | {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    for body in (incomplete, of("response.incomplete", response=incomplete)):
        assert finish_reason(response_of(body)) == "max_output_tokens"


@pytest.mark.parametrize(
    "fields", [{"code": "x", "message": "Oops"}, {"error": {"code": "x", "message": "Oops"}}, {"message": "Oops"}]
)
def test_every_shape_of_an_error_event_is_read(fields: dict[str, Any]) -> None:
    found = response_of(CREATED + DELTAS + of("error", **fields))
    assert found.error is not None
    assert (found.error.message, found.ending, output_preview(found)) == ("Oops", "no_done", "Hello")
    assert found.error.code == ("x" if len(fields) == 2 or "error" in fields else None)


def test_items_of_a_request_are_messages() -> None:
    shell = {"type": "local_shell_call", "call_id": "s", "action": {"command": ["date"]}}
    reference = {"type": "item_reference", "id": "msg_1"}
    items = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}], "status": "done"},
        {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "Hm."}]},
        {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "21 °C", "role": None},
        {"type": "custom_tool_call_output", "call_id": "d", "output": [{"type": "input_text", "text": "3 rows"}]},
        {"type": "function_call_output", "call_id": "c", "output": {"a": 1}},
        shell,
        reference,
    ]
    found = request_of({"model": "gpt-5", "instructions": "Be brief.", "input": items}, "response")
    assert found.messages == [
        Message("system", [Part("text", "Be brief.")]),
        Message("user", [Part("text", "Hi")], other={"status": "done"}),
        Message("assistant", [Part("reasoning", "Hm.")], other={"id": "r"}),
        Message("assistant", [Part("tool_call", None, "f", "c", "{}")], other={"id": "fc_1"}),
        Message("tool", [Part("tool_result", "21 °C", id="c")]),
        Message("tool", [Part("tool_result", "3 rows", id="d")]),
        Message("tool", [Part("tool_result", '{"a":1}', id="c")]),
        Message(
            "assistant",
            [Part("tool_call", None, "local_shell", "s", '{"command":["date"]}', type="local_shell_call")],
        ),
        Message(None, [Part("other", type="item_reference", other=reference)]),
    ]
    assert found.parameters == {"model": "gpt-5"}


def test_an_item_with_a_role_but_no_content_keeps_its_type() -> None:
    tools = [{"type": "custom", "name": "exec"}]
    item = {"type": "additional_tools", "role": "developer", "tools": tools}
    (message,) = request_of({"input": [item]}, "response").messages
    assert message == Message("developer", [Part(kind="other", type="additional_tools", other={"tools": tools})])


@pytest.mark.parametrize("instructions", [None, "", 5, {}])
def test_instructions_without_text_are_a_parameter(instructions: Any) -> None:
    found = request_of({"instructions": instructions, "input": "Hi"}, "response")
    assert found.messages == [Message("user", [Part("text", "Hi")])]
    assert found.parameters == {"instructions": instructions}


def test_a_prompt_template_is_a_parameter() -> None:
    body = {"model": "m", "prompt": {"id": "pmpt_1", "variables": {"city": "Oslo"}}}
    found = request_of(body, "response")
    assert (found.parameters, found.messages, found.is_conversation) == (body, [], False)


@pytest.mark.parametrize("conversation", ["conv_1", {"id": "conv_1"}])
def test_a_request_names_what_it_continues(conversation: object) -> None:
    body = {"input": "And?", "previous_response_id": "resp_1", "conversation": conversation}
    found = request_of(body, "response")
    assert (found.previous, found.conversation) == ("resp_1", "conv_1")


def test_billed_searches_are_a_count_of_the_usage() -> None:
    found = response_of(RESPONSE | {"tool_usage": {"web_search": {"num_requests": 2}}})
    assert found.usage == RESPONSE["usage"] | {"web_search_requests": 2}


def test_brief_lists_what_a_stream_said_in_order() -> None:
    data = CREATED
    for kind, fields in (
        ("response.reasoning_summary_text.delta", {"summary_index": 0, "delta": "Su"}),
        ("response.reasoning_summary_text.delta", {"summary_index": 1, "delta": "m"}),
        ("response.refusal.delta", {"content_index": 0, "delta": "No"}),
        ("response.audio.transcript.delta", {"delta": "Hi"}),
    ):
        data += of(kind, output_index=0, **fields)
    assert brief(output_of(data, "response").parts) == [
        ("reasoning", "Su"),
        ("reasoning", "m"),
        ("refusal", "No"),
        ("audio", "Hi"),
    ]


def test_a_request_that_only_counts_tokens_is_no_conversation() -> None:
    body = {"model": "gpt-5", "input": "Hi"}
    counting, asking = (
        read_request(data_of(body), match("POST", path)) for path in ("/v1/responses/input_tokens", "/v1/responses")
    )
    assert (counting.is_conversation, asking.is_conversation) == (False, True)
    assert counting.messages == asking.messages
    reading = reading_of({"object": "response.input_tokens", "input_tokens": 1234}, "response")
    assert (output_preview(reading.response), reading.notes) == ("1,234 input tokens", [])
    assert (reading.response.usage, reading.response.other) == (None, {})


def test_a_compacted_conversation_is_read() -> None:
    items = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]}]
    compaction = {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAAA"}
    body = {
        "id": "resp_1",
        "object": "response.compaction",
        "output": [*items, compaction],
        "usage": {"input_tokens": 9},
    }
    reading = reading_of(body, "response")
    assert [(part.kind, part.type) for part in reading.response.outputs[0].parts] == [
        ("text", None),
        ("other", "compaction"),
    ]
    assert (reading.notes, reading.response.usage) == ([], {"input_tokens": 9})
