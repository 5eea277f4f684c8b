"""Random streams of chat completions, built from the types of OpenAI's SDK."""

import json
from random import Random
from typing import Any

from openai.types.chat import ChatCompletionChunk
from openai.types.chat.chat_completion_chunk import (
    Choice,
    ChoiceDelta,
    ChoiceDeltaAudio,
    ChoiceDeltaFunctionCall,
    ChoiceDeltaToolCall,
    ChoiceDeltaToolCallFunction,
    ChoiceLogprobs,
)
from openai.types.completion_usage import CompletionUsage
from tests.conformance.accumulators.values import cut, instance, interleaved, json_object, text, value

#: The fields that the streams have. If a new version of the SDK has another field, the streams must have it, too.
FIELDS = {
    ChatCompletionChunk: {
        *("id", "choices", "created", "model", "object", "moderation", "obfuscation", "service_tier"),
        *("system_fingerprint", "usage"),
    },
    Choice: {"delta", "index", "finish_reason", "logprobs"},
    ChoiceDelta: {"audio", "content", "function_call", "refusal", "role", "tool_calls"},
    ChoiceDeltaAudio: {"id", "data", "expires_at", "transcript"},
    ChoiceDeltaFunctionCall: {"arguments", "name"},
    ChoiceDeltaToolCall: {"index", "id", "function", "type"},
    ChoiceDeltaToolCallFunction: {"arguments", "name"},
    ChoiceLogprobs: {"content", "refusal"},
}


def arguments(random: Random) -> str:
    """Return the arguments of a call, which are usually JSON."""
    if random.random() < 0.1:
        return random.choice(("", "{", "not json", "{}{}"))
    return json.dumps(json_object(random), ensure_ascii=random.random() < 0.5, indent=random.choice((None, 1)))


def _calls(random: Random) -> list[dict[str, Any]]:
    """Return the deltas of tool calls, interleaved in the order in which they begin."""
    begun: list[dict[str, Any]] = []
    rest: list[list[dict[str, Any]]] = []
    for index in range(random.randrange(4)):
        first, *more = cut(random, arguments(random))
        name, *names = random.choice((["get_weather"], ["f"], ["get_", "weather"]))
        call = {"index": index, "id": f"call_{random.randrange(10**6)}_{index}", "type": "function"}
        begun.append(call | {"function": {"name": name, "arguments": first if not names else ""}})
        deltas: list[dict[str, Any]] = [{"index": index, "function": {"name": each}} for each in names]
        deltas += [{"index": index, "function": {"arguments": each}} for each in ([first, *more] if names else more)]
        rest.append(deltas)
    merged = list(interleaved(random, *rest))
    if random.random() < 0.3:  # several fragments in one chunk
        return [{"tool_calls": begun}, *({"tool_calls": [each]} for each in merged)] if begun else []
    return [{"tool_calls": [each]} for each in (*begun, *merged)]


def _deltas(random: Random) -> list[dict[str, Any]]:
    contents = [{"content": piece} for piece in cut(random, text(random))] if random.random() < 0.8 else []
    refusals = [{"refusal": piece} for piece in cut(random, text(random))] if random.random() < 0.2 else []
    function: list[dict[str, Any]] = []
    if random.random() < 0.2:
        pieces = [{"function_call": {"arguments": piece}} for piece in cut(random, arguments(random))]
        function = [{"function_call": {"name": "f", "arguments": ""}}, *pieces]
    audio: list[dict[str, Any]] = []
    if random.random() < 0.2:
        transcripts = [{"audio": {"transcript": piece}} for piece in cut(random, text(random))]
        audio = [{"audio": {"id": "audio_1"}}, *transcripts, {"audio": {"data": "AAAA"}}, {"audio": {"expires_at": 9}}]
    return list(interleaved(random, contents, refusals, function, audio, _calls(random)))


def chat_stream(random: Random) -> list[dict[str, Any]]:
    """Return the chunks of a response with one to three choices."""
    count = random.choice((1, 1, 1, 2, 3))
    head: dict[str, Any] = {"id": "chatcmpl-1", "created": 9, "model": "gpt-5", "object": "chat.completion.chunk"}

    def choice(index: int, delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        more = {"logprobs": value(random, ChoiceLogprobs)} if random.random() < 0.1 else {}
        return {"index": index, "delta": delta, "finish_reason": reason} | more

    first = [choice(index, {"role": "assistant", "content": random.choice(("", None))}) for index in range(count)]
    groups = [[each] for each in first] if random.random() < 0.7 else [first]
    reasons = Choice.model_fields["finish_reason"].annotation
    rest = [
        [
            *([choice(index, delta)] for delta in _deltas(random)),
            [choice(index, {}, value(random, reasons) or "stop")],
        ]
        for index in range(count)
    ]
    chunks = [head | {"choices": group} for group in (*groups, *interleaved(random, *rest))]
    for chunk in chunks:
        for name in ("obfuscation", "service_tier", "system_fingerprint"):
            if random.random() < 0.2:
                chunk[name] = value(random, ChatCompletionChunk.model_fields[name].annotation)
    if random.random() < 0.2:
        moderation = value(random, ChatCompletionChunk.model_fields["moderation"].annotation)
        chunks.append(head | {"choices": [], "moderation": moderation})
    if random.random() < 0.7:
        chunks.append(head | {"choices": [], "usage": instance(random, CompletionUsage)})
    return chunks
