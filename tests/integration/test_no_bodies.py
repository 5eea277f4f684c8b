"""No file, output or API response contains bodies of ``no-bodies`` requests or clients' keys.

The tests read every byte of every file in the data directory, including compressed content. Bodies pass through the
journal. A segment with bodies that must not be kept is sealed after ``seal_after`` seconds, and the bodies are erased
soon after that. Here, ``seal_after`` is one second instead of one minute.
"""

import base64
import http.client
import json
import os
import socket
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from tests.support.each import check_each
from tests.support.files import contents_below, raw_and_decompressed
from tests.support.long import sampled
from tests.support.raw_http import CHUNKED, PATH, Response, parse, request, send_raw
from tests.support.server import Server, SimulatedProvider, wait_until
from tests.support.simulated_upstream import World, put_script

GONE_WITHIN_SECONDS: Final = 30.0
SEAL_SOON: Final = ("--seal-after", "1")
NO_BODIES: Final = b"Service-Log: no-bodies"


def canary(marker: str) -> str:
    """Return a unique marker without characters that JSON or a URL would escape."""
    return f"canary{marker}{uuid4().hex}"


def places(data: Path, *markers: str) -> list[str]:
    """Return the files below a directory that contain any of the markers, in plain or compressed form."""
    wanted = [marker.encode() for marker in markers]
    return [
        name
        for name, content in contents_below(data)
        if any(marker in text for text in raw_and_decompressed(content) for marker in wanted)
    ]


def chat_body(text: str, **more: Any) -> bytes:
    return json.dumps({"model": "gpt-4o-mini", "messages": [{"role": "user", "content": text}], **more}).encode()


def send(world: World, body: bytes, *lines: bytes, path: str = PATH) -> Response:
    """Send a request on a new connection."""
    sent = request(
        b"Content-Type: application/json",
        b"Content-Length: %d" % len(body),
        b"Connection: close",
        *lines,
        first=f"POST {path} HTTP/1.1".encode(),
        body=body,
    )
    return parse(send_raw(world.server.port, sent))


def id_of(response: Response) -> str:
    return response.header("service-request-id") or ""


def put_response(world: World, name: str, status: str, content_type: str, body: bytes) -> None:
    """Store a response or a stream that the upstream sends to requests with the header ``Sim-Script: <name>``."""
    script = {
        "status_line": f"HTTP/1.1 {status}",
        "headers": [["content-type", content_type], ["x-request-id", f"req_{name}"]],
        "body": base64.b64encode(body).decode(),
        "framing": "chunked" if "stream" in content_type else "length",
    }
    put_script(world.provider, name, script)


