"""Test the facts of responses from the Responses API."""

import json
from typing import Any

import pytest

from relaybook.log import formats
from relaybook.log.formats.responses import first_token_offset, read_stream, read_whole

RESPONSE: dict[str, Any] = {
    "id": "resp_1",
    "object": "response",
    "model": "gpt-5",
    "status": "completed",
    "service_tier": "flex",
    "output": [
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm."}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hello"}]},
    ],
    "usage": {
        "input_tokens": 9,
        "output_tokens": 4,
        "input_tokens_details": {"cached_tokens": 2},
        "output_tokens_details": {"reasoning_tokens": 1},
    },
}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": ""}


def event(kind: str, **more: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind} | more)}\n\n".encode()


CREATED = event("response.created", response=RESPONSE | {"output": [], "usage": None, "status": "in_progress"})
DELTAS = event("response.output_text.delta", delta="Hel") + event("response.output_text.delta", delta="lo")


def test_all_facts_of_a_whole_response_are_extracted() -> None:
    facts = read_whole(json.dumps(RESPONSE).encode())
    assert facts is not None
    assert (facts.response_model, facts.completion_id, facts.finish_reason) == ("gpt-5", "resp_1", "completed")
    assert (facts.input_tokens, facts.output_tokens, facts.cached_tokens, facts.reasoning_tokens) == (9, 4, 2, 1)
    assert (facts.output_preview, facts.output_characters, facts.service_tier) == ("Hello", 8, "flex")
    assert facts.understood


def test_a_streamed_response_has_the_facts_of_its_last_object() -> None:
    facts = read_stream(CREATED + DELTAS + event("response.completed", response=RESPONSE), complete=True)
    plain = read_whole(json.dumps(RESPONSE).encode())
    assert plain is not None
    plain.stream_ended = "done"
    assert facts == plain


def test_a_truncated_stream_shows_its_deltas() -> None:
    facts = read_stream(CREATED + DELTAS, complete=False)
    assert (facts.output_preview, facts.stream_ended, facts.response_model) == ("Hello", "cut", "gpt-5")
    assert facts.input_tokens is None


def test_function_calls_are_shown() -> None:
    data = CREATED + event("response.output_item.added", item=CALL)
    data += event("response.function_call_arguments.delta", delta='{"x"')
    data += event("response.function_call_arguments.delta", delta=":1}")
    assert read_stream(data, complete=True).output_preview == 'ƒ f({"x":1})'
    whole = read_whole(json.dumps(RESPONSE | {"output": [CALL | {"arguments": "{}"}]}).encode())
    assert whole is not None
    assert whole.output_preview == "ƒ f({})"


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
def test_calls_of_openais_own_tools_are_shown(item: dict[str, Any], name: str, arguments: str) -> None:
    data = json.dumps(RESPONSE | {"output": [CALL | {"arguments": "{}"}, item | {"id": "x_1"}]}).encode()
    facts, plain = (
        read_whole(data),
        read_whole(json.dumps(RESPONSE | {"output": [CALL | {"arguments": "{}"}]}).encode()),
    )
    assert facts is not None
    assert plain is not None
    assert facts.output_preview == f"ƒ f({{}}) ƒ {name}({arguments})"
    assert facts.output_keys == plain.output_keys
    (choice,) = formats.assemble_response(data, False, "response")["choices"]
    assert choice["tool_calls"][1] == {"id": "x_1", "type": item["type"], "name": name, "arguments": arguments}


@pytest.mark.parametrize("has_index", [True, False])
def test_arguments_of_parallel_calls_are_joined_by_output_index(has_index: bool) -> None:
    def at(index: int) -> dict[str, int]:
        return {"output_index": index} if has_index else {}

    added = [
        event("response.output_item.added", item=CALL | {"name": name, "call_id": name}, **at(index))
        for index, name in enumerate("fg", 1)
    ]
    deltas = [
        event("response.function_call_arguments.delta", delta=text, **at(index))
        for index, text in ((2, "[2"), (1, "[1"), (2, "]"), (1, "]"))
    ]
    facts = read_stream(CREATED + b"".join([*added, *deltas]), complete=False)
    assert facts.output_preview == ("ƒ f([1]) ƒ g([2])" if has_index else "ƒ f() ƒ g([2[1]])")


def test_failed_and_incomplete_responses_have_a_reason() -> None:
    failed = RESPONSE | {"status": "failed", "error": {"code": "server_error", "message": "Oops"}}
    facts = read_stream(CREATED + event("response.failed", response=failed), complete=True)
    assert (facts.error_code, facts.error_message, facts.has_error) == ("server_error", "Oops", True)
    assert facts.stream_ended == "done"
    whole = read_whole(json.dumps(failed).encode())
    assert whole is not None
    assert (whole.error_code, whole.has_error) == ("server_error", True)
    incomplete = RESPONSE | {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    whole = read_whole(json.dumps(incomplete).encode())
    assert whole is not None
    assert whole.finish_reason == "max_output_tokens"
    for data, streamed in ((json.dumps(incomplete).encode(), False), (event("x", response=incomplete), True)):
        choice = formats.assemble_response(data, streamed, "response")["choices"][0]
        assert choice["finish_reason"] == "max_output_tokens"


def test_both_shapes_of_error_events_are_parsed() -> None:
    for more in ({"code": "x", "message": "Oops"}, {"error": {"code": "x", "message": "Oops"}}):
        facts = read_stream(CREATED + event("error", **more), complete=True)
        assert (facts.error_code, facts.error_message, facts.has_error) == ("x", "Oops", True)
        assert facts.stream_ended == "no_done"


def test_the_first_token_is_the_first_delta() -> None:
    assert first_token_offset(CREATED + DELTAS) == len(CREATED + event("response.output_text.delta", delta="Hel"))
    assert first_token_offset(CREATED) is None


def test_items_of_a_request_have_the_structure_of_chat_messages() -> None:
    shell = {"type": "local_shell_call", "call_id": "s", "action": {"command": ["date"]}}
    body = {
        "model": "gpt-5",
        "instructions": "Be brief.",
        "input": [
            {"role": "user", "content": "Hi"},
            {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c", "output": "21 °C", "role": None},
            shell,
        ],
    }
    data = json.dumps(body).encode()
    function = {"name": "f", "arguments": "{}"}
    call = {"id": "c", "type": "function_call", "function": function}
    assert formats.messages(data, "response") == [
        {"role": "system", "text": "Be brief.", "parts": []},
        {"role": "user", "text": "Hi", "parts": []},
        {"role": "assistant", "text": None, "parts": [], "tool_calls": [call], "other": {"id": "fc_1"}},
        {"role": "tool", "text": "21 °C", "parts": [], "tool_call_id": "c"},
        {"role": None, "text": None, "parts": [], "other": shell},
    ]
    assert formats.parameters(data, "response") == {"model": "gpt-5"}
    hashes = formats.read_request("response", data).message_hashes
    assert hashes is not None
    assert hashes.messages == len(formats.messages(data, "response"))


@pytest.mark.parametrize("instructions", [None, "", 5])
def test_instructions_without_text_are_a_parameter(instructions: Any) -> None:
    data = json.dumps({"instructions": instructions, "input": "Hi"}).encode()
    assert formats.messages(data, "response") == [{"role": "user", "text": "Hi", "parts": []}]
    assert formats.parameters(data, "response") == {"instructions": instructions}
    hashes = formats.read_request("response", data).message_hashes
    assert hashes is not None
    assert hashes.messages == 1
