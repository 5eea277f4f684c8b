"""Attacks on the dashboard's port of a real server: access is denied, and served content cannot be abused.

The server has a token, which is required if others can connect to the port. ``tests/unit/api/test_auth.py`` has the
matrix of who may request which route. The tests here send a sample of the matrix to every route of a server.
"""

import json
from collections.abc import Iterator
from typing import Final

import pytest
from tests.integration.hostile.dashboard import TOKEN, DashboardResponse, Visitor, with_token
from tests.support.api_routes import HEALTH, every_route, is_open, is_safe
from tests.support.raw_http import PATH, QUESTION, send_raw, send_request
from tests.support.server import Server, SimulatedProvider, wait_until

ROUTES: Final = every_route()
#: Requests without a route.
UNKNOWN: Final = [
    (method, path)
    for path in ("/api/export/", "/api/requests/", "//api/requests", "/metrics/", "/new/route", "/API/status")
    for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW")
]
JSON: Final = ("Content-Type", "application/json")
NAMESPACE: Final = "the-secret-namespace"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Return a server that has a token for the dashboard and one request in the log."""
    directory = tmp_path_factory.mktemp("guarded")
    with (
        SimulatedProvider() as provider,
        Server(directory, provider.url, env=with_token()) as server,
    ):
        assert send_request(server.port, f"Service-Namespace: {NAMESPACE}".encode()).status == 200
        wait_until(lambda: Visitor(server, TOKEN).json("/api/requests")["data"], 60)
        yield server


@pytest.fixture
def anonymous(guarded: Server) -> Visitor:
    return Visitor(guarded)


@pytest.fixture
def signed_in(guarded: Server) -> Visitor:
    return Visitor(guarded, TOKEN)


def discloses_nothing(response: DashboardResponse) -> None:
    assert NAMESPACE.encode() not in response.body
    assert str(TOKEN).encode() not in response.body


# -- A2: deny by default -----------------------------------------------------------------------------------------------


def test_without_the_token_every_route_is_denied(anonymous: Visitor) -> None:
    for method, path in [*ROUTES, *UNKNOWN]:
        response = anonymous.send(method, path, JSON)
        discloses_nothing(response)
        if is_open(method, path):
            assert response.status in (200, 404, 400, 503), (method, path, response)
        else:
            assert response.status == 401, (method, path, response)
            assert response.header("www-authenticate") == 'Bearer realm="relaybook"', (method, path)


def test_no_public_path_leads_to_a_protected_one(anonymous: Visitor) -> None:
    """The server decodes paths before ``Guard`` reads them."""
    for path in (
        *("/assets/../api/requests", "/assets/%2e%2e/api/requests", "/assets/..%2fapi/requests", "/assets//api/status"),
        *("/v1/../api/requests", "/v1/%2e%2e/api/requests", "/v1//api/requests", "/v1%2F../api/requests"),
        *("/healthz/../api/requests", "/healthz%2f..%2fapi/requests"),
    ):
        response = anonymous.get(path)
        discloses_nothing(response)
        assert response.status in (401, 404), (path, response)


def test_the_token_opens_protected_routes(signed_in: Visitor) -> None:
    """Without this test, the other tests would pass for a server that denies everything."""
    assert signed_in.json("/api/requests")["data"][0]["namespace"] == NAMESPACE


def test_the_relays_port_serves_nothing_of_the_log(guarded: Server) -> None:
    for _, path in ROUTES:
        if path not in (*HEALTH, "/") and not path.startswith("/v1"):
            response = send_request(guarded.port, f"Authorization: Bearer {TOKEN}".encode(), body=b"", path=path)
            assert (response.status, response.error["code"]) == (404, "not_found"), path


def test_the_token_is_in_no_response_and_no_output(guarded: Server, signed_in: Visitor) -> None:
    for method, path in ROUTES:
        if method == "GET" and path != "/api/live":
            assert TOKEN.encode() not in signed_in.send(method, path).body, path
    assert TOKEN not in guarded.stdout + guarded.stderr


# -- A3: pages of other sites ------------------------------------------------------------------------------------------


def test_no_route_accepts_a_foreign_host(signed_in: Visitor) -> None:
    for method, path in ROUTES:
        if path not in HEALTH:
            response = signed_in.send(method, path, ("Host", "127.0.0.1.evil.example"), JSON)
            discloses_nothing(response)
            assert response.status == 421, (method, path, response)


def test_a_page_of_another_site_changes_nothing_even_when_signed_in(signed_in: Visitor) -> None:
    before = signed_in.json("/api/namespaces")
    body = json.dumps({"namespace": NAMESPACE, "pinned": not before["data"][0]["pinned"]}).encode()
    for method, path in ROUTES:
        for header in (("Origin", "http://evil.example"), ("Sec-Fetch-Site", "cross-site")):
            if not is_safe(method):
                response = signed_in.send(method, path, header, JSON, body=body)
                assert (response.status, response.code) == (403, "cross_site"), (method, path, header)
    assert signed_in.send("PATCH", "/api/namespaces", ("Content-Type", "text/plain"), body=body).status == 415
    assert signed_in.json("/api/namespaces") == before
    assert signed_in.send("PATCH", "/api/namespaces", JSON, body=body).status == 200
    assert signed_in.json("/api/namespaces") != before, "the body would change nothing from any page"


def test_the_cookie_is_restricted_to_the_dashboards_own_page(anonymous: Visitor) -> None:
    response = anonymous.send("POST", "/api/session", JSON, body=json.dumps({"token": TOKEN}).encode())
    assert response.status == 200
    value, *flags = (response.header("set-cookie") or "").split("; ")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(flags)
    assert not [flag for flag in flags if flag.lower().startswith("domain")]
    assert TOKEN not in value
    assert anonymous.get("/api/requests", ("Cookie", value)).status == 200
    assert (
        anonymous.get("/api/requests", ("Cookie", value[:-1] + "0" if value[-1] != "0" else value[:-1] + "1")).status
        == 401
    )


# -- A1, A6: what is served --------------------------------------------------------------------------------------------


def test_no_file_name_leads_outside_the_pages_files(guarded: Server, anonymous: Visitor) -> None:
    for name in (
        *("../secret", "..%2fsecret", "%2e%2e/secret", "%2e%2e%2f%2e%2e%2fsecret", "..%5csecret", "/etc/passwd"),
        *("%2fetc%2fpasswd", "....//secret", "..;/secret", "secret%00.js", ".", "..", "", "index.html"),
    ):
        response = anonymous.get(f"/assets/{name}")
        assert response.status in (401, 404), name
        assert (guarded.data / "secret").read_bytes() not in response.body, name
        assert b"root:" not in response.body, name


def test_range_requests_are_ignored(signed_in: Visitor) -> None:
    page = signed_in.get("/requests").body.decode()
    asset = page.partition("assets/")[2].partition('"')[0]
    record = signed_in.json("/api/requests")["data"][0]["id"]
    for path in (f"/assets/{asset}", f"/api/requests/{record}/request", "/openapi.json"):
        whole = signed_in.get(path)
        ranged = signed_in.get(path, ("Range", "bytes=0-0," * 1000 + "1-1"), ("If-Range", '"x"'))
        assert (ranged.status, len(ranged.body)) == (200, len(whole.body)), path
        assert ranged.header("accept-ranges") is None
        assert ranged.header("content-range") is None


def test_a_downloaded_body_is_neither_executed_nor_sniffed(guarded: Server, signed_in: Visitor) -> None:
    html = (b"Sim-Content-Type: text/html", b"Sim-Body: html")
    relayed = send_request(guarded.port, *html, body=QUESTION, path=PATH)
    assert b"<html" in relayed.body
    record = relayed.header("service-request-id")
    wait_until(lambda: signed_in.get(f"/api/requests/{record}/response").status == 200, 60)
    for side in ("request", "response"):
        response = signed_in.get(f"/api/requests/{record}/{side}")
        assert (response.header("content-type") or "").startswith(("text/plain", "application/octet-stream"))
        assert (response.header("content-disposition") or "").startswith("attachment; filename=")
        assert response.header("x-content-type-options") == "nosniff"
        assert response.header("referrer-policy") == "no-referrer"
        assert "default-src 'none'" in (response.header("content-security-policy") or "")
        assert response.header("cross-origin-resource-policy") == "same-origin"


def test_malformed_requests_write_nothing_to_the_operators_log(guarded: Server) -> None:
    """Otherwise, a visitor without a token could fill the log with messages of uvicorn."""
    port = int(guarded.dashboard.rpartition(":")[2])
    upgrade = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n"
    assert send_raw(port, upgrade, seconds=60).startswith(b"HTTP/1.1 401")
    assert send_raw(port, b"\x16\x03\x01\r\n\r\n", seconds=60).startswith(b"HTTP/1.1 400")
    assert "uvicorn" not in guarded.stderr
