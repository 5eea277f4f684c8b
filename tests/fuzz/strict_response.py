"""Parse responses as strictly as RFC 9112 allows, to check how the relay parses an upstream's bytes."""

import re
from dataclasses import dataclass, field
from typing import Final

from tests.support.strict_http import BrokenHttp, read_chunks, read_header_lines

_STATUS_LINE: Final = re.compile(rb"HTTP/1\.[01] ([1-9][0-9]{2})(?: ([\t -~\x80-\xff]*))?")
_NO_BODY: Final = (204, 304)


@dataclass
class StrictResponse:
    """A response that may be truncated.

    ``complete`` is True if the end of the response is certain. ``broken`` is True if a careful client would stop.
    """

    status: int = 0
    reason: bytes = b""
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    body: bytes = b""
    complete: bool = False
    broken: bool = False
    endless: bool = False
    rest: bytes = b""

    def all(self, name: bytes) -> list[bytes]:
        """Return all values of a header. ``name`` is in lower case."""
        return [value for key, value in self.headers if key.lower() == name]


def read_response(data: bytes, method: bytes = b"POST") -> StrictResponse:
    """Return the first final response in these bytes. Interim responses are skipped."""
    response = StrictResponse()
    try:
        while response.status < 200:
            head, separator, data = data.partition(b"\r\n\r\n")
            if not separator:
                return StrictResponse(rest=head)
            first, *lines = head.split(b"\r\n")
            found = _STATUS_LINE.fullmatch(first)
            if found is None:
                raise BrokenHttp
            response = StrictResponse(int(found[1]), found[2] or b"", read_header_lines(lines))
            if response.status == 101:
                raise BrokenHttp
        _read_body(response, data, method)
    except BrokenHttp:
        response.broken = True
    return response


def _read_body(response: StrictResponse, data: bytes, method: bytes) -> None:
    lengths, codings = response.all(b"content-length"), response.all(b"transfer-encoding")
    if len(lengths) + len(codings) > 1 or (codings and codings[0].lower() != b"chunked"):
        raise BrokenHttp
    if lengths and not re.fullmatch(rb"[0-9]{1,64}", lengths[0]):
        raise BrokenHttp
    if method == b"HEAD" or response.status in _NO_BODY:
        response.complete, response.rest = True, data
    elif codings:
        chunks = read_chunks(data)
        response.body, response.complete, response.broken, response.rest = chunks
    elif lengths:
        length = int(lengths[0])
        response.body, response.rest = data[:length], data[length:]
        response.complete = len(response.body) == length
    else:
        response.body, response.endless = data, True
