"""The first address people try, and the one they try by mistake, tell where things are."""

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
def test_the_first_address_leads_to_the_log_with_its_query(tmp_path: Path, target: str, location: str) -> None:
    client = client_of(page=page_in(tmp_path), dashboard_url="https://a.example/logs")
    answer = client.get(target)
    assert (answer.status, answer.header("location"), answer.header("cache-control")) == (307, location, "no-store")
    assert client.ask("HEAD", target).status == 307


def test_a_query_cannot_lead_elsewhere(tmp_path: Path) -> None:
    answer = client_of(page=page_in(tmp_path)).get("/?\r\nset-cookie:a=b//evil.example\xe9")
    assert str(answer.header("location")).startswith("/requests?%0D%0Aset-cookie")


def test_without_a_built_page_it_says_so_and_how_to_build_it() -> None:
    body = client_of().get("/").body
    assert b"was not built" in body
    assert b"<code>make page</code>" in body


def test_the_plain_page_says_where_the_relay_is_and_links_to_the_log() -> None:
    answer = client_of().get("/")
    assert answer.status == 200
    assert str(answer.header("content-type")).startswith("text/html")
    assert b"http://127.0.0.1:4100/v1" in answer.body
    assert b'href="/api/requests"' in answer.body
    assert client_of().ask("HEAD", "/").status == 200


def test_the_plain_page_can_run_nothing() -> None:
    answer = client_of().get("/")
    assert str(answer.header("content-security-policy")).startswith("default-src 'none'")
    for forbidden in (b"<script", b"<style", b"style=", b"onclick", b"http-equiv"):
        assert forbidden not in answer.body


def test_links_hold_below_a_sub_path() -> None:
    client = client_of(dashboard_url="https://a.example/logs")
    for target, host in (("/logs", "127.0.0.1"), ("/logs/", "a.example"), ("/", "a.example")):
        assert b'href="/logs/api/requests"' in client.get(target, ("host", host)).body
    assert b'href="/api/requests"' in client.get("/").body


def test_addresses_are_escaped() -> None:
    assert b"<b>" not in client_of(relay_base_url="http://<b>/v1").get("/").body


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS"])
@pytest.mark.parametrize("target", ["/v1", "/v1/", "/v1/chat/completions", "/v1/models/org%2Fmodel?x=%zz"])
def test_a_client_pointed_at_this_port_is_told_the_relays_address(method: str, target: str) -> None:
    client = client_of(token="hunter2")
    answer = client.ask(method, target, ("authorization", "Bearer sk-1"), JSON, body=b"{}")
    assert answer.status == 404
    assert answer.json()["error"] == {
        "message": "This is the dashboard; the relay listens on http://127.0.0.1:4100/v1. Set your base URL to that.",
        "type": "invalid_request_error",
        "param": None,
        "code": "not_found",
    }
