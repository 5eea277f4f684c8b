"""Parse chat completions for facts, the offset of the first token, and the detail view.

This module also parses the responses of legacy completions (``choices[].text``) and embeddings (no choices), because
these have the same top-level fields as chat completions.
"""

from typing import Any, Final

from relaybook.log.formats import lenient
from relaybook.log.formats.assembly import DROPPED, choice_of, join, merge, objects, sanitize_object
from relaybook.log.formats.chat_structure import NotChat
from relaybook.log.formats.facts import RequestFacts, ResponseFacts
from relaybook.log.formats.format import Format, stream_end
from relaybook.log.formats.message_chain import hash_messages, output_keys
from relaybook.log.formats.output_text import OutputText, has_token, output_preview
from relaybook.log.formats.provider_errors import describe_error
from relaybook.log.formats.request import last_message_preview, request_facts
from relaybook.log.formats.request_messages import characters, openai_message_fields, openai_messages
from relaybook.log.formats.sse import DATA, LF, Event, event_ends, events_of, split_stream
from relaybook.log.formats.text import clean, clean_or_none, estimate_tokens
from relaybook.log.formats.usage import set_usage, with_thinking
from relaybook.log.formats.wire import CHAT_RESPONSE, REQUEST, ChatResponse, Embedding

_DONE: Final = b"[DONE]"
_ERROR_EVENT: Final = "error"
#: The maximum number of choices in OpenAI's API. Further choices are ignored.
_MAX_CHOICES: Final = 128
_CHAT_FIELDS: Final = ("messages", "tools", "parallel_tool_calls", "functions")
_READ_FROM_CHOICE: Final = frozenset({"index", "delta", "message", "text", "finish_reason"})
_READ_FROM_MESSAGE: Final = frozenset(
    {"role", "content", "reasoning", "reasoning_content", "refusal", "tool_calls", "function_call"}
)


def read_request(data: bytes) -> RequestFacts:
    """Return the facts of a chat request."""
    request = lenient.read(REQUEST, data)
    if request is None:
        return RequestFacts()
    messages = request.messages
    hashes = hash_messages(messages) if messages else None
    return request_facts(request, last_message_preview(messages or []), hashes)


class ChatReader:
    """Collects the chunks of a response. A whole response counts as one chunk."""

    def __init__(self) -> None:
        self.outputs: dict[int, OutputText] = {}
        self.is_done = False
        self.has_error = False
        self.is_understood = False
        self._facts = ResponseFacts()
        self._decoder = lenient.LenientDecoder(CHAT_RESPONSE)

    def add(self, chunk: ChatResponse) -> None:
        """Add a whole response or one chunk."""
        facts = self._facts
        if chunk.choices is not None or chunk.usage is not None or chunk.model is not None:
            self.is_understood = True
        if chunk.choices:
            for choice in chunk.choices:
                output_text = self.outputs.get(choice.index)
                if output_text is None:
                    if len(self.outputs) == _MAX_CHOICES:
                        continue
                    output_text = self.outputs[choice.index] = OutputText()
                output_text.add(choice)
                if choice.error:
                    self.add_error(choice.error)
                if choice.usage:
                    facts.usage = choice.usage
        if chunk.x_groq:
            facts.usage = chunk.x_groq.usage or facts.usage
            if chunk.x_groq.error:
                self.add_error(chunk.x_groq.error)
        if chunk.usage:
            facts.usage = chunk.usage
        if facts.response_model is None and chunk.model:
            facts.response_model = clean(chunk.model)
        if facts.completion_id is None and chunk.id:
            facts.completion_id = clean(chunk.id)
        if chunk.data and chunk.data[0].embedding:
            facts.output_preview = _embeddings_preview(chunk.data)
        if chunk.service_tier:
            facts.service_tier = chunk.service_tier
        if chunk.error:
            self.add_error(chunk.error)

    def add_error(self, error: object) -> None:
        """Set the error if no error is set yet."""
        if not self.has_error:
            self.has_error = self.is_understood = True
            self._facts.error_code, self._facts.error_message = describe_error(error)

    def add_stream(self, data: bytes) -> None:
        """Add all chunks of a stream up to ``[DONE]``, including a truncated last event if it can be parsed."""
        decode, add = CHAT_RESPONSE.decode, self.add
        head, parts = split_stream(data)
        self._add_lines(head)
        for part in parts:
            if self.is_done:
                return
            if LF in part:
                self._add_lines(DATA + part)
                continue
            if len(part) > lenient.UNCHECKED_BYTES:
                self._add_event(Event("", part))
                continue
            try:
                add(decode(part))
            except (ValueError, RecursionError):
                self._add_event(Event("", part))

    def _add_lines(self, lines: bytes) -> None:
        for event in events_of(lines, unfinished=True):
            if not self.is_done:
                self._add_event(event)

    def _add_event(self, event: Event) -> None:
        if event.data.startswith(_DONE):
            self.is_done = True
            return
        chunk = self._decoder.read(event.data)
        if chunk is not None:
            self.add(chunk)
        if event.event == _ERROR_EVENT and not self.has_error:
            self.add_error(lenient.load(event.data) or event.data.decode("utf-8", "replace"))

    def facts(self) -> ResponseFacts:
        """Return the facts of all chunks added so far."""
        facts = self._facts
        facts.understood, facts.has_error = self.is_understood, self.has_error
        facts.service_tier = clean_or_none(facts.service_tier)
        if facts.usage:
            is_gemini = "gemini" in (facts.response_model or "")
            set_usage(facts, with_thinking(facts.usage) if is_gemini else facts.usage)
        if self.outputs:
            outputs = [self.outputs[index] for index in sorted(self.outputs)]
            facts.finish_reason = _finish_reason(outputs)
            facts.output_preview = output_preview(outputs[0])
            facts.output_characters = sum([output_text.characters() for output_text in outputs])
            facts.output_keys = output_keys(outputs)
        return facts


