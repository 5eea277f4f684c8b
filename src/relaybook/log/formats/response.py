"""Read OpenAI's Responses API, in which requests and responses are lists of items.

A stored response (``GET responses/{id}``) is read like a new one. ``responses/input_tokens`` only counts tokens.

``instructions`` is the first message. A call of a tool is a message of the assistant with one part, and the output of a
tool is a message of role ``tool``. All items of a response together are one output.

A stream has events with deltas, events with whole texts and items (``.done``), and a last event such as
``response.completed`` with the whole response object, which completes the stream even without ``[DONE]``.
"""

from typing import Any, Final

from relaybook.apis import Match
from relaybook.log.formats.chat import arguments_of, tool_result
from relaybook.log.formats.content import content_parts, ends
from relaybook.log.formats.conversation import Error, Message, Part, PartKind, Request, Response
from relaybook.log.formats.lenient import as_json, is_object, sanitize, text_or_none
from relaybook.log.formats.output import DROPPED, OutputBuilder, PartBuilder, has_content, snapshot
from relaybook.log.formats.provider_errors import describe_error
from relaybook.log.formats.stream import BaseStream
from relaybook.log.formats.usage import WEB_SEARCHES

_FINAL: Final = frozenset({"response.completed", "response.failed", "response.incomplete", "response.cancelled"})
#: The path that counts the tokens of a request, and the type of its response.
_COUNT_PATH: Final = "responses/input_tokens"
_COUNT: Final = "response.input_tokens"
_CALL: Final = "_call"
_RESULT: Final = "_call_output"
#: The fields of a call that have its arguments. OpenAI's own tools have one of the later ones.
_ARGUMENTS: Final = ("arguments", "input", "action", "operation", "code", "queries", "query")
_READ: Final = frozenset({"id", "model", "output", "usage", "service_tier", "error", "object", *DROPPED})
#: Kinds of parts by the type of the event with their delta.
_DELTAS: Final[dict[str, PartKind]] = {
    "response.output_text.delta": "text",
    "response.refusal.delta": "refusal",
    "response.reasoning_text.delta": "reasoning",
    "response.reasoning_summary_text.delta": "reasoning",
    "response.reasoning_summary.delta": "reasoning",
    "response.reasoning.delta": "reasoning",
    "response.audio.transcript.delta": "audio",
}
_WHOLE: Final[dict[str, tuple[PartKind, str]]] = {
    "response.output_text.done": ("text", "text"),
    "response.refusal.done": ("refusal", "refusal"),
    "response.reasoning_text.done": ("reasoning", "text"),
    "response.reasoning_summary_text.done": ("reasoning", "text"),
}


def read_request(body: dict[str, Any], match: Match) -> Request:
    """Return the instructions and items of a request as messages, and what the request continues."""
    value = body.get("input")
    items = value if isinstance(value, list) else [value] if isinstance(value, str) and value else []
    first, omitted, last = ends(items)
    messages = [read_item(item) for item in (*first, *last)]
    read = {"input"} if isinstance(value, str | list) else set()
    instructions = body.get("instructions")
    if isinstance(instructions, str | list) and instructions:
        read.add("instructions")
        messages.insert(0, _instructions(instructions))
    conversation = body.get("conversation")
    if isinstance(conversation, dict):
        conversation = conversation.get("id")
    return Request(
        messages=messages,
        omitted=omitted,
        parameters={name: item for name, item in body.items() if name not in read},
        is_conversation=bool(items) and match.path != _COUNT_PATH,
        previous=text_or_none(body.get("previous_response_id")),
        conversation=text_or_none(conversation),
    )


def _instructions(value: str | list[Any]) -> Message:
    """Return instructions, which are a text, or rarely a list of items."""
    if isinstance(value, str):
        return Message("system", content_parts(value))
    return Message("system", [part for item in ends(value)[0] for part in read_item(item).parts])


