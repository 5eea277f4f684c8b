"""A browser gets the page at every address the page knows; programs get what they always got."""

import gzip
from pathlib import Path
from typing import Any

import pytest
from tests.support.api_log import client_of
from tests.support.asgi import Answer, Client
from tests.support.built_page import ASSETS, page_in

from relaybook.api.app import DEFAULTS

BROWSER = ("accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")
TOKEN = ("authorization", "Bearer hunter2")


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return with_page(tmp_path)


def with_page(directory: Path, **options: Any) -> Client:
    return client_of(page=page_in(directory / "static"), **options)


def is_page(answer: Answer) -> bool:
    return answer.header("content-type") == "text/html; charset=utf-8" and b'id="root"' in answer.body


@pytest.mark.parametrize(
    "target", ["/requests", "/requests?namespace=a", "/requests/", "/requests/chatcmpl-1.5", "/requests/a/b"]
)
@pytest.mark.parametrize("accept", [(), (("accept", "*/*"),), (BROWSER,)])
def test_the_log_has_addresses_of_its_own_for_everybody(client: Client, target: str, accept: Any) -> None:
    answer = client.get(target, *accept)
    assert (answer.status, is_page(answer)) == (200, True)


@pytest.mark.parametrize("target", ["/namespaces", "/overview", "/thread?namespace=a", "/connect"])
def test_so_have_the_other_pages(client: Client, target: str) -> None:
    assert is_page(client.get(target))
    assert client.ask("HEAD", target).status == 200


@pytest.mark.parametrize("target", ["/threads/user-1", "/a.b/c", "//healthz", "/apis"])
def test_an_address_only_the_page_may_know_is_the_pages_for_a_browser_alone(client: Client, target: str) -> None:
    assert is_page(client.get(target, BROWSER))
    assert client.ask("HEAD", target, BROWSER).status == 200
    assert (client.get(target).status, client.get(target).json()["error"]["code"]) == (404, "not_found")
    assert client.ask("POST", target, BROWSER).status != 200


@pytest.mark.parametrize(
    "target",
    ["/api", "/api/", "/api/nothing", "/api/status/", "/metrics/x", "/healthz/x", "/v1", "/v1/x", "/assets", "/x.js"],
)
def test_paths_of_programs_are_never_the_page(client: Client, target: str) -> None:
    answer = client.get(target, BROWSER)
    assert (answer.status, answer.json()["error"]["code"]) == (404, "not_found")


@pytest.mark.parametrize("target", ["/api/status", "/api/requests", "/openapi.json", "/healthz", "/metrics"])
def test_the_api_answers_browsers_as_it_answers_programs(client: Client, target: str) -> None:
    answer = client.get(target, BROWSER)
    assert answer.status == 200
    assert "html" not in str(answer.header("content-type"))


def test_another_method_is_refused_as_before(client: Client) -> None:
    assert client.ask("DELETE", "/api/status", BROWSER).status == 405
    assert client.ask("HEAD", "/api/status", BROWSER).status == 405
    assert client.ask("DELETE", "/requests").status == 405


def test_the_pages_answer_is_never_kept_and_may_run_only_our_own_files(client: Client) -> None:
    answer = client.get("/requests")
    assert str(answer.header("content-security-policy")).startswith("default-src 'none'; script-src 'self'; style-src")
    assert answer.header("cache-control") == "no-store"
    for name in ("X-Content-Type-Options", "Referrer-Policy", "Cross-Origin-Resource-Policy"):
        assert answer.header(name) == DEFAULTS[name]


def test_two_loads_have_two_nonces(client: Client) -> None:
    first, second = (client.get("/requests").header("content-security-policy") for _ in range(2))
    assert first != second


def test_a_file_of_the_page_is_kept_for_ever_and_comes_packed(client: Client) -> None:
    answer = client.get("/assets/index-a1.js", ("accept-encoding", "gzip, deflate, br"))
    assert (answer.status, gzip.decompress(answer.body)) == (200, ASSETS["index-a1.js"])
    assert answer.header("content-type") == "text/javascript; charset=utf-8"
    assert answer.header("content-encoding") == "gzip"
    assert answer.header("vary") == "Accept-Encoding"
    assert answer.header("cache-control") == "public, max-age=31536000, immutable"
    assert answer.header("x-content-type-options") == "nosniff"


def test_a_client_without_gzip_gets_it_unpacked(client: Client) -> None:
    answer = client.get("/assets/index-a1.js")
    assert (answer.body, answer.header("content-encoding")) == (ASSETS["index-a1.js"], None)
    assert answer.header("vary") == "Accept-Encoding"
    assert client.ask("HEAD", "/assets/index-a1.js").status == 200


@pytest.mark.parametrize(
    "name", ["nothing.js", "", "../index.html", "%2e%2e/index.html", "..%2f..%2fpage.py", "%2fetc%2fpasswd", "a/b.js"]
)
def test_no_other_file_can_be_named(client: Client, name: str) -> None:
    answer = client.get(f"/assets/{name}", BROWSER)
    assert (answer.status, answer.json()["error"]["code"]) == (404, "not_found")
    assert answer.header("cache-control") == "no-store"


