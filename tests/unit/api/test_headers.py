"""Every response has the headers that keep browsers from running, framing, guessing or keeping it."""

from typing import Any

import pytest
from tests.support.api_log import client_of
from tests.support.asgi import Client

from relaybook.api.headers import DEFAULTS, SafeHeaders


@pytest.mark.parametrize(
    "target", ["/", "/api/requests", "/api/requests?x=1", "/nothing", "/metrics", "/healthz", "/v1"]
)
def test_answers_and_refusals_have_them(target: str) -> None:
    for client in (client_of(), client_of(token="hunter2")):
        answer = client.get(target)
        assert {name: answer.header(name) for name in DEFAULTS} == DEFAULTS


def test_they_forbid_what_they_are_to_forbid() -> None:
    assert DEFAULTS["X-Content-Type-Options"] == "nosniff"
    assert DEFAULTS["Referrer-Policy"] == "no-referrer"
    assert DEFAULTS["Cache-Control"] == "no-store"
    assert "default-src 'none'" in DEFAULTS["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in DEFAULTS["Content-Security-Policy"]


def test_a_response_with_its_own_policy_keeps_it() -> None:
    async def page(scope: Any, receive: Any, send: Any) -> None:
        own = [(b"content-security-policy", b"script-src 'self'")]
        await send({"type": "http.response.start", "status": 200, "headers": own})
        await send({"type": "http.response.body", "body": b""})

    answer = Client(SafeHeaders(page)).get("/")
    assert [value for name, value in answer.headers if name == "content-security-policy"] == ["script-src 'self'"]