def sse(text: str, **finish: Any) -> bytes:
    """Return a stream of two chunks. The first contains the whole text, and the second contains the usage."""
    head = {"id": "chatcmpl-scripted", "object": "chat.completion.chunk", "model": "gpt-4o-mini-2024-07-18"}
    delta = {**head, "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]}
    usage = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}
    last = {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": usage, **finish}
    return b"".join(b"data: %b\n\n" % json.dumps(event).encode() for event in (delta, last)) + b"data: [DONE]\n\n"


def plain_response(text: str) -> bytes:
    """Return the body of a response that is not a stream."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}
    head = {"id": "chatcmpl-scripted", "object": "chat.completion", "model": "gpt-4o-mini-2024-07-18"}
    return json.dumps({**head, "choices": [choice], "usage": usage}).encode()


@dataclass
class NoBodies:
    """A world with ``no-bodies`` requests, the ids of the requests, and the markers that must not be kept."""

    world: World
    ids: dict[str, str] = field(default_factory=dict)
    markers: list[str] = field(default_factory=list)

    def marker(self, what: str) -> str:
        marker = canary(what)
        self.markers.append(marker)
        return marker


def send_all_kinds(no_bodies: NoBodies, *lines: bytes) -> None:
    """Send requests of every kind, with bodies that must not be kept."""
    world = no_bodies.world
    namespace = b"Service-Namespace: discreet"
    put_response(world, "whole", "200 OK", "application/json", plain_response(no_bodies.marker("answer")))
    put_response(world, "stream", "200 OK", "text/event-stream", sse(no_bodies.marker("streamed")))
    error = {"message": f"You said {no_bodies.marker('error')}", "type": "invalid_request_error", "code": "bad_prompt"}
    put_response(world, "error", "400 Bad Request", "application/json", json.dumps({"error": error}).encode())
    event = {"error": {"message": no_bodies.marker("event"), "code": "bad_event"}}
    stream = sse(no_bodies.marker("before")).replace(b"data: [DONE]\n\n", b"data: %b\n\n" % json.dumps(event).encode())
    put_response(world, "event", "200 OK", "text/event-stream", stream)
    for name, more in {"whole": {}, "stream": {"stream": True}, "error": {}, "event": {"stream": True}}.items():
        body = chat_body(no_bodies.marker("prompt"), user="user-42", **more)
        response = send(world, body, namespace, b"Sim-Script: " + name.encode(), *lines)
        no_bodies.ids[name] = id_of(response)
    for path, text in {"/v1/embeddings": "embedded", "/v1/responses": "asked", "/v1/echo": "echoed"}.items():
        body = json.dumps({"model": "text-embedding-3-small", "input": no_bodies.marker(text)}).encode()
        no_bodies.ids[path] = id_of(send(world, body, namespace, *lines, path=path))
    body = chat_body(no_bodies.marker("broken"), stream=True)
    broken = request(b"Content-Length: %d" % len(body), namespace, b"Sim-Break: event:9:5", *lines, body=body)
    send_raw(world.server.port, broken)
    with socket.create_connection(("127.0.0.1", world.server.port), 15) as leaving:
        leaving.sendall(
            request(namespace, *lines, CHUNKED, body=b"40\r\n" + no_bodies.marker("cut").encode() + b"\r\n")
        )
    wait_until(lambda: len(world.server.records("namespace=discreet")) >= len(no_bodies.ids) + 2)


def assert_metadata_only(no_bodies: NoBodies) -> None:
    """Assert that the log has the metadata of each request, but no part of the request's bodies."""
    server = no_bodies.world.server
    for name, request_id in no_bodies.ids.items():
        record = server.record(request_id)
        assert (record["namespace"], record["body_state"]) == ("discreet", "no_bodies"), name
        assert (record["input_preview"], record["output_preview"], record["messages"]) == (
            None,
            None,
            record["messages"],
        )
        assert not record["messages"]
        assert record["request_bytes"] > 0
        for side in ("request", "response"):
            assert server.get(f"/api/requests/{request_id}/{side}")["error"]["code"] == "no_bodies"
        for marker in no_bodies.markers:
            assert marker not in json.dumps(record)
    for file_format in ("jsonl&bodies=true", "csv", "chat"):
        with urllib.request.urlopen(f"{server.dashboard}/api/export?namespace=discreet&format={file_format}") as file:
            exported = file.read().decode()
        assert not any(marker in exported for marker in no_bodies.markers)
        assert file_format == "chat" or all(request_id in exported for request_id in no_bodies.ids.values())
    for name in ("whole", "stream"):
        record = server.record(no_bodies.ids[name])
        assert (record["model"], record["response_model"]) == ("gpt-4o-mini", "gpt-4o-mini-2024-07-18")
        assert (record["input_tokens"], record["output_tokens"], record["finish_reason"]) == (9, 4, "stop")
        assert record["cost_usd"] > 0
        assert (record["user"], record["provider_request_id"]) == ("user-42", f"req_{name}")
        assert record["stream"] == (name == "stream")
    failed = server.record(no_bodies.ids["error"])
    assert (failed["status"], failed["error_code"], failed["error_message"]) == (400, "bad_prompt", None)
    event = server.record(no_bodies.ids["event"])
    assert (event["failed"], event["error_code"], event["error_message"]) == (True, "bad_event", None)


def assert_erased(data: Path, markers: list[str], seconds: float = GONE_WITHIN_SECONDS) -> None:
    """Assert that all markers are gone within this many seconds. The files are searched once a second."""
    next_look = 0.0
    found = ["not looked yet"]

    def search() -> bool:
        nonlocal next_look, found
        if time.monotonic() < next_look:
            return False
        found = places(data, *markers)
        next_look = time.monotonic() + 1.0
        return not found

    try:
        wait_until(search, seconds)
    except AssertionError:
        raise AssertionError(f"after {seconds} s still in {found}") from None


@pytest.fixture(scope="module")
def by_header(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NoBodies]:
    """Return a world in which each request asks for ``no-bodies`` with a header."""
    directory = tmp_path_factory.mktemp("no-bodies")
    with (
        SimulatedProvider() as provider,
        Server(directory, provider.url, "--price-as", "openai", *SEAL_SOON) as server,
    ):
        no_bodies = NoBodies(World(server, provider))
        send_all_kinds(no_bodies, NO_BODIES)
        yield no_bodies


@pytest.fixture(scope="module")
def by_setting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NoBodies]:
    """Return a world with a server that stores no bodies, even if a client asks for them."""
    directory = tmp_path_factory.mktemp("no-bodies-at-all")
    flags = ("--price-as", "openai", "--log", "no-bodies", *SEAL_SOON)
    with SimulatedProvider() as provider, Server(directory, provider.url, *flags) as server:
        no_bodies = NoBodies(World(server, provider))
        send_all_kinds(no_bodies, b"Service-Log: full")
        yield no_bodies


