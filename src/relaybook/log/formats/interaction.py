"""Read Google's Interactions API, in which requests and responses are lists of steps.

``system_instruction`` is the first message. The input is a text, a list of contents, or a list of steps. A call of a
tool is a step, and the result of a function is a message of role ``tool``. All steps of a response are one output.

A stream has events that begin a step, add to it, and end it. It is complete at ``interaction.completed``, or when the
status says so. Source: the types of google-genai, version 3.6.
"""

from typing import Any, Final

from relaybook.apis import Match
from relaybook.log.formats.chat import tool_result
from relaybook.log.formats.content import ends
from relaybook.log.formats.conversation import Error, Message, Part, PartKind, Request, Response
from relaybook.log.formats.lenient import as_json, is_object, sanitize, text_or_none
from relaybook.log.formats.media import media_part
from relaybook.log.formats.output import OutputBuilder, PartBuilder, add_fragment, merge
from relaybook.log.formats.provider_errors import describe_error
from relaybook.log.formats.stream import BaseStream
from relaybook.log.formats.usage import merge_usage

_MEDIA: Final[dict[str, PartKind]] = {"image": "image", "audio": "audio", "video": "video", "document": "file"}
_CONTENTS: Final = frozenset({"text", *_MEDIA})
_CALL: Final = "_call"
_RESULT: Final = "_result"
_RUNNING: Final = ("in_progress", "queued")
_READ: Final = frozenset({"id", "interaction_id", "model", "steps", "usage", "error", "service_tier", "object"})


def read_request(body: dict[str, Any], match: Match) -> Request:
    """Return the system instruction and the input of a request as messages, and what the request continues."""
    value = body.get("input")
    items = value if isinstance(value, list) else [value] if value else []
    first, omitted, last = ends(items)
    messages: list[Message] = []
    for item in (*first, *last):
        _add(messages, item)
    read = {"input"} if items else set()
    system = body.get("system_instruction")
    if isinstance(system, str) and system:
        read.add("system_instruction")
        messages.insert(0, Message("system", _contents(system)))
    return Request(
        model=text_or_none(body.get("model")) or text_or_none(body.get("agent")),
        messages=messages,
        omitted=omitted,
        parameters={name: each for name, each in body.items() if name not in read},
        is_conversation=bool(items),
        previous=text_or_none(body.get("previous_interaction_id")),
    )


def _add(messages: list[Message], item: object) -> None:
    """Add an item of the input: a step, or a content. Contents in a row are one message of the user."""
    if not is_object(item) or text_or_none(item.get("type")) in _CONTENTS:
        if not (messages and messages[-1].role == "user" and messages[-1].name is None and not messages[-1].other):
            messages.append(Message("user"))
        messages[-1].parts += _contents([item])
        return
    kind, role = item.get("type"), item.get("role")
    if kind == "user_input" or isinstance(role, str):
        name = "assistant" if role == "model" else sanitize(role) if isinstance(role, str) and role else "user"
        messages.append(Message(name, _contents(item.get("content")), other=_rest(item, "type", "role", "content")))
    elif kind == "function_result":
        result = item.get("result")
        is_list = isinstance(result, list) and all(is_object(each) and "type" in each for each in result)
        parts = _contents(result if is_list else [] if result is None else [_text_of(result)])
        found = tool_result(item.get("call_id"), parts)
        found[0].name = text_or_none(item.get("name"))
        messages.append(Message("tool", found, other=_rest(item, "type", "call_id", "result", "name")))
    else:
        step = _Step(item)
        messages.append(Message("assistant", step.finished(), other=step.rest()))


def _text_of(value: object) -> str:
    return value if isinstance(value, str) else as_json(value)


def _contents(value: object) -> list[Part]:
    items = value if isinstance(value, list) else [] if value is None or value == "" else [value]
    first, _, last = ends(items)
    return [_content(item).part() for item in (*first, *last)]


