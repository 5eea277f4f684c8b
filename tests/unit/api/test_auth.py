"""Test that ``Guard`` denies access by default."""

import asyncio
from typing import Any

import pytest
from starlette.routing import Route
from starlette.types import Message
from tests.support.api_log import app_of, client_of
from tests.support.asgi import Client, scope_of

from relaybook.api import auth
from relaybook.api.auth import host_name, is_host_allowed, is_origin_allowed
from relaybook.api.options import ApiOptions

TOKEN = ("authorization", "Bearer hunter2")
JSON = ("content-type", "application/json")
#: All routes that do not require the token. Add a route only if it must be open to everyone.
OPEN_ROUTES = {
    ("GET", "/healthz"),
    ("HEAD", "/healthz"),
    ("GET", "/readyz"),
    ("HEAD", "/readyz"),
    ("POST", "/api/session"),
    # The assets are public, because the program is open source.
    ("GET", "/assets/x"),
    ("HEAD", "/assets/x"),
    *(
        (method, path)
        for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
        for path in ("/v1", "/v1/x")
    ),
}


def every_route() -> list[tuple[str, str]]:
    routes = []
    for route in app_of().routes:
        assert isinstance(route, Route), "unknown kind of route: add how to request it"
        path = (
            route.path_format.replace("{path}", "x")
            .replace("{id}", "x")
            .replace("{name}", "x")
            .replace("{field}", "model")
        )
        routes += [(method, path) for method in sorted(route.methods or ())]
    return routes


def error_of(client: Client, method: str, target: str, *headers: tuple[str, str]) -> tuple[int, str]:
    response = client.request(method, target, *headers)
    return response.status, response.json()["error"]["code"]


@pytest.mark.parametrize(("method", "path"), every_route())
def test_every_route_requires_the_token(method: str, path: str) -> None:
    response = client_of(token="hunter2").request(method, path, JSON, body=b"{}")
    assert (response.status == 401) == ((method, path) not in OPEN_ROUTES)


def test_the_list_of_routes_is_complete() -> None:
    paths = {"/api/requests", "/openapi.json", "/metrics", "/", "/requests", "/requests/x", "/assets/x"}
    assert {("GET", path) for path in paths} <= set(every_route())


@pytest.mark.parametrize(
    "path",
    [
        *("/nothing", "/healthz/", "/healthz/..", "/healthz%2F", "/HEALTHZ", "//healthz", "/v1x", "/api/session/"),
        *("/docs", "/assets", "/assetsx", "//assets/x", "/api/assets/x"),
    ],
)
def test_paths_that_do_not_exist_require_the_token(path: str) -> None:
    client = client_of(token="hunter2")
    assert error_of(client, "GET", path) == (401, "not_signed_in")
    assert error_of(client, "GET", path, TOKEN)[0] == 404


@pytest.mark.parametrize(
    "path",
    [
        *("/v1/../api/requests", "/v1/%2e%2e/api/status", "/v1//api/requests"),
        *("/assets/../api/requests", "/assets/%2e%2e/api/status", "/assets//api/requests", "/assets/..%2fmetrics"),
        *("/v1%2F../api/status", "/v1%2Fapi%2Frequests", "/assets%2F../api/status", "/assets%2f..%2Fapi%2Fstatus"),
    ],
)
def test_open_paths_do_not_lead_to_protected_ones(path: str) -> None:
    assert error_of(client_of(token="hunter2"), "GET", path) == (404, "not_found")


@pytest.mark.parametrize(
    "value",
    ["", "hunter2", "Basic hunter2", "Bearer", "Bearer  ", "Bearer hunter", "Bearer hunter22", "Bearer HUNTER2"],
)
def test_only_the_token_gives_access(value: str) -> None:
    assert error_of(client_of(token="hunter2"), "GET", "/api/status", ("authorization", value))[0] == 401


def test_the_scheme_bearer_is_case_insensitive() -> None:
    client = client_of(token="hunter2")
    assert client.get("/api/status", TOKEN).status == 200
    assert client.get("/api/status", ("authorization", "bearer hunter2")).status == 200


