"""The ``ollama`` SDK works if only its host is changed: chats, streams, tools, images, embeddings and errors."""

from collections.abc import Callable
from typing import Any, Final

import httpx
import ollama
import pytest
from tests.conformance.sdk.answers import Answer, Call, assert_recorded, run
from tests.conformance.sdk.calls import World, unique

#: The route of the relay. Each test runs directly against the simulated upstream, and through this route.
ROUTE: Final = "ollama"
MODEL: Final = "llama3.2"
QUESTION: Final[Any] = [{"role": "user", "content": "Can I get a refund?"}]
PNG: Final = b"\x89PNG\r\n\x1a\n" * 20_000
ASKS_FOR_WEATHER: Final[Any] = [{"role": "user", "content": "The weather in Zürich"}]


def call(base_url: str, style: str, method: str, headers: dict[str, str] | None = None, **request: Any) -> Any:
    """Call a method of the ``sync`` or ``async`` client. Returns the response, or the list of the parts of a stream."""
    options: Any = {"host": base_url, "headers": headers or {}, "trust_env": False}

    async def call_async() -> Any:
        client = ollama.AsyncClient(**options)
        try:
            response = await getattr(client, method)(**request)
            return [part async for part in response] if request.get("stream") else response
        finally:
            await client.close()

    if style == "async":
        return run(call_async())
    with ollama.Client(**options) as client:
        response = getattr(client, method)(**request)
        return list(response) if request.get("stream") else response


def chat(base_url: str, style: str, *, streamed: bool = False, **request: Any) -> Answer:
    return _ask(base_url, style, "chat", streamed, {"messages": QUESTION, **request})


def generate(base_url: str, style: str, *, streamed: bool = False, **request: Any) -> Answer:
    return _ask(base_url, style, "generate", streamed, {"prompt": "Can I get a refund?", **request})


def _ask(base_url: str, style: str, method: str, streamed: bool, request: dict[str, Any]) -> Answer:
    response = call(base_url, style, method, **{"model": MODEL, "stream": streamed, **request})
    found = Answer()
    for part in response if streamed else [response]:
        message = part if method == "generate" else part.message
        found.text += (part.response if method == "generate" else message.content) or ""
        found.thoughts += message.thinking or ""
        calls = [] if method == "generate" else message.tool_calls or []
        found.calls += [Call(each.function.name, dict(each.function.arguments)) for each in calls]
        found.model, found.finish_reason = part.model, part.done_reason
        found.input_tokens, found.output_tokens = part.prompt_eval_count, part.eval_count
    return found


def weather(city: str, days: int) -> str:
    """The weather of a city."""
    return f"{city}: sunny for {days} days"


@pytest.mark.parametrize(
    ("ask", "request_"),
    [
        (chat, {}),
        (chat, {"options": {"temperature": 0.2, "stop": ["zzz"]}, "keep_alive": "5m"}),
        (chat, {"think": True}),
        (chat, {"tools": [weather], "messages": ASKS_FOR_WEATHER}),
        (chat, {"options": {"num_predict": 3}}),
        (chat, {"messages": [{"role": "user", "content": "What is this?", "images": [PNG]}]}),
        (generate, {}),
        (generate, {"think": True, "system": "Be brief."}),
        (generate, {"images": [PNG], "options": {"num_predict": 3}}),
    ],
    ids=["plain", "parameters", "thinking", "tools", "truncated", "image", "generate", "thinking text", "image text"],
)
def test_whole_and_streamed_responses_are_the_same(
    base_url: str, style: str, ask: Callable[..., Answer], request_: dict[str, Any]
) -> None:
    whole = ask(base_url, style, **request_)
    assert ask(base_url, style, streamed=True, **request_) == whole
    assert whole.model == MODEL
    assert bool(whole.thoughts) == ("think" in request_)
    assert whole.calls == (
        [Call("weather", {"city": "The weather in Zürich", "days": 1})] if "tools" in request_ else []
    )
    assert bool(whole.text) == ("tools" not in request_)
    is_truncated = "num_predict" in request_.get("options", {})
    assert whole.finish_reason == ("length" if is_truncated else "stop")
    assert whole.input_tokens
    assert whole.output_tokens


