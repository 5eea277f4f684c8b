"""Extract facts from a response body with the parser for its kind, whether it is a stream or one JSON object.

A provider may answer a streaming request with one JSON object, or another request with a stream. ``understood`` is
false only if the body is valid as neither.
"""

from typing import Final

import msgspec

from relaybook.kinds import Kind
from relaybook.log.formats import chat, lenient, responses
from relaybook.log.formats.chat import stream_end
from relaybook.log.formats.facts import ResponseFacts

_UNSUPPORTED: Final = frozenset({"models", "other"})
_STREAM_STARTS: Final = (b"data:", b"event:", b":", b"id:", b"retry:", b"\r", b"\n", b"\xef\xbb\xbf")


class _Object(msgspec.Struct):
    """Any JSON object. Its fields are skipped."""


_OBJECT: Final = msgspec.json.Decoder(_Object)


def read_response(kind: Kind, data: bytes, *, streamed: bool, complete: bool) -> ResponseFacts:
    """Return the facts of a decoded response body. Never raises.

    ``complete`` tells whether the whole response arrived. ``stream_ended`` is set only if ``streamed``.
    """
    if kind in _UNSUPPORTED:
        return ResponseFacts()
    read_whole = responses.read_whole if kind == "response" else chat.read_whole
    read_stream = responses.read_stream if kind == "response" else chat.read_stream
    if is_stream(data, streamed):
        facts = read_stream(data, complete=complete)
    else:
        facts = read_whole(data) or ResponseFacts()
        facts.stream_ended = stream_end(is_done=False, complete=complete)
    if not streamed:
        facts.stream_ended = None
    return facts


def is_stream(data: bytes, streamed: bool) -> bool:
    """Return whether to parse a response as a stream: if it was sent as one (``streamed``), unless the bytes differ."""
    if data.startswith(_STREAM_STARTS) == streamed:
        return streamed
    return lenient.read(_OBJECT, data) is None


def first_token_offset(data: bytes, kind: Kind = "chat") -> int | None:
    """Return the end offset of the event with the first token in a decoded stream. `None` if there is no token.

    The offset is directly behind the event's blank line. The network read with the byte before it completed the event.
    """
    return responses.first_token_offset(data) if kind == "response" else chat.first_token_offset(data)
