"""Read Cohere's chat API: ``v2/chat`` and the older ``v1/chat``.

In version 2, messages are similar to those of chat completions. ``tool_plan`` is the reasoning before tool calls. A
stream has content blocks, a plan, tool calls and citations, and is complete at ``message-end``. In version 1, a request
has ``message`` and ``chat_history``, and a stream, usually of JSON lines, is complete at ``stream-end``. ``meta`` has
the counts. The roles of version 1 get the names that they have in version 2. Source: the types of Cohere's Python SDK,
version 7.3.
"""

from typing import Any, Final

from relaybook.apis import Match
from relaybook.log.formats import chat
from relaybook.log.formats.content import content_parts, ends
from relaybook.log.formats.conversation import Error, Message, Part, Request, Response
from relaybook.log.formats.lenient import as_json, is_object, join, sanitize, text_or_none
from relaybook.log.formats.output import OutputBuilder, PartBuilder, add_fragment, merge, snapshot
from relaybook.log.formats.provider_errors import find_error
from relaybook.log.formats.stream import BaseStream
from relaybook.log.formats.usage import merge_usage

_PLAN: Final = "tool_plan"
_ROLES: Final = {"USER": "user", "CHATBOT": "assistant", "SYSTEM": "system", "TOOL": "tool"}
#: The fields of an event or of a whole response that are read.
_READ: Final = frozenset(
    {
        *("type", "event_type", "index", "delta", "id", "message", "finish_reason", "usage", "logprobs", "error"),
        *("text", "generation_id", "tool_calls", "tool_call_delta", "citations", "meta", "response", "is_finished"),
    }
)
_MESSAGE: Final = frozenset({"role", "content", "tool_calls", "citations", _PLAN})
_DELTA: Final = frozenset({"message", "finish_reason", "usage", "error"})
_CALL: Final = frozenset({"id", "type", "function", "name", "parameters", "index"})


def read_request(body: dict[str, Any], match: Match) -> Request:
    """Return the messages of a request."""
    if "messages" not in body and match.path != "v2/chat":
        return _read_first_version(body)
    items = body.get("messages")
    if isinstance(items, list):
        body = body | {"messages": list(map(_with_texts, items))}
    request = chat.read_request(body, match)
    for message in request.messages:
        plan = message.other.get(_PLAN)
        if isinstance(plan, str):
            del message.other[_PLAN]
            message.parts.insert(0, Part("reasoning", join([plan]), type=_PLAN))
    return request


def _with_texts(item: Any) -> Any:
    """Return a message in which documents are texts."""
    if is_object(item) and isinstance(content := item.get("content"), list):
        return item | {"content": list(map(_text_of_document, content))}
    return item


def _text_of_document(block: Any) -> Any:
    document = block.get("document") if is_object(block) else None
    if not is_object(document) or "data" not in document:
        return block
    data = document["data"]
    more = {name: value for name, value in document.items() if name != "data"}
    rest = {name: value for name, value in block.items() if name not in ("type", "document")}
    return {"type": "text", "text": data if isinstance(data, str) else as_json(data)} | more | rest


def _read_first_version(body: dict[str, Any]) -> Request:
    messages, read = [], set()
    if preamble := text_or_none(body.get("preamble")):
        messages.append(Message("system", content_parts(preamble)))
        read.add("preamble")
    history, omitted = body.get("chat_history"), 0
    if isinstance(history, list):
        first, omitted, last = ends(history)
        messages += [message for item in (*first, *last) for message in _messages(item)]
        read.add("chat_history")
    if isinstance(text := body.get("message"), str):
        messages += [Message("user", content_parts(text))] if text else []
        read.add("message")
    if isinstance(results := body.get("tool_results"), list):
        messages += map(_result, results)
        read.add("tool_results")
    return Request(
        messages=messages,
        omitted=omitted,
        parameters={name: value for name, value in body.items() if name not in read},
        is_conversation=True,
        conversation=text_or_none(body.get("conversation_id")),
    )


def _messages(item: object) -> list[Message]:
    """Return a message of the history. Each result of a tool is a message of its own."""
    if not is_object(item):
        return [Message("user" if isinstance(item, str) else None, content_parts(item))]
    results = item.get("tool_results")
    messages = list(map(_result, results)) if isinstance(results, list) else []
    role, text, calls = item.get("role"), item.get("message"), item.get("tool_calls")
    parts = content_parts(text) if isinstance(text, str) else []
    parts += [_call(call).part() for call in calls if is_object(call)] if isinstance(calls, list) else []
    read = {
        "role": isinstance(role, str),
        "message": isinstance(text, str),
        "tool_calls": isinstance(calls, list),
        "tool_results": isinstance(results, list),
    }
    other = {name: value for name, value in item.items() if value is not None and not read.get(name)}
    if parts or other or not messages:
        name = _ROLES.get(role, sanitize(role)) if isinstance(role, str) else None
        messages.append(Message(name, parts, other=other))
    return messages


