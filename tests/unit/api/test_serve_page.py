"""Test that browsers get the page at every path of the page, and that programs get API responses."""

import gzip
from pathlib import Path
from typing import Any

import pytest
from tests.support.api_log import client_of
from tests.support.asgi import Client, Response
from tests.support.built_page import ASSETS, page_in

from relaybook.api.app import DEFAULT_HEADERS

BROWSER = ("accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")
TOKEN = ("authorization", "Bearer hunter2")


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return with_page(tmp_path)


def with_page(directory: Path, **options: Any) -> Client:
    return client_of(page=page_in(directory / "static"), **options)


def is_page(response: Response) -> bool:
    return response.header("content-type") == "text/html; charset=utf-8" and b'id="root"' in response.body


@pytest.mark.parametrize(
    "target", ["/requests", "/requests?namespace=a", "/requests/", "/requests/chatcmpl-1.5", "/requests/a/b"]
)
@pytest.mark.parametrize("accept", [(), (("accept", "*/*"),), (BROWSER,)])
def test_the_log_paths_serve_the_page_to_every_client(client: Client, target: str, accept: Any) -> None:
    response = client.get(target, *accept)
    assert (response.status, is_page(response)) == (200, True)


@pytest.mark.parametrize("target", ["/namespaces", "/overview", "/thread?namespace=a", "/connect"])
def test_the_other_page_paths_serve_the_page(client: Client, target: str) -> None:
    assert is_page(client.get(target))
    assert client.request("HEAD", target).status == 200


@pytest.mark.parametrize("target", ["/threads/user-1", "/a.b/c", "//healthz", "/apis"])
def test_an_unknown_path_serves_the_page_to_browsers_only(client: Client, target: str) -> None:
    assert is_page(client.get(target, BROWSER))
    assert client.request("HEAD", target, BROWSER).status == 200
    assert (client.get(target).status, client.get(target).json()["error"]["code"]) == (404, "not_found")
    assert client.request("POST", target, BROWSER).status != 200


@pytest.mark.parametrize(
    "target",
    ["/api", "/api/", "/api/nothing", "/api/status/", "/metrics/x", "/healthz/x", "/v1", "/v1/x", "/assets", "/x.js"],
)
def test_paths_of_programs_are_never_the_page(client: Client, target: str) -> None:
    response = client.get(target, BROWSER)
    assert (response.status, response.json()["error"]["code"]) == (404, "not_found")


@pytest.mark.parametrize("target", ["/api/status", "/api/requests", "/openapi.json", "/healthz", "/metrics"])
def test_the_api_responds_to_browsers_as_to_programs(client: Client, target: str) -> None:
    response = client.get(target, BROWSER)
    assert response.status == 200
    assert "html" not in str(response.header("content-type"))


def test_unsupported_methods_are_rejected(client: Client) -> None:
    assert client.request("DELETE", "/api/status", BROWSER).status == 405
    assert client.request("HEAD", "/api/status", BROWSER).status == 405
    assert client.request("DELETE", "/requests").status == 405


def test_the_page_is_not_cached_and_runs_only_its_own_files(client: Client) -> None:
    response = client.get("/requests")
    assert str(response.header("content-security-policy")).startswith(
        "default-src 'none'; script-src 'self'; style-src"
    )
    assert response.header("cache-control") == "no-store"
    for name in ("X-Content-Type-Options", "Referrer-Policy", "Cross-Origin-Resource-Policy"):
        assert response.header(name) == DEFAULT_HEADERS[name]


def test_each_load_has_a_new_nonce(client: Client) -> None:
    first, second = (client.get("/requests").header("content-security-policy") for _ in range(2))
    assert first != second


def test_an_asset_is_immutable_and_compressed(client: Client) -> None:
    response = client.get("/assets/index-a1.js", ("accept-encoding", "gzip, deflate, br"))
    assert (response.status, gzip.decompress(response.body)) == (200, ASSETS["index-a1.js"])
    assert response.header("content-type") == "text/javascript; charset=utf-8"
    assert response.header("content-encoding") == "gzip"
    assert response.header("vary") == "Accept-Encoding"
    assert response.header("cache-control") == "public, max-age=31536000, immutable"
    assert response.header("x-content-type-options") == "nosniff"


def test_a_client_without_gzip_gets_an_asset_uncompressed(client: Client) -> None:
    response = client.get("/assets/index-a1.js")
    assert (response.body, response.header("content-encoding")) == (ASSETS["index-a1.js"], None)
    assert response.header("vary") == "Accept-Encoding"
    assert client.request("HEAD", "/assets/index-a1.js").status == 200


@pytest.mark.parametrize(
    "name", ["nothing.js", "", "../index.html", "%2e%2e/index.html", "..%2f..%2fpage.py", "%2fetc%2fpasswd", "a/b.js"]
)
def test_no_other_file_can_be_requested(client: Client, name: str) -> None:
    response = client.get(f"/assets/{name}", BROWSER)
    assert (response.status, response.json()["error"]["code"]) == (404, "not_found")
    assert response.header("cache-control") == "no-store"


