"""The official Anthropic SDK works if only its base URL is changed: responses, errors, broken streams and records."""

import json
from collections.abc import Iterator
from typing import Any, Final

import anthropic
import httpx2
import pytest
from tests.conformance.sdk.calls import World, unique
from tests.support import parts
from tests.support.server import Server, SimulatedProvider

KEY: Final = "sk-ant-sdk-caller-1234567890"
MODEL: Final = "claude-haiku-4-5"
QUESTION: Final[Any] = [{"role": "user", "content": "Can I get a refund?"}]
TOOLS: Final[Any] = [
    {
        "name": "weather",
        "description": "The weather of a city",
        "input_schema": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}},
    }
]
THINKING: Final[Any] = {"type": "enabled", "budget_tokens": 1024}
EVENTS: Final = "Sim-Event-Interval-Ms"
#: The kinds of parts, by the type of the block.
KINDS: Final = {"text": "text", "thinking": "reasoning", "tool_use": "tool_call"}


@pytest.fixture(scope="module", params=["", "anthropic"], ids=["default route", "preset"])
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    directory = tmp_path_factory.mktemp("anthropic")
    with SimulatedProvider() as provider:
        settings = directory / "relaybook.toml"
        settings.write_text(f'[routes.anthropic]\nupstream = "{provider.url.removesuffix("/v1")}"\n')
        flags = ("--config", str(settings)) if request.param else ("--price-as", "anthropic")
        with Server(directory, provider.url, *flags) as server:
            yield World(server, provider, request.param)


def client(world: World, namespace: str, **options: Any) -> anthropic.Anthropic:
    base_url = world.base_url.removesuffix("/v1")
    headers = {"Service-Namespace": namespace}
    return anthropic.Anthropic(
        **{"base_url": base_url, "api_key": KEY, "max_retries": 0, "default_headers": headers, **options}
    )


def direct_client(world: World) -> anthropic.Anthropic:
    return anthropic.Anthropic(base_url=world.provider.url.removesuffix("/v1"), api_key=KEY, max_retries=0)


def send(world: World, namespace: str, *, streamed: bool = False, **request: Any) -> anthropic.types.Message:
    """Send a request and return the message. The SDK reads a stream to its end and assembles the message."""
    request = {"model": MODEL, "max_tokens": 4096, "messages": QUESTION, **request}
    with client(world, namespace) as opened:
        if not streamed:
            return opened.messages.create(**request)
        with opened.messages.stream(**request) as stream:
            return stream.get_final_message()


def detail(world: World, namespace: str) -> dict[str, Any]:
    (row,) = world.recorded(namespace)
    return world.server.record(row["id"])


def text_of(message: anthropic.types.Message) -> str:
    return "".join(block.text for block in message.content if block.type == "text")


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    "request_",
    [
        {},
        {"system": "Be brief.", "stop_sequences": ["zzz"], "metadata": {"user_id": "user-42"}},
        {"thinking": THINKING},
        {"tools": TOOLS, "messages": [{"role": "user", "content": "The weather in Zürich"}]},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "word " * 20_000}]}]},
        {"max_tokens": 3},
    ],
    ids=["plain", "parameters", "thinking", "tools", "long and cached", "truncated"],
)
def test_the_record_has_what_the_sdk_returned(world: World, streamed: bool, request_: dict[str, Any]) -> None:
    namespace = unique()
    message = send(world, namespace, streamed=streamed, **request_)
    record = detail(world, namespace)
    assert (record["kind"], record["path"], record["status"]) == ("message", f"{world.mount}/v1/messages", 200)
    assert record["route"] == (world.route or "default")
    assert (record["outcome"], record["failed"], record["error_code"]) == ("complete", False, None)
    assert (record["model"], record["response_model"], record["completion_id"]) == (MODEL, message.model, message.id)
    assert record["provider_request_id"].startswith("req_")
    assert record["finish_reason"] == message.stop_reason
    assert record["user"] == request_.get("metadata", {}).get("user_id")
    usage = message.usage
    cached = usage.cache_read_input_tokens or 0
    assert record["input_tokens"] == usage.input_tokens + cached + (usage.cache_creation_input_tokens or 0)
    assert (record["output_tokens"], record["cached_tokens"]) == (usage.output_tokens, cached)
    assert record["tokens_estimated"] is False
    dollars = (usage.input_tokens + 0.1 * cached + 5 * usage.output_tokens) / 1e6
    assert record["cost_usd"] == pytest.approx(dollars)
    (output,) = record["response"]["outputs"]
    assert parts.text_of(output) == text_of(message)
    thinking = "".join(block.thinking for block in message.content if block.type == "thinking")
    assert parts.text_of(output, "reasoning") == thinking
    assert bool(thinking) == ("thinking" in request_)
    calls = [(block.id, block.name, block.input) for block in message.content if block.type == "tool_use"]
    logged = [(each["id"], each["name"], json.loads(each["arguments"])) for each in parts.parts_of(output, "tool_call")]
    assert logged == calls
    assert bool(calls) == ("tools" in request_)
    assert [part["kind"] for part in output["parts"]] == [KINDS[block.type] for block in message.content]
    assert (record["stream"], record["stream_ended"]) == (streamed, "done" if streamed else None)
    assert (record["first_token_ms"] is not None) == streamed


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        ({}, "complete"),
        ({"max_tokens": 3}, "truncated"),
        ({"tools": TOOLS, "messages": [{"role": "user", "content": "The weather in Zürich"}]}, "tool_calls"),
    ],
)
def test_the_result_depends_on_the_stop_reason(world: World, request_: dict[str, Any], code: str) -> None:
    namespace = unique()
    send(world, namespace, **request_)
    assert detail(world, namespace)["result"]["code"] == code


