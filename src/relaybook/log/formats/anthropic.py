"""Parse Anthropic's Messages API: ``messages`` and ``messages/count_tokens``.

In this API, a message is a text or a list of blocks, and a tool result is a block of a user's message. For facts,
conversations and the detail view, messages are converted to the structure of chat completions:

- ``system`` is the first message.
- Each tool result is a message of role ``tool``.
- ``tool_use`` blocks are tool calls.
- ``thinking`` blocks are reasoning.

A stream is complete at ``message_stop``. ``message_start`` has the number of input tokens. ``message_delta`` has the
total number of output tokens so far. If a stream broke off before ``message_delta``, output tokens are estimated.
Source: the types of Anthropic's SDK, version 2.13.
"""

from collections.abc import Iterable
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from relaybook.log.formats import lenient
from relaybook.log.formats.assembly import choice_of, join, merge, objects, sanitize_object
from relaybook.log.formats.chat_structure import NotChat, function_call, function_tools, text_of
from relaybook.log.formats.facts import Count, RequestFacts, ResponseFacts, Usage
from relaybook.log.formats.format import Format, stream_end
from relaybook.log.formats.message_chain import hash_messages, output_key
from relaybook.log.formats.output_text import OutputText, Tool, output_preview
from relaybook.log.formats.provider_errors import describe_error
from relaybook.log.formats.request import in_range, last_message_preview, metadata_texts
from relaybook.log.formats.request_messages import characters
from relaybook.log.formats.sse import event_ends, read_events
from relaybook.log.formats.text import clean_or_none, estimate_tokens
from relaybook.log.formats.usage import count_of, detail_of
from relaybook.log.formats.wire import Function, Message, Part, ToolCall

_MESSAGE_FIELDS: Final = ("system", "messages")
#: The types of tool calls (``tool_use``, ``server_tool_use``, ``mcp_tool_use``) end with this text.
_CALL: Final = "tool_use"
_RESULT: Final = "tool_result"
_USER_ID: Final = "user_id"
_INPUT: Final = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_CACHE_WRITES: Final = ("ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens")
_MAX_COUNT: Final = 2**63 - 1


class _ResultPart(Struct, gc=False):
    """One block of a tool result's content."""

    type: str | None = None
    text: str | None = None
    source: Raw = Raw()


class _Model(Struct, gc=False):
    model: str | None = None


class _Block(Struct, gc=False):
    """One block of a message.

    Tool results have ``content``. Images and documents have ``source``. If another model takes over the response, a
    block has this model in ``to``.
    """

    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    input: Any = None
    content: str | list[_ResultPart] | dict[str, Any] | None = None
    source: Raw = Raw()
    to: _Model | None = None


class _RequestMessage(Struct, gc=False):
    role: str | None = None
    content: str | list[_Block] | None = None


class _Request(Struct, gc=False):
    model: str | None = None
    system: Raw = Raw()
    messages: list[_RequestMessage] | None = None
    max_tokens: int | None = None
    metadata: dict[str, Any] | None = None
    stream: bool | None = None
    temperature: float | None = None
    top_p: float | None = None


class _Response(Struct, gc=False):
    """A whole response, or the message of ``message_start``.

    A response to ``count_tokens`` has only ``input_tokens``.
    """

    id: str | None = None
    model: str | None = None
    content: list[_Block] | None = None
    stop_reason: str | None = None
    usage: Usage | None = None
    error: Any = None
    input_tokens: Count | None = None


class _Delta(Struct, gc=False):
    text: str | None = None
    thinking: str | None = None
    partial_json: str | None = None
    stop_reason: str | None = None


class _Event(Struct, gc=False):
    type: str | None = None
    index: int | None = None
    delta: _Delta | None = None
    content_block: _Block | None = None
    message: _Response | None = None
    usage: Usage | None = None
    error: Any = None


_REQUEST: Final = msgspec.json.Decoder(_Request)
_RESPONSE: Final = msgspec.json.Decoder(_Response)
_EVENT: Final = msgspec.json.Decoder(_Event)


