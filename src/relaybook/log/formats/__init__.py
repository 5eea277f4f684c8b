"""Parse request and response bodies: into facts for records, and into messages for the detail view.

Nothing here does I/O, reads a clock, or raises, whatever the bytes are. Values that cannot be parsed are `None`, and
``understood`` tells whether the body was parsed. docs/explanation/reading-bodies.md describes how each fact is derived.
"""

from relaybook.kinds import Kind
from relaybook.log.formats.advice import Advice, advice
from relaybook.log.formats.answer import first_token_offset, read_response
from relaybook.log.formats.assembly import assemble_response
from relaybook.log.formats.detail import messages, newest_first, parameters
from relaybook.log.formats.errors import read_error
from relaybook.log.formats.facts import RequestFacts, ResponseFacts, Usage
from relaybook.log.formats.media import describe_body
from relaybook.log.formats.message_chain import MessageChain, build_chain, decode_chain, encode_chain
from relaybook.log.formats.request import read_request
from relaybook.log.formats.sse import Event, SseReader, read_events
from relaybook.log.formats.text import estimate_tokens

__all__ = [
    "Advice",
    "Event",
    "Kind",
    "MessageChain",
    "RequestFacts",
    "ResponseFacts",
    "SseReader",
    "Usage",
    "advice",
    "assemble_response",
    "build_chain",
    "decode_chain",
    "describe_body",
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
]
