"""An upstream with TLS: connections are reused, and large bodies are relayed in both directions.

If the upstream closes the connection after its response, the client gets the whole response. If a connection ends
without a TLS close notification, a response without a length is incomplete.
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


@pytest.fixture
def upstream(tmp_path: Path) -> Iterator[Upstream]:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    server = Upstream()
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def server(tmp_path: Path, upstream: Upstream) -> Iterator[Server]:
    flags = ["--upstream-ca-file", str(tmp_path / "ca.pem")]
    with Server(tmp_path, f"https://localhost:{upstream.server_address[1]}/v1", *flags) as started:
        yield started


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
    """An upstream that closes the connection after each response, which has ``sent`` body bytes.

    With ``notifies``, the upstream sends a TLS close notification first.
    """

    def __init__(self, context: ssl.SSLContext, head: bytes, sent: int, *, notifies: bool) -> None:
        super().__init__()
        self._context = context
        self._response = b"HTTP/1.1 200 OK\r\nConnection: close\r\n" + head + b"\r\n" + b"x" * sent
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
                connection.sendall(self._response)
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
def test_nothing_of_a_response_before_the_end_of_the_connection_is_lost(
    tmp_path: Path, head: bytes, sent: int, notifies: bool, outcome: str
) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    upstream = ClosingUpstream(context, head, sent, notifies=notifies)
    upstream.start()
    url = f"https://localhost:{upstream.listener.getsockname()[1]}/v1"
    with Server(tmp_path, url, "--upstream-ca-file", str(tmp_path / "ca.pem")) as server:
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
    upstream.close()


def _read(response: HTTPResponse) -> tuple[int, bool]:
    """Return how many bytes were received, and whether the response ended cleanly."""
    received = 0
    try:
        while chunk := response.read1():
            received += len(chunk)
    except (OSError, HTTPException):
        return received, False
    return received, not response.length