def test_the_search_of_the_data_directory_finds_bodies_that_are_stored(tmp_path: Path) -> None:
    """Without this test, the other tests would pass if the search found nothing."""
    with SimulatedProvider() as provider, Server(tmp_path, provider.url) as server:
        world = World(server, provider)
        late = canary("late")
        response = send(world, chat_body("word " * 500 + late))
        server.record(id_of(response))
        assert [place for place in places(server.data, late) if place.startswith("journal/")]
        server.stop()
        assert [place for place in places(server.data, late) if place.startswith("store/")]


def test_a_request_without_bodies_has_a_record_with_metadata_only(by_header: NoBodies) -> None:
    assert_metadata_only(by_header)


def test_a_server_without_bodies_stores_none_whatever_a_client_asks_for(by_setting: NoBodies) -> None:
    assert_metadata_only(by_setting)


def test_bodies_of_requests_without_bodies_are_soon_erased_from_disk(by_header: NoBodies) -> None:
    assert_erased(by_header.world.server.data, by_header.markers)


def test_bodies_on_a_server_without_bodies_are_soon_erased_from_disk(by_setting: NoBodies) -> None:
    assert_erased(by_setting.world.server.data, by_setting.markers)


def test_bodies_of_requests_without_bodies_are_neither_printed_nor_in_metrics(by_header: NoBodies) -> None:
    server = by_header.world.server
    output = server.stdout + server.stderr + server.metrics()
    assert not [marker for marker in by_header.markers if marker in output]


def test_a_long_slow_stream_without_bodies_leaves_nothing_although_its_segments_filled(tmp_path: Path) -> None:
    """Segments of 1 MiB fill up, so bodies of the stream are moved to the store before the stream ends."""
    with (
        SimulatedProvider() as provider,
        Server(tmp_path, provider.url, "--segment-bytes", "1MiB", "--price-as", "openai", *SEAL_SOON) as server,
    ):
        world = World(server, provider)
        markers = [canary("prompt"), canary("answer")]
        chunks = [sse(f"{markers[1]} {number}")[: -len(b"data: [DONE]\n\n")] for number in range(60)]
        script = {
            "headers": [["content-type", "text/event-stream"]],
            "body": base64.b64encode(b"".join(chunks) + b"data: [DONE]\n\n").decode(),
            "framing": "chunked",
            "chunk_sizes": [len(chunk) for chunk in chunks],
            "piece_sizes": [len(chunk) for chunk in chunks],
            "pause_ms": 60,
        }
        put_script(provider, "trickle", script)
        slow_stream = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        headers = {"Sim-Script": "trickle", "Service-Log": "no-bodies", "Authorization": "Bearer sk-trickling-caller"}
        slow_stream.request("POST", PATH, chat_body(markers[0], stream=True), headers)
        response = slow_stream.getresponse()
        rows: list[dict[str, Any]] = wait_until(lambda: server.get("/api/requests")["running"], what="running")
        visible = json.dumps(rows)
        for _ in range(12):
            send(world, chat_body("filler " * 20_000), b"Sim-Text: ok")
        visible += json.dumps(server.get("/api/requests"))
        received = response.read().decode()
        slow_stream.close()
        assert markers[1] in received
        assert not [marker for marker in markers if marker in visible]
        record = server.record(response.headers["Service-Request-Id"])
        assert (record["outcome"], record["body_state"], record["output_tokens"]) == ("complete", "no_bodies", 4)
        assert_erased(server.data, markers)
    assert places(server.data, *markers) == []


def test_a_request_without_bodies_that_was_running_when_all_processes_were_killed_leaves_nothing(
    tmp_path: Path,
) -> None:
    markers = [canary("prompt")]
    with SimulatedProvider() as provider:
        server = Server(tmp_path, provider.url)
        client_lines = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        headers = {"Sim-Event-Interval-Ms": "200", "Service-Log": "no-bodies", "Authorization": "Bearer sk-killed"}
        client_lines.request("POST", PATH, chat_body(markers[0], stream=True), headers)
        request_id = client_lines.getresponse().headers["Service-Request-Id"]
        os.kill(server.pid_of("relay"), 9)
        server.kill()
        client_lines.close()
        assert places(server.data, *markers)
        with Server(tmp_path, provider.url, *SEAL_SOON, data=server.data) as restarted:
            record = restarted.record(request_id, seconds=20)
            assert (record["outcome"], record["body_state"], record["input_preview"]) == (
                "interrupted",
                "no_bodies",
                None,
            )
            assert_erased(restarted.data, markers)


