"""The dashboard's port in front of people who were not asked: every door is shut, and what is shown cannot be abused.

A server of its own with a token, as an operator has it who opens the port to others.
"""

import hmac
import json
from collections.abc import Iterator
from typing import Any, Final

import pytest
from tests.integration.hostile.dashboard import HEALTH, TOKEN, Told, Visitor, routes, with_token
from tests.support.raw_http import PATH, QUESTION, send_request
from tests.support.server import Server, SimulatedProvider, wait_until

from relaybook.api import auth

ROUTES: Final = routes()
EVIL: Final = "http://evil.example"
JSON: Final = ("Content-Type", "application/json")
NAMESPACE: Final = "the-secret-namespace"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A dashboard with a token, and one request in its log."""
    directory = tmp_path_factory.mktemp("guarded")
    with (
        SimulatedProvider(directory) as provider,
        Server(directory, provider.url, env=with_token()) as server,
    ):
        assert send_request(server.port, f"Service-Namespace: {NAMESPACE}".encode()).status == 200
        wait_until(lambda: Visitor(server, TOKEN).json("/api/requests")["data"], 60)
        yield server


@pytest.fixture
def stranger(guarded: Server) -> Visitor:
    return Visitor(guarded)


@pytest.fixture
def owner(guarded: Server) -> Visitor:
    return Visitor(guarded, TOKEN)


def is_open(method: str, path: str) -> bool:
    """What the contract leaves open: health, signing in, the page's own files, and ``/v1``, which only explains."""
    return path in HEALTH or path.startswith(("/assets/", "/v1")) or (method, path) == ("POST", "/api/session")


def tells_nothing(told: Told) -> None:
    assert NAMESPACE.encode() not in told.body
    assert str(TOKEN).encode() not in told.body


# -- A2: deny by default -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_a_stranger_gets_nothing_from_any_route(stranger: Visitor, method: str, path: str) -> None:
    told = stranger.ask(method, path, JSON)
    tells_nothing(told)
    if is_open(method, path):
        assert told.status in (200, 404, 400, 503), told
        return
    assert told.status == 401
    assert told.header("www-authenticate") == 'Bearer realm="relaybook"'


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW"])
@pytest.mark.parametrize(
    "path", ["/api/export", "/api/requests/", "//api/requests", "/metrics/", "/new/route", "/API/status"]
)
def test_a_route_that_does_not_exist_yet_is_closed_too(stranger: Visitor, method: str, path: str) -> None:
    told = stranger.ask(method, path, JSON)
    tells_nothing(told)
    assert told.status == 401


@pytest.mark.parametrize(
    "path",
    ["/assets/../api/requests", "/healthz/../api/requests", "/v1/../api/requests", "/healthz%2f..%2fapi/requests"],
)
def test_no_open_path_leads_to_a_closed_one(stranger: Visitor, path: str) -> None:
    told = stranger.get(path)
    tells_nothing(told)
    assert told.status in (401, 404)


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
def test_only_the_token_itself_signs_in(stranger: Visitor, headers: list[tuple[str, str]]) -> None:
    told = stranger.get("/api/requests", *headers)
    tells_nothing(told)
    assert (told.status, told.code) == (401, "not_signed_in")


def test_the_token_does_not_count_in_the_address(stranger: Visitor) -> None:
    assert stranger.get(f"/api/requests?token={TOKEN}").status == 401


def test_the_token_opens_what_was_closed(owner: Visitor) -> None:
    """The other tests are worth something only if this one passes."""
    assert owner.json("/api/requests")["data"][0]["namespace"] == NAMESPACE


def test_token_and_cookie_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[Any] = []

    def compare(one: Any, other: Any) -> bool:
        compared.append((one, other))
        return True

    monkeypatch.setattr(hmac, "compare_digest", compare)
    assert auth.is_token(b"wrong", TOKEN)
    assert auth.is_session(f"99999999999.{'0' * 64}", TOKEN, 0)
    assert len(compared) == 2
    assert all(len(one) == len(other) for one, other in compared)


def test_the_relays_port_serves_nothing_of_the_log(guarded: Server) -> None:
    for _, path in ROUTES:
        if path not in (*HEALTH, "/") and not path.startswith("/v1"):
            answer = send_request(guarded.port, f"Authorization: Bearer {TOKEN}".encode(), body=b"", path=path)
            assert (answer.status, answer.error["code"]) == (404, "not_found"), path


def test_the_token_is_in_no_answer_and_on_no_output(guarded: Server, owner: Visitor) -> None:
    for method, path in ROUTES:
        if method == "GET" and path != "/api/live":
            assert TOKEN.encode() not in owner.ask(method, path).body, path
    assert TOKEN not in guarded.stdout + guarded.stderr


