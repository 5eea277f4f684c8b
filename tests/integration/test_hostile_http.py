"""Malformed, ambiguous and hostile HTTP at the relay's port: refused, counted, and no byte of it reaches the provider.

The cases are a table: docs/bad-input.md shows it, ``test_bad_input`` compares the two. Every case is sent as raw bytes
on a connection of its own; afterwards an ordinary request on a new one must do as if nothing had been. What stands
here is decided by RFC 9112 and by one rule: what a provider could read differently than we do is not passed on.
"""

import base64
import http.client
import json
import socket
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from tests.support.server import Server, SimulatedProvider, wait_until

PATH: Final = "/v1/chat/completions"
QUESTION: Final = json.dumps({"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Hello"}]}).encode()
#: Stands in every byte that must not reach the provider.
SMUGGLED: Final = "smuggled"
#: A second request, hidden where a careless reader takes the first one to be over.
HIDDEN: Final = f"POST /v1/{SMUGGLED} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n".encode()
CHUNKED: Final = b"Transfer-Encoding: chunked"


@dataclass(frozen=True)
class Answer:
    """An answer of the relay as it came over the wire. Names of headers are in lower case."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes
    #: What followed the answer on the connection.
    rest: bytes = b""

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key == name.lower()), None)

    def all(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key == name.lower()]

    @property
    def error(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.body)["error"]
        return found


@dataclass(frozen=True)
class Case:
    """Something sent, and what comes of it. ``kept``: ``counted``, or ``recorded`` with an outcome."""

    group: str
    what: str
    sent: bytes
    status: int
    code: str
    kept: str = "counted"


def request(*lines: bytes, body: bytes = b"", first: bytes = b"POST /v1/chat/completions HTTP/1.1") -> bytes:
    """A request line, a Host, a key and these header lines; then bytes."""
    always = [first, b"Host: 127.0.0.1", b"Authorization: Bearer sk-hostile-caller"]
    return b"\r\n".join([*always, *lines, b"", body])


def framed(*lines: bytes, body: bytes = QUESTION + HIDDEN) -> bytes:
    """A question whose framing is told by these lines, with a hidden request behind it."""
    return request(b"Content-Type: application/json", *lines, body=body)


def chunks(body: bytes) -> bytes:
    """A chunked request with this raw body."""
    return request(b"Content-Type: application/json", CHUNKED, body=body)


def from_line(first: bytes) -> bytes:
    """A request with a request line of its own and nothing else wrong."""
    return request(b"Content-Length: 0", first=first)


def with_host(*hosts: bytes) -> bytes:
    """A question with these Host lines and no other."""
    lines = [b"POST /v1/chat/completions HTTP/1.1", *hosts, b"Authorization: Bearer sk-hostile-caller"]
    return b"\r\n".join([*lines, b"Content-Length: %d" % len(QUESTION), b"", QUESTION])


def at(target: bytes, method: bytes = b"GET") -> bytes:
    """A request for a target, without a body."""
    return request(first=method + b" " + target + b" HTTP/1.1")


#: How a TLS client begins: it never sends the empty line that ends a head.
TLS_GREETING: Final = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(128, 160))
LENGTH: Final = b"Content-Length: %d" % len(QUESTION)
FIRST: Final = b"%x\r\n%b\r\n" % (len(QUESTION), QUESTION)
_REFUSED: Final = "recorded, refused"


def _cases(group: str, status: int, code: str, kept: str, table: dict[str, bytes]) -> list[Case]:
    return [Case(group, what, sent, status, code, kept) for what, sent in table.items()]


CASES: Final = [
    Case("Lines", "a TLS greeting: the base URL says https", TLS_GREETING, 400, "bad_request"),
    *_cases(
        "Where the body ends",
        400,
        "bad_request",
        "counted",
        {
            "`Content-Length`, then `Transfer-Encoding`": framed(LENGTH, CHUNKED, body=b"0\r\n\r\n" + HIDDEN),
            "`Transfer-Encoding`, then `Content-Length`": framed(CHUNKED, LENGTH, body=b"0\r\n\r\n" + HIDDEN),
            "two different `Content-Length`": framed(LENGTH, b"Content-Length: 0"),
            "the same `Content-Length` twice": framed(LENGTH, LENGTH),
            "a list in `Content-Length`": framed(LENGTH + b", %d" % len(QUESTION)),
            "an empty `Content-Length`": framed(b"Content-Length:"),
            "`Content-Length: +5`": framed(b"Content-Length: +5"),
            "`Content-Length: -1`": framed(b"Content-Length: -1"),
            "`Content-Length: 0x5`": framed(b"Content-Length: 0x5"),
            "`Content-Length: 5_0`": framed(b"Content-Length: 5_0"),
            "`Content-Length: 5 0`": framed(b"Content-Length: 5 0"),
            "`Content-Length: 1e1`": framed(b"Content-Length: 1e1"),
            "a `Content-Length` in digits that are not ASCII": framed("Content-Length: ٥".encode()),
            "a `Content-Length` of 2⁶⁴": framed(b"Content-Length: 18446744073709551616"),
            "`Transfer-Encoding: chunked, identity`": framed(CHUNKED + b", identity", body=FIRST + b"0\r\n\r\n"),
            "`Transfer-Encoding: gzip, chunked`": framed(
                b"Transfer-Encoding: gzip, chunked", body=FIRST + b"0\r\n\r\n"
            ),
            "`Transfer-Encoding: chunked, chunked`": framed(CHUNKED + b", chunked", body=FIRST + b"0\r\n\r\n"),
            "`Transfer-Encoding: chunked` twice": framed(CHUNKED, CHUNKED, body=FIRST + b"0\r\n\r\n" + HIDDEN),
            "`Transfer-Encoding: identity`": framed(b"Transfer-Encoding: identity"),
            "`Transfer-Encoding: xchunked`": framed(b"Transfer-Encoding: xchunked", body=FIRST + b"0\r\n\r\n"),
            '`Transfer-Encoding: "chunked"`': framed(b'Transfer-Encoding: "chunked"', body=FIRST + b"0\r\n\r\n"),
            "a vertical tab before `chunked`": framed(b"Transfer-Encoding: \x0bchunked", body=FIRST + b"0\r\n\r\n"),
            "`Transfer-Encoding: ,chunked`": framed(b"Transfer-Encoding: ,chunked", body=FIRST + b"0\r\n\r\n"),
            "`Transfer-Encoding: chunked;q=1`": framed(CHUNKED + b";q=1", body=FIRST + b"0\r\n\r\n"),
            "a vertical tab behind `Content-Length`": framed(LENGTH + b"\x0b"),
            "an empty `Transfer-Encoding`": framed(b"Transfer-Encoding:", body=FIRST + b"0\r\n\r\n"),
            "a chunked request of HTTP/1.0": request(
                CHUNKED, first=b"POST /v1/chat/completions HTTP/1.0", body=FIRST + b"0\r\n\r\n"
            ),
        },
    ),
    *_cases(
        "Header lines",
        400,
        "bad_request",
        "counted",
        {
            "a line that ends with LF alone": framed(b"X-A: 1\nX-B: 2", LENGTH),
            "all lines end with LF alone": framed(LENGTH).partition(b"\r\n\r\n")[0].replace(b"\r\n", b"\n")
            + b"\n\n"
            + QUESTION,
            "a line that ends with CR alone": framed(b"X-A: 1\rX-B: 2", LENGTH),
            "a CR inside a value": framed(b"X-A: 1\r2", LENGTH),
            "a NUL inside a value": framed(b"X-A: 1\x002", LENGTH),
            "a NUL inside a name": framed(b"X-\x00A: 1", LENGTH),
            "a folded line (space)": framed(b"X-A: 1\r\n two", LENGTH),
            "a folded line (tab)": framed(b"X-A: 1\r\n\ttwo", LENGTH),
            "a folded `Transfer-Encoding`": framed(b"Transfer-Encoding:\r\n chunked", LENGTH),
            "white space before the first line": b"POST /v1/chat/completions HTTP/1.1\r\n X-A: 1\r\n"
            + framed(LENGTH).partition(b"\r\n")[2],
            "a space before the colon": framed(b"X-A : 1", LENGTH),
            "a space before the colon of `Content-Length`": framed(b"Content-Length : %d" % len(QUESTION)),
            "a space before the colon of `Transfer-Encoding`": framed(b"Transfer-Encoding : chunked", LENGTH),
            "a line without a colon": framed(b"X-A", LENGTH),
            "an empty name": framed(b": 1", LENGTH),
            "a space inside a name": framed(b"X A: 1", LENGTH),
            "brackets inside a name": framed(b"(X-A): 1", LENGTH),
            "a name that is not ASCII": framed("Größe: 1".encode(), LENGTH),
            "`Connection` names the key": framed(b"Connection: close, Authorization", LENGTH),
            "`Connection` names the namespace": framed(
                b"Connection: Service-Namespace", b"Service-Namespace: a", LENGTH
            ),
            "`Connection` names the length": framed(b"Connection: Content-Length", LENGTH),
        },
    ),
    *_cases(
        "The request line",
        400,
        "bad_request",
        "counted",
        {
            "nonsense": b"\x00\x01\x02\x03nonsense\r\n\r\n",
            "no version": from_line(b"POST /v1/chat/completions"),
            "two spaces before the target": from_line(b"POST  /v1/chat/completions HTTP/1.1"),
            "two spaces behind the target": from_line(b"POST /v1/chat/completions  HTTP/1.1"),
            "a tab for a space": from_line(b"POST\t/v1/chat/completions HTTP/1.1"),
            "a space behind the version": from_line(b"POST /v1/chat/completions HTTP/1.1 "),
            "a space inside the target": from_line(b"POST /v1/chat completions HTTP/1.1"),
            "`http/1.1`": from_line(b"POST /v1/chat/completions http/1.1"),
            "`HTTP/1.1.1`": from_line(b"POST /v1/chat/completions HTTP/1.1.1"),
            "`HTTP/1`": from_line(b"POST /v1/chat/completions HTTP/1"),
            "a NUL inside the target": from_line(b"POST /v1/chat\x00/completions HTTP/1.1"),
            "a method with odd characters": from_line(b"PO(ST /v1/chat/completions HTTP/1.1"),
            "a target that is no path": from_line(b"POST v1/chat/completions HTTP/1.1"),
        },
    ),
    *_cases(
        "The request line",
        505,
        "version_not_supported",
        "counted",
        {
            "`HTTP/2.0`": from_line(b"POST /v1/chat/completions HTTP/2.0"),
            "`HTTP/0.9`": from_line(b"POST /v1/chat/completions HTTP/0.9"),
            "the greeting of HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        },
    ),
    *_cases(
        "Host",
        400,
        "bad_request",
        "counted",
        {
            "no Host": with_host(),
            "an empty Host": with_host(b"Host:"),
            "two Hosts": with_host(b"Host: 127.0.0.1", b"Host: 127.0.0.1"),
            "a Host with a slash": with_host(b"Host: 127.0.0.1/v1"),
            "a Host with a question mark": with_host(b"Host: 127.0.0.1?a"),
            "a Host with a hash": with_host(b"Host: 127.0.0.1#a"),
            "a Host with an at sign": with_host(b"Host: user@127.0.0.1"),
            "a Host with a space": with_host(b"Host: 127.0.0.1 evil.example"),
            "a Host with a port that is no number": with_host(b"Host: 127.0.0.1:http"),
            "a name that is not loopback, while the relay is": with_host(b"Host: evil.example"),
        },
    ),
    *_cases(
        "Methods and targets",
        400,
        "bad_request",
        "counted",
        {
            "an absolute target with another host": at(b"http://evil.example/v1/models"),
            "an absolute target with another host and ours inside": at(b"http://127.0.0.1@evil.example/v1/models"),
            "an absolute target of another scheme": at(b"ftp://127.0.0.1/v1/models"),
            "a target that begins with an at sign": at(b"@evil.example/v1/models"),
            "`/v1/../x`": at(b"/v1/../smuggled"),
            "`/v1/..`": at(b"/v1/.."),
            "`/v1/./models`": at(b"/v1/./models"),
            "`/v1/%2e%2e/x`": at(b"/v1/%2e%2e/smuggled"),
            "`/v1/%2E./x`": at(b"/v1/%2E./smuggled"),
            "`/v1/..%2fx`": at(b"/v1/..%2fsmuggled"),
            "`/v1/..%5cx`": at(b"/v1/..%5csmuggled"),
            "`/v1/a%2f..%2f..%2fx`": at(b"/v1/a%2f..%2f..%2fsmuggled"),
            "`/v1/..\\x`": at(b"/v1/..\\smuggled"),
            "`/v1/a\\b`": at(b"/v1/a\\smuggled"),
            "a backslash in the query": at(b"/v1/models?a=\\smuggled"),
            "a byte that is not ASCII in the path": at("/v1/modèles".encode()),
            "a control byte in the path": at(b"/v1/mod\x7fels"),
            "a fragment": at(b"/v1/models#smuggled"),
        },
    ),
    *_cases(
        "Methods and targets",
        404,
        "not_found",
        "counted",
        {
            "`POST /chat/completions`: the base URL lacks `/v1`": at(b"/chat/completions", b"POST"),
            "`GET *`": at(b"*"),
            "`OPTIONS *`": at(b"*", b"OPTIONS"),
            "`POST /`": at(b"/", b"POST"),
            "`/favicon.ico`": at(b"/favicon.ico"),
            "`/v2/models`": at(b"/v2/models"),
            "`/v10/models`": at(b"/v10/models"),
            "`/V1/models`": at(b"/V1/models"),
            "`/%76%31/models`": at(b"/%76%31/models"),
            "`//v1/models`": at(b"//v1/models"),
            "`//evil.example/v1/models`": at(b"//evil.example/v1/models"),
            "`/x/../v1/models`": at(b"/x/../v1/models"),
            "`/api/requests`: the log is not on this port": at(b"/api/requests"),
        },
    ),
    *_cases(
        "Methods and targets",
        405,
        "method_not_allowed",
        "counted",
        {
            "`CONNECT evil.example:443`": at(b"evil.example:443", b"CONNECT"),
            "`CONNECT /v1/models`": at(b"/v1/models", b"CONNECT"),
            "`TRACE`": at(b"/v1/models", b"TRACE"),
        },
    ),
    *_cases(
        "Methods and targets",
        501,
        "not_supported",
        "counted",
        {
            "a websocket": request(
                b"Connection: Upgrade",
                b"Upgrade: websocket",
                b"Sec-WebSocket-Version: 13",
                b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
                first=b"GET /v1/realtime HTTP/1.1",
                body=HIDDEN,
            ),
        },
    ),
    *_cases(
        "Methods and targets",
        417,
        "expectation_failed",
        "counted",
        {
            "`Expect: 200-maybe`": framed(b"Expect: 200-maybe", LENGTH),
            "`Expect: 100-continue, x`": framed(b"Expect: 100-continue, x", LENGTH),
        },
    ),
    *_cases(
        "Size",
        414,
        "uri_too_long",
        "counted",
        {
            "a request line over 8 KiB": at(b"/v1/models?" + b"a" * 8192),
            "a request line of 1 MiB without an end": b"GET /v1/models?" + b"a" * (1 << 20),
        },
    ),
    *_cases(
        "Size",
        431,
        "headers_too_large",
        "counted",
        {
            "a header line over 32 KiB": framed(b"X-A: " + b"a" * 33_000, LENGTH),
            "headers over 64 KiB": framed(*[b"X-%d: " % n + b"a" * 1000 for n in range(80)], LENGTH),
            "1 MiB of headers without an end": b"GET /v1/models HTTP/1.1\r\n" + b"X-A: a\r\n" * (1 << 17),
            "101 headers": request(*[b"X-%d: a" % n for n in range(99)]),
        },
    ),
    *_cases(
        "Chunks",
        400,
        "bad_request",
        _REFUSED,
        {
            "a size that is no number": chunks(FIRST + b"zz\r\n" + HIDDEN),
            "an empty size": chunks(FIRST + b"\r\n" + HIDDEN),
            "`+5`": chunks(FIRST + b"+5\r\nhello\r\n0\r\n\r\n" + HIDDEN),
            "`-5`": chunks(FIRST + b"-5\r\nhello\r\n0\r\n\r\n" + HIDDEN),
            "`0x5`": chunks(FIRST + b"0x5\r\nhello\r\n0\r\n\r\n" + HIDDEN),
            "`5_0`": chunks(FIRST + b"5_0\r\nhello\r\n0\r\n\r\n" + HIDDEN),
            "a space before the size": chunks(FIRST + b" 5\r\nhello\r\n0\r\n\r\n" + HIDDEN),
            "a size of 17 digits": chunks(FIRST + b"10000000000000000\r\nhello\r\n0\r\n\r\n" + HIDDEN),
            "a size that ends with LF alone": chunks(FIRST + b"5\nhello\r\n0\r\n\r\n" + HIDDEN),
            "a size that ends with CR alone": chunks(FIRST + b"5\rhello\r\n0\r\n\r\n" + HIDDEN),
            "a chunk that ends with LF alone": chunks(FIRST + b"5\r\nhello\n0\r\n\r\n" + HIDDEN),
            "a chunk that ends with other bytes": chunks(FIRST + b"5\r\nhelloXX0\r\n\r\n" + HIDDEN),
            "a chunk longer than its size": chunks(FIRST + b"4\r\nhello\r\n0\r\n\r\n" + HIDDEN),
            "a CR inside an extension": chunks(FIRST + b"5;a=\rb\r\nhello\r\n0\r\n\r\n" + HIDDEN),
            "an LF inside an extension": chunks(FIRST + b"5;a=\nb\r\nhello\r\n0\r\n\r\n" + HIDDEN),
            "a NUL inside an extension": chunks(FIRST + b"5;a=\x00\r\nhello\r\n0\r\n\r\n" + HIDDEN),
            "an extension of 1 MiB": chunks(FIRST + b"5;a=" + b"a" * (1 << 20)),
            "an extension of 2 KiB on each of many small chunks": chunks(
                FIRST + (b"1;a=" + b"a" * 2048 + b"\r\nx\r\n") * 64
            ),
            "trailers of 1 MiB": chunks(FIRST + b"0\r\n" + b"X-A: a\r\n" * (1 << 17)),
            "a trailer without a colon": chunks(FIRST + b"0\r\nX-A\r\n\r\n" + HIDDEN),
            "a trailer with a space before its colon": chunks(FIRST + b"0\r\nX-A : 1\r\n\r\n" + HIDDEN),
        },
    ),
]

#: The same, where the caller is too slow: it sends this much and then nothing.
SLOW_CASES: Final = [
    Case("Time", "half a head", framed(LENGTH)[:60], 408, "request_timeout"),
    Case("Time", "half a request line", b"POST /v1/ch", 408, "request_timeout"),
    Case("Time", "half a body", request(LENGTH, body=QUESTION[:20]), 408, "request_timeout", _REFUSED),
    Case("Time", "half a chunk", chunks(b"40\r\n" + QUESTION[:20]), 408, "request_timeout", _REFUSED),
    Case("Time", "no body at all", request(LENGTH), 408, "request_timeout", _REFUSED),
]


# -- the wire ------------------------------------------------------------------------------------------------------


def talk(port: int, *pieces: bytes, seconds: float = 15.0) -> bytes:
    """Everything the relay says to these bytes until it closes. A reset counts as the end of what was read."""
    said = b""
    with socket.create_connection(("127.0.0.1", port), seconds) as connection:
        try:
            for piece in pieces:
                connection.sendall(piece)
        except OSError:
            pass  # refused before all was sent: the answer is there to be read
        while True:
            try:
                data = connection.recv(1 << 16)
            except ConnectionResetError:
                return said
            if not data:
                return said
            said += data


def parse(said: bytes) -> Answer:
    """The first answer in what was said; chunked or of a length."""
    head, _, rest = said.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = [(name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines)]
    known = dict(headers)
    if known.get("transfer-encoding") == "chunked":
        body, rest = _unchunked(rest)
    else:
        length = int(known.get("content-length", "0"))
        body, rest = rest[:length], rest[length:]
    return Answer(int(first.split(" ")[1]), headers, body, rest)


def _unchunked(data: bytes) -> tuple[bytes, bytes]:
    body = b""
    while True:
        size, _, data = data.partition(b"\r\n")
        length = int(size, 16)
        if length == 0:
            return body, data[2:]
        body, data = body + data[:length], data[length + 2 :]


def ask(port: int, *lines: bytes, body: bytes = QUESTION, path: str = PATH) -> Answer:
    """An ordinary request on a connection of its own."""
    first = f"POST {path} HTTP/1.1".encode()
    sent = request(
        b"Content-Type: application/json", b"Content-Length: %d" % len(body), b"Connection: close", *lines, first=first
    )
    return parse(talk(port, sent + body))


class Ledger:
    """What reached a simulated provider from now on."""

    def __init__(self, provider: SimulatedProvider) -> None:
        self._address = urlsplit(provider.url).netloc
        self._since = 1 + max((entry["n"] for entry in self._read(0)), default=0)

    def entries(self) -> list[dict[str, Any]]:
        return self._read(self._since)

    def requests(self) -> list[dict[str, Any]]:
        """Whole requests, in the order they came."""
        return [entry for entry in self.entries() if entry["event"] == "request"]

    def bytes_seen(self) -> bytes:
        """Targets, headers and bodies of all that came, whole or not."""
        seen = []
        for entry in self.entries():
            lines = [f"{name}: {value}" for name, value in entry.get("headers", [])]
            seen += [entry.get("target", "").encode(), "\n".join(lines).encode()]
            seen.append(base64.b64decode(entry.get("body", "")))
        return b"\n".join(seen)

    def _read(self, since: int) -> list[dict[str, Any]]:
        connection = http.client.HTTPConnection(self._address, timeout=10)
        try:
            connection.request("GET", f"/__sim/ledger?since={since}")
            return [json.loads(line) for line in connection.getresponse().read().splitlines()]
        finally:
            connection.close()


# -- the tests -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class World:
    """A relay and the provider behind it."""

    server: Server
    provider: SimulatedProvider

    def is_undisturbed(self, ledger: Ledger) -> None:
        """An ordinary request works, and it is all that reached the provider whole."""
        tag = uuid4().hex
        answer = ask(self.server.port, f"Sim-Tag: {tag}".encode())
        assert answer.status == 200, answer
        assert [entry["tag"] for entry in ledger.requests()] == [tag]
        assert SMUGGLED.encode() not in ledger.bytes_seen()
        assert not [entry for entry in ledger.entries() if entry["event"] == "malformed"]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    directory = tmp_path_factory.mktemp("hostile")
    with SimulatedProvider(directory) as provider, Server(directory, provider.url) as server:
        yield World(server, provider)


def named(case: Case) -> str:
    return f"{case.group}: {case.what}".replace("`", "")


def is_refusal(said: bytes, case: Case) -> Answer:
    """What was said is one refusal as the case wants it, and nothing after it."""
    answer = parse(said)
    assert (answer.status, answer.header("service-error")) == (case.status, case.code), said[:2000]
    assert answer.rest == b""
    assert (answer.error["type"], answer.error["code"], answer.error["param"]) == ("relay_error", case.code, None)
    assert len(answer.error["message"]) > 20
    assert answer.header("content-type") == "application/json"
    assert answer.header("connection") == "close"
    return answer


@pytest.mark.parametrize("case", CASES, ids=named)
def test_hostile_http_is_refused_and_disturbs_nothing(world: World, case: Case) -> None:
    ledger = Ledger(world.provider)
    answer = is_refusal(talk(world.server.port, case.sent), case)
    request_id = answer.header("service-request-id")
    assert (request_id is not None) == case.kept.startswith("recorded")
    world.is_undisturbed(ledger)
    if request_id is not None:
        assert answer.header("x-request-id") == request_id
        record = world.server.record(request_id)
        assert (record["outcome"], record["status"], record["error_code"]) == ("refused", case.status, case.code)
        assert record["failed"] is True
        assert record["error_message"] == answer.error["message"]


@pytest.mark.parametrize("case", [case for case in CASES if len(case.sent) < 4096], ids=named)
def test_hostile_http_in_small_pieces_is_refused_the_same(world: World, case: Case) -> None:
    ledger = Ledger(world.provider)
    middle = len(case.sent) // 2
    is_refusal(talk(world.server.port, case.sent[:middle], case.sent[middle:]), case)
    world.is_undisturbed(ledger)


def is_not_recorded(answer: Answer) -> bool:
    return answer.header("service-request-id") is None


def test_every_refusal_is_counted_by_its_code_or_recorded_once(tmp_path: Path) -> None:
    with SimulatedProvider(tmp_path) as provider, Server(tmp_path, provider.url) as server:
        answers = [parse(talk(server.port, case.sent)) for case in CASES]
        refused = Counter(answer.header("service-error") for answer in answers if is_not_recorded(answer))
        recorded = len(answers) - refused.total()
        assert recorded == len([case for case in CASES if case.kept != "counted"])
        wait_until(lambda: sum(server.get("/api/status")["refused"].values()) >= refused.total())
        assert server.get("/api/status")["refused"] == refused
        wait_until(lambda: len(server.records()) >= recorded)
        assert [record["outcome"] for record in server.records()] == ["refused"] * recorded
        metrics = http.client.HTTPConnection(urlsplit(server.dashboard).netloc, timeout=10)
        metrics.request("GET", "/metrics")
        lines = metrics.getresponse().read().decode().splitlines()
        metrics.close()
        for code, count in refused.items():
            assert f'relaybook_refused_total{{code="{code}"}} {float(count)}' in lines


def test_a_refusal_answers_only_what_came_before_the_malformed_bytes(world: World) -> None:
    good = request(b"Content-Type: application/json", LENGTH, body=QUESTION)
    said = talk(world.server.port, good + b"GET /v1/" + SMUGGLED.encode() + b" HTTP/1.1\r\nHost : x\r\n\r\n" + good)
    first = parse(said)
    assert first.status == 200
    second = parse(first.rest)
    assert (second.status, second.error["code"], second.rest) == (400, "bad_request", b"")


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    directory = tmp_path_factory.mktemp("impatient")
    flags = ("--header-timeout", "300ms", "--body-timeout", "300ms", "--keep-alive-timeout", "300ms")
    with SimulatedProvider(directory) as provider, Server(directory, provider.url, *flags) as server:
        yield World(server, provider)


@pytest.mark.parametrize("case", SLOW_CASES, ids=named)
def test_a_request_that_does_not_arrive_in_time_is_answered_408(impatient: World, case: Case) -> None:
    ledger = Ledger(impatient.provider)
    answer = is_refusal(talk(impatient.server.port, case.sent), case)
    request_id = answer.header("service-request-id")
    assert (request_id is not None) == case.kept.startswith("recorded")
    assert ledger.requests() == []
    impatient.is_undisturbed(ledger)
    if request_id is not None:
        record = impatient.server.record(request_id)
        assert (record["outcome"], record["status"], record["error_code"]) == ("refused", 408, "request_timeout")


def test_a_connection_on_which_nothing_comes_is_closed_without_a_word(impatient: World) -> None:
    assert talk(impatient.server.port) == b""


def test_a_body_that_trickles_is_cut_off(impatient: World) -> None:
    """One byte is always in time for the next; the pace over all is not enough."""
    size = 10_000
    with socket.create_connection(("127.0.0.1", impatient.server.port), 15) as connection:
        connection.sendall(request(b"Content-Length: %d" % size))
        connection.settimeout(0.05)
        said = b""
        for _ in range(size):
            try:
                connection.sendall(b"x")
                said = connection.recv(1 << 16)
                break
            except TimeoutError:
                continue
    assert parse(said).error["code"] == "request_timeout"


# -- what looks hostile and is not -----------------------------------------------------------------------------------


def is_relayed(world: World, sent: bytes, target: str) -> dict[str, Any]:
    """Bytes whose request reaches the provider, at this target; the ledger's entry."""
    ledger = Ledger(world.provider)
    parse(talk(world.server.port, sent))
    (entry,) = ledger.requests()
    assert entry["target"] == target
    assert dict(entry["headers"])["Host"] == urlsplit(world.provider.url).netloc
    return entry


