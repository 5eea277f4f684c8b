"""Write responses of the Responses API, as one JSON body or as typed events."""

from collections.abc import Iterator
from typing import Any

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
    Tool,
    last_user_text,
    text_of,
)


def respond(request: ResponsesRequest, directives: Directives, stamp: Stamp) -> Reply:
    """Return the response to a valid request."""
    prompt = request.input if isinstance(request.input, str) else last_user_text(request.input)
    completion = complete_chat(_chat_request(request), 0, fixed_tokens(directives))
    response = _response(request, completion, texts.count_tokens(prompt) + 7, stamp)
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
        messages=[_chat_message(item) for item in items if item.type != "reasoning"],
        model=request.model,
        max_completion_tokens=request.max_output_tokens,
        tools=[Tool(function=Function(t.name, t.parameters)) for t in request.tools or () if t.type == "function"],
        tool_choice={"function": {"name": name}} if name else choice,
        parallel_tool_calls=request.parallel_tool_calls,
    )


def _chat_message(item: InputItem) -> Message:
    return Message("tool", text_of(item.output)) if item.type == "function_call_output" else item


def _response(request: ResponsesRequest, completion: Completion, input_tokens: int, stamp: Stamp) -> dict[str, Any]:
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
        "output": _output(completion, "incomplete" if is_truncated else "completed", stamp.unique),
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


def _output(completion: Completion, status: str, unique: str) -> list[dict[str, Any]]:
    """Return the output items: calls of tools, or a message."""
    if completion.tool_calls:
        return [_call(call, f"{unique}{index}", status) for index, call in enumerate(completion.tool_calls)]
    part = {"type": "output_text", "text": completion.text, "annotations": [], "logprobs": []}
    return [{"id": f"msg_{unique}", "type": "message", "status": status, "role": "assistant", "content": [part]}]


def _call(call: ToolCall, unique: str, status: str) -> dict[str, Any]:
    ids = {"id": f"fc_{unique}", "type": "function_call", "status": status, "call_id": f"call_{unique}"}
    return {**ids, "name": call.name, "arguments": call.arguments}


def _typed_events(response: dict[str, Any], completion: Completion) -> Iterator[dict[str, Any]]:
    """Yield the events in the order in which OpenAI sends them, without sequence numbers."""
    started = {**response, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    yield {"type": "response.created", "response": started}
    yield {"type": "response.in_progress", "response": started}
    for index, item in enumerate(response["output"]):
        location = {"item_id": item["id"], "output_index": index}
        empty: dict[str, Any] = {"content": []} if "content" in item else {"arguments": ""}
        added = {**item, "status": "in_progress", **empty}
        yield {"type": "response.output_item.added", "output_index": index, "item": added}
        yield from _message_events(item, location, completion) if "content" in item else _call_events(item, location)
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


def _call_events(item: dict[str, Any], location: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for token in texts.split_tokens(item["arguments"]):
        yield {"type": "response.function_call_arguments.delta", **location, "delta": token}
    done = {"arguments": item["arguments"], "name": item["name"]}
    yield {"type": "response.function_call_arguments.done", **location, **done}


def _number_events(events: Iterator[dict[str, Any]]) -> list[Event]:
    return [
        Event(encode_json({"type": event["type"], "sequence_number": number, **event}), event["type"].encode())
        for number, event in enumerate(events)
    ]
