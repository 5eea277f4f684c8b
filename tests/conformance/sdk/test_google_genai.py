"""Google's SDK ``google-genai`` works if only its base URL is changed: content, streams, tools, images and errors."""

from collections.abc import AsyncIterator, Iterator
from typing import Any, Final

import httpx2
import pytest
from google import genai
from google.genai import errors, types
from tests.conformance.sdk.answers import Answer, Call, assert_recorded, run
from tests.conformance.sdk.calls import World, unique

#: The route of the relay. Each test runs directly against the simulated upstream, and through this route.
ROUTE: Final = "gemini"
KEY: Final = "AIzaSy-sdk-caller-1234567890"
MODEL: Final = "gemini-2.5-flash"
QUESTION: Final[Any] = "Can I get a refund?"
PNG: Final = b"\x89PNG\r\n\x1a\n" * 20_000
WEATHER: Final = {
    "name": "weather",
    "description": "The weather of a city",
    "parameters": {"type": "OBJECT", "properties": {"city": {"type": "STRING"}, "days": {"type": "INTEGER"}}},
}
TOOLS: Final[Any] = [{"function_declarations": [WEATHER]}]
THOUGHTS: Final[Any] = {"include_thoughts": True}


def client(base_url: str, headers: dict[str, str] | None = None, key: str = KEY) -> genai.Client:
    return genai.Client(api_key=key, http_options=types.HttpOptions(base_url=base_url, headers=headers))


def generate(
    base_url: str,
    style: str,
    *,
    streamed: bool = False,
    headers: dict[str, str] | None = None,
    model: str = MODEL,
    contents: Any = QUESTION,
    **config: Any,
) -> Answer:
    """Generate content with the ``sync`` or ``async`` client. A stream is read to its end."""
    request: Any = {"model": model, "contents": contents, "config": config or None}

    async def collect(opened: genai.Client) -> Answer:
        async with opened.aio as aio:
            if not streamed:
                return answer([await aio.models.generate_content(**request)])
            chunks: AsyncIterator[Any] = await aio.models.generate_content_stream(**request)
            return answer([chunk async for chunk in chunks])

    with client(base_url, headers) as opened:
        if style == "async":
            return run(collect(opened))
        if streamed:
            return answer(list(opened.models.generate_content_stream(**request)))
        return answer([opened.models.generate_content(**request)])


def answer(chunks: list[types.GenerateContentResponse]) -> Answer:
    found = Answer()
    for chunk in chunks:
        found.model, found.id = chunk.model_version, chunk.response_id
        (candidate,) = chunk.candidates or ()
        for part in (candidate.content.parts if candidate.content else None) or ():
            if part.function_call is not None:
                call = part.function_call
                found.calls.append(Call(call.name or "", call.args or {}, call.id))
            elif part.thought:
                found.thoughts += part.text or ""
            else:
                found.text += part.text or ""
        found.finish_reason = candidate.finish_reason and candidate.finish_reason.value
        usage = chunk.usage_metadata or types.GenerateContentResponseUsageMetadata()
        found.input_tokens, found.cached_tokens = usage.prompt_token_count, usage.cached_content_token_count
        found.output_tokens = (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0)
    return found


CASES: Final[list[dict[str, Any]]] = [
    {},
    {"system_instruction": "Be brief.", "temperature": 0.2, "stop_sequences": ["zzz"]},
    {"thinking_config": THOUGHTS},
    {"tools": TOOLS, "contents": "The weather in Zürich"},
    {"contents": "word " * 20_000},
    {"max_output_tokens": 3},
    {"contents": ["What is this?", types.Part.from_bytes(data=PNG, mime_type="image/png")]},
]
IDS: Final = ["plain", "parameters", "thoughts", "tools", "long and cached", "truncated", "image"]


