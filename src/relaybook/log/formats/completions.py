"""Parse legacy completions.

``chat`` also parses the responses of legacy completions, which have the same top-level fields as chat completions.
"""

from dataclasses import replace
from typing import Final

from relaybook.log.formats import chat, lenient
from relaybook.log.formats.facts import RequestFacts
from relaybook.log.formats.format import Format, leave_unknown
from relaybook.log.formats.request import plain_preview, request_facts
from relaybook.log.formats.wire import REQUEST


def read_request(data: bytes) -> RequestFacts:
    """Return the facts of a request."""
    request = lenient.read(REQUEST, data)
    return RequestFacts() if request is None else request_facts(request, plain_preview(request.prompt), None)


FORMAT: Final[Format] = replace(chat.FORMAT, kind="completion", read_request=read_request, estimate_usage=leave_unknown)