def read_item(item: object) -> Message:
    """Return one item of a request as a message."""
    if not isinstance(item, dict):
        return Message("user" if isinstance(item, str) else None, content_parts(item))
    role, kind = item.get("role"), item.get("type")
    role = sanitize(role) if isinstance(role, str) else None
    kind = kind if isinstance(kind, str) else ""
    if role is not None and ("content" in item or kind in ("", "message")):
        return Message(role, content_parts(item.get("content")), other=_rest(item, "role", "content", "type"))
    if kind.endswith(_RESULT) and "output" in item:
        parts = tool_result(item.get("call_id"), _result_parts(item["output"]))
        return Message("tool", parts, other=_rest(item, "type", "call_id", "output"))
    if kind == "reasoning" or _is_call(item, kind):
        builder = _ItemBuilder(item)
        return Message("assistant", [part.part() for part in builder.parts], other=builder.rest(item))
    rest = item if role is None else _rest(item, "role", "type")
    return Message(role, [Part(kind="other", type=sanitize(kind) or None, other=rest)])


def _is_call(item: dict[str, Any], kind: str) -> bool:
    """Return whether an item is a call, or asks for approval of a call (``mcp_approval_request``)."""
    return kind.endswith(_CALL) or "arguments" in item or bool(kind and item.get("name") and "content" not in item)


def _result_parts(output: object) -> list[Part]:
    """Return the output of a tool. Output that is neither a text nor a list of parts becomes JSON."""
    if isinstance(output, str) or (
        isinstance(output, list) and all(isinstance(part, dict) and "type" in part for part in output)
    ):
        return content_parts(output)
    if is_object(output) and output.get("type") == "computer_screenshot":
        return content_parts([output])
    return [] if output is None else [Part(kind="text", text=as_json(output))]


def _rest(item: dict[str, Any], *read: str) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name not in read and value is not None}


class _ItemBuilder:
    """One output item so far: a message, reasoning, or a call. Its parts are keyed by their place in the item."""

    def __init__(self, item: dict[str, Any] | None = None) -> None:
        self.kind = ""
        self.item: dict[str, Any] = {}
        self.parts: list[PartBuilder] = []
        self._by_key: dict[tuple[PartKind, int], PartBuilder] = {}
        if item is not None:
            self.whole(item)

    def part(self, kind: PartKind, index: object) -> PartBuilder:
        """Return the part of this kind at an index of the content or the summary. It is added if it is new."""
        key = (kind, index if isinstance(index, int) else 0)
        part = self._by_key.get(key)
        if part is None:
            part = self._by_key[key] = PartBuilder(kind)
            self.parts.append(part)
        return part

    def call(self) -> PartBuilder:
        """Return the tool call of the item."""
        return self.part("tool_call", 0)

    def whole(self, item: dict[str, Any]) -> None:
        """Take the whole item. Its texts replace what came for them before."""
        kind = text_or_none(item.get("type")) or ""
        self.kind = kind or self.kind
        self.item = self.item | {name: value for name, value in item.items() if value is not None}
        if kind == "reasoning":
            self._take_reasoning(_texts(item.get("summary")), _texts(item.get("content")))
        elif _is_call(item, kind):
            self._take_call(item, kind)
        else:
            self._take_content(item.get("content"))

    def _take_reasoning(self, summary: list[str], content: list[str]) -> None:
        summaries = [part for (_, index), part in self._by_key.items() if index < _CONTENT_AFTER_SUMMARY]
        if not summary and "".join(content) == "".join(text for part in summaries for text in part.texts):
            return  # LiteLLM repeats the summary as content
        for offset, texts in ((0, summary), (_CONTENT_AFTER_SUMMARY, content)):
            for index, text in enumerate(texts, offset):
                snapshot(self.part("reasoning", index).texts, text)
            self._drop(offset + len(texts), offset + _CONTENT_AFTER_SUMMARY)

    def _drop(self, first: int, end: int) -> None:
        """Drop texts that the whole item does not have. vLLM gives the parts of a stream other indexes."""
        if first % _CONTENT_AFTER_SUMMARY == 0:
            return  # the whole item has no texts at all
        for key in [key for key in self._by_key if key[0] in _TEXTS and first <= key[1] < end]:
            self.parts.remove(self._by_key.pop(key))

    def _take_content(self, content: object) -> None:
        found_parts = content_parts(content)
        self._drop(len(found_parts), _CONTENT_AFTER_SUMMARY)
        for index, found in enumerate(found_parts):
            part = self.part(found.kind, index)
            snapshot(part.texts, found.text)
            part.media = found.media or part.media
            other = {name: value for name, value in found.other.items() if value not in (None, [], {})}
            part.other = other or part.other
            part.type = found.type

    def _take_call(self, item: dict[str, Any], kind: str) -> None:
        part = self.call()
        name = text_or_none(item.get("name"))
        snapshot(part.names, name or kind.removesuffix(_CALL))
        part.id = text_or_none(item.get("call_id")) or text_or_none(item.get("id")) or part.id
        part.type = kind if kind not in ("function_call", "") else None
        value = next((item[field] for field in _ARGUMENTS if item.get(field)), None)
        snapshot(part.arguments, value if isinstance(value, str) else None if value is None else as_json(value))

    def rest(self, item: dict[str, Any]) -> dict[str, Any]:
        """Return the fields of the item that its parts do not have."""
        field = next((name for name in _ARGUMENTS if item.get(name)), "")
        return _rest(item, "type", "role", "content", "summary", "name", "call_id", field, *DROPPED)


