"""Extract messages and parameters from a request body for the detail view.

Each format has a function that lists the messages of a body, such as ``openai_messages`` for OpenAI's formats.
``messages`` and ``newest_first`` convert the listed messages. If messages are omitted, the result of ``messages`` says
how many.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

from relaybook.log.formats import lenient
from relaybook.log.formats.media import describe_part

ListMessages = Callable[[dict[str, Any]], list[object]]

#: The field with the messages of a request: ``messages`` in chat completions, ``input`` in the Responses API and in
#: embeddings, ``prompt`` in legacy completions.
_MESSAGE_FIELDS: Final = ("messages", "input", "prompt")
_COPIED_FIELDS: Final = (
    "name",
    "tool_calls",
    "tool_call_id",
    "function_call",
    "refusal",
    "reasoning",
    "reasoning_content",
)
#: If a list is longer than twice this number, only this many messages from its start and from its end are returned. The
#: same limit applies to the parts of a message.
_MAX_PER_END: Final = 5000


def messages(data: bytes, list_messages: ListMessages) -> list[dict[str, Any]]:
    """Return the messages in order. The list is empty if the body has no messages. Never raises.

    Each message has ``role``, ``text`` and ``parts``. ``text`` is all text, with parts joined by line breaks, or `None`
    if there is no text. ``parts`` is empty if the content is a string. Otherwise ``parts`` is a list of ``{"type",
    "text", "shown", "raw"}``. ``shown`` describes a part without text, such as an image. ``raw`` is the part as sent,
    and is omitted if the part has nothing but a text. ``name``, ``tool_calls`` and similar fields are included as sent.
    All other fields are in ``other``.

    If there are more than 10,000 messages, only the first 5,000 and the last 5,000 are returned. Between these, a
    message without a role says how many messages are omitted. The parts of a message are limited in the same way, and a
    text part says how many parts are omitted.
    """
    first, omitted, last = _items(data, list_messages)
    found = [_message(item) for item in first]
    if omitted:
        found.append({"role": None, "text": f"[{omitted:,} messages are not shown here]", "parts": []})
    return found + [_message(item) for item in last]


def newest_first(data: bytes, list_messages: ListMessages) -> Iterator[dict[str, Any]]:
    """Yield the same messages as ``messages``, newest first.

    The message that says how many messages are omitted is not included. A message is converted only when it is needed.
    """
    first, _, last = _items(data, list_messages)
    for item in (*reversed(last), *reversed(first)):
        yield _message(item)


def characters(data: bytes, list_messages: ListMessages) -> int:
    """Return the number of characters in the texts of the messages. Input tokens are estimated from this number."""
    body = lenient.load(data)
    items = list_messages(body) if isinstance(body, dict) else []
    return sum(len(_message(item).get("text") or "") for item in items)


def _items(data: bytes, list_messages: ListMessages) -> tuple[list[object], int, list[object]]:
    """Return the first messages, the number of omitted messages, and the last messages, without converting them."""
    body = lenient.load(data)
    return _ends(list_messages(body) if isinstance(body, dict) else [])


def _ends(items: list[object]) -> tuple[list[object], int, list[object]]:
    omitted = max(0, len(items) - 2 * _MAX_PER_END)
    return items[:_MAX_PER_END], omitted, items[_MAX_PER_END + omitted :]


def parameters(data: bytes, message_fields: Callable[[dict[str, Any]], tuple[str, ...]]) -> dict[str, Any]:
    """Return all top-level fields except the messages, as sent.

    The result is empty if the body is not a JSON object.
    """
    body = lenient.load(data)
    if not isinstance(body, dict):
        return {}
    omitted = message_fields(body)
    return {str(name): lenient.sanitize(value) for name, value in body.items() if name not in omitted}


def openai_messages(body: dict[str, Any]) -> list[object]:
    """Return the messages, input or prompt of a request as sent. A text counts as one message."""
    found: Any = next((body[name] for name in openai_message_fields(body)), [])
    return found if isinstance(found, list) else [found]


def openai_message_fields(body: dict[str, Any]) -> tuple[str, ...]:
    """Return the name of the field that has the messages of a request. The result is empty if there is no such field.

    An object in such a field, such as a prompt template of the Responses API, is not a message.
    """
    return tuple([name for name in _MESSAGE_FIELDS if isinstance(body.get(name), str | list)][:1])


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
        if name in _COPIED_FIELDS:
            message[name] = lenient.sanitize(value)
        elif name != "content" and (name != "role" or not isinstance(role, str)):
            other[name] = lenient.sanitize(value)
    if other:
        message["other"] = other
    return message


def _parts(content: list[object]) -> list[dict[str, Any]]:
    first, omitted, last = _ends(content)
    note = [f"[{omitted:,} parts are not shown here]"] if omitted else []
    return [_part(part) for part in (*first, *note, *last)]


def _part(part: object) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    if not isinstance(part, dict):
        return {"type": None, "text": None, "raw": lenient.sanitize(part)}
    kind = part.get("type")
    text = part.get("refusal") if part.get("text") is None else part["text"]
    kind = kind if isinstance(kind, str) else None
    if isinstance(text, str):
        if part.keys() <= {"type", "text"} and len(part) == 1 + (kind is not None):
            return {"type": kind, "text": text}
        return {"type": kind, "text": text, "raw": lenient.sanitize(part)}
    return {"type": kind, "text": None, "shown": describe_part(part) if kind else None, "raw": lenient.sanitize(part)}
