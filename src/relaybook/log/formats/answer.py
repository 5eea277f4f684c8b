"""Reads the facts out of an answer's body: picks the reader for its kind and copes with the wrong content.

A provider may answer a streaming call with one JSON object, or a plain call with a stream; ``understood`` is false
only when the bytes make sense neither way.
"""

from typing import Final

import msgspec

from relaybook.kinds import Kind
from relaybook.log.formats import chat, lenient, responses
from relaybook.log.formats.chat import how_it_ended
from relaybook.log.formats.facts import ResponseFacts

_UNREAD: Final = frozenset({"models", "other"})
_STREAM_STARTS: Final = (b"data:", b"event:", b":", b"id:", b"retry:", b"\r", b"\n", b"\xef\xbb\xbf")


class _Object(msgspec.Struct):
    """Any JSON object, its fields skipped."""


_OBJECT: Final = msgspec.json.Decoder(_Object)


def read_response(kind: Kind, data: bytes, *, streamed: bool, complete: bool) -> ResponseFacts:
    """Facts of a decoded answer body. ``complete`` says whether the whole answer arrived. Never raises.

    ``stream_ended`` is set only when ``streamed``.
    """
    if kind in _UNREAD:
        return ResponseFacts()
    read_whole = responses.read_whole if kind == "response" else chat.read_whole
    read_stream = responses.read_stream if kind == "response" else chat.read_stream
    if is_stream(data, streamed):
        facts = read_stream(data, complete=complete)
    else:
        facts = read_whole(data) or ResponseFacts()
        facts.stream_ended = how_it_ended(is_done=False, complete=complete)
    if not streamed:
        facts.stream_ended = None
    return facts


def is_stream(data: bytes, streamed: bool) -> bool:
    """Whether an answer is to be read as a stream: as it was sent (``streamed``), unless the bytes are the other."""
    if data.startswith(_STREAM_STARTS) == streamed:
        return streamed
    return lenient.read(_OBJECT, data) is None


def first_token_offset(data: bytes, kind: Kind = "chat") -> int | None:
    """Where in a decoded stream the event ends that brought the first token; None when none did.

    The end of the event is just behind its blank line: the network read that holds the byte before it completed it.
    """
    return responses.first_token_offset(data) if kind == "response" else chat.first_token_offset(data)
