"""Test that ``Guard`` denies access by default, and who may request which route with which credential."""

import asyncio
from collections.abc import Iterator
from typing import Any, Final

import pytest
from starlette.responses import Response
from starlette.types import Message
from tests.support.api_log import app_of, client_of, log_of, record_of
from tests.support.api_routes import HEALTH, every_route, is_open, is_safe
from tests.support.asgi import Client, scope_of

from relaybook import clock
from relaybook.api import auth
from relaybook.api.auth import Guard, host_name, is_host_allowed, is_origin_allowed
from relaybook.api.options import ApiOptions
from relaybook.api.session import COOKIE, SESSION_SECONDS, make_session

SECRET: Final = "hunter2"
FEEDBACK_SECRET: Final = "only-feedback"
TOKEN: Final = ("authorization", f"Bearer {SECRET}")
JSON: Final = ("content-type", "application/json")
ROUTES: Final = every_route()

# -- the matrix: who may request which routes --------------------------------------------------------------------------

#: The groups of routes that differ in who may request them. ``reading`` and ``changing`` include all paths without a
#: route.
GROUPS: Final = ("health", "open reading", "open changing", "feedback", "reading", "changing")
OWN: Final = "127.0.0.1:4101"


def group_of(method: str, path: str) -> str:
    if path in HEALTH:
        return "health"
    if (method, path) == ("POST", "/api/requests/1/feedback"):
        return "feedback"
    group = "reading" if is_safe(method) else "changing"
    return f"open {group}" if is_open(method, path) else group


Headers = tuple[tuple[str, str], ...]
#: The error codes of the groups that are denied.
Denied = dict[str, str]

NOBODY: Final = dict.fromkeys(("feedback", "reading", "changing"), "not_signed_in")
FEEDBACK_ONLY: Final = dict.fromkeys(("reading", "changing"), "feedback_only")
WRONG_HOST: Final = dict.fromkeys(GROUPS[1:], "wrong_host")
NO_CHANGE: Final = dict.fromkeys(("open changing", "feedback", "changing"), "cross_site")
CROSS_SITE: Final = dict.fromkeys(GROUPS[1:], "cross_site")


def cookie(value: str) -> tuple[str, str]:
    return ("cookie", f"{COOKIE}={value}")


def bearer(token: str) -> tuple[str, str]:
    return ("authorization", f"Bearer {token}")


