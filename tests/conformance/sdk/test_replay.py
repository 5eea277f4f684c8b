"""Clients of ``relaybook replay`` get what they got through the relay: bytes, pauses, breaks and retries."""

import base64
import gzip
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

import anthropic
import httpx2
import openai
import pytest
from google import genai
from google.genai import errors, types
from openai.types.chat import ChatCompletionChunk
from tests.conformance.node import node_sdk
from tests.conformance.sdk.calls import KEY, World, unique
from tests.support import raw_http
from tests.support.server import Program, Server, SimulatedProvider

MODEL: Final = "gpt-4o-mini"


class ReplayWorld(NamedTuple):
    """A relay, and a replay of its log. Both serve the same routes."""

    relay: World
    url: str

    @property
    def urls(self) -> tuple[str, str]:
        """The base URLs of the relay and of the replay, without ``/v1``."""
        return self.relay.base_url.removesuffix("/v1"), self.url

    def wait_for(self, namespace: str, count: int = 1) -> list[str]:
        """Wait until the log has the requests of a namespace. Returns their ids."""
        return [row["id"] for row in self.relay.recorded(namespace, count)]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReplayWorld]:
    directory = tmp_path_factory.mktemp("replay")
    with SimulatedProvider() as provider:
        root = provider.url.removesuffix("/v1")
        settings = directory / "relaybook.toml"
        settings.write_text("".join(f'[routes.{name}]\nupstream = "{root}"\n' for name in ("anthropic", "gemini")))
        with Server(directory, provider.url, "--config", str(settings)) as server:
            replay = start_replay(directory, "--dashboard", server.dashboard.removeprefix("http://"))
            yield ReplayWorld(World(server, provider), replay.printed(r"(http://\S+)/v1"))
            assert replay.stop() == 0


def start_replay(directory: Path, *flags: str) -> Program:
    arguments = ["-m", "relaybook.cli.main", "replay", "--listen", "127.0.0.1:0", *flags]
    return Program(arguments, directory, "replay")


def question(text: str) -> Any:
    return [{"role": "user", "content": text}]


def openai_client(url: str, **options: Any) -> openai.OpenAI:
    return openai.OpenAI(**{"base_url": f"{url}/v1", "api_key": KEY, "max_retries": 0, **options})


RESPONSES: Final = {
    "length": b"HTTP/1.1 200 OK, then\r\nX-Twice: 1\r\nx-twice: 2\r\nContent-Length: 2\r\n\r\n{}",
    "chunked": b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"a":\r\n2\r\n1}\r\n0\r\n\r\n',
    "close": b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{}",
    "gzip": b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%b"
    % (len(packed := gzip.compress(b'{"a": 1}', mtime=0)), packed),
    "error": b'HTTP/1.1 429 Slow down\r\nRetry-After: 7\r\nContent-Length: 12\r\n\r\n{"error":{}}',
    "cut": b'HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{"cut',
    "cut chunk": b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"a":\r\n9\r\n12',
    "no content": b"HTTP/1.1 204 No Content\r\n\r\n",
}


@pytest.mark.parametrize("case", RESPONSES)
def test_the_bytes_are_those_that_the_relay_sent(world: ReplayWorld, case: str) -> None:
    namespace = unique("bytes")
    body = b'{"model": "%b", "case": "%b"}' % (MODEL.encode(), case.encode())
    lines = (
        b"Service-Namespace: " + namespace.encode(),
        b"Sim-Raw: " + base64.b64encode(RESPONSES[case]),
        b"Sim-After: close",
        b"Connection: close",
        b"Content-Length: %d" % len(body),
    )
    sent = raw_http.request(*lines, body=body)
    relayed = raw_http.send_raw(world.relay.server.port, sent)
    world.wait_for(namespace)
    replayed = raw_http.send_raw(int(world.url.rpartition(":")[2]), sent)
    assert without_own_headers(replayed) == without_own_headers(relayed)
    assert b"Service-Replay: exact; id=" in replayed


def without_own_headers(response: bytes) -> bytes:
    head, blank, body = response.partition(b"\r\n\r\n")
    lines = [line for line in head.split(b"\r\n") if not line.startswith(b"Service-")]
    return b"\r\n".join(lines) + blank + body


def test_openai_gets_the_same_stream_not_before_its_time(world: ReplayWorld) -> None:
    namespace = unique("stream")
    headers = {"Service-Namespace": namespace, "Sim-Event-Interval-Ms": "30", "Sim-Text": "One two three four"}
    found, seconds = [], []
    for url in world.urls:
        with openai_client(url, default_headers=headers) as client:
            started = time.monotonic()
            stream = client.chat.completions.create(model=MODEL, messages=question(namespace), stream=True)
            found.append([chunk.model_dump() for chunk in stream])
            seconds.append(time.monotonic() - started)
        (request_id,) = world.wait_for(namespace)
    assert found[0] == found[1]
    last_ms = world.relay.server.record(request_id)["timeline"][-1][0]
    assert last_ms > 60
    assert seconds[1] * 1000 >= last_ms