def _result(item: object) -> Message:
    if not is_object(item):
        return Message("tool", [Part("tool_result", as_json(item))])
    call, outputs = item.get("call"), item.get("outputs")
    name = text_or_none(call.get("name")) if is_object(call) else None
    part = Part("tool_result", None if outputs is None else as_json(outputs), sanitize(name))
    return Message("tool", [part], other={name: value for name, value in item.items() if name != "outputs"})


def _call(call: dict[str, Any]) -> PartBuilder:
    """Return a tool call. Calls of version 1 have a name and parameters instead of a function."""
    builder = PartBuilder("tool_call")
    _add_call(builder, call)
    return builder


def _add_call(builder: PartBuilder, call: dict[str, Any]) -> None:
    called = call.get("function")
    called = called if is_object(called) else call
    if name := text_or_none(called.get("name")):
        builder.add_name(name)
    arguments = called.get("arguments")
    if arguments is None:
        arguments = called.get("parameters")
    if arguments is not None:
        add_fragment(builder.arguments, arguments if isinstance(arguments, str) else as_json(arguments))
    builder.id = builder.id or text_or_none(call.get("id"))
    kind = text_or_none(call.get("type"))
    builder.type = builder.type or (kind if kind != "function" else None)
    merge(builder.other, {key: value for key, value in call.items() if key not in _CALL})


