"""Test chat completions in OpenAI's format."""

import json
from typing import Any

import pytest

from relaybook_demo.simulator.apis.completions import complete
from relaybook_demo.simulator.directives import NO_DIRECTIVES, Directives
from relaybook_demo.simulator.replies import Reply, Stamp
from relaybook_demo.simulator.requests import ChatRequest, Function, Message, StreamOptions, Tool

STAMP = Stamp("ab12", 1_800_000_000)


def chat(**more: Any) -> ChatRequest:
    return ChatRequest([Message("user", "Refund?")], more.pop("model", "gpt-4o"), **more)


def response_body(directives: Directives = NO_DIRECTIVES, **more: Any) -> Any:
    return json.loads(complete(chat(**more), directives, STAMP).body)


def chunks(directives: Directives = NO_DIRECTIVES, **more: Any) -> list[Any]:
    events = complete(chat(stream=True, **more), directives, STAMP).events
    assert events is not None
    assert events[-1].data == b"[DONE]"
    return [json.loads(event.data) for event in events[:-1]]


def test_a_stream_has_the_same_text_as_a_single_response() -> None:
    text = "".join(chunk["choices"][0]["delta"].get("content") or "" for chunk in chunks())
    assert text == response_body()["choices"][0]["message"]["content"]


def test_id_and_time_come_from_the_stamp() -> None:
    response = response_body()
    assert (response["id"], response["created"], response["model"]) == (
        "chatcmpl-ab12",
        1_800_000_000,
        "gpt-4o-2024-08-06",
    )
    assert {chunk["id"] for chunk in chunks()} == {"chatcmpl-ab12"}


def test_usage_is_streamed_only_on_request() -> None:
    assert all("usage" not in chunk for chunk in chunks())
    with_usage = chunks(stream_options=StreamOptions(include_usage=True))
    assert [chunk["usage"] for chunk in with_usage[:-1]] == [None] * (len(with_usage) - 1)
    assert (with_usage[-1]["choices"], with_usage[-1]["usage"]) == ([], response_body()["usage"])


def test_a_stream_of_mistral_has_the_usage_in_its_last_chunk() -> None:
    last = chunks(model="mistral-small-latest")[-1]
    assert (last["choices"][0]["finish_reason"], last["usage"]) == ("stop", response_body()["usage"])
    assert "usage" not in chunks(Directives(usage="missing"), model="mistral-small-latest")[-1]


def test_a_stream_of_mistral_has_whole_tool_calls() -> None:
    tools = [Tool(function=Function("weather", {"properties": {"city": {"type": "string"}}}))]
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks(model="mistral-small-latest", tools=tools)]
    (calls,) = [delta["tool_calls"] for delta in deltas if "tool_calls" in delta]
    assert calls[0]["function"] == {"name": "weather", "arguments": '{"city":"Refund?"}'}


def test_several_choices_are_interleaved() -> None:
    parts = chunks(n=3)
    assert [part["choices"][0]["index"] for part in parts[:6]] == [0, 1, 2, 0, 1, 2]
    assert sum(part["choices"][0]["finish_reason"] == "stop" for part in parts) == 3
    assert [choice["index"] for choice in response_body(n=3)["choices"]] == [0, 1, 2]


def test_reasoning_comes_first_and_is_counted() -> None:
    kinds = [next(iter(chunk["choices"][0]["delta"]), "") for chunk in chunks(model="o3")]
    assert kinds[1] == "reasoning_content"
    assert kinds.index("content") > kinds.index("reasoning_content")
    usage = response_body(model="o3")["usage"]
    assert usage["completion_tokens_details"]["reasoning_tokens"] == kinds.count("reasoning_content")


def test_tool_call_names_are_sent_once() -> None:
    tools = [Tool(function=Function("f", {"properties": {"a": {}}}))]
    deltas = [delta for chunk in chunks(tools=tools) for delta in chunk["choices"][0]["delta"].get("tool_calls", [])]
    assert [delta["id"] for delta in deltas if "id" in delta] == ["call_ab1200"]
    message = response_body(tools=tools)["choices"][0]["message"]
    assert (
        "".join(delta["function"]["arguments"] for delta in deltas) == message["tool_calls"][0]["function"]["arguments"]
    )
    assert message["content"] is None


@pytest.mark.parametrize(
    ("directives", "expected"),
    [(Directives(usage="null"), [None]), (Directives(usage="missing"), []), (NO_DIRECTIVES, [dict])],
)
def test_directives_can_remove_usage(directives: Directives, expected: list[Any]) -> None:
    values = [response_body(directives)[key] for key in ("usage",) if key in response_body(directives)]
    assert [value if value is None else type(value) for value in values] == expected


def test_directives_can_remove_choices() -> None:
    assert response_body(Directives(choices="empty"))["choices"] == []
    assert response_body(Directives(choices="null"))["choices"] is None
    assert all("choices" not in chunk for chunk in chunks(Directives(choices="missing")))


def test_directives_decide_about_streaming_and_text() -> None:
    assert complete(chat(), Directives(stream=True), STAMP).events is not None
    assert complete(chat(stream=True), Directives(stream=False), STAMP).events is None
    assert response_body(Directives(text="só"))["choices"][0]["message"]["content"] == "só"
    assert response_body(Directives(answer_tokens=7))["usage"]["completion_tokens"] == 7
    big = [chunk["choices"][0]["delta"].get("content") for chunk in chunks(Directives(event_bytes=5000))]
    assert "x" * 5000 in big


def test_a_single_response_reports_its_output_tokens() -> None:
    reply: Reply = complete(chat(), NO_DIRECTIVES, STAMP)
    assert reply.output_tokens == response_body()["usage"]["completion_tokens"]