@pytest.mark.parametrize("ending", ["fin", "rst"])
def test_a_broken_stream_raises_the_same_in_python_and_node(world: ReplayWorld, ending: str) -> None:
    node_sdk.install()
    namespace = unique("broken")
    headers = {"Service-Namespace": namespace, "Sim-Break": f"event:3 {ending}", "Sim-Event-Interval-Ms": "2"}
    found = []
    for url in world.urls:
        texts: list[str | None] = []
        with openai_client(url, default_headers=headers) as client:
            stream = client.chat.completions.create(model=MODEL, messages=question(namespace), stream=True)
            error = read_until_error(stream, texts)
        asked = {"stream": True, "messages": question(f"{namespace} node")}
        (node,) = node_sdk.make(node_sdk.Call(f"{url}/v1", headers, asked))
        found.append((type(error), type(error and error.__cause__), texts, node))
        world.wait_for(namespace, 2)
    assert found[0] == found[1]
    assert found[0][0] is not type(None)
    assert (len(found[0][2]), found[0][3]["chunks"]) == (3, 3)


def read_until_error(stream: openai.Stream[ChatCompletionChunk], texts: list[str | None]) -> Exception | None:
    try:
        texts += (chunk.choices[0].delta.content for chunk in stream)
    except (openai.OpenAIError, httpx2.HTTPError) as error:
        return error
    return None


def test_anthropic_gets_the_same_message_through_its_route(world: ReplayWorld) -> None:
    namespace = unique("anthropic")
    found = []
    for url in world.urls:
        headers = {"Service-Namespace": namespace}
        with anthropic.Anthropic(
            base_url=f"{url}/anthropic", api_key=KEY, max_retries=0, default_headers=headers
        ) as client:
            asked: Any = {"model": "claude-haiku-4-5", "max_tokens": 50, "messages": question(namespace)}
            whole = client.messages.create(**asked)
            with client.messages.stream(**asked, system="Be brief") as stream:
                found.append((whole.model_dump(), stream.get_final_message().model_dump()))
        world.wait_for(namespace, 2)
    assert found[0] == found[1]


def test_retries_replay_in_their_order_and_the_last_response_repeats(world: ReplayWorld) -> None:
    namespace = unique("retry")
    headers = {"Service-Namespace": namespace}
    with openai_client(world.urls[0], default_headers=headers) as client:
        for status in ("429", "200"):
            headers = {"Sim-Status": status}
            with suppress(openai.RateLimitError):
                client.chat.completions.create(model=MODEL, messages=question(namespace), extra_headers=headers)
    world.wait_for(namespace, 2)
    with openai_client(world.url, max_retries=1) as client:
        numbers = []
        for _ in range(2):
            response = client.chat.completions.with_raw_response.create(model=MODEL, messages=question(namespace))
            numbers.append((response.retries_taken, response.headers["service-replay"].rpartition("; ")[2]))
    assert numbers == [(1, "number=2/2"), (0, "number=2/2")]


def test_no_match_raises_not_found_and_names_the_nearest_request(world: ReplayWorld) -> None:
    namespace = unique("nearest")
    relayed, replayed = world.urls
    asked: Any = {"model": MODEL, "messages": [*question("Be brief"), *question(f"{namespace} in May")]}
    with openai_client(relayed, default_headers={"Service-Namespace": namespace}) as client:
        client.chat.completions.create(**asked)
    (near,) = world.wait_for(namespace)
    asked["messages"][1]["content"] = f"{namespace} in June"
    with openai_client(replayed) as client, pytest.raises(openai.NotFoundError) as raised:
        client.chat.completions.create(**asked)
    difference = f'messages[1].content: sent "{namespace} in June", logged "{namespace} in May"'
    assert f"The nearest is {near}. They differ in {difference}." in str(raised.value)
    assert raised.value.response.headers["service-replay"] == f"none; nearest={near}"


def test_no_match_raises_not_found_in_other_sdks(world: ReplayWorld) -> None:
    unlogged = unique("unlogged")
    client = anthropic.Anthropic(base_url=f"{world.url}/anthropic", api_key=KEY, max_retries=0)
    with client, pytest.raises(anthropic.NotFoundError, match="No logged request equals"):
        client.messages.create(model="claude-haiku-4-5", max_tokens=50, messages=question(unlogged))
    options = types.HttpOptions(base_url=f"{world.url}/gemini")
    with genai.Client(api_key=KEY, http_options=options) as gemini, pytest.raises(errors.ClientError) as raised:
        gemini.models.generate_content(model="gemini-2.5-flash", contents=unlogged)
    assert (raised.value.code, raised.value.status) == (404, "NOT_FOUND")


@pytest.mark.parametrize("line", [b"Origin: https://site.example", b"Host: rebound.example:4110"])
def test_web_pages_of_other_sites_get_nothing(world: ReplayWorld, line: bytes) -> None:
    request = b"\r\n".join([b"GET /v1/models HTTP/1.1", line, b"Connection: close", b"", b""])
    assert raw_http.send_raw(int(world.url.rpartition(":")[2]), request).startswith(b"HTTP/1.1 403 ")


def test_one_response_answers_everything_from_a_data_directory(world: ReplayWorld, tmp_path: Path) -> None:
    namespace = unique("only")
    with openai_client(world.urls[0], default_headers={"Service-Namespace": namespace}) as client:
        text = client.chat.completions.create(model=MODEL, messages=question(namespace)).choices[0].message.content
    (request_id,) = world.wait_for(namespace)
    replay = start_replay(tmp_path, "--data", str(world.relay.server.data), "--id", request_id, "--speed", "0")
    try:
        with openai_client(replay.printed(r"(http://\S+)/v1")) as client:
            found = client.chat.completions.create(model="another", messages=question("Anything"))
        assert found.choices[0].message.content == text
    finally:
        replay.stop()
