"""Respond to requests to Ollama's API, with chats, generated texts, embeddings, models and errors.

A stream consists of lines of JSON, and is the default. For the same conversation, the content is the same as in a chat
completion (``generation``), but in Ollama's format. No API key is needed.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from relaybook_demo.simulator import texts
from relaybook_demo.simulator.apis import models
from relaybook_demo.simulator.apis.completions import fixed_tokens
from relaybook_demo.simulator.apis.embeddings import DIMENSIONS, vector
from relaybook_demo.simulator.directives import Directives
from relaybook_demo.simulator.generation import Completion, complete_thinking, prompt_tokens
from relaybook_demo.simulator.incoming import Request
from relaybook_demo.simulator.replies import Event, Reply, Stamp, encode_json, json_reply
from relaybook_demo.simulator.requests import ChatRequest, JsonSchema, Message, ResponseFormat, Tool

_PREFIX: Final = "/api/"
_NDJSON: Final = b"application/x-ndjson"
_VERSION: Final = "0.12.6"
#: The simulated durations, in nanoseconds.
_LOAD_NS: Final = 40_000_000
_PROMPT_TOKEN_NS: Final = 500_000
_OUTPUT_TOKEN_NS: Final = 20_000_000
_STATUS_ERRORS: Final = {
    400: "invalid request",
    401: "unauthorized",
    404: "model not found",
    429: "too many requests",
    500: "an error was encountered while running the model",
    503: "server busy, please try again. maximum pending requests exceeded",
}


class _Options(msgspec.Struct):
    num_predict: int | None = None
    stop: str | list[str] | None = None


class _ModelRequest(msgspec.Struct):
    """The body of every request about one model."""

    model: str = ""


class _GenerateRequest(_ModelRequest):
    """The body of ``/api/generate``. Images count as 0 tokens."""

    prompt: str = ""
    system: str = ""
    stream: bool | None = None
    think: bool | str | None = None
    format: str | dict[str, Any] | None = None
    options: _Options | None = None


class _ChatRequest(_GenerateRequest):
    """The body of ``/api/chat``."""

    messages: list[Message] = []
    tools: list[Tool] | None = None


class _EmbedRequest(_ModelRequest):
    """The body of ``/api/embed``, and of ``/api/embeddings``, which has one ``prompt``."""

    input: str | list[str] = ""
    prompt: str = ""
    dimensions: int | None = None


def serves(request: Request) -> bool:
    """Return whether a request belongs to this API."""
    return request.path.startswith(_PREFIX)


def respond(request: Request, directives: Directives, stamp: Stamp) -> Reply:
    """Return the reply to a request. The error in a stream is Ollama's. Responses have no request id."""
    error = Event(encode_json({"error": _STATUS_ERRORS[500]}))
    return replace(_reply(request, directives, stamp), request_id_header=None, error_event=error)


def status_error(status: int) -> Reply:
    """Return the error that Ollama sends with a status of 400 or more."""
    message = _STATUS_ERRORS.get(status, f"the request failed with status {status}")
    return replace(_error(status, message), request_id_header=None)


def _reply(request: Request, directives: Directives, stamp: Stamp) -> Reply:
    method = "GET" if request.method == "HEAD" else request.method
    match method, request.path.removeprefix(_PREFIX):
        case "GET", "version":
            return json_reply({"version": _VERSION})
        case "GET", "tags":
            return json_reply({"models": [_installed(name) for name in models.OLLAMA]})
        case "GET", "ps":
            return json_reply({"models": [_loaded(models.OLLAMA[0])]})
        case "POST", "chat" | "generate" | "embed" | "embeddings" | "show" as name:
            return _post(name, request.body, directives, stamp)
        case _, "version" | "tags" | "ps" | "chat" | "generate" | "embed" | "embeddings" | "show":
            return _error(405, "method not allowed")
        case _:
            return _error(404, "path not found")


def _post(name: str, body: bytes, directives: Directives, stamp: Stamp) -> Reply:
    type_ = {"chat": _ChatRequest, "generate": _GenerateRequest, "show": _ModelRequest}.get(name, _EmbedRequest)
    try:
        parsed: _ModelRequest = msgspec.json.decode(body, type=type_)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return _error(400, str(error))
    if not parsed.model:
        return _error(400, "model is required")
    if not models.is_ollama(parsed.model):
        return _error(404, f"model '{parsed.model}' not found")
    match parsed:
        case _GenerateRequest():
            return _generate(parsed, directives, stamp)
        case _EmbedRequest():
            return _embed_one(parsed) if name == "embeddings" else _embed(parsed)
        case _:
            return json_reply(_details(parsed.model))


def _generate(request: _GenerateRequest, directives: Directives, stamp: Stamp) -> Reply:
    common = {"model": request.model, "created_at": _time(stamp)}
    streams = request.stream is not False if directives.stream is None else directives.stream
    messages = _messages(request)
    if not messages:
        end = _piece(request, {"content": ""}) | {"done": True, "done_reason": "load"}
        return json_reply({**common, **end})
    completion = complete_thinking(_chat(request, messages), bool(request.think), fixed_tokens(directives))
    end = {"done": True, "done_reason": "length" if completion.finish_reason == "length" else "stop"}
    end |= _usage(prompt_tokens(messages), completion, directives)
    if streams:
        events = [
            Event(encode_json({**common, **piece, "done": False})) for piece in _pieces(request, completion, stamp)
        ]
        events.append(Event(encode_json({**common, **_piece(request, {"content": ""}), **end}), is_end_mark=True))
        return Reply(content_type=_NDJSON, events=events, stream_format="ndjson")
    piece = _piece(request, _message(completion, stamp))
    return json_reply({**common, **piece, **end}, output_tokens=completion.output_tokens)