# -- A3: pages of other sites --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "path"), [each for each in ROUTES if each[1] not in HEALTH])
@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80"])
def test_no_route_answers_to_another_name(owner: Visitor, method: str, path: str, host: str) -> None:
    told = owner.ask(method, path, ("Host", host), JSON)
    tells_nothing(told)
    assert told.status == 421


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
def test_a_page_of_another_site_changes_nothing_even_signed_in(
    owner: Visitor, method: str, path: str, header: tuple[str, str]
) -> None:
    before = owner.json("/api/namespaces")
    body = json.dumps({"namespace": NAMESPACE, "pinned": True}).encode()
    told = owner.ask(method, path, header, JSON, body=body)
    assert (told.status, told.code) == (403, "cross_site")
    assert owner.json("/api/namespaces") == before


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
def test_a_form_cannot_change_anything(owner: Visitor, kind: str) -> None:
    body = json.dumps({"namespace": NAMESPACE, "pinned": True}).encode()
    told = owner.ask("PATCH", "/api/namespaces", ("Content-Type", kind), body=body)
    assert (told.status, told.code) == (415, "not_json")


@pytest.mark.parametrize("method", ["GET", "OPTIONS", "POST"])
def test_no_other_origin_is_ever_allowed_to_read(owner: Visitor, method: str) -> None:
    wanted = ("Access-Control-Request-Method", "GET")
    for path in {path for _, path in ROUTES if path != "/api/live"}:
        told = owner.ask(method, path, ("Origin", EVIL), wanted, JSON)
        assert not [name for name, _ in told.headers if name.startswith("access-control-")], path


def test_the_cookie_is_for_our_own_page_alone(stranger: Visitor) -> None:
    told = stranger.ask("POST", "/api/session", JSON, body=json.dumps({"token": TOKEN}).encode())
    assert told.status == 200
    value, *flags = (told.header("set-cookie") or "").split("; ")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(flags)
    assert not [flag for flag in flags if flag.lower().startswith("domain")]
    assert TOKEN not in value
    assert stranger.get("/api/requests", ("Cookie", value)).status == 200
    assert (
        stranger.get("/api/requests", ("Cookie", value[:-1] + "0" if value[-1] != "0" else value[:-1] + "1")).status
        == 401
    )


# -- A1, A6: what is served ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        *("../secret", "..%2fsecret", "%2e%2e/secret", "%2e%2e%2f%2e%2e%2fsecret", "..%5csecret", "/etc/passwd"),
        *("%2fetc%2fpasswd", "....//secret", "..;/secret", "secret%00.js", ".", "..", "", "index.html"),
    ],
)
def test_no_name_of_a_file_leads_out_of_the_pages_files(guarded: Server, stranger: Visitor, name: str) -> None:
    told = stranger.get(f"/assets/{name}")
    assert told.status in (401, 404)
    assert (guarded.data / "secret").read_bytes() not in told.body
    assert b"root:" not in told.body


def test_no_answer_can_be_asked_for_in_ranges(owner: Visitor) -> None:
    page = owner.get("/requests").body.decode()
    asset = page.partition("assets/")[2].partition('"')[0]
    record = owner.json("/api/requests")["data"][0]["id"]
    for path in (f"/assets/{asset}", f"/api/requests/{record}/request", "/openapi.json"):
        whole = owner.get(path)
        ranged = owner.get(path, ("Range", "bytes=0-0," * 1000 + "1-1"), ("If-Range", '"x"'))
        assert (ranged.status, len(ranged.body)) == (200, len(whole.body)), path
        assert ranged.header("accept-ranges") is None
        assert ranged.header("content-range") is None


def test_a_downloaded_body_can_neither_run_nor_be_guessed(guarded: Server, owner: Visitor) -> None:
    html = (b"Sim-Content-Type: text/html", b"Sim-Body: html")
    answer = send_request(guarded.port, *html, body=QUESTION, path=PATH)
    assert b"<html" in answer.body
    record = answer.header("service-request-id")
    wait_until(lambda: owner.get(f"/api/requests/{record}/response").status == 200, 60)
    for side in ("request", "response"):
        told = owner.get(f"/api/requests/{record}/{side}")
        assert (told.header("content-type") or "").startswith(("text/plain", "application/octet-stream"))
        assert (told.header("content-disposition") or "").startswith("attachment; filename=")
        assert told.header("x-content-type-options") == "nosniff"
        assert told.header("referrer-policy") == "no-referrer"
        assert "default-src 'none'" in (told.header("content-security-policy") or "")
        assert told.header("cross-origin-resource-policy") == "same-origin"
