"""Provide functions to assemble a response for the detail view."""

from collections.abc import Iterator
from typing import Any, Final

from relaybook.log.formats import lenient
from relaybook.log.formats.output_text import OutputText
from relaybook.log.formats.sse import read_events

#: Fields that are not shown. ``obfuscation`` is random padding against traffic analysis.
DROPPED: Final = frozenset({"obfuscation"})
#: Texts that are whole in each chunk. ``channel`` is the kind of output of gpt-oss models.
_REPEATED: Final = frozenset({"id", "type", "channel"})


def choice_of(index: int, output_text: OutputText) -> dict[str, Any]:
    """Return a choice for the detail view; see ``assemble_response``."""
    return {
        "index": index,
        "text": "".join(output_text.text) or "".join(output_text.transcript) or None,
        "reasoning": "".join(output_text.reasoning) or None,
        "refusal": "".join(output_text.refusal) or None,
        "tool_calls": [
            {"id": tool.id, "type": tool.type, "name": tool.name, "arguments": "".join(tool.arguments)}
            for tool in output_text.tools + output_text.unnamed_tools
        ],
        "finish_reason": output_text.finish_reason,
    }


def objects(data: bytes, streamed: bool) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects of a response: the body itself, or the data of each event before ``[DONE]``."""
    decoder = lenient.LenientDecoder(lenient.ANY)
    payloads = read_events(data) if streamed else iter((data,))
    for payload in payloads:
        if streamed and payload.startswith(b"[DONE]"):
            return
        value = decoder.read(payload)
        if isinstance(value, dict):
            yield value


def sanitize_object(value: dict[str, Any]) -> dict[str, Any]:
    """Return an object's fields, except ``obfuscation``, in a form that any JSON encoder accepts."""
    return {str(name): lenient.sanitize(item) for name, item in value.items() if name not in DROPPED}


class _JoinedText:
    """A text that arrives in parts, one per chunk."""

    __slots__ = ("texts",)

    def __init__(self, text: str) -> None:
        self.texts = [text]


def merge(into: dict[str, Any], more: dict[str, Any], *, joins_texts: bool = True) -> None:
    """Merge a chunk's fields into ``into``.

    Texts and lists are joined, and objects are merged. All other values are replaced. The texts in ``_REPEATED`` are
    also replaced, and without ``joins_texts`` all texts. This function collects the parts of a text without joining
    them. ``join`` later joins all parts at once. So merging many chunks takes linear time.
    """
    for name, value in more.items():
        before = into.get(name)
        if isinstance(before, dict) and isinstance(value, dict):
            merge(before, value, joins_texts=joins_texts)
        elif isinstance(before, list) and isinstance(value, list):
            before.extend(value)
        elif joins_texts and isinstance(before, str | _JoinedText) and isinstance(value, str) and name not in _REPEATED:
            joined = into[name] = before if isinstance(before, _JoinedText) else _JoinedText(before)
            joined.texts.append(value)
        elif value is not None:
            into[name] = value


def join(merged: dict[str, Any]) -> None:
    """Join the texts of merged fields, in place. Call ``join`` once, after the last ``merge``."""
    for name, value in merged.items():
        if isinstance(value, _JoinedText):
            merged[name] = "".join(value.texts)
        elif isinstance(value, dict):
            join(value)
