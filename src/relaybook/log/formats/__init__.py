"""Parse request and response bodies into facts for records and into messages for the detail view.

The functions do no I/O, do not read a clock, and never raise, whatever bytes a body contains. Values that cannot be
parsed are `None`, and ``understood`` tells whether the body was parsed. docs/explanation/reading-bodies.md describes
how each fact is derived.
"""

from relaybook.kinds import Kind
from relaybook.log.formats.advice import Advice, advice
from relaybook.log.formats.chat_structure import NotChat, response_message
from relaybook.log.formats.facts import RequestFacts, ResponseFacts, Usage
from relaybook.log.formats.format import Format
from relaybook.log.formats.media import describe_body
from relaybook.log.formats.message_chain import MessageChain, build_chain, decode_chain, encode_chain
from relaybook.log.formats.provider_errors import read_error
from relaybook.log.formats.registry import (
    FORMATS,
    REQUEST_ID_HEADERS,
    assemble_response,
    estimate_usage,
    first_token_offset,
    format_of,
    messages,
    newest_first,
    parameters,
    read_request,
    read_response,
    to_chat,
)
from relaybook.log.formats.sse import Event, read_events

__all__ = [
    "FORMATS",
    "REQUEST_ID_HEADERS",
    "Advice",
    "Event",
    "Format",
    "Kind",
    "MessageChain",
    "NotChat",
    "RequestFacts",
    "ResponseFacts",
    "Usage",
    "advice",
    "assemble_response",
    "build_chain",
    "decode_chain",
    "describe_body",
    "encode_chain",
    "estimate_usage",
    "first_token_offset",
    "format_of",
    "messages",
    "newest_first",
    "parameters",
    "read_error",
    "read_events",
    "read_request",
    "read_response",
    "response_message",
    "to_chat",
]
