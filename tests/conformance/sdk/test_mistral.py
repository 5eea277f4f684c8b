"""Mistral's SDK works if only its server URL is changed: chats, streams, tools, code, embeddings and errors."""

import json
from typing import Any, Final

import httpx2
import pytest
from mistralai.client import Mistral
from mistralai.client.errors import SDKError
from tests.conformance.sdk.answers import Answer, Call, assert_recorded, run
from tests.conformance.sdk.calls import World, unique

#: The route of the relay. Each test runs directly against the simulated upstream, and through this route.
ROUTE: Final = "mistral"
KEY: Final = "mistral-sdk-caller-1234567890"
MODEL: Final = "mistral-small-latest"
QUESTION: Final[Any] = [{"role": "user", "content": "Can I get a refund?"}]
ASKS_FOR_WEATHER: Final[Any] = [{"role": "user", "content": "The weather in Zürich"}]
TOOLS: Final[Any] = [
    {
        "type": "function",
        "function": {
            "name": "weather",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}},
        },
    }
]


def call(
    base_url: str, style: str, service: str, method: str, *, headers: dict[str, str] | None = None, **request: Any
) -> Any:
    """Call a method of a service of the SDK. Returns the response, or the list of the chunks of a stream."""
    request["http_headers"] = headers

    async def call_async() -> Any:
        async with Mistral(api_key=KEY, server_url=base_url) as client:
            response = await getattr(getattr(client, service), f"{method}_async")(**request)
            return [event.data async for event in response] if method == "stream" else response

    if style == "async":
        return run(call_async())
    with Mistral(api_key=KEY, server_url=base_url) as client:
        response = getattr(getattr(client, service), method)(**request)
        return [event.data for event in response] if method == "stream" else response


def ask(base_url: str, style: str, service: str, *, streamed: bool = False, **request: Any) -> Answer:
    """Complete a chat or code. A stream is read to its end."""
    response = call(base_url, style, service, "stream" if streamed else "complete", **request)
    found = Answer()
    arguments: dict[int, str] = {}
    for chunk in response if streamed else [response]:
        found.id, found.model = chunk.id, chunk.model
        for choice in chunk.choices:
            message = choice.delta if streamed else choice.message
            found.text += message.content or ""
            for index, each in enumerate(message.tool_calls or ()):
                number = each.index or index
                if each.function.name:
                    found.calls.append(Call(each.function.name, {}, each.id))
                arguments[number] = arguments.get(number, "") + each.function.arguments
            found.finish_reason = choice.finish_reason or found.finish_reason
        if chunk.usage:
            found.input_tokens, found.output_tokens = chunk.usage.prompt_tokens, chunk.usage.completion_tokens
    found.calls = [each._replace(arguments=json.loads(arguments[index])) for index, each in enumerate(found.calls)]
    return found


@pytest.mark.parametrize(
    ("service", "request_"),
    [
        ("chat", {"model": MODEL, "messages": QUESTION}),
        ("chat", {"model": MODEL, "messages": ASKS_FOR_WEATHER, "tools": TOOLS}),
        ("chat", {"model": MODEL, "messages": QUESTION, "max_tokens": 3}),
        ("fim", {"model": "codestral-latest", "prompt": "def add(a, b):", "suffix": "return c"}),
    ],
    ids=["chat", "tools", "truncated", "fim"],
)
def test_whole_and_streamed_responses_are_the_same(
    base_url: str, style: str, service: str, request_: dict[str, Any]
) -> None:
    whole = ask(base_url, style, service, **request_)
    assert ask(base_url, style, service, streamed=True, **request_).without_ids() == whole.without_ids()
    assert whole.id
    assert whole.model == request_["model"]
    assert bool(whole.text) == ("tools" not in request_)
    assert [(each.name, each.arguments) for each in whole.calls] == (
        [("weather", {"city": "The weather in Zürich", "days": 1})] if "tools" in request_ else []
    )
    reason = "tool_calls" if "tools" in request_ else "length" if "max_tokens" in request_ else "stop"
    assert whole.finish_reason == reason
    assert whole.input_tokens
    assert whole.output_tokens


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    "request_",
    [{"messages": QUESTION}, {"messages": ASKS_FOR_WEATHER, "tools": TOOLS}, {"messages": QUESTION, "max_tokens": 3}],
    ids=["chat", "tools", "truncated"],
)
def test_the_record_has_what_the_sdk_reported(
    routed: World, style: str, streamed: bool, request_: dict[str, Any]
) -> None:
    namespace = unique()
    headers = {"Service-Namespace": namespace}
    url = routed.server.base_url.removesuffix("/v1") + "/mistral"
    answer = ask(url, style, "chat", streamed=streamed, model=MODEL, headers=headers, **request_)
    (row,) = routed.recorded(namespace)
    record = routed.server.record(row["id"])
    assert (record["kind"], record["route"], record["status"]) == ("chat", "mistral", 200)
    assert_recorded(record, answer)
    assert record["tokens_estimated"] is False


def test_every_text_gets_a_vector(base_url: str, style: str) -> None:
    response = call(base_url, style, "embeddings", "create", model="mistral-embed", inputs=["tea", "coffee"])
    assert [len(item.embedding) for item in response.data] == [16, 16]
    assert response.usage.prompt_tokens == 3


@pytest.mark.parametrize(
    ("request_", "status"),
    [({"model": "nothing"}, 404), ({"messages": []}, 400), ({"headers": {"Sim-Status": "429"}}, 429)],
)
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_an_error_raises_with_its_status(
    base_url: str, style: str, streamed: bool, request_: dict[str, Any], status: int
) -> None:
    with pytest.raises(SDKError) as raised:
        ask(base_url, style, "chat", streamed=streamed, **{"model": MODEL, "messages": QUESTION, **request_})
    assert raised.value.status_code == status


@pytest.mark.parametrize("place", ["event:4", "event:4 rst", "event:4:5"])
def test_a_stream_that_breaks_raises(base_url: str, style: str, place: str) -> None:
    headers = {"Sim-Break": place, "Sim-Event-Interval-Ms": "2"}
    with pytest.raises(httpx2.ReadError if place.endswith("rst") else httpx2.RemoteProtocolError):
        ask(base_url, style, "chat", streamed=True, model=MODEL, messages=QUESTION, headers=headers)
