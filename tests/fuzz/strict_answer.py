"""Reads one answer as strictly as RFC 9112 can be read: the second opinion on what a provider's bytes say."""

import re
from dataclasses import dataclass, field
from typing import Final

from tests.fuzz.strict_http import BrokenHttp, read_chunks, read_header_lines

_STATUS_LINE: Final = re.compile(rb"HTTP/1\.[01] ([1-9][0-9]{2})(?: ([\t -~\x80-\xff]*))?")
_NO_BODY: Final = (204, 304)


@dataclass
class StrictAnswer:
    """An answer as far as its bytes went. ``complete``: its end is certain; ``broken``: no careful client goes on."""

    status: int = 0
    reason: bytes = b""
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    body: bytes = b""
    complete: bool = False
    broken: bool = False
    endless: bool = False
    rest: bytes = b""

    def all(self, name: bytes) -> list[bytes]:
        """Values of a header, by its name in lower case."""
        return [value for each, value in self.headers if each.lower() == name]


def read_response(data: bytes, method: bytes = b"POST") -> StrictAnswer:
    """The first final answer in these bytes; informational ones before it are passed over."""
    answer = StrictAnswer()
    try:
        while answer.status < 200:
            head, mark, data = data.partition(b"\r\n\r\n")
            if not mark:
                return StrictAnswer(rest=head)
            first, *lines = head.split(b"\r\n")
            found = _STATUS_LINE.fullmatch(first)
            if found is None:
                raise BrokenHttp
            answer = StrictAnswer(int(found[1]), found[2] or b"", read_header_lines(lines))
            if answer.status == 101:
                raise BrokenHttp
        _read_body(answer, data, method)
    except BrokenHttp:
        answer.broken = True
    return answer


def _read_body(answer: StrictAnswer, data: bytes, method: bytes) -> None:
    lengths, codings = answer.all(b"content-length"), answer.all(b"transfer-encoding")
    if len(lengths) + len(codings) > 1 or (codings and codings[0].lower() != b"chunked"):
        raise BrokenHttp
    if lengths and not re.fullmatch(rb"[0-9]{1,64}", lengths[0]):
        raise BrokenHttp
    if method == b"HEAD" or answer.status in _NO_BODY:
        answer.complete, answer.rest = True, data
    elif codings:
        chunks = read_chunks(data)
        answer.body, answer.complete, answer.broken, answer.rest = chunks
    elif lengths:
        length = int(lengths[0])
        answer.body, answer.rest = data[:length], data[length:]
        answer.complete = len(answer.body) == length
    else:
        answer.body, answer.endless = data, True
