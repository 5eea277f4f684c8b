"""Test fine-tuning exports.

Complete, successful conversations of any API are written in the structure of chat. All other requests are counted.
"""

import json
from typing import Any

import pytest
from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolParam
from pydantic import TypeAdapter
from tests.support.api_log import entry_of, record_of
from tests.support.memory_store import MemoryStore

from relaybook.log.export.export import Export, ExportQuery, file_format_of
from relaybook.log.query.filters import Filter
from relaybook.log.store.errors import BodyDamaged
from relaybook.log.store.port import Batch

MESSAGES = TypeAdapter(list[ChatCompletionMessageParam])
TOOLS = TypeAdapter(list[ChatCompletionToolParam])
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
QUESTION = {"role": "user", "content": "How warm is it in Rome?"}


def exported(*entries: Any, store: MemoryStore | None = None) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """Return the exported lines, and the number of omitted requests for each reason."""
    store = store or MemoryStore()
    store.commit(Batch(entries=list(entries)))
    query = ExportQuery(file_format=file_format_of("chat"), filter_=Filter(), end=True)
    *lines, end = [json.loads(line) for line in b"".join(Export(store, query).chunks()).splitlines()]
    assert end["count"] == len(lines)
    for line in lines:
        for message in MESSAGES.validate_python(line["messages"]):
            list(message.get("tool_calls") or ())  # reading ``tool_calls`` also validates the calls
        TOOLS.validate_python(line.get("tools", []))
    return lines, end.get("omitted", {})


def entry(request: dict[str, Any], response: dict[str, Any] | bytes, **fields: Any) -> Any:
    body = response if isinstance(response, bytes) else json.dumps(response).encode()
    return entry_of(record_of(fields.pop("number", 1), **fields), json.dumps(request).encode(), body)


def chat_response(message: dict[str, Any], reason: str = "stop", choices: int = 1) -> dict[str, Any]:
    return {"choices": [{"index": n, "message": message, "finish_reason": reason} for n in range(choices)]}


ANSWER = chat_response({"role": "assistant", "content": "24 °C"})


def test_an_image_is_written_without_the_fields_of_other_apis() -> None:
    cached = {"cache_control": {"type": "ephemeral"}}
    source = {"type": "base64", "media_type": "image/png", "data": "AAAA"}
    request = {
        "max_tokens": 9,
        "messages": [{"role": "user", "content": [{"type": "image", "source": source} | cached]}],
    }
    response = {"content": [{"type": "text", "text": "A dot."}], "stop_reason": "end_turn"}
    shown = {"type": "image_url", "image_url": {"url": "https://example.com/a.png", "detail": "low"}} | cached
    lines, _ = exported(
        entry(request, response, kind="message"),
        entry({"messages": [{"role": "user", "content": [shown]}]}, ANSWER, number=2),
    )
    assert [line["messages"][0]["content"][0]["image_url"] for line in lines] == [
        {"url": "data:image/png;base64,AAAA"},
        {"url": "https://example.com/a.png", "detail": "low"},
    ]


def test_a_chat_request_is_written_as_sent_with_the_response_last() -> None:
    tools = [{"type": "function", "function": {"name": "weather", "parameters": SCHEMA}}]
    messages = [
        {"role": "system", "content": [{"type": "text", "text": "Be short."}]},
        QUESTION | {"name": "ann"},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}]},
    ]
    request = {"model": "gpt-4o", "messages": messages, "tools": tools, "temperature": 0, "parallel_tool_calls": False}
    (line,), omitted = exported(entry(request, ANSWER))
    assert line == {
        # a list of texts and a text are the same content
        "messages": [
            {"role": "system", "content": "Be short."},
            *messages[1:],
            {"role": "assistant", "content": "24 °C"},
        ],
        "tools": tools,
        "parallel_tool_calls": False,
    }
    assert omitted == {}


def test_a_stream_is_assembled() -> None:
    chunks = [
        {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]},
        {"choices": [{"index": 0, "delta": {"content": "24"}}]},
        {"choices": [{"index": 0, "delta": {"content": " °C"}, "finish_reason": "stop"}]},
    ]
    stream = b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks) + b"data: [DONE]\n\n"
    request = {"messages": [QUESTION], "stream": True}
    whole = entry(request, stream, stream=True, stream_ended="done")
    cut = entry(request, stream[:-40], stream=True, stream_ended="cut", number=2)
    (line,), omitted = exported(whole, cut)
    assert line["messages"][-1] == {"role": "assistant", "content": "24 °C"}
    assert omitted == {"incomplete": 1}