def read_request(data: bytes) -> RequestFacts:
    """Return the facts of a request.

    A request without ``max_tokens`` is a request to ``count_tokens`` and belongs to no conversation.
    """
    request = lenient.read(_REQUEST, data)
    if request is None:
        return RequestFacts()
    messages = _chat_messages(request)
    metadata = request.metadata or {}
    user = metadata.get(_USER_ID)
    return RequestFacts(
        model=clean_or_none(request.model),
        stream_requested=request.stream,
        user=clean_or_none(user) if isinstance(user, str) else None,
        metadata=metadata_texts({name: value for name, value in metadata.items() if name != _USER_ID}),
        input_preview=last_message_preview(messages),
        temperature=request.temperature,
        top_p=request.top_p,
        max_tokens=in_range(request.max_tokens),
        message_hashes=hash_messages(messages) if messages and request.max_tokens is not None else None,
        understood=True,
    )


def _chat_messages(request: _Request) -> list[Message]:
    """Return the messages, converted to chat-completion messages.

    Their number and order are the same as in ``_list_messages``.
    """
    has_system = bytes(request.system).lstrip()[:1] in (b'"', b"[")
    messages = [Message("system")] if has_system else []
    for message in request.messages or ():
        if isinstance(message.content, list):
            messages += _split(message.role, message.content)
        else:
            messages.append(Message(message.role, message.content))
    return messages


def _split(role: str | None, blocks: list[_Block]) -> list[Message]:
    results = [Message("tool", _result_content(block)) for block in blocks if block.type == _RESULT]
    rest = [block for block in blocks if block.type != _RESULT]
    if results and not rest:
        return results
    content: str | list[Part]
    if role == "assistant":
        content = "".join([block.text for block in rest if block.text])
    else:
        content = [Part(type=block.type, text=block.text, source=block.source) for block in rest]
    calls = [
        ToolCall(function=Function(block.name, _sorted_json(block.input)))
        for block in rest
        if _is_call(block.type, block.name)
    ]
    return [*results, Message(role, content, tool_calls=calls or None)]


def _result_content(block: _Block) -> str | list[Part] | None:
    if isinstance(block.content, list):
        return [Part(type=part.type, text=part.text, source=part.source) for part in block.content]
    return block.content if isinstance(block.content, str) else None


def _is_call(kind: str | None, name: object) -> bool:
    return kind is not None and kind.endswith(_CALL) and name is not None


def _sorted_json(value: object) -> str:
    """Return the arguments of a tool call as JSON with sorted keys and without white space.

    So equal arguments result in equal texts, even if a client has reformatted the arguments.
    """
    return msgspec.json.encode(lenient.sanitize(value or {}), order="sorted").decode()


def _json(value: object) -> str:
    return msgspec.json.encode(lenient.sanitize(value)).decode()


