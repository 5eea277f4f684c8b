"""Respond to requests to Google's Gemini API, with contents, token counts, embeddings, models and errors.

A stream consists of server-sent events if the query has ``alt=sse``, otherwise of one JSON array. For the same
conversation, the content is the same as in a chat completion (``generation``), but in Google's format.
"""

import base64
import itertools
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final
from urllib.parse import parse_qs, unquote

import msgspec

from relaybook_demo.simulator import texts
from relaybook_demo.simulator.apis import gemini_requests, models
from relaybook_demo.simulator.apis.completions import fixed_tokens
from relaybook_demo.simulator.apis.embeddings import DIMENSIONS, vector
from relaybook_demo.simulator.apis.gemini_requests import (
    BatchEmbedRequest,
    CountTokensRequest,
    EmbedRequest,
    GenerateRequest,
    InvalidBody,
)
from relaybook_demo.simulator.directives import Directives
from relaybook_demo.simulator.generation import Completion, ToolCall, cached_tokens, complete_thinking, prompt_tokens
from relaybook_demo.simulator.incoming import Request
from relaybook_demo.simulator.replies import EVENT_STREAM, Event, Reply, Stamp, StreamFormat, encode_json, json_reply

MAX_CANDIDATES: Final = 8

#: A method of a model, in Google's Gemini API or in Vertex AI.
_METHOD: Final = re.compile(r"/v1(?:beta1?)?/(?:projects/.+/)?models/([^/:]+):(\w+)")
_MODELS: Final = re.compile(r"/v1(?:beta)?/models(?:/([^/:]+))?")
_OPENAI_PREFIX: Final = "/v1beta/openai/"
_FINISH_REASONS: Final = {"stop": "STOP", "length": "MAX_TOKENS", "tool_calls": "STOP"}
_GENERATE: Final = ("generateContent", "streamGenerateContent")
_EMBED: Final = ("embedContent", "batchEmbedContents")
_STATUS_ERRORS: Final = {
    400: ("INVALID_ARGUMENT", "Request contains an invalid argument."),
    401: ("UNAUTHENTICATED", "Request had invalid authentication credentials."),
    403: ("PERMISSION_DENIED", "The caller does not have permission."),
    404: ("NOT_FOUND", "Requested entity was not found."),
    409: ("ABORTED", "The operation was aborted."),
    429: ("RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan and billing details."),
    500: ("INTERNAL", "An internal error has occurred."),
    503: ("UNAVAILABLE", "The model is overloaded. Please try again later."),
    504: ("DEADLINE_EXCEEDED", "Deadline expired before operation could complete."),
}


def serves(request: Request) -> bool:
    """Return whether a request belongs to this API.

    The list of models has the same path as OpenAI's list below ``/v1/``. It is Google's if the key is sent as Google's.
    """
    path = request.path
    if path.startswith(("/v1beta/", "/v1beta1/")):
        return not path.startswith(_OPENAI_PREFIX)
    return _METHOD.fullmatch(path) is not None or (_MODELS.fullmatch(path) is not None and _has_google_key(request))


def respond(request: Request, directives: Directives, stamp: Stamp) -> Reply:
    """Return the reply to a request. The error in a stream is Google's. Responses have no request id."""
    error = Event(encode_json(_error_body(503, *_STATUS_ERRORS[503])))
    return replace(_reply(request, directives, stamp), request_id_header=None, error_event=error)


def status_error(status: int) -> Reply:
    """Return the error that Google sends with a status of 400 or more."""
    default = ("INTERNAL" if status >= 500 else "FAILED_PRECONDITION", f"The request failed with status {status}.")
    return replace(_error(status, *_STATUS_ERRORS.get(status, default)), request_id_header=None)


def _reply(request: Request, directives: Directives, stamp: Stamp) -> Reply:
    error_reply = _check_key(request)
    if error_reply is not None:
        return error_reply
    method = _METHOD.fullmatch(request.path)
    if method is not None and request.method == "POST":
        return _call(unquote(method[1]), method[2], request, directives, stamp)
    listed = _MODELS.fullmatch(request.path)
    if listed is not None and request.method in ("GET", "HEAD"):
        return _list_models() if listed[1] is None else _show_model(unquote(listed[1]))
    return _error(404, "NOT_FOUND", f"The requested URL {request.path} was not found on this server.")