def read_whole(data: bytes) -> ResponseFacts | None:
    """Return the facts of a response that is one JSON object. `None` if the data is not a JSON object."""
    chunk = lenient.read(CHAT_RESPONSE, data)
    if chunk is None:
        return None
    reader = ChatReader()
    reader.add(chunk)
    return reader.facts()


def read_stream(data: bytes, *, complete: bool) -> ResponseFacts:
    """Return the facts of a stream of chunks."""
    reader = ChatReader()
    reader.add_stream(data)
    facts = reader.facts()
    facts.stream_ended = stream_end(is_done=reader.is_done, complete=complete)
    return facts


def first_token_offset(data: bytes) -> int | None:
    """Return the offset in a stream at which the first event with a token ends. `None` if there is no token.

    Content, reasoning, refusal, transcript and tool calls count as tokens. A chunk with only a role has no token.
    """
    decoder = lenient.LenientDecoder(CHAT_RESPONSE)
    for payload, end in event_ends(data):
        if payload.startswith(_DONE):
            return None
        chunk = decoder.read(payload)
        if chunk is not None and has_token(chunk):
            return end
    return None


def _embeddings_preview(data: list[Embedding]) -> str:
    """Return a preview such as ``3 × 1,536``: the number of embeddings, and the dimensions of the first one."""
    raw = bytes(data[0].embedding)
    numbers = raw.count(b",") + 1 if raw.startswith(b"[") else (len(raw) - 2) * 3 // 16
    return f"{len(data):,} × {numbers:,}"


def _finish_reason(outputs: list[OutputText]) -> str | None:
    if len(outputs) == 1:
        return clean_or_none(outputs[0].finish_reason)
    reasons = dict.fromkeys(output_text.finish_reason for output_text in outputs if output_text.finish_reason)
    return clean_or_none(",".join(reasons))


def _estimate_usage(facts: ResponseFacts, request: bytes) -> bool:
    """Estimate input and output tokens if the response has no usage, for example because a stream broke off.

    Nothing is estimated for a response without a model and without output, because such a response is only an error.
    Return whether the tokens were estimated.
    """
    if facts.usage is not None or (facts.response_model is None and not facts.output_characters):
        return False
    facts.output_tokens = estimate_tokens(facts.output_characters)
    facts.input_tokens = estimate_tokens(characters(request, openai_messages))
    facts.usage = {"prompt_tokens": facts.input_tokens, "completion_tokens": facts.output_tokens}
    return True


def _assemble(data: bytes, streamed: bool) -> dict[str, Any]:
    reader = ChatReader()
    if streamed:
        reader.add_stream(data)
    else:
        response = lenient.read(CHAT_RESPONSE, data)
        if response is not None:
            reader.add(response)
    choices = {index: choice_of(index, output_text) for index, output_text in sorted(reader.outputs.items())}
    fields: dict[str, Any] = {}
    for value in objects(data, streamed):
        _add_fields(fields, choices, value)
    for choice in choices.values():
        join(choice.get("other", {}))
    fields["choices"] = list(choices.values())
    return fields


def _add_fields(fields: dict[str, Any], choices: dict[int, dict[str, Any]], value: dict[str, Any]) -> None:
    for name, item in value.items():
        if name == "choices":
            _add_choices(choices, item)
        elif name not in DROPPED and (item is not None or name not in fields):
            fields[name] = lenient.sanitize(item)


def _add_choices(choices: dict[int, dict[str, Any]], items: object) -> None:
    for item in items if isinstance(items, list) else ():
        if not isinstance(item, dict):
            continue
        index = item.get("index", 0)
        choice = choices.get(index) if isinstance(index, int) else None
        if choice is None:
            continue
        message = item.get("delta") or item.get("message")
        # Only the texts of a delta arrive in parts. Azure repeats the texts of ``content_filter_results``.
        whole = {name: part for name, part in item.items() if name not in _READ_FROM_CHOICE and part is not None}
        parts = {
            name: _without_audio_data(part) if name == "audio" else part
            for name, part in (message.items() if isinstance(message, dict) else ())
            if name not in _READ_FROM_MESSAGE and name not in DROPPED and part is not None
        }
        if whole or parts:
            other = choice.setdefault("other", {})
            merge(other, sanitize_object(whole), joins_texts=False)
            merge(other, sanitize_object(parts))


def _without_audio_data(audio: object) -> object:
    return {name: part for name, part in audio.items() if name != "data"} if isinstance(audio, dict) else audio


def _to_chat(body: dict[str, Any]) -> dict[str, Any]:
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise NotChat
    return {name: body[name] for name in _CHAT_FIELDS if body.get(name) is not None}


FORMAT: Final[Format] = Format(
    kind="chat",
    read_request=read_request,
    read_whole=read_whole,
    read_stream=read_stream,
    first_token_offset=first_token_offset,
    assemble=_assemble,
    list_messages=openai_messages,
    message_fields=openai_message_fields,
    estimate_usage=_estimate_usage,
    to_chat=_to_chat,
)