class _Reader:
    """Collects the events of a response, or takes a whole response."""

    def __init__(self) -> None:
        self.message = _Response()
        self.output = OutputText()
        self.usage: Usage = {}
        self.error: object = None
        self.is_done = False
        self._has_final_usage = False
        self._tools: dict[int | None, Tool] = {}

    def add_message(self, message: _Response, *, is_whole: bool) -> None:
        """Add a whole response, or the message at the start of a stream."""
        self.message = message
        for block in message.content or ():
            self._add_block(None, block)
        self._add_usage(message.usage, is_final=is_whole)
        self.output.finish_reason = message.stop_reason
        self.error = self.error or message.error

    def add_stream(self, data: bytes) -> None:
        """Add the complete events of a stream."""
        events = lenient.LenientDecoder(_EVENT)
        for payload in read_events(data):
            event = events.read(payload)
            if event is not None:
                self._add_event(event)

    def _add_event(self, event: _Event) -> None:
        delta = event.delta
        if event.type == "content_block_delta":
            if delta is not None:
                self._add_delta(event.index, delta)
        elif event.type == "content_block_start":
            if event.content_block is not None:
                self._add_block(event.index, event.content_block)
        elif event.type == "message_start":
            if event.message is not None:
                self.add_message(event.message, is_whole=False)
        elif event.type == "message_delta":
            if delta is not None and delta.stop_reason:
                self.output.finish_reason = delta.stop_reason
            self._add_usage(event.usage, is_final=True)
        elif event.type == "message_stop":
            self.is_done = True
        if event.error or event.type == "error":
            self.error = self.error or event.error or {"message": "error"}

    def _add_block(self, index: int | None, block: _Block) -> None:
        output = self.output
        if block.text:
            output.text.append(block.text)
        if block.thinking:
            output.reasoning.append(block.thinking)
        if _is_call(block.type, block.name):
            tool = self._tools[index] = Tool()
            tool.id, tool.type, tool.name = block.id, block.type, block.name
            if block.input:
                tool.arguments.append(_json(block.input))
            output.tools.append(tool)
        if block.type == "fallback" and block.to is not None:
            self.message.model = block.to.model or self.message.model

    def _add_delta(self, index: int | None, delta: _Delta) -> None:
        if delta.text:
            self.output.text.append(delta.text)
        elif delta.thinking:
            self.output.reasoning.append(delta.thinking)
        elif delta.partial_json and index in self._tools:
            self._tools[index].arguments.append(delta.partial_json)

    def _add_usage(self, usage: Usage | None, *, is_final: bool) -> None:
        if usage:
            self.usage |= {name: value for name, value in usage.items() if value is not None or name not in self.usage}
            self._has_final_usage = self._has_final_usage or is_final

    def facts(self) -> ResponseFacts:
        """Return the facts of everything added so far."""
        message, output = self.message, self.output
        facts = ResponseFacts(
            response_model=clean_or_none(message.model),
            completion_id=clean_or_none(message.id),
            finish_reason=clean_or_none(output.finish_reason),
            output_preview=output_preview(output),
            output_characters=output.characters(),
            output_keys=[_output_key(output)] if output.characters() else [],
            understood=bool(message.model or message.content is not None or output.characters() or self.error),
        )
        if message.input_tokens is not None:
            facts.output_preview = f"{message.input_tokens:,} input tokens"
            facts.understood = True
        if self.error:
            facts.has_error = True
            facts.error_code, facts.error_message = describe_error(self.error)
        if self.usage:
            if not self._has_final_usage:
                self.usage.pop("output_tokens", None)
            _set_usage(facts, self.usage)
        return facts


def _output_key(output: OutputText) -> bytes:
    calls = []
    for tool in output.tools:
        arguments = "".join(tool.arguments)
        value = lenient.load(arguments.encode(errors="replace"))
        calls.append((tool.name, arguments if value is None and arguments else _sorted_json(value)))
    return output_key("".join(output.text), calls)


def _set_usage(facts: ResponseFacts, usage: Usage) -> None:
    """Set usage and token counts. The input count includes tokens written to the cache and read from the cache."""
    usage = _with_compactions(usage)
    facts.usage = usage
    tier = usage.get("service_tier")
    facts.service_tier = clean_or_none(tier) if isinstance(tier, str) else None
    facts.cached_tokens = count_of(usage, ("cache_read_input_tokens",))
    facts.output_tokens = count_of(usage, ("output_tokens",))
    facts.reasoning_tokens = detail_of(usage, ("output_tokens_details",), "thinking_tokens")
    counts = [count_of(usage, (name,)) for name in _INPUT]
    total = sum(count or 0 for count in counts)
    facts.input_tokens = total if counts[0] is not None and total <= _MAX_COUNT else None


def _with_compactions(usage: Usage) -> Usage:
    """Return the usage, with the tokens of compactions added to its counts.

    Anthropic lists compactions in ``iterations``, and omits their tokens from the other counts.
    """
    iterations = usage.get("iterations")
    for iteration in iterations if isinstance(iterations, list) else ():
        if iteration.get("type") == "compaction":
            usage = usage | _sums(usage, iteration, (*_INPUT, "output_tokens"))
            writes = usage.get("cache_creation")
            if isinstance(writes, dict):
                usage["cache_creation"] = writes | _sums(writes, iteration.get("cache_creation"), _CACHE_WRITES)
    return usage


