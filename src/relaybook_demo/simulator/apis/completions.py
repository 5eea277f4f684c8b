"""Write chat completions in OpenAI's format, as one JSON body or as the events of a stream."""

import itertools
from collections.abc import Iterator
from typing import Any, Final

from relaybook_demo.simulator import texts
from relaybook_demo.simulator.apis.models import is_mistral
from relaybook_demo.simulator.directives import Directives
from relaybook_demo.simulator.generation import (
    Completion,
    FixedTokens,
    ToolCall,
    cached_tokens,
    complete_chat,
    prompt_tokens,
)
from relaybook_demo.simulator.replies import EVENT_STREAM, Event, Reply, Stamp, encode_json, json_reply
from relaybook_demo.simulator.requests import ChatRequest

DONE: Final = Event(b"[DONE]", is_end_mark=True)
MAX_CHOICES: Final = 128

_SNAPSHOTS: Final = {
    "gpt-4o": "gpt-4o-2024-08-06",
    "gpt-4o-mini": "gpt-4o-mini-2024-07-18",
    "gpt-4.1": "gpt-4.1-2025-04-14",
    "gpt-4.1-mini": "gpt-4.1-mini-2025-04-14",
    "gpt-5": "gpt-5-2025-08-07",
    "o3": "o3-2025-04-16",
    "o4-mini": "o4-mini-2025-04-16",
}


def complete(request: ChatRequest, directives: Directives, stamp: Stamp) -> Reply:
    """Return the response to a valid chat request."""
    fixed = fixed_tokens(directives)
    completions = [complete_chat(request, index, fixed) for index in range(request.n or 1)]
    usage = _usage(request, completions)
    common = {
        "id": f"chatcmpl-{stamp.unique}",
        "object": "chat.completion",
        "created": stamp.created,
        "model": resolve_alias(request.model or ""),
    }
    if bool(request.stream) if directives.stream is None else directives.stream:
        common["object"] = "chat.completion.chunk"
        include_usage = request.stream_options is not None and request.stream_options.include_usage
        return Reply(
            content_type=EVENT_STREAM, events=_events(common, completions, usage, include_usage, directives, stamp)
        )
    choices = [_choice(index, completion, stamp) for index, completion in enumerate(completions)]
    body = {**common, **_choices_field(choices, directives), **_usage_field(usage, directives)}
    body |= {"service_tier": "default", "system_fingerprint": "fp_simulated"}
    return json_reply(body, output_tokens=usage["completion_tokens"])


def fixed_tokens(directives: Directives) -> FixedTokens | None:
    """Return the tokens that the directives set, or `None` if the directives set no tokens."""
    if directives.event_bytes is not None:
        return FixedTokens(("x" * directives.event_bytes,))
    if directives.answer_tokens is not None:
        return FixedTokens(texts.filler_tokens(directives.answer_tokens))
    return None if directives.text is None else FixedTokens(texts.split_tokens(directives.text))


def resolve_alias(model: str) -> str:
    """Return the dated model name that an alias stands for. Other names are returned unchanged."""
    return _SNAPSHOTS.get(model, model)


def _usage(request: ChatRequest, completions: list[Completion]) -> dict[str, Any]:
    input_tokens = prompt_tokens(request.messages)
    output_tokens = sum(completion.output_tokens for completion in completions)
    return {
        "prompt_tokens": input_tokens,
        "completion_tokens": output_tokens,
        "total_tokens": input_tokens + output_tokens,
        "prompt_tokens_details": {"cached_tokens": cached_tokens(input_tokens), "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": sum(len(completion.reasoning) for completion in completions),
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }


def _choice(index: int, completion: Completion, stamp: Stamp) -> dict[str, Any]:
    message: dict[str, Any] = {
        "role": "assistant",
        "content": None if completion.tool_calls else completion.text,
        "refusal": None,
        "annotations": [],
    }
    if completion.reasoning:
        message["reasoning_content"] = "".join(completion.reasoning)
    if completion.tool_calls:
        message["tool_calls"] = [
            {
                "id": _call_id(stamp, index, call_index),
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call_index, call in enumerate(completion.tool_calls)
        ]
    return {"index": index, "message": message, "logprobs": None, "finish_reason": completion.finish_reason}


def _events(
    common: dict[str, Any],
    completions: list[Completion],
    usage: dict[str, Any],
    include_usage: bool,
    directives: Directives,
    stamp: Stamp,
) -> list[Event]:
    tail: dict[str, Any] = {"service_tier": "default", "system_fingerprint": "fp_simulated"}
    if include_usage and directives.usage != "missing":
        tail["usage"] = None
    from_mistral = is_mistral(common["model"])
    choices = [
        _deltas(index, completion, stamp, splits_calls=not from_mistral) for index, completion in enumerate(completions)
    ]
    rows = itertools.zip_longest(*choices)
    chunks = [
        {**common, **_choices_field([choice], directives), **tail}
        for row in rows
        for choice in row
        if choice is not None
    ]
    if from_mistral:  # the usage is in the last chunk with a choice, even if the client did not ask
        chunks[-1] |= _usage_field(usage, directives)
    elif "usage" in tail:
        chunks.append({**common, "choices": [], **tail, **_usage_field(usage, directives)})
    return [*(Event(encode_json(chunk)) for chunk in chunks), DONE]


def _deltas(index: int, completion: Completion, stamp: Stamp, *, splits_calls: bool) -> Iterator[dict[str, Any]]:
    """Yield the choices for the chunks of one completion: role, reasoning, text or tool calls, and finish reason.

    Without ``splits_calls``, each tool call is whole, as Mistral sends it.
    """

    def choice(delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
        return {"index": index, "delta": delta, "logprobs": None, "finish_reason": finish_reason}

    yield choice({"role": "assistant", "content": None if completion.tool_calls else "", "refusal": None})
    for token in completion.reasoning:
        yield choice({"reasoning_content": token})
    for token in completion.tokens:
        yield choice({"content": token})
    for call_index, call in enumerate(completion.tool_calls):
        for delta in _call_deltas(call_index, call, _call_id(stamp, index, call_index), splits_calls):
            yield choice({"tool_calls": [delta]})
    yield choice({}, completion.finish_reason)


def _call_deltas(call_index: int, call: ToolCall, call_id: str, splits: bool) -> Iterator[dict[str, Any]]:
    """Yield the deltas of one tool call: first its id and name, then its arguments in chunks."""
    function = {"name": call.name, "arguments": "" if splits else call.arguments}
    yield {"index": call_index, "id": call_id, "type": "function", "function": function}
    for chunk in texts.split_tokens(call.arguments) if splits else ():
        yield {"index": call_index, "function": {"arguments": chunk}}


def _call_id(stamp: Stamp, index: int, call_index: int) -> str:
    return f"call_{stamp.unique}{index}{call_index}"


def _choices_field(choices: list[dict[str, Any]], directives: Directives) -> dict[str, Any]:
    if directives.choices is None:
        return {"choices": choices}
    return {} if directives.choices == "missing" else {"choices": [] if directives.choices == "empty" else None}


def _usage_field(usage: dict[str, Any], directives: Directives) -> dict[str, Any]:
    if directives.usage is None:
        return {"usage": usage}
    return {"usage": None} if directives.usage == "null" else {}