@pytest.mark.parametrize("host", ["a.example", "127.0.0.1:4101"])
def test_the_page_and_its_assets_work_below_a_sub_path(tmp_path: Path, host: str) -> None:
    client = with_page(tmp_path, dashboard_url="https://a.example/logs")
    response = client.get("/logs/requests/1", ("host", host))
    assert b'data-base="/logs"' in response.body
    assert b'src="/logs/assets/index-a1.js"' in response.body
    assert client.get("/logs/assets/index-a1.js", ("host", host)).status == 200
    assert is_page(client.get("/logs/overview", ("host", host), BROWSER))


def test_on_loopback_the_page_needs_no_sub_path(tmp_path: Path) -> None:
    client = with_page(tmp_path, dashboard_url="https://a.example/logs")
    assert b'data-base=""' in client.get("/requests").body
    assert client.get("/assets/index-a1.js").status == 200


@pytest.mark.parametrize("target", ["/", "/requests", "/requests/1?x=y", "/overview", "/x.html", "/nothing"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_browser_without_the_token_gets_the_sign_in_form_at_every_path(
    tmp_path: Path, target: str, method: str
) -> None:
    response = with_page(tmp_path, token="hunter2").request(method, target, BROWSER)
    assert response.status == 401
    assert response.header("content-type") == "text/html; charset=utf-8"
    assert b'src="/assets/sign-in-c3.js"' in response.body
    assert response.header("cache-control") == "no-store"
    assert str(response.header("www-authenticate")).startswith("Bearer")
    assert "script-src 'self'" in str(response.header("content-security-policy"))


@pytest.mark.parametrize("target", ["/api/requests", "/api/nothing", "/metrics", "/openapi.json", "/api", "/metrics/x"])
def test_errors_on_paths_of_programs_are_always_json(tmp_path: Path, target: str) -> None:
    response = with_page(tmp_path, token="hunter2").get(target, BROWSER)
    assert (response.status, response.json()["error"]["code"]) == (401, "not_signed_in")


@pytest.mark.parametrize("headers", [(), (("accept", "*/*"),), (("accept", "application/json"),)])
def test_a_program_without_the_token_gets_a_json_error(tmp_path: Path, headers: Any) -> None:
    response = with_page(tmp_path, token="hunter2").get("/requests", *headers)
    assert (response.status, response.json()["error"]["code"]) == (401, "not_signed_in")


@pytest.mark.parametrize("target", ["/requests", "/assets/index-a1.js"])
def test_an_unsafe_request_without_the_token_gets_a_json_error(tmp_path: Path, target: str) -> None:
    response = with_page(tmp_path, token="hunter2").request("DELETE", target, BROWSER)
    assert (response.status, response.json()["error"]["code"]) == (401, "not_signed_in")


def test_a_wrong_host_is_checked_first_and_gets_a_json_error(tmp_path: Path) -> None:
    for target in ("/requests", "/assets/index-a1.js"):
        response = with_page(tmp_path / target[1:4], token="hunter2").get(target, BROWSER, ("host", "evil.example"))
        assert (response.status, response.json()["error"]["code"]) == (421, "wrong_host")


def test_the_sign_in_form_and_its_assets_work_below_a_sub_path(tmp_path: Path) -> None:
    client = with_page(tmp_path, token="hunter2", dashboard_url="https://a.example/logs")
    response = client.get("/logs/requests", BROWSER, ("host", "a.example"))
    assert (response.status, b'src="/logs/assets/sign-in-c3.js"' in response.body) == (401, True)
    assert client.get("/logs/assets/sign-in-c3.js", ("host", "a.example")).status == 200


def test_the_token_gives_access_to_the_page(tmp_path: Path) -> None:
    assert is_page(with_page(tmp_path, token="hunter2").get("/requests", BROWSER, TOKEN))


@pytest.mark.parametrize("target", ["/requests", "/requests/1", "/namespaces", "/connect"])
def test_without_a_built_page_every_page_path_says_how_to_build_it(target: str) -> None:
    response = client_of().get(target, BROWSER)
    assert (response.status, b"make page" in response.body) == (200, True)


def test_without_a_built_page_a_browser_gets_a_json_error() -> None:
    response = client_of(token="hunter2").get("/requests", BROWSER)
    assert (response.status, response.json()["error"]["code"]) == (401, "not_signed_in")


@pytest.mark.parametrize("target", ["*", "x", ""])
def test_a_target_that_is_not_a_path_is_handled_like_a_path(tmp_path: Path, target: str) -> None:
    assert is_page(with_page(tmp_path / "open").get(target, BROWSER))
    assert with_page(tmp_path / "closed", token="hunter2").get(target, BROWSER).status == 401
    assert client_of(token="hunter2").get(target).status == 401
