"""A provider behind TLS, as they all are: connections are kept and used again, and large bodies cross both ways.

One that ends the connection after its answer loses nothing of it, and a connection that breaks is no end of an answer.
"""

import socket
import ssl
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import trustme
from tests.support.server import Server, wait_until

LARGE = 3 << 20
TOGETHER = 16


class Provider(ThreadingHTTPServer):
    """Answers with as many bytes as it got; counts connections."""

    daemon_threads = False  # so that closing waits for them, and each closes its connection
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Echo)
        self.connections = 0


class Echo(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Provider

    def setup(self) -> None:
        self.server.connections += 1
        super().setup()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture
def provider(tmp_path: Path) -> Iterator[Provider]:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    server = Provider()
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def server(tmp_path: Path, provider: Provider) -> Iterator[Server]:
    flags = ["--upstream-ca-file", str(tmp_path / "ca.pem")]
    with Server(tmp_path, f"https://localhost:{provider.server_address[1]}/v1", *flags) as started:
        yield started


def ask(server: Server, *bodies: bytes) -> list[tuple[int, bytes]]:
    """Each body posted over one connection; status and answer of each."""
    connection = HTTPConnection("127.0.0.1", server.port, timeout=30)
    found = []
    for body in bodies:
        connection.request("POST", "/v1/chat/completions", body, {"Authorization": "Bearer sk-test"})
        answer = connection.getresponse()
        found.append((answer.status, answer.read()))
    connection.close()
    return found


def test_a_connection_is_used_again(server: Server, provider: Provider) -> None:
    bodies = [b"%d" % number for number in range(10)]
    assert ask(server, *bodies) == [(200, body) for body in bodies]
    assert provider.connections == 1


def test_large_bodies_cross_both_ways_and_the_connection_stays(server: Server, provider: Provider) -> None:
    large = b"x" * LARGE
    assert ask(server, b"small", large, b"small", large) == [(200, b"small"), (200, large)] * 2
    assert provider.connections == 1


def test_many_at_once_are_all_answered(server: Server, provider: Provider) -> None:
    bodies = [b"%d" % number for number in range(50)]
    with ThreadPoolExecutor(TOGETHER) as callers:
        for found in callers.map(lambda _: ask(server, *bodies), range(TOGETHER)):
            assert found == [(200, body) for body in bodies]
    assert provider.connections <= TOGETHER


class Ending(threading.Thread):
    """A provider that ends its connection right after each answer of ``size`` bytes, of which it may send fewer."""

    def __init__(self, context: ssl.SSLContext, head: bytes, sent: int, *, notifies: bool) -> None:
        super().__init__()
        self._context = context
        self._answer = b"HTTP/1.1 200 OK\r\nConnection: close\r\n" + head + b"\r\n" + b"x" * sent
        self._notifies = notifies
        self.listener = socket.create_server(("127.0.0.1", 0))

    def run(self) -> None:
        while True:
            try:
                raw, _ = self.listener.accept()
            except OSError:
                return
            with self._context.wrap_socket(raw, server_side=True) as connection:
                while not connection.recv(65536).endswith(b"}"):
                    pass
                connection.sendall(self._answer)
                connection.setblocking(False)
                if self._notifies:
                    with suppress(OSError):
                        connection.unwrap()

    def close(self) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.join()


@pytest.mark.parametrize(
    ("head", "sent", "notifies", "outcome"),
    [
        (b"Content-Length: 400000\r\n", 400_000, True, "complete"),
        (b"Content-Length: 400000\r\n", 400_000, False, "complete"),
        (b"Content-Length: 400000\r\n", 300_000, True, "upstream_failed"),
        (b"", 400_000, True, "complete"),
        (b"", 400_000, False, "upstream_failed"),
    ],
)
def test_of_an_answer_before_the_end_of_the_connection_nothing_is_missing(
    tmp_path: Path, head: bytes, sent: int, notifies: bool, outcome: str
) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    provider = Ending(context, head, sent, notifies=notifies)
    provider.start()
    url = f"https://localhost:{provider.listener.getsockname()[1]}/v1"
    with Server(tmp_path, url, "--upstream-ca-file", str(tmp_path / "ca.pem")) as server:
        for _ in range(5):
            connection = HTTPConnection("127.0.0.1", server.port, timeout=30)
            connection.request("POST", "/v1/chat/completions", b"{}", {"Authorization": "Bearer sk-test"})
            answer = connection.getresponse()
            got, is_whole = _read(answer)
            connection.close()
            assert is_whole == (outcome == "complete")
            assert got == sent or not is_whole  # a reset takes with it what the caller had not read
        rows = wait_until(lambda: found if len(found := server.records()) == 5 else None)
        assert {(row["outcome"], row["response_bytes"]) for row in rows} == {(outcome, sent)}
    provider.close()


def _read(answer: HTTPResponse) -> tuple[int, bool]:
    """How many bytes came, and whether they ended cleanly."""
    got = 0
    try:
        while piece := answer.read1():
            got += len(piece)
    except (OSError, HTTPException):
        return got, False
    return got, not answer.length
