"""Write responses of the Responses API, as one JSON body or as typed events."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from relaybook_demo.simulator import texts
from relaybook_demo.simulator.apis.completions import fixed_tokens, resolve_alias
from relaybook_demo.simulator.directives import Directives
from relaybook_demo.simulator.generation import Completion, ToolCall, cached_tokens, complete_chat
from relaybook_demo.simulator.replies import EVENT_STREAM, Event, Reply, Stamp, encode_json, json_reply
from relaybook_demo.simulator.requests import (
    ChatRequest,
    Function,
    InputItem,
    Message,
    ResponsesRequest,
    ResponsesTool,
    Tool,
    last_user_text,
    text_of,
)

#: The only parameter of a custom tool. Its input is a text.
_CUSTOM: Final = {"properties": {"input": {"type": "string"}}}


def respond(request: ResponsesRequest, directives: Directives, stamp: Stamp) -> Reply:
    """Return the response to a valid request."""
    prompt = request.input if isinstance(request.input, str) else last_user_text(request.input)
    completion = complete_chat(_chat_request(request), 0, fixed_tokens(directives))
    custom = {tool.name for tool in _tools(request) if tool.type == "custom"}
    response = _response(request, completion, custom, texts.count_tokens(prompt) + 7, stamp)
    if bool(request.stream) if directives.stream is None else directives.stream:
        return Reply(content_type=EVENT_STREAM, events=_number_events(_typed_events(response, completion)))
    if directives.usage is not None:
        response |= {"usage": None}
    if directives.usage == "missing":
        del response["usage"]
    return json_reply(response, output_tokens=completion.output_tokens)


def _chat_request(request: ResponsesRequest) -> ChatRequest:
    """Return the same request as a chat request. Outputs of tools become messages of role ``tool``."""
    items = [InputItem("user", request.input)] if isinstance(request.input, str) else request.input
    choice = request.tool_choice
    name = choice.get("name") if isinstance(choice, dict) else None
    return ChatRequest(
        messages=[_chat_message(item) for item in items if item.type not in ("reasoning", "additional_tools")],
        model=request.model,
        max_completion_tokens=request.max_output_tokens,
        tools=[
            Tool(function=Function(tool.name, _CUSTOM if tool.type == "custom" else tool.parameters))
            for tool in _tools(request)
        ],
        tool_choice={"function": {"name": name}} if name else choice,
        parallel_tool_calls=request.parallel_tool_calls,
    )


def _chat_message(item: InputItem) -> Message:
    return Message("tool", text_of(item.output)) if item.type.endswith("_call_output") else item


def _tools(request: ResponsesRequest) -> list[ResponsesTool]:
    """Return the functions and custom tools of a request: those in ``tools``, in namespaces and in input items."""
    items = [] if isinstance(request.input, str) else request.input
    given = [*(request.tools or ()), *(tool for item in items for tool in item.tools or ())]
    flat = [tool for each in given for tool in (each.tools or () if each.type == "namespace" else (each,))]
    return [tool for tool in flat if tool.type in ("function", "custom")]


def _response(
    request: ResponsesRequest, completion: Completion, custom: set[str], input_tokens: int, stamp: Stamp
) -> dict[str, Any]:
    is_truncated = completion.finish_reason == "length"
    return {
        "id": f"resp_{stamp.unique}",
        "object": "response",
        "created_at": stamp.created,
        "status": "incomplete" if is_truncated else "completed",
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if is_truncated else None,
        "instructions": None,
        "metadata": request.metadata or {},
        "model": resolve_alias(request.model or ""),
        "output": _output(completion, custom, "incomplete" if is_truncated else "completed", stamp.unique),
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": {
            "input_tokens": input_tokens,
            "input_tokens_details": {"cached_tokens": cached_tokens(input_tokens)},
            "output_tokens": completion.output_tokens,
            "output_tokens_details": {"reasoning_tokens": len(completion.reasoning)},
            "total_tokens": input_tokens + completion.output_tokens,
        },
    }


def _output(completion: Completion, custom: set[str], status: str, unique: str) -> list[dict[str, Any]]:
    """Return the output items: calls of tools, or a message."""
    if completion.tool_calls:
        calls = enumerate(completion.tool_calls)
        return [_call(call, call.name in custom, f"{unique}{index}", status) for index, call in calls]
    part = {"type": "output_text", "text": completion.text, "annotations": [], "logprobs": []}
    return [{"id": f"msg_{unique}", "type": "message", "status": status, "role": "assistant", "content": [part]}]


def _call(call: ToolCall, is_custom: bool, unique: str, status: str) -> dict[str, Any]:
    kind, prefix = ("custom_tool_call", "ctc") if is_custom else ("function_call", "fc")
    item = {"id": f"{prefix}_{unique}", "type": kind, "status": status, "call_id": f"call_{unique}", "name": call.name}
    if is_custom:
        return item | {"input": str(msgspec.json.decode(call.arguments).get("input", ""))}
    return item | {"arguments": call.arguments}


def _typed_events(response: dict[str, Any], completion: Completion) -> Iterator[dict[str, Any]]:
    """Yield the events in the order in which OpenAI sends them, without sequence numbers."""
    started = {**response, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    yield {"type": "response.created", "response": started}
    yield {"type": "response.in_progress", "response": started}
    for index, item in enumerate(response["output"]):
        location = {"item_id": item["id"], "output_index": index}
        field = next(name for name in ("content", "arguments", "input") if name in item)
        empty: dict[str, Any] = {field: [] if field == "content" else ""}
        added = {**item, "status": "in_progress", **empty}
        yield {"type": "response.output_item.added", "output_index": index, "item": added}
        if field == "content":
            yield from _message_events(item, location, completion)
        else:
            yield from _call_events(item, field, location)
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": f"response.{response['status']}", "response": response}


def _message_events(item: dict[str, Any], location: dict[str, Any], completion: Completion) -> Iterator[dict[str, Any]]:
    location = {**location, "content_index": 0}
    part = item["content"][0]
    yield {"type": "response.content_part.added", **location, "part": {**part, "text": ""}}
    for token in completion.tokens:
        yield {"type": "response.output_text.delta", **location, "delta": token, "logprobs": []}
    yield {"type": "response.output_text.done", **location, "text": part["text"], "logprobs": []}
    yield {"type": "response.content_part.done", **location, "part": part}


def _call_events(item: dict[str, Any], field: str, location: dict[str, Any]) -> Iterator[dict[str, Any]]:
    kind = "response.custom_tool_call_input" if field == "input" else "response.function_call_arguments"
    for token in texts.split_tokens(item[field]):
        yield {"type": f"{kind}.delta", **location, "delta": token}
    name = {"name": item["name"]} if field == "arguments" else {}
    yield {"type": f"{kind}.done", **location, field: item[field], **name}


def _number_events(events: Iterator[dict[str, Any]]) -> list[Event]:
    return [
        Event(encode_json({"type": event["type"], "sequence_number": number, **event}), event["type"].encode())
        for number, event in enumerate(events)
    ]