def test_the_result_of_a_tool_is_answered_with_text(base_url: str, style: str) -> None:
    request: dict[str, Any] = {"model": MODEL, "messages": list(ASKS_FOR_WEATHER), "tools": [weather]}
    message = call(base_url, style, "chat", **request).message
    (asked,) = message.tool_calls
    request["messages"] += [
        message,
        {"role": "tool", "tool_name": "weather", "content": weather(**asked.function.arguments)},
    ]
    answer = chat(base_url, style, **request)
    assert answer.text == "Here is what I found: The weather in Zürich: sunny for 1 days"
    assert answer.calls == []


def test_a_schema_gets_json(base_url: str, style: str) -> None:
    schema = {"type": "object", "properties": {"count": {"type": "integer"}}}
    assert chat(base_url, style, format=schema).text == '{"count":1}'


def test_every_text_gets_a_vector(base_url: str, style: str) -> None:
    response = call(base_url, style, "embed", model="nomic-embed-text", input=["tea", "coffee"], dimensions=8)
    assert [len(vector) for vector in response.embeddings] == [8, 8]
    assert response.prompt_eval_count == 3
    single = call(base_url, style, "embeddings", model="nomic-embed-text", prompt="tea")
    assert len(single.embedding) == 16


def test_models_are_listed_and_shown(base_url: str, style: str) -> None:
    names = [model.model for model in call(base_url, style, "list").models]
    assert f"{MODEL}:latest" in names
    assert call(base_url, style, "ps").models[0].model in names
    assert "tools" in call(base_url, style, "show", model=MODEL).capabilities


@pytest.mark.parametrize(
    ("request_", "status", "error"),
    [
        ({"model": "nothing"}, 404, "model 'nothing' not found"),
        ({"headers": {"Sim-Status": "429"}}, 429, "too many requests"),
        ({"headers": {"Sim-Status": "500"}}, 500, "an error was encountered while running the model"),
    ],
)
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_an_error_raises_with_its_status(
    base_url: str, style: str, streamed: bool, request_: dict[str, Any], status: int, error: str
) -> None:
    with pytest.raises(ollama.ResponseError) as raised:
        chat(base_url, style, streamed=streamed, **request_)
    assert (raised.value.status_code, raised.value.error) == (status, error)


def test_an_error_in_a_stream_raises(base_url: str, style: str) -> None:
    with pytest.raises(ollama.ResponseError, match="an error was encountered"):
        chat(base_url, style, streamed=True, headers={"Sim-Error-Event": "3"})


@pytest.mark.parametrize("place", ["event:3", "event:3 rst", "event:3:5"])
def test_a_stream_that_breaks_raises(base_url: str, style: str, place: str) -> None:
    headers = {"Sim-Break": place, "Sim-Event-Interval-Ms": "2"}
    with pytest.raises(httpx.ReadError if place.endswith("rst") else httpx.RemoteProtocolError):
        chat(base_url, style, streamed=True, headers=headers)


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    ("ask", "request_"),
    [
        (chat, {}),
        (chat, {"think": True}),
        (chat, {"tools": [weather], "messages": ASKS_FOR_WEATHER}),
        (chat, {"messages": [{"role": "user", "content": "What is this?", "images": [PNG]}]}),
        (generate, {"think": True, "system": "Be brief."}),
    ],
    ids=["plain", "thinking", "tools", "image", "generate"],
)
def test_a_record_has_what_the_sdk_reports(
    routed: World, ask: Callable[..., Answer], request_: dict[str, Any], streamed: bool
) -> None:
    namespace = unique()
    url = f"http://127.0.0.1:{routed.server.port}/{ROUTE}"
    answer = ask(url, "sync", streamed=streamed, headers={"Service-Namespace": namespace}, **request_)
    (row,) = routed.recorded(namespace)
    record = routed.server.record(row["id"])
    assert (record["kind"], record["route"], record["model"]) == ("ollama", ROUTE, MODEL)
    assert (record["failed"], record["stream_requested"], record["stream"]) == (False, streamed, streamed)
    assert record["stream_ended"] == ("done" if streamed else None)
    assert_recorded(record, answer)


def test_a_record_of_embeddings_has_their_number(routed: World) -> None:
    namespace = unique()
    url, headers = f"http://127.0.0.1:{routed.server.port}/{ROUTE}", {"Service-Namespace": namespace}
    call(url, "sync", "embed", headers, model="nomic-embed-text", input=["tea", "coffee"], dimensions=8)
    (row,) = routed.recorded(namespace)
    assert (row["kind"], row["failed"], row["input_preview"]) == ("ollama", False, "[2 texts] tea")
    assert (row["output_preview"], row["input_tokens"]) == ("2 vectors of 8 numbers", 3)
