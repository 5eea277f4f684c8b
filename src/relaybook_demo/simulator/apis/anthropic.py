"""Respond to requests to Anthropic's Messages API, with messages, token counts and errors.

Messages are sent whole or as a stream. For the same conversation, the content is the same as in a chat completion
(``generation``), but in Anthropic's format.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import msgspec

from relaybook_demo.simulator import texts
from relaybook_demo.simulator.apis.completions import fixed_tokens
from relaybook_demo.simulator.apis.models import ANTHROPIC as LISTED
from relaybook_demo.simulator.directives import Directives
from relaybook_demo.simulator.generation import Completion, cached_tokens, complete_thinking, prompt_tokens
from relaybook_demo.simulator.incoming import Request
from relaybook_demo.simulator.replies import EVENT_STREAM, Event, Reply, Stamp, encode_json, json_reply
from relaybook_demo.simulator.requests import Block, ChatRequest, Function, Message, MessagesRequest, Tool, text_of

MESSAGES: Final = "/v1/messages"
COUNT_TOKENS: Final = "/v1/messages/count_tokens"
PATHS: Final = (MESSAGES, COUNT_TOKENS)
MODELS: Final = "/v1/models"

_MODEL_PREFIX: Final = "claude-"
_STOP_REASONS: Final = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use"}
_TOOL_CHOICES: Final = {"any": "required", "none": "none"}
_STATUS_ERRORS: Final = {
    400: ("invalid_request_error", "The request is invalid."),
    401: ("authentication_error", "invalid x-api-key"),
    403: ("permission_error", "Your API key does not have permission to use the specified resource."),
    404: ("not_found_error", "The requested resource was not found."),
    413: ("request_too_large", "Request exceeds the maximum size"),
    429: ("rate_limit_error", "This request would exceed the rate limit of your organization."),
    529: ("overloaded_error", "Overloaded"),
}


def serves(request: Request) -> bool:
    """Return whether a request belongs to this API. The list of models has the same path as OpenAI's list."""
    return request.path in PATHS or (request.path == MODELS and request.header(b"anthropic-version") is not None)


def respond(request: Request, directives: Directives, stamp: Stamp) -> Reply:
    """Return the reply to a request. The request id header and the error event are Anthropic's, not OpenAI's."""
    reply = _reply(request, directives, stamp)
    return replace(
        reply, request_id_header=b"request-id", error_event=Event(_error("api_error", "Overloaded"), b"error")
    )


def status_error(status: int) -> Reply:
    """Return the error that Anthropic sends with a status of 400 or more."""
    default = ("api_error" if status >= 500 else "invalid_request_error", f"The request failed with status {status}.")
    error_type, message = _STATUS_ERRORS.get(status, default)
    return replace(_error_reply(status, error_type, message), request_id_header=b"request-id")


def _reply(request: Request, directives: Directives, stamp: Stamp) -> Reply:
    key = request.header(b"x-api-key") or (request.header(b"authorization") or b"").removeprefix(b"Bearer ")
    if not key.strip() or key.startswith(b"sk-invalid"):
        return _error_reply(401, "authentication_error", "invalid x-api-key")
    if request.path == MODELS and request.method in ("GET", "HEAD"):
        return _list_models()
    if request.method != "POST":
        return _error_reply(405, "invalid_request_error", "Method Not Allowed")
    try:
        parsed = msgspec.json.decode(request.body, type=MessagesRequest)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return _error_reply(400, "invalid_request_error", str(error))
    if not parsed.messages:
        return _error_reply(400, "invalid_request_error", "messages: at least one message is required")
    if not parsed.model.startswith(_MODEL_PREFIX):
        return _error_reply(404, "not_found_error", f"model: {parsed.model}")
    messages = _chat_messages(parsed)
    if request.path == COUNT_TOKENS:
        return json_reply({"input_tokens": prompt_tokens(messages)})
    if parsed.max_tokens is None:
        return _error_reply(400, "invalid_request_error", "max_tokens: Field required")
    return _complete(parsed, messages, directives, stamp)


def _list_models() -> Reply:
    models = [
        {"type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z"} for name in LISTED
    ]
    return json_reply({"data": models, "has_more": False, "first_id": models[0]["id"], "last_id": models[-1]["id"]})