def _call(model: str, method: str, request: Request, directives: Directives, stamp: Stamp) -> Reply:
    """Call a method of a model."""
    if not models.is_gemini(model) or method not in (*_GENERATE, *_EMBED, "countTokens"):
        return _unknown_model(model, method)
    try:
        match method:
            case "countTokens":
                return _count_tokens(gemini_requests.read(request.body, CountTokensRequest))
            case "embedContent":
                return _embed(gemini_requests.read(request.body, EmbedRequest))
            case "batchEmbedContents":
                return _embed_batch(gemini_requests.read(request.body, BatchEmbedRequest))
            case _:
                parsed = gemini_requests.read(request.body, GenerateRequest)
    except InvalidBody as error:
        return _error(400, "INVALID_ARGUMENT", f"Invalid JSON payload received. {error}")
    count = parsed.generation_config.candidate_count
    if not parsed.messages():
        return _error(400, "INVALID_ARGUMENT", "* GenerateContentRequest.contents: contents is not specified\n")
    if not 1 <= count <= MAX_CANDIDATES:
        return _error(400, "INVALID_ARGUMENT", f"candidate_count must be 1 to {MAX_CANDIDATES}.")
    is_stream = method == "streamGenerateContent" if directives.stream is None else directives.stream
    stream_format: StreamFormat = "sse" if parse_qs(request.query).get("alt") == ["sse"] else "json-array"
    return _generate(model, parsed, stream_format if is_stream else None, directives, stamp)


def _generate(
    model: str, request: GenerateRequest, stream_format: StreamFormat | None, directives: Directives, stamp: Stamp
) -> Reply:
    """Return the generated content. It is not streamed if ``stream_format`` is `None`."""
    config = request.generation_config
    fixed, chat = fixed_tokens(directives), request.chat()
    completions = [complete_thinking(chat, config.thinks, fixed, index) for index in range(config.candidate_count)]
    usage = _usage(request, completions)
    common = {"modelVersion": model, "responseId": stamp.unique}
    if stream_format is not None:
        return Reply(
            content_type=EVENT_STREAM if stream_format == "sse" else b"application/json; charset=UTF-8",
            events=list(_events(request, completions, usage, common, directives, stamp)),
            stream_format=stream_format,
        )
    candidates = [
        _candidate(index, _parts(request, completion, stamp), completion.finish_reason)
        for index, completion in enumerate(completions)
    ]
    body = {**_candidates_field(candidates, directives), **_usage_field(usage, directives), **common}
    return json_reply(body, output_tokens=sum(completion.output_tokens for completion in completions))


def _events(
    request: GenerateRequest,
    completions: list[Completion],
    usage: dict[str, Any],
    common: dict[str, Any],
    directives: Directives,
    stamp: Stamp,
) -> Iterator[Event]:
    """Yield the events of a stream. The usage before the last event has no output tokens."""
    rows = [_streamed_candidates(index, request, each, stamp) for index, each in enumerate(completions)]
    candidates = [candidate for row in itertools.zip_longest(*rows) for candidate in row if candidate is not None]
    input_tokens = usage["promptTokenCount"]
    early = {name: value for name, value in usage.items() if name.startswith("prompt")}
    early["totalTokenCount"] = input_tokens
    for number, candidate in enumerate(candidates, 1):
        counts = usage if number == len(candidates) else early
        fields = {**_candidates_field([candidate], directives), **_usage_field(counts, directives), **common}
        yield Event(encode_json(fields))


def _streamed_candidates(
    index: int, request: GenerateRequest, completion: Completion, stamp: Stamp
) -> Iterator[dict[str, Any]]:
    """Yield the candidates for the events of one completion. Each has one part; the last has the finish reason."""
    config = request.generation_config
    for token in completion.reasoning if config.shows_thoughts else ():
        yield _candidate(index, [{"text": token, "thought": True}])
    for token in completion.tokens:
        yield _candidate(index, [{"text": token}])
    for part in _call_parts(index, completion, config.thinks, stamp):
        yield _candidate(index, [part])
    last = {"text": "", **(_signature(stamp) if config.thinks and not completion.tool_calls else {})}
    yield _candidate(index, [last], completion.finish_reason)


def _parts(request: GenerateRequest, completion: Completion, stamp: Stamp) -> list[dict[str, Any]]:
    config = request.generation_config
    parts: list[dict[str, Any]] = []
    if completion.reasoning and config.shows_thoughts:
        parts.append({"text": "".join(completion.reasoning), "thought": True})
    if completion.tokens:
        parts.append({"text": completion.text, **(_signature(stamp) if config.thinks else {})})
    return parts + _call_parts(0, completion, config.thinks, stamp)


def _call_parts(index: int, completion: Completion, is_signed: bool, stamp: Stamp) -> list[dict[str, Any]]:
    """Return the function calls. If the model thinks, the first call has the signature of the thoughts."""

    def part(number: int, call: ToolCall) -> dict[str, Any]:
        arguments = msgspec.json.decode(call.arguments)
        function = {"id": f"call_{stamp.unique}{index}{number}", "name": call.name, "args": arguments}
        return {"functionCall": function, **(_signature(stamp) if is_signed and number == 0 else {})}

    return [part(number, call) for number, call in enumerate(completion.tool_calls)]


def _signature(stamp: Stamp) -> dict[str, str]:
    return {"thoughtSignature": base64.b64encode(stamp.unique.encode()).decode()}


def _candidate(index: int, parts: list[dict[str, Any]], finish_reason: str | None = None) -> dict[str, Any]:
    content = {"parts": parts, "role": "model"} if parts else {"role": "model"}
    end = {} if finish_reason is None else {"finishReason": _FINISH_REASONS[finish_reason]}
    return {"content": content, **end, "index": index}


