"""Write a journal like a relay, with complete exchanges of different sizes and texts.

Several exchanges are open at a time.
"""

import random
from pathlib import Path
from typing import Final

from benchmarks.traffic.messages import ANSWER_BODY, FIVE, REQUEST_BODY
from relaybook import clock
from relaybook.ids import new_id
from relaybook.journal.events import Closed, Opened, ResponseBegin, encode_event
from relaybook.journal.frame import FrameKind
from relaybook.journal.writer import JournalWriter

_AT_A_TIME: Final = 32
_WORDS: Final = (
    b"history transistor valve memory drum paper tape tube Manchester Harwell Bell IBM machine store word branch punch "
    b"card delay line mercury magnetic core logic gate adder clock pulse rack power supply engineer laboratory first "
    b"built ran tested sold designed paragraph short year 1947 1953 1954 1955 1959 the a of in and with for by was were"
).split()
_ASKED: Final = b"Tell me about the first transistor computers and who built them, in a short paragraph please."
_ANSWERED: Final = b"The first transistor computer ran in Manchester in November 1953;"


def write_journal(directory: Path, exchanges: int) -> int:
    """Write a finished run with this many exchanges. Returns the total bytes of all bodies."""
    writer = JournalWriter(directory, 64 << 20, durable=False)
    made = _Exchanges()
    for first in range(0, exchanges, _AT_A_TIME):
        group = [made.frames() for _ in range(min(_AT_A_TIME, exchanges - first))]
        for frames in zip(*group, strict=True):
            for kind, exchange, payload in frames:
                writer.append(kind, exchange, payload)
            writer.write()
    writer.close()
    return made.body_bytes


class _Exchanges:
    def __init__(self) -> None:
        self._random = random.Random(1)
        self.body_bytes = 0

    def _text(self, words: int) -> bytes:
        return b" ".join(self._random.choices(_WORDS, k=words))

    def frames(self) -> list[tuple[int, bytes, bytes]]:
        """Return the three frames of one exchange, each as kind, exchange id and payload."""
        exchange = new_id()
        number = self._random.randrange(1 << 30)
        request = REQUEST_BODY.replace(_ASKED, _ASKED[:40] + self._text(9))
        answer = ANSWER_BODY.replace(_ANSWERED, self._text(11)).replace(b"B9MBs8Cj", b"%08x" % number)
        self.body_bytes += len(request) + len(answer)
        begin = ResponseBegin(200, b"OK", _response_head(len(answer), number), False, answer)
        return [
            (FrameKind.OPENED, exchange, encode_event(_opened(request, number))),
            (FrameKind.RESPONSE_BEGIN, exchange, encode_event(begin)),
            (FrameKind.CLOSED, exchange, encode_event(Closed("complete", None, None, 180_000))),
        ]


def _opened(request: bytes, number: int) -> Opened:
    head = FIVE.request_head("127.0.0.1:4100").replace(b"Bearer sk-test-1234567890", b"Bearer key:0f8a4e3f0f5b")
    return Opened(
        clock.wall_ns(),
        b"POST",
        b"/v1/chat/completions",
        head.partition(b"\r\n")[2].removesuffix(b"\r\n\r\n"),
        ("production", "staging", "ios", "android")[number % 4],
        {"user-id": str(number % 5000)},
        [],
        "default",
        "https://api.openai.com/v1",
        "127.0.0.1",
        "full",
        "0f8a4e3f0f5b",
        b"/chat/completions",
        "chat",
        request,
        True,
    )


def _response_head(length: int, number: int) -> bytes:
    return (
        b"Server: nginx\r\nDate: Sat, 21 Nov 2026 14:02:31 GMT\r\nContent-Type: application/json\r\n"
        b"Content-Length: %d\r\nConnection: keep-alive\r\nx-request-id: req_%032x" % (length, number)
    )
