"""Test CORS headers and the responses to preflight requests."""

import pytest

from relaybook.relay.cors import Cors

CORS = Cors(["https://app.example"], ["Service"])


def test_an_allowed_origin_can_call_and_read_the_relays_headers() -> None:
    lines = CORS.headers(b"https://app.example")
    assert b"\r\nAccess-Control-Allow-Origin: https://app.example" in lines
    assert b"Service-Request-Id" in lines
    response = CORS.preflight(b"https://app.example", b"authorization, x-stainless-os")
    assert response.startswith(b"HTTP/1.1 204 ")
    assert b"Access-Control-Allow-Headers: authorization, x-stainless-os" in response
    assert response.endswith(b"\r\n\r\n")


def test_a_preflight_response_has_connection_close_if_it_is_the_last() -> None:
    assert b"Connection" not in CORS.preflight(b"https://app.example", b"*")
    assert CORS.preflight(b"https://app.example", b"*", is_last=True).endswith(b"\r\nConnection: close\r\n\r\n")


@pytest.mark.parametrize("origin", [b"https://evil.example", b"null", b""])
def test_other_origins_get_no_cors_headers(origin: bytes) -> None:
    assert CORS.headers(origin) == b""
    assert b"Allow-Origin" not in CORS.preflight(origin, b"*")


def test_a_star_allows_every_origin_except_an_empty_one() -> None:
    assert Cors(["*"], ["Service"]).allows(b"https://any.example")
    assert not Cors(["*"], ["Service"]).allows(b"")
    assert not Cors([], ["Service"]).allows(b"")


@pytest.mark.parametrize(
    ("pattern", "allowed", "others"),
    [
        (
            "https://*.example",
            ["https://a.example", "https://a.b-c.example", "https://x_1.example"],
            [
                *("https://example", "http://a.example", "https://a.example:8443", "https://a.example.evil"),
                *("https://aexample", "https://.example", "https://evil/.example", "https://a..example", "null"),
                *("https://evil?a.example", "https://evil#.example", "https://a@b.example", "https://a.example\n"),
            ],
        ),
        (
            "http://localhost:*",
            ["http://localhost:3000", "http://localhost:65535", "http://localhost"],
            [
                *("https://localhost:3000", "http://localhost:", "http://localhost:x", "http://localhost.evil:80"),
                *(
                    "http://localhost:80.evil",
                    "http://a.localhost:80",
                    "http://localhost:3000/",
                    "http://localhost:123456",
                ),
            ],
        ),
        (
            "https://*.app.example:*",
            ["https://a.app.example:8443", "https://a.app.example"],
            ["https://app.example:8443"],
        ),
        ("http://[::1]:*", ["http://[::1]:5173"], ["http://[::2]:5173", "http://::1:5173"]),
        (
            "https://a.example",
            ["https://a.example"],
            ["https://axexample", "https://b.a.example", "https://a.example:1"],
        ),
    ],
)
def test_a_star_stands_for_subdomains_or_a_port(pattern: str, allowed: list[str], others: list[str]) -> None:
    cors = Cors(["https://other.example", pattern], ["Service"])
    assert [origin for origin in allowed if not cors.allows(origin.encode())] == []
    assert [origin for origin in others if cors.allows(origin.encode())] == []
    assert f"Allow-Origin: {allowed[0]}\r\n".encode() in cors.headers(allowed[0].encode())


def test_a_long_origin_is_compared_in_linear_time() -> None:
    assert not Cors(["https://*.example"], ["Service"]).allows(b"https://" + b"a." * 16_000)
