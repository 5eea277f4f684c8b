"""What a finished request says in words: answer first, then its messages, the newest first.

The text index takes at most 16 KiB of it: of a long conversation the oldest messages are left out; the requests that
sent them first have them. A request logged without bodies says nothing.
"""

import logging
from collections.abc import Iterable, Iterator
from typing import Any, Final

from relaybook.log import formats
from relaybook.log.record import Side, split_head
from relaybook.log.store.port import Body, Entry

log = logging.getLogger("relaybook.log.store")

MAX_CHARACTERS: Final = 16_384
#: A larger body is stored and not looked into.
MAX_BYTES: Final = 16 << 20
_UNDERSTOOD: Final = frozenset({"chat", "completion", "response", "embedding"})


def text_of(entry: Entry, most: int = MAX_CHARACTERS) -> str:
    """As many characters of it as asked for; empty when there is nothing to find.

    Also where a defect of ours keeps it from being read, which is told: one request must not hide all others.
    """
    if entry.record.kind not in _UNDERSTOOD:
        return ""
    try:
        return "\n".join(_first(_texts(entry), most))
    except Exception:
        log.exception("text_not_read", extra={"id": entry.record.id})
        return ""


def _first(texts: Iterable[str], most: int) -> Iterator[str]:
    """The texts, as far as so many characters go."""
    for text in texts:
        yield text[:most]
        most -= len(text) + 1
        if most <= 0:
            return


def _texts(entry: Entry) -> Iterator[str]:
    record = entry.record
    answered = _readable(entry, "response")
    if answered and not (record.status and record.status >= 400):
        for choice in formats.answer(answered, record.stream, record.kind)["choices"]:
            yield from _of_choice(choice)
    if record.error_message:
        yield record.error_message
    asked = _readable(entry, "request")
    for message in formats.newest_first(asked):
        if message.get("text"):
            yield message["text"]
        yield from _of_calls(message.get("tool_calls"))


def _of_choice(choice: dict[str, Any]) -> Iterator[str]:
    for name in ("text", "refusal", "reasoning"):
        if choice.get(name):
            yield choice[name]
    for call in choice.get("tool_calls") or ():
        yield f"{call.get('name') or ''} {call.get('arguments') or ''}"


def _of_calls(calls: object) -> Iterator[str]:
    """Those of a message, as sent."""
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            yield f"{function.get('name') or ''} {function.get('arguments') or ''}"


def _readable(entry: Entry, side: Side) -> bytes:
    """The decoded body; empty when it is not stored, too large, or cannot be decoded."""
    body: Body | None = entry.request if side == "request" else entry.response
    if body is None:
        return b""
    data = b"".join(body.rest)
    head = entry.detail.request_head if side == "request" else entry.detail.response_head
    encoding = ", ".join(value for name, value in split_head(head) if name.lower() == "content-encoding")
    if not encoding or not data:
        return data
    decoded = formats.decode(data, encoding, limit=MAX_BYTES)
    return b"" if decoded.state in ("too_large", "undecodable") else decoded.data