def _sums(counts: object, others: object, names: tuple[str, ...]) -> dict[str, int]:
    sums = {name: (count_of(counts, (name,)) or 0) + (count_of(others, (name,)) or 0) for name in names}
    return {name: min(count, _MAX_COUNT) for name, count in sums.items()}


def read_whole(data: bytes) -> ResponseFacts | None:
    """Return the facts of a response that is one JSON object. `None` if the data is not a JSON object."""
    response = lenient.read(_RESPONSE, data)
    if response is None:
        return None
    reader = _Reader()
    reader.add_message(response, is_whole=True)
    return reader.facts()


def read_stream(data: bytes, *, complete: bool) -> ResponseFacts:
    """Return the facts of a streamed response."""
    reader = _Reader()
    reader.add_stream(data)
    facts = reader.facts()
    facts.stream_ended = stream_end(is_done=reader.is_done, complete=complete)
    return facts


def first_token_offset(data: bytes) -> int | None:
    """Return the offset at which the first event with text, thinking or a tool call ends. `None` if there is none."""
    events = lenient.LenientDecoder(_EVENT)
    for payload, end in event_ends(data):
        event = events.read(payload)
        if event is None:
            continue
        block, delta = event.content_block, event.delta
        if block is not None and (block.text or block.thinking or _is_call(block.type, block.name)):
            return end
        if delta is not None and (delta.text or delta.thinking or delta.partial_json):
            return end
    return None


def _estimate_usage(facts: ResponseFacts, request: bytes) -> bool:
    """Estimate the token counts that the response does not have. Return whether any count was estimated."""
    if facts.output_tokens is not None or (facts.response_model is None and not facts.output_characters):
        return False
    facts.output_tokens = estimate_tokens(facts.output_characters)
    facts.usage = (facts.usage or {}) | {"output_tokens": facts.output_tokens}
    if facts.input_tokens is None:
        facts.input_tokens = estimate_tokens(characters(request, _list_messages))
        facts.usage = {"input_tokens": facts.input_tokens, "output_tokens": facts.output_tokens}
    return True


def _list_messages(body: dict[str, Any]) -> list[object]:
    """Return the messages of a request body, converted to chat-completion messages."""
    system, messages = body.get("system"), body.get("messages")
    found: list[object] = [{"role": "system", "content": system}] if isinstance(system, str | list) else []
    for item in messages if isinstance(messages, list) else ():
        if isinstance(item, dict) and isinstance(item.get("content"), list):
            found += _split_item(item, item["content"])
        else:
            found.append(item)
    return found


def _message_fields(body: dict[str, Any]) -> tuple[str, ...]:
    return _MESSAGE_FIELDS


def _split_item(item: dict[str, Any], blocks: list[object]) -> Iterable[dict[str, Any]]:
    rest: list[object] = []
    calls: list[object] = []
    thinking: list[str] = []
    is_result_only = True
    for block in blocks:
        kind = block.get("type") if isinstance(block, dict) else None
        if not isinstance(block, dict) or not isinstance(kind, str):
            rest.append(block)
        elif kind == _RESULT:
            other = {name: value for name, value in block.items() if name not in ("type", "tool_use_id")}
            yield {"role": "tool", "tool_call_id": block.get("tool_use_id"), **other}
            continue
        elif _is_call(kind, block.get("name")):
            function = {"name": block["name"], "arguments": _json(block.get("input"))}
            calls.append({"id": block.get("id"), "type": kind, "function": function})
        elif isinstance(block.get("thinking"), str):
            thinking.append(block["thinking"])
        else:
            rest.append(block)
        is_result_only = False
    if blocks and is_result_only:
        return
    message = item | {"content": rest}
    if calls:
        message["tool_calls"] = calls
    if thinking:
        message["reasoning"] = "\n".join(thinking)
    yield message