@pytest.mark.parametrize("request_", CASES, ids=IDS)
def test_whole_and_streamed_content_are_the_same(base_url: str, style: str, request_: dict[str, Any]) -> None:
    whole = generate(base_url, style, **request_)
    streamed = generate(base_url, style, streamed=True, **request_)
    assert streamed.without_ids() == whole.without_ids()
    assert whole.model == MODEL
    assert whole.id
    assert bool(whole.thoughts) == ("thinking_config" in request_)
    assert [call.name for call in whole.calls] == (["weather"] if "tools" in request_ else [])
    assert all(call.id and call.arguments == {"city": "The weather in Zürich", "days": 1} for call in whole.calls)
    assert bool(whole.text) == ("tools" not in request_)
    assert whole.finish_reason == ("MAX_TOKENS" if "max_output_tokens" in request_ else "STOP")
    assert (whole.cached_tokens or 0) > 1024 if len(request_.get("contents", "")) > 1000 else not whole.cached_tokens


def recorded(routed: World, namespace: str) -> dict[str, Any]:
    (row,) = routed.recorded(namespace)
    return routed.server.record(row["id"])


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("request_", CASES, ids=IDS)
def test_the_record_has_what_the_sdk_reported(
    routed: World, style: str, streamed: bool, request_: dict[str, Any]
) -> None:
    namespace = unique()
    url = f"http://127.0.0.1:{routed.server.port}/{ROUTE}"
    answer = generate(url, style, streamed=streamed, headers={"Service-Namespace": namespace}, **request_)
    record = recorded(routed, namespace)
    assert (record["kind"], record["route"], record["model"], record["status"]) == ("generate", ROUTE, MODEL, 200)
    assert (record["outcome"], record["failed"], record["tokens_estimated"]) == ("complete", False, False)
    assert_recorded(record, answer)
    assert (record["cached_tokens"] or 0) == (answer.cached_tokens or 0)
    assert record["cost_usd"] > 0
    assert (record["stream"], record["stream_ended"]) == (streamed, "done" if streamed else None)


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_the_record_of_an_error_has_what_the_sdk_raised(routed: World, style: str, streamed: bool) -> None:
    namespace = unique()
    url = f"http://127.0.0.1:{routed.server.port}/{ROUTE}"
    headers = {"Service-Namespace": namespace, "Sim-Status": "429"}
    with pytest.raises(errors.ClientError) as raised:
        generate(url, style, streamed=streamed, headers=headers)
    record = recorded(routed, namespace)
    assert (record["failed"], record["status"], record["error_code"]) == (True, 429, raised.value.status)
    assert record["error_message"] == raised.value.message


def test_the_record_of_a_stream_that_breaks_is_failed(routed: World, style: str) -> None:
    namespace = unique()
    url = f"http://127.0.0.1:{routed.server.port}/{ROUTE}"
    headers = {"Service-Namespace": namespace, "Sim-Break": "event:6:1", "Sim-Event-Interval-Ms": "2"}
    with pytest.raises((httpx2.TransportError, errors.APIError)):
        generate(url, style, streamed=True, headers=headers)
    record = recorded(routed, namespace)
    assert (record["outcome"], record["failed"], record["stream_ended"]) == ("upstream_failed", True, "cut")


def test_a_program_calls_its_functions_and_gets_text(base_url: str, style: str) -> None:
    called: list[str] = []

    def get_weather(city: str) -> dict[str, Any]:
        """Return the weather of a city."""
        called.append(city)
        return {"city": "Oslo", "sky": "clear", "celsius": 6, "wind": "no wind"}

    async def converse(opened: genai.Client) -> types.GenerateContentResponse:
        async with opened.aio as aio:
            return await aio.chats.create(model=MODEL, config=config).send_message("What is the weather?")

    config = types.GenerateContentConfig(tools=[get_weather])
    with client(base_url) as opened:
        if style == "async":
            response = run(converse(opened))
        else:
            response = opened.chats.create(model=MODEL, config=config).send_message("What is the weather?")
    assert called == ["What is the weather?"]
    assert response.text.startswith("In Oslo it is clear at 6 °C")


def test_a_chat_has_the_earlier_turns(base_url: str) -> None:
    with client(base_url) as opened:
        chat = opened.chats.create(model=MODEL)
        counts = []
        for turn in ("Can I get a refund?", "Thank you"):
            chunks = list(chat.send_message_stream(turn))
            counts.append(answer(chunks).input_tokens or 0)
    assert counts[1] > counts[0]


