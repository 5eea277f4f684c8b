"""Read chat completions, also those of the many providers that add to OpenAI's format.

The source is OpenAI's API reference of 2026-11. DeepSeek and MLX add ``reasoning_content``. vLLM and OpenRouter add
``reasoning``. Mistral's responses have content as a list of parts. OpenRouter adds ``error`` and ``images``, Moonshot
adds ``usage`` to a choice, and Groq adds ``x_groq``.
"""

from typing import Any, Final

from msgspec import UNSET

from relaybook.apis import Match
from relaybook.log.formats.content import content_parts, ends
from relaybook.log.formats.conversation import Error, Message, Output, Part, Request, Response
from relaybook.log.formats.lenient import as_json, is_object, join, sanitize, text_or_none
from relaybook.log.formats.output import DROPPED, OutputBuilder, PartBuilder, add_fragment, join_merged, merge, snapshot
from relaybook.log.formats.plain_chat import decode_text_chunk, decode_text_response
from relaybook.log.formats.provider_errors import find_error
from relaybook.log.formats.stream import BaseStream
from relaybook.log.formats.text import NAME_CHARACTERS
from relaybook.log.formats.usage import merge_usage

#: The maximum number of choices in OpenAI's API. Further choices are ignored.
_MAX_CHOICES: Final = 128
_MESSAGE_FIELDS: Final = frozenset(
    {
        *("role", "name", "content", "refusal", "reasoning", "reasoning_content", "reasoning_text", "images", "audio"),
        *("tool_calls", "function_call", "tool_call_id"),
    }
)
_RESULT_ROLES: Final = ("tool", "function")
_REASONING: Final = ("reasoning_content", "reasoning", "reasoning_text")
#: Finish reasons that say that the provider failed: OpenRouter, Zhipu and DeepSeek.
_FAILED: Final = ("error", "network_error", "insufficient_system_resource")
#: The fields of a request's message besides ``content``, with the types that are read. Other values are kept as sent.
_READ: Final[dict[str, type]] = {
    "role": str,
    "name": str,
    "refusal": str,
    "reasoning": str,
    "reasoning_content": str,
    "reasoning_text": str,
    "images": list,
    "tool_calls": list,
    "function_call": dict,
}
_READ_OF_TOOL: Final = _READ | {"tool_call_id": str}
_CALL_FIELDS: Final = frozenset({"id", "type", "function", "custom", "index"})
_CHOICE_FIELDS: Final = frozenset({"index", "delta", "message", "text", "finish_reason", "logprobs", "error", "usage"})
_RESPONSE_FIELDS: Final = frozenset({"id", "model", "choices", "usage", "service_tier", "error", *DROPPED})
#: Fields of a chunk that are the same in all chunks of a stream.
_CHUNK_FIELDS: Final = _RESPONSE_FIELDS | {"object", "created", "system_fingerprint", "provider"}


def read_request(body: dict[str, Any], match: Match) -> Request:
    """Return the messages and parameters of a request."""
    items = body.get("messages")
    first, omitted, last = ends(items if isinstance(items, list) else [])
    return Request(
        messages=[read_message(item) for item in (*first, *last)],
        omitted=omitted,
        parameters={name: value for name, value in body.items() if name != "messages" or not isinstance(items, list)},
        is_conversation=True,
    )


