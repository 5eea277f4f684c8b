"""Test that a browser signs in with the token and then uses a cookie instead of the token."""

import hmac
import json
from typing import Any

import pytest
from tests.support.api_log import client_of
from tests.support.asgi import Client, Response

from relaybook.api import session

JSON = ("content-type", "application/json")


def sign_in(client: Client, token: str, *headers: tuple[str, str], target: str = "/api/session") -> Response:
    return client.request("POST", target, JSON, *headers, body=json.dumps({"token": token}).encode())


def test_signing_in_sets_a_cookie_that_gives_access() -> None:
    client = client_of(token="hunter2")
    response = sign_in(client, "hunter2")
    assert response.status == 200
    assert response.json()["expires_at"].endswith("Z")
    cookie = str(response.header("set-cookie"))
    assert "; Path=/; Max-Age=2592000; HttpOnly; SameSite=Strict" in cookie
    assert "Secure" not in cookie
    assert "hunter2" not in cookie
    assert client.get("/api/status").status == 401
    assert client.get("/api/status", ("cookie", cookie.partition(";")[0])).status == 200


def test_behind_tls_and_a_sub_path_the_cookie_is_secure_and_has_that_path() -> None:
    client = client_of(token="hunter2", dashboard_url="https://a.example/logs")
    for target, host in (("/logs/api/session", "a.example"), ("/api/session", "a.example")):
        response = sign_in(client, "hunter2", ("host", host), target=target)
        assert "; Path=/logs;" in str(response.header("set-cookie"))
        assert str(response.header("set-cookie")).endswith("; Secure")


def test_on_loopback_the_cookie_has_the_root_path() -> None:
    client = client_of(token="hunter2", dashboard_url="https://a.example/logs")
    assert "; Path=/;" in str(sign_in(client, "hunter2").header("set-cookie"))


@pytest.mark.parametrize("token", ["", "hunter", "hunter22", "HUNTER2", " hunter2"])
def test_a_wrong_token_is_rejected(token: str) -> None:
    response = sign_in(client_of(token="hunter2"), token)
    assert (response.status, response.json()["error"]["code"]) == (401, "wrong_token")
    assert response.header("set-cookie") is None


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b"[]",
        b'{"token": 5}',
        b'{"token": "x", "y": 1}',
        b"token=x",
        b"\xff",
        b'{"token": "\xff"}',
        b"[" * 60_000,
    ],
)
def test_any_other_body_is_rejected(body: bytes) -> None:
    response = client_of(token="hunter2").request("POST", "/api/session", JSON, body=body)
    assert (response.status, response.json()["error"]["code"]) == (400, "bad_body")


def test_signing_out_removes_the_cookie() -> None:
    response = client_of(token="hunter2").request("DELETE", "/api/session", ("authorization", "Bearer hunter2"))
    assert response.status == 200
    assert str(response.header("set-cookie")).startswith("relaybook_session=; Path=/; Max-Age=0;")


def is_signed_in(client: Client, *headers: tuple[str, str]) -> bool:
    signed_in = client.get("/api/status", *headers).json()["signed_in"]
    assert isinstance(signed_in, bool)
    return signed_in


def test_the_status_says_whether_the_cookie_gives_access() -> None:
    client = client_of(token="hunter2")
    cookie = ("cookie", str(sign_in(client, "hunter2").header("set-cookie")).partition(";")[0])
    bearer = ("authorization", "Bearer hunter2")
    assert is_signed_in(client, cookie)
    assert not is_signed_in(client, bearer)
    # A proxy may send the token. Without the cookie, requests would still have access.
    assert not is_signed_in(client, bearer, cookie)


def test_without_a_token_nobody_is_signed_in_even_with_an_old_cookie() -> None:
    cookie = str(sign_in(client_of(token="hunter2"), "hunter2").header("set-cookie")).partition(";")[0]
    assert not is_signed_in(client_of(), ("cookie", cookie))


def test_without_a_token_there_is_nothing_to_sign_in_to() -> None:
    response = sign_in(client_of(), "anything")
    assert (response.status, response.json()) == (200, {"expires_at": None})
    assert response.header("set-cookie") is None


NOW = 1_800_000_000


def test_only_the_exact_token_matches() -> None:
    assert session.is_token("geheim-ü".encode(), "geheim-ü")
    for wrong in (b"", b"geheim", b"geheim-", b"GEHEIM-\xc3\xbc"):
        assert not session.is_token(wrong, "geheim-ü")


def test_token_and_cookie_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[Any] = []

    def compare(left: Any, right: Any) -> bool:
        compared.append((left, right))
        return True

    monkeypatch.setattr(hmac, "compare_digest", compare)
    assert session.is_token(b"wrong", "geheim-ü")
    assert session.is_session(f"99999999999.{'0' * 64}", "geheim-ü", 0)
    assert len(compared) == 2
    assert all(len(left) == len(right) for left, right in compared)


def test_a_cookie_is_valid_for_thirty_days() -> None:
    value = session.make_session("secret", NOW)
    assert session.is_session(value, "secret", NOW)
    assert session.is_session(value, "secret", NOW + 30 * 86400 - 1)
    assert not session.is_session(value, "secret", NOW + 30 * 86400)


def test_a_cookie_does_not_contain_the_token_and_is_invalid_for_another_token() -> None:
    value = session.make_session("secret", NOW)
    assert "secret" not in value
    assert not session.is_session(value, "another", NOW)


@pytest.mark.parametrize("change", ["later", "cut", "empty", "unicode", "signed"])
def test_a_modified_cookie_is_invalid(change: str) -> None:
    expiry, _, signature = session.make_session("secret", NOW).partition(".")
    changed = {
        "later": f"{int(expiry) + 1}.{signature}",
        "cut": f"{expiry}.{signature[:-1]}",
        "empty": "",
        "unicode": f"²{expiry}.{signature}",
        "signed": f"-{expiry}.{signature}",
    }[change]
    assert not session.is_session(changed, "secret", NOW)


def test_all_session_cookies_are_found() -> None:
    headers = ["a=1; relaybook_session=x; relaybook_session2=n", "relaybook_session=y"]
    assert session.cookie_values(headers) == ["x", "y"]


def test_cookies_are_restricted_to_the_dashboard() -> None:
    assert session.set_cookie("v", 5, "", False) == (
        "relaybook_session=v; Path=/; Max-Age=5; HttpOnly; SameSite=Strict"
    )
    cookie = session.set_cookie("v", 5, "/logs", True)
    assert cookie.endswith("; Path=/logs; Max-Age=5; HttpOnly; SameSite=Strict; Secure")
