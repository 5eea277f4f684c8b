"""Respond to requests to Cohere's API, with chats, embeddings, rankings and errors.

For the same conversation, the content is the same as in a chat completion (``generation``), but in Cohere's format.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final, Literal

import msgspec

from relaybook_demo.simulator import texts
from relaybook_demo.simulator.apis import models
from relaybook_demo.simulator.apis.completions import DONE, fixed_tokens
from relaybook_demo.simulator.apis.embeddings import DIMENSIONS, encode_base64, vector
from relaybook_demo.simulator.directives import Directives
from relaybook_demo.simulator.generation import Completion, cached_tokens, complete_thinking, prompt_tokens
from relaybook_demo.simulator.incoming import Request
from relaybook_demo.simulator.replies import EVENT_STREAM, Event, Reply, Stamp, encode_json, json_reply
from relaybook_demo.simulator.requests import (
    ChatRequest,
    ContentPart,
    JsonSchema,
    Message,
    ResponseFormat,
    Tool,
    text_of,
)

CHAT: Final = "/v2/chat"
PATHS: Final = (CHAT, "/v1/embed", "/v2/embed", "/v1/rerank", "/v2/rerank")

_FINISH_REASONS: Final = {"stop": "COMPLETE", "length": "MAX_TOKENS", "tool_calls": "TOOL_CALL"}
_TOOL_PLAN: Final = "I will look this up with the tools that I have."
_STATUS_ERRORS: Final = {
    400: "invalid request",
    401: "invalid api token",
    404: "resource not found",
    429: "You are using a Trial key, which is limited to 20 API calls / minute.",
    498: "invalid token",
    500: "internal server error",
    503: "service unavailable",
}


class _Format(msgspec.Struct):
    type: str = "text"
    json_schema: dict[str, Any] | None = None


class _Thinking(msgspec.Struct):
    type: str = "enabled"


class _ModelRequest(msgspec.Struct):
    model: str = ""


class _ChatRequest(_ModelRequest):
    """The body of ``/v2/chat``."""

    messages: list[Message] = []
    stream: bool = False
    max_tokens: int | None = None
    stop_sequences: list[str] | None = None
    tools: list[Tool] | None = None
    tool_choice: Literal["REQUIRED", "NONE"] | None = None
    response_format: _Format | None = None
    thinking: _Thinking | None = None


class _Input(msgspec.Struct):
    content: list[ContentPart] = []


class _EmbedRequest(_ModelRequest):
    """The body of ``embed``. Images count as 0 tokens."""

    texts: list[str] = []
    inputs: list[_Input] = []
    embedding_types: list[str] | None = None
    output_dimension: int | None = None


class _RerankRequest(_ModelRequest):
    """The body of ``rerank``."""

    query: str = ""
    documents: list[str | dict[str, Any]] = []
    top_n: int | None = None


def serves(request: Request) -> bool:
    """Return whether a request belongs to this API."""
    return request.path in PATHS


def respond(request: Request, directives: Directives, stamp: Stamp) -> Reply:
    """Return the reply to a request. A stream that fails ends with a message that has an error."""
    delta = {"error": _STATUS_ERRORS[500], "finish_reason": "ERROR"}
    error = _event("message-end", delta=delta)
    return replace(_reply(request, directives, stamp), request_id_header=b"x-debug-trace-id", error_event=error)


def status_error(status: int) -> Reply:
    """Return the error that Cohere sends with a status of 400 or more."""
    message = _STATUS_ERRORS.get(status, f"the request failed with status {status}")
    return replace(_error(status, message), request_id_header=b"x-debug-trace-id")


def _reply(request: Request, directives: Directives, stamp: Stamp) -> Reply:
    key = (request.header(b"authorization") or b"").removeprefix(b"Bearer ").strip()
    if not key or key.startswith(b"sk-invalid"):
        return _error(401, "invalid api token" if key else "no api key supplied")
    if request.method != "POST":
        return _error(405, "method not allowed")
    name = request.path.rpartition("/")[2]
    type_ = {"chat": _ChatRequest, "embed": _EmbedRequest, "rerank": _RerankRequest}[name]
    try:
        parsed: _ModelRequest = msgspec.json.decode(request.body, type=type_)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return _error(400, f"invalid request: {error}")
    if not parsed.model:
        return _error(400, "invalid request: model is required")
    if not models.is_cohere(parsed.model):
        return _error(404, f"model '{parsed.model}' not found, make sure the correct model ID was used")
    match parsed:
        case _ChatRequest() if not parsed.messages:
            return _error(400, "invalid request: messages must not be empty")
        case _ChatRequest():
            return _chat(parsed, directives, stamp)
        case _EmbedRequest():
            return _embed(parsed, stamp, by_type=request.path == "/v2/embed" or parsed.embedding_types is not None)
        case _:
            assert isinstance(parsed, _RerankRequest)
            return _rerank(parsed, stamp)


def _chat(request: _ChatRequest, directives: Directives, stamp: Stamp) -> Reply:
    thinks = request.thinking is not None and request.thinking.type == "enabled"
    completion = complete_thinking(_chat_request(request), thinks, fixed_tokens(directives))
    finish_reason = _FINISH_REASONS[completion.finish_reason]
    usage = _usage(request.messages, completion)
    usage_field = {"usage": usage if directives.usage is None else None}
    if directives.usage == "missing":
        usage_field = {}
    message = _message(completion, stamp)
    if request.stream if directives.stream is None else directives.stream:
        end = _event("message-end", delta={"finish_reason": finish_reason, **usage_field})
        events = [
            _event("message-start", id=stamp.unique, delta={"message": {"role": "assistant"}}),
            *_message_events(message, completion),
            end._replace(is_end_mark=True),
            DONE,
        ]
        return Reply(content_type=EVENT_STREAM, events=events)
    body = {"id": stamp.unique, "finish_reason": finish_reason, "message": message, **usage_field}
    return json_reply(body, output_tokens=usage["tokens"]["output_tokens"])


def _chat_request(request: _ChatRequest) -> ChatRequest:
    response_format = None
    if request.response_format is not None and request.response_format.type != "text":
        schema = request.response_format.json_schema
        response_format = ResponseFormat("json_schema", JsonSchema(schema)) if schema else ResponseFormat("json_object")
    return ChatRequest(
        messages=request.messages,
        max_tokens=request.max_tokens,
        stop=request.stop_sequences,
        tools=request.tools,
        tool_choice=request.tool_choice.lower() if request.tool_choice else None,
        response_format=response_format,
    )


def _message(completion: Completion, stamp: Stamp) -> dict[str, Any]:
    """Return the message. It has content, or a plan and tool calls."""
    content: list[dict[str, Any]] = []
    if completion.reasoning:
        content.append({"type": "thinking", "thinking": "".join(completion.reasoning)})
    if completion.tokens:
        content.append({"type": "text", "text": completion.text})
    message: dict[str, Any] = {"role": "assistant"}
    if content:
        message["content"] = content
    if completion.tool_calls:
        message["tool_plan"] = _TOOL_PLAN
        message["tool_calls"] = [
            {
                "id": f"call_{stamp.unique}{index}",
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for index, call in enumerate(completion.tool_calls)
        ]
    return message


def _message_events(message: dict[str, Any], completion: Completion) -> Iterator[Event]:
    """Yield the events between the start and the end of a message, in the order in which Cohere sends them."""
    for index, block in enumerate(message.get("content", ())):
        kind = block["type"]
        tokens = completion.reasoning if kind == "thinking" else completion.tokens
        yield _event("content-start", index=index, delta={"message": {"content": {"type": kind, kind: ""}}})
        for token in tokens:
            yield _event("content-delta", index=index, delta={"message": {"content": {kind: token}}})
        yield _event("content-end", index=index)
    for token in texts.split_tokens(message.get("tool_plan", "")):
        yield _event("tool-plan-delta", delta={"message": {"tool_plan": token}})
    for index, call in enumerate(message.get("tool_calls", ())):
        function = call["function"]
        start = {**call, "function": {**function, "arguments": ""}}
        yield _event("tool-call-start", index=index, delta={"message": {"tool_calls": start}})
        for token in texts.split_tokens(function["arguments"]):
            delta = {"message": {"tool_calls": {"function": {"arguments": token}}}}
            yield _event("tool-call-delta", index=index, delta=delta)
        yield _event("tool-call-end", index=index)


def _usage(messages: list[Message], completion: Completion) -> dict[str, Any]:
    """Return the number of tokens. As in Cohere's API, the tokens around messages are not billed."""
    input_tokens = prompt_tokens(messages)
    plan = texts.split_tokens(_TOOL_PLAN) if completion.tool_calls else ()
    output_tokens = completion.output_tokens + len(plan)
    billed = sum(texts.count_tokens(text_of(message.content)) for message in messages)
    return {
        "billed_units": {"input_tokens": billed, "output_tokens": output_tokens},
        "tokens": {"input_tokens": input_tokens, "output_tokens": output_tokens},
        "cached_tokens": cached_tokens(input_tokens),
    }


