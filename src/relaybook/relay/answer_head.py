"""An answer's head: what the caller gets of the provider's, and what the log does. Pure.

Built like ``request_head``; a provider's bytes are as hostile as a caller's.
"""

import re
from collections.abc import Sequence
from typing import Final

import httptools

from relaybook.relay.fingerprints import Fingerprints
from relaybook.relay.limits import MAX_HEADERS
from relaybook.relay.names import HOP_BY_HOP, NameTable, Treatment, holds_secret

_IDLE_SECONDS: Final = re.compile(rb"timeout=(\d{1,6})")
_ANSWER_NAMES: Final = {
    b"content-length": Treatment.LENGTH,
    b"transfer-encoding": Treatment.CHUNKED,
    b"connection": Treatment.CONNECTION,
    b"keep-alive": Treatment.KEEP_ALIVE,
    b"content-type": Treatment.TYPE,
    b"content-encoding": Treatment.ENCODING,
}
_OUR_ANSWER_NAMES: Final = (b"request-id", b"namespace", b"warning", b"error")


class AnswerBroken(Exception):
    """An answer's head that is not HTTP; the text says what is wrong."""


class AnswerHead:
    """An answer's head, taken apart. ``lines`` are what the caller gets of it, ``logged`` what the log does."""

    __slots__ = (
        *("chunked", "close", "encoded", "event_stream", "idle_seconds", "length", "lines", "logged", "reason"),
        "status",
    )

    def __init__(self) -> None:
        self.status = 0
        self.reason = b""
        self.lines: list[bytes] = []
        self.logged: list[bytes] = []
        self.length: int | None = None
        self.chunked = False
        self.close = False
        self.event_stream = False
        self.encoded = False
        self.idle_seconds: float | None = None


class AnswerHeadReader:
    """Takes providers' heads apart. ``prefixes`` are those of our own headers, which no provider may set."""

    def __init__(self, prefixes: Sequence[str], fingerprints: Fingerprints, *, drop_cors: bool = False) -> None:
        self._drop_cors = drop_cors
        self._ours = {f"{prefix.lower()}-".encode() + name for prefix in prefixes for name in _OUR_ANSWER_NAMES}
        self._fingerprints = fingerprints
        self._names = NameTable(self._decide)

    def read(self, raw: bytes) -> AnswerHead:
        """Takes the head of an answer apart; ``raw`` ends with its empty line. Raises AnswerBroken."""
        parser = httptools.HttpResponseParser(None)
        try:
            parser.feed_data(raw)
        except httptools.HttpParserUpgrade:
            pass
        except httptools.HttpParserError as error:
            raise AnswerBroken(str(error)) from None
        lines = raw[:-4].split(b"\r\n")
        head = AnswerHead()
        head.status = parser.get_status_code()
        head.reason = lines[0].partition(b" ")[2].partition(b" ")[2]
        head.close = lines[0].startswith(b"HTTP/1.0")
        head.logged = lines[1:]
        if len(lines) > MAX_HEADERS + 1:
            raise AnswerBroken(f"{len(lines) - 1} headers; {MAX_HEADERS} are the most")
        table = self._names
        keep = head.lines.append
        for index, line in enumerate(head.logged):
            name, _, value = line.partition(b":")
            treatment = table.get(name)
            if treatment is None:
                treatment = table.learn(name)
            if treatment == 0:
                keep(line)
            else:
                self._treat(head, treatment, index, line, value)
        return head

    def _treat(self, head: AnswerHead, treatment: int, index: int, line: bytes, value: bytes) -> None:
        match treatment:
            case Treatment.LENGTH:
                head.length = int(value)
                head.lines.append(b"%b: %d" % (line.partition(b":")[0], head.length))
            case Treatment.CHUNKED:
                if value.strip().lower() != b"chunked" or head.chunked:
                    raise AnswerBroken("a Transfer-Encoding other than chunked")
                head.chunked = True
                head.lines.append(line)
            case Treatment.SECRET:
                head.lines.append(line)
                head.logged[index] = self._fingerprints.line(line)
            case Treatment.CONNECTION:
                head.close = head.close or b"close" in value.lower()
            case Treatment.KEEP_ALIVE:
                if found := _IDLE_SECONDS.search(value):
                    head.idle_seconds = float(found[1])
            case Treatment.TYPE:
                head.lines.append(line)
                head.event_stream = value.strip().lower().startswith(b"text/event-stream")
            case Treatment.ENCODING:
                head.lines.append(line)
                head.encoded = value.strip().lower() != b"identity"

    def _decide(self, name: bytes) -> int:
        if name in _ANSWER_NAMES:
            return _ANSWER_NAMES[name]
        if name in HOP_BY_HOP or name in self._ours or (self._drop_cors and name.startswith(b"access-control-")):
            return Treatment.DROP
        return Treatment.SECRET if holds_secret(name) else Treatment.KEEP
