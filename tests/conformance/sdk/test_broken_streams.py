"""A stream of Gemini, Ollama or Cohere that breaks ends for the SDK as it ends without the relay, and is recorded.

The stream of the simulated upstream is broken between any two events, and within each event. It either is cut, or ends
cleanly, but too early.
"""

import base64
import json
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import cohere
import httpx
import httpx2
import ollama
import pytest
from cohere.core.api_error import ApiError
from google import genai
from google.genai import errors, types
from tests.conformance.sdk.calls import World, unique
from tests.support.parts import text_of
from tests.support.server import Server, SimulatedProvider

KEY: Final = "sdk-caller-1234567890"
QUESTION: Final = "Hi"
TEXT: Final = "Yes, you cän."
GEMINI: Final = "gemini-2.5-flash"
_ARRAY_PATH: Final = f"/v1beta/models/{GEMINI}:streamGenerateContent"
#: What the SDKs raise. A ValueError means that a part of an event is not JSON.
_ERRORS: Final = (httpx.HTTPError, httpx2.HTTPError, errors.APIError, ollama.ResponseError, ApiError, ValueError)

Headers = dict[str, str]


def read_gemini(base_url: str, headers: Headers) -> Iterator[str]:
    with genai.Client(api_key=KEY, http_options=types.HttpOptions(base_url=base_url, headers=headers)) as client:
        for chunk in client.models.generate_content_stream(model=GEMINI, contents=QUESTION):
            yield chunk.text or ""


def read_gemini_array(base_url: str, headers: Headers) -> Iterator[str]:
    """Read the array as programs without an SDK do: each object as soon as it is complete."""
    body = {"contents": [{"role": "user", "parts": [{"text": QUESTION}]}]}
    rest, decoder = "", json.JSONDecoder()
    with httpx2.stream(
        "POST", base_url + _ARRAY_PATH, params={"key": KEY}, json=body, headers=headers, trust_env=False
    ) as response:
        for text in response.iter_text():
            rest += text
            while (start := rest.find("{")) >= 0:
                try:
                    value, end = decoder.raw_decode(rest, start)
                except ValueError:
                    break
                rest = rest[end:]
                content = value["candidates"][0].get("content") or {}
                yield "".join(part.get("text", "") for part in content.get("parts") or ())


def read_ollama(base_url: str, headers: Headers) -> Iterator[str]:
    with ollama.Client(host=base_url, headers=headers, trust_env=False) as client:
        messages = [{"role": "user", "content": QUESTION}]
        for part in client.chat(model="llama3.2", messages=messages, stream=True):
            yield part.message.content or ""


def read_cohere(base_url: str, headers: Headers) -> Iterator[str]:
    messages: Any = [{"role": "user", "content": QUESTION}]
    with cohere.ClientV2(api_key=KEY, base_url=base_url) as client:
        options: Any = {"additional_headers": headers, "max_retries": 0}
        for event in client.chat_stream(model="command-a-03-2025", messages=messages, request_options=options):
            is_text = event.type == "content-delta"
            yield (event.delta.message.content.text or "") if is_text else ""


class Api(NamedTuple):
    """An API with streams: its route, how its SDK reads a stream, and how to split a stream into events."""

    route: str
    read: Callable[[str, Headers], Iterator[str]]
    content_type: str
    separator: bytes


APIS: Final = {
    "gemini": Api("gemini", read_gemini, "text/event-stream", b"\n\n"),
    "gemini array": Api("gemini", read_gemini_array, "application/json; charset=UTF-8", b"\n,\r\n"),
    "ollama": Api("ollama", read_ollama, "application/x-ndjson", b"\n"),
    "cohere": Api("cohere", read_cohere, "text/event-stream", b"\n\n"),
}


class Read(NamedTuple):
    """What an SDK read before the end: the texts, and the exception or ``end``."""

    texts: tuple[str, ...]
    ending: str


def read(api: Api, base_url: str, headers: Headers) -> Read:
    texts = []
    try:
        for text in api.read(base_url, headers):
            texts.append(text)
    except _ERRORS as error:
        return Read(tuple(texts), type(error).__qualname__)
    return Read(tuple(texts), "end")


class Break(NamedTuple):
    """A stream with its first events. ``is_within`` means that a part of the next event follows."""

    events: int
    is_within: bool
    is_clean: bool

    @property
    def name(self) -> str:
        return f"{self.events}{'-within' if self.is_within else ''}{'-clean' if self.is_clean else ''}"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    directory = tmp_path_factory.mktemp("broken")
    with SimulatedProvider() as provider:
        root = provider.url.removesuffix("/v1")
        settings = directory / "relaybook.toml"
        names = dict.fromkeys(api.route for api in APIS.values())
        settings.write_text("".join(f'[routes.{name}]\nupstream = "{root}"\n' for name in names))
        with Server(directory, provider.url, "--config", str(settings)) as server:
            yield World(server, provider)


