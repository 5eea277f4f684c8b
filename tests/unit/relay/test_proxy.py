"""Test which proxy an upstream has, and how the response to CONNECT is read."""

from concurrent.futures import Future
from typing import Any

import pytest

from relaybook.relay.proxy import Proxy, ProxyRefused, _Tunnel, find_proxy
from relaybook.settings import BadSetting

NAMES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.mark.parametrize(
    ("variables", "tls", "proxy"),
    [
        ({}, True, None),
        ({"HTTPS_PROXY": "http://p:3128"}, True, Proxy("p", 3128)),
        ({"https_proxy": "p:3128"}, True, Proxy("p", 3128)),
        ({"HTTPS_PROXY": "http://p:3128"}, False, None),
        ({"ALL_PROXY": "http://a:b%40c@p:3128"}, False, Proxy("p", 3128, b"Basic YTpiQGM=")),
        ({"HTTPS_PROXY": "http://p:3128", "NO_PROXY": "example.com,.example"}, True, None),
        ({"HTTPS_PROXY": "http://p:3128", "NO_PROXY": "other.example"}, True, Proxy("p", 3128)),
    ],
)
def test_the_variables_of_the_environment_name_the_proxy(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], tls: bool, proxy: Proxy | None
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert find_proxy("environment", "llm.example", 443, tls=tls) == proxy


@pytest.mark.parametrize(
    "value", ["https://u:secret@p:1", "socks5://u:secret@p:1", "http://p:99999", "http://[x", "http://p"]
)
def test_a_proxy_in_the_environment_that_cannot_be_used_is_refused(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("HTTPS_PROXY", value)
    with pytest.raises(BadSetting, match="The proxy in the environment is not the URL of an HTTP proxy") as caught:
        find_proxy("environment", "llm.example", 443, tls=True)
    assert "secret" not in str(caught.value)


class _Transport:
    def __init__(self) -> None:
        self.sent = b""
        self.aborted = False

    def write(self, data: bytes) -> None:
        self.sent += data

    def abort(self) -> None:
        self.aborted = True


def tunnel_after(*reads: bytes, authorization: bytes = b"") -> "tuple[Future[None], _Transport]":
    opened: Any = Future()  # without an event loop
    tunnel, transport = _Tunnel(Proxy("p", 3128, authorization), "llm.example:443", opened), _Transport()
    made: Any = transport
    tunnel.connection_made(made)
    for read in reads:
        tunnel.data_received(read)
    return opened, transport


@pytest.mark.parametrize(
    "reads",
    [
        (b"HTTP/1.1 200 OK\r\n\r\n",),
        (b"HTTP/1.0 200 Connection established\r\nVia: x\r\n\r\n",),
        tuple(bytes([byte]) for byte in b"HTTP/1.1 204 \r\n\r\n"),
        (b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n"),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",),
    ],
)
def test_a_successful_response_opens_the_tunnel(reads: tuple[bytes, ...]) -> None:
    opened, transport = tunnel_after(*reads, authorization=b"Basic YTpi")
    assert transport.sent == (
        b"CONNECT llm.example:443 HTTP/1.1\r\nHost: llm.example:443\r\nProxy-Authorization: Basic YTpi\r\n\r\n"
    )
    assert opened.done()
    assert opened.exception() is None


@pytest.mark.parametrize(
    ("read", "authorization", "words"),
    [
        (b"HTTP/1.1 407 No\r\n\r\n", b"", "requires a user name and a password"),
        (b"HTTP/1.1 407 No\r\n\r\n", b"Basic YTpi", "did not accept the user name and the password"),
        (b"HTTP/1.1 503 Busy\r\n\r\n", b"", "with status 503"),
        (b"HTTP/1.1 100 Continue\r\n\r\n" * 9, b"", "with status 100"),
        (b"HTTP/1.1 200 OK\r\n\r\nx", b"", "sent bytes after its response"),
        (b"HTTP/2 200 OK\r\n\r\n", b"", "sent no HTTP response"),
        (b"HTTP/1.1 200 OK\r\n" + b"a" * 20_000, b"", "sent no HTTP response"),
    ],
)
def test_any_other_response_is_a_reason(read: bytes, authorization: bytes, words: str) -> None:
    opened, _ = tunnel_after(read, authorization=authorization)
    with pytest.raises(ProxyRefused, match=f"the proxy at p:3128 {words}" if "sent" in words else words):
        opened.result()


def test_bytes_after_the_tunnel_is_open_end_the_connection() -> None:
    _, transport = tunnel_after(b"HTTP/1.1 200 OK\r\n\r\n", b"x")
    assert transport.aborted