@pytest.mark.parametrize(
    "target",
    [
        "/v1/models/org%2Fmodel",
        "/v1/models/%252e%252e",
        "/v1/models?path=../../etc",
        "/v1//evil.example/models",
        "/v1/@evil.example/models",
        "/v1/http://evil.example/models",
        "/v1/models/...",
        "/v1/models/..;x",
        "/v1/models/%00",
        "/v1/models?url=http://evil.example",
        "/v1/",
        "/v1/MODELS/a!b$c&d'e(f)*+,;=:@~",
    ],
)
def test_a_path_below_the_route_crosses_byte_for_byte_to_the_one_provider(world: World, target: str) -> None:
    is_relayed(world, at(target.encode()).replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"), target)


def test_an_absolute_target_with_our_own_host_is_relayed(world: World) -> None:
    is_relayed(world, at(b"http://127.0.0.1/v1/models")[:-2] + b"Connection: close\r\n\r\n", "/v1/models")


def test_an_offer_of_http_2_is_ignored(world: World) -> None:
    offer = (
        b"Connection: close, Upgrade, HTTP2-Settings",
        b"Upgrade: h2c",
        b"HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA",
    )
    entry = is_relayed(world, request(*offer, LENGTH, body=QUESTION), PATH)
    assert {name.lower() for name, _ in entry["headers"]} & {"upgrade", "http2-settings", "connection"} == set()


def test_headers_that_ask_for_another_provider_change_nothing(world: World) -> None:
    with socket.create_server(("127.0.0.1", 0)) as decoy:
        decoy.settimeout(0)
        url = f"http://127.0.0.1:{decoy.getsockname()[1]}/v1"
        names = ("api-base", "base-url", "Target-URL", "X-Upstream", "X-Original-URL", "X-Rewrite-URL", "X-Target-Host")
        lines = [f"{name}: {url}".encode() for name in (*names, "X-Forwarded-Host", "x-portkey-custom-host", "Referer")]
        body = json.dumps({**json.loads(QUESTION), "api_base": url, "base_url": url, "upstream": url}).encode()
        sent = request(*lines, b"Connection: close", b"Content-Length: %d" % len(body), body=body)
        entry = is_relayed(world, sent, PATH)
        assert base64.b64decode(entry["body"]) == body
        with pytest.raises(BlockingIOError):
            decoy.accept()


def test_a_redirect_is_passed_on_and_not_followed(world: World) -> None:
    ledger = Ledger(world.provider)
    with socket.create_server(("127.0.0.1", 0)) as decoy:
        decoy.settimeout(0)
        where = f"http://127.0.0.1:{decoy.getsockname()[1]}/v1"
        answer = ask(world.server.port, b"Sim-Status: 307", f"Sim-Header: location: {where}".encode())
        assert (answer.status, answer.header("location")) == (307, where)
        with pytest.raises(BlockingIOError):
            decoy.accept()
    assert len(ledger.requests()) == 1


def test_a_chunked_body_of_single_bytes_with_extensions_and_trailers_is_read_right(world: World) -> None:
    pieces = b"".join(b"1;a=b\r\n%c\r\n" % byte for byte in QUESTION)
    sent = request(
        CHUNKED, b"Connection: close", body=pieces + b"0;last\r\nX-Trailer: " + SMUGGLED.encode() + b"\r\n\r\n"
    )
    ledger = Ledger(world.provider)
    answer = parse(talk(world.server.port, sent))
    assert answer.status == 200
    (entry,) = ledger.requests()
    assert base64.b64decode(entry["body"]) == QUESTION
    assert SMUGGLED.encode() not in ledger.bytes_seen()
    record = world.server.record(answer.header("service-request-id") or "")
    assert (record["outcome"], record["request_bytes"]) == ("complete", len(QUESTION))


def test_100_continue_is_said_once_and_never_passed_on(world: World) -> None:
    ledger = Ledger(world.provider)
    with socket.create_connection(("127.0.0.1", world.server.port), 15) as connection:
        connection.sendall(request(b"Expect: 100-continue", b"Connection: close", LENGTH))
        assert connection.recv(1 << 16) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(QUESTION)
        said = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    assert parse(said).status == 200
    (entry,) = ledger.requests()
    assert "expect" not in {name.lower() for name, _ in entry["headers"]}


def test_a_namespace_by_underscore_is_not_ours(world: World) -> None:
    answer = ask(world.server.port, b"Service_Namespace: " + b"evil")
    assert answer.header("service-namespace") == "default"
