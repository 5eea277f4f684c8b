"""Says HTTP to a relay byte for byte, and knows what came of it: at the caller's end and at the provider's."""

import base64
import http.client
import json
import socket
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import uuid4

from tests.support.server import Server, SimulatedProvider

PATH: Final = "/v1/chat/completions"
QUESTION: Final = json.dumps({"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Hello"}]}).encode()
#: Stands in every byte that must not reach the provider.
SMUGGLED: Final = "smuggled"
#: A second request, hidden where a careless reader takes the first one to be over.
HIDDEN: Final = f"POST /v1/{SMUGGLED} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n".encode()
CHUNKED: Final = b"Transfer-Encoding: chunked"
LENGTH: Final = b"Content-Length: %d" % len(QUESTION)
FIRST: Final = b"%x\r\n%b\r\n" % (len(QUESTION), QUESTION)


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