def read_message(item: object) -> Message:
    """Return one message of a request. A text counts as a message of the user."""
    if not isinstance(item, dict):
        parts = content_parts(item)
        return Message(role="user" if isinstance(item, str) else None, parts=parts)
    role, content = item.get("role"), item.get("content")
    if len(item) == 2 and isinstance(role, str) and isinstance(content, str) and role not in _RESULT_ROLES:
        return Message(role=sanitize(role), parts=content_parts(content))  # nearly every message
    role = sanitize(role) if isinstance(role, str) else None
    parts = content_parts(content)
    read = _READ
    if role in _RESULT_ROLES:
        read = _READ_OF_TOOL
        parts = tool_result(item.get("tool_call_id"), parts)
    if reasoning := next((text for name in _REASONING if (text := text_or_none(item.get(name)))), None):
        parts.insert(0, Part(kind="reasoning", text=join([reasoning])))
    if text := text_or_none(item.get("refusal")):
        parts.append(Part(kind="refusal", text=join([text])))
    if isinstance(images := item.get("images"), list):
        parts += content_parts(images)
    calls = item.get("tool_calls")
    if isinstance(calls, list):
        parts += [tool_call(call) for call in calls if isinstance(call, dict)]
    if isinstance(call := item.get("function_call"), dict):
        parts.append(tool_call({"type": "function_call", "function": call}))
    name = item.get("name")
    other = {
        key: value
        for key, value in item.items()
        if value is not None and key != "content" and not isinstance(value, read.get(key, ()))
    }
    return Message(role=role, parts=parts, name=sanitize(name) if isinstance(name, str) else None, other=other)


def tool_result(call_id: object, content: list[Part]) -> list[Part]:
    """Return the parts of a tool's result: the result with all of its text, and its media."""
    texts = [part for part in content if part.kind == "text"]
    result = Part(kind="tool_result", id=sanitize(call_id) if isinstance(call_id, str) else None)
    result.text = "\n".join([part.text for part in texts if part.text]) or None
    if any(part.other for part in texts):
        result.other = {"content": [part.other for part in texts]}
    return [result, *(part for part in content if part.kind != "text")]


def tool_call(call: dict[str, Any]) -> Part:
    """Return a tool call of a request."""
    called = call.get("function") or call.get("custom")
    called = called if isinstance(called, dict) else {}
    name, call_id, kind = called.get("name"), call.get("id"), call.get("type")
    other = {key: value for key, value in call.items() if key not in _CALL_FIELDS}
    return Part(
        kind="tool_call",
        name=sanitize(name) if isinstance(name, str) else None,
        id=sanitize(call_id) if isinstance(call_id, str) else None,
        arguments=join([arguments_of(called) or ""]),
        type=sanitize(kind) if isinstance(kind, str) and kind != "function" else None,
        other=other,
    )


def arguments_of(called: dict[str, Any]) -> str | None:
    """Return the arguments of a call as text, even if they were sent as JSON. A custom tool has ``input`` instead."""
    for name in ("arguments", "input"):
        value = called.get(name)
        if value is not None:
            return value if isinstance(value, str) else as_json(value)
    return None


def read_text_response(data: bytes) -> Response | None:
    """Return a whole response that has only text, as ``Stream`` reads it. `None` if the response has more."""
    try:
        body = decode_text_response(data)
    except (ValueError, RecursionError):
        return None
    (choice,) = body.choices
    message = choice.message
    output = Output(
        index=0,
        parts=[Part(kind="text", text=message.content)] if message.content else [],
        finish_reason=choice.finish_reason,
        other={} if message.annotations is UNSET else {"annotations": message.annotations},
    )
    fields = (("created", body.created), ("system_fingerprint", body.system_fingerprint))
    return Response(
        id=body.id or None,
        model=body.model or None,
        outputs=[output],
        usage=body.usage or None,
        tier=body.service_tier or None,
        other={"object": body.object} | {name: value for name, value in fields if value is not UNSET},
    )


#: After so many chunks in a row that are no ``TextChunk``, no further chunk is tried.
_MAX_MISSES: Final = 16