def _to_chat(body: dict[str, Any]) -> dict[str, Any]:
    messages = [_to_chat_message(item) for item in _list_messages(body)]
    if not messages:
        raise NotChat
    tools = body.get("tools")
    return {"messages": messages} | (
        {"tools": function_tools(tools, "input_schema")} if isinstance(tools, list) and tools else {}
    )


def _to_chat_message(item: object) -> dict[str, Any]:
    if not isinstance(item, dict) or not isinstance(item.get("role"), str):
        raise NotChat
    content = item.get("content") or ""
    if isinstance(content, list):
        content = [part for part in content if not isinstance(part, dict) or part.get("type") != "redacted_thinking"]
    message = {"role": item["role"], "content": text_of(content)}
    if item["role"] == "tool":
        message["tool_call_id"] = item.get("tool_call_id")
    if calls := item.get("tool_calls"):
        if any(call["type"] != _CALL for call in calls):  # the provider ran this tool, not the client
            raise NotChat
        message["tool_calls"] = [function_call(call["id"], **call["function"]) for call in calls]
        message["content"] = message["content"] or None
    return message


def _assemble(data: bytes, streamed: bool) -> dict[str, Any]:
    reader = _Reader()
    if streamed:
        reader.add_stream(data)
        fields = _assemble_fields(data) | ({"model": reader.message.model} if reader.message.model else {})
    else:
        reader.add_message(lenient.read(_RESPONSE, data) or _Response(), is_whole=True)
        fields = next((sanitize_object(value) for value in objects(data, streamed)), {})
    output = reader.output
    for tool in output.tools:
        tool.arguments = tool.arguments or ["{}"]
    has_output = output.characters() or output.finish_reason or reader.message.content
    fields["choices"] = [choice_of(0, output)] if has_output else []
    return fields


def _assemble_fields(data: bytes) -> dict[str, Any]:
    """Return the message of a stream with all its blocks, as in a response that is not streamed."""
    fields: dict[str, Any] = {}
    blocks: dict[int, dict[str, Any]] = {}
    for value in objects(data, streamed=True):
        kind, index, delta = value.get("type"), value.get("index"), value.get("delta")
        if kind == "message_start" and isinstance(value.get("message"), dict):
            fields |= sanitize_object(value["message"])
        elif kind == "content_block_start" and isinstance(index, int) and isinstance(value.get("content_block"), dict):
            blocks[index] = sanitize_object(value["content_block"])
        elif kind == "content_block_delta" and isinstance(index, int) and isinstance(delta, dict):
            _add_to_block(blocks.setdefault(index, {}), sanitize_object(delta))
        elif kind == "message_delta":
            for name in ("delta", "usage"):
                into = fields if name == "delta" else fields.setdefault("usage", {})
                more = sanitize_object(value[name]) if isinstance(value.get(name), dict) else {}
                if isinstance(into, dict):
                    into |= {key: item for key, item in more.items() if item is not None or key not in into}
        if value.get("error"):
            fields.setdefault("error", lenient.sanitize(value["error"]))
    if blocks:
        fields["content"] = [_finish_block(blocks[index]) for index in sorted(blocks)]
    return fields


def _add_to_block(block: dict[str, Any], delta: dict[str, Any]) -> None:
    if "citation" in delta:
        delta["citations"] = [delta.pop("citation")]
    merge(block, {name: value for name, value in delta.items() if name != "type"})


def _finish_block(block: dict[str, Any]) -> dict[str, Any]:
    """Join the texts of a block, and replace the partial JSON of a tool's input with the parsed value."""
    join(block)
    partial = block.pop("partial_json", None)
    if isinstance(partial, str) and partial:
        value = lenient.load(partial.encode(errors="replace"))
        block["input"] = partial if value is None else lenient.sanitize(value)
    return block


FORMAT: Final[Format] = Format(
    kind="message",
    read_request=read_request,
    read_whole=read_whole,
    read_stream=read_stream,
    first_token_offset=first_token_offset,
    assemble=_assemble,
    list_messages=_list_messages,
    message_fields=_message_fields,
    estimate_usage=_estimate_usage,
    to_chat=_to_chat,
    request_id_header="request-id",
)
