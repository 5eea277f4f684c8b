"""Lays an answer's body out for the detail view: its choices put together from the chunks, other fields kept."""

from collections.abc import Iterator
from typing import Any, Final

from relaybook.kinds import Kind
from relaybook.log.formats import lenient, responses
from relaybook.log.formats.answer import is_stream
from relaybook.log.formats.chat import ChatReader
from relaybook.log.formats.output_text import OutputText
from relaybook.log.formats.sse import read_events
from relaybook.log.formats.wire import ANSWER, RESPONSE

#: Random padding against traffic analysis.
_DROPPED: Final = frozenset({"obfuscation"})
_READ_FROM_CHOICE: Final = frozenset({"index", "delta", "message", "text", "finish_reason"})
_READ_FROM_SAID: Final = frozenset(
    {"role", "content", "reasoning", "reasoning_content", "refusal", "tool_calls", "function_call"}
)


def answer(data: bytes, streamed: bool, kind: Kind = "chat") -> dict[str, Any]:
    """The answer's top-level fields with ``choices`` put together; ``{"choices": []}`` for what cannot be read.

    A choice is ``{"index", "text", "reasoning", "refusal", "tool_calls": [{"id", "type", "name", "arguments"}],
    "finish_reason"}`` and, where there is more, ``other``: fields of the choice and of its message, those of chunks
    merged (texts and lists joined, objects merged, else the last value). ``obfuscation`` is dropped. Never raises.
    """
    streamed = is_stream(data, streamed)
    if kind == "response":
        return _response(data, streamed)
    reader = ChatReader()
    if streamed:
        reader.add_stream(data)
    else:
        piece = lenient.read(ANSWER, data)
        if piece is not None:
            reader.add(piece)
    choices = {index: _choice(index, output_text) for index, output_text in sorted(reader.speeches.items())}
    fields: dict[str, Any] = {}
    for value in _objects(data, streamed):
        _take_fields(fields, choices, value)
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
                fields = _tidy_object(value["response"])
        if error is not None:
            fields["error"] = lenient.tidy(error)
    else:
        last = lenient.read(RESPONSE, data) or RESPONSE.decode(b"{}")
        output_text = responses.output_text_of(last)
        fields = next((_tidy_object(value) for value in _objects(data, streamed)), {})
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
    patient = lenient.LenientDecoder(lenient.ANY)
    payloads = read_events(data) if streamed else iter((data,))
    for payload in payloads:
        if streamed and payload.startswith(b"[DONE]"):
            return
        value = patient.read(payload)
        if isinstance(value, dict):
            yield value


def _tidy_object(value: dict[str, Any]) -> dict[str, Any]:
    return {str(name): lenient.tidy(item) for name, item in value.items() if name not in _DROPPED}


def _take_fields(fields: dict[str, Any], choices: dict[int, dict[str, Any]], value: dict[str, Any]) -> None:
    for name, item in value.items():
        if name == "choices":
            _take_choices(choices, item)
        elif name not in _DROPPED and (item is not None or name not in fields):
            fields[name] = lenient.tidy(item)


def _take_choices(choices: dict[int, dict[str, Any]], items: object) -> None:
    for item in items if isinstance(items, list) else ():
        if not isinstance(item, dict):
            continue
        index = item.get("index", 0)
        choice = choices.get(index) if isinstance(index, int) else None
        if choice is None:
            continue
        said = item.get("delta") or item.get("message")
        other = {name: part for name, part in item.items() if name not in _READ_FROM_CHOICE and part is not None}
        for name, part in said.items() if isinstance(said, dict) else ():
            if name not in _READ_FROM_SAID and name not in _DROPPED and part is not None:
                other[name] = _without_sound(part) if name == "audio" else part
        if other:
            merge(choice.setdefault("other", {}), _tidy_object(other))


def _without_sound(audio: object) -> object:
    return {name: part for name, part in audio.items() if name != "data"} if isinstance(audio, dict) else audio


class _Pieces:
    """A text that goes on from chunk to chunk."""

    __slots__ = ("texts",)

    def __init__(self, text: str) -> None:
        self.texts = [text]


def merge(into: dict[str, Any], more: dict[str, Any]) -> None:
    """Adds a chunk's fields to those so far: texts and lists are joined, objects merged, anything else replaced.

    Texts stay in pieces until ``join``.
    """
    for name, value in more.items():
        before = into.get(name)
        if isinstance(before, dict) and isinstance(value, dict):
            merge(before, value)
        elif isinstance(before, list) and isinstance(value, list):
            before.extend(value)
        elif isinstance(before, str | _Pieces) and isinstance(value, str) and name not in ("id", "type"):
            pieces = into[name] = before if isinstance(before, _Pieces) else _Pieces(before)
            pieces.texts.append(value)
        elif value is not None:
            into[name] = value


def join(merged: dict[str, Any]) -> None:
    """Puts the texts of merged fields together, once."""
    for name, value in merged.items():
        if isinstance(value, _Pieces):
            merged[name] = "".join(value.texts)
        elif isinstance(value, dict):
            join(value)