class Broken(NamedTuple):
    """All streams of an API: what was read directly and through the relay, and the record."""

    events: int
    #: The number of events after which only ``[DONE]`` is missing.
    last_event: int
    direct: dict[Break, Read]
    relayed: dict[Break, Read]
    records: dict[Break, dict[str, Any]]


def events_of(world: World, api: Api) -> list[bytes]:
    """Return the events of a stream of the simulated upstream, with the bytes between them."""
    namespace = unique("whole")
    whole = read(api, route_url(world, api), {"Sim-Text": "Yes%2C%20you%20c%C3%A4n.", "Service-Namespace": namespace})
    assert ("".join(whole.texts), whole.ending) == (TEXT, "end")
    (row,) = world.recorded(namespace)
    body = world.server.body(row["id"], "response")
    parts = body.split(api.separator)
    return [*(part + api.separator for part in parts[:-1]), *filter(None, parts[-1:])]


def route_url(world: World, api: Api) -> str:
    return f"http://127.0.0.1:{world.server.port}/{api.route}"


def response_of(api: Api, events: list[bytes], break_: Break) -> str:
    """Return a response as the value of the header ``Sim-Raw``."""
    sent = events[: break_.events]
    if break_.is_within:
        event = events[break_.events]
        sent = [*sent, event[: len(event) // 2]]
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {api.content_type}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(event), event) for event in sent)
    return base64.b64encode(head + chunks + (b"0\r\n\r\n" if break_.is_clean else b"")).decode()


@pytest.fixture(scope="module", params=APIS)
def broken(request: pytest.FixtureRequest, world: World) -> Broken:
    api = APIS[request.param]
    events = events_of(world, api)
    assert len(events) > 3
    namespace = unique("broken")
    breaks = [
        Break(count, is_within, is_clean)
        for is_clean in (False, True)
        for count in range(len(events) + 1)
        for is_within in (False, True)
        if count < len(events) or not is_within
    ]
    direct, relayed = dict[Break, Read](), dict[Break, Read]()
    for each in breaks:
        headers = {"Sim-Raw": response_of(api, events, each)}
        direct[each] = read(api, world.provider.url.removesuffix("/v1"), headers)
        tags = {"Service-Namespace": namespace, "Service-Property-Break": each.name}
        relayed[each] = read(api, route_url(world, api), {**headers, **tags})
    by_name = {row["properties"]["break"]: row["id"] for row in world.recorded(namespace, len(breaks))}
    records = {each: world.server.record(by_name[each.name]) for each in breaks}
    last_event = len(events) - events[-1].startswith(b"data: [DONE]")
    return Broken(len(events), last_event, direct, relayed, records)


def test_the_sdk_reads_the_same_as_without_the_relay(broken: Broken) -> None:
    assert broken.relayed == broken.direct
    cut = [each for each in broken.direct if not each.is_clean and each.events < broken.events - 1]
    assert {broken.direct[each].ending for each in cut} == {"RemoteProtocolError"}


def test_the_record_of_a_cut_stream_is_failed_and_has_what_arrived(broken: Broken) -> None:
    for each, record in broken.records.items():
        if each.is_clean or is_whole(broken, each):
            continue
        assert (record["outcome"], record["failed"]) == ("upstream_failed", True), each
        assert record_text(record) == "".join(broken.relayed[each].texts), each
        if record["response_bytes"]:  # without a byte, a JSON array cannot be told from an object
            found = (record["stream_ended"], record["error_code"])
            assert found == ("cut", "upstream_stream_interrupted"), each


def test_the_record_of_a_stream_that_ends_early_is_incomplete_and_has_what_arrived(broken: Broken) -> None:
    for each, record in broken.records.items():
        if not each.is_clean or is_whole(broken, each):
            continue
        assert (record["outcome"], record["failed"]) == ("complete", True), each
        assert (record["error_code"], record["result"]["code"]) == ("stream_incomplete", "incomplete"), each
        assert record_text(record) == "".join(broken.relayed[each].texts), each
        if record["response_bytes"]:
            assert record["stream_ended"] == "no_done", each


def test_the_record_of_a_whole_stream_has_its_text_and_is_complete_if_it_ends_cleanly(broken: Broken) -> None:
    whole = {each: record for each, record in broken.records.items() if is_whole(broken, each)}
    assert whole
    for each, record in whole.items():
        assert (record["stream_ended"], record_text(record)) == ("done", TEXT), each
        if each.is_clean:
            assert (record["outcome"], record["failed"], record["error_code"]) == ("complete", False, None), each


def is_whole(broken: Broken, each: Break) -> bool:
    """Return whether the last event with content arrived. Cohere sends ``[DONE]`` after it."""
    return each.events >= broken.last_event


def record_text(record: dict[str, Any]) -> str:
    return "".join(text_of(output) for output in (record["response"] or {}).get("outputs") or ())
