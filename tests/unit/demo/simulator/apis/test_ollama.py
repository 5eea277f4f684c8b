"""Test Ollama's API of the simulated upstream."""

import json
from typing import Any

import pytest

from relaybook_demo.simulator.directives import NO_DIRECTIVES, Directives
from relaybook_demo.simulator.incoming import Request
from relaybook_demo.simulator.provider import reply_to
from relaybook_demo.simulator.replies import Reply, Stamp

STAMP = Stamp("ab", 0)
MESSAGES = [{"role": "user", "content": "Can I get a refund?"}]
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "weather",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}},
        },
    }
]
CHAT: dict[str, Any] = {"model": "llama3.2", "messages": MESSAGES}
GENERATE: dict[str, Any] = {"model": "llama3.2", "prompt": "Can I get a refund?"}


def send(path: str, body: Any, method: str = "POST", directives: Directives = NO_DIRECTIVES) -> Reply:
    request = Request(method, f"/api/{path}".encode())
    request.begin_body()
    request.add_body(body if isinstance(body, bytes) else json.dumps(body).encode())
    return reply_to(request, directives, STAMP)


def whole(path: str, body: dict[str, Any], directives: Directives = NO_DIRECTIVES) -> Any:
    return json.loads(send(path, {**body, "stream": False}, directives=directives).body)


def lines(path: str, body: dict[str, Any], directives: Directives = NO_DIRECTIVES) -> list[Any]:
    reply = send(path, body, directives=directives)
    assert (reply.stream_format, reply.content_type) == ("ndjson", b"application/x-ndjson")
    return [json.loads(event.data) for event in reply.events or ()]


def assembled(pieces: list[Any]) -> Any:
    """Return the response that is assembled from the lines of a stream."""
    assert [piece["done"] for piece in pieces] == [False] * (len(pieces) - 1) + [True]
    response: Any = {}
    message: Any = {}
    for piece in pieces:
        part = piece.pop("message", None) or piece
        for name in ("content", "response", "thinking"):
            if name in part:
                message[name] = message.get(name, "") + part.pop(name)
        if "tool_calls" in part:
            message.setdefault("tool_calls", []).extend(part.pop("tool_calls"))
        if "role" in part:
            message["role"] = part.pop("role")
        response |= piece
    return {**response, "message": message} if "role" in message else {**response, **message}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("chat", CHAT),
        ("chat", {**CHAT, "think": True}),
        ("chat", {**CHAT, "tools": TOOLS}),
        ("chat", {**CHAT, "options": {"num_predict": 2}}),
        ("generate", GENERATE),
        ("generate", {**GENERATE, "think": "high", "system": "Be brief."}),
    ],
    ids=["chat", "thinking", "tools", "limit", "generate", "generate with thinking"],
)
def test_the_lines_of_a_stream_make_the_whole_response(path: str, body: dict[str, Any]) -> None:
    assert assembled(lines(path, body)) == whole(path, body)


def test_chat_and_generate_give_the_same_text_and_usage() -> None:
    chat, generated = whole("chat", CHAT), whole("generate", GENERATE)
    assert chat["message"] == {"role": "assistant", "content": generated["response"]}
    assert "refund" in generated["response"]
    assert (chat["prompt_eval_count"], chat["eval_count"]) == (
        generated["prompt_eval_count"],
        generated["eval_count"],
    )
    assert chat["eval_count"] > 10


@pytest.mark.parametrize(
    ("changes", "keys", "reason"),
    [
        ({}, {"content"}, "stop"),
        ({"think": True}, {"content", "thinking"}, "stop"),
        ({"think": False}, {"content"}, "stop"),
        ({"tools": TOOLS}, {"content", "tool_calls"}, "stop"),
        ({"options": {"num_predict": 2}}, {"content"}, "length"),
        ({"options": {"num_predict": -1}}, {"content"}, "stop"),
    ],
)
def test_message_and_reason_follow_the_request(changes: dict[str, Any], keys: set[str], reason: str) -> None:
    response = whole("chat", {**CHAT, **changes})
    assert (set(response["message"]) - {"role"}, response["done_reason"]) == (keys, reason)


def test_arguments_of_tool_calls_are_objects() -> None:
    (call,) = whole("chat", {**CHAT, "tools": TOOLS})["message"]["tool_calls"]
    arguments = {"city": "Can I get a refund?", "days": 1}
    assert call == {"id": "call_ab0", "function": {"index": 0, "name": "weather", "arguments": arguments}}


