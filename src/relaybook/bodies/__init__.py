"""Understands bodies: bytes in, facts out, for the recorder (facts of a record) and the read API (the detail view).

Nothing here does I/O, reads a clock or raises, whatever the bytes: what cannot be read stays None and
``understood`` says so. How each fact is derived is written in docs/explanation/reading-bodies.md.
"""

from relaybook.bodies.advice import Remark, advice
from relaybook.bodies.answer import first_token_offset, read_answer
from relaybook.bodies.assembly import answer
from relaybook.bodies.decode import Decoded, decode
from relaybook.bodies.detail import messages, newest_first, parameters
from relaybook.bodies.errors import read_error
from relaybook.bodies.facts import AnswerFacts, Kind, RequestFacts, Usage
from relaybook.bodies.media import body_words
from relaybook.bodies.request import read_request
from relaybook.bodies.sse import Event, SseReader, read_events
from relaybook.bodies.text import estimate_tokens
from relaybook.bodies.turns import Turn, decode_turn, encode_turn, turn

__all__ = [
    "AnswerFacts",
    "Decoded",
    "Event",
    "Kind",
    "Remark",
    "RequestFacts",
    "SseReader",
    "Turn",
    "Usage",
    "advice",
    "answer",
    "body_words",
    "decode",
    "decode_turn",
    "encode_turn",
    "estimate_tokens",
    "first_token_offset",
    "messages",
    "newest_first",
    "parameters",
    "read_answer",
    "read_error",
    "read_events",
    "read_request",
    "turn",
]
