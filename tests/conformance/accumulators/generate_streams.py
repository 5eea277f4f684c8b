"""Random streams of Gemini's API, built from the types of google-genai."""

from random import Random
from typing import Any

from google.genai import types
from pydantic import BaseModel
from tests.conformance.accumulators.values import cut, instance, interleaved, json_object, text

#: The fields of a part with its content.
CONTENT = {
    *("audio_transcription", "code_execution_result", "executable_code", "file_data", "function_call"),
    *("function_response", "inline_data", "text", "tool_call", "tool_response"),
}
#: The fields that describe the content. If a new version of the SDK has another field, it must be in one of the lists.
DESCRIBING = {
    *("audio_metadata", "document_metadata", "media_processing", "media_resolution", "part_metadata"),
    *("speech_metadata", "spreadsheet_metadata", "thought", "thought_signature", "video_metadata"),
}
#: The fields of a candidate and of a response that the streams have.
CANDIDATE = {
    *("avg_logprobs", "citation_metadata", "content", "continuation_token", "finish_message", "finish_reason"),
    *("grounding_metadata", "index", "logprobs_result", "safety_ratings", "token_count", "url_context_metadata"),
}
RESPONSE = {
    *("candidates", "create_time", "model_status", "model_version", "prompt_feedback", "response_id"),
    "usage_metadata",
}
#: The fields that only the SDK sets.
SDK_ONLY = {"automatic_function_calling_history", "parsed", "sdk_http_response"}


def part(random: Random, field: str) -> dict[str, Any]:
    """Return a part with this field as its content, and sometimes with fields that describe it."""
    made = {name: each for name, each in instance(random, types.Part).items() if _snake(name) in DESCRIBING}
    made = made if random.random() < 0.3 else {}
    made.pop("thought", None)
    if field in ("text", "thought"):
        made["text"] = text(random)
        return made | ({"thought": True} if field == "thought" else {})
    model = types.Part.model_fields[field].annotation
    assert model is not None
    name = types.Part.model_fields[field].alias or field
    value = instance(random, _model_of(model))
    if field == "function_call":
        value = {key: each for key, each in value.items() if key not in ("partialArgs", "willContinue")}
        value |= {"name": random.choice(("get_weather", "f")), "args": json_object(random)}
    return made | {name: value}


def _model_of(annotation: Any) -> type[BaseModel]:
    model: type[BaseModel] = annotation.__args__[0]  # of Optional
    return model


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def _pieces(random: Random, each: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a text in pieces, as the model generates it. What describes the text comes with the last piece."""
    if "text" not in each:
        return [each]
    thought = {"thought": True} if each.get("thought") else {}
    *first, last = cut(random, each["text"])
    return [*({"text": piece} | thought for piece in first), each | {"text": last}]


def generate_stream(random: Random, kinds: list[str]) -> list[dict[str, Any]]:
    """Return the events of a response with a part of each of the ``kinds``, for one or two candidates."""
    reasons = [each.value for each in types.FinishReason if each.value != "CONTINUATION"]
    sequences = []
    count = random.choice((1, 1, 2))
    for index in range(count):
        pieces = [piece for kind in kinds for piece in _pieces(random, part(random, kind))]
        candidates = []
        while pieces:
            size = random.choice((1, 1, 1, 2, 3))
            candidates.append({"content": {"parts": pieces[:size], "role": "model"}, "index": index})
            pieces = pieces[size:]
        made = instance(random, types.Candidate, content=None, finishReason=random.choice(reasons), index=index)
        made.pop("continuationToken", None)
        candidates.append({key: each for key, each in made.items() if each is not None})
        if count == 1 and random.random() < 0.5:  # the only candidate needs no index
            candidates = [{key: each for key, each in one.items() if key != "index"} for one in candidates]
        sequences.append(candidates)
    head = {"responseId": "r_1", "modelVersion": "gemini-x"}
    events: list[dict[str, Any]] = [{"candidates": [each]} | head for each in interleaved(random, *sequences)]
    usage = instance(random, types.GenerateContentResponseUsageMetadata)
    unset = dict.fromkeys(("candidates", "parsed", "automaticFunctionCallingHistory", "sdkHttpResponse"))
    last = instance(random, types.GenerateContentResponse, usageMetadata=usage, **head, **unset)
    more = {key: each for key, each in last.items() if _snake(key) in RESPONSE and key != "promptFeedback"}
    events[-1] |= {key: each for key, each in more.items() if each is not None}
    return events
