"""Claims about calls from web pages."""

import pytest

from relaybook.relay.cors import Cors

CORS = Cors(["https://app.example"], ["Service"])


def test_an_allowed_page_may_call_and_read_our_headers() -> None:
    lines = CORS.headers(b"https://app.example")
    assert b"\r\nAccess-Control-Allow-Origin: https://app.example" in lines
    assert b"Service-Request-Id" in lines
    answer = CORS.preflight(b"https://app.example", b"authorization, x-stainless-os")
    assert answer.startswith(b"HTTP/1.1 204 ")
    assert b"Access-Control-Allow-Headers: authorization, x-stainless-os" in answer
    assert answer.endswith(b"\r\n\r\n")


def test_a_preflight_says_when_the_connection_closes_after_it() -> None:
    assert b"Connection" not in CORS.preflight(b"https://app.example", b"*")
    assert CORS.preflight(b"https://app.example", b"*", is_last=True).endswith(b"\r\nConnection: close\r\n\r\n")


@pytest.mark.parametrize("origin", [b"https://evil.example", b"null", b""])
def test_any_other_page_may_not(origin: bytes) -> None:
    assert CORS.headers(origin) == b""
    assert b"Allow-Origin" not in CORS.preflight(origin, b"*")


def test_a_star_allows_any_page_and_still_no_nobody() -> None:
    assert Cors(["*"], ["Service"]).allows(b"https://any.example")
    assert not Cors(["*"], ["Service"]).allows(b"")
