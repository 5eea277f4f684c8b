"""Nothing is answered that the guard has not let in: it denies by default."""

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
#: All that is open without a token; adding to it is a decision.
OPEN = {
    ("GET", "/healthz"),
    ("HEAD", "/healthz"),
    ("GET", "/readyz"),
    ("HEAD", "/readyz"),
    ("POST", "/api/session"),
    # The open program's own files: whoever wants them has them.
    ("GET", "/assets/x"),
    ("HEAD", "/assets/x"),
    *(
        (method, path)
        for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
        for path in ("/v1", "/v1/x")
    ),
}


def every_route() -> list[tuple[str, str]]:
    found = []
    for route in app_of().routes:
        assert isinstance(route, Route), "a new kind of route: say here how it is asked"
        path = (
            route.path.replace("{id:path}", "x")
            .replace("{path:path}", "x")
            .replace("{id}", "x")
            .replace("{name}", "x")
            .replace("{field}", "model")
        )
        found += [(method, path) for method in sorted(route.methods or ())]
    return found


def refused(client: Client, method: str, target: str, *headers: tuple[str, str]) -> tuple[int, str]:
    answer = client.ask(method, target, *headers)
    return answer.status, answer.json()["error"]["code"]


@pytest.mark.parametrize(("method", "path"), every_route())
def test_every_route_is_closed_without_the_token(method: str, path: str) -> None:
    answer = client_of(token="hunter2").ask(method, path, JSON, body=b"{}")
    assert (answer.status == 401) == ((method, path) not in OPEN)


def test_the_routes_are_found_at_all() -> None:
    paths = {"/api/requests", "/openapi.json", "/metrics", "/", "/requests", "/requests/x", "/assets/x"}
    assert {("GET", path) for path in paths} <= set(every_route())


@pytest.mark.parametrize(
    "path",
    [
        *("/nothing", "/healthz/", "/healthz/..", "/healthz%2F", "/HEALTHZ", "//healthz", "/v1x", "/api/session/"),
        *("/docs", "/assets", "/assetsx", "//assets/x", "/api/assets/x"),
    ],
)
def test_paths_that_do_not_exist_are_closed_too(path: str) -> None:
    client = client_of(token="hunter2")
    assert refused(client, "GET", path) == (401, "not_signed_in")
    assert refused(client, "GET", path, TOKEN)[0] == 404


@pytest.mark.parametrize(
    "path",
    [
        *("/v1/../api/requests", "/v1/%2e%2e/api/status", "/v1//api/requests"),
        *("/assets/../api/requests", "/assets/%2e%2e/api/status", "/assets//api/requests", "/assets/..%2fmetrics"),
    ],
)
def test_the_open_path_does_not_lead_to_closed_ones(path: str) -> None:
    assert refused(client_of(token="hunter2"), "GET", path) == (404, "not_found")


@pytest.mark.parametrize(
    "sent", ["", "hunter2", "Basic hunter2", "Bearer", "Bearer  ", "Bearer hunter", "Bearer hunter22", "Bearer HUNTER2"]
)
def test_only_the_token_opens(sent: str) -> None:
    assert refused(client_of(token="hunter2"), "GET", "/api/status", ("authorization", sent))[0] == 401


def test_the_token_opens_under_any_spelling_of_bearer() -> None:
    client = client_of(token="hunter2")
    assert client.get("/api/status", TOKEN).status == 200
    assert client.get("/api/status", ("authorization", "bearer hunter2")).status == 200


def test_two_authorizations_are_none() -> None:
    assert refused(client_of(token="hunter2"), "GET", "/api/status", TOKEN, TOKEN)[0] == 401


@pytest.mark.parametrize("cookie", ["", "hunter2", "9999999999." + "0" * 64, "9999999999.", "\xff"])
def test_a_made_up_cookie_does_not_open(cookie: str) -> None:
    header = ("cookie", f"relaybook_session={cookie}")
    assert refused(client_of(token="hunter2"), "GET", "/api/status", header)[0] == 401


def test_a_refused_host_says_what_to_add() -> None:
    answer = client_of().get("/api/status", ("host", "evil.example"))
    assert (answer.status, answer.json()["error"]["code"]) == (421, "wrong_host")
    assert "--dashboard-url" in answer.json()["error"]["message"]


