"""Test Cohere's API of the simulated upstream."""

import base64
import json
import struct
from typing import Any

import pytest

from relaybook_demo.simulator.directives import NO_DIRECTIVES, Directives
from relaybook_demo.simulator.incoming import Request
from relaybook_demo.simulator.provider import reply_to
from relaybook_demo.simulator.replies import Reply, Stamp

STAMP = Stamp("ab", 0)
KEY = (b"Authorization", b"Bearer co-test")
CHAT: dict[str, Any] = {
    "model": "command-a-03-2025",
    "messages": [{"role": "user", "content": "Can I get a refund?"}],
}
TOOLS = [
    {
        "type": "function",
        "function": {"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}},
    }
]


def send(path: str, body: Any, key: Any = KEY, method: str = "POST", directives: Directives = NO_DIRECTIVES) -> Reply:
    request = Request(method, path.encode(), [key] if key else [])
    request.begin_body()
    request.add_body(body if isinstance(body, bytes) else json.dumps(body).encode())
    return reply_to(request, directives, STAMP)


def chat(directives: Directives = NO_DIRECTIVES, **changes: Any) -> Any:
    return json.loads(send("/v2/chat", CHAT | changes, directives=directives).body)


def assembled(**changes: Any) -> Any:
    """Return the response that is assembled from the events of a stream."""
    *events, done = send("/v2/chat", {**CHAT, "stream": True, **changes}).events or ()
    assert done.data == b"[DONE]"
    response: Any = {}
    for event in events:
        data = json.loads(event.data)
        assert data["type"] == event.name.decode()
        delta = data.get("delta", {})
        message = response.get("message", {})
        match data["type"]:
            case "message-start":
                response |= {"id": data["id"], **delta}
            case "content-start":
                message.setdefault("content", []).append(delta["message"]["content"])
            case "content-delta":
                for name, text in delta["message"]["content"].items():
                    message["content"][data["index"]][name] += text
            case "tool-plan-delta":
                message["tool_plan"] = message.get("tool_plan", "") + delta["message"]["tool_plan"]
            case "tool-call-start":
                message.setdefault("tool_calls", []).append(delta["message"]["tool_calls"])
            case "tool-call-delta":
                arguments = delta["message"]["tool_calls"]["function"]["arguments"]
                message["tool_calls"][data["index"]]["function"]["arguments"] += arguments
            case "message-end":
                response |= delta
    return response


@pytest.mark.parametrize(
    ("changes", "kinds", "reason"),
    [
        ({}, ["text"], "COMPLETE"),
        ({"thinking": {"type": "enabled", "token_budget": 100}}, ["thinking", "text"], "COMPLETE"),
        ({"thinking": {"type": "disabled"}}, ["text"], "COMPLETE"),
        ({"max_tokens": 2}, ["text"], "MAX_TOKENS"),
        ({"max_tokens": 0}, [], "MAX_TOKENS"),
        ({"tools": TOOLS}, ["weather"], "TOOL_CALL"),
        ({"tools": TOOLS, "tool_choice": "REQUIRED"}, ["weather"], "TOOL_CALL"),
        ({"tools": TOOLS, "tool_choice": "NONE"}, ["text"], "COMPLETE"),
    ],
)
def test_whole_and_streamed_messages_follow_the_request(changes: dict[str, Any], kinds: list[str], reason: str) -> None:
    whole = chat(**changes)
    message = whole["message"]
    names = [call["function"]["name"] for call in message.get("tool_calls", ())]
    assert ([block["type"] for block in message.get("content", ())] + names, whole["finish_reason"]) == (kinds, reason)
    assert ("tool_plan" in message) == bool(names)
    assert assembled(**changes) == whole


def test_a_tool_result_is_answered_with_text() -> None:
    (call,) = chat(tools=TOOLS)["message"]["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == {"city": "Can I get a refund?"}
    answered = [
        *CHAT["messages"],
        {"role": "assistant", "tool_calls": [call], "tool_plan": "I will look."},
        {"role": "tool", "tool_call_id": call["id"], "content": [{"type": "text", "text": "18 °C"}]},
    ]
    (block,) = chat(messages=answered, tools=TOOLS)["message"]["content"]
    assert block["text"] == "Here is what I found: 18 °C"


def test_a_format_gets_json() -> None:
    schema = {"type": "object", "properties": {"count": {"type": "integer"}}}
    (block,) = chat(response_format={"type": "json_object", "json_schema": schema})["message"]["content"]
    assert json.loads(block["text"]) == {"count": 1}


def test_the_tokens_around_messages_are_not_billed() -> None:
    usage = chat()["usage"]
    assert usage["billed_units"]["input_tokens"] == usage["tokens"]["input_tokens"] - 7
    assert usage["billed_units"]["output_tokens"] == usage["tokens"]["output_tokens"] > 10
    assert usage["cached_tokens"] == 0
    assert chat(messages=[{"role": "user", "content": "word " * 2000}])["usage"]["cached_tokens"] > 1024
    assert "usage" not in chat(Directives(usage="missing"))
    assert chat(Directives(usage="null"))["usage"] is None


def test_embeddings_depend_on_the_text_only() -> None:
    body = {"model": "embed-v4.0", "texts": ["a", "b"], "input_type": "search_document", "output_dimension": 4}
    listed = json.loads(send("/v1/embed", body).body)
    by_type = json.loads(send("/v2/embed", {**body, "embedding_types": ["float", "base64"]}).body)
    assert (listed["response_type"], by_type["response_type"]) == ("embeddings_floats", "embeddings_by_type")
    assert listed["embeddings"] == by_type["embeddings"]["float"]
    decoded = [list(struct.unpack("<4f", base64.b64decode(text))) for text in by_type["embeddings"]["base64"]]
    assert decoded == listed["embeddings"]
    assert by_type["meta"]["billed_units"] == {"input_tokens": 2}
    inputs = [{"content": [{"type": "text", "text": "b"}]}]
    single = json.loads(send("/v2/embed", {"model": "embed-v4.0", "inputs": inputs, "output_dimension": 4}).body)
    assert single["embeddings"]["float"] == [listed["embeddings"][1]]


@pytest.mark.parametrize("path", ["/v1/rerank", "/v2/rerank"])
def test_documents_with_more_words_of_the_query_come_first(path: str) -> None:
    documents = ["coffee", "Green tea", {"text": "green"}]
    body = {"model": "rerank-v3.5", "query": "green tea", "documents": documents, "top_n": 2}
    results = json.loads(send(path, body).body)["results"]
    assert [(result["index"], result["relevance_score"]) for result in results] == [(1, 1.0), (2, 0.5)]


@pytest.mark.parametrize(
    ("path", "body", "key", "method", "status"),
    [
        ("/v2/chat", CHAT, None, "POST", 401),
        ("/v2/chat", CHAT, (b"Authorization", b"Bearer sk-invalid"), "POST", 401),
        ("/v2/chat", CHAT, KEY, "GET", 405),
        ("/v2/chat", b"{", KEY, "POST", 400),
        ("/v2/chat", b"\xff", KEY, "POST", 400),
        ("/v2/chat", {}, KEY, "POST", 400),
        ("/v2/chat", {**CHAT, "messages": []}, KEY, "POST", 400),
        ("/v2/chat", {**CHAT, "model": "gpt-4o"}, KEY, "POST", 404),
        ("/v2/embed", {"model": "embed-v4.0"}, KEY, "POST", 400),
        ("/v2/rerank", {"model": "rerank-v3.5", "query": "tea"}, KEY, "POST", 400),
    ],
)
def test_errors_have_coheres_structure(path: str, body: Any, key: Any, method: str, status: int) -> None:
    reply = send(path, body, key, method)
    assert (reply.status, list(json.loads(reply.body)), reply.request_id_header) == (
        status,
        ["message"],
        b"x-debug-trace-id",
    )


@pytest.mark.parametrize("status", [400, 429, 500, 502])
def test_a_status_directive_gets_an_error_in_coheres_format(status: int) -> None:
    reply = send("/v2/chat", CHAT, directives=Directives(status=status))
    assert (reply.status, list(json.loads(reply.body))) == (status, ["message"])


def test_the_error_event_of_a_stream_ends_the_message() -> None:
    event = send("/v2/chat", CHAT).error_event
    assert event is not None
    assert json.loads(event.data)["delta"] == {"error": "internal server error", "finish_reason": "ERROR"}
    events = send("/v2/chat", {**CHAT, "stream": True}).events or []
    assert [event.name for event in events if event.is_end_mark] == [b"message-end", b""]
