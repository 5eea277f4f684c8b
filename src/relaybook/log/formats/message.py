"""Read Anthropic's Messages API: ``messages`` and ``messages/count_tokens``.

A message is a text or a list of blocks. ``system`` is the first message. A tool result, which is a block of a user's
message, becomes a message of role ``tool`` before the other blocks of the message. All other blocks are parts, in their
order.

A stream is complete at ``message_stop``. ``message_start`` has the number of input tokens. ``message_delta`` has the
total number of output tokens so far. Source: the types of Anthropic's SDK, version 2.13.
"""

from collections.abc import Iterable
from typing import Any, Final

from relaybook.apis import Match
from relaybook.log.formats.chat import tool_result
from relaybook.log.formats.content import content_parts, ends
from relaybook.log.formats.conversation import Error, Media, Message, Part, Request, Response
from relaybook.log.formats.lenient import as_json, is_object, join, sanitize, text_or_none
from relaybook.log.formats.media import media_part
from relaybook.log.formats.output import OutputBuilder, PartBuilder, merge
from relaybook.log.formats.stream import BaseStream
from relaybook.log.formats.usage import merge_usage

#: The types of tool calls (``tool_use``, ``server_tool_use``, ``mcp_tool_use``) end with this text.
_CALL: Final = "tool_use"
_RESULT: Final = "tool_result"
#: The fields of a delta that are read. All others are fields of the block.
_DELTA_FIELDS: Final = ("type", "text", "thinking", "partial_json")
_CACHE: Final = ("cache_read_input_tokens", "cache_creation_input_tokens")
#: The fields of ``message_delta`` that are read.
_OF_DELTA: Final = ("type", "delta", "usage", "error")
_READ: Final = frozenset({"id", "model", "content", "stop_reason", "usage", "error", "type", "role"})


def read_request(body: dict[str, Any], match: Match) -> Request:
    """Return the system prompt and the messages of a request.

    A request without ``max_tokens`` is a request to ``count_tokens`` and belongs to no conversation.
    """
    system, items = body.get("system"), body.get("messages")
    has_system = isinstance(system, str | list)
    messages = [Message("system", [_part(block) for block in _blocks(system)])] if has_system else []
    first, omitted, last = ends(items if isinstance(items, list) else [])
    for item in (*first, *last):
        messages += _messages(item)
    metadata = body.get("metadata")
    return Request(
        messages=messages,
        omitted=omitted,
        parameters={
            name: value for name, value in body.items() if name != "messages" and not (name == "system" and has_system)
        },
        is_conversation=body.get("max_tokens") is not None,
        user=text_or_none(metadata.get("user_id")) if isinstance(metadata, dict) else None,
    )


def _blocks(content: object) -> list[Any]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return ends(content)[0] + ends(content)[2] if isinstance(content, list) else []


def _messages(item: object) -> Iterable[Message]:
    """Yield the tool results of a message, each as a message, and then the message with all other blocks."""
    if not isinstance(item, dict):
        yield Message("user" if isinstance(item, str) else None, content_parts(item))
        return
    role, blocks = item.get("role"), _blocks(item.get("content"))
    results = [block for block in blocks if is_object(block) and block.get("type") == _RESULT]
    for block in results:
        other = {
            name: value
            for name, value in block.items()
            if name not in ("type", "tool_use_id", "content") and value is not None
        }
        yield Message("tool", _result_parts(block), other=other)
    if results and len(results) == len(blocks):
        return
    parts = [_part(block) for block in blocks if not (is_object(block) and block.get("type") == _RESULT)]
    read = {"role"} if isinstance(role, str) else set()
    if isinstance(item.get("content"), str | list | None):
        read.add("content")
    other = {name: value for name, value in item.items() if name not in read}
    yield Message(sanitize(role) if isinstance(role, str) else None, parts, other=other)


def _result_parts(block: dict[str, Any]) -> list[Part]:
    """Return the parts of a tool's result: the result with all of its text, and its media."""
    content = block.get("content")
    if isinstance(content, str | list | None):
        parts = [_part(inner) for inner in _blocks(content)]
    else:
        parts = [Part(kind="text", text=as_json(content))]
    return tool_result(block.get("tool_use_id"), parts)


