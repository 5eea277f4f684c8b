"""Test that ``/`` leads to the log, and that ``/v1`` on the dashboard's port returns the relay's address."""

from pathlib import Path

import pytest
from tests.support.api_log import client_of
from tests.support.built_page import page_in

JSON = ("content-type", "application/json")


@pytest.mark.parametrize(
    ("target", "location"),
    [
        ("/", "/requests"),
        ("/?namespace=a%2Fb&x=%C3%A9", "/requests?namespace=a%2Fb&x=%C3%A9"),
        ("/logs", "/logs/requests"),
        ("/logs/?live=1", "/logs/requests?live=1"),
    ],
)
def test_the_root_redirects_to_the_log_with_its_query(tmp_path: Path, target: str, location: str) -> None:
    client = client_of(page=page_in(tmp_path), dashboard_url="https://a.example/logs")
    response = client.get(target)
    assert (response.status, response.header("location"), response.header("cache-control")) == (
        307,
        location,
        "no-store",
    )
    assert client.request("HEAD", target).status == 307


def test_a_query_cannot_change_the_redirect(tmp_path: Path) -> None:
    response = client_of(page=page_in(tmp_path)).get("/?\r\nset-cookie:a=b//evil.example\xe9")
    assert str(response.header("location")).startswith("/requests?%0D%0Aset-cookie")


def test_without_a_built_page_the_root_says_how_to_build_it() -> None:
    body = client_of().get("/").body
    assert b"is not built" in body
    assert b"<code>make page</code>" in body


def test_the_plain_page_has_the_relays_address_and_links_to_the_log() -> None:
    response = client_of().get("/")
    assert response.status == 200
    assert str(response.header("content-type")).startswith("text/html")
    assert b"http://127.0.0.1:4100/v1" in response.body
    assert b'href="/api/requests"' in response.body
    assert client_of().request("HEAD", "/").status == 200


def test_the_plain_page_has_no_scripts_and_no_styles() -> None:
    response = client_of().get("/")
    assert str(response.header("content-security-policy")).startswith("default-src 'none'")
    for forbidden in (b"<script", b"<style", b"style=", b"onclick", b"http-equiv"):
        assert forbidden not in response.body


def test_links_work_below_a_sub_path() -> None:
    client = client_of(dashboard_url="https://a.example/logs")
    for target, host in (("/logs", "127.0.0.1"), ("/logs/", "a.example"), ("/", "a.example")):
        assert b'href="/logs/api/requests"' in client.get(target, ("host", host)).body
    assert b'href="/api/requests"' in client.get("/").body


def test_addresses_are_escaped() -> None:
    assert b"<b>" not in client_of(relay_base_url="http://<b>/v1").get("/").body


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS"])
@pytest.mark.parametrize("target", ["/v1", "/v1/", "/v1/chat/completions", "/v1/models/org%2Fmodel?x=%zz"])
def test_a_client_that_uses_the_dashboards_port_gets_the_relays_address(method: str, target: str) -> None:
    client = client_of(token="hunter2")
    response = client.request(method, target, ("authorization", "Bearer sk-1"), JSON, body=b"{}")
    assert response.status == 404
    assert response.json()["error"] == {
        "message": "This is the dashboard, not the relay. Set your base URL to http://127.0.0.1:4100/v1.",
        "type": "invalid_request_error",
        "param": None,
        "code": "not_found",
    }
