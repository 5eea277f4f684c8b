"""A client's key is sent to the upstream but stored nowhere, for all forms of keys and all ways a request can end.

The tests search every byte of the data directory, including compressed content. They also search standard output,
standard error, /metrics and the API. ``test_no_bodies`` has more forms of keys. This module covers the ways in which a
request can end.
"""

import base64
import io
import json
import logging
import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
from tests.integration.hostile.secrets import FORMS, KeyForm, found, keys_in, new_key, with_key
from tests.support.api_log import app_of
from tests.support.asgi import Client
from tests.support.each import check_each
from tests.support.memory_store import MemoryStore
from tests.support.raw_http import QUESTION, parse, send_raw, send_request
from tests.support.server import Server, SimulatedProvider, wait_until
from tests.support.simulated_upstream import World, put_script

from relaybook.server.operator_log import JsonFormatter

SMALL: Final = ("--segment-bytes", "1MiB", "--max-request-bytes", "100KiB")
STREAM: Final = json.dumps({**json.loads(QUESTION), "stream": True}).encode()
#: The ways in which a request can end, with the header lines, the path and the body to send for each.
ENDINGS: Final[dict[str, tuple[tuple[str, ...], str, bytes]]] = {
    "complete": ((), "/v1/chat/completions", QUESTION),
    "a stream to its end": ((), "/v1/chat/completions", STREAM),
    "a path that is not understood": ((), "/v1/echo", QUESTION),
    "refused by the provider": (("Sim-Status: 401",), "/v1/chat/completions", QUESTION),
    "refused with HTML": (("Sim-Status: 503", "Sim-Body: html"), "/v1/chat/completions", QUESTION),
    "reset before the answer": (("Sim-Break: head rst",), "/v1/chat/completions", QUESTION),
    "an answer that is not HTTP": (("Sim-Raw: bm9uc2Vuc2UNCg0K",), "/v1/chat/completions", QUESTION),
    "a stream that breaks": (("Sim-Break: event:3:5 rst",), "/v1/chat/completions", STREAM),
    "too large": ((), "/v1/chat/completions", b"x" * (200 << 10)),
    "no such path": ((), "/chat/completions", QUESTION),
    "a websocket": (("Connection: Upgrade", "Upgrade: websocket"), "/v1/realtime", b""),
    "a malformed header": (("X A: 1",), "/v1/chat/completions", QUESTION),
    "no HTTP at all": (("\x01",), "/v1/chat/completions", QUESTION),
    "a path that climbs": ((), "/v1/../chat", QUESTION),
    "without bodies": (("Service-Log: no-bodies",), "/v1/chat/completions", QUESTION),
    "a misspelled tag": (("Service-Kye: 1",), "/v1/chat/completions", QUESTION),
}
_NOT_RECORDED: Final = ("no such path", "a websocket", "a malformed header", "no HTTP at all", "a path that climbs")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    directory = tmp_path_factory.mktemp("secrets")
    with SimulatedProvider() as provider, Server(directory, provider.url, *SMALL) as server:
        yield World(server, provider)


@dataclass(frozen=True)
class Sent:
    """The results for all forms of keys and all endings: keys, response heads, and places in which keys were found."""

    keys: dict[str, list[str]]
    heads: dict[str, list[bytes]]
    at_once: dict[str, set[str]]
    recorded: dict[str, set[str]]


@pytest.fixture(scope="module")
def sent(world: World) -> Sent:
    keys: dict[str, list[str]] = {}
    heads: dict[str, list[bytes]] = {}
    for ending, (lines, path, body) in ENDINGS.items():
        keys[ending] = [new_key(form) for form in FORMS]
        keys_of = zip(FORMS, keys[ending], strict=True)
        wire = [with_key(form, key, "Connection: close", *lines, path=path, body=body) for form, key in keys_of]
        heads[ending] = [send_raw(world.server.port, each, seconds=60).partition(b"\r\n\r\n")[0] for each in wire]
    at_once = found(world.server)
    expected = len(FORMS) * (len(ENDINGS) - len(_NOT_RECORDED))
    wait_until(lambda: len(world.server.records()) >= expected, 60)
    return Sent(keys, heads, at_once, found(world.server))


@pytest.mark.parametrize("ending", ENDINGS)
def test_no_key_is_stored_however_the_request_ends(sent: Sent, ending: str) -> None:
    for key, form, head in zip(sent.keys[ending], FORMS, sent.heads[ending], strict=True):
        (core,) = keys_in(key)
        assert head.startswith(b"HTTP/1.1 "), form.what
        assert core.encode() not in head, form.what
        for places in (sent.at_once, sent.recorded):
            assert [place for place, keys in places.items() if core in keys] == [], form.what