def _part(block: object) -> Part:
    """Return one block of a request as a part."""
    builder = PartBuilder("other")
    if not isinstance(block, dict):
        return content_parts([block])[0]
    kind = block.get("type")
    if kind in ("image", "document", "video", "audio") and isinstance(block.get("source"), dict):
        return _media(block, block["source"])
    _take(builder, block)
    part = builder.part()
    if part.kind == "tool_call":
        part.arguments = part.arguments or "{}"
    return part


def _media(block: dict[str, Any], source: dict[str, Any]) -> Part:
    kind = block["type"]
    more = {name: value for name, value in block.items() if name not in ("type", "source") and value is not None}
    if source.get("type") == "text" and isinstance(source.get("data"), str):  # a document as plain text
        text = join([source["data"]])
        media = Media(type=text_or_none(source.get("media_type")), bytes=len(text.encode()))
        return Part(kind="file", text=text, media=media, other=more)
    fields = {name: value for name, value in source.items() if name != "type"}
    return media_part("file" if kind == "document" else kind, fields, more)


def _is_call(kind: object, name: object) -> bool:
    """Return whether a block is the call of a tool."""
    return isinstance(kind, str) and kind.endswith(_CALL) and name is not None


def _take(builder: PartBuilder, block: dict[str, Any]) -> None:
    """Set the kind and the content of a part from its block."""
    kind = block.get("type")
    read = {"type"} if isinstance(kind, str) else set()
    if isinstance(text := block.get("text"), str):
        builder.kind = "text"
        builder.texts = [text] if text else []
        read.add("text")
    elif isinstance(thinking := block.get("thinking"), str):
        builder.kind = "reasoning"
        builder.texts = [thinking] if thinking else []
        read.add("thinking")
    elif _is_call(kind, block.get("name")):
        builder.kind = "tool_call"
        builder.names = [str(block["name"])]
        builder.id = text_or_none(block.get("id"))
        arguments = block.get("input")
        builder.arguments = [arguments if isinstance(arguments, str) else as_json(arguments)] if arguments else []
        builder.type = None if kind == _CALL else kind
        read |= {"name", "id", "input"}
    elif (isinstance(kind, str) and kind.endswith(_RESULT)) or isinstance(block.get("tool_use_id"), str):
        builder.kind = "tool_result"
        builder.id = text_or_none(block.get("tool_use_id"))
        builder.type = text_or_none(kind)
        read.add("tool_use_id")
        content = block.get("content")
        if isinstance(content, str):
            builder.texts = [content]
            read.add("content")
    else:
        builder.type = text_or_none(kind)
    builder.other = {name: value for name, value in block.items() if name not in read and value not in (None, [])}


