"""Describe exchanges for hypothesis, and generate the exact bytes of each exchange.

Hypothesis can draw and print a description. A description contains the important properties, and a seed for details
(spelling, order, white space, chunks, noise). A body of 300 KB therefore needs only a few drawn bytes.
"""

import gzip
import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Literal
from urllib.parse import quote

import brotli
import zstandard
from tests.conformance.relay.wire import Framing, Pair, lines_of

LARGE = 256 << 10

Style = Literal["whole", "some", "tiny"]
Kind = Literal["drawn", "noise", "json", "events"]


@dataclass(frozen=True)
class Content:
    """A body: the ``drawn`` bytes, or bytes generated from ``kind``, ``size`` and ``seed``.

    With ``secret``, the client's key is in the middle of the body.
    """

    kind: Kind
    drawn: bytes
    size: int
    seed: int
    coding: str
    secret: bool

    def data(self, key: bytes | None) -> bytes:
        """Return the transferred bytes, after the content coding was applied."""
        plain = self.drawn if self.kind == "drawn" else _GENERATORS[self.kind](Random(self.seed), self.size)
        if self.secret and key is not None:
            middle = len(plain) // 2
            plain = plain[:middle] + key + plain[middle:]
        return _CODINGS[self.coding](plain)


@dataclass(frozen=True)
class Message:
    """The fields that requests and responses share. Each of ``groups`` is a set of headers that belong together."""

    pairs: tuple[Pair, ...]
    groups: tuple[tuple[Pair, ...], ...]
    framing: Framing
    content: Content
    style: Style
    seed: int


@dataclass(frozen=True)
class Exchange:
    """A request and its response. ``key`` is a header with a credential.

    ``namespace`` is `None` if the request has no namespace header.
    """

    method: bytes
    target: bytes
    request: Message
    key: Pair | None
    prefix: bytes
    tagged: bool
    namespace: str | None
    raw_namespace: bool
    closes: bool
    status: int
    reason: bytes
    version: bytes
    informational: tuple[int, ...]
    response: Message

    @property
    def secret(self) -> bytes | None:
        """The client's key, or `None` if the request has no key."""
        return self.key[1].rpartition(b" ")[2] if self.key else None

    @property
    def bodiless(self) -> bool:
        """Whether the response has no body, even if its head declares one."""
        return self.method == b"HEAD" or self.status in (204, 304)


