"""A browser signs in with the token and gets a cookie that stands for it."""

import json

import pytest
from tests.support.api_log import client_of
from tests.support.asgi import Answer, Client

JSON = ("content-type", "application/json")


def sign_in(client: Client, token: str, *headers: tuple[str, str], target: str = "/api/session") -> Answer:
    return client.ask("POST", target, JSON, *headers, body=json.dumps({"token": token}).encode())


def test_the_token_gives_a_cookie_that_opens_everything() -> None:
    client = client_of(token="hunter2")
    answer = sign_in(client, "hunter2")
    assert answer.status == 200
    assert answer.json()["expires_at"].endswith("Z")
    cookie = str(answer.header("set-cookie"))
    assert "; Path=/; Max-Age=2592000; HttpOnly; SameSite=Strict" in cookie
    assert "Secure" not in cookie
    assert "hunter2" not in cookie
    assert client.get("/api/status").status == 401
    assert client.get("/api/status", ("cookie", cookie.partition(";")[0])).status == 200


def test_behind_tls_and_a_sub_path_the_cookie_is_secure_and_of_that_path() -> None:
    client = client_of(token="hunter2", dashboard_url="https://a.example/logs")
    for target, host in (("/logs/api/session", "a.example"), ("/api/session", "a.example")):
        answer = sign_in(client, "hunter2", ("host", host), target=target)
        assert "; Path=/logs;" in str(answer.header("set-cookie"))
        assert str(answer.header("set-cookie")).endswith("; Secure")


def test_on_loopback_the_cookie_is_of_the_whole_listener() -> None:
    client = client_of(token="hunter2", dashboard_url="https://a.example/logs")
    assert "; Path=/;" in str(sign_in(client, "hunter2").header("set-cookie"))


@pytest.mark.parametrize("token", ["", "hunter", "hunter22", "HUNTER2", " hunter2"])
def test_another_token_gives_nothing(token: str) -> None:
    answer = sign_in(client_of(token="hunter2"), token)
    assert (answer.status, answer.json()["error"]["code"]) == (401, "wrong_token")
    assert answer.header("set-cookie") is None


@pytest.mark.parametrize("body", [b"", b"{}", b"[]", b'{"token": 5}', b'{"token": "x", "y": 1}', b"token=x", b"\xff"])
def test_anything_but_the_one_object_is_refused(body: bytes) -> None:
    answer = client_of(token="hunter2").ask("POST", "/api/session", JSON, body=body)
    assert (answer.status, answer.json()["error"]["code"]) == (400, "bad_body")


def test_signing_out_removes_the_cookie() -> None:
    answer = client_of(token="hunter2").ask("DELETE", "/api/session", ("authorization", "Bearer hunter2"))
    assert answer.status == 200
    assert str(answer.header("set-cookie")).startswith("relaybook_session=; Path=/; Max-Age=0;")


def test_without_a_token_there_is_nothing_to_sign_in_to() -> None:
    answer = sign_in(client_of(), "anything")
    assert (answer.status, answer.json()) == (200, {"expires_at": None})
    assert answer.header("set-cookie") is None
