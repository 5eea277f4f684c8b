"""Parse requests and responses of the Responses API.

A request has items instead of messages. For the detail view and for search, items are converted to the structure of
chat completions. In this structure, ``instructions`` is the first message. A tool call is a message with
``tool_calls``, and the output of a tool call is a message of role ``tool``.

The last event of a streamed response, such as ``response.completed`` or ``response.failed``, has the whole response
object. This event completes the stream, even without ``[DONE]``. If the stream ends before the last event, the text is
assembled from the deltas.
"""

from typing import Any, Final

import msgspec

from relaybook.log.formats import lenient
from relaybook.log.formats.assembly import choice_of, objects, sanitize_object
from relaybook.log.formats.chat_structure import NotChat, function_call, function_tools, text_of
from relaybook.log.formats.facts import MessageHashes, RequestFacts, ResponseFacts
from relaybook.log.formats.format import Format, stream_end
from relaybook.log.formats.message_chain import hash_messages, output_keys
from relaybook.log.formats.output_text import OutputText, Tool, output_preview
from relaybook.log.formats.provider_errors import describe_error
from relaybook.log.formats.request import plain_preview, request_facts
from relaybook.log.formats.request_messages import openai_message_fields, openai_messages
from relaybook.log.formats.sse import event_ends, read_events
from relaybook.log.formats.text import clean_or_none
from relaybook.log.formats.usage import WEB_SEARCHES, count_of, set_usage
from relaybook.log.formats.wire import (
    MESSAGES,
    REQUEST,
    RESPONSE,
    RESPONSE_EVENT,
    Message,
    OutputItem,
    Request,
    Response,
    ResponseEvent,
)

_FINAL: Final = frozenset({"response.completed", "response.failed", "response.incomplete", "response.cancelled"})
_DELTA: Final = ".delta"
_CALL: Final = "_call"
_CALL_FIELDS: Final = ("type", "call_id", "name", "arguments", "input")


def read_request(data: bytes) -> RequestFacts:
    """Return the facts of a request."""
    request = lenient.read(REQUEST, data)
    if request is None:
        return RequestFacts()
    return request_facts(request, plain_preview(request.input), _hash_messages(request))


def _hash_messages(request: Request) -> MessageHashes | None:
    if not request.input:
        return None
    raw = bytes(request.input)
    messages = lenient.read(MESSAGES, raw) if raw.lstrip()[:1] == b"[" else None
    text = None if messages is not None else lenient.load(raw)
    if isinstance(text, str):
        messages = [Message("user", text)]
    if not messages:
        return None
    if _is_message(request.instructions):
        messages.insert(0, Message("system"))
    conversation = request.conversation
    if isinstance(conversation, dict):
        conversation = conversation.get("id")
    return hash_messages(
        messages,
        clean_or_none(request.previous_response_id),
        clean_or_none(conversation) if isinstance(conversation, str) else None,
    )


def _is_message(instructions: object) -> bool:
    """Return whether instructions count as a message, in ``_hash_messages`` and ``_list_messages``."""
    return isinstance(instructions, str | list) and bool(instructions)


def _list_messages(body: dict[str, Any]) -> list[object]:
    """Return the instructions and the items of a request body, converted to chat-completion messages."""
    instructions = body.get("instructions")
    found: list[object] = [{"role": "system", "content": instructions}] if _is_message(instructions) else []
    return found + [_to_message(item) for item in openai_messages(body)]


def _message_fields(body: dict[str, Any]) -> tuple[str, ...]:
    fields = openai_message_fields(body)
    return (*fields, "instructions") if _is_message(body.get("instructions")) else fields


def _to_message(item: object) -> object:
    """Convert a tool call or its output to a chat message. All other items are returned as sent."""
    if not isinstance(item, dict) or item.get("role") is not None:
        return item
    kind, name = item.get("type"), item.get("name")
    if not isinstance(kind, str):
        return item
    if kind.endswith("_call_output") and "output" in item:
        other = {key: value for key, value in item.items() if key not in ("type", "call_id", "output")}
        return {**other, "role": "tool", "tool_call_id": item.get("call_id"), "content": item["output"]}
    if kind.endswith("_call") and name is not None:
        arguments = item.get("input") if item.get("arguments") is None else item["arguments"]
        call = {"id": item.get("call_id"), "type": kind, "function": {"name": name, "arguments": arguments}}
        other = {key: value for key, value in item.items() if key not in _CALL_FIELDS}
        return {**other, "role": "assistant", "tool_calls": [call]}
    return item


