"""A provider behind TLS, as they all are: connections are kept and used again, and large bodies cross both ways."""

import ssl
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import trustme
from tests.support.server import Server

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
