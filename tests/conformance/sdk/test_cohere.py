"""Cohere's SDK works if only its base URL is changed: chats, streams, tools, embeddings, rankings and errors."""

import json
from typing import Any, Final

import cohere
import httpx
import pytest
from cohere.core.api_error import ApiError
from tests.conformance.sdk.answers import Answer, Call, assert_recorded, run
from tests.conformance.sdk.calls import World, unique

#: The route of the relay. Each test runs directly against the simulated upstream, and through this route.
ROUTE: Final = "cohere"
KEY: Final = "co-sdk-caller-1234567890"
MODEL: Final = "command-a-03-2025"
QUESTION: Final[Any] = [{"role": "user", "content": "Can I get a refund?"}]
ASKS_FOR_WEATHER: Final[Any] = [{"role": "user", "content": "The weather in Zürich"}]
TOOLS: Final[Any] = [
    {
        "type": "function",
        "function": {
            "name": "weather",
            "description": "The weather of a city",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}},
        },
    }
]


def call(
    base_url: str, style: str, method: str, headers: dict[str, str] | None = None, key: str = KEY, **request: Any
) -> Any:
    """Call a method of the ``sync`` or ``async`` client. Returns the response or the events of a stream."""
    options: Any = {"api_key": key, "base_url": base_url, "max_retries": 0}
    request["request_options"] = {"additional_headers": headers or {}}
    is_stream = method.endswith("_stream")

    async def call_async() -> Any:
        async with cohere.AsyncClientV2(**options) as client:
            if is_stream:
                return [event async for event in client.chat_stream(**request)]
            return await getattr(client, method)(**request)

    if style == "async":
        return run(call_async())
    with cohere.ClientV2(**options) as client:
        response = getattr(client, method)(**request)
        return list(response) if is_stream else response


def chat(base_url: str, style: str, **request: Any) -> Answer:
    response = call(base_url, style, "chat", **{"model": MODEL, "messages": QUESTION, **request})
    found = Answer(id=response.id, finish_reason=response.finish_reason)
    found.thoughts = response.message.tool_plan or ""
    for block in response.message.content or ():
        found.text += block.text if block.type == "text" else ""
        found.thoughts += block.thinking if block.type == "thinking" else ""
    for each in response.message.tool_calls or ():
        found.calls.append(Call(each.function.name, json.loads(each.function.arguments), each.id))
    return with_usage(found, response.usage)


def streamed_chat(base_url: str, style: str, **request: Any) -> Answer:
    found = Answer()
    arguments: list[str] = []
    for event in call(base_url, style, "chat_stream", **{"model": MODEL, "messages": QUESTION, **request}):
        match event.type:
            case "message-start":
                found.id = event.id
            case "content-delta":
                content = event.delta.message.content
                found.text += content.text or ""
                found.thoughts += content.thinking or ""
            case "tool-plan-delta":
                found.thoughts += event.delta.message.tool_plan
            case "tool-call-start":
                started = event.delta.message.tool_calls
                found.calls.append(Call(started.function.name, {}, started.id))
                arguments.append(started.function.arguments)
            case "tool-call-delta":
                arguments[event.index] += event.delta.message.tool_calls.function.arguments
            case "message-end":
                found.finish_reason = event.delta.finish_reason
                with_usage(found, event.delta.usage)
    found.calls = [each._replace(arguments=json.loads(text)) for each, text in zip(found.calls, arguments, strict=True)]
    return found


def with_usage(answer: Answer, usage: Any) -> Answer:
    if usage is not None:
        answer.input_tokens, answer.output_tokens = int(usage.tokens.input_tokens), int(usage.tokens.output_tokens)
        answer.cached_tokens = int(usage.cached_tokens)
    return answer


@pytest.mark.parametrize(
    "request_",
    [
        {},
        {
            "temperature": 0.2,
            "stop_sequences": ["zzz"],
            "messages": [{"role": "system", "content": "Brief."}, *QUESTION],
        },
        {"thinking": {"type": "enabled"}},
        {"tools": TOOLS, "messages": ASKS_FOR_WEATHER},
        {"messages": [{"role": "user", "content": "word " * 20_000}]},
        {"max_tokens": 3},
        {
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "What is this?"},
                        {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "AAAA" * 50_000}},
                    ],
                }
            ]
        },
    ],
    ids=["plain", "parameters", "thinking", "tools", "long and cached", "truncated", "image"],
)
def test_whole_and_streamed_chats_are_the_same(base_url: str, style: str, request_: dict[str, Any]) -> None:
    whole = chat(base_url, style, **request_)
    assert streamed_chat(base_url, style, **request_).without_ids() == whole.without_ids()
    assert whole.id
    assert bool(whole.thoughts) == ("thinking" in request_ or "tools" in request_)
    assert bool(whole.text) == ("tools" not in request_)
    assert [(each.name, each.arguments, bool(each.id)) for each in whole.calls] == (
        [("weather", {"city": "The weather in Zürich", "days": 1}, True)] if "tools" in request_ else []
    )
    reason = "TOOL_CALL" if "tools" in request_ else "MAX_TOKENS" if "max_tokens" in request_ else "COMPLETE"
    assert whole.finish_reason == reason
    assert whole.input_tokens
    assert whole.output_tokens