# -- keys ----------------------------------------------------------------------------------------------------------


def _key(shape: str) -> str:
    return shape + uuid4().hex + uuid4().hex[:8]


@dataclass(frozen=True)
class KeyCase:
    """A way to send a secret. ``{key}`` marks the place of the secret."""

    what: str
    lines: tuple[str, ...] = ()
    query: str = ""
    shape: str = ""


KEY_CASES: Final = [
    KeyCase("bearer sk-", ("Authorization: Bearer {key}",), shape="sk-proj-"),
    KeyCase("bearer 40 characters", ("Authorization: Bearer {key}",)),
    KeyCase("bearer, two spaces", ("Authorization:  Bearer  {key} ",)),
    KeyCase("no scheme", ("Authorization: {key}",)),
    KeyCase("basic", ("Authorization: Basic {key}",)),
    KeyCase("x-api-key", ("x-api-key: {key}",), shape="sk-ant-"),
    KeyCase("api-key", ("api-key: {key}",)),
    KeyCase("x-goog-api-key", ("x-goog-api-key: {key}",), shape="AIza"),
    KeyCase("Ocp-Apim-Subscription-Key", ("Ocp-Apim-Subscription-Key: {key}",)),
    KeyCase("two keys", ("Authorization: Bearer other-{key}", "authorization: Bearer {key}")),
    KeyCase("a word behind the key", ("x-api-key: {key} v2",)),
    KeyCase("Cookie, first of several", ("Cookie: session={key}; theme=dark",)),
    KeyCase("Cookie", ("Cookie: theme=dark; session={key}; a=b",)),
    KeyCase("Proxy-Authorization", ("Proxy-Authorization: Basic {key}",)),
    KeyCase("a header of another name", ("X-Company-Auth-Token: {key}",)),
    KeyCase("?key=", query="?key={key}"),
    KeyCase("?a=1&api_key=", query="?a=1&api_key={key}&b=2"),
    KeyCase("?api-key=", query="?api-key={key}"),
    KeyCase("?token=", query="?token={key}"),
    KeyCase("?sig=", query="?sig={key}"),
    KeyCase("?KEY=", query="?KEY={key}"),
    KeyCase("in the body, too", ("Authorization: Bearer {key}", "X-Body: {key}"), shape="sk-"),
]


