"""Exchanges of the Responses API of the golden file."""

from collections.abc import Iterator
from typing import Any

from tests.golden.exchange import (
    DONE,
    JSON_HEAD,
    STREAM_HEAD,
    GoldenExchange,
    encode,
    in_chunks,
    joined,
    pieces,
    typed_event,
)

PATH = "/v1/responses"
REQUEST: dict[str, Any] = {"model": "gpt-5", "input": "What is the weather in Zürich?"}
USAGE: dict[str, Any] = {
    "input_tokens": 19,
    "input_tokens_details": {"cached_tokens": 4},
    "output_tokens": 10,
    "output_tokens_details": {"reasoning_tokens": 3},
    "total_tokens": 29,
}
HEAD: dict[str, Any] = {"id": "resp_1", "object": "response", "model": "gpt-5-2025-08-07", "service_tier": "default"}


def said(text: str, *, id_: str = "msg_1", annotations: tuple[Any, ...] = ()) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": list(annotations), "logprobs": []}
    return {"type": "message", "id": id_, "status": "completed", "role": "assistant", "content": [part]}


def thought(*summary: str, **more: Any) -> dict[str, Any]:
    return {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": text} for text in summary],
    } | more


def called(name: str = "get_weather", arguments: str = '{"city": "Zürich"}', call_id: str = "call_1") -> dict[str, Any]:
    return {
        "type": "function_call",
        "id": f"fc_{call_id}",
        "call_id": call_id,
        "name": name,
        "arguments": arguments,
        "status": "completed",
    }


REFUSAL = {
    "type": "message",
    "id": "msg_1",
    "status": "completed",
    "role": "assistant",
    "content": [{"type": "refusal", "refusal": "I cannot."}],
}
CUSTOM = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_2", "name": "sql", "input": "select 1"}
MCP = {"type": "mcp_call", "id": "mcp_1", "name": "roll", "arguments": '{"n":2}', "server_label": "dice", "output": "7"}

OUTPUTS: dict[str, list[dict[str, Any]]] = {
    "text": [said("Sunny, 21 °C.")],
    "unicode": [said("Grüße 😀 \u2028 日本語")],
    "empty": [],
    "two_messages": [said("Sunny."), said("Warm.", id_="msg_2")],
    "summary": [thought("The user asks."), said("Sunny.")],
    "summaries": [thought("First.", "Second."), said("Sunny.")],
    "reasoning_text": [thought(content=[{"type": "reasoning_text", "text": "Hm."}]), said("Sunny.")],
    "encrypted": [thought(encrypted_content="gAAA"), said("Sunny.")],
    "refusal": [REFUSAL],
    "citation": [
        said("See.", annotations=({"type": "url_citation", "url": "https://a.org", "title": "A", "start_index": 0},))
    ],
    "call": [called()],
    "parallel_calls": [called(), called("get_time", '{"zone":"CET"}', "call_2")],
    "call_without_arguments": [called("now", "")],
    "reasoning_and_call": [thought("Look."), called()],
    "text_and_call": [said("I look."), called()],
    "custom": [CUSTOM],
    "web_search": [
        {
            "type": "web_search_call",
            "id": "ws_1",
            "status": "completed",
            "action": {"type": "search", "query": "Zürich"},
        },
        said("Sunny."),
    ],
    "file_search": [{"type": "file_search_call", "id": "fs_1", "queries": ["tea"], "results": None}, said("Tea.")],
    "code_interpreter": [
        {"type": "code_interpreter_call", "id": "ci_1", "code": "1 + 1", "container_id": "c", "outputs": []},
        said("2"),
    ],
    "image": [{"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": "iVBO" * 60}],
    "computer": [
        {
            "type": "computer_call",
            "id": "cu_1",
            "call_id": "call_1",
            "action": {"type": "click", "x": 1, "y": 2},
            "status": "completed",
        }
    ],
    "local_shell": [{"type": "local_shell_call", "id": "ls_1", "call_id": "call_1", "action": {"command": ["date"]}}],
    "shell": [{"type": "shell_call", "id": "sh_1", "call_id": "call_1", "action": {"commands": ["ls"]}}],
    "apply_patch": [
        {
            "type": "apply_patch_call",
            "id": "ap_1",
            "call_id": "call_1",
            "operation": {"type": "delete_file", "path": "a"},
        }
    ],
    "mcp": [{"type": "mcp_list_tools", "id": "ml_1", "server_label": "dice", "tools": []}, MCP, said("7")],
    "mcp_approval": [
        {"type": "mcp_approval_request", "id": "ma_1", "name": "roll", "arguments": "{}", "server_label": "dice"}
    ],
    "tool_search": [
        {"type": "tool_search_call", "id": "ts_1", "call_id": None, "execution": "server", "arguments": {"q": "x"}},
        {"type": "tool_search_output", "id": "to_1", "call_id": None, "execution": "server", "tools": []},
        called(),
    ],
    "compaction": [{"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAA"}, said("Sunny.")],
    "unknown_item": [{"type": "dream", "id": "d_1", "text": "zzz"}, said("Sunny.")],
}

