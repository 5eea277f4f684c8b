"""Test the Messages API of the simulated upstream."""

import json
from typing import Any

import pytest

from relaybook_demo.simulator.apis.anthropic import COUNT_TOKENS, MESSAGES
from relaybook_demo.simulator.directives import NO_DIRECTIVES, Directives
from relaybook_demo.simulator.incoming import Request
from relaybook_demo.simulator.provider import reply_to
from relaybook_demo.simulator.replies import Reply, Stamp

STAMP = Stamp("ab", 0)
KEY = (b"x-api-key", b"sk-ant-test")
TOOLS = [{"name": "weather", "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}}}]
BODY: dict[str, Any] = {
    "model": "claude-haiku-4-5",
    "max_tokens": 4096,
    "messages": [{"role": "user", "content": "Can I get a refund?"}],
}


def send(
    path: str = MESSAGES, key: Any = KEY, method: str = "POST", directives: Directives = NO_DIRECTIVES, **changes: Any
) -> Reply:
    request = Request(method, path.encode(), [key] if key else [])
    request.begin_body()
    body = {name: value for name, value in (BODY | changes).items() if value is not None}
    request.add_body(json.dumps(body).encode())
    return reply_to(request, directives, STAMP)


def message(**changes: Any) -> Any:
    return json.loads(send(**changes).body)


def events(**changes: Any) -> list[Any]:
    found = send(stream=True, **changes).events
    assert found is not None
    decoded = [json.loads(event.data) for event in found]
    assert [event.name.decode() for event in found] == [event["type"] for event in decoded]
    return decoded


def assembled(**changes: Any) -> Any:
    """Return the message that is assembled from the events."""
    start, *rest = events(**changes)
    whole = start["message"]
    for event in rest:
        match event["type"]:
            case "content_block_start":
                whole["content"].append(event["content_block"] | {"partial": ""})
            case "content_block_delta":
                block = whole["content"][event["index"]]
                delta = event["delta"]
                name = "partial" if delta["type"] == "input_json_delta" else delta["type"].removesuffix("_delta")
                block[name] = block.get(name, "") + delta.get("partial_json", delta.get(name))
            case "message_delta":
                whole |= event["delta"]
                whole["usage"] |= event["usage"]
    for block in whole["content"]:
        partial = block.pop("partial")
        if block["type"] == "tool_use":
            block["input"] = json.loads(partial)
    return whole


@pytest.mark.parametrize(
    "changes",
    [{}, {"thinking": {"type": "enabled", "budget_tokens": 1024}}, {"tools": TOOLS}, {"max_tokens": 2}],
    ids=["text", "thinking", "tools", "limit"],
)
def test_the_events_make_the_whole_message(changes: dict[str, Any]) -> None:
    assert assembled(**changes) == message(**changes)


@pytest.mark.parametrize(
    ("changes", "types", "stop_reason"),
    [
        ({}, ["text"], "end_turn"),
        ({"thinking": {"type": "adaptive"}}, ["thinking", "text"], "end_turn"),
        ({"tools": TOOLS}, ["tool_use"], "tool_use"),
        ({"tools": TOOLS, "tool_choice": {"type": "none"}}, ["text"], "end_turn"),
        ({"tools": TOOLS, "tool_choice": {"type": "tool", "name": "weather"}}, ["tool_use"], "tool_use"),
        ({"max_tokens": 2}, ["text"], "max_tokens"),
    ],
)
def test_content_and_stop_reason_follow_the_request(
    changes: dict[str, Any], types: list[str], stop_reason: str
) -> None:
    found = message(**changes)
    assert ([block["type"] for block in found["content"]], found["stop_reason"]) == (types, stop_reason)


def test_a_tool_result_is_answered_with_text() -> None:
    call = {"type": "tool_use", "id": "t", "name": "weather", "input": {"city": "Rome"}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "18 °C"}]}
    messages = [*BODY["messages"], {"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    (block,) = message(messages=messages, tools=TOOLS)["content"]
    assert block["text"] == "Here is what I found: 18 °C"


def test_long_prompts_are_read_from_the_cache() -> None:
    usage = message(system="word " * 2000)["usage"]
    assert usage["cache_read_input_tokens"] > 1024
    assert usage["input_tokens"] < 128


def test_the_number_of_tokens_is_that_of_the_message() -> None:
    usage = message()["usage"]
    counted = json.loads(send(COUNT_TOKENS, max_tokens=None).body)
    assert counted == {"input_tokens": usage["input_tokens"]}


@pytest.mark.parametrize(
    ("changes", "status", "error_type"),
    [
        ({"key": None}, 401, "authentication_error"),
        ({"key": (b"authorization", b"Bearer ")}, 401, "authentication_error"),
        ({"key": (b"x-api-key", b"sk-invalid")}, 401, "authentication_error"),
        ({"method": "GET"}, 405, "invalid_request_error"),
        ({"messages": []}, 400, "invalid_request_error"),
        ({"messages": 5}, 400, "invalid_request_error"),
        ({"max_tokens": None}, 400, "invalid_request_error"),
        ({"model": "gpt-4o"}, 404, "not_found_error"),
        ({"directives": Directives(status=429)}, 429, "rate_limit_error"),
        ({"directives": Directives(status=529)}, 529, "overloaded_error"),
        ({"directives": Directives(status=500)}, 500, "api_error"),
    ],
)
def test_errors_have_anthropics_structure(changes: dict[str, Any], status: int, error_type: str) -> None:
    reply = send(**changes)
    body = json.loads(reply.body)
    assert (reply.status, body["type"], body["error"]["type"]) == (status, "error", error_type)
    assert body["error"]["message"]
    assert reply.request_id_header == b"request-id"


def test_the_list_of_models_has_anthropics_format_if_the_request_has_a_version() -> None:
    version = (b"anthropic-version", b"2023-06-01")
    request = Request("GET", b"/v1/models", [KEY, version])
    listed = json.loads(reply_to(request, NO_DIRECTIVES, STAMP).body)
    assert {"claude-haiku-4-5"} <= {model["id"] for model in listed["data"]}
    assert (listed["first_id"], listed["last_id"]) == (listed["data"][0]["id"], listed["data"][-1]["id"])


def test_a_bearer_token_is_a_key() -> None:
    assert send(key=(b"authorization", b"Bearer sk-ant-test")).status == 200


def test_the_error_event_of_a_stream_has_anthropics_structure() -> None:
    event = send(stream=True).error_event
    assert event is not None
    assert event.name == b"error"
    assert json.loads(event.data)["error"] == {"type": "api_error", "message": "Overloaded"}