def test_two_authorization_headers_are_rejected() -> None:
    assert error_of(client_of(token="hunter2"), "GET", "/api/status", TOKEN, TOKEN)[0] == 401


@pytest.mark.parametrize("cookie", ["", "hunter2", "9999999999." + "0" * 64, "9999999999.", "\xff"])
def test_a_forged_cookie_gives_no_access(cookie: str) -> None:
    header = ("cookie", f"relaybook_session={cookie}")
    assert error_of(client_of(token="hunter2"), "GET", "/api/status", header)[0] == 401


def test_the_error_for_a_wrong_host_names_the_option_to_set() -> None:
    response = client_of().get("/api/status", ("host", "evil.example"))
    assert (response.status, response.json()["error"]["code"]) == (421, "wrong_host")
    assert "--dashboard-url" in response.json()["error"]["message"]


@pytest.mark.parametrize("path", ["/", "/api/requests", "/v1/models", "/metrics", "/openapi.json", "/nothing"])
def test_the_host_is_checked_everywhere_even_with_the_token(path: str) -> None:
    assert error_of(client_of(token="hunter2"), "GET", path, ("host", "evil.example"), TOKEN)[0] == 421


def test_a_missing_or_repeated_host_is_rejected() -> None:
    client = client_of()
    assert error_of(client, "GET", "/", ("host", ""))[0] == 421
    assert error_of(client, "GET", "/", ("host", "localhost"), ("host", "localhost"))[0] == 421


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
@pytest.mark.parametrize(
    "header", [("origin", "https://evil.example"), ("origin", "null"), ("sec-fetch-site", "cross-site")]
)
def test_pages_of_other_sites_cannot_change_anything(method: str, header: tuple[str, str]) -> None:
    assert error_of(client_of(), method, "/api/session", header, JSON) == (403, "cross_site")


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize("destination", ["empty", "image", "iframe"])
def test_pages_of_other_sites_cannot_run_queries(site: str, destination: str) -> None:
    """They could not see the response, but could measure how long a search takes, and keep the dashboard busy."""
    headers = ("sec-fetch-site", site), ("sec-fetch-dest", destination)
    assert error_of(client_of(), "GET", "/api/requests", *headers) == (403, "cross_site")
    assert client_of().get("/healthz", *headers).status == 200


@pytest.mark.parametrize(
    "headers",
    [
        [("sec-fetch-site", "cross-site"), ("sec-fetch-dest", "document")],
        [("sec-fetch-site", "same-origin"), ("sec-fetch-dest", "empty")],
        [("sec-fetch-site", "none"), ("sec-fetch-dest", "document")],
    ],
)
def test_links_of_other_sites_and_the_dashboards_own_page_can_read(headers: list[tuple[str, str]]) -> None:
    assert client_of().get("/api/requests", *headers).status == 200


def test_no_origin_gets_cors_headers() -> None:
    response = client_of().get("/api/status", ("origin", "https://evil.example"))
    assert not [name for name, _ in response.headers if name.startswith("access-control")]
    assert response.header("cross-origin-resource-policy") == "same-origin"


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""])
def test_only_json_bodies_are_accepted(kind: str) -> None:
    assert error_of(client_of(), "POST", "/api/session", ("content-type", kind)) == (415, "not_json")


def test_a_large_body_is_rejected() -> None:
    response = client_of().request("POST", "/api/session", JSON, body=b" " * (auth.MAX_BODY_BYTES + 1))
    assert (response.status, response.json()["error"]["code"]) == (413, "body_too_large")


def test_a_body_that_does_not_arrive_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auth, "BODY_SECONDS", 0.01)
    messages: list[Message] = []

    async def receive() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Message) -> None:
        messages.append(message)

    asyncio.run(app_of()(scope_of("POST", "/api/session", [JSON]), receive, send))
    assert messages[0]["status"] == 408


@pytest.mark.parametrize("target", ["/logs/api/status", "/api/status"])
@pytest.mark.parametrize("host", ["a.example", "127.0.0.1:4101"])
def test_requests_with_and_without_the_sub_path_are_served(target: str, host: str) -> None:
    assert client_of(dashboard_url="https://a.example/logs").get(target, ("host", host)).status == 200