@pytest.mark.parametrize("path", ["/", "/api/requests", "/v1/models", "/metrics", "/openapi.json", "/nothing"])
def test_the_host_is_checked_everywhere_even_with_the_token(path: str) -> None:
    assert refused(client_of(token="hunter2"), "GET", path, ("host", "evil.example"), TOKEN)[0] == 421


def test_no_host_or_two_are_refused() -> None:
    client = client_of()
    assert refused(client, "GET", "/", ("host", ""))[0] == 421
    assert refused(client, "GET", "/", ("host", "localhost"), ("host", "localhost"))[0] == 421


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
@pytest.mark.parametrize(
    "header", [("origin", "https://evil.example"), ("origin", "null"), ("sec-fetch-site", "cross-site")]
)
def test_pages_of_other_sites_change_nothing(method: str, header: tuple[str, str]) -> None:
    assert refused(client_of(), method, "/api/session", header, JSON) == (403, "cross_site")


def test_no_origin_is_ever_told_that_it_may_read() -> None:
    answer = client_of().get("/api/status", ("origin", "https://evil.example"))
    assert not [name for name, _ in answer.headers if name.startswith("access-control")]
    assert answer.header("cross-origin-resource-policy") == "same-origin"


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""])
def test_bodies_are_json_alone(kind: str) -> None:
    assert refused(client_of(), "POST", "/api/session", ("content-type", kind)) == (415, "not_json")


def test_a_large_body_is_refused() -> None:
    answer = client_of().ask("POST", "/api/session", JSON, body=b" " * (auth.MAX_BODY_BYTES + 1))
    assert (answer.status, answer.json()["error"]["code"]) == (413, "body_too_large")


def test_a_body_that_does_not_arrive_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auth, "BODY_SECONDS", 0.01)
    sent: list[Message] = []

    async def receive() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(app_of()(scope_of("POST", "/api/session", [JSON]), receive, send))
    assert sent[0]["status"] == 408


@pytest.mark.parametrize("target", ["/logs/api/status", "/api/status"])
@pytest.mark.parametrize("host", ["a.example", "127.0.0.1:4101"])
def test_requests_come_with_the_sub_path_or_without(target: str, host: str) -> None:
    assert client_of(dashboard_url="https://a.example/logs").get(target, ("host", host)).status == 200


@pytest.mark.parametrize(
    "target", ["/logsapi/status", "/logs/logs/api/status", "/LOGS/api/status", "/%2Flogs/api/status"]
)
def test_what_only_resembles_the_sub_path_is_not_found(target: str) -> None:
    assert client_of(dashboard_url="https://a.example/logs").get(target).status == 404


@pytest.mark.parametrize("target", ["/logs/api/status", "/logs", "/logs/", "/logs/metrics"])
def test_the_sub_path_does_not_get_around_the_token(target: str) -> None:
    assert client_of(token="hunter2", dashboard_url="https://a.example/logs").get(target).status == 401


def test_websockets_are_closed() -> None:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    scope: dict[str, Any] = scope_of("GET", "/api/live", []) | {"type": "websocket"}
    asyncio.run(app_of()(scope, receive, send))
    assert [message["type"] for message in sent] == ["websocket.close"]


LOCAL = ApiOptions(relay_base_url="", version="")
OUTSIDE = ApiOptions(relay_base_url="", version="", dashboard_url="https://Relaybook.corp.example/logs")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:4101", "[::1]:4101", "[::1]"])
def test_loopback_names_are_allowed_with_any_port(host: str) -> None:
    assert is_host_allowed(host, LOCAL)


ELSEWHERE = ("evil.example", "localhost.evil.example", "evil.localhost", "127.0.0.1.nip.io", "127.1", "0.0.0.0")
MALFORMED = ("", "localhost:4101:1", "localhost@evil.example", "localhost/", "localhost ", "localhost:", "[::1", "::1")


@pytest.mark.parametrize("host", [*ELSEWHERE, *MALFORMED, "lócalhost"])
def test_other_names_and_malformed_ones_are_not(host: str) -> None:
    assert not is_host_allowed(host, LOCAL)