def test_counted_tokens_are_those_of_the_generation(base_url: str, style: str) -> None:
    async def count(opened: genai.Client) -> types.CountTokensResponse:
        async with opened.aio as aio:
            return await aio.models.count_tokens(model=MODEL, contents=QUESTION)

    with client(base_url) as opened:
        counted = run(count(opened)) if style == "async" else opened.models.count_tokens(model=MODEL, contents=QUESTION)
    assert counted.total_tokens == generate(base_url, style).input_tokens


@pytest.mark.parametrize("model", ["gemini-embedding-001", "gemini-embedding-2"])
def test_every_text_gets_a_vector(base_url: str, style: str, model: str) -> None:
    request: Any = {"model": model, "contents": ["tea", "coffee"], "config": {"output_dimensionality": 8}}

    async def embed(opened: genai.Client) -> types.EmbedContentResponse:
        async with opened.aio as aio:
            return await aio.models.embed_content(**request)

    with client(base_url) as opened:
        response = run(embed(opened)) if style == "async" else opened.models.embed_content(**request)
    assert {len(embedding.values or ()) for embedding in response.embeddings or ()} == {8}


def test_models_are_listed(base_url: str) -> None:
    with client(base_url) as opened:
        names = [model.name for model in opened.models.list()]
        assert opened.models.get(model=MODEL).name == f"models/{MODEL}"
    assert f"models/{MODEL}" in names


@pytest.mark.parametrize(
    ("request_", "code", "status"),
    [
        ({"candidate_count": 9}, 400, "INVALID_ARGUMENT"),
        ({"model": "gemma"}, 404, "NOT_FOUND"),
        ({"headers": {"Sim-Status": "429"}}, 429, "RESOURCE_EXHAUSTED"),
        ({"headers": {"Sim-Status": "503"}}, 503, "UNAVAILABLE"),
    ],
)
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_an_error_raises_with_its_status(
    base_url: str, style: str, streamed: bool, request_: dict[str, Any], code: int, status: str
) -> None:
    with pytest.raises(errors.APIError) as raised:
        generate(base_url, style, streamed=streamed, **request_)
    assert (raised.value.code, raised.value.status) == (code, status)
    assert raised.value.message


def test_an_invalid_key_raises(base_url: str) -> None:
    with pytest.raises(errors.ClientError) as raised, client(base_url, key="sk-invalid") as opened:
        opened.models.generate_content(model=MODEL, contents=QUESTION)
    assert (raised.value.code, raised.value.message) == (400, "API key not valid. Please pass a valid API key.")


def test_an_error_event_raises(base_url: str, style: str) -> None:
    with pytest.raises(errors.ServerError) as raised:
        generate(base_url, style, streamed=True, headers={"Sim-Error-Event": "3"})
    assert (raised.value.code, raised.value.status) == (503, "UNAVAILABLE")


@pytest.mark.parametrize("place", ["event:3", "event:3 rst", "event:3:5", "byte:0"])
def test_a_stream_that_breaks_raises(base_url: str, style: str, place: str) -> None:
    headers = {"Sim-Break": place, "Sim-Event-Interval-Ms": "2"}
    with pytest.raises(httpx2.ReadError if place.endswith("rst") else httpx2.RemoteProtocolError):
        generate(base_url, style, streamed=True, headers=headers)


def read_array(base_url: str, headers: dict[str, str]) -> Iterator[bytes]:
    """Request a stream without ``alt=sse``, as programs without an SDK do. Yields the bytes as they arrive."""
    url = f"{base_url}/v1beta/models/{MODEL}:streamGenerateContent"
    body = {"contents": [{"parts": [{"text": QUESTION}]}]}
    with httpx2.stream("POST", url, params={"key": KEY}, json=body, headers=headers, trust_env=False) as response:
        assert response.headers["content-type"] == "application/json; charset=UTF-8"
        yield from response.iter_raw()


def test_a_stream_without_sse_is_an_array_that_arrives_in_parts(base_url: str) -> None:
    arrived = list(read_array(base_url, {"Sim-Event-Interval-Ms": "2"}))
    assert len(arrived) > 2
    adapter = types.GenerateContentResponse.model_validate
    chunks = [adapter(item) for item in httpx2.Response(200, content=b"".join(arrived)).json()]
    assert answer(chunks).without_ids() == generate(base_url, "sync", streamed=True).without_ids()