def test_the_sdk_gets_the_same_message_as_without_a_relay(world: World) -> None:
    relayed = send(world, unique())
    with direct_client(world) as direct:
        message = direct.messages.create(model=MODEL, max_tokens=4096, messages=QUESTION)
    assert relayed.model_dump(exclude={"id"}) == message.model_dump(exclude={"id"})


def test_a_tool_conversation_is_one_conversation_with_only_new_messages_in_each_turn(world: World) -> None:
    namespace = unique()
    messages: list[Any] = [{"role": "user", "content": "The weather in Zürich"}]
    first = send(world, namespace, streamed=True, system="Be brief.", tools=TOOLS, messages=messages)
    (call,) = (block for block in first.content if block.type == "tool_use")
    messages += [
        {"role": "assistant", "content": first.content},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call.id, "content": "18 °C, sunny"}]},
    ]
    second = send(world, namespace, streamed=True, system="Be brief. Metric units.", tools=TOOLS, messages=messages)
    messages += [{"role": "assistant", "content": second.content}, {"role": "user", "content": "Thank you"}]
    send(world, namespace, tools=TOOLS, messages=messages)
    world.recorded(namespace, 3)
    thread = world.server.get(f"/api/thread?namespace={namespace}")
    rows = sorted(thread["data"], key=lambda row: row["started_at"])
    assert [row["turn"] for row in rows] == [1, 2, 3]
    assert len({row["conversation"] for row in rows}) == 1
    record = world.server.record(rows[1]["id"])
    new = rows[1]["new_messages"]
    told = [(message["role"], parts.text_of(message)) for message in record["messages"]]
    assert told == [
        ("system", "Be brief. Metric units."),
        ("user", "The weather in Zürich"),
        ("assistant", text_of(first)),
        ("tool", "18 °C, sunny"),
    ]
    assert told[new["from"] :][: new["count"]] == [("tool", "18 °C, sunny")]
    assert parts.parts_of(record["messages"][2], "tool_call")[0]["name"] == "weather"


@pytest.mark.parametrize(
    ("request_", "error", "code"),
    [
        ({"extra_headers": {"x-api-key": "sk-invalid"}}, anthropic.AuthenticationError, "authentication_error"),
        ({"model": "no-such-model"}, anthropic.NotFoundError, "not_found_error"),
        ({"messages": []}, anthropic.BadRequestError, "invalid_request_error"),
        ({"extra_headers": {"Sim-Status": "429"}}, anthropic.RateLimitError, "rate_limit_error"),
        ({"extra_headers": {"Sim-Status": "529"}}, anthropic.InternalServerError, "overloaded_error"),
    ],
    ids=["key", "model", "empty", "429", "529"],
)
def test_an_error_of_the_upstream_raises_as_without_a_relay(
    world: World, request_: dict[str, Any], error: type[anthropic.APIStatusError], code: str
) -> None:
    namespace = unique()
    request_ = {"model": MODEL, "max_tokens": 9, "messages": QUESTION, **request_}
    with pytest.raises(error) as relayed, client(world, namespace) as opened:
        opened.messages.create(**request_)
    with pytest.raises(error) as expected, direct_client(world) as direct:
        direct.messages.create(**request_)
    assert relayed.value.body == expected.value.body
    record = detail(world, namespace)
    assert (record["failed"], record["status"], record["error_code"]) == (True, relayed.value.status_code, code)
    assert record["error_message"] == relayed.value.body["error"]["message"]  # type: ignore[index,call-overload]
    assert record["provider_request_id"] == relayed.value.request_id


@pytest.mark.parametrize("place", ["event:6", "event:6 rst", "event:6:1", "event:6:60", "event:6:60 rst"])
def test_a_stream_that_breaks_raises(world: World, place: str) -> None:
    namespace = unique()
    with pytest.raises(httpx2.ReadError if place.endswith("rst") else httpx2.RemoteProtocolError):
        send(world, namespace, streamed=True, extra_headers={"Sim-Break": place, EVENTS: "2"})
    record = detail(world, namespace)
    assert (record["outcome"], record["failed"], record["stream_ended"]) == ("upstream_failed", True, "cut")
    assert record["error_code"] == "upstream_stream_interrupted"
    assert record["tokens_estimated"] is True
    assert 0 < record["output_tokens"] < 10
    assert parts.text_of(record["response"]["outputs"][0])


def test_an_error_event_of_the_upstream_raises_and_makes_the_request_failed(world: World) -> None:
    namespace = unique()
    with pytest.raises(anthropic.APIStatusError):
        send(world, namespace, streamed=True, extra_headers={"Sim-Error-Event": "6"})
    record = detail(world, namespace)
    assert (record["failed"], record["error_code"], record["error_message"]) == (True, "api_error", "Overloaded")
    assert record["response"]["error"]["raw"] == {"type": "api_error", "message": "Overloaded"}


def test_counting_tokens_is_recorded_without_tokens_or_cost(world: World) -> None:
    namespace = unique()
    with client(world, namespace) as opened:
        count = opened.messages.count_tokens(model=MODEL, messages=QUESTION).input_tokens
    record = detail(world, namespace)
    assert (record["kind"], record["path"]) == ("message", f"{world.mount}/v1/messages/count_tokens")
    assert (record["input_tokens"], record["output_tokens"], record["cost_usd"]) == (None, None, None)
    assert record["output_preview"] == f"{count} input tokens"


def test_the_key_is_masked(world: World) -> None:
    namespace = unique()
    send(world, namespace)
    record = detail(world, namespace)
    assert len(record["key"]) == 12
    assert KEY not in json.dumps(record)