def test_a_key_that_the_upstream_repeats_is_masked_only_in_the_log(world: World) -> None:
    ids: dict[str, str] = {}

    def check_response(form: KeyForm) -> None:
        key = new_key(form)
        body = json.dumps({"error": {"message": f"Incorrect API key provided: {key}."}}, ensure_ascii=False).encode()
        script = {
            "status_line": f"HTTP/1.1 401 No such key: {key if key.isascii() else '*'}",
            "headers": [["content-type", "application/json"]],
            "body": base64.b64encode(body).decode(),
        }
        put_script(world.provider, "repeats", script)
        sent = with_key(form, key, "Connection: close", "Sim-Script: repeats", body=QUESTION)
        response = parse(send_raw(world.server.port, sent, seconds=60))
        assert response.body == body
        assert keys_in(key) <= keys_in(body)
        ids[form.what] = response.header("service-request-id") or ""

    def check_record(form: KeyForm) -> None:
        record = world.server.record(ids[form.what], 60)
        assert "Incorrect API key" in record["error_message"]
        assert record["reason"].startswith("No such key: *")
        assert keys_in(json.dumps(record)) == set()
        assert keys_in(world.server.body(ids[form.what], "response")) == set()

    echoed = [form for form in FORMS if form.echoed]
    check_each(echoed, check_response, lambda form: form.what)
    check_each(echoed, check_record, lambda form: form.what)


def test_a_key_in_the_path_is_masked(world: World) -> None:
    key = new_key(KeyForm("bearer"))
    path = f"/v1/keys/{key}/models"
    sent = with_key(FORMS[1], key, "Connection: close", path=path)
    response = parse(send_raw(world.server.port, sent, seconds=60))
    record = world.server.record(response.header("service-request-id") or "", 60)
    assert record["path"] == f"/v1/keys/{'*' * len(key)}/models"
    assert keys_in(json.dumps(record)) == set()


def test_a_cookie_of_the_upstream_is_stored_nowhere_even_if_another_has_the_same_prefix(world: World) -> None:
    secret = new_key(KeyForm("cookie"))
    headers = [["set-cookie", "session=a"], ["set-cookie", f"session=a{secret}; HttpOnly"], ["x-auth-token", secret]]
    put_script(world.provider, "cookies", {"headers": headers, "body": base64.b64encode(b"{}").decode()})
    sent = with_key(FORMS[0], "sk-any", "Connection: close", "Sim-Script: cookies", body=QUESTION)
    response = parse(send_raw(world.server.port, sent, seconds=60))
    assert response.all("set-cookie") == ["session=a", f"session=a{secret}; HttpOnly"]
    record = world.server.record(response.header("service-request-id") or "", 60)
    assert keys_in(json.dumps(record)) == set()
    assert [place for place, keys in found(world.server).items() if keys_in(secret) & keys] == []


def test_keys_of_requests_running_when_the_relay_is_killed_are_stored_nowhere(tmp_path: Path) -> None:
    with SimulatedProvider() as provider, ExitStack() as stack:
        server = Server(tmp_path, provider.url, *SMALL)
        for form in FORMS:
            caller = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), 60))
            directives = ("Sim-Stream: yes", "Sim-Event-Interval-Ms: 200", "Sim-Answer-Tokens: 1000")
            signed_in = (
                () if form.lines and form.lines[0].startswith("Auth") else ("Authorization: Bearer sk-other-key",)
            )
            caller.sendall(with_key(form, new_key(form), *directives, *signed_in, body=STREAM))
            assert caller.recv(1 << 16).startswith(b"HTTP/1.1 ")
        with socket.create_connection(("127.0.0.1", server.port), 60) as half:
            half.sendall(with_key(FORMS[0], new_key(FORMS[0]), body=QUESTION)[:-5])
            wait_until(lambda: len(server.get("/api/requests")["running"]) >= 1, 60)
            os.kill(server.pid_of("relay"), 9)
            server.kill()
        assert found(server) == {}
        with Server(tmp_path, provider.url, *SMALL, data=server.data) as restarted:
            wait_until(lambda: len(restarted.records()) >= len(FORMS), 60)
            assert found(restarted) == {}


class _Broken(MemoryStore):
    """A store that raises an unexpected error."""

    def status(self) -> "object":  # type: ignore[override]  # it always raises
        raise RuntimeError("a defect")


def test_servers_with_the_same_fingerprint_secret_give_a_key_the_same_fingerprint(tmp_path: Path) -> None:
    keys = []
    with SimulatedProvider() as provider:
        for number, secret in enumerate(("a" * 32, "a" * 32, "b" * 32)):
            (tmp_path / str(number)).mkdir()
            variables = {**os.environ, "RELAYBOOK_FINGERPRINT_SECRET": secret}
            with Server(tmp_path / str(number), provider.url, env=variables) as server:
                response = send_request(server.port, b"Authorization: Bearer sk-one-key")
                keys.append(server.record(str(response.header("Service-Request-Id")))["key"])
                assert "set, not shown" in server.get("/api/status")["settings"]["fingerprint_secret"]
    assert keys[0] == keys[1] != keys[2]


def test_an_internal_error_of_the_dashboard_discloses_no_key() -> None:
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(JsonFormatter())
    log = logging.getLogger("relaybook.api")
    log.addHandler(handler)
    try:
        headers = (("Authorization", "Bearer canary-token"), ("Cookie", "relaybook_session=canary-cookie"))
        response = Client(app_of(_Broken(), token="canary-token"), headers).get("/api/status")  # used only in tests
    finally:
        log.removeHandler(handler)
    assert (response.status, response.json()["error"]["code"]) == (500, "internal")
    assert json.loads(written.getvalue())["event"] == "api_failed"
    assert "a defect" in written.getvalue()
    assert "a defect" not in response.body.decode()
    assert "canary" not in written.getvalue() + response.body.decode()
