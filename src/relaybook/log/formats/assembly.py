"""Assemble a response body for the detail view: choices are joined from their chunks, other fields are kept."""

from collections.abc import Iterator
from typing import Any, Final

from relaybook.kinds import Kind
from relaybook.log.formats import lenient, responses
from relaybook.log.formats.answer import is_stream
from relaybook.log.formats.chat import ChatReader
from relaybook.log.formats.output_text import OutputText
from relaybook.log.formats.sse import read_events
from relaybook.log.formats.wire import CHAT_RESPONSE, RESPONSE

#: ``obfuscation`` is random padding against traffic analysis.
_DROPPED: Final = frozenset({"obfuscation"})
_READ_FROM_CHOICE: Final = frozenset({"index", "delta", "message", "text", "finish_reason"})
_READ_FROM_MESSAGE: Final = frozenset(
    {"role", "content", "reasoning", "reasoning_content", "refusal", "tool_calls", "function_call"}
)


def assemble_response(data: bytes, streamed: bool, kind: Kind = "chat") -> dict[str, Any]:
    """Return the response's top-level fields with assembled ``choices``; ``{"choices": []}`` if it cannot be parsed.

    A choice is ``{"index", "text", "reasoning", "refusal", "tool_calls": [{"id", "type", "name", "arguments"}],
    "finish_reason"}``. If the choice or its message has other fields, they are in ``other``, merged over all chunks:
    texts and lists are joined, objects merged, and of other values the last is kept. ``obfuscation`` is dropped. Never
    raises.
    """
    streamed = is_stream(data, streamed)
    if kind == "response":
        return _response(data, streamed)
    reader = ChatReader()
    if streamed:
        reader.add_stream(data)
    else:
        response = lenient.read(CHAT_RESPONSE, data)
        if response is not None:
            reader.add(response)
    choices = {index: _choice(index, output_text) for index, output_text in sorted(reader.outputs.items())}
    fields: dict[str, Any] = {}
    for value in _objects(data, streamed):
        _add_fields(fields, choices, value)
    for choice in choices.values():
        join(choice.get("other", {}))
    fields["choices"] = list(choices.values())
    return fields


def _response(data: bytes, streamed: bool) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if streamed:
        last, output_text, error, _ = responses.fold_stream(data)
        if last.output:
            output_text = responses.output_text_of(last)
        for value in _objects(data, streamed):
            if isinstance(value.get("response"), dict):
                fields = _sanitize_object(value["response"])
        if error is not None:
            fields["error"] = lenient.sanitize(error)
    else:
        last = lenient.read(RESPONSE, data) or RESPONSE.decode(b"{}")
        output_text = responses.output_text_of(last)
        fields = next((_sanitize_object(value) for value in _objects(data, streamed)), {})
    choice = _choice(0, output_text)
    choice["finish_reason"] = last.status
    fields["choices"] = [choice] if output_text.characters() or last.output else []
    return fields


def _choice(index: int, output_text: OutputText) -> dict[str, Any]:
    return {
        "index": index,
        "text": "".join(output_text.text) or "".join(output_text.transcript) or None,
        "reasoning": "".join(output_text.reasoning) or None,
        "refusal": "".join(output_text.refusal) or None,
        "tool_calls": [
            {"id": tool.id, "type": tool.type, "name": tool.name, "arguments": "".join(tool.arguments)}
            for tool in output_text.tools
        ],
        "finish_reason": output_text.finish_reason,
    }


def _objects(data: bytes, streamed: bool) -> Iterator[dict[str, Any]]:
    decoder = lenient.LenientDecoder(lenient.ANY)
    payloads = read_events(data) if streamed else iter((data,))
    for payload in payloads:
        if streamed and payload.startswith(b"[DONE]"):
            return
        value = decoder.read(payload)
        if isinstance(value, dict):
            yield value


def _sanitize_object(value: dict[str, Any]) -> dict[str, Any]:
    return {str(name): lenient.sanitize(item) for name, item in value.items() if name not in _DROPPED}


def _add_fields(fields: dict[str, Any], choices: dict[int, dict[str, Any]], value: dict[str, Any]) -> None:
    for name, item in value.items():
        if name == "choices":
            _add_choices(choices, item)
        elif name not in _DROPPED and (item is not None or name not in fields):
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
        other = {name: part for name, part in item.items() if name not in _READ_FROM_CHOICE and part is not None}
        for name, part in message.items() if isinstance(message, dict) else ():
            if name not in _READ_FROM_MESSAGE and name not in _DROPPED and part is not None:
                other[name] = _without_audio_data(part) if name == "audio" else part
        if other:
            merge(choice.setdefault("other", {}), _sanitize_object(other))


def _without_audio_data(audio: object) -> object:
    return {name: part for name, part in audio.items() if name != "data"} if isinstance(audio, dict) else audio


class _JoinedText:
    """A text of which each chunk carries a part."""

    __slots__ = ("texts",)

    def __init__(self, text: str) -> None:
        self.texts = [text]


def merge(into: dict[str, Any], more: dict[str, Any]) -> None:
    """Merge a chunk's fields: texts and lists are joined, objects merged, other values replaced.

    Texts are joined only by ``join``, once, so that merging many chunks takes linear time.
    """
    for name, value in more.items():
        before = into.get(name)
        if isinstance(before, dict) and isinstance(value, dict):
            merge(before, value)
        elif isinstance(before, list) and isinstance(value, list):
            before.extend(value)
        elif isinstance(before, str | _JoinedText) and isinstance(value, str) and name not in ("id", "type"):
            joined = into[name] = before if isinstance(before, _JoinedText) else _JoinedText(before)
            joined.texts.append(value)
        elif value is not None:
            into[name] = value


def join(merged: dict[str, Any]) -> None:
    """Join the texts of merged fields, in place. Call it once, after the last ``merge``."""
    for name, value in merged.items():
        if isinstance(value, _JoinedText):
            merged[name] = "".join(value.texts)
        elif isinstance(value, dict):
            join(value)
