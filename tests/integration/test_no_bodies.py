"""What must not be in the log is nowhere in it: bodies of ``no-bodies`` requests, and callers' keys, ever.

Every byte of every file of the data directory is read, and what is compressed in them is read as well. Bodies pass
through the journal; it is sealed ``seal_after`` seconds after it took some that must not stay, so they are gone soon
after that. Here that is one second instead of a minute.
"""

import base64
import http.client
import json
import os
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from tests.support.files import contents_below, raw_and_decompressed
from tests.support.long import sampled
from tests.support.raw_http import CHUNKED, PATH, Response, parse, request, send_raw
from tests.support.server import Server, SimulatedProvider, wait_until
from tests.support.simulated_upstream import World, put_script

GONE_WITHIN_SECONDS: Final = 30.0
SEAL_SOON: Final = ("--seal-after", "1")
NO_BODIES: Final = b"Service-Log: no-bodies"


def canary(word: str) -> str:
    """A word that is nowhere else, without a character that JSON or a URL would write differently."""
    return f"canary{word}{uuid4().hex}"


def places(data: Path, *words: str) -> list[str]:
    """Files below a directory that hold any of the words, plainly or compressed."""
    wanted = [word.encode() for word in words]
    return [
        name
        for name, content in contents_below(data)
        if any(word in text for text in raw_and_decompressed(content) for word in wanted)
    ]


def chat_body(text: str, **more: Any) -> bytes:
    return json.dumps({"model": "gpt-4o-mini", "messages": [{"role": "user", "content": text}], **more}).encode()


def call(world: World, body: bytes, *lines: bytes, path: str = PATH) -> Response:
    """One request on a connection of its own."""
    sent = request(
        b"Content-Type: application/json",
        b"Content-Length: %d" % len(body),
        b"Connection: close",
        *lines,
        first=f"POST {path} HTTP/1.1".encode(),
        body=body,
    )
    return parse(send_raw(world.server.port, sent))


def id_of(answer: Response) -> str:
    return answer.header("service-request-id") or ""


def put_response(world: World, name: str, status: str, content_type: str, body: bytes) -> None:
    """Stores a whole response or a stream, sent to every request that has the header ``Sim-Script: <name>``."""
    script = {
        "status_line": f"HTTP/1.1 {status}",
        "headers": [["content-type", content_type], ["x-request-id", f"req_{name}"]],
        "body": base64.b64encode(body).decode(),
        "framing": "chunked" if "stream" in content_type else "length",
    }
    put_script(world.provider, name, script)