def test_tool_calls_are_a_response() -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Rome"}'}}
    response = chat_response({"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls")
    (line,), _ = exported(entry({"messages": [QUESTION]}, response, finish_reason="tool_calls"))
    assert line["messages"][-1] == {"role": "assistant", "content": None, "tool_calls": [call]}


def test_anthropic_messages_are_translated() -> None:
    request = {
        "system": [{"type": "text", "text": "Be short.", "cache_control": {"type": "ephemeral"}}],
        "messages": [
            QUESTION,
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "…", "signature": "x"},
                    {"type": "redacted_thinking", "data": "EmwK"},
                    {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Rome"}},
                ],
            },
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "24"}]},
        ],
        "tools": [{"name": "weather", "description": "The weather", "input_schema": SCHEMA}],
        "max_tokens": 100,
    }
    response = {"type": "message", "content": [{"type": "text", "text": "24 °C"}], "stop_reason": "end_turn"}
    (line,), _ = exported(entry(request, response, kind="message", finish_reason="end_turn"))
    function = {"name": "weather", "arguments": '{"city":"Rome"}'}
    assert line == {
        "messages": [
            {"role": "system", "content": "Be short."},
            QUESTION,
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "toolu_1", "type": "function", "function": function}],
            },
            {"role": "tool", "content": "24", "tool_call_id": "toolu_1"},
            {"role": "assistant", "content": "24 °C"},
        ],
        "tools": [
            {
                "type": "function",
                "function": {"name": "weather", "description": "The weather", "parameters": SCHEMA},
            }
        ],
    }


def test_responses_are_translated() -> None:
    request = {
        "instructions": "Be short.",
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "How warm is it in Rome?"}]},
            {"type": "reasoning", "id": "rs_1", "summary": []},
            {"type": "function_call", "call_id": "call_1", "name": "weather", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "call_1", "output": "24"},
        ],
        "tools": [{"type": "function", "name": "weather", "parameters": SCHEMA, "strict": True}],
    }
    output = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "24 °C"}]}]
    response = {"object": "response", "status": "completed", "output": output}
    simple = {"input": "How warm is it in Rome?"}
    lines, _ = exported(
        entry(request, response, kind="response", finish_reason="completed"),
        entry(simple, response, kind="response", finish_reason="completed", number=2),
    )
    call = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    assert lines[0]["messages"] == [
        {"role": "system", "content": "Be short."},
        QUESTION,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "24"},
        {"role": "assistant", "content": "24 °C"},
    ]
    assert lines[0]["tools"] == [
        {"type": "function", "function": {"name": "weather", "parameters": SCHEMA, "strict": True}}
    ]
    assert lines[1] == {"messages": [QUESTION, {"role": "assistant", "content": "24 °C"}]}


def test_gemini_requests_are_translated() -> None:
    declared = {"name": "weather", "parameters": {"type": "OBJECT", "properties": {"city": {"type": "STRING"}}}}
    calls = [{"functionCall": {"name": name, "args": {"city": "Rome"}}} for name in ("weather", "map", "weather")]
    results = [
        {"functionResponse": {"name": name, "response": {"result": result}}}
        for name, result in (("weather", 24), ("weather", 25), ("map", "x"))
    ]
    request = {
        "systemInstruction": {"parts": [{"text": "Be short."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "How warm is it in Rome?"}]},
            {"role": "model", "parts": [{"text": "…", "thought": True}, *calls]},
            {"role": "user", "parts": results},
        ],
        "tools": [{"functionDeclarations": [declared, {"name": "map", "parametersJsonSchema": SCHEMA}]}],
    }
    content = {"role": "model", "parts": [{"text": "24 °C"}, calls[0]]}
    response = {"candidates": [{"content": content, "finishReason": "STOP"}]}
    (line,), _ = exported(entry(request, response, kind="generate", finish_reason="STOP"))

    def call(call_id: str, name: str = "weather") -> dict[str, Any]:
        return {"id": call_id, "type": "function", "function": {"name": name, "arguments": '{"city":"Rome"}'}}

    assert line["messages"] == [
        {"role": "system", "content": "Be short."},
        QUESTION,
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [call("call_1"), call("call_2", "map"), call("call_3")],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": '{"result":24}'},
        {"role": "tool", "tool_call_id": "call_3", "content": '{"result":25}'},
        {"role": "tool", "tool_call_id": "call_2", "content": '{"result":"x"}'},
        {"role": "assistant", "content": "24 °C", "tool_calls": [call("call_of_response_2")]},
    ]
    assert line["tools"] == [
        {"type": "function", "function": {"name": name, "parameters": SCHEMA}} for name in ("weather", "map")
    ]


