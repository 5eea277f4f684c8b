"""An upstream with TLS: connections are reused, and large bodies are relayed in both directions.

If the upstream closes the connection after its response, the client gets the whole response. If a connection ends
without a TLS close notification, a response without a length is incomplete. If the upstream closes the connection
without reading the request body, the client gets the response, too.
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
from typing import Self

import pytest
import trustme
from tests.support.server import Server, wait_until

LARGE = 3 << 20
CONCURRENT = 16


class Upstream(ThreadingHTTPServer):
    """An upstream that sends each request body back and counts connections."""

    daemon_threads = False  # server_close() waits for the threads, and each thread closes its connection
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Echo)
        self.connections = 0


class Echo(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Upstream

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
        """Print nothing."""


def _server_context(tmp_path: Path) -> ssl.SSLContext:
    """Return the TLS context of an upstream, and write the certificate that the relay needs to ``ca.pem``."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    return context


@pytest.fixture
def upstream(tmp_path: Path) -> Iterator[Upstream]:
    server = Upstream()
    server.socket = _server_context(tmp_path).wrap_socket(
        server.socket, server_side=True, do_handshake_on_connect=False
    )
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def server(tmp_path: Path, upstream: Upstream) -> Iterator[Server]:
    with _start_server(tmp_path, upstream.server_address[1]) as started:
        yield started


def _start_server(tmp_path: Path, port: int) -> Server:
    """Start a server that trusts the certificate in ``ca.pem``."""
    return Server(tmp_path, f"https://localhost:{port}/v1", "--upstream-ca-file", str(tmp_path / "ca.pem"))


def ask(server: Server, *bodies: bytes) -> list[tuple[int, bytes]]:
    """Send all bodies over one connection. Returns the status and the body of each response."""
    connection = HTTPConnection("127.0.0.1", server.port, timeout=30)
    found = []
    for body in bodies:
        connection.request("POST", "/v1/chat/completions", body, {"Authorization": "Bearer sk-test"})
        response = connection.getresponse()
        found.append((response.status, response.read()))
    connection.close()
    return found


def test_a_connection_is_reused(server: Server, upstream: Upstream) -> None:
    bodies = [b"%d" % number for number in range(10)]
    assert ask(server, *bodies) == [(200, body) for body in bodies]
    assert upstream.connections == 1


def test_large_bodies_are_relayed_both_ways_and_the_connection_is_kept(server: Server, upstream: Upstream) -> None:
    large = b"x" * LARGE
    assert ask(server, b"small", large, b"small", large) == [(200, b"small"), (200, large)] * 2
    assert upstream.connections == 1


def test_many_concurrent_requests_all_get_a_response(server: Server, upstream: Upstream) -> None:
    bodies = [b"%d" % number for number in range(50)]
    with ThreadPoolExecutor(CONCURRENT) as callers:
        for found in callers.map(lambda _: ask(server, *bodies), range(CONCURRENT)):
            assert found == [(200, body) for body in bodies]
    assert upstream.connections <= CONCURRENT