def sse(text: str, **finish: Any) -> bytes:
    """A stream of one chunk with all the text, and one with usage."""
    head = {"id": "chatcmpl-scripted", "object": "chat.completion.chunk", "model": "gpt-4o-mini-2024-07-18"}
    delta = {**head, "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]}
    usage = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}
    last = {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": usage, **finish}
    return b"".join(b"data: %b\n\n" % json.dumps(event).encode() for event in (delta, last)) + b"data: [DONE]\n\n"


def whole(text: str) -> bytes:
    """A whole answer."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}
    head = {"id": "chatcmpl-scripted", "object": "chat.completion", "model": "gpt-4o-mini-2024-07-18"}
    return json.dumps({**head, "choices": [choice], "usage": usage}).encode()


@dataclass
class Discreet:
    """A world in which requests without bodies were made: their ids, and every word that must not stay."""

    world: World
    ids: dict[str, str] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)

    def word(self, what: str) -> str:
        made = canary(what)
        self.words.append(made)
        return made


def speak(discreet: Discreet, *lines: bytes) -> None:
    """Requests of every kind whose bodies must not stay."""
    world = discreet.world
    namespace = b"Service-Namespace: discreet"
    put_response(world, "whole", "200 OK", "application/json", whole(discreet.word("answer")))
    put_response(world, "stream", "200 OK", "text/event-stream", sse(discreet.word("streamed")))
    error = {"message": f"You said {discreet.word('error')}", "type": "invalid_request_error", "code": "bad_prompt"}
    put_response(world, "error", "400 Bad Request", "application/json", json.dumps({"error": error}).encode())
    event = {"error": {"message": discreet.word("event"), "code": "bad_event"}}
    stream = sse(discreet.word("before")).replace(b"data: [DONE]\n\n", b"data: %b\n\n" % json.dumps(event).encode())
    put_response(world, "event", "200 OK", "text/event-stream", stream)
    for name, more in {"whole": {}, "stream": {"stream": True}, "error": {}, "event": {"stream": True}}.items():
        body = chat_body(discreet.word("prompt"), user="user-42", **more)
        answer = call(world, body, namespace, b"Sim-Script: " + name.encode(), *lines)
        discreet.ids[name] = id_of(answer)
    for path, text in {"/v1/embeddings": "embedded", "/v1/responses": "asked", "/v1/echo": "echoed"}.items():
        body = json.dumps({"model": "text-embedding-3-small", "input": discreet.word(text)}).encode()
        discreet.ids[path] = id_of(call(world, body, namespace, *lines, path=path))
    body = chat_body(discreet.word("broken"), stream=True)
    broken = request(b"Content-Length: %d" % len(body), namespace, b"Sim-Break: event:9:5", *lines, body=body)
    send_raw(world.server.port, broken)
    with socket.create_connection(("127.0.0.1", world.server.port), 15) as leaving:
        leaving.sendall(request(namespace, *lines, CHUNKED, body=b"40\r\n" + discreet.word("cut").encode() + b"\r\n"))
    wait_until(lambda: len(world.server.records("namespace=discreet")) >= len(discreet.ids) + 2)


def is_discreet(discreet: Discreet) -> None:
    """The log knows what it may of each request, and nothing of what was said."""
    server = discreet.world.server
    for name, request_id in discreet.ids.items():
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
        for word in discreet.words:
            assert word not in json.dumps(record)
    for name in ("whole", "stream"):
        record = server.record(discreet.ids[name])
        assert (record["model"], record["response_model"]) == ("gpt-4o-mini", "gpt-4o-mini-2024-07-18")
        assert (record["input_tokens"], record["output_tokens"], record["finish_reason"]) == (9, 4, "stop")
        assert record["cost_usd"] > 0
        assert (record["user"], record["provider_request_id"]) == ("user-42", f"req_{name}")
        assert record["stream"] == (name == "stream")
    failed = server.record(discreet.ids["error"])
    assert (failed["status"], failed["error_code"], failed["error_message"]) == (400, "bad_prompt", None)
    event = server.record(discreet.ids["event"])
    assert (event["failed"], event["error_code"], event["error_message"]) == (True, "bad_event", None)


def are_gone(data: Path, words: list[str], seconds: float = GONE_WITHIN_SECONDS) -> None:
    """None of the words is anywhere within so long; looked for once a second."""
    next_look = 0.0
    found = ["not looked yet"]

    def look() -> bool:
        nonlocal next_look, found
        if time.monotonic() < next_look:
            return False
        found = places(data, *words)
        next_look = time.monotonic() + 1.0
        return not found

    try:
        wait_until(look, seconds)
    except AssertionError:
        raise AssertionError(f"after {seconds} s still in {found}") from None


@pytest.fixture(scope="module")
def by_header(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Discreet]:
    """Requests that ask for it, among others that do not."""
    directory = tmp_path_factory.mktemp("no-bodies")
    with (
        SimulatedProvider(directory) as provider,
        Server(directory, provider.url, "--price-as", "openai", *SEAL_SOON) as server,
    ):
        discreet = Discreet(World(server, provider))
        speak(discreet, NO_BODIES)
        yield discreet


@pytest.fixture(scope="module")
def by_setting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Discreet]:
    """A server that keeps no bodies, whatever a caller asks for."""
    directory = tmp_path_factory.mktemp("no-bodies-at-all")
    flags = ("--price-as", "openai", "--log", "no-bodies", *SEAL_SOON)
    with SimulatedProvider(directory) as provider, Server(directory, provider.url, *flags) as server:
        discreet = Discreet(World(server, provider))
        speak(discreet, b"Service-Log: full")
        yield discreet


def test_a_search_of_the_data_directory_finds_what_is_logged_in_full(tmp_path: Path) -> None:
    """The other tests are worth something only if this one passes."""
    with SimulatedProvider(tmp_path) as provider, Server(tmp_path, provider.url) as server:
        world = World(server, provider)
        late = canary("late")
        answer = call(world, chat_body("word " * 500 + late))
        server.record(id_of(answer))
        assert [place for place in places(server.data, late) if place.startswith("journal/")]
        server.stop()
        assert [place for place in places(server.data, late) if place.startswith("store/")]


def test_a_request_without_bodies_has_its_record_and_nothing_of_what_was_said(by_header: Discreet) -> None:
    is_discreet(by_header)


def test_a_server_without_bodies_keeps_none_whatever_a_caller_asks_for(by_setting: Discreet) -> None:
    is_discreet(by_setting)


def test_what_was_said_without_bodies_is_soon_on_no_disk(by_header: Discreet) -> None:
    are_gone(by_header.world.server.data, by_header.words)


def test_what_was_said_to_a_server_without_bodies_is_soon_on_no_disk(by_setting: Discreet) -> None:
    are_gone(by_setting.world.server.data, by_setting.words)


def test_nothing_said_without_bodies_is_printed_or_measured(by_header: Discreet) -> None:
    server = by_header.world.server
    told = server.stdout + server.stderr + server.metrics()
    assert not [word for word in by_header.words if word in told]


def test_a_long_trickling_stream_leaves_nothing_although_it_was_moved_aside(tmp_path: Path) -> None:
    """Journal segments of 1 MiB fill while it runs, so that what it said is moved out of them before its end."""
    with (
        SimulatedProvider(tmp_path) as provider,
        Server(tmp_path, provider.url, "--segment-bytes", "1MiB", "--price-as", "openai", *SEAL_SOON) as server,
    ):
        world = World(server, provider)
        words = [canary("prompt"), canary("answer")]
        pieces = [sse(f"{words[1]} {number}")[: -len(b"data: [DONE]\n\n")] for number in range(60)]
        script = {
            "headers": [["content-type", "text/event-stream"]],
            "body": base64.b64encode(b"".join(pieces) + b"data: [DONE]\n\n").decode(),
            "framing": "chunked",
            "chunk_sizes": [len(piece) for piece in pieces],
            "piece_sizes": [len(piece) for piece in pieces],
            "pause_ms": 60,
        }
        put_script(provider, "trickle", script)
        trickle = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        headers = {"Sim-Script": "trickle", "Service-Log": "no-bodies", "Authorization": "Bearer sk-trickling-caller"}
        trickle.request("POST", PATH, chat_body(words[0], stream=True), headers)
        answer = trickle.getresponse()
        rows: list[dict[str, Any]] = wait_until(lambda: server.get("/api/requests")["running"], what="running")
        shown = json.dumps(rows)
        for _ in range(12):
            call(world, chat_body("filler " * 20_000), b"Sim-Text: ok")
        shown += json.dumps(server.get("/api/requests"))
        said = answer.read().decode()
        trickle.close()
        assert words[1] in said
        assert not [word for word in words if word in shown]
        record = server.record(answer.headers["Service-Request-Id"])
        assert (record["outcome"], record["body_state"], record["output_tokens"]) == ("complete", "no_bodies", 4)
        are_gone(server.data, words)
    assert places(server.data, *words) == []


def test_a_request_without_bodies_that_was_running_when_all_was_killed_leaves_nothing(tmp_path: Path) -> None:
    words = [canary("prompt")]
    with SimulatedProvider(tmp_path) as provider:
        server = Server(tmp_path, provider.url)
        caller = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        headers = {"Sim-Event-Interval-Ms": "200", "Service-Log": "no-bodies", "Authorization": "Bearer sk-killed"}
        caller.request("POST", PATH, chat_body(words[0], stream=True), headers)
        request_id = caller.getresponse().headers["Service-Request-Id"]
        os.kill(server.pid_of("relay"), 9)
        server.kill()
        caller.close()
        assert places(server.data, *words)
        with Server(tmp_path, provider.url, *SEAL_SOON, data=server.data) as again:
            record = again.record(request_id, seconds=20)
            assert (record["outcome"], record["body_state"], record["input_preview"]) == (
                "interrupted",
                "no_bodies",
                None,
            )
            are_gone(again.data, words)


# -- keys ----------------------------------------------------------------------------------------------------------


def _key(shape: str) -> str:
    return shape + uuid4().hex + uuid4().hex[:8]


@dataclass(frozen=True)
class KeyCase:
    """A way to send a secret. ``{key}`` is where it goes."""

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
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    directory = tmp_path_factory.mktemp("keys")
    with SimulatedProvider(directory) as provider, Server(directory, provider.url) as server:
        yield World(server, provider)


def with_key(key: str, lines: tuple[str, ...], query: str, body: bytes, path: str) -> bytes:
    """A request that carries a key in these places and nowhere else."""
    first = f"POST {path}{query.format(key=key)} HTTP/1.1"
    sent = [line.format(key=key) for line in lines if not line.startswith("X-Body")]
    head = [first, "Host: 127.0.0.1", "Connection: close", f"Content-Length: {len(body)}", *sent]
    return "\r\n".join([*head, "", ""]).encode() + body


def is_nowhere(world: World, *keys: str) -> None:
    """No file, no output, no figure and no answer of the API holds any of the keys."""
    server = world.server
    assert places(server.data, *keys) == []
    told = server.stdout + server.stderr + server.metrics() + json.dumps(server.records())
    assert not [key for key in keys if key in told]


@pytest.mark.parametrize(
    ("case", "path"),
    [*product(KEY_CASES, [PATH]), *sampled(product(KEY_CASES, ["/v1/echo", "/v1/files"]), 8)],
    ids=lambda each: each if isinstance(each, str) else each.what,
)
def test_a_key_is_nowhere_in_the_log_not_even_right_after_the_call(keyed: World, case: KeyCase, path: str) -> None:
    key = _key(case.shape)
    body = chat_body(f"My key is {key}." if "X-Body: {key}" in case.lines else "Hello")
    answer = parse(send_raw(keyed.server.port, with_key(key, case.lines, case.query, body, path)))
    is_nowhere(keyed, key)
    record = keyed.server.record(id_of(answer))
    is_nowhere(keyed, key)
    assert key not in json.dumps(record)
    if path != PATH:
        return
    reached = ledger_text(keyed)
    assert (key in reached) == (not case.lines or not case.lines[0].startswith(("Cookie", "Proxy-"))), (
        "a key must reach the provider"
    )


def ledger_text(world: World) -> str:
    connection = http.client.HTTPConnection(urlsplit(world.provider.url).netloc, timeout=10)
    connection.request("GET", "/__sim/ledger")
    text = connection.getresponse().read().decode()
    connection.close()
    return text


def test_a_key_that_the_provider_repeats_in_its_answer_is_masked_in_the_log_alone(keyed: World) -> None:
    key = _key("sk-")
    body = json.dumps({"error": {"message": f"Incorrect API key provided: {key}.", "code": "invalid_api_key"}}).encode()
    put_response(keyed, "repeats", "401 Unauthorized", "application/json", body)
    lines = (f"Authorization: Bearer {key}", "Sim-Script: repeats")
    answer = parse(send_raw(keyed.server.port, with_key(key, lines, "", chat_body("Hello"), PATH)))
    assert answer.body == body
    record = keyed.server.record(id_of(answer))
    assert record["error_code"] == "invalid_api_key"
    assert key not in json.dumps(record)
    is_nowhere(keyed, key)


def test_a_cookie_of_the_provider_reaches_the_caller_and_not_the_log(keyed: World) -> None:
    secret = _key("")
    lines = (f"Authorization: Bearer {_key('sk-')}",)
    script = {"headers": [["set-cookie", f"session={secret}; HttpOnly"]], "body": base64.b64encode(b"{}").decode()}
    put_script(keyed.provider, "cookie", script)
    answer = parse(
        send_raw(keyed.server.port, with_key("", (*lines, "Sim-Script: cookie"), "", chat_body("Hello"), PATH))
    )
    assert secret in (answer.header("set-cookie") or "")
    keyed.server.record(id_of(answer))
    is_nowhere(keyed, secret)


def test_a_key_in_a_request_that_is_refused_is_nowhere_either(keyed: World) -> None:
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
        assert key.encode() not in send_raw(keyed.server.port, sent)
    is_nowhere(keyed, key)


def test_keys_stay_out_of_the_log_among_many_requests_and_when_the_provider_fails(tmp_path: Path) -> None:
    keys = []
    with SimulatedProvider(tmp_path) as provider, Server(tmp_path, provider.url) as server:
        world = World(server, provider)
        for number in range(100):
            key = _key("sk-" if number % 2 else "")
            keys.append(key)
            directives = ("Sim-Break: head", "Sim-Status: 500", "Sim-Raw: bm9uc2Vuc2UNCg0K", "Sim-Break: event:3")[
                number % 4
            ]
            body = chat_body(f"Hello {number}, {key}", stream=number % 3 == 0)
            send_raw(server.port, with_key(key, (f"Authorization: Bearer {key}", directives), "", body, PATH))
        is_nowhere(world, *keys)
        wait_until(lambda: len(server.records()) >= len(keys))
        is_nowhere(world, *keys)
        assert len({record["key"] for record in server.records()}) == len(keys)
    assert places(server.data, *keys) == []
    assert not [key for key in keys if key in server.stdout + server.stderr]