#: The parts of a reasoning item's content are keyed after those of its summary.
_CONTENT_AFTER_SUMMARY: Final = 1 << 32
_TEXTS: Final = ("text", "refusal", "reasoning")


def _texts(parts: object) -> list[str]:
    if isinstance(parts, str):
        return [parts]
    items = parts if isinstance(parts, list) else []
    return [(text_or_none(item.get("text")) or "") if is_object(item) else "" for item in items]


class Stream(BaseStream):
    """The events of a streamed response so far, or a whole response object."""

    def __init__(self) -> None:
        super().__init__()
        self._fields: dict[str, Any] = {}
        self._usage: dict[str, Any] | None = None
        self._items: dict[int, _ItemBuilder] = {}
        self._last_index = 0
        self._by_id: dict[str, _ItemBuilder] = {}

    def add(self, event: dict[str, Any], name: str = "") -> None:
        """Add an event, or a whole response object."""
        kind = text_or_none(event.get("type")) or name
        if not kind.startswith("response."):
            if "output" in event or event.get("object") in ("response", _COUNT):
                self._take(event, is_final=True)
            else:
                self.is_known = self.is_known or text_or_none(event.get("model")) is not None
            self.add_error(event, kind)
            return
        self.is_known = True
        delta = event.get("delta")
        if isinstance(delta, str) and delta:
            self._add_delta(kind, event, delta)
        elif kind in _WHOLE:
            of, field = _WHOLE[kind]
            snapshot(self._item(event).part(of, _place(event, of)).texts, event.get(field))
        elif kind.endswith("part.done"):
            for part in content_parts([event.get("part")]):
                of = "reasoning" if "reasoning" in kind else part.kind
                snapshot(self._item(event).part(of, _place(event, of)).texts, part.text)
        elif kind.endswith(("arguments.done", "input.done", "code.done")):
            call = self._item(event).call()
            snapshot(call.names, event.get("name"))
            snapshot(call.arguments, arguments_of(event) or event.get("code"))
        elif kind in ("response.output_item.added", "response.output_item.done"):
            if is_object(item := event.get("item")):
                self._item(event, item).whole(item)
        elif is_object(response := event.get("response")):
            self._take(response, is_final=kind in _FINAL)
            self.has_end_mark = self.has_end_mark or kind in _FINAL
        if "error" in event:
            self.add_error(event, "error" if kind == "response.error" else kind)

    def _add_delta(self, kind: str, event: dict[str, Any], delta: str) -> None:
        of = _DELTAS.get(kind)
        if of is not None:
            self._item(event).part(of, _place(event, of)).texts.append(delta)
        elif "arguments" in kind or "input" in kind or "code" in kind:
            self._item(event).call().arguments.append(delta)
        else:
            return
        self.has_token = True

    def _item(self, event: dict[str, Any], item: dict[str, Any] | None = None) -> _ItemBuilder:
        """Return the item of an event: by its id, then by its index, else the latest one."""
        item_id = text_or_none(event.get("item_id")) or (text_or_none(item.get("id")) if item else None)
        if item_id is not None and (known := self._by_id.get(item_id)):
            return known
        index = event.get("output_index")
        if type(index) is not int:
            index = len(self._items) if item_id is not None or not self._items else self._last_index
        builder = self._items.get(index)
        if builder is None:
            builder = self._new(index)
        if item_id is not None:
            self._by_id[item_id] = builder
        return builder

    def _new(self, index: int) -> _ItemBuilder:
        builder = self._items[index] = _ItemBuilder()
        self._last_index = max(self._last_index, index)
        return builder

    def _take(self, response: dict[str, Any], *, is_final: bool) -> None:
        """Take a response object. With ``is_final``, items of its output complete the items that came before."""
        self.is_known = True
        self._fields |= {
            name: value for name, value in response.items() if value is not None or name not in self._fields
        }
        usage = response.get("usage")
        if isinstance(usage, dict) and usage:
            self._usage = usage
        output = response.get("output") if is_final else None
        for index, item in enumerate(output if isinstance(output, list) else ()):
            if is_object(item):
                item_id = text_or_none(item.get("id"))
                builder = self._by_id.get(item_id or "") or self._items.get(index) or self._new(index)
                builder.whole(item)
        self.add_error(response)

    def _has_output(self, event: dict[str, Any]) -> bool:
        return bool(self._items) and event.get("status") not in ("failed", "cancelled")

    def _error_of(self, event: dict[str, Any]) -> Error:
        return describe_error({name: value for name, value in event.items() if name != "type"})

    def response(self) -> Response:
        """Return the response with everything added so far."""
        fields = self._fields
        parts: list[Part] = []
        others = {}
        for index in sorted(self._items):
            item = self._items[index]
            found = [part.part() for part in item.parts]
            parts += found
            if item.kind and not any(map(has_content, found)):
                parts.append(Part(kind="other", type=item.kind, other=item.item))
            elif rest := item.rest(item.item):
                others[str(index)] = rest
        builder = OutputBuilder(0)
        details, status = fields.get("incomplete_details"), text_or_none(fields.get("status"))
        reason = text_or_none(details.get("reason")) if isinstance(details, dict) else None
        builder.finish_reason = reason or (status if status not in ("in_progress", "queued") else None)
        usage = self._usage
        if usage is not None and (searches := _billed_searches(fields.get("tool_usage"))):
            usage = usage | {WEB_SEARCHES: searches}
        read = _READ if fields.get("object") != _COUNT else _READ | {"input_tokens"}
        other = {name: value for name, value in fields.items() if name not in read}
        if others:
            other["output"] = others
        counted = fields.get("input_tokens")
        if type(counted) is int and fields.get("object") == _COUNT:
            parts.append(Part(kind="other", type="token_count", text=f"{counted:,} input tokens"))
        has_output = bool(parts) or "output" in fields or bool(self._items)
        return Response(
            id=text_or_none(fields.get("id")),
            model=text_or_none(fields.get("model")),
            outputs=[builder.output(parts)] if has_output else [],
            usage=usage,
            tier=text_or_none(fields.get("service_tier")),
            error=self._error,
            other=other,
        )


def _billed_searches(tool_usage: object) -> int | None:
    """Return the number of billed web searches, which the response states beside its usage."""
    searches = tool_usage.get("web_search") if is_object(tool_usage) else None
    number = searches.get("num_requests") if is_object(searches) else None
    return number if type(number) is int else None


def _place(event: dict[str, Any], kind: PartKind) -> int:
    """Return the key of a part in its item; see ``_CONTENT_AFTER_SUMMARY``."""
    index = event.get("content_index")
    if type(index) is int:
        return index + _CONTENT_AFTER_SUMMARY if kind == "reasoning" else index
    index = event.get("summary_index")
    return index if type(index) is int else 0
