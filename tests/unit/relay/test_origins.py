"""A web page of another site can neither read nor spend through a relay that only this machine can reach."""

import pytest
from tests.support.raw_http import QUESTION, at
from tests.support.relay_world import RelayWorld

from relaybook.relay.origins import is_loopback_name

FORBIDDEN = [
    b"Origin: https://evil.example",
    b"Origin: http://evil.example:8080",
    b"Origin: null",
    b"Origin: http://127.0.0.1.evil.example",
    b"Origin: http://localhost.evil.example",
    b"Origin: http://127.0.0.1@evil.example",
    b"Origin: https://",
    b"Origin: HTTPS://EVIL.EXAMPLE",
    b"Sec-Fetch-Site: cross-site",
    b"Sec-Fetch-Site: cross-site\r\nSec-Fetch-Dest: image",
]
ALLOWED = [
    b"X-Nothing: 1",
    b"Origin: http://localhost:3000\r\nSec-Fetch-Site: cross-site",
    b"Origin: http://127.0.0.1:5173",
    b"Origin: http://[::1]:5173",
    b"Origin: https://app.localhost",
    b"Origin: app://obsidian.md",
    b"Origin: tauri://localhost",
    b"Origin: vscode-webview://1a2b3c",
    b"Origin: chrome-extension://abcdefgh",
    b"Origin: file://",
    b"Sec-Fetch-Site: same-origin",
    b"Sec-Fetch-Site: none",
]


def said(headers: bytes, method: bytes = b"POST", path: bytes = b"/v1/chat/completions", **settings: object) -> bytes:
    """Return the response to a request with these headers. Check that a refused request reaches no upstream."""
    body = QUESTION if method == b"POST" else b""
    request = at(path, method).replace(
        b"\r\n\r\n", b"\r\n%b\r\nContent-Length: %d\r\n\r\n%b" % (headers, len(body), body)
    )
    world = RelayWorld(**settings).feed(request)
    if b"403 Forbidden" in world.transport.said:
        assert world.providers == []
        assert world.refused == {"origin_not_allowed": 1}
    return world.transport.said


@pytest.mark.parametrize("method", [b"POST", b"GET", b"OPTIONS"])
def test_requests_from_pages_of_other_sites_are_refused(method: bytes) -> None:
    for headers in FORBIDDEN:
        response = said(headers, method)
        assert response.startswith(b"HTTP/1.1 403 Forbidden\r\n"), headers
        assert b"Service-Error: origin_not_allowed" in response
        assert b"--cors-origins http" in response


@pytest.mark.parametrize("method", [b"POST", b"GET", b"OPTIONS"])
def test_programs_and_pages_of_this_machine_are_served(method: bytes) -> None:
    for headers in ALLOWED:
        assert said(headers, method).startswith(b"HTTP/1.1 200 "), headers


def test_allowed_origins_are_served_and_others_are_not() -> None:
    settings = {"cors_origins": ["https://*.app.example"]}
    assert b" 200 " in said(b"Origin: https://my.app.example", **settings)
    assert b" 403 " in said(b"Origin: https://evil.example", **settings)
    assert b" 200 " in said(b"Origin: null", cors_origins=["*"])


def test_a_relay_that_other_machines_can_reach_serves_all_pages() -> None:
    for headers in FORBIDDEN:
        assert b" 200 " in said(headers, listen="0.0.0.0:4100"), headers


def test_health_and_the_relays_own_page_can_be_opened_from_a_link() -> None:
    for path in (b"/", b"/healthz", b"/readyz"):
        assert b" 200 " in said(b"Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate", b"GET", path)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *((name, True) for name in (b"localhost", b"LOCALHOST.", b"a.b.localhost", b"127.0.0.1", b"127.1", b"[::1]")),
        *((name, True) for name in (b"[::ffff:127.0.0.1]", b"localhost.")),
        *((name, False) for name in (b"localhost.example", b"127.0.0.1.example", b"[::2]", b"[::ffff:10.0.0.1]", b"")),
        *((name, False) for name in (b"xlocalhost", b"10.0.0.1", b"127.0.0.1\n", b"evil.example")),
    ],
)
def test_loopback_names(name: bytes, expected: bool) -> None:
    assert is_loopback_name(name) is expected