def _embed(request: _EmbedRequest, stamp: Stamp, by_type: bool) -> Reply:
    """Return the vectors, in a list or by type. The types ``float`` and ``base64`` are supported."""
    inputs = request.texts or [text_of(each.content) for each in request.inputs]
    if not inputs:
        return _error(400, "invalid request: texts or inputs must be set")
    vectors = [vector(text, request.output_dimension or DIMENSIONS) for text in inputs]
    embeddings: Any = vectors
    if by_type:
        types = request.embedding_types or ["float"]
        embeddings = {"float": vectors} if "float" in types else {}
        if "base64" in types:
            embeddings["base64"] = [encode_base64(each) for each in vectors]
    units = {"input_tokens": sum(texts.count_tokens(text) for text in inputs)}
    return json_reply(
        {
            "id": stamp.unique,
            "embeddings": embeddings,
            "texts": request.texts,
            "meta": _meta(units),
            "response_type": "embeddings_by_type" if by_type else "embeddings_floats",
        }
    )


def _rerank(request: _RerankRequest, stamp: Stamp) -> Reply:
    """Return the documents, best first. The score is the share of the query's words that a document has."""
    if not request.query or not request.documents:
        return _error(400, "invalid request: query and documents must be set")
    words = set(re.findall(r"\w+", request.query.lower()))

    def score(document: str | dict[str, Any]) -> float:
        text = document if isinstance(document, str) else " ".join(map(str, document.values()))
        return len(words & set(re.findall(r"\w+", text.lower()))) / len(words) if words else 0.0

    results = [{"index": index, "relevance_score": score(each)} for index, each in enumerate(request.documents)]
    results.sort(key=lambda result: -result["relevance_score"])
    return json_reply({"id": stamp.unique, "results": results[: request.top_n], "meta": _meta({"search_units": 1})})


def _meta(billed_units: dict[str, int]) -> dict[str, Any]:
    return {"api_version": {"version": "2"}, "billed_units": billed_units}


def _event(kind: str, **fields: Any) -> Event:
    return Event(encode_json({"type": kind, **fields}), kind.encode())


def _error(status: int, message: str) -> Reply:
    return json_reply({"message": message}, status)