def read_whole(data: bytes) -> ResponseFacts | None:
    """Return the facts of a response object. `None` if the data is not a JSON object."""
    response = lenient.read(RESPONSE, data)
    return None if response is None else _facts(response, output_text_of(response))


def read_stream(data: bytes, *, complete: bool) -> ResponseFacts:
    """Return the facts of a streamed response.

    The facts come from the last response object in the stream. If the stream has no response object, or if the object
    has no output, the output is assembled from the deltas.
    """
    last, output_text, error, is_done = fold_stream(data)
    if last.output:
        output_text = output_text_of(last)
    facts = _facts(last, output_text)
    if error is not None:
        facts.error_code, facts.error_message = describe_error(error)
        facts.understood = facts.has_error = True
    facts.stream_ended = stream_end(is_done=is_done, complete=complete)
    return facts


def fold_stream(data: bytes) -> tuple[Response, OutputText, object, bool]:
    """Return the last response object, the joined deltas, the first error, and whether the stream is complete."""
    last, output_text = Response(), OutputText()
    tools: dict[int, Tool] = {}
    error: object = None
    is_done = False
    events = lenient.LenientDecoder(RESPONSE_EVENT)
    for payload in read_events(data):
        event = events.read(payload)
        if event is None:
            is_done = is_done or payload.startswith(b"[DONE]")
            continue
        if event.response is not None:
            last = event.response
        is_done = is_done or event.type in _FINAL
        if event.type == "error" or event.error:
            error = error or event.error or {"code": event.code, "message": event.message}
        _add_event(output_text, tools, event)
    return last, output_text, error, is_done


def first_token_offset(data: bytes) -> int | None:
    """Return the offset at which the first event with generated text or arguments ends. `None` if there is none."""
    events = lenient.LenientDecoder(RESPONSE_EVENT)
    for payload, end in event_ends(data):
        event = events.read(payload)
        if event is not None and event.type and event.type.endswith(_DELTA) and event.delta:
            return end
    return None


def output_text_of(response: Response) -> OutputText:
    """Return the output of all items of a response as one choice."""
    output_text = OutputText()
    for item in response.output or ():
        _add_item(output_text, item)
    return output_text


def _add_item(output_text: OutputText, item: OutputItem) -> None:
    target = output_text.reasoning if item.type == "reasoning" else output_text.text
    for part in (item.content or []) + (item.summary or []):
        if part.text:
            target.append(part.text)
        if part.refusal:
            output_text.refusal.append(part.refusal)
    arguments = item.arguments if item.arguments is not None else item.input
    tool = Tool()
    tool.id, tool.type, tool.name = item.call_id or item.id, item.type, item.name
    if item.name is not None or arguments is not None:
        tool.arguments.append(arguments or "")
        output_text.tools.append(tool)
    elif item.type is not None and item.type.endswith(_CALL):
        tool.name = item.type.removesuffix(_CALL)
        values = (item.action, item.operation, item.queries)
        called = next((msgspec.json.encode(lenient.sanitize(value)).decode() for value in values if value), "")
        tool.arguments.append(item.code or called)
        output_text.unnamed_tools.append(tool)


def _add_event(output_text: OutputText, tools: dict[int, Tool], event: ResponseEvent) -> None:
    """Add the event to the output. ``tools`` maps each ``output_index`` to its tool call."""
    kind = event.type or ""
    if kind == "response.output_item.added" and event.item is not None and event.item.name:
        _add_item(output_text, event.item)
        if event.output_index is not None:
            tools[event.output_index] = output_text.tools[-1]
    elif event.delta and kind.endswith(_DELTA):
        if kind == "response.output_text.delta":
            output_text.text.append(event.delta)
        elif kind == "response.refusal.delta":
            output_text.refusal.append(event.delta)
        elif "reasoning" in kind:
            output_text.reasoning.append(event.delta)
        elif output_text.tools and ("arguments" in kind or "input" in kind):
            tool = tools.get(event.output_index) if event.output_index is not None else None
            (tool or output_text.tools[-1]).arguments.append(event.delta)