class Stream(BaseStream):
    """The events of a streamed response so far. A whole response counts as one event."""

    def __init__(self) -> None:
        super().__init__()
        self._output = OutputBuilder(0)
        self._plan = PartBuilder("reasoning")
        self._plan.type = _PLAN
        self._blocks: dict[int, PartBuilder] = {}
        self._calls: dict[int, PartBuilder] = {}
        self._id: str | None = None
        self._usage: dict[str, Any] = {}
        self._fields: dict[str, Any] = {}

    @property
    def is_finished(self) -> bool:
        """Whether the end mark or a finish reason arrived."""
        return self.has_end_mark or self._output.finish_reason is not None

    def add(self, event: dict[str, Any], name: str = "") -> None:
        """Add an event, or a whole response."""
        kind = event.get("type") or event.get("event_type")
        delta = event.get("delta")
        if is_object(delta):
            if is_object(message := delta.get("message")):
                self._add_message(message, event.get("index"))
            self._add_end(delta)
            if not delta.keys() <= _DELTA:
                more = {key: value for key, value in delta.items() if key not in _DELTA and value is not None}
                merge(self._fields, more, joins_texts=False)
        elif is_object(response := event.get("response")):
            self._add_whole(response)
        elif kind is None:
            self._add_whole(event)
        else:
            self._add_first_version(event)
        if kind in ("message-end", "stream-end"):
            self.has_end_mark = True
        self._add_end(event)
        self._add_fields(event)
        if "error" in event or not self.is_known:
            self.add_error(event, name)

    def _add_fields(self, event: dict[str, Any]) -> None:
        """Add what any event can have, and fields that are not known."""
        self._id = self._id or text_or_none(event.get("id")) or text_or_none(event.get("generation_id"))
        if event.keys() <= _READ and "logprobs" not in event:
            return
        if logprobs := event.get("logprobs"):
            probabilities = logprobs if isinstance(logprobs, list) else [logprobs]
            merge(self._output.other, {"logprobs": list(probabilities)})
        more = {key: value for key, value in event.items() if key not in _READ and value is not None}
        merge(self._fields, more, joins_texts=False)

    def _add_end(self, fields: dict[str, Any]) -> None:
        """Add the finish reason, the counts and the error that the end of a stream and a whole response have."""
        if reason := text_or_none(fields.get("finish_reason")):
            self._output.finish_reason = reason
            self.is_known = True
        for name in ("usage", "meta"):
            if is_object(usage := fields.get(name)):
                merge_usage(self._usage, usage)
                self.is_known = True
        if (error := fields.get("error")) is not None and self._error is None:
            self._error = find_error({"error": error}, has_output=True)

    def _add_whole(self, response: dict[str, Any]) -> None:
        """Add a whole response, also the one at the end of a stream of version 1."""
        if is_object(message := response.get("message")):
            self._add_message(message, None)
        if isinstance(text := response.get("text"), str):
            self.is_known = True
            snapshot(self._block(0, "text").texts, text)
            self.has_token |= bool(text)
        if isinstance(calls := response.get("tool_calls"), list):
            self._set_calls(calls)
        if isinstance(citations := response.get("citations"), list):
            self._output.other["citations"] = citations
        self._add_end(response)
        self._add_fields(response)

    def _add_first_version(self, event: dict[str, Any]) -> None:
        """Add an event of a stream of version 1, except the last one."""
        kind = event.get("event_type")
        self.is_known |= kind is not None
        if text := text_or_none(event.get("text")):
            self._block(0, "text").texts.append(text)
            self.has_token = True
        if isinstance(calls := event.get("tool_calls"), list):
            self._set_calls(calls)
        elif is_object(delta := event.get("tool_call_delta")):
            self._add_call(delta, delta.get("index"))
        if isinstance(citations := event.get("citations"), list):
            merge(self._output.other, {"citations": list(citations)})

    def _add_message(self, message: dict[str, Any], index: object) -> None:
        """Add a whole message, or the part of a message that an event has."""
        self.is_known = True
        content = message.get("content")
        for position, block in enumerate(content if isinstance(content, list) else [content]):
            if is_object(block):
                self._add_block(block, position if index is None else index)
            elif isinstance(block, str) and block:
                self._block(position if index is None else index, "text").texts.append(block)
                self.has_token = True
        add_fragment(self._plan.texts, message.get(_PLAN))
        self.has_token |= bool(self._plan.texts)
        calls = message.get("tool_calls")
        for position, call in enumerate(calls if isinstance(calls, list) else [calls]):
            if is_object(call):
                self._add_call(call, position if index is None else index)
        if citations := message.get("citations"):
            merge(self._output.other, {"citations": list(citations) if isinstance(citations, list) else [citations]})
        if not message.keys() <= _MESSAGE:
            more = {key: value for key, value in message.items() if key not in _MESSAGE and value is not None}
            merge(self._output.other, more)

    def _add_block(self, block: dict[str, Any], index: object) -> None:
        builder = self._block(index, "other")
        kind = block.get("type")
        if isinstance(thinking := block.get("thinking"), str):
            builder.kind = "reasoning"
            add_fragment(builder.texts, thinking)
        elif isinstance(text := block.get("text"), str):
            builder.kind = "text"
            add_fragment(builder.texts, text)
        elif builder.kind == "other":
            builder.type = text_or_none(kind)
        self.has_token |= bool(builder.texts)
        read = ("type", "text") if builder.kind == "text" else ("type", "thinking")
        merge(builder.other, {key: value for key, value in block.items() if key not in read and value is not None})

    def _block(self, index: object, kind: str) -> PartBuilder:
        key = index if type(index) is int else 0
        builder = self._blocks.get(key)
        if builder is None:
            builder = self._blocks[key] = PartBuilder("text" if kind == "text" else "other")
        return builder

    def _add_call(self, call: dict[str, Any], index: object) -> None:
        key = index if type(index) is int else 0
        builder = self._calls.get(key)
        if builder is None:
            builder = self._calls[key] = PartBuilder("tool_call")
        _add_call(builder, call)
        self.has_token = True

    def _set_calls(self, calls: list[Any]) -> None:
        """Replace all calls by whole ones."""
        self.is_known = True
        self._calls = {index: _call(call) for index, call in enumerate(calls) if is_object(call)} or self._calls
        self.has_token |= bool(self._calls)

    def response(self) -> Response:
        """Return the response with everything added so far."""
        builders = [self._plan, *(self._blocks[index] for index in sorted(self._blocks))]
        parts = [builder.part() for builder in builders]
        parts += [self._calls[index].part() for index in sorted(self._calls)]
        for part in parts:
            if part.kind == "tool_call":
                part.arguments = part.arguments or "{}"
        output = self._output.output(parts)
        error = self._error
        if error is None and output.finish_reason == "ERROR":
            error = Error("ERROR", "The finish reason is ERROR.")
        return Response(
            id=self._id,
            outputs=[output] if output.parts or output.finish_reason or output.other or self.has_end_mark else [],
            usage=self._usage or None,
            error=error,
            other=self._fields,
        )