@dataclass(frozen=True)
class Wire:
    """A message as bytes: the headers as written, the body, and the chunks to write."""

    pairs: list[Pair]
    body: bytes
    raw: bytes
    style: Style
    seed: int

    @property
    def at_once(self) -> bool:
        """Whether the peer receives the whole message in one read."""
        return self.style == "whole" and len(self.raw) < 16 << 10

    def chunks(self) -> Iterator[bytes]:
        """Yield the chunks. Each chunk is written separately."""
        raw, random = self.raw, Random(self.seed)
        at = 0
        while at < len(raw):
            size = {"whole": len(raw), "some": random.randint(1, max(1, len(raw) // 4)), "tiny": random.randint(1, 7)}
            yield raw[at : at + size[self.style]]
            at += size[self.style]


def request_wire(exchange: Exchange, name: bytes, host: bytes) -> Wire:
    """Return the request as the client sends it. ``name`` selects the upstream's script."""
    message = exchange.request
    random = Random(message.seed)
    body = b"" if message.framing == "none" else message.content.data(exchange.secret)
    pairs = [(b"Host", host), (b"X-Exchange", name), *message.pairs, *_framing(message, len(body))]
    pairs += [pair for group in message.groups for pair in group]
    if exchange.key:
        pairs.append(exchange.key)
    if exchange.namespace is not None:
        encoded = exchange.namespace if exchange.raw_namespace else quote(exchange.namespace, safe="")
        pairs.append((exchange.prefix + b"-Namespace", encoded.encode()))
    if exchange.closes:
        pairs.append((b"Connection", random.choice((b"close", b"Close", b"close, TE"))))
    pairs = _spelled(pairs, random)
    first = b"%b %b HTTP/1.1" % (exchange.method, exchange.target)
    return Wire(pairs, body, lines_of(first, pairs) + _framed(message, body), message.style, message.seed)


def response_wire(exchange: Exchange) -> Wire:
    """Return the response as the upstream sends it. If the response has no body, its head may still declare one."""
    message = exchange.response
    content = message.content.data(exchange.secret)
    body = b"" if exchange.bodiless else content
    pairs = [*message.pairs, *_framing(message, len(content))]
    pairs += [pair for group in message.groups for pair in group]
    pairs = _spelled(pairs, Random(message.seed))
    first = b"HTTP/%b %d %b" % (exchange.version, exchange.status, exchange.reason)
    before = b"".join(b"HTTP/1.1 %d Wait\r\nLink: </a>\r\n\r\n" % status for status in exchange.informational)
    framed = b"" if exchange.bodiless else _framed(message, body)
    return Wire(pairs, body, before + lines_of(first, pairs) + framed, message.style, message.seed)


def _framing(message: Message, length: int) -> list[Pair]:
    match message.framing:
        case "length":
            return [(b"Content-Length", b"%d" % length)]
        case "chunked":
            return [(b"Transfer-Encoding", b"chunked")]
        case _:
            return []


def _spelled(pairs: list[Pair], random: Random) -> list[Pair]:
    """Vary the order of headers, the case of their names, and the white space around their values at random."""
    random.shuffle(pairs)
    case = (bytes, bytes.lower, bytes.upper, bytes.swapcase)
    space = (b" ",) * 6 + (b"", b"\t", b"  ")
    spelled = []
    for name, value in pairs:
        # The relay rejects a tab after "chunked" with 400, because llhttp requires an unambiguous end of the body.
        after = (b"",) * 7 + ((b" ", b"\t") if name != b"Transfer-Encoding" else (b" ",))
        spelled.append((random.choice(case)(name), random.choice(space) + value + random.choice(after)))
    return spelled


def _framed(message: Message, body: bytes) -> bytes:
    if message.framing != "chunked":
        return body
    random = Random(message.seed)
    largest = random.choice((3, 40, 2000, 70_000)) if len(body) < LARGE else 70_000
    sizes = [0]
    while sizes[-1] < len(body):
        sizes.append(min(len(body), sizes[-1] + random.randint(1, largest)))
    spell = random.choice((b"%x", b"%X", b"0%x"))
    extension = random.choice((b"",) * 6 + (b";a", b';a="b;c"')) if largest > 3 else b""
    trailers = random.choice((b"",) * 6 + (b"X-Sum: 1\r\n", b"X-Sum: 1\r\nService-Namespace: forged\r\n"))
    chunks = b"".join(spell % (end - at) + extension + b"\r\n" + body[at:end] + b"\r\n" for at, end in pairwise(sizes))
    return chunks + b"0\r\n" + trailers + b"\r\n"


# -- bodies ----------------------------------------------------------------------------------------------------------


def _json(random: Random, size: int) -> bytes:
    return json.dumps({"model": "gpt-4o", "messages": [{"role": "user", "content": _text(random, size)}]}).encode()


def _events(random: Random, size: int) -> bytes:
    end = random.choice((b"\n", b"\r\n"))
    stream = b""
    while len(stream) < size:
        delta = {"choices": [{"index": 0, "delta": {"content": _text(random, random.randint(0, max(20, size // 9)))}}]}
        stream += b"data: " + json.dumps(delta, ensure_ascii=False).encode() + end * 2
    return stream + b"data: [DONE]" + end * 2


def _text(random: Random, size: int) -> str:
    return random.randbytes(size).decode("latin-1")


_GENERATORS: dict[str, Callable[[Random, int], bytes]] = {"noise": Random.randbytes, "json": _json, "events": _events}
_CODINGS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    "gzip": lambda data: gzip.compress(data, 1),
    "deflate": lambda data: zlib.compress(data, 1),
    "br": lambda data: brotli.compress(data, quality=1),
    "zstd": lambda data: zstandard.compress(data, 1),
}