class Stream(BaseStream):
    """The events of a streamed response so far. A whole response counts as one event."""

    def __init__(self) -> None:
        super().__init__()
        self._choices: dict[int, _Choice] = {}
        self._fields: dict[str, Any] = {}
        self._usage: dict[str, Any] = {}
        self._id: str | None = None
        self._model: str | None = None
        self._tier: str | None = None
        self._misses = 0

    def add_text(self, data: bytes) -> bool:
        """Add a chunk that has only text for choices that began before. Return false if the chunk is another one.

        Chunks are decoded twice as fast in this way.
        """
        if self._misses == _MAX_MISSES:
            return False
        try:
            chunk = decode_text_chunk(data)
        except (ValueError, RecursionError):
            self._misses += 1
            return False
        choices = self._choices
        for choice in chunk.choices:
            if choice.index not in choices:
                return False
        self._misses = 0
        for choice in chunk.choices:
            if content := choice.delta.content:
                found = choices[choice.index]
                found.text.append(content)
                found.seen_delta = self.has_token = True
        return True

    def add(self, chunk: dict[str, Any], name: str = "") -> None:
        """Add a chunk, or a whole response."""
        choices = chunk.get("choices")
        if isinstance(choices, list):
            self.is_known = True
            is_chunk = chunk.get("object") != "chat.completion"
            for position, choice in enumerate(choices):
                if isinstance(choice, dict):
                    self._add_choice(choice, position, is_chunk=is_chunk)
        if not chunk.keys() <= _CHUNK_FIELDS or not self._fields:
            more = {key: value for key, value in chunk.items() if key not in _RESPONSE_FIELDS}
            for key, value in more.items():
                if value and isinstance(value, list):
                    self._fields.pop(key, None)  # chunks repeat whole lists, such as the citations of Perplexity
            merge(self._fields, more, joins_texts=False)
        if self._model is None and (model := text_or_none(chunk.get("model"))):
            self._model = model
            self.is_known = True
        if self._id is None:
            self._id = text_or_none(chunk.get("id"))
        if usage := chunk.get("usage"):
            self._add_usage(usage)
        if tier := chunk.get("service_tier"):
            self._tier = text_or_none(tier) or self._tier
        groq = chunk.get("x_groq")
        if isinstance(groq, dict):
            self._add_usage(groq.get("usage"))
            self._error = self._error or find_error(groq, has_output=True)
        if not choices or "error" in chunk or "base_resp" in chunk:
            self.add_error(chunk, name)

    def _has_output(self, event: dict[str, Any]) -> bool:
        return bool(self._choices)

    def _add_usage(self, usage: object) -> None:
        if isinstance(usage, dict):
            self.is_known = True
            merge_usage(self._usage, usage)

    def _add_choice(self, item: dict[str, Any], position: int, *, is_chunk: bool) -> None:
        index = _index(item.get("index"), position)
        choice = self._choices.get(index)
        if choice is None:
            if len(self._choices) == _MAX_CHOICES:
                return
            choice = self._choices[index] = _Choice(index)
        delta = item.get("delta")
        if is_object(delta) and delta:
            choice.add_delta(delta)
        elif is_object(message := item.get("message")):
            choice.add_message(message, is_chunk=is_chunk)
        if not self.has_token and choice.has_token:
            self.has_token = True
        if (text := text_or_none(item.get("text"))) and not _has_content(item):
            choice.text.append(text)  # legacy completions; Together repeats the content of a message in it
            self.has_token = True
        if reason := text_or_none(item.get("finish_reason")):
            choice.builder.finish_reason = reason
        if not item.keys() <= _CHOICE_FIELDS:
            # Only the texts of a delta arrive in fragments. Azure repeats the texts of ``content_filter_results``.
            more = {name: value for name, value in item.items() if name not in _CHOICE_FIELDS and value is not None}
            merge(choice.builder.other, more, joins_texts=False)
        if logprobs := item.get("logprobs"):
            merge(choice.builder.other, {"logprobs": logprobs}, joins_texts=False)
        if "error" in item and self._error is None:
            self._error = find_error(item, has_output=True)
        if usage := item.get("usage"):
            self._add_usage(usage)

    def response(self) -> Response:
        """Return the response with everything added so far."""
        outputs = [self._choices[index].output() for index in sorted(self._choices)]
        error = self._error
        reason = next((output.finish_reason for output in outputs if output.finish_reason in _FAILED), None)
        if error is None and reason is not None:
            error = Error(reason, f"The finish reason is {reason}.")
        join_merged(self._fields)
        return Response(
            id=self._id,
            model=self._model,
            outputs=outputs,
            usage=self._usage or None,
            tier=self._tier,
            error=error,
            other=self._fields,
        )

    @property
    def is_finished(self) -> bool:
        """Whether the end mark arrived, or every choice has a finish reason."""
        choices = self._choices.values()
        return self.has_end_mark or (bool(choices) and all(choice.builder.finish_reason for choice in choices))