def session(token: str = SECRET, *, age: int = 0) -> tuple[str, str]:
    return cookie(make_session(token, clock.wall_us() // 1_000_000 - age))


#: What the credentials of a request give access to. The dashboard has a token and a feedback token.
CREDENTIALS: Final[dict[str, tuple[Headers, Denied]]] = {
    "nothing": ((), NOBODY),
    "the token": ((TOKEN,), {}),
    "the token, scheme in lower case": ((("authorization", f"bearer {SECRET}"),), {}),
    "a session cookie": ((session(),), {}),
    "an old and a new session cookie": ((("cookie", f"{session('old')[1]}; {session()[1]}"),), {}),
    "the feedback token": ((bearer(FEEDBACK_SECRET),), FEEDBACK_ONLY),
    "the feedback token and a session cookie": ((bearer(FEEDBACK_SECRET), session()), FEEDBACK_ONLY),
    "an empty Authorization": ((("authorization", ""),), NOBODY),
    "no scheme": ((("authorization", SECRET),), NOBODY),
    "another scheme": ((("authorization", f"Basic {SECRET}"),), NOBODY),
    "no token after the scheme": ((("authorization", "Bearer"),), NOBODY),
    "spaces after the scheme": ((bearer("  "),), NOBODY),
    "the token cut": ((bearer(SECRET[:-1]),), NOBODY),
    "the token and a character": ((bearer(f"{SECRET}x"),), NOBODY),
    "the token in upper case": ((bearer(SECRET.upper()),), NOBODY),
    "the token twice": ((TOKEN, TOKEN), NOBODY),
    "the token and another": ((TOKEN, bearer("x")), NOBODY),
    "the token in another header": ((("x-api-key", SECRET),), NOBODY),
    "an empty cookie": ((cookie(""),), NOBODY),
    "the token as cookie": ((cookie(SECRET),), NOBODY),
    "a forged cookie": ((cookie("9999999999." + "0" * 64),), NOBODY),
    "a cookie without a signature": ((cookie("9999999999."),), NOBODY),
    "a cookie of one byte": ((cookie("\xff"),), NOBODY),
    "a long cookie": ((cookie("9" * 5000),), NOBODY),
    "an expired session cookie": ((session(age=SESSION_SECONDS),), NOBODY),
    "a session cookie of another token": ((session("hunter3"),), NOBODY),
    "headers of a proxy": ((("x-forwarded-for", "127.0.0.1"), ("x-original-url", "/healthz")), NOBODY),
}
#: From where requests with a valid credential are denied nevertheless. The same holds if the dashboard has no token.
PLACES: Final[dict[str, tuple[Headers, Denied]]] = {
    "a foreign host": ((("host", "evil.example"),), WRONG_HOST),
    "a host that begins with a loopback address": ((("host", "127.0.0.1.evil.example"),), WRONG_HOST),
    "a host that begins with localhost": ((("host", "localhost.evil.example:80"),), WRONG_HOST),
    "an empty host": ((("host", ""),), WRONG_HOST),
    "two hosts": ((("host", OWN), ("host", OWN)), WRONG_HOST),
    "another origin": ((("origin", "https://evil.example"),), NO_CHANGE),
    "the origin null": ((("origin", "null"),), NO_CHANGE),
    "another port": ((("origin", "http://127.0.0.1:1"),), NO_CHANGE),
    "a link on another site": ((("sec-fetch-site", "cross-site"), ("sec-fetch-dest", "document")), NO_CHANGE),
    "a script of another site": ((("sec-fetch-site", "cross-site"), ("sec-fetch-dest", "empty")), CROSS_SITE),
    "a script of the same site": ((("sec-fetch-site", "same-site"), ("sec-fetch-dest", "empty")), CROSS_SITE),
    "an image on another site": ((("sec-fetch-site", "cross-site"), ("sec-fetch-dest", "image")), CROSS_SITE),
    "an image on the same site": ((("sec-fetch-site", "same-site"), ("sec-fetch-dest", "image")), CROSS_SITE),
    "a frame on another site": ((("sec-fetch-site", "cross-site"), ("sec-fetch-dest", "iframe")), CROSS_SITE),
    "a frame on the same site": ((("sec-fetch-site", "same-site"), ("sec-fetch-dest", "iframe")), CROSS_SITE),
    "an old browser on another site": ((("sec-fetch-site", "cross-site"),), CROSS_SITE),
    "the dashboard's own page": (
        (("origin", f"http://{OWN}"), ("sec-fetch-site", "same-origin"), ("sec-fetch-dest", "empty")),
        {},
    ),
    "the address bar": ((("sec-fetch-site", "none"), ("sec-fetch-dest", "document")), {}),
}


def matrix() -> Iterator[Any]:
    for name, (headers, denied) in CREDENTIALS.items():
        yield pytest.param(SECRET, headers, denied, id=name)
    for name, (headers, denied) in PLACES.items():
        yield pytest.param(SECRET, (*headers, TOKEN), denied, id=f"the token, from {name}")
        yield pytest.param(None, headers, denied, id=f"no token needed, from {name}")
    yield pytest.param(None, (), {}, id="no token needed")
    yield pytest.param(None, (bearer(FEEDBACK_SECRET),), FEEDBACK_ONLY, id="no token needed, the feedback token")


def guarded(token: str | None) -> Client:
    """Return a client of an application that responds with 204 to every request that ``Guard`` admits."""
    options = ApiOptions(relay_base_url="", version="", token=token, feedback_token=FEEDBACK_SECRET)
    return Client(Guard(Response(status_code=204), options))


STATUS: Final = {"not_signed_in": 401, "feedback_only": 403, "cross_site": 403, "wrong_host": 421, "": 204}


@pytest.mark.parametrize(("token", "headers", "denied"), list(matrix()))
def test_who_may_request_which_routes(token: str | None, headers: Headers, denied: Denied) -> None:
    """The message of a failure has all routes with a wrong response."""
    client = guarded(token)
    wrong = {}
    for method, path in [*ROUTES, ("GET", "/nothing"), ("POST", "/nothing"), ("BREW", "/nothing")]:
        response = client.request(method, path, JSON, *headers, body=b"{}")
        code = response.json()["error"]["code"] if response.body else ""
        expected = denied.get(group_of(method, path), "")
        if (code, response.status) != (expected, STATUS[expected]):
            wrong[method, path] = f"{response.status} {code} instead of {STATUS[expected]} {expected}"
    assert wrong == {}


def test_every_group_of_routes_is_in_the_matrix() -> None:
    assert {group_of(method, path) for method, path in ROUTES} == set(GROUPS)


def test_the_list_of_routes_is_complete() -> None:
    paths = {"/api/requests", "/openapi.json", "/metrics", "/", "/requests", "/requests/1", "/assets/x"}
    assert {("GET", path) for path in paths} <= set(ROUTES)


def test_every_route_of_the_application_requires_the_token() -> None:
    """``Guard`` is in front of all routes."""
    client = client_of(token=SECRET)
    unprotected = [
        (method, path)
        for method, path in ROUTES
        if (client.request(method, path, JSON, body=b"{}").status == 401) == is_open(method, path)
    ]
    assert unprotected == []


def error_of(client: Client, method: str, target: str, *headers: tuple[str, str]) -> tuple[int, str]:
    response = client.request(method, target, *headers)
    return response.status, response.json()["error"]["code"]


def test_a_request_without_the_token_is_told_the_scheme() -> None:
    response = client_of(token=SECRET).get("/api/status")
    assert response.header("www-authenticate") == 'Bearer realm="relaybook"'


def test_paths_that_do_not_exist_require_the_token() -> None:
    client = client_of(token=SECRET)
    for path in (
        *("/nothing", "/healthz/", "/healthz/..", "/healthz%2F", "/HEALTHZ", "//healthz", "/v1x", "/api/session/"),
        *("/docs", "/assets", "/assetsx", "//assets/x", "/api/assets/x", "/API/status", "/metrics/", "/api/requests/"),
    ):
        assert error_of(client, "GET", path) == (401, "not_signed_in"), path
        assert error_of(client, "GET", path, TOKEN)[0] == 404, path


def test_open_paths_do_not_lead_to_protected_ones() -> None:
    client = client_of(token=SECRET)
    for path in (
        *("/v1/../api/requests", "/v1/%2e%2e/api/status", "/v1//api/requests"),
        *("/assets/../api/requests", "/assets/%2e%2e/api/status", "/assets//api/requests", "/assets/..%2fmetrics"),
        *("/v1%2F../api/status", "/v1%2Fapi%2Frequests", "/assets%2F../api/status", "/assets%2f..%2Fapi%2Fstatus"),
    ):
        assert error_of(client, "GET", path) == (404, "not_found"), path


def test_the_token_is_not_accepted_in_the_url() -> None:
    assert client_of(token=SECRET).get(f"/api/requests?token={SECRET}").status == 401


def test_the_error_for_a_wrong_host_names_the_option_to_set() -> None:
    response = client_of().get("/api/status", ("host", "evil.example"))
    assert (response.status, response.json()["error"]["code"]) == (421, "wrong_host")
    assert "--dashboard-url" in response.json()["error"]["message"]


def test_no_other_origin_may_read_a_response() -> None:
    client = client_of(log_of(record_of(1)))
    wanted = (("origin", "https://evil.example"), ("access-control-request-method", "GET"), JSON)
    for path in sorted({path for _, path in ROUTES} - {"/api/live"}):
        for method in ("GET", "OPTIONS", "POST"):
            response = client.request(method, path, *wanted)
            assert not [name for name, _ in response.headers if name.startswith("access-control")], (method, path)
    assert client.get("/api/status").header("cross-origin-resource-policy") == "same-origin"


def test_only_json_bodies_are_accepted() -> None:
    for kind in (
        *("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"),
        *("application/jsonp", ""),
    ):
        for method, path in (("POST", "/api/session"), ("PATCH", "/api/namespaces")):
            assert error_of(client_of(), method, path, ("content-type", kind)) == (415, "not_json"), (kind, path)


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


def test_requests_with_and_without_the_sub_path_are_served() -> None:
    client = client_of(dashboard_url="https://a.example/logs")
    for target in ("/logs/api/status", "/api/status"):
        for host in ("a.example", "127.0.0.1:4101"):
            assert client.get(target, ("host", host)).status == 200, (target, host)


def test_a_path_that_resembles_the_sub_path_is_not_found() -> None:
    client = client_of(dashboard_url="https://a.example/logs")
    for target in ("/logsapi/status", "/logs/logs/api/status", "/LOGS/api/status", "/%2Flogs/api/status"):
        assert client.get(target).status == 404, target


def test_the_sub_path_does_not_bypass_the_token() -> None:
    client = client_of(token=SECRET, dashboard_url="https://a.example/logs")
    for target in ("/logs/api/status", "/logs", "/logs/", "/logs/metrics"):
        assert client.get(target).status == 401, target


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


def test_loopback_names_are_allowed_with_any_port() -> None:
    for host in ("localhost", "LOCALHOST:1", "127.0.0.1:4101", "[::1]:4101", "[::1]"):
        assert is_host_allowed(host, LOCAL), host


OTHER_NAMES = ("evil.example", "localhost.evil.example", "evil.localhost", "127.0.0.1.nip.io", "127.1", "0.0.0.0")
MALFORMED = ("", "localhost:4101:1", "localhost@evil.example", "localhost/", "localhost ", "localhost:", "[::1", "::1")


def test_other_and_malformed_host_names_are_not_allowed() -> None:
    assert [host for host in (*OTHER_NAMES, *MALFORMED, "lócalhost") if is_host_allowed(host, LOCAL)] == []


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


def test_pages_of_other_origins_cannot_change_data() -> None:
    for origin in ("https://evil.example", "null", "", "http://localhost:3000", "http://localhost"):
        assert not is_origin_allowed(origin, None, "localhost:4101", LOCAL), origin


def test_a_cross_site_request_is_rejected() -> None:
    for site in ("cross-site", "same-site", "whatever"):
        assert not is_origin_allowed(None, site, "localhost:4101", LOCAL), site
        assert not is_origin_allowed("http://localhost:4101", site, "localhost:4101", LOCAL), site


def test_behind_a_proxy_that_replaces_the_host_the_public_origin_is_allowed() -> None:
    assert is_origin_allowed("https://relaybook.corp.example", "same-origin", "127.0.0.1:4101", PUBLIC)
    assert not is_origin_allowed("http://relaybook.corp.example", None, "127.0.0.1:4101", PUBLIC)