#: Fields of the response.
STATES: dict[str, dict[str, Any]] = {
    "failed": {"status": "failed", "error": {"code": "server_error", "message": "Oops"}},
    "incomplete": {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
    "filtered": {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
    "cancelled": {"status": "cancelled", "usage": None},
    "queued": {"status": "queued", "usage": None, "background": True},
    "tool_usage": {"tool_usage": {"web_search": {"num_requests": 2}}},
}
WITHOUT_OUTPUT = ("failed", "cancelled", "queued")

REQUESTS: dict[str, dict[str, Any]] = {
    "items": {"input": [{"role": "user", "content": "Hi"}]},
    "parts": {"input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]}]},
    "instructions": {
        "instructions": "Be brief.",
        "input": [{"role": "developer", "content": "Metric."}, {"role": "user", "content": "Hi"}],
    },
    "instructions_as_items": {"instructions": [{"role": "system", "content": "Be brief."}]},
    "image": {
        "input": [
            {"role": "user", "content": [{"type": "input_image", "image_url": f"data:image/png;base64,{'AAAA' * 30}"}]}
        ]
    },
    "image_id": {"input": [{"role": "user", "content": [{"type": "input_image", "file_id": "file-1"}]}]},
    "file": {
        "input": [{"role": "user", "content": [{"type": "input_file", "filename": "a.pdf", "file_data": "JVBE" * 9}]}]
    },
    "file_url": {"input": [{"role": "user", "content": [{"type": "input_file", "file_url": "https://a.org/a.pdf"}]}]},
    "call_output": {
        "input": [
            {"role": "user", "content": "Hi"},
            called(),
            {"type": "function_call_output", "call_id": "call_1", "output": "21 °C"},
        ]
    },
    "call_output_parts": {
        "input": [
            called(),
            {"type": "function_call_output", "call_id": "call_1", "output": [{"type": "input_text", "text": "21"}]},
        ]
    },
    "all_items": {
        "input": [
            {"role": "user", "content": "Go"},
            *(
                item
                for output in OUTPUTS.values()
                for item in output
                if item["type"] not in ("image_generation_call", "dream")
            ),
            {"type": "custom_tool_call_output", "call_id": "call_2", "output": "1"},
            {
                "type": "computer_call_output",
                "call_id": "call_1",
                "output": {"type": "computer_screenshot", "file_id": "f"},
            },
            {"type": "local_shell_call_output", "id": "call_1", "output": "Mon"},
            {"type": "shell_call_output", "call_id": "call_1", "output": [{"stdout": "a", "stderr": ""}]},
            {"type": "apply_patch_call_output", "call_id": "call_1", "status": "completed", "output": "ok"},
            {"type": "mcp_approval_response", "approval_request_id": "ma_1", "approve": True},
            {"type": "item_reference", "id": "msg_9"},
        ]
    },
    "previous": {"previous_response_id": "resp_0"},
    "conversation": {"conversation": "conv_1"},
    "conversation_object": {"conversation": {"id": "conv_1"}},
    "prompt": {"input": None, "prompt": {"id": "pmpt_1", "variables": {"city": "Rome"}}},
    "metadata": {"metadata": {"team": "red"}, "user": "u-1", "safety_identifier": "s", "prompt_cache_key": "k"},
    "codex": {
        "instructions": "You are Codex.",
        "input": [
            {"type": "additional_tools", "role": "developer", "tools": [{"type": "function", "name": "exec"}]},
            {"type": "configuration_update", "reasoning": {"effort": "high"}},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Fix it."}]},
        ],
        "store": False,
    },
    "no_input": {"input": None},
    "wrong_types": {"input": 5, "model": []},
}


def body(output: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return (
        HEAD
        | {"status": "completed", "error": None, "incomplete_details": None, "output": output, "usage": USAGE}
        | more
    )


def item_events(index: int, item: dict[str, Any]) -> Iterator[bytes]:
    """Yield the events of an output item."""
    at: dict[str, Any] = {"output_index": index, "item_id": item["id"]}
    empty = {name: value for name, value in item.items() if name not in ("result", "code", "output")} | {
        "status": "in_progress"
    }
    empty |= {
        name: kind()
        for name, kind in (("content", list), ("summary", list), ("arguments", str), ("input", str))
        if isinstance(item.get(name), kind)
    }
    yield typed_event("response.output_item.added", output_index=index, item=empty)
    for number, part in enumerate(item.get("content") or ()):
        kind = part["type"]
        name = "refusal" if kind == "refusal" else "text"
        where = at | {"content_index": number}
        event = f"response.{kind}"
        yield typed_event("response.content_part.added", part=part | {name: ""}, **where)
        for piece in pieces(part[name]):
            yield typed_event(f"{event}.delta", delta=piece, **where)
        for annotation in part.get("annotations") or ():
            yield typed_event(
                "response.output_text.annotation.added", annotation=annotation, annotation_index=0, **where
            )
        yield typed_event(f"{event}.done", **{name: part[name]}, **where)
        yield typed_event("response.content_part.done", part=part, **where)
    for number, part in enumerate(item.get("summary") or ()):
        where = at | {"summary_index": number}
        yield typed_event("response.reasoning_summary_part.added", part=part | {"text": ""}, **where)
        for piece in pieces(part["text"]):
            yield typed_event("response.reasoning_summary_text.delta", delta=piece, **where)
        yield typed_event("response.reasoning_summary_text.done", text=part["text"], **where)
        yield typed_event("response.reasoning_summary_part.done", part=part, **where)
    for field, kind in (("arguments", "function_call"), ("arguments", "mcp_call"), ("input", "custom_tool_call")):
        if item["type"] == kind:
            event = f"response.{kind}_{field}"
            for piece in pieces(item[field]):
                yield typed_event(f"{event}.delta", delta=piece, **at)
            yield typed_event(f"{event}.done", **{field: item[field]}, **at)
    if item["type"] == "code_interpreter_call":
        yield typed_event("response.code_interpreter_call_code.delta", delta=item["code"], **at)
        yield typed_event("response.code_interpreter_call_code.done", code=item["code"], **at)
    if item["type"] in ("web_search_call", "file_search_call"):
        for state in ("in_progress", "searching", "completed"):
            yield typed_event(f"response.{item['type']}.{state}", **at)
    if item["type"] == "image_generation_call":
        yield typed_event(
            "response.image_generation_call.partial_image", partial_image_b64="iVBO", partial_image_index=0, **at
        )
    yield typed_event("response.output_item.done", output_index=index, item=item)


def stream_of(output: list[dict[str, Any]], **more: Any) -> tuple[bytes, ...]:
    """Return the events of a streamed response, one per chunk."""
    final = body(output, **more)
    started = final | {"status": "in_progress", "output": [], "usage": None, "error": None, "incomplete_details": None}
    events = [typed_event(f"response.{name}", response=started) for name in ("created", "in_progress")]
    for index, item in enumerate(output):
        events += item_events(index, item)
    return (*events, typed_event(f"response.{final['status']}", response=final))


def exchanges() -> Iterator[GoldenExchange]:
    streaming = encode(REQUEST | {"stream": True})
    for name, output in OUTPUTS.items():
        yield GoldenExchange(f"response/whole/{name}", PATH, encode(REQUEST), (encode(body(output)),))
        yield stream(name, stream_of(output))
    for name, state in STATES.items():
        output = [] if name in WITHOUT_OUTPUT else [said("Sunny and")]
        yield GoldenExchange(f"response/whole/{name}", PATH, encode(REQUEST), (encode(body(output, **state)),))
        if name != "queued":
            yield stream(name, stream_of(output, **state))
    for name, fields in REQUESTS.items():
        answer = encode(body([said("Sunny.")]))
        yield GoldenExchange(f"response/request/{name}", PATH, encode(REQUEST | fields), (answer,))
    error = encode({"error": {"message": "Bad", "type": "invalid_request_error", "param": "input", "code": "bad"}})
    yield GoldenExchange("response/error/invalid", PATH, streaming, (error,), status=400)
    yield from _streams()


def stream(name: str, data: bytes | tuple[bytes, ...], **fields: Any) -> GoldenExchange:
    chunks = data if isinstance(data, tuple) else (data,)
    made: dict[str, Any] = {"response_head": STREAM_HEAD} | fields
    return GoldenExchange(f"response/stream/{name}", PATH, encode(REQUEST | {"stream": True}), chunks, **made)


def _streams() -> Iterator[GoldenExchange]:
    """Yield streams that are framed, split, cut or reported in unusual ways."""
    output = [thought("Look."), said("Sunny, 21 °C."), called()]
    events = stream_of(output)
    good = joined(events)
    yield stream("with_done", good + DONE)
    yield stream("crlf", good.replace(b"\n", b"\r\n"))
    yield stream("chunks_of_50", in_chunks(good, 50))
    yield stream("no_event_names", joined(event.partition(b"\n")[2] for event in events))
    yield stream("labelled_as_json", good, response_head=JSON_HEAD)
    reset = {"outcome": "upstream_failed", "error": ("upstream_reset", "The upstream closed the connection.")}
    for count in (1, 2, 5, 8, 14, len(events) - 2, len(events) - 1):
        yield stream(f"cut_after_{count}_events", joined(events[:count]), **reset)
    yield stream("no_end", joined(events[:-1]))
    yield stream("client_gone", joined(events[:12]), outcome="client_closed")
    yield stream("client_gone_at_completed", good, outcome="client_closed")
    without_deltas = joined(event for event in events if b".delta\n" not in event)
    yield stream("no_deltas", without_deltas)
    empty = typed_event("response.completed", response=body([]))
    yield stream("completed_without_output", joined(events[:-1]) + empty)
    yield stream(
        "completed_without_output_or_deltas", joined(event for event in events[:-1] if b".delta\n" not in event) + empty
    )
    yield stream("only_deltas", joined(event for event in events if b".delta\n" in event))
    for name, fields in (
        ("error", {"code": "server_error", "message": "Oops", "param": None}),
        ("error_object", {"error": {"type": "server_error", "code": "x", "message": "Oops"}}),
    ):
        yield stream(name, joined(events[:8]) + typed_event("error", **fields))
    interleaved = [
        event
        for pair in zip(item_events(0, called()), item_events(1, called("f", '{"b": [1, 2]}', "call_2")), strict=False)
        for event in pair
    ]
    yield stream("calls_interleaved_and_cut", (events[0], *interleaved[:8]), **reset)
