"""List the formats by kind, and parse each body with the format of its kind.

For a kind without a format, ``read_request`` and ``read_response`` return empty facts, ``estimate_usage`` estimates
nothing, and ``to_chat`` raises NotChat. The functions for the detail view and ``first_token_offset`` parse such bodies
as chat completions.
"""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from relaybook.kinds import Kind
from relaybook.log.formats import anthropic, chat, completions, embeddings, lenient, request_messages, responses
from relaybook.log.formats.chat_structure import NotChat
from relaybook.log.formats.facts import RequestFacts, ResponseFacts
from relaybook.log.formats.format import Format, stream_end

FORMATS: Final[dict[Kind, Format]] = {
    one.kind: one for one in (chat.FORMAT, completions.FORMAT, responses.FORMAT, embeddings.FORMAT, anthropic.FORMAT)
}
#: The response headers that may have the provider's id of the request, in lower case.
REQUEST_ID_HEADERS: Final = tuple(dict.fromkeys(one.request_id_header for one in FORMATS.values()))

_STREAM_STARTS: Final = (b"data:", b"event:", b":", b"id:", b"retry:", b"\r", b"\n", b"\xef\xbb\xbf")


class _Object(msgspec.Struct):
    """Any JSON object. The fields of the object are skipped."""


_OBJECT: Final = msgspec.json.Decoder(_Object)


def format_of(kind: Kind) -> Format | None:
    """Return the format of a kind, or `None` if bodies of this kind are not parsed."""
    return FORMATS.get(kind)


def read_request(kind: Kind, data: bytes) -> RequestFacts:
    """Return the facts of a decoded request body."""
    found = FORMATS.get(kind)
    return RequestFacts() if found is None else found.read_request(data)


def read_response(kind: Kind, data: bytes, *, streamed: bool, complete: bool) -> ResponseFacts:
    """Return the facts of a decoded response body, which is a stream or one JSON object.

    ``streamed`` tells whether the response has the content type of a stream. If the content type contradicts the bytes
    of the body, the bytes decide. ``complete`` tells whether the whole response arrived. The fact ``stream_ended`` is
    `None` if ``streamed`` is False.
    """
    found = FORMATS.get(kind)
    if found is None:
        return ResponseFacts()
    if is_stream(data, streamed):
        facts = found.read_stream(data, complete=complete)
    else:
        facts = found.read_whole(data) or ResponseFacts()
        facts.stream_ended = stream_end(is_done=False, complete=complete)
    if not streamed:
        facts.stream_ended = None
    return facts


def is_stream(data: bytes, streamed: bool) -> bool:
    """Return whether to parse a response as a stream.

    ``streamed`` tells whether the response has the content type of a stream. If the first bytes contradict the content
    type, the response is parsed as a stream unless it is a JSON object.
    """
    if data.startswith(_STREAM_STARTS) == streamed:
        return streamed
    return lenient.read(_OBJECT, data) is None


def first_token_offset(data: bytes, kind: Kind = "chat") -> int | None:
    """Return the offset in a decoded stream at which the first event with a token ends. `None` if there is no token.

    The offset is directly after the event's blank line. The event was complete when the byte before this offset was
    received. Streams of a kind without a format are parsed as chat.
    """
    return FORMATS.get(kind, chat.FORMAT).first_token_offset(data)


def estimate_usage(kind: Kind, facts: ResponseFacts, request: bytes) -> bool:
    """Estimate missing token counts if the format supports estimates. Returns whether any count was estimated."""
    found = FORMATS.get(kind)
    return found is not None and found.estimate_usage(facts, request)


def assemble_response(data: bytes, streamed: bool, kind: Kind = "chat") -> dict[str, Any]:
    """Return the response's top-level fields with assembled ``choices``.

    A response that cannot be parsed results in ``{"choices": []}``.

    A choice is ``{"index", "text", "reasoning", "refusal", "tool_calls": [{"id", "type", "name", "arguments"}],
    "finish_reason"}``. Other fields of the choice or its message are in ``other``, merged over all chunks. Texts
    of messages and all lists are joined, and objects are merged. Of any other value, only the last one is kept.
    ``obfuscation`` is dropped. Never raises.
    """
    return FORMATS.get(kind, chat.FORMAT).assemble(data, is_stream(data, streamed))


def messages(data: bytes, kind: Kind = "chat") -> list[dict[str, Any]]:
    """Return the messages of a request body in order; see ``request_messages.messages``."""
    return request_messages.messages(data, FORMATS.get(kind, chat.FORMAT).list_messages)


def newest_first(data: bytes, kind: Kind = "chat") -> Iterator[dict[str, Any]]:
    """Yield the messages of a request body from last to first; see ``request_messages.newest_first``."""
    return request_messages.newest_first(data, FORMATS.get(kind, chat.FORMAT).list_messages)


def parameters(data: bytes, kind: Kind = "chat") -> dict[str, Any]:
    """Return all top-level fields of a request body except the messages, as sent."""
    return request_messages.parameters(data, FORMATS.get(kind, chat.FORMAT).message_fields)


def to_chat(data: bytes, kind: Kind) -> dict[str, Any]:
    """Return the messages and tools of a request body as fields of a chat completions request.

    Raises NotChat if these fields cannot express the request, or if the body is not a JSON object.
    """
    found, body = FORMATS.get(kind), lenient.load(data)
    if found is None or found.to_chat is None or not isinstance(body, dict):
        raise NotChat
    fields = found.to_chat(body)
    return {name: lenient.sanitize(value) for name, value in fields.items()}
