"""Test how the output of a model is collected."""

from typing import Any

import msgspec
import pytest

from relaybook.log.formats.output_text import OutputText, has_token, split_parts
from relaybook.log.formats.wire import ChatResponse, Choice


def output_text(*deltas: dict[str, Any], part: str = "delta") -> OutputText:
    result = OutputText()
    for delta in deltas:
        result.add(msgspec.convert({part: delta}, Choice))
    return result


def calls(*deltas: dict[str, Any], part: str = "delta") -> list[tuple[str | None, str | None, str]]:
    tools = output_text(*deltas, part=part).tools
    return [(tool.id, tool.name, "".join(tool.arguments)) for tool in tools]


def delta(index: int | None, id_: str | None, name: str | None, arguments: str) -> dict[str, Any]:
    return {"tool_calls": [{"index": index, "id": id_, "function": {"name": name, "arguments": arguments}}]}


def test_tool_call_deltas_are_joined_by_index() -> None:
    assert calls(
        delta(0, "a", "f", ""), delta(1, "b", "g", "{"), delta(0, None, None, '{"x"'), delta(1, None, None, "}"),
        delta(0, None, None, ":1}"),
    ) == [("a", "f", '{"x":1}'), ("b", "g", "{}")]  # fmt: skip


def test_calls_without_index_are_distinguished_by_id() -> None:
    assert calls(delta(None, "a", "f", "{"), delta(None, None, None, "}"), delta(None, "b", "g", "1")) == [
        ("a", "f", "{}"),
        ("b", "g", "1"),
    ]


def test_calls_with_the_same_index_and_different_ids_are_separate() -> None:
    assert calls(delta(0, "a", "f", "1"), delta(0, "b", "f", "2")) == [("a", "f", "1"), ("b", "f", "2")]


def test_calls_with_the_same_index_and_different_names_are_separate() -> None:
    for id_ in ("", None):
        assert calls(delta(0, id_, "f", "1"), delta(0, id_, "g", "2")) == [(id_, "f", "1"), (id_, "g", "2")]


def test_a_name_repeated_in_every_delta_is_one_call() -> None:
    assert calls(delta(0, "", "f", "{"), delta(0, "", "f", "}")) == [("", "f", "{}")]


def test_an_id_repeated_in_every_delta_is_one_call() -> None:
    assert calls(delta(0, "a", "f", "{"), delta(0, "a", "f", "}")) == [("a", "f", "{}")]


def test_calls_of_a_whole_message_need_no_index_or_id() -> None:
    whole = {
        "tool_calls": [{"function": {"name": "f", "arguments": "1"}}, {"function": {"name": "f", "arguments": "2"}}]
    }
    assert calls(whole, part="message") == [(None, "f", "1"), (None, "f", "2")]


def test_arguments_sent_as_an_object_become_json() -> None:
    whole = {"tool_calls": [{"id": "a", "function": {"name": "f", "arguments": {"x": 1}}}]}
    assert calls(whole, part="message") == [("a", "f", '{"x":1}')]


def test_custom_tools_and_function_calls_are_tool_calls() -> None:
    custom = {"tool_calls": [{"id": "c", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}]}
    assert calls(custom, part="message") == [("c", "sql", "select 1")]
    old = [{"function_call": {"name": "f", "arguments": "{"}}, {"function_call": {"arguments": "}"}}]
    assert calls(*old) == [(None, "f", "{}")]


def test_both_names_of_reasoning_are_read_and_counted_once() -> None:
    output = output_text({"reasoning_content": "a"}, {"reasoning": "b"}, {"reasoning": "c", "reasoning_content": "c"})
    assert output.reasoning == ["a", "b", "c"]


def test_thinking_parts_are_reasoning() -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "yes"},
        "!",
        5,
    ]
    assert split_parts(parts) == ("yes!", "hm")


def test_all_generated_characters_are_counted() -> None:
    output = output_text(
        {"content": "ab", "reasoning": "cd", "refusal": "e"},
        delta(0, "i", "fn", "{}"),
        {"audio": {"transcript": "x"}},
    )
    assert output.characters() == 2 + 2 + 1 + 4 + 1


@pytest.mark.parametrize(
    ("delta", "expected"),
    [
        ({"role": "assistant", "content": ""}, False),
        ({"role": "assistant", "content": None, "refusal": None}, False),
        ({}, False),
        ({"content": "a"}, True),
        ({"content": " "}, True),
        ({"content": [{"type": "text", "text": ""}]}, False),
        ({"reasoning": "a"}, True),
        ({"reasoning_content": "a"}, True),
        ({"refusal": "a"}, True),
        ({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": ""}}]}, True),
        ({"audio": {"transcript": "a"}}, True),
    ],
)
def test_a_token_is_anything_generated(delta: dict[str, Any], expected: bool) -> None:
    assert has_token(msgspec.convert({"choices": [{"delta": delta}]}, ChatResponse)) is expected


def test_usage_and_finish_reasons_are_not_tokens() -> None:
    assert not has_token(msgspec.convert({"choices": [{"delta": {}, "finish_reason": "stop"}]}, ChatResponse))
    assert not has_token(msgspec.convert({"choices": [], "usage": {"prompt_tokens": 1}}, ChatResponse))
