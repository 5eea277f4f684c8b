"""Put the search text of a finished request together.

The search text starts with the response and the error message, followed by the messages from newest to oldest. It has
three sections, see ``SearchText``, because a client sends the earlier messages of a conversation again with each
request. The text index holds at most 16,384 characters per request. In a long conversation, the oldest messages are
beyond this limit. Such messages are indexed only for earlier requests that also contained them. If a request is logged
without bodies, its text has only Relaybook's error message, if there is one.
"""

import logging
from collections.abc import Iterator, Sequence
from typing import Final

from relaybook.log.formats.conversation import Message, Part, Request, Response
from relaybook.log.formats.message_chain import is_from_assistant
from relaybook.log.formats.reading import RAW_TYPES
from relaybook.log.query.words import SEPARATOR, SearchText
from relaybook.log.record import Record
from relaybook.log.request_view import RequestView
from relaybook.log.store.entry import Entry

log = logging.getLogger("relaybook.log.store")

MAX_CHARACTERS: Final = 16_384


def text_of(entry: Entry, max_characters: int = MAX_CHARACTERS) -> SearchText:
    """Return the first ``max_characters`` characters of the request's search text.

    The bodies are read if the entry does not have its text. The result is empty if the request has no text, or if
    reading the bodies fails unexpectedly. Such an error is logged and not raised, so that one request cannot block the
    indexing of all other requests.
    """
    if entry.text is not None and max_characters == MAX_CHARACTERS:
        return entry.text
    try:
        view = RequestView.of_entry(entry)
        return search_text(entry.record, view.request(), view.response(), max_characters)
    except Exception:
        log.exception("text_not_read", extra={"id": entry.record.id})
        return SearchText()


def search_text(
    record: Record, request: Request | None, response: Response | None, max_characters: int = MAX_CHARACTERS
) -> SearchText:
    """Return the search text of a request. The model is `None` if a body is not stored or not read."""
    messages = request.messages if request is not None else []
    first_new = _first_new(messages)
    sections: list[str] = []
    for texts in (_response_texts(record, response), _messages(messages[first_new:]), _messages(messages[:first_new])):
        section = []
        for text in texts:
            if max_characters <= 0:
                break
            if text:
                section.append(text[:max_characters])
                max_characters -= len(text) + 1
        sections.append(SEPARATOR.join(section))
    return SearchText(*sections)


def _response_texts(record: Record, response: Response | None) -> Iterator[str]:
    if response is not None and not (record.status and record.status >= 400):
        for output in response.outputs:
            yield from _output_texts(output.parts)
    if record.error_message:
        yield record.error_message


def _messages(messages: Sequence[Message]) -> Iterator[str]:
    """Yield the texts of messages, newest message first."""
    for message in reversed(messages):
        yield from _part_texts(message.parts)


def _first_new(messages: Sequence[Message]) -> int:
    """Return the index of the first message after the last response that the request contains.

    Messages of the assistant at the end of the request are new, because a client can write the start of the response.
    """
    at = len(messages)
    while at and is_from_assistant(messages[at - 1]):
        at -= 1
    while at and not is_from_assistant(messages[at - 1]):
        at -= 1
    return at


def _output_texts(parts: Sequence[Part]) -> Iterator[str]:
    """Yield the texts of a response: the answer first, and the reasoning after it.

    The text parts are one text, because citations split sentences into parts.
    """
    yield "".join([part.text or "" for part in parts if part.kind == "text"])
    yield from _part_texts([part for part in parts if part.kind in ("refusal", "audio") or part.type in RAW_TYPES])
    yield from _part_texts([part for part in parts if part.kind == "reasoning"])
    yield from _part_texts([part for part in parts if part.kind in ("tool_call", "tool_result")])


def _part_texts(parts: Sequence[Part]) -> Iterator[str]:
    for part in parts:
        if part.text:
            yield part.text
        if part.kind == "tool_call":
            yield f"{part.name or ''} {part.arguments or ''}"
