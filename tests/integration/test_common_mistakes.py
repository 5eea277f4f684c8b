"""For each common mistake, the response says what to change. The log also shows the mistake if that is possible."""

import http.client
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import openai
import pytest
from tests.support.raw_http import QUESTION, at, parse, send_raw, send_request
from tests.support.server import Server, SimulatedProvider, wait_until
from tests.support.simulated_upstream import Ledger, World

MESSAGES: Any = [{"role": "user", "content": "Hello"}]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    directory = tmp_path_factory.mktemp("slips")
    with SimulatedProvider() as provider, Server(directory, provider.url) as server:
        yield World(server, provider)


def client(base_url: str, **options: Any) -> openai.OpenAI:
    return openai.OpenAI(**{"base_url": base_url, "api_key": "sk-slip-1234567890", "max_retries": 0, **options})


def not_found(base_url: str) -> openai.NotFoundError:
    with client(base_url) as sdk, pytest.raises(openai.NotFoundError) as caught:
        sdk.chat.completions.create(model="gpt-4o-mini", messages=MESSAGES)
    return caught.value


@pytest.mark.parametrize("path", ["", "/", "/api", "/v2", "/openai"])
def test_a_base_url_without_v1_gets_an_error_with_the_right_one(world: World, path: str) -> None:
    ledger = Ledger(world.provider)
    error = not_found(world.server.base_url.removesuffix("/v1") + path)
    assert error.code == "not_found"
    if path != "/api":
        assert f"Use {world.server.base_url}" in error.message
        assert "lacks /v1" in error.message
    assert ledger.requests() == []


def test_the_suggested_base_url_works(world: World) -> None:
    suggested = not_found(world.server.base_url.removesuffix("/v1")).message.rpartition("Use ")[2].strip().rstrip("'}.")
    with client(suggested) as sdk:
        response = sdk.chat.completions.create(model="gpt-4o-mini", messages=MESSAGES)
    assert response.choices[0].message.content


def test_a_prefix_before_v1_gets_the_reason(world: World) -> None:
    response = parse(send_raw(world.server.port, at(b"/relay/v1/chat/completions", b"POST")))
    assert response.status == 404
    assert response.error["message"] == (
        "The path begins with /relay, but the relay expects /v1. Remove /relay from the base URL, or let the reverse "
        "proxy remove /relay."
    )


def test_a_path_without_v1_is_counted_and_not_recorded(world: World) -> None:
    before = world.server.get("/api/status")["refused"].get("not_found", 0)
    response = parse(send_raw(world.server.port, at(b"/chat/completions", b"POST")))
    assert (response.status, response.header("service-request-id")) == (404, None)
    assert response.error["message"] == (
        f"The path is not a path of the relay. Your base URL probably lacks /v1. Use {world.server.base_url}"
    )
    wait_until(lambda: world.server.get("/api/status")["refused"].get("not_found", 0) > before)


@pytest.mark.parametrize("target", [b"/chat/completions", b"http://other.example/v1/models"])
def test_a_refused_head_request_gets_no_body(world: World, target: bytes) -> None:
    head, _, body = send_raw(world.server.port, at(target, b"HEAD")).partition(b"\r\n\r\n")
    assert head.startswith((b"HTTP/1.1 404", b"HTTP/1.1 400"))
    assert b"Service-Error: " in head
    assert body == b""


def test_a_misspelled_header_is_reported_to_the_client_and_in_the_log(world: World) -> None:
    with client(world.server.base_url, default_headers={"Service-Namspace": "production"}) as sdk:
        raw = sdk.chat.completions.with_raw_response.create(model="gpt-4o-mini", messages=MESSAGES)
    assert raw.headers["service-namespace"] == "default"
    code, _, message = raw.headers["service-warning"].partition("; ")
    assert code == "unknown_header"
    assert "Did you mean Service-Namespace?" in message
    record = world.server.record(raw.headers["service-request-id"])
    assert record["warnings"] == [{"code": code, "message": message}]


def test_a_base_url_with_the_dashboards_port_gets_an_error_with_the_relays(world: World) -> None:
    error = not_found(f"{world.server.dashboard}/v1")
    assert error.code == "not_found"
    assert world.server.base_url in error.message