def _content(item: object) -> PartBuilder:
    """Return a content as a part: a text, an image, audio, video or a document."""
    builder = PartBuilder("other")
    if isinstance(item, str):
        builder.kind, builder.texts = "text", [item]
    elif not is_object(item):
        builder.texts = [as_json(item)]
    elif isinstance(text := item.get("text"), str):
        builder.kind, builder.texts = "text", [text] if text else []
        builder.other = _rest(item, "type", "text")
    elif (kind := text_or_none(item.get("type"))) in _MEDIA:
        fields = _rest(item, "type")
        if "uri" in fields and "url" not in fields:
            fields["url"] = fields.pop("uri")
        part = media_part(_MEDIA[kind], None, fields)
        builder.kind, builder.media, builder.other = part.kind, part.media, part.other
    else:
        builder.type = kind
        builder.other = _rest(item)
    return builder


def _rest(item: dict[str, Any], *read: str) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name not in read and value is not None}


class _Step:
    """One step of the model so far."""

    __slots__ = ("fields", "kind", "parts")

    def __init__(self, step: dict[str, Any]) -> None:
        self.kind = text_or_none(step.get("type")) or ""
        #: The fields of the step that are in no part.
        self.fields: dict[str, Any] = {}
        self.parts: list[PartBuilder] = []
        if self.kind == "model_output":
            self._add_contents(step.get("content"))
            self.fields = _rest(step, "type", "content")
        elif self.kind == "thought":
            self._add_contents(step.get("summary"), is_thought=True)
            if not self.parts:
                self.parts.append(PartBuilder("reasoning"))
            self.parts[-1].other |= _rest(step, "type", "summary")
        elif self.kind.endswith((_CALL, _RESULT)):
            self.parts.append(self._tool(step))
        else:
            other = PartBuilder("other")
            other.type, other.other = self.kind or None, _rest(step)
            self.parts.append(other)

    def _add_contents(self, value: object, *, is_thought: bool = False) -> None:
        for item in value if isinstance(value, list) else [] if value is None else [value]:
            self._add_content(_content(item), is_thought=is_thought)

    def _add_content(self, builder: PartBuilder, *, is_thought: bool = False) -> None:
        if is_thought and builder.kind == "text":
            builder.kind = "reasoning"
        self.parts.append(builder)

    def _tool(self, step: dict[str, Any]) -> PartBuilder:
        """Return a call of a tool, or the result of one of Google's own tools. A tool has the name of its type."""
        is_call = self.kind.endswith(_CALL)
        builder = PartBuilder("tool_call" if is_call else "tool_result")
        builder.type = None if self.kind == "function_call" else self.kind
        builder.id = text_or_none(step.get("id" if is_call else "call_id"))
        name = text_or_none(step.get("name"))
        builder.names = [name or self.kind.removesuffix(_CALL).removesuffix(_RESULT)]
        content = step.get("arguments" if is_call else "result")
        if is_call:
            builder.arguments = [_text_of(content)] if content else []
        else:
            builder.texts = [_text_of(content)] if content is not None else []
        read = ("type", "name", "id", "arguments") if is_call else ("type", "name", "call_id", "result")
        builder.other = _rest(step, *read)
        return builder

    def add(self, delta: dict[str, Any]) -> None:
        """Add a delta."""
        kind = text_or_none(delta.get("type"))
        last = self.parts[-1] if self.parts else None
        if kind == "arguments_delta" and last is not None and last.kind == "tool_call":
            add_fragment(last.arguments, delta.get("arguments"))
        elif kind == "thought_summary":
            self._add_text(_content(delta.get("content")), "reasoning")
        elif kind in ("thought_signature", "text_annotation_delta") and last is not None:
            merge(last.other, _rest(delta, "type"), joins_texts=False)
        elif kind == "text":
            self._add_text(_content(delta), "text")
        elif kind in _MEDIA:
            self._add_content(_content(delta))
        elif last is not None and kind == self.kind and last.kind in ("tool_call", "tool_result"):
            whole = self._tool({"type": self.kind} | delta)
            last.arguments = whole.arguments or last.arguments
            last.texts = whole.texts or last.texts
            last.names = whole.names if "name" in delta else last.names
            merge(last.other, whole.other, joins_texts=False)
        else:
            merge(self.fields, {"delta": [delta]})

    def _add_text(self, builder: PartBuilder, kind: PartKind) -> None:
        if builder.kind == "text":
            builder.kind = kind
        last = self.parts[-1] if self.parts else None
        if last is not None and last.kind == builder.kind == kind:
            last.texts += builder.texts
            merge(last.other, builder.other, joins_texts=False)
        else:
            self.parts.append(builder)

    @property
    def has_token(self) -> bool:
        last = self.parts[-1] if self.parts else None
        return last is not None and (bool(last.texts) or last.kind == "tool_call" or last.media is not None)

    def finished(self) -> list[Part]:
        """Return the parts with everything added so far."""
        found = [builder.part() for builder in self.parts]
        for part in found:
            if part.kind == "tool_call":
                part.arguments = part.arguments or "{}"
        return found

    def rest(self) -> dict[str, Any]:
        """Return what is in no part."""
        return self.fields


