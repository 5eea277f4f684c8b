"""Lays a request's body out for the detail view: its messages and its parameters; of what is left out, how much."""

from collections.abc import Iterator
from typing import Any, Final

from relaybook.log.formats import lenient
from relaybook.log.formats.media import part_words

#: Where the messages of a request are: chat, Responses API and embeddings, legacy completions.
_MESSAGE_FIELDS: Final = ("messages", "input", "prompt")
_NAMED: Final = (
    "name",
    "tool_calls",
    "tool_call_id",
    "function_call",
    "refusal",
    "reasoning",
    "reasoning_content",
)
#: So many of the first messages are told, and of the last; of a message's parts, too.
_MOST_AT_AN_END: Final = 5000


def messages(data: bytes) -> list[dict[str, Any]]:
    """The messages in order; empty when the body holds none. Never raises.

    Each has ``role``, ``text`` (all its text, parts joined by line breaks, None without any) and ``parts``: empty when
    the content was one text, else ``{"type", "text", "raw"}`` each, ``raw`` being the part as sent where it is more
    than text. ``name``, ``tool_calls`` and the like appear as sent where they were; other fields are under ``other``.
    Of more than 10,000 the first and the last 5,000, and between them one without a role that says how many are not;
    of more than 10,000 parts of a message likewise, with a text between them.
    """
    first, left_out, last = _items(data)
    found = [_message(item) for item in first]
    if left_out:
        found.append({"role": None, "text": f"[{left_out:,} messages are not shown here]", "parts": []})
    return found + [_message(item) for item in last]


def newest_first(data: bytes) -> Iterator[dict[str, Any]]:
    """The same messages from the last on, each laid out when it is its turn; without a note on those left out."""
    first, _, last = _items(data)
    for item in (*reversed(last), *reversed(first)):
        yield _message(item)


def _items(data: bytes) -> tuple[list[object], int, list[object]]:
    """The first messages as sent, how many are left out behind them, and the last."""
    body = lenient.load(data)
    found = body.get(_message_field(body)) if isinstance(body, dict) else None
    return _ends(found if isinstance(found, list) else [found] if isinstance(found, str) else [])


def _ends(items: list[object]) -> tuple[list[object], int, list[object]]:
    left_out = max(0, len(items) - 2 * _MOST_AT_AN_END)
    return items[:_MOST_AT_AN_END], left_out, items[_MOST_AT_AN_END + left_out :]


def parameters(data: bytes) -> dict[str, Any]:
    """Every top-level field but the messages, as sent (``tools`` whole); empty when the body is no JSON object."""
    body = lenient.load(data)
    if not isinstance(body, dict):
        return {}
    left_out = _message_field(body)
    return {str(name): lenient.tidy(value) for name, value in body.items() if name != left_out}


def _message_field(body: dict[str, Any]) -> str:
    return next((name for name in _MESSAGE_FIELDS if name in body), _MESSAGE_FIELDS[0])


def _message(item: object) -> dict[str, Any]:
    if not isinstance(item, dict):
        if isinstance(item, str):
            return {"role": "user", "text": item, "parts": []}
        return {"role": None, "text": None, "parts": [_part(item)]}
    role, content = item.get("role"), item.get("content")
    parts = _parts(content) if isinstance(content, list) else []
    text: str | None
    if isinstance(content, str):
        text = content
    else:
        text = "\n".join(part["text"] for part in parts if part["text"]) or None
        if content is not None and not isinstance(content, list):
            parts = [_part(content)]
    message: dict[str, Any] = {"role": role if isinstance(role, str) else None, "text": text, "parts": parts}
    other = {}
    for name, value in item.items():
        if name in _NAMED:
            message[name] = lenient.tidy(value)
        elif name != "content" and (name != "role" or not isinstance(role, str)):
            other[name] = lenient.tidy(value)
    if other:
        message["other"] = other
    return message


def _parts(content: list[object]) -> list[dict[str, Any]]:
    first, left_out, last = _ends(content)
    note = [f"[{left_out:,} parts are not shown here]"] if left_out else []
    return [_part(part) for part in (*first, *note, *last)]


def _part(part: object) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    if not isinstance(part, dict):
        return {"type": None, "text": None, "raw": lenient.tidy(part)}
    kind, text = part.get("type"), part.get("text")
    kind = kind if isinstance(kind, str) else None
    if isinstance(text, str):
        if part.keys() <= {"type", "text"} and len(part) == 1 + (kind is not None):
            return {"type": kind, "text": text}
        return {"type": kind, "text": text, "raw": lenient.tidy(part)}
    return {"type": kind, "text": None, "shown": part_words(part) if kind else None, "raw": lenient.tidy(part)}