@pytest.fixture(scope="module")
def world_with_keys(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    directory = tmp_path_factory.mktemp("keys")
    with SimulatedProvider() as provider, Server(directory, provider.url) as server:
        yield World(server, provider)


def with_key(key: str, lines: tuple[str, ...], query: str, body: bytes, path: str) -> bytes:
    """Return a request with the key in the given lines and query. Lines that start with ``X-Body`` are omitted."""
    first = f"POST {path}{query.format(key=key)} HTTP/1.1"
    sent = [line.format(key=key) for line in lines if not line.startswith("X-Body")]
    head = [first, "Host: 127.0.0.1", "Connection: close", f"Content-Length: {len(body)}", *sent]
    return "\r\n".join([*head, "", ""]).encode() + body


def assert_found_nowhere(world: World, *keys: str) -> None:
    """Assert that no file, output, metric or API response contains any of the keys."""
    server = world.server
    assert places(server.data, *keys) == []
    output = server.stdout + server.stderr + server.metrics() + json.dumps(server.records())
    assert not [key for key in keys if key in output]


def test_a_key_is_nowhere_in_the_log_not_even_right_after_the_request(world_with_keys: World) -> None:
    sent: dict[tuple[KeyCase, str], tuple[str, str]] = {}
    server = world_with_keys.server

    def check_request(each: tuple[KeyCase, str]) -> None:
        case, path = each
        key = _key(case.shape)
        body = chat_body(f"My key is {key}." if "X-Body: {key}" in case.lines else "Hello")
        response = parse(send_raw(server.port, with_key(key, case.lines, case.query, body, path)))
        sent[each] = key, id_of(response)
        assert_found_nowhere(world_with_keys, key)

    def check_record(each: tuple[KeyCase, str]) -> None:
        (case, path), (key, record_id) = each, sent[each]
        assert key not in json.dumps(server.record(record_id))
        assert_found_nowhere(world_with_keys, key)
        if path == PATH:
            is_dropped = case.lines != () and case.lines[0].startswith(("Cookie", "Proxy-"))
            assert (key in reached) == (not is_dropped), "a key must reach the provider"

    cases = [*product(KEY_CASES, [PATH]), *sampled(product(KEY_CASES, ["/v1/echo", "/v1/files"]), 8)]
    check_each(cases, check_request, lambda each: f"{each[0].what} {each[1]}")
    reached = ledger_text(world_with_keys)
    check_each(cases, check_record, lambda each: f"{each[0].what} {each[1]}")


def ledger_text(world: World) -> str:
    connection = http.client.HTTPConnection(urlsplit(world.provider.url).netloc, timeout=10)
    connection.request("GET", "/__sim/ledger")
    text = connection.getresponse().read().decode()
    connection.close()
    return text


def test_a_key_that_the_upstream_repeats_in_its_response_is_masked_only_in_the_log(world_with_keys: World) -> None:
    key = _key("sk-")
    body = json.dumps({"error": {"message": f"Incorrect API key provided: {key}.", "code": "invalid_api_key"}}).encode()
    put_response(world_with_keys, "repeats", "401 Unauthorized", "application/json", body)
    lines = (f"Authorization: Bearer {key}", "Sim-Script: repeats")
    response = parse(send_raw(world_with_keys.server.port, with_key(key, lines, "", chat_body("Hello"), PATH)))
    assert response.body == body
    record = world_with_keys.server.record(id_of(response))
    assert record["error_code"] == "invalid_api_key"
    assert key not in json.dumps(record)
    assert_found_nowhere(world_with_keys, key)


def test_a_cookie_of_the_upstream_reaches_the_client_but_not_the_log(world_with_keys: World) -> None:
    secret = _key("")
    lines = (f"Authorization: Bearer {_key('sk-')}",)
    script = {"headers": [["set-cookie", f"session={secret}; HttpOnly"]], "body": base64.b64encode(b"{}").decode()}
    put_script(world_with_keys.provider, "cookie", script)
    response = parse(
        send_raw(
            world_with_keys.server.port, with_key("", (*lines, "Sim-Script: cookie"), "", chat_body("Hello"), PATH)
        )
    )
    assert secret in (response.header("set-cookie") or "")
    world_with_keys.server.record(id_of(response))
    assert_found_nowhere(world_with_keys, secret)


def test_a_key_in_a_rejected_request_is_found_nowhere(world_with_keys: World) -> None:
    key = _key("sk-")
    line = f"Authorization: Bearer {key}\r\n".encode()
    for sent in (
        b"POST /chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\n" + line + b"\r\n",
        b"POST /v1/chat/completions HTTP/1.1\r\nHost: evil.example\r\n" + line + b"\r\n",
        b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nX A: 1\r\n" + line + b"\r\n",
        b"GET /v1/../x?key=%b HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" % key.encode(),
        b"GET /v1/realtime HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        b"Sec-WebSocket-Protocol: realtime, openai-insecure-api-key.%b\r\n\r\n" % key.encode(),
        b"POST /v1/files HTTP/1.1\r\nHost: 127.0.0.1\r\n" + line + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
    ):
        assert key.encode() not in send_raw(world_with_keys.server.port, sent)
    assert_found_nowhere(world_with_keys, key)


def test_keys_are_not_in_the_log_with_many_requests_and_a_failing_upstream(tmp_path: Path) -> None:
    keys = []
    with SimulatedProvider() as provider, Server(tmp_path, provider.url) as server:
        world = World(server, provider)
        for number in range(100):
            key = _key("sk-" if number % 2 else "")
            keys.append(key)
            directives = ("Sim-Break: head", "Sim-Status: 500", "Sim-Raw: bm9uc2Vuc2UNCg0K", "Sim-Break: event:3")[
                number % 4
            ]
            body = chat_body(f"Hello {number}, {key}", stream=number % 3 == 0)
            send_raw(server.port, with_key(key, (f"Authorization: Bearer {key}", directives), "", body, PATH))
        assert_found_nowhere(world, *keys)
        wait_until(lambda: len(server.records()) >= len(keys))
        assert_found_nowhere(world, *keys)
        assert len({record["key"] for record in server.records()}) == len(keys)
    assert places(server.data, *keys) == []
    assert not [key for key in keys if key in server.stdout + server.stderr]