def _messages(request: _GenerateRequest) -> list[Message]:
    """Return the conversation. It is empty if the request only loads the model."""
    if isinstance(request, _ChatRequest):
        return request.messages
    system = [Message("system", request.system)] if request.system else []
    return [*system, Message("user", request.prompt)] if request.prompt else []


def _chat(request: _GenerateRequest, messages: list[Message]) -> ChatRequest:
    options = request.options or _Options()
    limit = options.num_predict
    schema = JsonSchema(request.format) if isinstance(request.format, dict) else None
    return ChatRequest(
        messages=messages,
        max_tokens=None if limit is None or limit < 0 else limit,
        stop=options.stop,
        tools=request.tools if isinstance(request, _ChatRequest) else None,
        response_format=ResponseFormat("json_schema" if schema else "json_object", schema) if request.format else None,
    )


def _message(completion: Completion, stamp: Stamp) -> dict[str, Any]:
    """Return the message without its role."""
    message: dict[str, Any] = {"content": completion.text}
    if completion.reasoning:
        message["thinking"] = "".join(completion.reasoning)
    if completion.tool_calls:
        message["tool_calls"] = _calls(completion, stamp)
    return message


def _calls(completion: Completion, stamp: Stamp) -> list[dict[str, Any]]:
    return [
        {
            "id": f"call_{stamp.unique}{index}",
            "function": {"index": index, "name": call.name, "arguments": msgspec.json.decode(call.arguments)},
        }
        for index, call in enumerate(completion.tool_calls)
    ]


def _pieces(request: _GenerateRequest, completion: Completion, stamp: Stamp) -> Iterator[dict[str, Any]]:
    """Yield the pieces of a stream: one for each token, and one for each tool call."""
    for token in completion.reasoning:
        yield _piece(request, {"content": "", "thinking": token})
    for token in completion.tokens:
        yield _piece(request, {"content": token})
    for call in _calls(completion, stamp):
        yield _piece(request, {"content": "", "tool_calls": [call]})


def _piece(request: _GenerateRequest, message: dict[str, Any]) -> dict[str, Any]:
    """Return a message, or a part of it, in the form of ``/api/chat`` or of ``/api/generate``."""
    if isinstance(request, _ChatRequest):
        return {"message": {"role": "assistant", **message}}
    return {"response": message.pop("content"), **message}


def _usage(input_tokens: int, completion: Completion, directives: Directives) -> dict[str, int | None]:
    """Return the durations and the number of tokens. ``Sim-Usage`` changes only the number of tokens."""
    output_tokens = completion.output_tokens
    prompt_ns, output_ns = input_tokens * _PROMPT_TOKEN_NS, output_tokens * _OUTPUT_TOKEN_NS
    durations = {
        "total_duration": _LOAD_NS + prompt_ns + output_ns,
        "load_duration": _LOAD_NS,
        "prompt_eval_duration": prompt_ns,
        "eval_duration": output_ns,
    }
    if directives.usage is None:
        return {**durations, "prompt_eval_count": input_tokens, "eval_count": output_tokens}
    return {**durations, "prompt_eval_count": None, "eval_count": None} if directives.usage == "null" else {**durations}


def _embed(request: _EmbedRequest) -> Reply:
    inputs = [request.input] if isinstance(request.input, str) else request.input
    count = sum(texts.count_tokens(text) for text in inputs)
    return json_reply(
        {
            "model": request.model,
            "embeddings": [vector(text, request.dimensions or DIMENSIONS) for text in inputs],
            "total_duration": _LOAD_NS + count * _PROMPT_TOKEN_NS,
            "load_duration": _LOAD_NS,
            "prompt_eval_count": count,
        }
    )


def _embed_one(request: _EmbedRequest) -> Reply:
    return json_reply({"embedding": vector(request.prompt, DIMENSIONS)})


def _installed(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "model": name,
        "modified_at": "2026-01-01T00:00:00Z",
        "size": 2_019_393_189,
        "digest": hashlib.sha256(name.encode()).hexdigest(),
        "details": _model_details(name),
    }


def _loaded(name: str) -> dict[str, Any]:
    installed = _installed(name)
    del installed["modified_at"]
    return {**installed, "expires_at": "2099-01-01T00:00:00Z", "size_vram": installed["size"], "context_length": 4096}


def _details(name: str) -> dict[str, Any]:
    is_embedding = "embed" in name
    return {
        "modelfile": f"FROM {name}",
        "parameters": "temperature 1",
        "template": "{{ .Prompt }}",
        "details": _model_details(name),
        "model_info": {"general.architecture": "simulated", "simulated.context_length": 131_072},
        "capabilities": ["embedding"] if is_embedding else ["completion", "tools", "thinking", "vision"],
        "modified_at": "2026-01-01T00:00:00Z",
    }


def _model_details(name: str) -> dict[str, Any]:
    family = name.partition(":")[0]
    return {
        "parent_model": "",
        "format": "gguf",
        "family": family,
        "families": [family],
        "parameter_size": "3.2B",
        "quantization_level": "Q4_K_M",
    }


def _time(stamp: Stamp) -> str:
    return datetime.fromtimestamp(stamp.created, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _error(status: int, message: str) -> Reply:
    return json_reply({"error": message}, status)
