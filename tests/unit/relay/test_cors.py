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