@pytest.mark.parametrize(
    "target", ["/logsapi/status", "/logs/logs/api/status", "/LOGS/api/status", "/%2Flogs/api/status"]
)
def test_a_path_that_resembles_the_sub_path_is_not_found(target: str) -> None:
    assert client_of(dashboard_url="https://a.example/logs").get(target).status == 404


@pytest.mark.parametrize("target", ["/logs/api/status", "/logs", "/logs/", "/logs/metrics"])
def test_the_sub_path_does_not_bypass_the_token(target: str) -> None:
    assert client_of(token="hunter2", dashboard_url="https://a.example/logs").get(target).status == 401


def test_websockets_are_closed() -> None:
    messages: list[Message] = []

    async def send(message: Message) -> None:
        messages.append(message)

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    scope: dict[str, Any] = scope_of("GET", "/api/live", []) | {"type": "websocket"}
    asyncio.run(app_of()(scope, receive, send))
    assert [message["type"] for message in messages] == ["websocket.close"]


LOCAL = ApiOptions(relay_base_url="", version="")
PUBLIC = ApiOptions(relay_base_url="", version="", dashboard_url="https://Relaybook.corp.example/logs")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:4101", "[::1]:4101", "[::1]"])
def test_loopback_names_are_allowed_with_any_port(host: str) -> None:
    assert is_host_allowed(host, LOCAL)


OTHER_NAMES = ("evil.example", "localhost.evil.example", "evil.localhost", "127.0.0.1.nip.io", "127.1", "0.0.0.0")
MALFORMED = ("", "localhost:4101:1", "localhost@evil.example", "localhost/", "localhost ", "localhost:", "[::1", "::1")


@pytest.mark.parametrize("host", [*OTHER_NAMES, *MALFORMED, "lócalhost"])
def test_other_and_malformed_host_names_are_not_allowed(host: str) -> None:
    assert not is_host_allowed(host, LOCAL)


def test_the_public_host_is_allowed_too() -> None:
    assert is_host_allowed("relaybook.corp.example", PUBLIC)
    assert is_host_allowed("RELAYBOOK.corp.example:443", PUBLIC)
    assert is_host_allowed("localhost:4101", PUBLIC)
    assert not is_host_allowed("corp.example", PUBLIC)


def test_the_public_url_may_have_an_ipv6_literal() -> None:
    options = ApiOptions(relay_base_url="", version="", dashboard_url="http://[FD00::1]:4101")
    assert is_host_allowed("[fd00::1]:4101", options)
    assert is_origin_allowed("http://[fd00::1]:4101", "same-origin", "127.0.0.1:4101", options)


def test_a_host_name_is_lower_case_and_has_no_port() -> None:
    assert (host_name("A.Example:80"), host_name("[FD00::1]:80"), host_name("a b")) == ("a.example", "[fd00::1]", None)


def test_programs_without_an_origin_can_change_data() -> None:
    assert is_origin_allowed(None, None, "localhost:4101", LOCAL)


def test_the_dashboards_own_page_can_change_data() -> None:
    assert is_origin_allowed("http://localhost:4101", "same-origin", "localhost:4101", LOCAL)
    assert is_origin_allowed(None, "none", "localhost:4101", LOCAL)
    assert is_origin_allowed("http://localhost:4101", None, "LOCALHOST:4101", LOCAL)


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "", "http://localhost:3000", "http://localhost"])
def test_pages_of_other_origins_cannot_change_data(origin: str) -> None:
    assert not is_origin_allowed(origin, None, "localhost:4101", LOCAL)


@pytest.mark.parametrize("site", ["cross-site", "same-site", "whatever"])
def test_a_cross_site_request_is_rejected(site: str) -> None:
    assert not is_origin_allowed(None, site, "localhost:4101", LOCAL)
    assert not is_origin_allowed("http://localhost:4101", site, "localhost:4101", LOCAL)


def test_behind_a_proxy_that_replaces_the_host_the_public_origin_is_allowed() -> None:
    assert is_origin_allowed("https://relaybook.corp.example", "same-origin", "127.0.0.1:4101", PUBLIC)
    assert not is_origin_allowed("http://relaybook.corp.example", None, "127.0.0.1:4101", PUBLIC)