def _has_content(item: dict[str, Any]) -> bool:
    """Return whether the message of a choice has content."""
    message = item.get("delta") or item.get("message")
    return is_object(message) and bool(message.get("content"))


def _index(value: object, position: int) -> int:
    """Return the index of a choice. Some servers send it as text, or not at all."""
    if type(value) is int and 0 <= value < 2**31:
        return value
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 9:
        return int(value)
    return position


class _Choice:
    """One choice so far. The lists have the fragments of its texts."""

    def __init__(self, index: int) -> None:
        self.builder = OutputBuilder(index)
        self.text: list[str] = []
        self.seen_delta = False
        self._reasoning: list[str] = []
        self._refusal: list[str] = []
        self._transcript: list[str] = []
        self._audio: dict[str, Any] = {}
        self._media: list[Part] = []
        self._calls = _Calls()
        #: The messages of a stream, while each of them begins with the one before. They then replace each other.
        self._messages: list[str] | None = []

    @property
    def has_token(self) -> bool:
        return bool(self.text or self._reasoning or self._calls.all or self._refusal or self._transcript or self._media)

    def add_delta(self, delta: dict[str, Any]) -> None:
        content = delta.get("content")
        if isinstance(content, str):
            if content:
                self.text.append(content)
                self.seen_delta = True
            if len(delta) == 1:
                return
        self.seen_delta = True
        self._add(delta, content, is_whole=False)

    def add_message(self, message: dict[str, Any], *, is_chunk: bool) -> None:
        """Add a whole message. It replaces what came before, except that some servers stream messages as deltas."""
        content = message.get("content")
        if is_chunk and not self.seen_delta and isinstance(content, str):
            if self._messages is not None and not content.startswith(self._messages[-1] if self._messages else ""):
                self.text[:], self._messages = self._messages, None
            if self._messages is None:
                self._add(message, content, is_whole=False)
                self.text.append(content)
                return
            self._messages.append(content)
        self._add(message, content, is_whole=True)
        snapshot(self.text, content)

    def _add(self, message: dict[str, Any], content: object, *, is_whole: bool) -> None:
        put = snapshot if is_whole else add_fragment
        if content is not None and not isinstance(content, str):
            self._add_parts(content if isinstance(content, list) else [content], is_whole=is_whole)
        reasoning = message.get("reasoning_content") or message.get("reasoning") or message.get("reasoning_text")
        if reasoning:
            put(self._reasoning, reasoning)
        if refusal := message.get("refusal"):
            put(self._refusal, refusal)
        if is_object(audio := message.get("audio")):
            put(self._transcript, audio.get("transcript"))
            merge(self._audio, {name: audio[name] for name in audio if name not in ("transcript", "data")})
        if isinstance(images := message.get("images"), list):
            found = content_parts(images)
            if is_whole:
                self._media = found
            else:
                self._media += found
        calls = message.get("tool_calls")
        if isinstance(calls, list):
            self._calls.add([call for call in calls if isinstance(call, dict)], is_whole=is_whole)
        if isinstance(call := message.get("function_call"), dict):
            self._calls.add([{"index": -1, "type": "function_call", "function": call}], is_whole=is_whole)
        if not message.keys() <= _MESSAGE_FIELDS:
            more = {name: value for name, value in message.items() if name not in _MESSAGE_FIELDS and value is not None}
            merge(self.builder.other, more, joins_texts=not is_whole)

    def _add_parts(self, content: list[Any], *, is_whole: bool) -> None:
        parts = content_parts(content)
        texts = [part.text or "" for part in parts if part.kind == "text"]
        thinking = [part.text or "" for part in parts if part.kind == "reasoning"]
        media = [part for part in parts if part.kind not in ("text", "reasoning")]
        if is_whole:
            snapshot(self.text, (" " if content and isinstance(content[0], str) else "").join(texts))
            snapshot(self._reasoning, "".join(thinking))
            self._media = media
        else:
            self.text += texts
            self._reasoning += thinking
            self._media += media

    def output(self) -> Output:
        parts: list[Part] = []
        if self._reasoning:
            parts.append(Part(kind="reasoning", text=join(self._reasoning)))
        if self.text:
            parts.append(Part(kind="text", text=join(self.text)))
        if self._refusal:
            parts.append(Part(kind="refusal", text=join(self._refusal)))
        parts += self._media
        if self._transcript or self._audio:
            join_merged(self._audio)
            audio_id = text_or_none(self._audio.pop("id", None))
            parts.append(Part(kind="audio", text=join(self._transcript) or None, id=audio_id, other=self._audio))
        parts += [call.part() for call in self._calls.all]
        return self.builder.output(parts)