class ClosingUpstream(threading.Thread):
    """An upstream that reads a request up to ``end``, responds, and closes the connection.

    If bytes of the request are unread, the close resets the TCP connection. With ``notifies``, the upstream sends a TLS
    close notification first.
    """

    def __init__(self, tmp_path: Path, end: bytes, response: bytes, *, notifies: bool) -> None:
        super().__init__()
        self._context = _server_context(tmp_path)
        self._end = end
        self._response = response
        self._notifies = notifies
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]

    def run(self) -> None:
        while True:
            try:
                raw, _ = self._listener.accept()
            except OSError:
                return
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._context.wrap_socket(raw, server_side=True) as connection:
                while self._end not in connection.recv(65536):
                    pass
                connection.sendall(self._response)
                connection.setblocking(False)
                if self._notifies:
                    with suppress(OSError):
                        connection.unwrap()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
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
def test_nothing_of_a_response_before_the_end_of_the_connection_is_lost(
    tmp_path: Path, head: bytes, sent: int, notifies: bool, outcome: str
) -> None:
    response = b"HTTP/1.1 200 OK\r\nConnection: close\r\n" + head + b"\r\n" + b"x" * sent
    with (
        ClosingUpstream(tmp_path, b"}", response, notifies=notifies) as upstream,
        _start_server(tmp_path, upstream.port) as server,
    ):
        for _ in range(5):
            connection = HTTPConnection("127.0.0.1", server.port, timeout=30)
            connection.request("POST", "/v1/chat/completions", b"{}", {"Authorization": "Bearer sk-test"})
            response = connection.getresponse()
            received, is_complete = _read(response)
            connection.close()
            assert is_complete == (outcome == "complete")
            assert received == sent or not is_complete  # a reset discards bytes that the client had not read yet
        rows = wait_until(lambda: found if len(found := server.records()) == 5 else None)
        assert {(row["outcome"], row["response_bytes"]) for row in rows} == {(outcome, sent)}


def _read(response: HTTPResponse) -> tuple[int, bool]:
    """Return how many bytes were received, and whether the response ended cleanly."""
    received = 0
    try:
        while chunk := response.read1():
            received += len(chunk)
    except (OSError, HTTPException):
        return received, False
    return received, not response.length


def _upload(port: int, size: int) -> bytes:
    """Send a request for as long as possible. Returns the received bytes, even if the connection is then reset."""
    head = b"POST /v1/files HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer sk-test\r\nContent-Length: %d\r\n\r\n"
    received = b""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:

        def send() -> None:
            with suppress(OSError):
                connection.sendall(head % size + bytes(size))

        sending = threading.Thread(target=send)
        sending.start()
        with suppress(ConnectionResetError):
            while data := connection.recv(65536):
                received += data
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
        sending.join()
    return received


@pytest.mark.parametrize(
    ("framing", "size", "notifies", "outcome"),
    [
        (b"Content-Length: 9\r\n", 9, True, "complete"),
        (b"Content-Length: 50000\r\n", 50_000, False, "complete"),
        (b"", 9, True, "complete"),
        (b"", 9, False, "upstream_failed"),
    ],
)
def test_the_response_of_an_upstream_that_closes_without_reading_the_request_arrives(
    tmp_path: Path, framing: bytes, size: int, notifies: bool, outcome: str
) -> None:
    response = b"HTTP/1.1 413 Payload Too Large\r\nConnection: close\r\n" + framing + b"\r\n" + b"x" * size
    with (
        ClosingUpstream(tmp_path, b"\r\n\r\n", response, notifies=notifies) as upstream,
        _start_server(tmp_path, upstream.port) as server,
    ):
        for _ in range(10):
            received = _upload(server.port, 16 << 20)
            assert received.startswith(b"HTTP/1.1 413 Payload Too Large\r\n"), received
            assert received.endswith(b"\r\n\r\n" + b"x" * size)
        rows = wait_until(lambda: found if len(found := server.records()) == 10 else None)
        assert {(row["outcome"], row["status"], row["response_bytes"]) for row in rows} == {(outcome, 413, size)}


@pytest.mark.parametrize("greeting", [b"", b"220 ready\r\n"])
def test_an_upstream_that_does_not_begin_a_tls_handshake_is_unreachable(tmp_path: Path, greeting: bytes) -> None:
    _server_context(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def greet() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    with connection:
                        connection.sendall(greeting)

        thread = threading.Thread(target=greet)
        thread.start()
        with _start_server(tmp_path, listener.getsockname()[1]) as server:
            assert [status for status, _ in ask(server, b"{}", b"{}", b"{}", b"{}", b"{}")] == [502] * 5
            rows = wait_until(lambda: found if len(found := server.records()) == 5 else None)
            assert {row["error_code"] for row in rows} == {"upstream_unreachable"}
        listener.shutdown(socket.SHUT_RDWR)
    thread.join()