class Stream(BaseStream):
    """The events of a streamed response so far, or a whole response."""

    def __init__(self) -> None:
        super().__init__()
        self._steps: dict[int, _Step] = {}
        self._last_index = 0
        self._fields: dict[str, Any] = {}
        self._usage: dict[str, Any] = {}

    @property
    def is_finished(self) -> bool:
        """Whether the end mark arrived, or the status says that the interaction has ended."""
        status = text_or_none(self._fields.get("status"))
        return self.has_end_mark or (status is not None and status not in _RUNNING)

    def add(self, event: dict[str, Any], name: str = "") -> None:
        """Add an event, or a whole response."""
        kind = text_or_none(event.get("event_type")) or name
        if kind == "step.delta":
            if is_object(delta := event.get("delta")):
                step = self._step(event.get("index"), None)
                step.add(delta)
                self.has_token = self.has_token or step.has_token
        elif kind == "step.start":
            if is_object(begun := event.get("step")):
                self._step(event.get("index"), begun)
        elif kind == "step.stop":
            self.is_known = True
        elif kind.startswith("interaction."):
            self.is_known = True
            interaction = event.get("interaction")
            self._take(interaction if is_object(interaction) else _rest(event, "event_type", "event_id"))
            if kind == "interaction.completed":
                self.has_end_mark = True
        elif kind != "error":
            self._take(event)
        if kind == "error" or "error" in event:
            self.add_error(event, "error" if kind == "error" else name)

    def _step(self, index: object, step: dict[str, Any] | None) -> _Step:
        """Return the step at an index. With ``step``, begin it."""
        self.is_known = True
        key = self._last_index = index if type(index) is int else self._last_index
        if step is not None or key not in self._steps:
            self._steps[key] = _Step(step or {"type": "model_output"})
            self.has_token = self.has_token or self._steps[key].has_token
        return self._steps[key]

    def _take(self, interaction: dict[str, Any]) -> None:
        """Take an interaction. Its steps complete those that came before."""
        self.is_known = self.is_known or any(interaction.get(name) for name in ("steps", "status", "model"))
        self._fields |= {name: value for name, value in interaction.items() if value is not None}
        steps = interaction.get("steps")
        for index, step in enumerate(steps if isinstance(steps, list) else ()):
            if is_object(step):
                self._step(index, step)
        if is_object(usage := interaction.get("usage")) and usage:
            merge_usage(self._usage, usage)
        self.add_error(interaction)

    def _has_output(self, event: dict[str, Any]) -> bool:
        return bool(self._steps) and event.get("status") not in ("failed", "cancelled")

    def _error_of(self, event: dict[str, Any]) -> Error:
        return describe_error(_rest(event, "event_type", "event_id"))

    def response(self) -> Response:
        """Return the response with everything added so far."""
        fields = self._fields
        parts: list[Part] = []
        rests = {}
        for index in sorted(self._steps):
            step = self._steps[index]
            parts += step.finished()
            if rest := step.rest():
                rests[str(index)] = rest
        builder = OutputBuilder(0)
        status = text_or_none(fields.get("status"))
        builder.finish_reason = status if status not in _RUNNING else None
        other = {name: value for name, value in fields.items() if name not in _READ}
        if rests:
            other["steps"] = rests
        return Response(
            id=text_or_none(fields.get("id") or fields.get("interaction_id")),
            model=text_or_none(fields.get("model")) or text_or_none(fields.get("agent")),
            outputs=[builder.output(parts)] if self._steps or status is not None else [],
            usage=self._usage or None,
            tier=text_or_none(fields.get("service_tier")),
            error=self._error,
            other=other,
        )