def test_a_tool_result_is_answered_with_text() -> None:
    call = {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "weather", "arguments": {}}}]}
    result = {"role": "tool", "content": "18 °C", "tool_name": "weather"}
    message = whole("chat", {**CHAT, "messages": [*MESSAGES, call, result], "tools": TOOLS})["message"]
    assert message == {"role": "assistant", "content": "Here is what I found: 18 °C"}


def test_images_count_no_tokens() -> None:
    image = {"role": "user", "content": "Can I get a refund?", "images": ["AAAA" * 50_000]}
    assert whole("chat", {**CHAT, "messages": [image]}) == whole("chat", CHAT)
    assert whole("generate", {**GENERATE, "images": ["AAAA"]}) == whole("generate", GENERATE)


def test_a_format_gets_json() -> None:
    schema = {"type": "object", "properties": {"count": {"type": "integer"}}}
    assert json.loads(whole("chat", {**CHAT, "format": schema})["message"]["content"]) == {"count": 1}
    assert list(json.loads(whole("generate", {**GENERATE, "format": "json"})["response"])) == ["answer"]


@pytest.mark.parametrize(("path", "field"), [("chat", "message"), ("generate", "response")])
def test_a_request_without_a_prompt_loads_the_model(path: str, field: str) -> None:
    response = json.loads(send(path, {"model": "llama3.2"}).body)
    assert (response["done"], response["done_reason"]) == (True, "load")
    assert field in response


def test_embeddings_depend_on_the_text_only() -> None:
    batch = whole("embed", {"model": "nomic-embed-text", "input": ["a", "b"], "dimensions": 16})
    assert batch["embeddings"][1] == whole("embeddings", {"model": "nomic-embed-text", "prompt": "b"})["embedding"]
    assert batch["embeddings"][0] != batch["embeddings"][1]
    assert batch["prompt_eval_count"] == 2
    assert len(whole("embed", {"model": "nomic-embed-text", "input": "a", "dimensions": 3})["embeddings"][0]) == 3


def test_every_listed_model_exists() -> None:
    listed = json.loads(send("tags", b"", "GET").body)["models"]
    assert "llama3.2:latest" in [model["model"] for model in listed]
    for model in listed:
        shown = json.loads(send("show", {"model": model["model"]}).body)
        assert shown["details"] == model["details"]
    assert json.loads(send("ps", b"", "GET").body)["models"][0]["model"] in [model["model"] for model in listed]
    assert json.loads(send("version", b"", "GET").body)["version"]


@pytest.mark.parametrize(
    ("path", "method", "body", "status", "error"),
    [
        ("chat", "POST", b"{", 400, None),
        ("chat", "POST", b"\xff", 400, None),
        ("chat", "POST", {"model": "llama3.2", "messages": 5}, 400, None),
        ("chat", "POST", {}, 400, "model is required"),
        ("generate", "POST", {"model": "nothing:7b"}, 404, "model 'nothing:7b' not found"),
        ("show", "POST", {"model": "nothing"}, 404, "model 'nothing' not found"),
        ("chat", "GET", {}, 405, None),
        ("tags", "POST", {}, 405, None),
        ("nothing", "POST", {}, 404, None),
    ],
)
def test_errors_are_texts(path: str, method: str, body: Any, status: int, error: str | None) -> None:
    reply = send(path, body, method)
    found = json.loads(reply.body)
    assert (reply.status, list(found), reply.request_id_header) == (status, ["error"], None)
    assert found["error"] == error if error else isinstance(found["error"], str)


@pytest.mark.parametrize("status", [400, 429, 500, 502])
def test_a_status_directive_gets_an_error_in_ollamas_format(status: int) -> None:
    reply = send("chat", CHAT, directives=Directives(status=status))
    assert (reply.status, list(json.loads(reply.body))) == (status, ["error"])


def test_directives_change_the_usage_the_text_and_the_end() -> None:
    assert "eval_count" not in whole("chat", CHAT, Directives(usage="missing"))
    assert whole("chat", CHAT, Directives(usage="null"))["eval_count"] is None
    assert whole("chat", CHAT, Directives(answer_tokens=4))["message"]["content"] == "The lantern keeps a"
    assert json.loads(send("chat", CHAT, directives=Directives(stream=False)).body)["done"] is True
    events = send("chat", CHAT).events or []
    assert [event.is_end_mark for event in events] == [False] * (len(events) - 1) + [True]


def test_the_error_in_a_stream_is_a_text() -> None:
    event = send("chat", CHAT).error_event
    assert event is not None
    assert list(json.loads(event.data)) == ["error"]