class Stream(BaseStream):
    """The events of a streamed response so far, or a whole response."""

    def __init__(self) -> None:
        super().__init__()
        self._blocks: dict[int, PartBuilder] = {}
        self._last_index = 0
        self._fields: dict[str, Any] = {}
        self._usage: dict[str, Any] = {}

    @property
    def is_finished(self) -> bool:
        """Whether the end mark arrived, or the response has a stop reason."""
        return self.has_end_mark or bool(self._fields.get("stop_reason"))

    def add(self, event: dict[str, Any], name: str = "") -> None:
        """Add an event, or a whole response."""
        kind = event.get("type")
        if kind == "content_block_delta":
            if is_object(delta := event.get("delta")):
                self._add_delta(event.get("index"), delta)
        elif kind == "content_block_start":
            if is_object(block := event.get("content_block")):
                self._add_block(event.get("index"), block)
        elif kind == "message_start":
            if is_object(message := event.get("message")):
                self._add_message(message, is_whole=False)
        elif kind == "message_delta":
            if is_object(delta := event.get("delta")):
                self._fields |= {key: value for key, value in delta.items() if value is not None}
            more = {key: value for key, value in event.items() if key not in _OF_DELTA and value is not None}
            self._fields |= more  # such as context_management
            if is_object(usage := event.get("usage")):
                self._add_usage(self._without_cache(usage), is_final=True)
        elif kind == "message_stop":
            self.has_end_mark = True
        elif kind not in ("content_block_stop", "ping", "error"):
            self._add_message(event, is_whole=True)
        if kind == "error" or "error" in event or name == "error":
            self.add_error(event, "error" if kind == "error" else name)

    def _has_output(self, event: dict[str, Any]) -> bool:
        return bool(self._blocks)

    def _error_of(self, event: dict[str, Any]) -> Error:
        return Error(message="The stream has an error event.", raw=event)

    def _add_message(self, message: dict[str, Any], *, is_whole: bool) -> None:
        """Add a whole response, or the message at the start of a stream."""
        content = message.get("content")
        if isinstance(content, list) or text_or_none(message.get("model")) or "input_tokens" in message:
            self.is_known = True
        self._fields |= {key: value for key, value in message.items() if value is not None or key not in self._fields}
        for index, block in enumerate(content if isinstance(content, list) else ()):
            if is_object(block):
                self._add_block(index, block)
        self._add_usage(message.get("usage"), is_final=is_whole)
        if is_whole and not self.is_known:
            self.add_error(message)

    def _add_usage(self, usage: object, *, is_final: bool) -> None:
        if isinstance(usage, dict) and usage:
            # The output tokens at the start of a stream are a placeholder.
            merge_usage(self._usage, usage if is_final else {k: v for k, v in usage.items() if k != "output_tokens"})

    def _without_cache(self, usage: dict[str, Any]) -> dict[str, Any]:
        """Return the usage at the end of a stream, with the input tokens that have nothing to do with the cache.

        DashScope counts all input tokens at the start, and only the end says how many of them were cached.
        """
        read, written = (usage.get(name) or 0 for name in _CACHE)
        input_ = self._usage.get("input_tokens")
        is_dashscope = "input_tokens" not in usage and "prompt_tokens_details" in usage
        if is_dashscope and type(input_) is int and type(read) is int and type(written) is int:
            return usage | {"input_tokens": max(0, input_ - read - written)}
        return usage

    def _add_block(self, index: object, block: dict[str, Any]) -> None:
        self.is_known = True
        builder = self._builder(index)
        _take(builder, block)
        if builder.texts or builder.kind == "tool_call":
            self.has_token = True
        to = block.get("to")
        if block.get("type") == "fallback" and is_object(to) and (model := text_or_none(to.get("model"))):
            self._fields["model"] = model

    def _builder(self, index: object) -> PartBuilder:
        key = index if type(index) is int else self._last_index
        builder = self._blocks.get(key)
        if builder is None:
            builder = self._blocks[key] = PartBuilder("other")
            self._last_index = max(self._last_index, key)
        return builder

    def _add_delta(self, index: object, delta: dict[str, Any]) -> None:
        self.is_known = True
        builder = self._builder(index)
        if text := text_or_none(delta.get("text")):
            builder.kind = "text"
            builder.texts.append(text)
        elif thinking := text_or_none(delta.get("thinking")):
            builder.kind = "reasoning"
            builder.texts.append(thinking)
        elif partial := text_or_none(delta.get("partial_json")):
            if builder.kind == "other":
                builder.kind = "tool_call"
            builder.arguments.append(partial)
        else:
            more = {key: value for key, value in delta.items() if key not in _DELTA_FIELDS}
            if "citation" in more:
                more["citations"] = [more.pop("citation")]
            merge(builder.other, more)
            return
        self.has_token = True

    def response(self) -> Response:
        """Return the response with everything added so far."""
        fields = self._fields
        builder = OutputBuilder(0)
        builder.finish_reason = text_or_none(fields.get("stop_reason"))
        parts = [self._blocks[index].part() for index in sorted(self._blocks)]
        counted = fields.get("input_tokens")
        if type(counted) is int and not parts:  # a response to count_tokens
            parts.append(Part(kind="other", type="token_count", text=f"{counted:,} input tokens"))
        for part in parts:
            if part.kind == "tool_call":
                part.arguments = part.arguments or "{}"
        output = builder.output(parts)
        tier = self._usage.get("service_tier")
        has_output = bool(output.parts or output.finish_reason or "content" in fields)
        return Response(
            id=text_or_none(fields.get("id")),
            model=text_or_none(fields.get("model")),
            outputs=[output] if has_output else [],
            usage=self._usage or None,
            tier=text_or_none(tier),
            error=self._error,
            other={name: value for name, value in fields.items() if name not in _READ},
        )
