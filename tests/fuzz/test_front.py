"""The caller's side of the relay, fed with anything: it never falls over, and never sends what was not asked.

What the relay sends is read by a parser of its own (``strict_http``), and so are the caller's bytes: every request that
is sent must stand among those the caller wrote, in their order, with the same method, target and body. What the relay
refuses beyond that is its own affair.
"""

import random
from collections.abc import Iterator
from typing import Final

from tests.fuzz.front_world import FrontWorld
from tests.fuzz.fuzzing import fuzz, pieces
from tests.fuzz.strict_http import Reading, Request, read_requests
from tests.integration.hostile.cases import CASES, SLOW_CASES
from tests.integration.hostile.more_cases import MORE_CASES
from tests.support.raw_http import CHUNKED, FIRST, HIDDEN, LENGTH, QUESTION, at, framed, request

from relaybook.relay.limits import LINGER_BYTES, MAX_HEAD, READ_BYTES

_ORDINARY: Final = request(LENGTH, b"Service-Namespace: a%20b", body=QUESTION)
SEEDS: Final = [
    _ORDINARY * 3,
    request(CHUNKED, body=FIRST + b"5;a=b\r\nhello\r\n0\r\nX: y\r\n\r\n"),
    at(b"/v1/models?key=secret") * 4 + at(b"/healthz") * 4 + at(b"/"),
    request(b"Expect: 100-continue", LENGTH, body=QUESTION) + HIDDEN,
    request(LENGTH, b"Connection: close", first=b"POST /v1/x HTTP/1.0", body=QUESTION),
    at(b"http://127.0.0.1/v1/models", b"HEAD") + at(b"/v1/a%2Fb", b"OPTIONS"),
    framed(LENGTH, b"Upgrade: h2c", b"Connection: Upgrade"),
    *(case.sent for case in [*CASES, *SLOW_CASES, *MORE_CASES] if len(case.sent) < 16 << 10),
]
WORDS: Final = [
    *(b"0" * 5000, b"Content-Length: " + b"0" * 5000),
    *(
        b"\r\n",
        b"\n",
        b"\r",
        b"\r\n\r\n",
        b"\0",
        b" ",
        b"\t",
        b":",
        b",",
        b";",
        b"0\r\n\r\n",
        b"5\r\nhello\r\n",
        b"\xff",
    ),
    *(LENGTH, CHUNKED, b"Content-Length: 0", b"Content-Length: 5", b"Transfer-Encoding: identity", b"Host: 127.0.0.1"),
    *(b"Connection: close", b"Connection: keep-alive", b"Expect: 100-continue", b"Upgrade: websocket", b"X-A: b"),
    *(
        b"HTTP/1.0",
        b"HTTP/1.1",
        b"HTTP/2.0",
        b"TRACE ",
        b"CONNECT ",
        b"HEAD ",
        b"GET /v1/x HTTP/1.1",
        HIDDEN,
        _ORDINARY,
    ),
    *(b"/v1/", b"/../", b"%2e%2e", b"%2F", b"\\", b"?", b"#", b"http://127.0.0.1", b"Service-Namespace: \xe9%0d%0a"),
]
#: Paths that the relay answers itself, and methods that it does not relay.
_OURS: Final = frozenset({b"/", b"/healthz", b"/readyz"})
#: One head, one read behind it, and what is thrown away at the end.
_MOST_HELD: Final = MAX_HEAD + 2 * READ_BYTES + LINGER_BYTES


def is_sound(data: bytes, choices: random.Random) -> None:
    """Feeds a relay these bytes and holds what it did against what they say."""
    asked = read_requests(data)
    world = FrontWorld().feed(*pieces(choices, data))
    sent = [_the_one(reading) for reading in world.sent]
    expected = iter(_may_be_sent(asked))
    for request_sent in sent:
        assert _is_among(request_sent, expected), f"{request_sent} was sent; asked was {asked}"
    assert world.most_held <= _MOST_HELD
    assert world.unclosed == [], "an exchange has not exactly one beginning and one end"
    assert len(_answers(world.transport.said)) <= len(asked.requests) + 1


def _the_one(reading: Reading) -> Request:
    """The only request on a connection to the provider: whole, or cut short; nothing else stands there."""
    assert not reading.broken
    assert len(reading.requests) == 1, reading
    assert reading.rest == b"" or not reading.requests[0].complete, reading
    return reading.requests[0]


def _may_be_sent(asked: Reading) -> list[Request]:
    return [each for each in asked.requests if _path(each) not in _OURS]


def _path(asked: Request) -> bytes:
    return _origin_form(asked.target).partition(b"?")[0]


def _origin_form(target: bytes) -> bytes:
    if target.startswith(b"/"):
        return target
    parts = target.partition(b"://")[2].partition(b"/")
    return parts[1] + parts[2]


def _is_among(sent: Request, expected: Iterator[Request]) -> bool:
    """Whether a request that was sent is the next one that was asked, or a later one."""
    for asked in expected:  # an iterator: what was passed over is not seen again
        if (sent.method, sent.target) != (asked.method, _origin_form(asked.target)):
            continue
        if sent.complete:
            return bool(asked.complete and sent.body == asked.body)
        return bool(asked.body.startswith(sent.body))
    return False


def _answers(said: bytes) -> list[bytes]:
    """Final answers, by their status lines: no body of ours holds one."""
    return [line for line in said.split(b"\r\n") if line.startswith(b"HTTP/1.1 ") and b" 100 " not in line]


def test_no_bytes_make_the_relay_fall_over_or_send_what_was_not_asked() -> None:
    fuzz(is_sound, SEEDS, WORDS, 6_000)