class _Calls:
    """The tool calls of a choice so far, in order.

    Servers differ in how they say to which call a fragment belongs. An id that was seen before always does. Otherwise
    the index does, but many servers send the same index for every call, or none, or a new id with each fragment.
    """

    def __init__(self) -> None:
        self.all: list[PartBuilder] = []
        self._by_id: dict[str, PartBuilder] = {}
        self._by_index: dict[object, PartBuilder] = {}

    def add(self, calls: list[dict[str, Any]], *, is_whole: bool) -> None:
        """Add fragments of calls. With ``is_whole``, the list has all calls, and each of them is whole."""
        for position, call in enumerate(calls):
            called = call.get("function") or call.get("custom")
            called = called if isinstance(called, dict) else {}
            call_id, name, arguments = (
                text_or_none(call.get("id")),
                text_or_none(called.get("name")),
                arguments_of(called),
            )
            if name is not None:
                name = name[:NAME_CHARACTERS]
            if is_whole:
                builder = self._by_id.get(call_id or "") or (self.all[position] if position < len(self.all) else None)
                builder = builder or self._new()
                snapshot(builder.names, name)
                snapshot(builder.arguments, arguments)
            else:
                index = call.get("index")
                builder = self._builder(call_id, index if isinstance(index, int | str) else None, name, arguments)
                if name is not None:
                    builder.add_name(name)
                if arguments:
                    builder.arguments.append(arguments)
            builder.id = builder.id or call_id
            kind = text_or_none(call.get("type"))
            builder.type = builder.type or (kind if kind != "function" else None)
            if call_id:
                self._by_id[call_id] = builder
            if not call.keys() <= _CALL_FIELDS:
                merge(builder.other, {key: call[key] for key in call if key not in _CALL_FIELDS})

    def _new(self) -> PartBuilder:
        builder = PartBuilder("tool_call")
        self.all.append(builder)
        return builder

    def _builder(
        self, call_id: str | None, index: int | str | None, name: str | None, arguments: str | None
    ) -> PartBuilder:
        """Return the call that a fragment belongs to."""
        if call_id is not None and (known := self._by_id.get(call_id)):
            self._by_index[index] = known
            return known
        current = self._by_index.get(index) if index is not None else (self.all[-1] if self.all else None)
        if current is None or self._starts_new(current, call_id, index, name, arguments):
            current = self._new()
        if index is not None:
            self._by_index[index] = current
        return current

    def _starts_new(
        self, current: PartBuilder, call_id: str | None, index: object, name: str | None, arguments: str | None
    ) -> bool:
        """Return whether a fragment with an id that is not known yet, or without an id, starts a new call."""
        if call_id is not None and current.id is not None:
            return name is not None or current.has_whole_arguments()
        if name is None or not current.names:
            return False
        if current.arguments:
            same = current.name() == name
            return current.has_whole_arguments() if same and arguments else not same
        # No arguments yet: a further fragment of the name, or another call without arguments.
        return index is None and arguments is not None
