"""Read legacy completions: a prompt instead of messages. The response has the fields of a chat completion."""

from typing import Any

from relaybook.apis import Match
from relaybook.log.formats.chat import Stream as ChatStream
from relaybook.log.formats.content import ends
from relaybook.log.formats.conversation import Message, Part, Request
from relaybook.log.formats.lenient import as_json, join

Stream = ChatStream


def read_request(body: dict[str, Any], match: Match) -> Request:
    """Return the prompt of a request as messages: one for each text."""
    return read_texts(body, "prompt")


def read_texts(body: dict[str, Any], field: str) -> Request:
    """Return the texts in a field as messages of the user. A list of numbers (tokens) is one message."""
    value = body.get(field)
    is_list = isinstance(value, list) and bool(value) and not isinstance(value[0], int)
    first, omitted, last = ends(value) if isinstance(value, list) and is_list else ([value] if value else [], 0, [])
    return Request(
        messages=[Message("user", [_part(item)]) for item in (*first, *last)],
        omitted=omitted,
        is_text_list=True,
        parameters={name: item for name, item in body.items() if name != field or not isinstance(value, str | list)},
    )


def _part(item: object) -> Part:
    if isinstance(item, str):
        return Part(kind="text", text=join([item]))
    return Part(kind="other", type="tokens" if isinstance(item, list) else None, other={"value": as_json(item)})
