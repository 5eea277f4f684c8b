"""Writes chat completions in OpenAI's shape, whole or as the events of a stream."""

import itertools
from collections.abc import Iterator
from typing import Any, Final

from relaybook_demo.simulator import texts
from relaybook_demo.simulator.answers import Answer, Fixed, ToolCall, answer_chat, cached_tokens, prompt_tokens
from relaybook_demo.simulator.directives import Directives
from relaybook_demo.simulator.replies import EVENT_STREAM, Event, Reply, Stamp, encode_json, json_reply
from relaybook_demo.simulator.requests import ChatRequest

DONE: Final = Event(b"[DONE]")
MOST_CHOICES: Final = 128

_DATED: Final = {
    "gpt-4o": "gpt-4o-2024-08-06",
    "gpt-4o-mini": "gpt-4o-mini-2024-07-18",
    "gpt-4.1": "gpt-4.1-2025-04-14",
    "gpt-4.1-mini": "gpt-4.1-mini-2025-04-14",
    "gpt-5": "gpt-5-2025-08-07",
    "o3": "o3-2025-04-16",
    "o4-mini": "o4-mini-2025-04-16",
}


def complete(request: ChatRequest, directives: Directives, stamp: Stamp) -> Reply:
    """The answer to a valid chat request."""
    fixed = chosen_tokens(directives)
    answers = [answer_chat(request, index, fixed) for index in range(request.n or 1)]
    usage = _usage(request, answers)
    head = {
        "id": f"chatcmpl-{stamp.unique}",
        "object": "chat.completion",
        "created": stamp.created,
        "model": dated(request.model or ""),
    }
    if bool(request.stream) if directives.stream is None else directives.stream:
        head["object"] = "chat.completion.chunk"
        with_usage = request.stream_options is not None and request.stream_options.include_usage
        return Reply(content_type=EVENT_STREAM, events=_events(head, answers, usage, with_usage, directives, stamp))
    choices = [_choice(index, answer, stamp) for index, answer in enumerate(answers)]
    whole = {**head, **_chosen(choices, directives), **_used(usage, directives)}
    whole |= {"service_tier": "default", "system_fingerprint": "fp_simulated"}
    return json_reply(whole, output_tokens=usage["completion_tokens"])


def chosen_tokens(directives: Directives) -> Fixed | None:
    """The tokens a test asked for instead of the model's own."""
    if directives.event_bytes is not None:
        return Fixed(("x" * directives.event_bytes,))
    if directives.answer_tokens is not None:
        return Fixed(texts.filler_tokens(directives.answer_tokens))
    return None if directives.text is None else Fixed(texts.split_tokens(directives.text))


def dated(model: str) -> str:
    """The model that an alias stands for at the moment."""
    return _DATED.get(model, model)


def _usage(request: ChatRequest, answers: list[Answer]) -> dict[str, Any]:
    asked = prompt_tokens(request.messages)
    answered = sum(answer.output_tokens for answer in answers)
    return {
        "prompt_tokens": asked,
        "completion_tokens": answered,
        "total_tokens": asked + answered,
        "prompt_tokens_details": {"cached_tokens": cached_tokens(asked), "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": sum(len(answer.reasoning) for answer in answers),
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }


def _choice(index: int, answer: Answer, stamp: Stamp) -> dict[str, Any]:
    message: dict[str, Any] = {
        "role": "assistant",
        "content": None if answer.tool_calls else answer.text,
        "refusal": None,
        "annotations": [],
    }
    if answer.reasoning:
        message["reasoning_content"] = "".join(answer.reasoning)
    if answer.tool_calls:
        message["tool_calls"] = [
            {
                "id": _call_id(stamp, index, at),
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for at, call in enumerate(answer.tool_calls)
        ]
    return {"index": index, "message": message, "logprobs": None, "finish_reason": answer.finish_reason}


def _events(
    head: dict[str, Any],
    answers: list[Answer],
    usage: dict[str, Any],
    with_usage: bool,
    directives: Directives,
    stamp: Stamp,
) -> list[Event]:
    tail: dict[str, Any] = {"service_tier": "default", "system_fingerprint": "fp_simulated"}
    if with_usage and directives.usage != "missing":
        tail["usage"] = None
    choices = [_deltas(index, answer, stamp) for index, answer in enumerate(answers)]
    steps = (choice for row in itertools.zip_longest(*choices) for choice in row if choice is not None)
    events = [Event(encode_json({**head, **_chosen([choice], directives), **tail})) for choice in steps]
    if "usage" in tail:
        events.append(Event(encode_json({**head, "choices": [], **tail, **_used(usage, directives)})))
    events.append(DONE)
    return events


def _deltas(index: int, answer: Answer, stamp: Stamp) -> Iterator[dict[str, Any]]:
    """The choices of the chunks of one answer: role, reasoning, text or calls, finish reason."""

    def choice(delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
        return {"index": index, "delta": delta, "logprobs": None, "finish_reason": finish_reason}

    yield choice({"role": "assistant", "content": None if answer.tool_calls else "", "refusal": None})
    for token in answer.reasoning:
        yield choice({"reasoning_content": token})
    for token in answer.tokens:
        yield choice({"content": token})
    for at, call in enumerate(answer.tool_calls):
        for delta in _call_deltas(at, call, _call_id(stamp, index, at)):
            yield choice({"tool_calls": [delta]})
    yield choice({}, answer.finish_reason)


def _call_deltas(at: int, call: ToolCall, call_id: str) -> Iterator[dict[str, Any]]:
    """Id and name come once; the arguments in pieces."""
    yield {"index": at, "id": call_id, "type": "function", "function": {"name": call.name, "arguments": ""}}
    for piece in texts.split_tokens(call.arguments):
        yield {"index": at, "function": {"arguments": piece}}


def _call_id(stamp: Stamp, index: int, at: int) -> str:
    return f"call_{stamp.unique}{index}{at}"


def _chosen(choices: list[dict[str, Any]], directives: Directives) -> dict[str, Any]:
    if directives.choices is None:
        return {"choices": choices}
    return {} if directives.choices == "missing" else {"choices": [] if directives.choices == "empty" else None}


def _used(usage: dict[str, Any], directives: Directives) -> dict[str, Any]:
    if directives.usage is None:
        return {"usage": usage}
    return {"usage": None} if directives.usage == "null" else {}
