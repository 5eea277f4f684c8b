"""Make streamed calls with responses that are cut after every possible number of bytes."""

import base64
from collections.abc import Iterator
from typing import Any, Final, Literal

from tests.conformance.sdk.calls import QUESTION

#: The text of the response. Each item is sent in a separate event.
WORDS: Final = ("Yes", ",", " you", " can")
_EVENTS: Final = [
    *(b'data: {"id":"c","choices":[{"index":0,"delta":{"content":"%b"}}]}\n\n' % word.encode() for word in WORDS),
    b"data: [DONE]\n\n",
]

Framing = Literal["chunked", "length"]
#: The arguments of one SDK call.
Asked = dict[str, Any]


def cut_everywhere(framing: Framing, manner: str) -> Iterator[Asked]:
    """Yield one streamed call for each number of bytes after which the upstream can end the connection."""
    wire = _response(framing)
    for size in range(len(wire) + 1):
        directives = {"Sim-Raw": base64.b64encode(wire[:size]).decode(), "Sim-After": manner}
        tag = {"Service-Property-Cut-At": str(size)}
        yield {"model": "gpt-4o-mini", "messages": QUESTION, "stream": True, "extra_headers": {**directives, **tag}}


def last_event_ends(framing: Framing) -> int:
    """Return the number of bytes up to the end of the last event. A later cut loses no part of the response."""
    return _response(framing).index(b"[DONE]") + len(b"[DONE]\n\n")


def _response(framing: Framing) -> bytes:
    """Return the complete response as the upstream sends it."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
    if framing == "length":
        body = b"".join(_EVENTS)
        return head + b"Content-Length: %d\r\n\r\n" % len(body) + body
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(event), event) for event in _EVENTS)
    return head + b"Transfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n"