@pytest.mark.parametrize("path", ["/v1", "/v1/models", "/v1/chat/completions", "/v1/anything/else?x=1"])
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS", "DELETE"])
def test_every_path_of_the_relay_at_the_dashboards_port_names_the_relay(world: World, path: str, method: str) -> None:
    connection = http.client.HTTPConnection(urlsplit(world.server.dashboard).netloc, timeout=10)
    connection.request(method, path, headers={"Authorization": "Bearer sk-slip-1234567890"})
    response = connection.getresponse()
    error = json.loads(response.read())["error"]
    connection.close()
    assert response.status == 404
    assert set(error) == {"message", "type", "param", "code"}
    assert world.server.base_url in error["message"]


def test_an_unknown_path_of_the_dashboard_gets_the_start_of_api_paths(world: World) -> None:
    connection = http.client.HTTPConnection(urlsplit(world.server.dashboard).netloc, timeout=10)
    connection.request("GET", "/requests.json")
    error = json.loads(connection.getresponse().read())["error"]
    connection.close()
    assert "API paths begin with /api." in error["message"]


def test_a_base_url_with_the_whole_path_gets_advice(world: World) -> None:
    ledger = Ledger(world.provider)
    error = not_found(f"{world.server.base_url}/chat/completions")
    (forwarded,) = ledger.requests()
    assert forwarded["target"] == "/v1/chat/completions/chat/completions"
    record = world.server.record(error.response.headers["service-request-id"])
    assert (record["status"], record["failed"]) == (404, True)
    (advice,) = record["advice"]
    assert advice["code"] == "doubled_path"
    assert len(advice["message"]) > 20


def test_requests_for_the_log_at_the_relays_port_get_the_dashboards_address(world: World) -> None:
    for path in (b"/api/requests", b"/requests/1"):
        message = parse(send_raw(world.server.port, at(path))).error["message"]
        assert world.server.dashboard in message


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_browser_at_the_relays_address_gets_an_explanation(world: World, method: str) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", world.server.port, timeout=10)
    connection.request(method, "/", headers={"Accept": "text/html", "Cookie": "a=b"})
    response = connection.getresponse()
    text = response.read().decode()
    connection.close()
    assert response.status == 200
    assert (response.headers["Content-Type"] or "").startswith("text/plain")
    if method == "GET":
        assert "Relaybook" in text
        assert world.server.base_url in text
        assert world.server.dashboard in text


def test_a_browser_at_the_dashboards_address_is_redirected_to_the_log(world: World) -> None:
    connection = http.client.HTTPConnection(urlsplit(world.server.dashboard).netloc, timeout=10)
    connection.request("GET", "/", headers={"Accept": "text/html"})
    response = connection.getresponse()
    response.read()
    assert (response.status, response.headers["Location"]) == (307, "/requests")
    connection.request("GET", "/requests", headers={"Accept": "text/html"})
    page = connection.getresponse()
    text = page.read().decode()
    connection.close()
    assert page.status == 200
    assert (page.headers["Content-Type"] or "").startswith("text/html")
    assert "<title>Relaybook</title>" in text


def test_a_missing_key_gets_the_upstreams_own_response(world: World) -> None:
    body = b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%b"
    sent = body % (len(QUESTION), QUESTION)
    response = parse(send_raw(world.server.port, sent))
    direct = parse(send_raw(urlsplit(world.provider.url).port or 0, sent))
    assert (response.status, response.body) == (401, direct.body)
    assert response.header("service-error") is None
    record = world.server.record(response.header("service-request-id") or "")
    assert (record["status"], record["failed"], record["key"]) == (401, True, None)


def test_an_invalid_key_gets_the_upstreams_own_response(world: World) -> None:
    with (
        client(world.server.base_url, api_key="sk-invalid-1234567890") as sdk,
        pytest.raises(openai.AuthenticationError) as caught,
    ):
        sdk.models.list()
    assert caught.value.code == "invalid_api_key"


def test_a_slash_after_the_base_url_is_accepted(world: World) -> None:
    with client(f"{world.server.base_url}/") as sdk:
        raw = sdk.chat.completions.with_raw_response.create(model="gpt-4o-mini", messages=MESSAGES)
    assert world.server.record(raw.headers["service-request-id"])["path"] == "/v1/chat/completions"


def test_temperature_and_top_p_together_are_relayed_with_advice(world: World) -> None:
    body = json.dumps({**json.loads(QUESTION), "temperature": 1.5, "top_p": 0.5}).encode()
    response = send_request(world.server.port, body=body)
    assert response.status == 200
    record = world.server.record(response.header("service-request-id") or "")
    assert {warning["code"] for warning in record["advice"]} == {"temperature_and_top_p", "temperature_above_1"}