def test_the_outside_host_is_allowed_beside_them() -> None:
    assert is_host_allowed("relaybook.corp.example", OUTSIDE)
    assert is_host_allowed("RELAYBOOK.corp.example:443", OUTSIDE)
    assert is_host_allowed("localhost:4101", OUTSIDE)
    assert not is_host_allowed("corp.example", OUTSIDE)


def test_an_outside_address_may_be_an_ipv6_literal() -> None:
    options = ApiOptions(relay_base_url="", version="", dashboard_url="http://[FD00::1]:4101")
    assert is_host_allowed("[fd00::1]:4101", options)
    assert is_origin_allowed("http://[fd00::1]:4101", "same-origin", "127.0.0.1:4101", options)


def test_a_host_name_is_lower_case_and_has_no_port() -> None:
    assert (host_name("A.Example:80"), host_name("[FD00::1]:80"), host_name("a b")) == ("a.example", "[fd00::1]", None)


def test_programs_that_send_no_origin_may_change_things() -> None:
    assert is_origin_allowed(None, None, "localhost:4101", LOCAL)


def test_our_own_page_may_change_things() -> None:
    assert is_origin_allowed("http://localhost:4101", "same-origin", "localhost:4101", LOCAL)
    assert is_origin_allowed(None, "none", "localhost:4101", LOCAL)
    assert is_origin_allowed("http://localhost:4101", None, "LOCALHOST:4101", LOCAL)


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "", "http://localhost:3000", "http://localhost"])
def test_pages_of_other_origins_may_not(origin: str) -> None:
    assert not is_origin_allowed(origin, None, "localhost:4101", LOCAL)


@pytest.mark.parametrize("site", ["cross-site", "same-site", "whatever"])
def test_a_browser_that_says_cross_site_is_believed(site: str) -> None:
    assert not is_origin_allowed(None, site, "localhost:4101", LOCAL)
    assert not is_origin_allowed("http://localhost:4101", site, "localhost:4101", LOCAL)


def test_behind_a_proxy_that_replaces_the_host_the_outside_origin_is_ours() -> None:
    assert is_origin_allowed("https://relaybook.corp.example", "same-origin", "127.0.0.1:4101", OUTSIDE)
    assert not is_origin_allowed("http://relaybook.corp.example", None, "127.0.0.1:4101", OUTSIDE)


NOW = 1_800_000_000


def test_only_the_token_is_the_token() -> None:
    assert auth.is_token("geheim-ü".encode(), "geheim-ü")
    for wrong in (b"", b"geheim", b"geheim-", b"GEHEIM-\xc3\xbc"):
        assert not auth.is_token(wrong, "geheim-ü")


def test_a_cookie_is_good_for_thirty_days() -> None:
    value = auth.make_session("secret", NOW)
    assert auth.is_session(value, "secret", NOW)
    assert auth.is_session(value, "secret", NOW + 30 * 86400 - 1)
    assert not auth.is_session(value, "secret", NOW + 30 * 86400)


def test_a_cookie_does_not_contain_the_token_and_dies_with_it() -> None:
    value = auth.make_session("secret", NOW)
    assert "secret" not in value
    assert not auth.is_session(value, "another", NOW)


@pytest.mark.parametrize("change", ["later", "cut", "empty", "unicode", "signed"])
def test_a_cookie_that_was_changed_is_worthless(change: str) -> None:
    expiry, _, proof = auth.make_session("secret", NOW).partition(".")
    changed = {
        "later": f"{int(expiry) + 1}.{proof}",
        "cut": f"{expiry}.{proof[:-1]}",
        "empty": "",
        "unicode": f"²{expiry}.{proof}",
        "signed": f"-{expiry}.{proof}",
    }[change]
    assert not auth.is_session(changed, "secret", NOW)


def test_all_cookies_of_our_name_are_found() -> None:
    headers = ["a=1; relaybook_session=x; relaybook_session2=n", "relaybook_session=y"]
    assert auth.cookie_values(headers) == ["x", "y"]


def test_cookies_are_for_our_page_alone() -> None:
    assert auth.set_cookie("v", 5, "", False) == ("relaybook_session=v; Path=/; Max-Age=5; HttpOnly; SameSite=Strict")
    outside = auth.set_cookie("v", 5, "/logs", True)
    assert outside.endswith("; Path=/logs; Max-Age=5; HttpOnly; SameSite=Strict; Secure")