def _complete(request: MessagesRequest, messages: list[Message], directives: Directives, stamp: Stamp) -> Reply:
    completion = _completion(request, messages, directives)
    input_tokens = prompt_tokens(messages)
    cached = cached_tokens(input_tokens)
    message = {
        "id": f"msg_{stamp.unique}",
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": _content(completion, stamp),
        "stop_reason": _STOP_REASONS[completion.finish_reason],
        "stop_sequence": None,
        "usage": {
            "input_tokens": input_tokens - cached,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": cached,
            "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
            "output_tokens": completion.output_tokens,
            "service_tier": "standard",
        },
    }
    if bool(request.stream) if directives.stream is None else directives.stream:
        events = [Event(encode_json(event), event["type"].encode()) for event in _events(message, completion)]
        return Reply(content_type=EVENT_STREAM, events=events)
    return json_reply(message, output_tokens=completion.output_tokens)


def _completion(request: MessagesRequest, messages: list[Message], directives: Directives) -> Completion:
    choice = request.tool_choice or {}
    name = choice.get("name")
    thinks = (request.thinking or {}).get("type", "disabled") != "disabled"
    chat = ChatRequest(
        messages=messages,
        max_tokens=request.max_tokens,
        stop=request.stop_sequences,
        tools=[Tool(function=Function(tool.name, tool.input_schema)) for tool in request.tools or ()],
        tool_choice={"function": {"name": name}} if name else _TOOL_CHOICES.get(choice.get("type", "auto")),
        parallel_tool_calls=not choice.get("disable_parallel_tool_use", False),
    )
    return complete_thinking(chat, thinks, fixed_tokens(directives))


def _chat_messages(request: MessagesRequest) -> list[Message]:
    """Convert the conversation to chat messages. Tool results become messages of role ``tool``."""
    messages = [Message("system", _text(request.system))] if request.system else []
    for message in request.messages:
        blocks = message.content if isinstance(message.content, list) else []
        results = [block for block in blocks if block.type == "tool_result"]
        if len(results) < len(blocks) or not blocks:
            messages.append(Message(message.role, _text(message.content)))
        messages += [Message("tool", text_of(block.content)) for block in results]
    return messages


def _text(content: str | list[Block] | None) -> str:
    if isinstance(content, list):
        return "\n".join(block.text for block in content if block.text is not None)
    return content or ""


def _content(completion: Completion, stamp: Stamp) -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = []
    if completion.reasoning:
        content.append({"type": "thinking", "thinking": "".join(completion.reasoning), "signature": stamp.unique})
    if completion.tokens or not completion.tool_calls:
        content.append({"type": "text", "text": completion.text, "citations": None})
    for index, call in enumerate(completion.tool_calls):
        arguments = msgspec.json.decode(call.arguments)
        content.append(
            {"type": "tool_use", "id": f"toolu_{stamp.unique}{index}", "name": call.name, "input": arguments}
        )
    return content


def _events(message: dict[str, Any], completion: Completion) -> Iterator[dict[str, Any]]:
    """Yield the events of a streamed message, in the order in which Anthropic sends them."""
    usage = message["usage"]
    start = {**message, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    yield {"type": "message_start", "message": start}
    yield {"type": "ping"}
    calls = iter(completion.tool_calls)
    empty: dict[str, Any]
    for index, block in enumerate(message["content"]):
        if block["type"] == "thinking":
            empty = {"thinking": "", "signature": ""}
            deltas = [{"type": "thinking_delta", "thinking": token} for token in completion.reasoning]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
        elif block["type"] == "text":
            empty = {"text": ""}
            deltas = [{"type": "text_delta", "text": token} for token in completion.tokens]
        else:
            empty = {"input": {}}
            tokens = texts.split_tokens(next(calls).arguments)
            deltas = [{"type": "input_json_delta", "partial_json": token} for token in ("", *tokens)]
        yield {"type": "content_block_start", "index": index, "content_block": block | empty}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": end, "usage": {"output_tokens": usage["output_tokens"]}}
    yield {"type": "message_stop"}


def _error(error_type: str, message: str) -> bytes:
    return encode_json({"type": "error", "error": {"type": error_type, "message": message}})


def _error_reply(status: int, error_type: str, message: str) -> Reply:
    return Reply(status, _error(error_type, message))
