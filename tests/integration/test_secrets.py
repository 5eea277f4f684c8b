"""A caller's key is nowhere but on its way to the provider: whatever its shape, and however the request ends.

Every byte of the data directory is read (what is compressed in it, too), both outputs, /metrics and what the API tells.
``test_no_bodies`` has more shapes of keys; here are the endings.
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
from tests.integration.hostile.secrets import SHAPES, Shape, found, keys_in, new_key, with_key
from tests.support.api_log import app_of
from tests.support.asgi import Client
from tests.support.raw_http import QUESTION, parse, send_raw
from tests.support.server import Server, SimulatedProvider, wait_until
from tests.support.simulated_upstream import World, put_script

from relaybook.log.store.memory import MemoryStore
from relaybook.server.operator_log import JsonLines

SMALL: Final = ("--segment-bytes", "1MiB", "--max-request-bytes", "100KiB")
STREAM: Final = json.dumps({**json.loads(QUESTION), "stream": True}).encode()
#: How a request ends, and what to send for it: header lines, path, body.
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
    "a misspelt tag": (("Service-Kye: 1",), "/v1/chat/completions", QUESTION),
}
_NOT_RECORDED: Final = ("no such path", "a websocket", "a malformed header", "no HTTP at all", "a path that climbs")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    directory = tmp_path_factory.mktemp("secrets")
    with SimulatedProvider(directory) as provider, Server(directory, provider.url, *SMALL) as server:
        yield World(server, provider)


@dataclass(frozen=True)
class Sent:
    """All shapes of keys sent to all endings: which keys, what the relay said to each, and where they were found."""

    keys: dict[str, list[str]]
    heads: dict[str, list[bytes]]
    at_once: dict[str, set[str]]
    recorded: dict[str, set[str]]


@pytest.fixture(scope="module")
def sent(world: World) -> Sent:
    keys: dict[str, list[str]] = {}
    heads: dict[str, list[bytes]] = {}
    for ending, (lines, path, body) in ENDINGS.items():
        keys[ending] = [new_key(shape) for shape in SHAPES]
        made = zip(SHAPES, keys[ending], strict=True)
        wire = [with_key(shape, key, "Connection: close", *lines, path=path, body=body) for shape, key in made]
        heads[ending] = [send_raw(world.server.port, each, seconds=60).partition(b"\r\n\r\n")[0] for each in wire]
    at_once = found(world.server)
    expected = len(SHAPES) * (len(ENDINGS) - len(_NOT_RECORDED))
    wait_until(lambda: len(world.server.records()) >= expected, 60)
    return Sent(keys, heads, at_once, found(world.server))


@pytest.mark.parametrize("ending", ENDINGS)
def test_no_key_stays_anywhere_however_the_request_ends(sent: Sent, ending: str) -> None:
    for key, shape, head in zip(sent.keys[ending], SHAPES, sent.heads[ending], strict=True):
        (core,) = keys_in(key)
        assert head.startswith(b"HTTP/1.1 "), shape.what
        assert core.encode() not in head, shape.what
        for places in (sent.at_once, sent.recorded):
            assert [place for place, keys in places.items() if core in keys] == [], shape.what


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape.echoed], ids=lambda shape: shape.what)
def test_a_key_that_the_provider_repeats_is_masked_in_the_log_alone(world: World, shape: Shape) -> None:
    key = new_key(shape)
    body = json.dumps({"error": {"message": f"Incorrect API key provided: {key}."}}, ensure_ascii=False).encode()
    script = {
        "status_line": "HTTP/1.1 401 Unauthorized",
        "headers": [["content-type", "application/json"]],
        "body": base64.b64encode(body).decode(),
    }
    put_script(world.provider, "repeats", script)
    sent = with_key(shape, key, "Connection: close", "Sim-Script: repeats", body=QUESTION)
    answer = parse(send_raw(world.server.port, sent, seconds=60))
    assert answer.body == body
    request_id = answer.header("service-request-id") or ""
    record = world.server.record(request_id, 60)
    assert "Incorrect API key" in record["error_message"]
    assert keys_in(json.dumps(record)) == set()
    assert keys_in(world.server.body(request_id, "response")) == set()
    assert keys_in(key) <= keys_in(body)


def test_a_cookie_of_the_provider_is_nowhere_even_if_another_begins_like_it(world: World) -> None:
    secret = new_key(Shape("cookie"))
    headers = [["set-cookie", "session=a"], ["set-cookie", f"session=a{secret}; HttpOnly"], ["x-auth-token", secret]]
    put_script(world.provider, "cookies", {"headers": headers, "body": base64.b64encode(b"{}").decode()})
    sent = with_key(SHAPES[0], "sk-any", "Connection: close", "Sim-Script: cookies", body=QUESTION)
    answer = parse(send_raw(world.server.port, sent, seconds=60))
    assert answer.all("set-cookie") == ["session=a", f"session=a{secret}; HttpOnly"]
    record = world.server.record(answer.header("service-request-id") or "", 60)
    assert keys_in(json.dumps(record)) == set()
    assert [place for place, keys in found(world.server).items() if keys_in(secret) & keys] == []


def test_keys_of_requests_that_run_when_the_relay_is_killed_stay_nowhere(tmp_path: Path) -> None:
    with SimulatedProvider(tmp_path) as provider, ExitStack() as stack:
        server = Server(tmp_path, provider.url, *SMALL)
        for shape in SHAPES:
            caller = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), 60))
            directives = ("Sim-Stream: yes", "Sim-Event-Interval-Ms: 200", "Sim-Answer-Tokens: 1000")
            signed = (
                () if shape.lines and shape.lines[0].startswith("Auth") else ("Authorization: Bearer sk-other-key",)
            )
            caller.sendall(with_key(shape, new_key(shape), *directives, *signed, body=STREAM))
            assert caller.recv(1 << 16).startswith(b"HTTP/1.1 ")
        with socket.create_connection(("127.0.0.1", server.port), 60) as half:
            half.sendall(with_key(SHAPES[0], new_key(SHAPES[0]), body=QUESTION)[:-5])
            wait_until(lambda: len(server.get("/api/requests")["running"]) >= 1, 60)
            os.kill(server.pid_of("relay"), 9)
            server.kill()
        assert found(server) == {}
        with Server(tmp_path, provider.url, *SMALL, data=server.data) as again:
            wait_until(lambda: len(again.records()) >= len(SHAPES), 60)
            assert found(again) == {}


class _Broken(MemoryStore):
    """A store with a defect."""

    def status(self) -> "object":  # type: ignore[override]  # it never answers
        raise RuntimeError("a defect")


def test_a_defect_of_the_dashboard_tells_no_key_to_the_caller_or_the_log() -> None:
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(JsonLines())
    log = logging.getLogger("relaybook.api")
    log.addHandler(handler)
    try:
        headers = (("Authorization", "Bearer canary-token"), ("Cookie", "relaybook_session=canary-cookie"))
        told = Client(app_of(_Broken(), token="canary-token"), headers).get("/api/status")  # a test's
    finally:
        log.removeHandler(handler)
    assert (told.status, told.json()["error"]["code"]) == (500, "internal")
    assert json.loads(written.getvalue())["event"] == "api_failed"
    assert "a defect" in written.getvalue()
    assert "a defect" not in told.body.decode()
    assert "canary" not in written.getvalue() + told.body.decode()