def test_the_result_of_a_tool_is_answered_with_text(base_url: str, style: str) -> None:
    request: dict[str, Any] = {"model": MODEL, "messages": list(ASKS_FOR_WEATHER), "tools": TOOLS}
    message = call(base_url, style, "chat", **request).message
    (asked,) = message.tool_calls
    request["messages"] += [message, {"role": "tool", "tool_call_id": asked.id, "content": "18 °C"}]
    answer = chat(base_url, style, **request)
    assert (answer.text, answer.calls) == ("Here is what I found: 18 °C", [])


def test_every_text_gets_a_vector(base_url: str, style: str) -> None:
    request: Any = {"model": "embed-v4.0", "texts": ["tea", "coffee"], "input_type": "search_document"}
    response = call(base_url, style, "embed", embedding_types=["float"], output_dimension=8, **request)
    assert [len(vector) for vector in response.embeddings.float_] == [8, 8]
    assert response.meta.billed_units.input_tokens == 3


def test_documents_are_ranked(base_url: str, style: str) -> None:
    documents = ["coffee", "green tea"]
    response = call(base_url, style, "rerank", model="rerank-v3.5", query="tea", documents=documents, top_n=1)
    assert [result.index for result in response.results] == [1]


@pytest.mark.parametrize(
    ("request_", "error", "status"),
    [
        ({"key": "sk-invalid"}, cohere.UnauthorizedError, 401),
        ({"model": "nothing"}, cohere.NotFoundError, 404),
        ({"messages": []}, cohere.BadRequestError, 400),
        ({"headers": {"Sim-Status": "429"}}, cohere.TooManyRequestsError, 429),
        ({"headers": {"Sim-Status": "500"}}, cohere.InternalServerError, 500),
    ],
)
@pytest.mark.parametrize("ask", [chat, streamed_chat], ids=["whole", "streamed"])
def test_an_error_raises_with_its_status(
    base_url: str, style: str, ask: Any, request_: dict[str, Any], error: type[ApiError], status: int
) -> None:
    with pytest.raises(error) as raised:
        ask(base_url, style, **request_)
    assert raised.value.status_code == status
    assert raised.value.body["message"]


def test_an_error_in_a_stream_is_in_its_last_event(base_url: str, style: str) -> None:
    answer = streamed_chat(base_url, style, headers={"Sim-Error-Event": "4"})
    assert answer.finish_reason == "ERROR"


@pytest.mark.parametrize("place", ["event:4", "event:4 rst", "event:4:5"])
def test_a_stream_that_breaks_raises(base_url: str, style: str, place: str) -> None:
    headers = {"Sim-Break": place, "Sim-Event-Interval-Ms": "2"}
    with pytest.raises(httpx.ReadError if place.endswith("rst") else httpx.RemoteProtocolError):
        streamed_chat(base_url, style, headers=headers)


@pytest.mark.parametrize("ask", [chat, streamed_chat])
@pytest.mark.parametrize(
    "request_",
    [{}, {"thinking": {"type": "enabled"}}, {"tools": TOOLS, "messages": ASKS_FOR_WEATHER}, {"max_tokens": 3}],
    ids=["plain", "thinking", "tools", "truncated"],
)
def test_a_record_has_what_the_sdk_reports(routed: World, ask: Any, request_: dict[str, Any]) -> None:
    namespace = unique()
    url = f"http://127.0.0.1:{routed.server.port}/{ROUTE}"
    answer = ask(url, "sync", headers={"Service-Namespace": namespace}, **request_)
    (row,) = routed.recorded(namespace)
    record = routed.server.record(row["id"])
    is_stream = ask is streamed_chat
    assert (record["kind"], record["route"], record["model"]) == ("cohere", ROUTE, MODEL)
    assert (record["failed"], record["stream_ended"]) == (False, "done" if is_stream else None)
    assert_recorded(record, answer)