def _usage(request: GenerateRequest, completions: list[Completion]) -> dict[str, Any]:
    """Return the number of tokens. As in Google's API, counts of 0 are omitted, and thoughts are counted apart."""
    input_tokens = prompt_tokens(request.messages())
    thoughts = sum(len(completion.reasoning) for completion in completions)
    output_tokens = sum(completion.output_tokens for completion in completions)
    counts = {
        "promptTokenCount": input_tokens,
        "candidatesTokenCount": output_tokens - thoughts,
        "totalTokenCount": input_tokens + output_tokens,
        "cachedContentTokenCount": cached_tokens(input_tokens),
        "thoughtsTokenCount": thoughts,
    }
    details = [{"modality": "TEXT", "tokenCount": input_tokens}]
    return {name: count for name, count in counts.items() if count} | {"promptTokensDetails": details}


def _candidates_field(candidates: list[dict[str, Any]], directives: Directives) -> dict[str, Any]:
    if directives.choices is None:
        return {"candidates": candidates}
    return {} if directives.choices == "missing" else {"candidates": [] if directives.choices == "empty" else None}


def _usage_field(usage: dict[str, Any], directives: Directives) -> dict[str, Any]:
    if directives.usage is None:
        return {"usageMetadata": usage}
    return {"usageMetadata": None} if directives.usage == "null" else {}


def _count_tokens(request: CountTokensRequest) -> Reply:
    generate = request.generate_content_request or GenerateRequest(contents=request.contents)
    if not generate.messages():
        return _error(400, "INVALID_ARGUMENT", "* CountTokensRequest.contents: contents is not specified\n")
    count = prompt_tokens(generate.messages())
    return json_reply({"totalTokens": count, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": count}]})


def _embed(request: EmbedRequest) -> Reply:
    return json_reply({"embedding": _embedding(request), **_embedding_usage(request)})


def _embed_batch(request: BatchEmbedRequest) -> Reply:
    if not request.requests:
        return _error(400, "INVALID_ARGUMENT", "* BatchEmbedContentsRequest.requests: at least one is required\n")
    embeddings = [_embedding(each) for each in request.requests]
    return json_reply({"embeddings": embeddings, **_embedding_usage(*request.requests)})


def _embedding(request: EmbedRequest) -> dict[str, Any]:
    return {"values": vector(request.text, request.output_dimensionality or DIMENSIONS)}


def _embedding_usage(*requests: EmbedRequest) -> dict[str, Any]:
    count = sum(texts.count_tokens(request.text) for request in requests)
    details = [{"modality": "TEXT", "tokenCount": count}]
    return {"usageMetadata": {"promptTokenCount": count, "promptTokenDetails": details}}


def _list_models() -> Reply:
    return json_reply({"models": [_model(name) for name in (*models.GEMINI, *models.GEMINI_EMBEDDING)]})


def _show_model(name: str) -> Reply:
    return json_reply(_model(name)) if models.is_gemini(name) else _unknown_model(name, "GetModel")


def _model(name: str) -> dict[str, Any]:
    methods = (*_EMBED, "countTokens") if "embedding" in name else (*_GENERATE, "countTokens")
    return {
        "name": f"models/{name}",
        "version": "001",
        "displayName": name,
        "description": "A simulated model",
        "inputTokenLimit": 1_048_576,
        "outputTokenLimit": 65_536,
        "supportedGenerationMethods": methods,
    }


def _has_google_key(request: Request) -> bool:
    return request.header(b"x-goog-api-key") is not None or "key" in parse_qs(request.query)


def _check_key(request: Request) -> Reply | None:
    """Return an error if the request has no valid key in a header or in the query, or no token of Google's accounts."""
    header = request.header(b"x-goog-api-key") or (request.header(b"authorization") or b"").removeprefix(b"Bearer ")
    key = header.decode("latin-1").strip() or parse_qs(request.query).get("key", [""])[0]
    if not key:
        message = "Method doesn't allow unregistered callers (callers without established identity)."
        return _error(403, "PERMISSION_DENIED", message)
    if not key.startswith("sk-invalid"):
        return None
    return _error(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", "API_KEY_INVALID")


def _unknown_model(model: str, method: str) -> Reply:
    message = (
        f"models/{model} is not found for API version v1beta, or is not supported for {method}. "
        "Call ListModels to see the list of available models and their supported methods."
    )
    return _error(404, "NOT_FOUND", message)


def _error(code: int, status: str, message: str, reason: str | None = None) -> Reply:
    return json_reply(_error_body(code, status, message, reason), code)


def _error_body(code: int, status: str, message: str, reason: str | None = None) -> dict[str, Any]:
    error: dict[str, Any] = {"code": code, "message": message, "status": status}
    if reason is not None:
        kind = "type.googleapis.com/google.rpc.ErrorInfo"
        error["details"] = [{"@type": kind, "reason": reason, "domain": "googleapis.com"}]
    return {"error": error}
