"""Write responses of the Responses API, as one JSON body or as typed events."""

from collections.abc import Iterator
from typing import Any

from relaybook_demo.simulator import texts
from relaybook_demo.simulator.apis.completions import fixed_tokens, resolve_alias
from relaybook_demo.simulator.directives import Directives
from relaybook_demo.simulator.generation import Completion, cached_tokens, complete_prompt
from relaybook_demo.simulator.replies import EVENT_STREAM, Event, Reply, Stamp, encode_json, json_reply
from relaybook_demo.simulator.requests import ResponsesRequest, last_user_text


def respond(request: ResponsesRequest, directives: Directives, stamp: Stamp) -> Reply:
    """Return the response to a valid request."""
    prompt = request.input if isinstance(request.input, str) else last_user_text(request.input)
    completion = complete_prompt(prompt, request.model or "", request.max_output_tokens, fixed_tokens(directives))
    response = _response(request, completion, texts.count_tokens(prompt) + 7, stamp)
    if bool(request.stream) if directives.stream is None else directives.stream:
        return Reply(content_type=EVENT_STREAM, events=_number_events(_typed_events(response, completion)))
    if directives.usage is not None:
        response |= {"usage": None}
    if directives.usage == "missing":
        del response["usage"]
    return json_reply(response, output_tokens=completion.output_tokens)


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
        "output": [_message(completion.text, "incomplete" if is_truncated else "completed", stamp.unique)],
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


def _message(text: str, status: str, unique: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    return {"id": f"msg_{unique}", "type": "message", "status": status, "role": "assistant", "content": [part]}


def _typed_events(response: dict[str, Any], completion: Completion) -> Iterator[dict[str, Any]]:
    """Yield the events in the order in which OpenAI sends them, without sequence numbers."""
    started = {**response, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    yield {"type": "response.created", "response": started}
    yield {"type": "response.in_progress", "response": started}
    message = response["output"][0]
    item = {"output_index": 0, "item": {**message, "status": "in_progress", "content": []}}
    yield {"type": "response.output_item.added", **item}
    location = {"item_id": message["id"], "output_index": 0, "content_index": 0}
    part = message["content"][0]
    yield {"type": "response.content_part.added", **location, "part": {**part, "text": ""}}
    for token in completion.tokens:
        yield {"type": "response.output_text.delta", **location, "delta": token, "logprobs": []}
    yield {"type": "response.output_text.done", **location, "text": part["text"], "logprobs": []}
    yield {"type": "response.content_part.done", **location, "part": part}
    yield {"type": "response.output_item.done", "output_index": 0, "item": message}
    yield {"type": f"response.{response['status']}", "response": response}


def _number_events(events: Iterator[dict[str, Any]]) -> list[Event]:
    return [
        Event(encode_json({"type": event["type"], "sequence_number": number, **event}), event["type"].encode())
        for number, event in enumerate(events)
    ]
