"""Understands bodies: bytes in, facts out, for the recorder (facts of a record) and the read API (the detail view).

Nothing here does I/O, reads a clock or raises, whatever the bytes: what cannot be read stays None and
``understood`` says so. How each fact is derived is written in docs/explanation/reading-bodies.md.
"""

from relaybook.kinds import Kind
from relaybook.log.formats.advice import Remark, advice
from relaybook.log.formats.answer import first_token_offset, read_response
from relaybook.log.formats.assembly import answer
from relaybook.log.formats.decode import Decoded, decode
from relaybook.log.formats.detail import messages, newest_first, parameters
from relaybook.log.formats.errors import read_error
from relaybook.log.formats.facts import RequestFacts, ResponseFacts, Usage
from relaybook.log.formats.media import body_words
from relaybook.log.formats.message_chain import MessageChain, decode_chain, encode_chain, turn
from relaybook.log.formats.request import read_request
from relaybook.log.formats.sse import Event, SseReader, read_events
from relaybook.log.formats.text import estimate_tokens

__all__ = [
    "Decoded",
    "Event",
    "Kind",
    "MessageChain",
    "Remark",
    "RequestFacts",
    "ResponseFacts",
    "SseReader",
    "Usage",
    "advice",
    "answer",
    "body_words",
    "decode",
    "decode_chain",
    "encode_chain",
    "estimate_tokens",
    "first_token_offset",
    "messages",
    "newest_first",
    "parameters",
    "read_error",
    "read_events",
    "read_request",
    "read_response",
    "turn",
]