@pytest.mark.parametrize("host", ["a.example", "127.0.0.1:4101"])
def test_below_a_sub_path_the_page_and_its_files_are_found(tmp_path: Path, host: str) -> None:
    client = with_page(tmp_path, dashboard_url="https://a.example/logs")
    answer = client.get("/logs/requests/1", ("host", host))
    assert b'data-base="/logs"' in answer.body
    assert b'src="/logs/assets/index-a1.js"' in answer.body
    assert client.get("/logs/assets/index-a1.js", ("host", host)).status == 200
    assert is_page(client.get("/logs/overview", ("host", host), BROWSER))


def test_on_loopback_the_page_needs_no_sub_path(tmp_path: Path) -> None:
    client = with_page(tmp_path, dashboard_url="https://a.example/logs")
    assert b'data-base=""' in client.get("/requests").body
    assert client.get("/assets/index-a1.js").status == 200


@pytest.mark.parametrize("target", ["/", "/requests", "/requests/1?x=y", "/overview", "/x.html", "/nothing"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_browser_that_is_not_signed_in_is_asked_for_the_token_at_any_address(
    tmp_path: Path, target: str, method: str
) -> None:
    answer = with_page(tmp_path, token="hunter2").ask(method, target, BROWSER)
    assert answer.status == 401
    assert answer.header("content-type") == "text/html; charset=utf-8"
    assert b'src="/assets/sign-in-c3.js"' in answer.body
    assert answer.header("cache-control") == "no-store"
    assert str(answer.header("www-authenticate")).startswith("Bearer")
    assert "script-src 'self'" in str(answer.header("content-security-policy"))


@pytest.mark.parametrize("target", ["/api/requests", "/api/nothing", "/metrics", "/openapi.json", "/api", "/metrics/x"])
def test_paths_of_programs_refuse_in_json_whoever_asks(tmp_path: Path, target: str) -> None:
    answer = with_page(tmp_path, token="hunter2").get(target, BROWSER)
    assert (answer.status, answer.json()["error"]["code"]) == (401, "not_signed_in")


@pytest.mark.parametrize("headers", [(), (("accept", "*/*"),), (("accept", "application/json"),)])
def test_a_program_is_refused_in_json_everywhere(tmp_path: Path, headers: Any) -> None:
    answer = with_page(tmp_path, token="hunter2").get("/requests", *headers)
    assert (answer.status, answer.json()["error"]["code"]) == (401, "not_signed_in")


@pytest.mark.parametrize("target", ["/requests", "/assets/index-a1.js"])
def test_a_call_that_changes_something_is_refused_in_json(tmp_path: Path, target: str) -> None:
    answer = with_page(tmp_path, token="hunter2").ask("DELETE", target, BROWSER)
    assert (answer.status, answer.json()["error"]["code"]) == (401, "not_signed_in")


def test_a_refused_host_is_told_in_json_before_anything_else(tmp_path: Path) -> None:
    for target in ("/requests", "/assets/index-a1.js"):
        answer = with_page(tmp_path / target[1:4], token="hunter2").get(target, BROWSER, ("host", "evil.example"))
        assert (answer.status, answer.json()["error"]["code"]) == (421, "wrong_host")


def test_the_sign_in_page_and_its_files_are_found_below_a_sub_path(tmp_path: Path) -> None:
    client = with_page(tmp_path, token="hunter2", dashboard_url="https://a.example/logs")
    answer = client.get("/logs/requests", BROWSER, ("host", "a.example"))
    assert (answer.status, b'src="/logs/assets/sign-in-c3.js"' in answer.body) == (401, True)
    assert client.get("/logs/assets/sign-in-c3.js", ("host", "a.example")).status == 200


def test_the_token_opens_the_page(tmp_path: Path) -> None:
    assert is_page(with_page(tmp_path, token="hunter2").get("/requests", BROWSER, TOKEN))


@pytest.mark.parametrize("target", ["/requests", "/requests/1", "/namespaces", "/connect"])
def test_without_a_built_page_every_address_of_it_says_how_to_build_it(target: str) -> None:
    answer = client_of().get(target, BROWSER)
    assert (answer.status, b"make page" in answer.body) == (200, True)


def test_without_a_built_page_a_browser_is_refused_in_json() -> None:
    answer = client_of(token="hunter2").get("/requests", BROWSER)
    assert (answer.status, answer.json()["error"]["code"]) == (401, "not_signed_in")


@pytest.mark.parametrize("target", ["*", "x", ""])
def test_a_target_that_is_no_path_is_an_address_like_others(tmp_path: Path, target: str) -> None:
    assert is_page(with_page(tmp_path / "open").get(target, BROWSER))
    assert with_page(tmp_path / "closed", token="hunter2").get(target, BROWSER).status == 401
    assert client_of(token="hunter2").get(target).status == 401
