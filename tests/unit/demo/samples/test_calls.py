"""What the model said is put together from pieces, and goes into the next request as the provider wants it."""

from types import SimpleNamespace
from typing import Any

from relaybook_demo.samples.calls import Call, Said, put_together


def delta(content: str | None = None, *calls: Any) -> Any:
    return SimpleNamespace(content=content, tool_calls=list(calls) or None)


def piece(index: int, arguments: str | None, call_id: str | None = None, name: str | None = None) -> Any:
    return SimpleNamespace(index=index, id=call_id, function=SimpleNamespace(name=name, arguments=arguments))


def test_text_is_joined() -> None:
    said = Said()
    for each in (delta("In "), delta(None), delta("Rome")):
        put_together(said, each)
    assert said.message() == {"role": "assistant", "content": "In Rome"}


def test_calls_are_joined_by_their_index() -> None:
    said = Said()
    for each in (
        delta(None, piece(0, "", "call_1", "get_weather")),
        delta(None, piece(1, None, "call_2", "get_refund")),
        delta(None, piece(0, '{"city":'), piece(1, "{")),
        delta(None, piece(0, '"Rome"}'), piece(1, "}")),
    ):
        put_together(said, each)
    assert said.calls == [Call("call_1", "get_weather", '{"city":"Rome"}'), Call("call_2", "get_refund", "{}")]
    assert said.message()["content"] is None
    assert [call["id"] for call in said.message()["tool_calls"]] == ["call_1", "call_2"]