@pytest.mark.parametrize("tool", [{"googleSearch": {}}, {"functionDeclarations": [], "codeExecution": {}}])
def test_geminis_own_tools_cannot_be_expressed(tool: dict[str, Any]) -> None:
    request = {"contents": "Hi", "tools": [tool]}
    response = {"candidates": [{"content": {"parts": [{"text": "24 °C"}]}, "finishReason": "STOP"}]}
    assert exported(entry(request, response, kind="generate", finish_reason="STOP"))[0] == []


def test_a_request_that_continues_a_stored_interaction_is_omitted() -> None:
    steps = [{"type": "model_output", "content": [{"type": "text", "text": "24 °C"}]}]
    response = {"id": "v1_x", "status": "completed", "steps": steps}
    request = {"input": "How warm is it in Rome?"}
    fields = {"kind": "interaction", "finish_reason": "completed"}
    lines, omitted = exported(
        entry(request, response, **fields),
        entry(request | {"previous_interaction_id": "v1_w"}, response, **fields, number=2),
    )
    assert lines == [{"messages": [QUESTION, {"role": "assistant", "content": "24 °C"}]}]
    assert omitted == {"not expressible in chat format": 1}


CHAT = {"messages": [QUESTION]}
PDF = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "AAAA"}}
SAID = {"output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "24 °C"}]}]}


def test_images_of_every_api_become_urls() -> None:
    png = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    request = {"messages": [{"role": "user", "content": [png]}], "max_tokens": 5}
    response = {"content": [{"type": "text", "text": "A cat."}]}
    (line,), _ = exported(entry(request, response, kind="message"))
    url = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    assert line["messages"][0] == {"role": "user", "content": [url]}


@pytest.mark.parametrize(
    ("reason", "request_", "response", "fields"),
    [
        ("of other kinds", {"input": "a"}, {"data": []}, {"kind": "embedding"}),
        ("failed", CHAT, {"error": {}}, {"failed": True, "status": 429}),
        ("incomplete", CHAT, ANSWER, {"failed": True, "error_code": "stream_incomplete"}),
        ("incomplete", CHAT, ANSWER, {"outcome": "client_closed"}),
        ("without bodies", CHAT, ANSWER, {"body_state": "no_bodies"}),
        ("incomplete", CHAT, ANSWER, {"finish_reason": "length"}),
        ("incomplete", CHAT, ANSWER, {"finish_reason": "content_filter"}),
        ("incomplete", CHAT, ANSWER, {"finish_reason": "incomplete", "kind": "response"}),
        ("with several responses", CHAT, chat_response({"content": "a"}, choices=2), {}),
        ("without a response", CHAT, {"choices": []}, {}),
        ("without a response", CHAT, chat_response({"content": ""}), {}),
        ("refused by the model", CHAT, chat_response({"content": None, "refusal": "No."}), {}),
        ("not expressible in chat format", {"prompt": "a"}, ANSWER, {}),
        (
            "not expressible in chat format",
            {"input": "a", "previous_response_id": "resp_1"},
            SAID,
            {"kind": "response"},
        ),
        ("not expressible in chat format", {"input": [{"type": "item_reference"}]}, SAID, {"kind": "response"}),
        ("not expressible in chat format", {"input": "a", "tools": [{"type": "mcp"}]}, SAID, {"kind": "response"}),
        (
            "not expressible in chat format",
            {"messages": [{"role": "user", "content": [PDF]}]},
            {"content": [{"type": "text", "text": "A cat."}]},
            {"kind": "message"},
        ),
    ],
)
def test_other_requests_are_omitted_and_counted(
    reason: str, request_: dict[str, Any], response: dict[str, Any], fields: dict[str, Any]
) -> None:
    good = entry(CHAT, ANSWER, number=2)
    lines, omitted = exported(entry(request_, response, **fields), good)
    assert len(lines) == 1
    assert omitted == {reason: 1}


def test_damaged_bodies_are_omitted(monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()

    def damaged(*_: object) -> None:
        raise BodyDamaged("damaged")

    monkeypatch.setattr(store, "body", damaged)
    assert exported(entry(CHAT, ANSWER), store=store) == ([], {"without bodies": 1})
