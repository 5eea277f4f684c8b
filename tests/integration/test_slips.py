"""The slips people make first: each is answered with what to change, and the log shows what it can."""

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
    with SimulatedProvider(directory) as provider, Server(directory, provider.url) as server:
        yield World(server, provider)


def client(base_url: str, **options: Any) -> openai.OpenAI:
    return openai.OpenAI(**{"base_url": base_url, "api_key": "sk-slip-1234567890", "max_retries": 0, **options})


def not_found(base_url: str) -> openai.NotFoundError:
    with client(base_url) as caller, pytest.raises(openai.NotFoundError) as caught:
        caller.chat.completions.create(model="gpt-4o-mini", messages=MESSAGES)
    return caught.value


@pytest.mark.parametrize("path", ["", "/", "/api", "/v2", "/openai"])
def test_a_base_url_without_v1_is_answered_with_the_right_one(world: World, path: str) -> None:
    ledger = Ledger(world.provider)
    error = not_found(world.server.base_url.removesuffix("/v1") + path)
    assert error.code == "not_found"
    if path != "/api":
        assert f"Use {world.server.base_url}" in error.message
        assert "lacks /v1" in error.message
    assert ledger.requests() == []


def test_the_right_base_url_told_is_one_that_works(world: World) -> None:
    told = not_found(world.server.base_url.removesuffix("/v1")).message.rpartition("Use ")[2].strip().rstrip("'}.")
    with client(told) as caller:
        answer = caller.chat.completions.create(model="gpt-4o-mini", messages=MESSAGES)
    assert answer.choices[0].message.content


def test_a_path_without_v1_is_counted_and_not_recorded(world: World) -> None:
    before = world.server.get("/api/status")["refused"].get("not_found", 0)
    answer = parse(send_raw(world.server.port, at(b"/chat/completions", b"POST")))
    assert (answer.status, answer.header("service-request-id")) == (404, None)
    assert answer.error["message"] == (f"Not a path of the relay: your base URL lacks /v1. Use {world.server.base_url}")
    wait_until(lambda: world.server.get("/api/status")["refused"].get("not_found", 0) > before)


def test_a_misspelt_header_is_told_to_the_caller_and_in_the_log(world: World) -> None:
    with client(world.server.base_url, default_headers={"Service-Namspace": "production"}) as caller:
        raw = caller.chat.completions.with_raw_response.create(model="gpt-4o-mini", messages=MESSAGES)
    assert raw.headers["service-namespace"] == "default"
    code, _, message = raw.headers["service-warning"].partition("; ")
    assert code == "unknown_header"
    assert "Did you mean Service-Namespace?" in message
    record = world.server.record(raw.headers["service-request-id"])
    assert record["warnings"] == [{"code": code, "message": message}]


def test_a_base_url_at_the_dashboards_port_is_answered_with_the_relays(world: World) -> None:
    error = not_found(f"{world.server.dashboard}/v1")
    assert error.code == "not_found"
    assert world.server.base_url in error.message


@pytest.mark.parametrize("path", ["/v1", "/v1/models", "/v1/chat/completions", "/v1/anything/else?x=1"])
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS", "DELETE"])
def test_every_path_of_the_relay_at_the_dashboards_port_names_the_relay(world: World, path: str, method: str) -> None:
    connection = http.client.HTTPConnection(urlsplit(world.server.dashboard).netloc, timeout=10)
    connection.request(method, path, headers={"Authorization": "Bearer sk-slip-1234567890"})
    answer = connection.getresponse()
    error = json.loads(answer.read())["error"]
    connection.close()
    assert answer.status == 404
    assert set(error) == {"message", "type", "param", "code"}
    assert world.server.base_url in error["message"]


def test_a_base_url_with_the_whole_path_gets_advice(world: World) -> None:
    ledger = Ledger(world.provider)
    error = not_found(f"{world.server.base_url}/chat/completions")
    (crossed,) = ledger.requests()
    assert crossed["target"] == "/v1/chat/completions/chat/completions"
    record = world.server.record(error.response.headers["service-request-id"])
    assert (record["status"], record["failed"]) == (404, True)
    (advice,) = record["advice"]
    assert advice["code"] == "doubled_path"
    assert len(advice["message"]) > 20


def test_the_log_asked_for_at_the_relays_port_names_the_dashboard(world: World) -> None:
    for path in (b"/api/requests", b"/requests/1"):
        message = parse(send_raw(world.server.port, at(path))).error["message"]
        assert world.server.dashboard in message


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_browser_at_the_relays_address_learns_what_this_is(world: World, method: str) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", world.server.port, timeout=10)
    connection.request(method, "/", headers={"Accept": "text/html", "Cookie": "a=b"})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    assert answer.status == 200
    assert (answer.headers["Content-Type"] or "").startswith("text/plain")
    if method == "GET":
        assert "Relaybook" in text
        assert world.server.base_url in text
        assert world.server.dashboard in text


def test_a_browser_at_the_dashboards_address_is_led_to_the_log(world: World) -> None:
    connection = http.client.HTTPConnection(urlsplit(world.server.dashboard).netloc, timeout=10)
    connection.request("GET", "/", headers={"Accept": "text/html"})
    answer = connection.getresponse()
    answer.read()
    assert (answer.status, answer.headers["Location"]) == (307, "/requests")
    connection.request("GET", "/requests", headers={"Accept": "text/html"})
    page = connection.getresponse()
    text = page.read().decode()
    connection.close()
    assert page.status == 200
    assert (page.headers["Content-Type"] or "").startswith("text/html")
    assert "<title>Relaybook</title>" in text


def test_a_forgotten_key_gets_the_providers_own_answer(world: World) -> None:
    body = b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%b"
    sent = body % (len(QUESTION), QUESTION)
    answer = parse(send_raw(world.server.port, sent))
    direct = parse(send_raw(urlsplit(world.provider.url).port or 0, sent))
    assert (answer.status, answer.body) == (401, direct.body)
    assert answer.header("service-error") is None
    record = world.server.record(answer.header("service-request-id") or "")
    assert (record["status"], record["failed"], record["key"]) == (401, True, None)


def test_an_invalid_key_gets_the_providers_own_answer(world: World) -> None:
    with (
        client(world.server.base_url, api_key="sk-invalid-1234567890") as caller,
        pytest.raises(openai.AuthenticationError) as caught,
    ):
        caller.models.list()
    assert caught.value.code == "invalid_api_key"


def test_a_slash_behind_the_base_url_does_no_harm(world: World) -> None:
    with client(f"{world.server.base_url}/") as caller:
        raw = caller.chat.completions.with_raw_response.create(model="gpt-4o-mini", messages=MESSAGES)
    assert world.server.record(raw.headers["service-request-id"])["path"] == "/v1/chat/completions"


def test_temperature_and_top_p_together_are_relayed_with_advice(world: World) -> None:
    body = json.dumps({**json.loads(QUESTION), "temperature": 1.5, "top_p": 0.5}).encode()
    answer = send_request(world.server.port, body=body)
    assert answer.status == 200
    record = world.server.record(answer.header("service-request-id") or "")
    assert {note["code"] for note in record["advice"]} == {"temperature_and_top_p", "temperature_above_1"}
