"""Attacks on the dashboard's port: protected routes need the token, and served content cannot be abused.

The server has a token, which is required if others can connect to the port.
"""

import hmac
import json
from collections.abc import Iterator
from typing import Any, Final

import pytest
from tests.integration.hostile.dashboard import HEALTH, TOKEN, DashboardResponse, Visitor, routes, with_token
from tests.support.raw_http import PATH, QUESTION, send_raw, send_request
from tests.support.server import Server, SimulatedProvider, wait_until

from relaybook.api import session

ROUTES: Final = routes()
EVIL: Final = "http://evil.example"
JSON: Final = ("Content-Type", "application/json")
NAMESPACE: Final = "the-secret-namespace"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Return a server that has a token for the dashboard and one request in the log."""
    directory = tmp_path_factory.mktemp("guarded")
    with (
        SimulatedProvider(directory) as provider,
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


def is_open(method: str, path: str) -> bool:
    """Return whether a route needs no token.

    The routes without a token are health, sign-in, the page's files, and ``/v1``, which returns only an explanation.
    """
    return path in HEALTH or path.startswith(("/assets/", "/v1")) or (method, path) == ("POST", "/api/session")


def discloses_nothing(response: DashboardResponse) -> None:
    assert NAMESPACE.encode() not in response.body
    assert str(TOKEN).encode() not in response.body


# -- A2: deny by default -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_without_the_token_every_route_is_denied(anonymous: Visitor, method: str, path: str) -> None:
    response = anonymous.send(method, path, JSON)
    discloses_nothing(response)
    if is_open(method, path):
        assert response.status in (200, 404, 400, 503), response
        return
    assert response.status == 401
    assert response.header("www-authenticate") == 'Bearer realm="relaybook"'


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW"])
@pytest.mark.parametrize(
    "path", ["/api/export", "/api/requests/", "//api/requests", "/metrics/", "/new/route", "/API/status"]
)
def test_an_unknown_route_is_denied_too(anonymous: Visitor, method: str, path: str) -> None:
    response = anonymous.send(method, path, JSON)
    discloses_nothing(response)
    assert response.status == 401


@pytest.mark.parametrize(
    "path",
    ["/assets/../api/requests", "/healthz/../api/requests", "/v1/../api/requests", "/healthz%2f..%2fapi/requests"],
)
def test_no_public_path_leads_to_a_protected_one(anonymous: Visitor, path: str) -> None:
    response = anonymous.get(path)
    discloses_nothing(response)
    assert response.status in (401, 404)


@pytest.mark.parametrize(
    "headers",
    [
        [("Authorization", f"Bearer {TOKEN[:-1]}")],
        [("Authorization", f"Bearer {TOKEN}x")],
        [("Authorization", f"Bearer {TOKEN.upper()}")],
        [("Authorization", "Bearer")],
        [("Authorization", f"Basic {TOKEN}")],
        [("Authorization", TOKEN)],
        [("Authorization", f"Bearer {TOKEN}"), ("Authorization", "Bearer x")],
        [("X-Api-Key", TOKEN)],
        [("Cookie", f"relaybook_session={TOKEN}")],
        [("Cookie", f"relaybook_session=9999999999.{'0' * 64}")],
        [("Cookie", "relaybook_session=" + "9" * 5000)],
        [("X-Forwarded-For", "127.0.0.1"), ("X-Original-URL", "/healthz")],
    ],
    ids=str,
)
def test_only_the_exact_token_signs_in(anonymous: Visitor, headers: list[tuple[str, str]]) -> None:
    response = anonymous.get("/api/requests", *headers)
    discloses_nothing(response)
    assert (response.status, response.code) == (401, "not_signed_in")


def test_the_token_is_not_accepted_in_the_url(anonymous: Visitor) -> None:
    assert anonymous.get(f"/api/requests?token={TOKEN}").status == 401


def test_the_token_opens_protected_routes(signed_in: Visitor) -> None:
    """Without this test, the other tests would pass for a server that denies everything."""
    assert signed_in.json("/api/requests")["data"][0]["namespace"] == NAMESPACE


def test_token_and_cookie_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[Any] = []

    def compare(left: Any, right: Any) -> bool:
        compared.append((left, right))
        return True

    monkeypatch.setattr(hmac, "compare_digest", compare)
    assert session.is_token(b"wrong", TOKEN)
    assert session.is_session(f"99999999999.{'0' * 64}", TOKEN, 0)
    assert len(compared) == 2
    assert all(len(left) == len(right) for left, right in compared)


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


@pytest.mark.parametrize(("method", "path"), [each for each in ROUTES if each[1] not in HEALTH])
@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80"])
def test_no_route_accepts_a_foreign_host(signed_in: Visitor, method: str, path: str, host: str) -> None:
    response = signed_in.send(method, path, ("Host", host), JSON)
    discloses_nothing(response)
    assert response.status == 421


@pytest.mark.parametrize(("method", "path"), [each for each in ROUTES if each[0] not in ("GET", "HEAD")])
@pytest.mark.parametrize(
    "header",
    [
        ("Origin", EVIL),
        ("Origin", "null"),
        ("Origin", "http://127.0.0.1:1"),
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Site", "same-site"),
    ],
    ids=lambda header: ": ".join(header) if isinstance(header, tuple) else header,
)
def test_a_page_of_another_site_changes_nothing_even_when_signed_in(
    signed_in: Visitor, method: str, path: str, header: tuple[str, str]
) -> None:
    before = signed_in.json("/api/namespaces")
    body = json.dumps({"namespace": NAMESPACE, "pinned": True}).encode()
    response = signed_in.send(method, path, header, JSON, body=body)
    assert (response.status, response.code) == (403, "cross_site")
    assert signed_in.json("/api/namespaces") == before


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
def test_a_form_changes_nothing(signed_in: Visitor, kind: str) -> None:
    body = json.dumps({"namespace": NAMESPACE, "pinned": True}).encode()
    response = signed_in.send("PATCH", "/api/namespaces", ("Content-Type", kind), body=body)
    assert (response.status, response.code) == (415, "not_json")


@pytest.mark.parametrize("method", ["GET", "OPTIONS", "POST"])
def test_no_other_origin_may_read(signed_in: Visitor, method: str) -> None:
    wanted = ("Access-Control-Request-Method", "GET")
    for path in {path for _, path in ROUTES if path != "/api/live"}:
        response = signed_in.send(method, path, ("Origin", EVIL), wanted, JSON)
        assert not [name for name, _ in response.headers if name.startswith("access-control-")], path


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


@pytest.mark.parametrize(
    "name",
    [
        *("../secret", "..%2fsecret", "%2e%2e/secret", "%2e%2e%2f%2e%2e%2fsecret", "..%5csecret", "/etc/passwd"),
        *("%2fetc%2fpasswd", "....//secret", "..;/secret", "secret%00.js", ".", "..", "", "index.html"),
    ],
)
def test_no_file_name_leads_outside_the_pages_files(guarded: Server, anonymous: Visitor, name: str) -> None:
    response = anonymous.get(f"/assets/{name}")
    assert response.status in (401, 404)
    assert (guarded.data / "secret").read_bytes() not in response.body
    assert b"root:" not in response.body


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
