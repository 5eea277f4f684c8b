"""Writes answers of the responses interface, whole or as its typed events."""

from collections.abc import Iterator
from typing import Any

from relaybook_demo.simulator import texts
from relaybook_demo.simulator.answers import Answer, answer_prompt, cached_tokens
from relaybook_demo.simulator.completions import chosen_tokens, dated
from relaybook_demo.simulator.directives import Directives
from relaybook_demo.simulator.replies import EVENT_STREAM, Event, Reply, Stamp, encode_json, json_reply
from relaybook_demo.simulator.requests import ResponsesRequest, last_user_text


def respond(request: ResponsesRequest, directives: Directives, stamp: Stamp) -> Reply:
    """The answer to a valid request."""
    prompt = request.input if isinstance(request.input, str) else last_user_text(request.input)
    answer = answer_prompt(prompt, request.model or "", request.max_output_tokens, chosen_tokens(directives))
    response = _response(request, answer, texts.count_tokens(prompt) + 7, stamp)
    if bool(request.stream) if directives.stream is None else directives.stream:
        return Reply(content_type=EVENT_STREAM, events=_numbered(_typed(response, answer)))
    if directives.usage is not None:
        response |= {"usage": None}
    if directives.usage == "missing":
        del response["usage"]
    return json_reply(response, output_tokens=answer.output_tokens)


def _response(request: ResponsesRequest, answer: Answer, asked: int, stamp: Stamp) -> dict[str, Any]:
    cut = answer.finish_reason == "length"
    return {
        "id": f"resp_{stamp.unique}",
        "object": "response",
        "created_at": stamp.created,
        "status": "incomplete" if cut else "completed",
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "instructions": None,
        "metadata": request.metadata or {},
        "model": dated(request.model or ""),
        "output": [_message(answer.text, "incomplete" if cut else "completed", stamp.unique)],
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": {
            "input_tokens": asked,
            "input_tokens_details": {"cached_tokens": cached_tokens(asked)},
            "output_tokens": answer.output_tokens,
            "output_tokens_details": {"reasoning_tokens": len(answer.reasoning)},
            "total_tokens": asked + answer.output_tokens,
        },
    }


def _message(text: str, status: str, unique: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    return {"id": f"msg_{unique}", "type": "message", "status": status, "role": "assistant", "content": [part]}


def _typed(response: dict[str, Any], answer: Answer) -> Iterator[dict[str, Any]]:
    """The events in the order the provider sends them, not yet numbered."""
    begun = {**response, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    message = response["output"][0]
    item = {"output_index": 0, "item": {**message, "status": "in_progress", "content": []}}
    yield {"type": "response.output_item.added", **item}
    place = {"item_id": message["id"], "output_index": 0, "content_index": 0}
    part = message["content"][0]
    yield {"type": "response.content_part.added", **place, "part": {**part, "text": ""}}
    for token in answer.tokens:
        yield {"type": "response.output_text.delta", **place, "delta": token, "logprobs": []}
    yield {"type": "response.output_text.done", **place, "text": part["text"], "logprobs": []}
    yield {"type": "response.content_part.done", **place, "part": part}
    yield {"type": "response.output_item.done", "output_index": 0, "item": message}
    yield {"type": f"response.{response['status']}", "response": response}


def _numbered(typed: Iterator[dict[str, Any]]) -> list[Event]:
    return [
        Event(encode_json({"type": event["type"], "sequence_number": at, **event}), event["type"].encode())
        for at, event in enumerate(typed)
    ]
