"""Extract the search text of a finished request.

The search text starts with the response and the error message, followed by the messages from newest to oldest. The text
index holds at most 16,384 characters per request. In a long conversation, the oldest messages are beyond this limit.
Such messages are indexed only for earlier requests that also contained them. If a request is logged without bodies, its
text has only Relaybook's error message, if there is one.
"""

import logging
from collections.abc import Iterable, Iterator
from typing import Any, Final

from relaybook.log.formats import format_of
from relaybook.log.request_view import RequestView
from relaybook.log.store.port import Entry

log = logging.getLogger("relaybook.log.store")

MAX_CHARACTERS: Final = 16_384


def text_of(entry: Entry, max_characters: int = MAX_CHARACTERS) -> str:
    """Return the first ``max_characters`` characters of the request's search text.

    The result is empty if the request has no text, or if reading the bodies fails unexpectedly. Such an error is logged
    and not raised, so that one request cannot block the indexing of all other requests.
    """
    if format_of(entry.record.kind) is None:
        return ""
    try:
        return "\n".join(_truncate(_texts(entry), max_characters))
    except Exception:
        log.exception("text_not_read", extra={"id": entry.record.id})
        return ""


def _truncate(texts: Iterable[str], max_characters: int) -> Iterator[str]:
    """Yield texts up to a total of ``max_characters``, including separators. The last text is truncated to fit."""
    for text in texts:
        yield text[:max_characters]
        max_characters -= len(text) + 1
        if max_characters <= 0:
            return


def _texts(entry: Entry) -> Iterator[str]:
    view, record = RequestView.of_entry(entry), entry.record
    if not (record.status and record.status >= 400) and (response := view.parsed_response()):
        for choice in response["choices"]:
            yield from _choice_texts(choice)
    if record.error_message:
        yield record.error_message
    for message in view.newest_messages():
        if message.get("text"):
            yield message["text"]
        yield from _call_texts(message)


def _choice_texts(choice: dict[str, Any]) -> Iterator[str]:
    for name in ("text", "refusal", "reasoning"):
        if choice.get(name):
            yield choice[name]
    for call in choice.get("tool_calls") or ():
        yield f"{call.get('name') or ''} {call.get('arguments') or ''}"


def _call_texts(message: dict[str, Any]) -> Iterator[str]:
    """Yield the name and arguments of each tool call of a request message."""
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict):
            yield from _function_text(call.get("function") or call.get("custom"))
    yield from _function_text(message.get("function_call"))


def _function_text(function: object) -> Iterator[str]:
    if isinstance(function, dict):
        yield f"{function.get('name') or ''} {function.get('arguments') or function.get('input') or ''}"