def _finish_reason(response: Response) -> str | None:
    details = response.incomplete_details
    return clean_or_none((details and details.reason) or response.status)


def _facts(response: Response, output_text: OutputText) -> ResponseFacts:
    facts = ResponseFacts(
        response_model=clean_or_none(response.model),
        completion_id=clean_or_none(response.id),
        finish_reason=_finish_reason(response),
        service_tier=clean_or_none(response.service_tier),
        output_preview=output_preview(output_text),
        output_characters=output_text.characters(),
        output_keys=output_keys([output_text]) if output_text.characters() or response.output else [],
        understood=bool(response.output is not None or response.model or response.error or output_text.text),
    )
    if response.error:
        facts.has_error = True
        facts.error_code, facts.error_message = describe_error(response.error)
    if response.usage:
        searches = count_of((response.tool_usage or {}).get("web_search"), ("num_requests",))
        set_usage(facts, response.usage | ({WEB_SEARCHES: searches} if searches else {}))
    return facts


def _assemble(data: bytes, streamed: bool) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if streamed:
        last, output_text, error, _ = fold_stream(data)
        if last.output:
            output_text = output_text_of(last)
        for value in objects(data, streamed):
            if isinstance(value.get("response"), dict):
                fields = sanitize_object(value["response"])
        if error is not None:
            fields["error"] = lenient.sanitize(error)
    else:
        last = lenient.read(RESPONSE, data) or RESPONSE.decode(b"{}")
        output_text = output_text_of(last)
        fields = next((sanitize_object(value) for value in objects(data, streamed)), {})
    choice = choice_of(0, output_text)
    choice["finish_reason"] = _finish_reason(last)
    fields["choices"] = [choice] if output_text.characters() or last.output else []
    return fields


def _to_chat(body: dict[str, Any]) -> dict[str, Any]:
    """Return the messages and tools of a request body as fields of a chat completions request.

    Raises NotChat if these fields cannot express the request. Also raises NotChat if the request refers to messages or
    a prompt that only the provider has.
    """
    if any(body.get(name) for name in ("previous_response_id", "conversation", "prompt")):
        raise NotChat
    instructions = body.get("instructions")
    messages = [{"role": "system", "content": text_of(instructions)}] if instructions else []
    for item in openai_messages(body):
        _add_chat_message(messages, item)
    if not messages:
        raise NotChat
    tools = body.get("tools")
    return {"messages": messages} | (
        {"tools": function_tools(tools, "parameters")} if isinstance(tools, list) and tools else {}
    )


def _add_chat_message(messages: list[dict[str, Any]], item: object) -> None:
    if isinstance(item, str):
        messages.append({"role": "user", "content": item})
        return
    if not isinstance(item, dict):
        raise NotChat
    kind = item.get("type", "message")
    if kind == "message" and isinstance(item.get("role"), str):
        messages.append({"role": item["role"], "content": text_of(item.get("content"))})
    elif kind == "function_call":
        call = function_call(item.get("call_id"), item.get("name"), item.get("arguments"))
        if messages and messages[-1]["role"] == "assistant":
            messages[-1].setdefault("tool_calls", []).append(call)
        else:
            messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
    elif kind == "function_call_output":
        output = text_of(item.get("output"))
        messages.append({"role": "tool", "tool_call_id": item.get("call_id"), "content": output})
    elif kind != "reasoning":
        raise NotChat


FORMAT: Final[Format] = Format(
    kind="response",
    read_request=read_request,
    read_whole=read_whole,
    read_stream=read_stream,
    first_token_offset=first_token_offset,
    assemble=_assemble,
    list_messages=_list_messages,
    message_fields=_message_fields,
    to_chat=_to_chat,
)
