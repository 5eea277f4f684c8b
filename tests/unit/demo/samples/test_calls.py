"""Test that streamed responses are assembled into messages for the next request."""

from types import SimpleNamespace
from typing import Any

from relaybook_demo.samples.calls import Call, Response, add_delta


def delta(content: str | None = None, *calls: Any) -> Any:
    return SimpleNamespace(content=content, tool_calls=list(calls) or None)


def call_delta(index: int, arguments: str | None, call_id: str | None = None, name: str | None = None) -> Any:
    return SimpleNamespace(index=index, id=call_id, function=SimpleNamespace(name=name, arguments=arguments))


def test_text_is_joined() -> None:
    response = Response()
    for each in (delta("In "), delta(None), delta("Rome")):
        add_delta(response, each)
    assert response.message() == {"role": "assistant", "content": "In Rome"}


def test_calls_are_joined_by_their_index() -> None:
    response = Response()
    for each in (
        delta(None, call_delta(0, "", "call_1", "get_weather")),
        delta(None, call_delta(1, None, "call_2", "get_refund")),
        delta(None, call_delta(0, '{"city":'), call_delta(1, "{")),
        delta(None, call_delta(0, '"Rome"}'), call_delta(1, "}")),
    ):
        add_delta(response, each)
    assert response.calls == [Call("call_1", "get_weather", '{"city":"Rome"}'), Call("call_2", "get_refund", "{}")]
    assert response.message()["content"] is None
    assert [call["id"] for call in response.message()["tool_calls"]] == ["call_1", "call_2"]
